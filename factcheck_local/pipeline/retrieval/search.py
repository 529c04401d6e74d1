"""Contexts for atoms: from the store, or as a record brings them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from factcheck_local.core.progress import Progress, silent
from factcheck_local.core.types import Atom, Context, titled
from factcheck_local.indexer.joined import ReadableStore
from factcheck_local.models.contracts import Embedder, FloatArray
from factcheck_local.pipeline.retrieval import about, sentences
from factcheck_local.pipeline.retrieval.duplicates import near_duplicates
from factcheck_local.pipeline.retrieval.fusion import reciprocal_rank_fusion
from factcheck_local.pipeline.retrieval.rerank import RERANKED, Reranker, reorder
from factcheck_local.pipeline.settings import Retrieval

#: Passages looked at for each that is wanted, and at least: near duplicates fall away,
#: and a fusion of short rankings knows little.
DEPTH = 5
MIN_DEPTH = 30

#: What a ranking by words counts beside one by meaning when both are fused: names and
#: numbers decide about claims. Of the weights 1, 1.5 and 2 the one that is no worse than the
#: better single ranking on both sets of ``benchmarks/retrieval.py``.
LEXICAL_WEIGHT = 1.5


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What was found for the atoms, n of them.

    Attributes:
        contexts: m contexts, each once, in the order they were first found.
        by_atom: atom id -> ids of its own contexts, best first.
        atom_vectors: unit vectors, shape (n, d).
        context_vectors: unit vectors, shape (m, d).
        unread: how many atoms the reranker could not read.
    """

    contexts: tuple[Context, ...]
    by_atom: Mapping[str, tuple[str, ...]]
    atom_vectors: FloatArray
    context_vectors: FloatArray
    unread: int = 0


def retrieve(
    atoms: Sequence[Atom],
    store: ReadableStore,
    embedder: Embedder,
    *,
    k: int,
    retrieval: Retrieval = "dense",
    scope: frozenset[str] | None = None,
    queries: Mapping[str, Sequence[str]] | None = None,
    reranker: Reranker | None = None,
    progress: Progress = silent,
) -> Retrieved:
    """The k best passages of each atom, none of them a near duplicate of another.

    The atoms are taken to be of one answer: the last passage of each is rather one of a document
    that others of them find, too, see ``about``.

    Args:
        atoms: those to verify.
        store: the store, made with this embedder.
        embedder: turns the atoms into queries.
        k: passages per atom, at least 1.
        retrieval: see ``search``.
        scope: only passages of these sources; None for all.
        queries: atom id -> further queries, whose rankings are fused with its own.
        reranker: reads the best passages again, before the k are taken.
        progress: called as it reads.
    """
    texts = [a.text for a in atoms]
    vectors = embedder.embed(texts)
    further = [(i, q) for i, a in enumerate(atoms) for q in (queries or {}).get(a.id, ())]
    asked = [*enumerate(texts), *further]
    # The claims of a unit have one query in common.
    places = {q: n for n, q in enumerate(dict.fromkeys(q for _, q in further))}
    further_vectors = embedder.embed(list(places))[[places[q] for _, q in further]]
    found = search(
        [text for _, text in asked],
        np.concatenate([vectors, further_vectors]),
        store,
        k if reranker is None else max(k, RERANKED),
        retrieval,
        scope,
        of=[i for i, _ in asked],
        together=True,
    )
    unread = 0
    if reranker is not None:
        found, unread = reorder(texts, found, reranker, progress)
    contexts: dict[str, Context] = {}
    by_atom: dict[str, tuple[str, ...]] = {}
    for atom, ranked in zip(atoms, found, strict=True):
        hits = ranked[:k]
        contexts |= {c.id: c for c in hits if c.id not in contexts}
        by_atom[atom.id] = tuple(c.id for c in hits)
    return Retrieved(
        tuple(contexts.values()), by_atom, vectors, store.embeddings(list(contexts)), unread
    )


