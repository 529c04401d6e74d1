"""Factcheck-Bench (Wang et al. 2023): answers of LLMs, their claims, labels and evidence.

A claim is supported if its label is true and not if it is false; claims labelled unknown
have no gold label. Its evidence are the passages that were found for it and, where there
is one, the text that an annotator gave.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from factcheck_local.core.errors import RecordError
from factcheck_local.core.types import Answer, Atom, Context
from factcheck_local.evaluate.collection import Collection, Item, digest_of, field_of, json_rows
from factcheck_local.indexer.reliability import DEFAULT_PRIOR
from factcheck_local.pipeline.claims.records import Record

_GOLD = {"true": True, "false": False}

#: What annotators wrote where they had nothing to give.
_NOTHING = re.compile(r"(?:n/?a|none|nan)?", re.I)
_LINK = re.compile(r"https?://\S+")

#: Words without which a text is a link or a remark, no evidence.
MIN_WORDS = 5


def load(path: Path, *, oracle: bool) -> Collection:
    """Read ``responses.jsonl``.

    Args:
        path: the file, or the folder that it is in.
        oracle: whether each claim comes with its own evidence; else retrieval is open over
            all evidence of all answers.

    Raises:
        RecordError: if the file cannot be read or a row is not as expected.
    """
    path = path / "responses.jsonl" if path.is_dir() else path
    items: list[Item] = []
    documents: dict[str, str] = {}
    for where, row in json_rows(path):
        item, evidence = _item(row, where, oracle)
        items.append(item)
        documents |= evidence
    notes = (
        "claims labelled unknown are verified and not counted",
        "evidence: the passages found for a claim, and the annotator's where there is one",
    )
    return Collection(
        "factcheckbench-oracle" if oracle else "factcheckbench",
        digest_of([path]),
        tuple(items),
        {} if oracle else documents,
        notes=notes,
    )


def _item(row: Mapping[str, Any], where: str, oracle: bool) -> tuple[Item, dict[str, str]]:
    name = f"response{row.get('id', where)}"
    text = field_of(row, "response", str, where)
    atoms: list[Atom] = []
    contexts: dict[str, Context] = {}
    gold: dict[str, bool] = {}
    for claim in _claims(row, where):
        id_ = f"a{len(atoms)}"
        own = []
        for number, (said, link) in enumerate(claim["evidence"]):
            key = f"{name}-{id_}-{number}"
            contexts[key] = Context(key, link or key, "", said, DEFAULT_PRIOR, link=link)
            own.append(key)
        atoms.append(
            Atom(
                id_,
                claim["text"],
                claim["original"],
                context_ids=tuple(own) if oracle else (),
                label=claim["label"],
            )
        )
        if claim["label"] in _GOLD:
            gold[id_] = _GOLD[claim["label"]]
    answer = Answer(text, where, field_of(row, "prompt", str, where))
    record = Record(answer, tuple(atoms), tuple(contexts.values()) if oracle else None)
    return Item(name, record, gold), {f"{key}.txt": c.text for key, c in contexts.items()}


def _claims(row: Mapping[str, Any], where: str) -> Iterator[dict[str, Any]]:
    for sentence in field_of(row, "sentences", dict, where).values():
        labels = field_of(sentence, "claims_factuality_label", list, where)
        claims = field_of(sentence, "claims", list, where)
        if len(labels) != len(claims):
            raise RecordError(f"{where}: {len(claims)} claims and {len(labels)} labels")
        for i, text in enumerate(claims):
            if not isinstance(text, str):
                raise RecordError(f"{where}: expected claims to be texts")
            yield {
                "text": text,
                "original": str(sentence.get("text") or text),
                "label": str(labels[i]).casefold(),
                "evidence": list(_evidence(sentence, i)),
            }


def _evidence(sentence: Mapping[str, Any], i: int) -> Iterator[tuple[str, str | None]]:
    """The texts given for a claim, each with its link."""
    yield from automatic_evidence(sentence, i)
    human = _at(sentence.get("human_evidence"), i)
    if isinstance(human, str) and not _NOTHING.fullmatch(human.strip(" \n\t.,;:-")):
        link = _LINK.search(human)
        text = _LINK.sub(" ", human).strip()
        if len(text.split()) >= MIN_WORDS:
            yield text, link[0] if link else None


def automatic_evidence(sentence: Mapping[str, Any], i: int) -> Iterator[tuple[str, str | None]]:
    """The passages that were found for a sentence's claim, each with its link."""
    found = _at(sentence.get("auto_evidence"), i)
    links = _at(sentence.get("auto_evidence_url"), i)
    for number, text in enumerate(found if isinstance(found, list) else ()):
        if isinstance(text, str) and text.strip():
            link = _at(links, number)
            yield text.strip(), link if isinstance(link, str) else None


def _at(values: object, i: int) -> Any:  # noqa: ANN401
    return values[i] if isinstance(values, list) and i < len(values) else None
