"""The stages that give an answer its claims, and its claims their passages."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from factcheck_local.core.errors import StoreError
from factcheck_local.core.types import Answer, Atom, Context, Kind, Segment, Span
from factcheck_local.indexer.parts import INDEX
from factcheck_local.models.contracts import Adapted, ChatModel, adapted_to
from factcheck_local.pipeline.claims.atomize import (
    ADAPTED_PROMPT,
    ATOMIZERS,
    Atomized,
    merge_repeats,
    take_apart,
)
from factcheck_local.pipeline.claims.markers import unmarked
from factcheck_local.pipeline.claims.records import Record
from factcheck_local.pipeline.claims.rewording import Revised, revise
from factcheck_local.pipeline.claims.split import segment
from factcheck_local.pipeline.loaded import Loaded
from factcheck_local.pipeline.retrieval.queries import (
    SHOWN,
    with_headings,
    with_question,
    with_units,
    write_queries,
)
from factcheck_local.pipeline.retrieval.retriever import retrieve_from
from factcheck_local.pipeline.retrieval.search import Retrieved, retrieve, retrieve_from_record
from factcheck_local.pipeline.sources import Sources, usable
from factcheck_local.pipeline.work import Work

#: In front of each line of a quotation but its first.
_QUOTE_MARK = re.compile(r"(?<=\n)[ \t]*(?:>[ \t]?)+")


class Gathering(Loaded):
    """Settings, store and models, and what is gathered with them before relations are read."""

    def _atoms(
        self, answer: Answer, work: Work, within: Sequence[Span] | None = None
    ) -> tuple[Atom, ...]:
        llm = self._asked_llm(work)
        with work.stage("atomize"):
            segments = [_read(s) for s in segment(answer.text)]
            chosen = None
            if within is not None:
                chosen = [i for i, s in enumerate(segments) if any(map(s.span.overlaps, within))]
            progress = work.progress("atomize")
            specialist = self._specialist(llm)
            if specialist is not None:
                atomized = take_apart(
                    answer,
                    segments,
                    specialist,
                    whose=self._sources(work).organisation,
                    draws=self.settings.draws,
                    chosen=chosen,
                    progress=progress,
                )
            else:
                atomized = ATOMIZERS[self.settings.atomizer](
                    segments, llm, question=answer.question, chosen=chosen, progress=progress
                )
        with work.stage("revise"):
            complete = specialist is not None or self.settings.atomizer == "veriscore"
            revised = (
                Revised(atomized.atoms, {}, 0)
                if complete
                else self._revise(atomized, segments, answer.question, work)
            )
        work.failures |= {**atomized.failures, **revised.failures}
        work.note(atomized.dropped, "claims dropped, as their sentence does not state them")
        work.note(atomized.completed, "sentences with clauses added that their split left out")
        work.note(revised.refused, "rewordings not trusted, the claim stays as split")
        verbatim = (
            replace(a, original=a.span.of(answer.text)) if a.span else a for a in revised.atoms
        )
        return merge_repeats(tuple(verbatim))

    def _asked_llm(self, work: Work) -> ChatModel:
        """The LLM, of which the run then says that it had it."""
        with work.stage("load"):
            work.asked_llm = True
            return self.llm

    def _specialist(self, llm: ChatModel) -> Adapted | None:
        """The LLM with its adapter for taking answers apart, where that is asked for and there."""
        return adapted_to(llm, ADAPTED_PROMPT) if self.settings.atomizer == "atoms" else None

    def _revise(
        self,
        atomized: Atomized,
        segments: Sequence[Segment],
        question: str | None,
        work: Work,
    ) -> Revised:
        return revise(
            atomized.atoms,
            segments,
            self.llm,
            question=question,
            which="all" if self.settings.atomizer == "factbench" else "vague",
            progress=work.progress("revise"),
        )

    def _retrieve(
        self, atoms: Sequence[Atom], record: Record, work: Work, k: int | None = None
    ) -> Retrieved:
        store, retriever = self.store, self.retriever
        if record.contexts is None and store is None and retriever is None:
            raise StoreError("no store to retrieve from", hint=INDEX)
        with work.stage("load"):
            embedder = self.embedder
        find: Callable[..., Retrieved]
        sources = self._sources(work)
        if retriever is not None and record.contexts is None:
            find = partial(retrieve_from, retriever=retriever, embedder=embedder)
        elif record.contexts is not None or store is None:
            with work.stage("retrieve"):
                return retrieve_from_record(atoms, record.contexts or (), embedder)
        else:
            if not store.count():
                # Nothing found in nothing is no verdict.
                raise StoreError(f"{store.place}: holds no passages", hint=INDEX)
            if self.settings.where and not sources.scope:
                work.notes.append(f"no source fulfils {' and '.join(self.settings.where)}")
            half = sum(not s.complete for s in sources.records)
            work.note(half, "sources that an indexing run has not finished: index again")
            find = partial(
                retrieve,
                store=store,
                embedder=embedder,
                retrieval=self.settings.retrieval,
                scope=sources.scope,
            )
        queries = self._queries(atoms, record.answer, find, work)
        with work.stage("load"):
            reranker = self.reranker
        with work.stage("retrieve"):
            found = find(
                atoms,
                k=self.settings.k if k is None else k,
                queries=queries,
                reranker=reranker,
                progress=work.progress("rerank"),
            )
        work.note(found.unread, "claims that the reranker could not read, their order stayed")
        if names := sorted(
            {sources.told[c.source] for c in found.contexts if c.source in sources.told}
        ):
            work.notes.append(f"passages are read as documents of {', '.join(names)}")
        return replace(found, contexts=tuple(map(sources.as_read, found.contexts)))

    def _sources(self, work: Work) -> Sources:
        """What of the store the run may use, looked up once."""
        if work.sources is None:
            work.sources = usable(self.store, self.settings)
        return work.sources

    def _queries(
        self,
        atoms: Sequence[Atom],
        answer: Answer,
        find: Callable[..., Retrieved],
        work: Work,
    ) -> Mapping[str, tuple[str, ...]]:
        """What is looked for beside the atoms' own words, by atom."""
        if self.settings.queries == "atom":
            return {}
        if self.settings.queries == "unit":
            return with_units(atoms, answer.text)
        if self.settings.queries == "headings":
            return with_headings(atoms, answer.text)
        if self.settings.queries == "question":
            return with_question(atoms, answer.question)

        def look(atom: Atom, queries: Sequence[str]) -> Sequence[Context]:
            return find([atom], k=SHOWN, queries={atom.id: queries}).contexts

        llm = self._asked_llm(work)
        with work.stage("queries"):
            written = write_queries(
                atoms,
                llm,
                look,
                question=answer.question,
                rounds=self.settings.query_rounds,
                progress=work.progress("queries"),
            )
        work.note(written.refused, "queries not used, as they share no word with their claim")
        work.note(written.failed, "claims for which the model wrote no query, or no further one")
        return written.by_atom


def _read(segment: Segment) -> Segment:
    """A unit as it is taken apart: without the marks of a quotation amid it, nor a correction's.

    What is nothing but such a marker claims nothing.
    """
    if segment.kind is not None:
        return segment
    text = unmarked(_QUOTE_MARK.sub("", segment.text))
    return (
        replace(segment, text=text) if text.strip() else replace(segment, kind=Kind.META_STATEMENT)
    )
