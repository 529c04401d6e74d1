"""Passages from a vector database of your own, in the place of the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from factcheck_local.core.errors import InputError
from factcheck_local.core.progress import Progress
from factcheck_local.core.types import Atom, Context, titled
from factcheck_local.models.contracts import Embedder
from factcheck_local.pipeline.retrieval.fusion import reciprocal_rank_fusion
from factcheck_local.pipeline.retrieval.rerank import RERANKED, Reranker, reorder
from factcheck_local.pipeline.retrieval.search import Retrieved, best_of_each


class Retriever(Protocol):
    """Finds passages for claims.

    What is found is evidence: a passage's ``source`` and ``line`` are what is cited, and its
    ``prior``, P(it is true) in (0, 1), is how far it is believed. Its calls come one after
    the other, in the thread that verifies.
    """

    @property
    def name(self) -> str:
        """What a run calls it in its record."""

    def retrieve(self, queries: Sequence[str], k: int) -> Sequence[Sequence[Context]]:
        """The best passages for each query.

        Args:
            queries: n texts.
            k: passages that are wanted for each, at least 1.

        Returns:
            n lists, best first, of at most k passages. A passage has the same id in each,
            and no other has it; nor has a claim, whose ids are a1, a2, ... or a record's own.
        """


def retrieve_from(
    atoms: Sequence[Atom],
    retriever: Retriever,
    embedder: Embedder,
    *,
    k: int,
    queries: Mapping[str, Sequence[str]] | None = None,
    reranker: Reranker | None = None,
    progress: Progress = lambda _done, _all: None,
) -> Retrieved:
    """The k best passages of each atom; see ``search.retrieve``.

    Raises:
        InputError: if what the retriever gives is not what its contract says.
    """
    texts = [a.text for a in atoms]
    further = [(i, q) for i, a in enumerate(atoms) for q in (queries or {}).get(a.id, ())]
    asked = [*enumerate(texts), *further]
    depth = k if reranker is None else max(k, RERANKED)
    # The claims of a unit have one query in common, which a database need not answer twice.
    places = {text: n for n, text in enumerate(dict.fromkeys(text for _, text in asked))}
    answers = retriever.retrieve(list(places), depth) if asked else ()
    if len(answers) != len(places):
        raise InputError(
            f"{retriever.name}: expected passages for {len(places)} queries, got {len(answers)}"
        )
    known = _known(retriever.name, answers)
    if both := known.keys() & {a.id for a in atoms}:
        raise InputError(f"{retriever.name}: the id {min(both)} is a passage's and a claim's")
    rankings: list[list[list[str]]] = [[] for _ in texts]
    for i, text in asked:
        rankings[i].append(list(dict.fromkeys(c.id for c in answers[places[text]])))
    # One ranking is taken as it is: fusion orders ties by id.
    ordered = [
        own[0] if len(own) == 1 else [id_ for id_, _ in reciprocal_rank_fusion(own)]
        for own in rankings
    ]
    found = [best_of_each([known[id_] for id_ in ids])[:depth] for ids in ordered]
    unread = 0
    if reranker is not None:
        found, unread = reorder(texts, found, reranker, progress)
    contexts = {c.id: c for ranked in found for c in ranked[:k]}
    return Retrieved(
        tuple(contexts.values()),
        {a.id: tuple(c.id for c in ranked[:k]) for a, ranked in zip(atoms, found, strict=True)},
        embedder.embed(texts),
        embedder.embed([titled(c.title, c.text) for c in contexts.values()]),
        unread,
    )


def _known(name: str, answers: Sequence[Sequence[Context]]) -> dict[str, Context]:
    """The passages by id.

    Raises:
        InputError: if an id stands for two passages, or a prior is none.
    """
    known: dict[str, Context] = {}
    for context in (c for answer in answers for c in answer):
        if not 0 < context.prior < 1:
            raise InputError(
                f"{name}: passage {context.id}: expected a prior in (0, 1), got {context.prior}"
            )
        if known.setdefault(context.id, context) != context:
            raise InputError(f"{name}: the id {context.id} stands for two passages")
    return known