def search(
    texts: Sequence[str],
    vectors: FloatArray,
    store: ReadableStore,
    k: int,
    retrieval: Retrieval,
    scope: frozenset[str] | None = None,
    *,
    of: Sequence[int] | None = None,
    together: bool = False,
) -> list[list[Context]]:
    """The k best passages for each text, or for each group of texts, best first.

    Args:
        texts: n queries.
        vectors: their embeddings, shape (n, d).
        store: where to look.
        k: at least 1.
        retrieval: ``dense`` ranks by the cosine of the embeddings, ``lexical`` by
            BM25, ``fused`` by both and by the one sentence of each that says most of it, see
            ``sentences`` (reciprocal rank fusion).
        scope: only passages of these sources; None for all.
        of: the group of each text, numbered from 0, none left out. The rankings of a
            group are fused into one; None makes each text a group of its own.
        together: whether the groups are claims of one answer, see ``about``.

    Returns:
        A list of passages for each group. Of near duplicates the one with the highest
        prior is taken, at the rank of the first.
    """
    if not texts:
        return []
    groups = range(len(texts)) if of is None else of
    depth = max(MIN_DEPTH, DEPTH * k)
    with ThreadPoolExecutor(1) as pool:  # each takes a core for about the same time
        near = pool.submit(store.query, vectors, depth, scope) if retrieval != "lexical" else None
        found = (
            []
            if retrieval == "dense"
            else [(LEXICAL_WEIGHT, store.query_words(texts, depth, scope))]
        )
        found += [] if near is None else [(1.0, near.result())]
    rankings: list[list[list[str]]] = [[] for _ in range(max(groups) + 1)]
    weights: list[list[float]] = [[] for _ in rankings]
    for weight, by_text in found:
        for group, hits in zip(groups, by_text, strict=True):
            rankings[group].append([id_ for id_, _ in hits])
            weights[group].append(weight)
    scored = _fused(rankings, weights)
    known: dict[str, Context] = {}
    if retrieval == "fused":
        claims: dict[int, str] = {}
        for group, text in zip(groups, texts, strict=True):
            claims.setdefault(group, text)  # the first query of a group is the claim itself
        looked_at = [[id_ for id_, _ in best[: sentences.LOOKED_AT]] for best in scored]
        known = _fetched((id_ for ids in looked_at for id_ in ids), store)
        passages = [[known[id_] for id_ in ids] for ids in looked_at]
        by_group = [claims[group] for group in range(len(scored))]
        read = sentences.by_sentences(by_group, passages, together=together)
        for of_group, own, ranking in zip(rankings, weights, read, strict=True):
            of_group.append(ranking)
            own.append(sentences.WEIGHT)
        scored = _fused(rankings, weights)
    ordered = [[id_ for id_, _ in of_group] for of_group in scored]
    if together:
        first = about.DEPTH * k
        missing = (id_ for ids in ordered for id_ in ids[:first] if id_ not in known)
        known |= _fetched(missing, store)
        sources = {id_: context.source for id_, context in known.items()}
        firsts = about.by_documents([of_group[:first] for of_group in scored], sources, k)
        ordered = [own + ids[first:] for own, ids in zip(firsts, ordered, strict=True)]
    return _different(ordered, store, k, known)


def _fused(
    rankings: Sequence[Sequence[Sequence[str]]], weights: Sequence[Sequence[float]]
) -> list[list[tuple[str, float]]]:
    """Of each group its rankings as one, with scores."""
    return [
        reciprocal_rank_fusion(of_group, weights=own)
        for of_group, own in zip(rankings, weights, strict=True)
    ]


def _fetched(ids: Iterable[str], store: ReadableStore) -> dict[str, Context]:
    """Passages by id, each once."""
    return {c.id: c for c in store.contexts(list(dict.fromkeys(ids)))}


def _different(
    ordered: Sequence[Sequence[str]], store: ReadableStore, k: int, known: Mapping[str, Context]
) -> list[list[Context]]:
    """Of each ranking the first k that are no near duplicates of each other.

    Args:
        ordered: ids, best first.
        store: where the passages are.
        k: at least 1.
        known: passages that were fetched already, by id.
    """
    # Fetching and comparing take longer than finding, so no more are looked at than it takes.
    looked_at = 2 * k
    known = dict(known)
    while True:
        some = [ids[:looked_at] for ids in ordered]
        known |= _fetched((id_ for ids in some for id_ in ids if id_ not in known), store)
        kept = [best_of_each([known[id_] for id_ in ids]) for ids in some]
        if all(
            len(best) >= k or len(ids) <= looked_at for best, ids in zip(kept, ordered, strict=True)
        ):
            return [best[:k] for best in kept]
        looked_at *= 2


def best_of_each(ranked: Sequence[Context]) -> list[Context]:
    """Of near duplicates the one with the highest prior, at the rank of the first."""
    same = near_duplicates(ranked)
    best: dict[str, Context] = {}
    for context in ranked:
        name = same[context.id]
        if name not in best or context.prior > best[name].prior:
            best[name] = context
    return list(best.values())


def retrieve_from_record(
    atoms: Sequence[Atom], contexts: Sequence[Context], embedder: Embedder
) -> Retrieved:
    """A record's own contexts, of those of the same title and text the most reliable, once.

    A superseded copy does not stand for the document that is in force.
    """
    best: dict[tuple[str, str], Context] = {}
    for context in contexts:
        same = best.setdefault((context.title, context.text), context)
        if context.prior > same.prior:
            best[context.title, context.text] = context
    kept = {c.id: best[c.title, c.text].id for c in contexts}
    by_atom = {a.id: tuple(dict.fromkeys(kept[i] for i in a.context_ids)) for a in atoms}
    pooled = tuple(best.values())
    return Retrieved(
        pooled,
        by_atom,
        embedder.embed([a.text for a in atoms]),
        embedder.embed([titled(c.title, c.text) for c in pooled]),
    )
