"""Contexts for atoms: from the store, or as a record brings them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from factcheck_local.indexer.store import Store
from factcheck_local.models.contracts import Embedder, FloatArray
from factcheck_local.types import Atom, Context


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What was found for the atoms, n of them.

    Attributes:
        contexts: m contexts, each once, in the order they were first found.
        by_atom: atom id -> ids of its own contexts, best first.
        atom_vectors: unit vectors, shape (n, d).
        context_vectors: unit vectors, shape (m, d).
    """

    contexts: tuple[Context, ...]
    by_atom: Mapping[str, tuple[str, ...]]
    atom_vectors: FloatArray
    context_vectors: FloatArray


def retrieve(atoms: Sequence[Atom], store: Store, embedder: Embedder, *, k: int) -> Retrieved:
    """The k most similar passages of each atom, by cosine of its embedding.

    Args:
        atoms: those to verify.
        store: the store, made with this embedder.
        embedder: turns the atoms into queries.
        k: passages per atom, at least 1.
    """
    vectors = embedder.embed([a.text for a in atoms])
    contexts: dict[str, Context] = {}
    by_atom: dict[str, tuple[str, ...]] = {}
    for atom, hits in zip(atoms, store.query(vectors, k) if atoms else [], strict=True):
        contexts |= {c.id: c for c, _ in hits if c.id not in contexts}
        by_atom[atom.id] = tuple(c.id for c, _ in hits)
    return Retrieved(tuple(contexts.values()), by_atom, vectors, store.embeddings(list(contexts)))


def retrieve_from_record(
    atoms: Sequence[Atom], contexts: Sequence[Context], embedder: Embedder
) -> Retrieved:
    """A record's own contexts, those of the same title and text pooled into the first."""
    first: dict[tuple[str, str], Context] = {}
    for context in contexts:
        first.setdefault((context.title, context.text), context)
    kept = {c.id: first[c.title, c.text].id for c in contexts}
    by_atom = {a.id: tuple(dict.fromkeys(kept[i] for i in a.context_ids)) for a in atoms}
    pooled = tuple(first.values())
    return Retrieved(
        pooled,
        by_atom,
        embedder.embed([a.text for a in atoms]),
        embedder.embed([f"{c.title}\n{c.text}" if c.title else c.text for c in pooled]),
    )
