"""Documents with claims about them, and which passages are the gold evidence of each."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from factcheck_local.core.types import Context
from factcheck_local.evaluate.collection import digest_of
from factcheck_local.evaluate.data.factcheckbench import automatic_evidence


@dataclass(frozen=True, slots=True)
class Query:
    """A claim, and what counts as found.

    Attributes:
        text: the claim.
        group: what it is drawn with for an interval: its article, or the answer that it is of.
        sources: documents any passage of which is right.
        sentences: texts one of which a passage has to hold as well; none if empty.
    """

    text: str
    group: str
    sources: frozenset[str]
    sentences: tuple[str, ...] = ()

    def right(self, context: Context) -> bool:
        """Whether a passage is what was looked for."""
        return context.source in self.sources and (
            not self.sentences or any(s in context.text for s in self.sentences)
        )


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents and the claims about them, by what counts as found.

    Attributes:
        name: of the set.
        documents: text by name; none where they are files.
        queries: claims by what is right.
        folder: the documents' own, with answers in it that are none.
    """

    name: str
    documents: Mapping[str, str]
    queries: Mapping[str, Sequence[Query]]
    folder: Path | None = None

    @property
    def claims(self) -> list[str]:
        """The claims, each once, in order."""
        return list(dict.fromkeys(q.text for queries in self.queries.values() for q in queries))

    def sample(self, limit: int | None, seed: int) -> Collection:
        """At most ``limit`` of the claims, the same for every measure; all documents."""
        claims = self.claims
        if limit is None or limit >= len(claims):
            return self
        chosen = frozenset(random.Random(seed).sample(claims, limit))
        kept = {kind: [q for q in qs if q.text in chosen] for kind, qs in self.queries.items()}
        return replace(self, queries=kept)

    @property
    def digest(self) -> str:
        """Sha256 over the documents, in a folder with its answers, in hex."""
        if self.folder is not None:
            return digest_of(sorted(f for f in self.folder.rglob("*") if f.is_file()))
        values = json.dumps(sorted(self.documents.items()), ensure_ascii=False)
        return hashlib.sha256(values.encode()).hexdigest()


def wice(rows: Sequence[Mapping[str, Any]]) -> Collection:
    """WiCE's articles, one document each, a sentence a line."""
    names: dict[str, str] = {}
    by_article, by_sentence = [], []
    for row in rows:
        text = "\n".join(row["evidence"])
        name = names.setdefault(text, f"article{len(names):04}.txt")
        by_article.append(Query(row["claim"], name, frozenset({name})))
        supporting = {i for ids in row["supporting_sentences"] for i in ids}
        if supporting:
            lines = tuple(row["evidence"][i].strip() for i in sorted(supporting))
            by_sentence.append(Query(row["claim"], name, frozenset({name}), lines))
    documents = {name: text for text, name in names.items()}
    return Collection("WiCE dev", documents, {"by article": by_article, "by sentence": by_sentence})


def factcheckbench(rows: Sequence[Mapping[str, Any]]) -> Collection:
    """Every evidence text of every claim, one document each.

    A claim of several answers counts with the first of them.
    """
    names: dict[str, str] = {}
    wanted: dict[str, set[str]] = {}
    answers: dict[str, str] = {}
    for answer, claim, evidence in _evidence(rows):
        name = names.setdefault(evidence, f"evidence{len(names):05}.txt")
        wanted.setdefault(claim, set()).add(name)
        answers.setdefault(claim, answer)
    queries = [Query(claim, answers[claim], frozenset(found)) for claim, found in wanted.items()]
    documents = {name: text for text, name in names.items()}
    return Collection("Factcheck-Bench", documents, {"own evidence": queries})


def handbook(folder: Path) -> Collection:
    """The sample handbook: right are the pages that a claim's label names."""
    queries = [
        Query(claim["text"], file.name, frozenset(claim["sources"]))
        for file in sorted(folder.glob("answers/*.labels.json"))
        for claim in json.loads(file.read_text("utf-8"))["claims"]
        if claim["sources"]
    ]
    return Collection("handbook", {}, {"by page": queries}, folder)


def _evidence(rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str, str]]:
    """An answer's number, a claim of it, and a text that was given for that."""
    for number, row in enumerate(rows):
        for sentence in row["sentences"].values():
            for i, claim in enumerate(sentence.get("claims") or ()):
                for text, _ in automatic_evidence(sentence, i):
                    yield f"answer{number}", claim, text
