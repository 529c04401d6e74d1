"""What relation models said of a benchmark's pairs, for networks of any settings.

Passages are retrieved and pairs read by the pipeline's own stages. What is read stays in the
store's cache of verdicts, so that other settings of the network, or another run over the same
folder, read nothing again.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from factcheck_local.core.types import Atom, Context, ScoredPair
from factcheck_local.evaluate.collection import Item
from factcheck_local.evaluate.verdicts import Matrix, matrix_of
from factcheck_local.indexer.joined import ReadableStore
from factcheck_local.indexer.scope import Condition, in_scope
from factcheck_local.models.contracts import FloatArray
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.relation import Premise, Related, RelationModel, relate
from factcheck_local.pipeline.retrieval.duplicates import near_duplicates
from factcheck_local.pipeline.retrieval.search import search
from factcheck_local.pipeline.settings import Retrieval, Settings
from factcheck_local.pipeline.verdicts.factreasoner import Posterior, assess, reason
from factcheck_local.pipeline.verdicts.network import pairs_to_relate

#: Assessors by what they read; the others of a kind read the same pairs.
_READ_AS = {"fr4": "fr3"}


@dataclass
class NetworkCase:
    """One item's claims, and what was retrieved and read for them so far.

    Attributes:
        item: the item.
        store: where its passages are.
        model: reads pairs, each once.
        vectors: of the claims, unit vectors, shape (n, d).
        scope: sources that it may use.
    """

    item: Item
    store: ReadableStore
    model: RelationModel
    vectors: FloatArray
    scope: frozenset[str] | None
    _found: dict[tuple[Retrieval, int], tuple[tuple[Context, ...], dict[str, tuple[str, ...]]]] = (
        field(default_factory=dict)
    )
    _read: dict[tuple[str, Retrieval, int], Related] = field(default_factory=dict)
    _solved: dict[Settings, Posterior] = field(default_factory=dict)

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """The claims."""
        return self.item.record.atoms or ()

    def counts(self, settings: Settings) -> Matrix:
        """Expected verdicts by verdicts under settings, see ``evaluate.verdicts.matrix_of``."""
        # A conflict is a matter of the verdict alone: the network is the same for any bound.
        network = replace(settings, strong=0.0)
        if network not in self._solved:
            self._solved[network] = self._solve(network, self.related(settings).pairs)
        return self._counted(settings, self.related(settings).pairs, self._solved[network])

    def counts_with(self, settings: Settings, pairs: Sequence[ScoredPair]) -> Matrix:
        """The same with other relations in the place of those that were read."""
        return self._counted(settings, pairs, self._solve(settings, pairs))

    def _solve(self, settings: Settings, pairs: Sequence[ScoredPair]) -> Posterior:
        contexts, _ = self.retrieved(settings)
        return reason(self.atoms, contexts, pairs, settings, explained=False)

    def _counted(
        self, settings: Settings, pairs: Sequence[ScoredPair], posterior: Posterior
    ) -> Matrix:
        contexts, _ = self.retrieved(settings)
        known = {a.id for a in self.atoms}
        failures = {h: why for (_, h), why in self.related(settings).failures.items() if h in known}
        assessment = assess(
            self.item.record.answer,
            self.atoms,
            contexts,
            pairs,
            posterior,
            {},
            failures,
            settings,
        )
        return matrix_of(
            [{"label": a.atom.label, "verdict": a.verdict.value} for a in assessment.atoms]
        )

    def forget(self) -> None:
        """Drop the networks solved so far, which are many; what was read stays."""
        self._solved.clear()

    def retrieved(
        self, settings: Settings
    ) -> tuple[tuple[Context, ...], dict[str, tuple[str, ...]]]:
        """The passages found for the claims, and which of them for each, best first."""
        key = settings.retrieval, settings.k
        if key not in self._found:
            texts = [a.text for a in self.atoms]
            ranked = search(
                texts, self.vectors, self.store, key[1], key[0], self.scope, together=True
            )
            contexts = {c.id: c for hits in ranked for c in hits}
            by_atom = {
                a.id: tuple(c.id for c in hits) for a, hits in zip(self.atoms, ranked, strict=True)
            }
            self._found[key] = tuple(contexts.values()), by_atom
        return self._found[key]

    def related(self, settings: Settings) -> Related:
        """What was read of the pairs that settings ask for."""
        assessor = _READ_AS.get(settings.assessor, settings.assessor)
        key = assessor, settings.retrieval, settings.k
        if key not in self._read:
            contexts, by_atom = self.retrieved(settings)
            pairs = pairs_to_relate(
                assessor,
                self.atoms,
                contexts,
                by_atom,
                self.vectors,
                self.store.embeddings([c.id for c in contexts]),
                min_similarity=settings.min_similarity,
                min_pooled_similarity=settings.min_pooled_similarity,
                min_context_similarity=settings.min_context_similarity,
            )
            self._read[key] = relate(
                pairs,
                {c.id: Premise(c.title, c.text) for c in contexts},
                {a.id: a.text for a in self.atoms} | {c.id: c.text for c in contexts},
                self.model,
                alike=near_duplicates(contexts),
            )
        return self._read[key]


def cases(items: Sequence[Item], checker: FactChecker, most: Settings) -> Iterator[NetworkCase]:
    """The items with their pairs read; progress goes to stderr.

    Args:
        items: with their claims as atoms.
        checker: with a store, whose cache keeps what is read.
        most: settings under which more pairs are read than under the others: a passage is read
            once for all of them.
    """
    store = checker.store
    if store is None:
        raise ValueError("expected a checker with a store")
    for number, item in enumerate(items, start=1):
        where = [Condition.parse(text) for text in item.where]
        atoms = item.record.atoms or ()
        case = NetworkCase(
            item,
            store,
            checker.relation_model,
            checker.embedder.embed([a.text for a in atoms]),
            in_scope(store.sources(), where),
        )
        case.counts(most)
        case.forget()
        print(f"{number} of {len(items)}: {item.id}", file=sys.stderr)
        yield case
