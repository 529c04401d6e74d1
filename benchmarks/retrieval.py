"""Retrieval on gold evidence: recall and MRR by meaning, by words, and by both.

    python -m benchmarks.retrieval --out benchmarks/results

WiCE dev: every article in one store, the claim as query; right is a passage of its own
article, or (second row) one that holds a sentence that supports it. Factcheck-Bench: all
evidence in one store; right is a text that was given as evidence for the claim.
The stores are kept (``--cache``), so that a second run embeds nothing.
Writes ``retrieval.json`` and ``retrieval.md``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, get_args

from benchmarks.nli.machine import machine
from benchmarks.nli.pairs import read_rows
from benchmarks.nli.sample import CACHE, DATA
from factcheck_local import __version__
from factcheck_local.indexer.fingerprint import Fingerprint
from factcheck_local.indexer.store import Store
from factcheck_local.indexer.sync import sync
from factcheck_local.metrics import bootstrap_ci
from factcheck_local.models.contracts import Embedder
from factcheck_local.models.offline import go_offline
from factcheck_local.models.registry import DEFAULT_EMBEDDER, load_model
from factcheck_local.retrieve import Retrieval, search
from factcheck_local.types import Context

CUTOFFS = (5, 10)


@dataclass(frozen=True, slots=True)
class Query:
    """A claim, and what counts as found.

    Attributes:
        text: the claim.
        sources: documents any passage of which is right.
        sentences: texts one of which a passage has to hold as well; none if empty.
    """

    text: str
    sources: frozenset[str]
    sentences: tuple[str, ...] = ()

    def right(self, context: Context) -> bool:
        """Whether a passage is what was looked for."""
        return context.source in self.sources and (
            not self.sentences or any(s in context.text for s in self.sentences)
        )


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents and the claims about them, by what counts as found."""

    name: str
    documents: Mapping[str, str]
    queries: Mapping[str, Sequence[Query]]

    @property
    def digest(self) -> str:
        """Sha256 over the documents, in hex."""
        values = json.dumps(sorted(self.documents.items()), ensure_ascii=False)
        return hashlib.sha256(values.encode()).hexdigest()


def wice(rows: Sequence[Mapping[str, Any]]) -> Collection:
    """WiCE's articles, one document each, a sentence a line."""
    names: dict[str, str] = {}
    by_article, by_sentence = [], []
    for row in rows:
        text = "\n".join(row["evidence"])
        name = names.setdefault(text, f"article{len(names):04}.txt")
        by_article.append(Query(row["claim"], frozenset({name})))
        supporting = {i for ids in row["supporting_sentences"] for i in ids}
        if supporting:
            lines = tuple(row["evidence"][i].strip() for i in sorted(supporting))
            by_sentence.append(Query(row["claim"], frozenset({name}), lines))
    documents = {name: text for text, name in names.items()}
    return Collection("WiCE dev", documents, {"by article": by_article, "by sentence": by_sentence})


def factcheckbench(rows: Sequence[Mapping[str, Any]]) -> Collection:
    """Every evidence text of every claim, one document each."""
    names: dict[str, str] = {}
    wanted: dict[str, set[str]] = {}
    for claim, evidence in _evidence(rows):
        name = names.setdefault(evidence, f"evidence{len(names):05}.txt")
        wanted.setdefault(claim, set()).add(name)
    queries = [Query(claim, frozenset(found)) for claim, found in wanted.items()]
    documents = {name: text for text, name in names.items()}
    return Collection("Factcheck-Bench", documents, {"own evidence": queries})


