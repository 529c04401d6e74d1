"""FActScore's biographies (Min et al. 2023): our atoms against those of human annotators.

For each sentence the atoms that the pipeline ties to it are compared with the sentence's human
atoms by the cosine of their embeddings, a pronoun in front of an atom of either side read as the
name that the biography is of: the humans left pronouns, and how atoms are named is not what is
measured. An atom is matched if some atom of the other side, of
the same sentence, is at least `THRESHOLD` similar; the one-to-one figures let each be matched
once only (the assignment that matches most), so that a sentence left unsplit is seen. Sentences
without human atoms count for check-worthiness alone: is it verified, and is it relevant?
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from factcheck_local.core.types import Answer, Span
from factcheck_local.evaluate.collection import digest_of, field_of, json_rows, list_of
from factcheck_local.evaluate.lines import Results, key_of
from factcheck_local.metrics import balanced_accuracy, bootstrap_ci, precision_recall
from factcheck_local.models.contracts import Embedder, FloatArray, identity
from factcheck_local.pipeline.checker import FactChecker

FILE = "ChatGPT.jsonl"

#: Cosine of MiniLM's embeddings from which two atoms count as the same. Stated, not fitted:
#: atoms of one biography share a name, and lie around 0.6 without saying the same.
THRESHOLD = 0.8

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a biography, as annotated.

    Attributes:
        span: where it stands.
        relevant: whether it says something to verify.
        atoms: those that humans wrote.
        drafted: those of FActScore's own splitter, from which the humans started.
    """

    span: Span
    relevant: bool
    atoms: tuple[str, ...]
    drafted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Biography:
    """An answer with its annotated sentences."""

    id: str
    answer: Answer
    sentences: tuple[Sentence, ...]
    topic: str


def load(path: Path) -> tuple[list[Biography], str]:
    """Read the annotated answers; those without annotations are passed over.

    Returns:
        The biographies, and the sha256 of the file.

    Raises:
        RecordError: if the file cannot be read or a row is not as expected.
    """
    path = path / FILE if path.is_dir() else path
    found = []
    for number, (where, row) in enumerate(json_rows(path)):
        text = field_of(row, "output", str, where)
        sentences, at = [], 0
        for sentence in list_of(row, "annotations", where):
            said = field_of(sentence, "text", str, where)
            start = text.find(said, at)
            if start < 0:
                continue  # not verbatim in the answer: there is nothing to tie atoms to
            at = start + len(said)
            human, draft = (
                tuple(
                    field_of(fact, "text", str, where)
                    for fact in list_of(sentence, f"{by}-atomic-facts", where)
                )
                for by in ("human", "model")
            )
            relevant = bool(sentence.get("is-relevant"))
            sentences.append(Sentence(Span(start, at), relevant, human, draft))
        if sentences:
            question = str(row.get("input", "")).removeprefix("Question:").strip() or None
            answer, topic = Answer(text, where, question), str(row.get("topic") or "")
            found.append(Biography(f"bio{number}", answer, tuple(sentences), topic))
    return found, digest_of([path])


def run(
    items: Sequence[Biography],
    checker: FactChecker,
    embedder: Embedder,
    out: Path,
    progress: Callable[[str, int, int], None] = lambda _what, _done, _all: None,
) -> list[dict[str, Any]]:
    """The atoms of every biography beside the human ones; done ones are taken from ``out``."""
    results = Results(out)
    rows = []
    for done, item in enumerate(items):
        progress(item.id, done, len(items))
        parts = {
            "settings": checker.settings.line(),
            "llm": identity(checker.llm),
            "embedder": identity(embedder),
            "item": repr(item),
            "row": "with kinds",
        }
        make = lambda i=item: _row(i, checker, embedder)  # noqa: E731
        rows.append(results.get(key_of(parts), make))
    return rows


def drafted(items: Sequence[Biography], embedder: Embedder) -> list[dict[str, Any]]:
    """The same of the atoms of FActScore's own splitter, InstructGPT, that come with the data.

    The humans corrected these instead of writing their own, so they agree more with them than
    an independent splitter can. They are not told what to verify.
    """
    return [
        {
            "item": item.id,
            "failures": 0,
            "sentences": [
                {**sentence, "verified": None}
                for sentence in _compared(item, [s.drafted for s in item.sentences], embedder)
            ],
        }
        for item in items
    ]


def _row(item: Biography, checker: FactChecker, embedder: Embedder) -> dict[str, Any]:
    atoms, failures = checker.atoms(item.answer)
    worthy = [a for a in atoms if a.kind.check_worthy and a.id not in failures]
    own = [[a.text for a in worthy if a.stands_in(s.span)] for s in item.sentences]
    kinds = [sorted({a.kind for a in atoms if a.stands_in(s.span)}) for s in item.sentences]
    compared = _compared(item, own, embedder)
    return {
        "item": item.id,
        "failures": len(failures),
        "sentences": [{**s, "kinds": k} for s, k in zip(compared, kinds, strict=True)],
    }


