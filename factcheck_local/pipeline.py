"""The pipeline: the Python API behind every command.

>>> from factcheck_local.pipeline import FactChecker
>>> checker = FactChecker(Settings(), Store.open(path))      # doctest: +SKIP
>>> run = checker.verify(Record(Answer("The sky is green.")))  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import Any

from factcheck_local import __version__
from factcheck_local.assess import assess
from factcheck_local.assess.factreasoner import reason
from factcheck_local.atomize import Atomized, atomize, merge_repeats
from factcheck_local.config import Settings
from factcheck_local.duplicates import near_duplicates
from factcheck_local.errors import StoreError
from factcheck_local.graph import pairs_to_relate
from factcheck_local.indexer.scope import Condition, in_scope
from factcheck_local.indexer.store import Store
from factcheck_local.models.contracts import ChatModel, Embedder, Identified
from factcheck_local.models.registry import load_model
from factcheck_local.queries import SHOWN, with_question, write_queries
from factcheck_local.quote import pick_quotes
from factcheck_local.records import Record
from factcheck_local.relate import (
    Premise,
    Related,
    RelationModel,
    describe,
    load_relation_model,
    relate,
)
from factcheck_local.relate.hardened import cut_notes
from factcheck_local.rerank import Reranker
from factcheck_local.rerankers import load_reranker
from factcheck_local.retrieve import Retrieved, retrieve, retrieve_from_record
from factcheck_local.revise import revise
from factcheck_local.run import Run, Work, prompts_here, unlike
from factcheck_local.segment import segment
from factcheck_local.types import Answer, Atom, Context, Span

#: Called with a stage's name, the units done and all units of the stage.
Progress = Callable[[str, int, int], None]


class FactChecker:
    """Verifies answers against a store; models are loaded once, on first use.

    Args:
        settings: of every run.
        store: where contexts come from; None for records that bring theirs.
        llm: a model in place of the one that the settings name.
        embedder: likewise.
        relation_model: likewise.
        reranker: likewise.
        cache: whether scores of pairs are kept in the store and taken from it. The
            same scores come back, so this is no setting.
        progress: told how far each stage is.
    """

    def __init__(
        self,
        settings: Settings,
        store: Store | None = None,
        *,
        llm: ChatModel | None = None,
        embedder: Embedder | None = None,
        relation_model: RelationModel | None = None,
        reranker: Reranker | None = None,
        cache: bool = True,
        progress: Progress = lambda _stage, _done, _all: None,
    ) -> None:
        self.settings = settings
        self.store = store
        self._given_llm = llm
        self._given_embedder = embedder
        self._given_relation_model = relation_model
        self._given_reranker = reranker
        self._cache = cache
        self._progress = progress

    @cached_property
    def llm(self) -> ChatModel:
        """The model that splits, rewords and, where it is the relation model, judges."""
        loaded: ChatModel = self._given_llm or load_model(self.settings.llm, "llm")
        return loaded

    @cached_property
    def embedder(self) -> Embedder:
        """The store's embedder."""
        loaded: Embedder = self._given_embedder or load_model(self.settings.embedder, "embedder")
        if self.store is not None:
            made_with = self.store.fingerprint.embedder
            if (made_with.id, made_with.sha256) != (loaded.id, loaded.sha256):
                raise StoreError(
                    f"{self.store.place}: made with embedder {made_with.id}, not {loaded.id}",
                    hint=f"factcheck verify --embedder {made_with.id}",
                )
        return loaded

    @cached_property
    def relation_model(self) -> RelationModel:
        """The relation model; shares the LLM's memory where they are the same."""
        return self._given_relation_model or load_relation_model(
            self.settings.relation,
            default_llm=self.settings.llm,
            loaded=self.__dict__.get("llm"),
            store_dir=self.store.path if self.store else None,
            cache=self._cache,
            quantities=self.settings.quantities,
            cut_instructions=self.settings.cut_instructions,
            budget=self.settings.budget,
        )

    @cached_property
    def reranker(self) -> Reranker | None:
        """What reads the best passages again, if anything does."""
        if self._given_reranker is not None or self.settings.rerank is None:
            return self._given_reranker
        cache_dir = self.store.path if self.store and self._cache else None
        return load_reranker(self.settings.rerank, cache_dir=cache_dir)

    # ---------------------------------------------------------------- stages

    def atoms(
        self, answer: Answer, within: Sequence[Span] | None = None
    ) -> tuple[tuple[Atom, ...], dict[str, str]]:
        """Only the first stages: the atoms of an answer, revised and merged.

        Args:
            answer: the text.
            within: only the units of the text that these overlap; None for all.

        Returns:
            The atoms, and for those that a model failed on the reason by id.
        """
        work = Work()
        return self._atoms(answer, work, within), work.failures

    def verify(self, record: Record) -> Run:
        """Run every stage that the record has not been through yet.

        Raises:
            StoreError: if contexts are needed and there is no store.
            ModelError: if a model cannot be loaded.
        """
        work = Work()
        started = datetime.now(UTC).isoformat(timespec="seconds")
        answer = record.answer
        atoms = self._atoms(answer, work) if record.atoms is None else record.atoms
        checked = [a for a in atoms if a.kind.check_worthy and a.id not in work.failures]
        retrieved = self._retrieve(checked, record, work)
        with work.stage("load"):
            model = self.relation_model
        with work.stage("relate"):
            pairs = pairs_to_relate(
                self.settings.assessor,
                checked,
                retrieved.contexts,
                retrieved.by_atom,
                retrieved.atom_vectors,
                retrieved.context_vectors,
                min_similarity=self.settings.min_similarity,
                min_pooled_similarity=self.settings.min_pooled_similarity,
                min_context_similarity=self.settings.min_context_similarity,
            )
            related = self._relate(pairs, checked, retrieved.contexts, model)
        if record.contexts is not None:
            # As they were pooled: the assessment has no others, and can be repeated from these.
            atoms = tuple(replace(a, context_ids=retrieved.by_atom.get(a.id, ())) for a in atoms)
        known = {a.id for a in checked}
        for (_, hypothesis), why in related.failures.items():
            if hypothesis in known:
                work.failures[hypothesis] = why
        work.note(
            sum(h not in known for _, h in related.failures),
            "relations between passages could not be scored and were left out",
        )
        if self.settings.cut_instructions and self._given_relation_model is None:
            work.notes += cut_notes(retrieved.contexts, checked)
        work.note(related.copied, "pairs were not read, but taken over from a near duplicate")
        work.note(related.settled, "pairs of passages were settled by their other direction")
        with work.stage("reason"):
            posterior = reason(checked, retrieved.contexts, related.pairs, self.settings)
        work.note(posterior.untried, "relations were not tried for what rests on them")
        with work.stage("quote"):
            quotes = pick_quotes(
                [(x.premise, x.hypothesis) for x in posterior.links if x.hypothesis in known],
                {c.id: c for c in retrieved.contexts},
                {a.id: a.text for a in checked},
                self.embedder,
            )
        assessment = assess(
            answer,
            atoms,
            retrieved.contexts,
            related.pairs,
            posterior,
            quotes,
            work.failures,
            self.settings,
            work.notes,
        )
        return Run(
            assessment=assessment,
            settings=self.settings,
            models=self._models_used(),
            index=self._index_used(record),
            started=started,
            seconds=work.seconds,
            given=tuple(n for n in ("atoms", "contexts") if getattr(record, n) is not None),
        )

    def _atoms(
        self, answer: Answer, work: Work, within: Sequence[Span] | None = None
    ) -> tuple[Atom, ...]:
        with work.stage("load"):
            llm = self.llm
        with work.stage("atomize"):
            segments = segment(answer.text)
            atomized: Atomized = atomize(
                segments,
                llm,
                question=answer.question,
                chosen=None
                if within is None
                else [i for i, s in enumerate(segments) if any(map(s.span.overlaps, within))],
                progress=lambda done, count: self._progress("atomize", done, count),
            )
        with work.stage("revise"):
            revised = revise(
                atomized.atoms,
                segments,
                llm,
                question=answer.question,
                progress=lambda done, count: self._progress("revise", done, count),
            )
        work.failures |= {**atomized.failures, **revised.failures}
        work.note(atomized.dropped, "atoms that their sentence does not state were dropped")
        work.note(atomized.completed, "sentences had clauses that their split left out; added")
        work.note(revised.refused, "rewordings were not trusted; the atom stays as split")
        return merge_repeats(revised.atoms)

    def _retrieve(self, atoms: Sequence[Atom], record: Record, work: Work) -> Retrieved:
        store = self.store
        if record.contexts is None and store is None:
            raise StoreError("no store to retrieve from", hint="factcheck index PATH...")
        with work.stage("load"):
            embedder = self.embedder
        if record.contexts is not None or store is None:
            with work.stage("retrieve"):
                return retrieve_from_record(atoms, record.contexts or (), embedder)
        where = [Condition.parse(text) for text in self.settings.where]
        find = partial(
            retrieve,
            store=store,
            embedder=embedder,
            retrieval=self.settings.retrieval,
            scope=in_scope(store.sources(), where, self.settings.as_groups),
        )
        queries = self._queries(atoms, record.answer.question, find, work)
        with work.stage("load"):
            reranker = self.reranker
        with work.stage("retrieve"):
            found = find(
                atoms,
                k=self.settings.k,
                queries=queries,
                reranker=reranker,
                progress=lambda done, count: self._progress("rerank", done, count),
            )
        work.note(found.unread, "claims could not be read by the reranker; their order stayed")
        return found

    def _queries(
        self,
        atoms: Sequence[Atom],
        question: str | None,
        find: Callable[..., Retrieved],
        work: Work,
    ) -> Mapping[str, tuple[str, ...]]:
        """What is looked for beside the atoms' own words, by atom."""
        if self.settings.queries == "question":
            return with_question(atoms, question)
        if self.settings.queries == "atom":
            return {}

        def look(atom: Atom, queries: Sequence[str]) -> Sequence[Context]:
            return find([atom], k=SHOWN, queries={atom.id: queries}).contexts

        with work.stage("load"):
            llm = self.llm
        with work.stage("queries"):
            written = write_queries(
                atoms,
                llm,
                look,
                question=question,
                rounds=self.settings.query_rounds,
                progress=lambda done, count: self._progress("queries", done, count),
            )
        work.note(written.refused, "queries share no word with their claim and were not used")
        work.note(written.failed, "claims got no query, or no further one, from the model")
        return written.by_atom

    def _relate(
        self,
        pairs: Sequence[tuple[str, str]],
        atoms: Sequence[Atom],
        contexts: Sequence[Context],
        model: RelationModel,
    ) -> Related:
        premises = {c.id: Premise(c.title, c.text) for c in contexts}
        texts = {a.id: a.text for a in atoms} | {c.id: c.text for c in contexts}
        return relate(
            pairs,
            premises,
            texts,
            model,
            lambda done, count: self._progress("relate", done, count),
            alike=near_duplicates(contexts),
        )

    # ---------------------------------------------------------------- record

    def would_repeat(self, record: Record, run: Mapping[str, Any]) -> bool:
        """Whether a run over the record has what an earlier one had, see ``unlike``."""
        return not self.unlike(record, run)

    def unlike(self, record: Record, run: Mapping[str, Any]) -> list[str]:
        """What a run over the record would not have as an earlier one had it.

        That is of version, settings, prompts, models and index, a line each. The models
        that it had are loaded for that.

        Args:
            record: what would be verified.
            run: of the earlier assessment, see ``report.to_dict``.

        Raises:
            ModelError: if a model cannot be loaded.
        """
        here: dict[str, Any] = {
            "version": __version__,
            "settings": self.settings.as_dict(),
            "prompts": prompts_here(),
        }
        if found := unlike(run, here):
            return found
        roles = {model["role"] for model in run["models"]}
        if "llm" in roles:
            self.llm  # noqa: B018
        if "reranker" in roles:
            self.reranker  # noqa: B018
        here["models"] = [model for model in self._models_used() if model["role"] in roles]
        here["index"] = self._index_used(record)
        return unlike(run, here)

    def _models_used(self) -> tuple[dict[str, Any], ...]:
        used: list[tuple[str, Identified | RelationModel]]
        used = [("relation", self.relation_model), ("embedder", self.embedder)]
        if "llm" in self.__dict__:
            used.insert(0, ("llm", self.llm))
        if (reranker := self.__dict__.get("reranker")) is not None:
            used.append(("reranker", reranker))
        return tuple(
            {"role": role, "id": m.id, "sha256": m.sha256}
            | (describe(m) if m is self.relation_model else {})
            for role, m in used
        )

    def _index_used(self, record: Record) -> dict[str, Any] | None:
        if self.store is None or record.contexts is not None:
            return None
        return {
            "store": self.store.place,
            "collection": self.store.collection,
            "chunks": self.store.count(),
            "digest": self.store.digest(),
        }
