"""Retrieval on gold evidence: hits and MRR by meaning, by words, and by both.

    python -m benchmarks.retrieval --out benchmarks/results
    python -m benchmarks.retrieval --rerank encoder --limit 150 --out FOLDER
    python -m benchmarks.retrieval --queries llm --limit 150 --retrieval fused --out FOLDER

WiCE dev: every article in one store, the claim as query; right is a passage of its own
article, or (second row) one that holds a sentence that supports it. Factcheck-Bench: all
evidence in one store; right is a text that was given as evidence for the claim. Handbook: the
sample corpus and the labelled claims of its answers; right is a page that the label names.
hit@K is the share of claims with a right passage among the first K, one of several or not;
intervals draw whole articles or answers, whose claims are not independent.
The stores are kept (``--cache``), so that a second run embeds nothing, and so is what an
NLI encoder says of a passage; a reranked row has no time for that reason. ``--limit``
takes a seeded sample of the claims, ``--rerank`` and ``--queries llm`` add rows on the same.
Writes ``retrieval.json`` and ``retrieval.md``.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import Any, get_args

from benchmarks.evidence import Collection, Query, factcheckbench, handbook, wice
from benchmarks.handbook import CORPUS
from benchmarks.nli.pairs import read_rows
from benchmarks.nli.sample import CACHE, DATA, kept_scorer
from factcheck_local import __version__
from factcheck_local.core.types import Atom, Context
from factcheck_local.evaluate.machine import machine
from factcheck_local.evaluate.summary import cell
from factcheck_local.indexer.fingerprint import SCHEMA, Fingerprint
from factcheck_local.indexer.store import Store
from factcheck_local.indexer.sync import sync
from factcheck_local.metrics import bootstrap_ci
from factcheck_local.models.cards import find_card
from factcheck_local.models.contracts import ChatModel, Embedder, TextGenerator
from factcheck_local.models.embedder import for_passages
from factcheck_local.models.offline import go_offline
from factcheck_local.models.registry import DEFAULT_EMBEDDER, DEFAULT_LLM, load_model
from factcheck_local.pipeline.relation.load import relation_card
from factcheck_local.pipeline.retrieval.queries import SHOWN, write_queries
from factcheck_local.pipeline.retrieval.rerank import RERANKED, Reranker, reorder
from factcheck_local.pipeline.retrieval.rerankers import EncoderReranker, load_reranker
from factcheck_local.pipeline.retrieval.search import retrieve, search
from factcheck_local.pipeline.settings import Retrieval, Settings

#: The first is how many a run takes by default.
CUTOFFS = (Settings().k, 5, 10)
WAYS: tuple[Retrieval, ...] = get_args(Retrieval)


def measure(
    collection: Collection,
    store: Store,
    embedder: Embedder,
    *,
    ways: Sequence[Retrieval] = WAYS,
    reranker: Reranker | None = None,
    llm: TextGenerator | None = None,
) -> list[dict[str, Any]]:
    """Hits and MRR of every way of retrieval, and what a query takes.

    Args:
        collection: documents and claims.
        store: with the documents.
        embedder: the store's.
        ways: of retrieval.
        reranker: gives each row a second one, with the passages in its order.
        llm: writes queries, for rows of their own.
    """
    found = []
    k = max(CUTOFFS) if reranker is None else max(*CUTOFFS, RERANKED)
    written = {}
    if llm is not None:
        written = {way: _written(collection.claims, store, embedder, way, llm) for way in ways}
    for kind, queries in collection.queries.items():
        texts = [q.text for q in queries]
        vectors = embedder.embed(texts)
        for way in ways:
            begun = time.perf_counter()
            rankings = {str(way): search(texts, vectors, store, k, way)}
            seconds = time.perf_counter() - begun
            if way in written:
                atoms = [Atom(text, text, text) for text in texts]
                rankings[f"{way}, queries of the LLM"] = _retrieved(
                    atoms, store, embedder, k, way, written[way]
                )
            for name, hits in rankings.items():
                took = seconds if name == way else None
                found.append(_summary(collection, kind, name, _ranks(queries, hits), took))
                if reranker is not None:
                    again, _ = reorder(texts, hits, reranker)
                    ranks = _ranks(queries, again)
                    found.append(_summary(collection, kind, f"{name}, reranked", ranks, None))
    return found


def _written(
    claims: Sequence[str], store: Store, embedder: Embedder, way: Retrieval, llm: TextGenerator
) -> Mapping[str, tuple[str, ...]]:
    """The queries that an LLM writes for claims, and refines once, by claim."""

    def look(atom: Atom, queries: Sequence[str]) -> Sequence[Context]:
        return _retrieved([atom], store, embedder, SHOWN, way, {atom.id: queries})[0]

    return write_queries([Atom(claim, claim, claim) for claim in claims], llm, look).by_atom


def _retrieved(
    atoms: Sequence[Atom],
    store: Store,
    embedder: Embedder,
    k: int,
    way: Retrieval,
    queries: Mapping[str, Sequence[str]],
) -> list[list[Context]]:
    """What is found for each atom with further queries, as they are of many answers."""
    return [
        list(retrieve([a], store, embedder, k=k, retrieval=way, queries=queries).contexts)
        for a in atoms
    ]


def _ranks(queries: Sequence[Query], hits: Sequence[Sequence[Context]]) -> list[int | None]:
    return [_rank(q, contexts) for q, contexts in zip(queries, hits, strict=True)]


def _rank(query: Query, contexts: Sequence[Context]) -> int | None:
    """Rank of the first right passage, from 1, as far as the longest cutoff goes."""
    contexts = contexts[: max(CUTOFFS)]
    return next((i for i, c in enumerate(contexts, start=1) if query.right(c)), None)


def _summary(
    collection: Collection,
    kind: str,
    name: str,
    ranks: Sequence[int | None],
    seconds: float | None,
) -> dict[str, Any]:
    groups = [query.group for query in collection.queries[kind]]
    row: dict[str, Any] = {
        "set": collection.name,
        "right": kind,
        "retrieval": name,
        "queries": len(ranks),
        **_mean("mrr", [1.0 / r if r else 0.0 for r in ranks], groups),
        "milliseconds_a_query": None if seconds is None else 1e3 * seconds / len(ranks),
    }
    for cutoff in CUTOFFS:
        row |= _mean(f"hit@{cutoff}", [float(r is not None and r <= cutoff) for r in ranks], groups)
    return row


def _mean(name: str, values: Sequence[float], groups: Sequence[str]) -> dict[str, Any]:
    """The mean over claims, and its interval."""
    by_group: dict[str, list[float]] = {}
    for group, value in zip(groups, values, strict=True):
        by_group.setdefault(group, []).append(value)
    interval = bootstrap_ci(list(by_group.values()), lambda drawn: fmean(chain(*drawn)))
    return {name: fmean(values), f"{name}_ci95": interval}


def indexed(collection: Collection, embedder: Embedder, cache: Path) -> Store:
    """The collection in a store, made where it is not kept yet."""
    made = f"{collection.digest[:16]}-{embedder.sha256[:16]}-{SCHEMA.rpartition('/')[2]}"
    folder = cache / "retrieval" / made
    corpus = collection.folder or folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for name, text in collection.documents.items():
        if not (corpus / name).exists():
            (corpus / name).write_text(text, encoding="utf-8")
    store = Store.create(folder / "store", Fingerprint.of(embedder))
    sync([corpus], store, for_passages(embedder), exclude=["answers/**"])
    return store


def to_markdown(result: Mapping[str, Any]) -> str:
    """One table, the best of each measure not marked: differences are small."""
    lines = [
        "# Retrieval",
        "",
        "| set | right | by | queries | "
        + " | ".join(f"hit@{cutoff}" for cutoff in CUTOFFS)
        + " | MRR | ms a query |",
        "|---|---|---|" + "---:|" * (len(CUTOFFS) + 3),
    ]
    for row in result["rows"]:
        shown = [
            cell({"value": row[m], "ci95": row[f"{m}_ci95"]})
            for m in (*(f"hit@{cutoff}" for cutoff in CUTOFFS), "mrr")
        ]
        took = row["milliseconds_a_query"]
        shown.append("–" if took is None else f"{took:.1f}")
        lines.append(
            f"| {row['set']} | {row['right']} | {row['retrieval']} | {row['queries']} | "
            f"{' | '.join(shown)} |"
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
        handbook(CORPUS),
    ]
    llm: ChatModel | None = load_model(options.llm, "llm") if options.queries == "llm" else None
    reranker = _reranker(options.rerank, options.cache)
    used = [embedder, *filter(None, (llm, reranker))]
    rows: list[dict[str, Any]] = []
    digests = []
    for collection in collections:
        with indexed(collection, embedder, options.cache) as store:
            rows += measure(
                collection.sample(options.limit, options.seed),
                store,
                embedder,
                ways=options.retrieval,
                reranker=reranker,
                llm=llm,
            )
            digests.append(f"{collection.name}@{store.digest()[:12]}({store.count()} passages)")
    result = {
        "rows": rows,
        "signature": f"factcheck-local:{__version__}|"
        f"{'|'.join(f'{m.id}@{m.sha256[:12]}' for m in used)}|"
        f"limit:{options.limit}|seed:{options.seed}|{'|'.join(digests)}|machine:{machine()}",
    }
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "retrieval.json").write_text(json.dumps(result, indent=1) + "\n")
    text = to_markdown(result)
    (options.out / "retrieval.md").write_text(text, encoding="utf-8")
    print(text)


def _reranker(name: str | None, cache: Path) -> Reranker | None:
    """The reranker of that name; what an NLI encoder reads is kept."""
    if name == "encoder" or (name and find_card(name).role == "encoder"):
        return EncoderReranker(kept_scorer(relation_card(name, DEFAULT_LLM), cache))
    return load_reranker(name) if name else None


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="retrieval on gold evidence")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--embedder", default=DEFAULT_EMBEDDER)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    parser.add_argument("--cache", type=Path, default=CACHE, help="folder of stores that are kept")
    parser.add_argument("--retrieval", nargs="+", choices=get_args(Retrieval), default=WAYS)
    parser.add_argument("--limit", type=int, help="claims per set; all of them")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rerank", help="encoder, or a model's name")
    parser.add_argument("--queries", choices=["atom", "llm"], default="atom")
    parser.add_argument("--llm", default=DEFAULT_LLM)
    return parser.parse_args()


if __name__ == "__main__":
    main()