def _compared(
    item: Biography, own: Sequence[Sequence[str]], embedder: Embedder
) -> list[dict[str, Any]]:
    """For each sentence, atoms of ``own`` beside the human ones of this and of the others."""
    human = [s.atoms for s in item.sentences]
    (ours, of_ours), (theirs, of_theirs) = (
        (
            embedder.embed([named(text, item.topic) for texts in side for text in texts]),
            np.repeat(np.arange(len(side)), [len(texts) for texts in side]),
        )
        for side in (own, human)
    )
    cosines = ours @ theirs.T
    return [
        {
            "relevant": sentence.relevant,
            "verified": bool(own[number]),
            "human": list(sentence.atoms),
            "own": list(own[number]),
            "similarity": cosines[of_ours == number][:, of_theirs == number].round(4).tolist(),
            "elsewhere": cosines[of_ours == number][:, of_theirs != number]
            .max(axis=1, initial=0.0)
            .tolist(),
        }
        for number, sentence in enumerate(item.sentences)
    ]


def named(atom: str, topic: str) -> str:
    """An atom with a pronoun in front of it replaced by the name that it is about."""
    if not topic:
        return atom
    said = re.sub(r"^(?:He|She|They)\b", lambda _: topic, atom)
    return re.sub(r"^(?:His|Her|Their)\b", lambda _: f"{topic}'s", said)


# --------------------------------------------------------------------- measures


def score(rows: Sequence[Row], *, threshold: float = THRESHOLD, seed: int = 0) -> dict[str, Any]:
    """All measures over biographies, these resampled for the intervals."""
    statistics: dict[str, Callable[[Sequence[Row]], float | None]] = {
        "recall": lambda drawn: _share(drawn, threshold, side=1),
        "precision": lambda drawn: _share(drawn, threshold, side=0),
        "recall_one_to_one": lambda drawn: _assigned(drawn, threshold, side=1),
        "precision_one_to_one": lambda drawn: _assigned(drawn, threshold, side=0),
        "atoms_a_human_atom": _ratio,
        "check_worthiness_balanced_accuracy": lambda drawn: balanced_accuracy(*_worthy(drawn)),
        "check_worthiness_f1": lambda drawn: precision_recall(*_worthy(drawn)).f1,
    }
    annotated = [s for row in rows for s in _annotated(row)]
    return {
        "items": len(rows),
        "failures": sum(row["failures"] for row in rows),
        "threshold": threshold,
        "sentences": len(annotated),
        "human_atoms": sum(len(s["human"]) for s in annotated),
        "own_atoms": sum(len(s["own"]) for s in annotated),
        "split_further": sum(len(s["own"]) > len(s["human"]) for s in annotated),
        "split_less": sum(len(s["own"]) < len(s["human"]) for s in annotated),
        "from_another_sentence": sum(_astray(s, threshold) for s in annotated),
        "measures": {
            name: {"value": f(rows), "ci95": bootstrap_ci(rows, f, seed=seed)}
            for name, f in statistics.items()
        },
    }


def _annotated(row: Row) -> list[Mapping[str, Any]]:
    """Sentences with human atoms."""
    return [s for s in row["sentences"] if s["human"]]


def _matrix(sentence: Mapping[str, Any]) -> FloatArray:
    shape = (len(sentence["own"]), len(sentence["human"]))
    return np.array(sentence["similarity"], dtype=np.float32).reshape(shape)


def _share(rows: Sequence[Row], threshold: float, *, side: int) -> float | None:
    """Of the atoms of one side (0 ours, 1 the humans') those with a match on the other."""
    matched = [
        bool(best >= threshold)
        for row in rows
        for s in _annotated(row)
        for best in _matrix(s).max(axis=1 - side, initial=-1.0)
    ]
    return float(np.mean(matched)) if matched else None


def _assigned(rows: Sequence[Row], threshold: float, *, side: int) -> float | None:
    """The same where each atom is matched once only."""
    matched = total = 0
    for row in rows:
        for sentence in _annotated(row):
            alike = _matrix(sentence) >= threshold
            total += alike.shape[side]
            matched += int(alike[linear_sum_assignment(alike, maximize=True)].sum())
    return matched / total if total else None


def _ratio(rows: Sequence[Row]) -> float | None:
    own = sum(len(s["own"]) for row in rows for s in _annotated(row))
    human = sum(len(s["human"]) for row in rows for s in _annotated(row))
    return own / human if human else None


def _worthy(rows: Sequence[Row]) -> tuple[list[bool], list[bool]]:
    found = [s for row in rows for s in row["sentences"] if s["verified"] is not None]
    return [s["relevant"] for s in found], [s["verified"] for s in found]


def _astray(sentence: Mapping[str, Any], threshold: float) -> int:
    """Atoms that say what only another sentence's annotators wrote."""
    own = _matrix(sentence).max(axis=1, initial=-1.0)
    return sum(
        bool(best < threshold <= other)
        for best, other in zip(own, sentence["elsewhere"], strict=True)
    )