def _evidence(rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Pairs of a claim and a text that was given for it."""
    for row in rows:
        for sentence in row["sentences"].values():
            for i, claim in enumerate(sentence.get("claims") or ()):
                auto = sentence.get("auto_evidence") or []
                texts = auto[i] if i < len(auto) and isinstance(auto[i], list) else []
                for text in texts:
                    if isinstance(text, str) and text.strip():
                        yield claim, text.strip()


def measure(collection: Collection, store: Store, embedder: Embedder) -> list[dict[str, Any]]:
    """Recall and MRR of every way of retrieval, and what a query takes."""
    found = []
    for kind, queries in collection.queries.items():
        texts = [q.text for q in queries]
        vectors = embedder.embed(texts)
        for retrieval in get_args(Retrieval):
            begun = time.perf_counter()
            hits = search(texts, vectors, store, max(CUTOFFS), retrieval)
            seconds = time.perf_counter() - begun
            ranks = [_rank(q, contexts) for q, contexts in zip(queries, hits, strict=True)]
            found.append(_summary(collection, kind, retrieval, ranks, seconds))
    return found


def _rank(query: Query, contexts: Sequence[Context]) -> int | None:
    """Rank of the first right passage, from 1."""
    return next((i for i, c in enumerate(contexts, start=1) if query.right(c)), None)


def _summary(
    collection: Collection,
    kind: str,
    retrieval: Retrieval,
    ranks: Sequence[int | None],
    seconds: float,
) -> dict[str, Any]:
    reciprocal = [1.0 / r if r else 0.0 for r in ranks]
    row: dict[str, Any] = {
        "set": collection.name,
        "right": kind,
        "retrieval": retrieval,
        "queries": len(ranks),
        "mrr": fmean(reciprocal),
        "mrr_ci95": bootstrap_ci(reciprocal, fmean),
        "milliseconds_a_query": 1e3 * seconds / len(ranks),
    }
    for cutoff in CUTOFFS:
        within = [float(r is not None and r <= cutoff) for r in ranks]
        row[f"recall@{cutoff}"] = fmean(within)
        row[f"recall@{cutoff}_ci95"] = bootstrap_ci(within, fmean)
    return row


def indexed(collection: Collection, embedder: Embedder, cache: Path) -> Store:
    """The collection in a store, made where it is not kept yet."""
    folder = cache / "retrieval" / f"{collection.digest[:16]}-{embedder.sha256[:16]}"
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for name, text in collection.documents.items():
        if not (corpus / name).exists():
            (corpus / name).write_text(text, encoding="utf-8")
    store = Store.create(folder / "store", Fingerprint.of(embedder))
    sync([corpus], store, embedder)
    return store


def to_markdown(result: Mapping[str, Any]) -> str:
    """One table, the best of each measure not marked: differences are small."""
    lines = [
        "# Retrieval",
        "",
        "| set | right | by | queries | recall@5 | recall@10 | MRR | ms a query |",
        "|---|---|---|---:|---:|---:|---:|---:|",
    ]
    for row in result["rows"]:
        shown = [
            f"{row[m]:.3f} [{row[f'{m}_ci95'][0]:.3f}, {row[f'{m}_ci95'][1]:.3f}]"
            for m in ("recall@5", "recall@10", "mrr")
        ]
        lines.append(
            f"| {row['set']} | {row['right']} | {row['retrieval']} | {row['queries']} | "
            f"{' | '.join(shown)} | {row['milliseconds_a_query']:.1f} |"
        )
    lines += ["", f"signature: `{result['signature']}`"]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Index, measure, write, print."""
    go_offline()
    options = _options()
    embedder: Embedder = load_model(options.embedder, "embedder")
    collections = [
        wice(read_rows(options.data / "wice" / "dev.jsonl")),
        factcheckbench(read_rows(options.data / "factcheckbench" / "responses.jsonl")),
    ]
    rows: list[dict[str, Any]] = []
    digests = []
    for collection in collections:
        with indexed(collection, embedder, options.cache) as store:
            rows += measure(collection, store, embedder)
            digests.append(f"{collection.name}@{store.digest()[:12]}({store.count()} passages)")
    result = {
        "rows": rows,
        "signature": f"factcheck-local:{__version__}|{embedder.id}@{embedder.sha256[:12]}|"
        f"{'|'.join(digests)}|machine:{machine()}",
    }
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "retrieval.json").write_text(json.dumps(result, indent=1) + "\n")
    text = to_markdown(result)
    (options.out / "retrieval.md").write_text(text, encoding="utf-8")
    print(text)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="retrieval on gold evidence")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--embedder", default=DEFAULT_EMBEDDER)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    parser.add_argument("--cache", type=Path, default=CACHE, help="folder of stores that are kept")
    return parser.parse_args()


if __name__ == "__main__":
    main()
