"""The pipeline: the Python API behind every command.

>>> from factcheck_local import Answer, FactChecker, Settings, Store
>>> checker = FactChecker(Settings(), Store.open(path))  # doctest: +SKIP
>>> run = checker.verify(Answer("The sky is green."))    # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeVar

from factcheck_local.core.errors import FactcheckError, InferenceError, RecordError, StoreError
from factcheck_local.core.text.language import MODELS_READ, foreign, named
from factcheck_local.core.types import Answer, Assessment, Atom, Context, Span, Verdict
from factcheck_local.indexer.store import Store
from factcheck_local.pipeline.claims.records import Record
from factcheck_local.pipeline.events import OnEvent, RunFinished
from factcheck_local.pipeline.gathering import Gathering
from factcheck_local.pipeline.prepare import Prepared, prepare
from factcheck_local.pipeline.relation import (
    Completed,
    Related,
    relate,
)
from factcheck_local.pipeline.relation.hardened import cut_notes
from factcheck_local.pipeline.relation.summaries import Summarized, summarize
from factcheck_local.pipeline.retrieval.duplicates import near_duplicates
from factcheck_local.pipeline.run import Run
from factcheck_local.pipeline.settings import JUDGES
from factcheck_local.pipeline.together import Begun, read_ahead
from factcheck_local.pipeline.verdicts.decide import NO_THRESHOLDS
from factcheck_local.pipeline.verdicts.factreasoner import assess, reason
from factcheck_local.pipeline.verdicts.judges.assessment import assessment_of, judged_atom
from factcheck_local.pipeline.verdicts.judges.case import WORTH, Case, Judgement
from factcheck_local.pipeline.verdicts.judges.registry import find_judge
from factcheck_local.pipeline.verdicts.network import pairs_to_relate
from factcheck_local.pipeline.verdicts.provisional import provisional
from factcheck_local.pipeline.verdicts.quotes import pick_quotes
from factcheck_local.pipeline.work import Work

T = TypeVar("T")


class FactChecker(Gathering):
    """Verifies answers against a store; models are loaded once, on first use.

    Several threads may call the methods of one; the calls run one after the other, since a
    model's cache holds one prompt at a time. Its progress is told in the thread that called.
    """

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
        work = Work(self._progress)
        with self._lock:
            return self._atoms(answer, work, within), work.failures

    def verify(self, record: Record | Answer, *, on_event: OnEvent | None = None) -> Run:
        """Run every stage that has not been done yet.

        Args:
            record: an answer, alone or with what earlier stages made of it.
            on_event: told how far the run is and each claim's verdict as it is reached, see
                ``pipeline.events``. The run is the same with it and without.

        Raises:
            StoreError: if contexts are needed and there is no store.
            ModelError: if a model cannot be loaded.
            Exception: whatever ``on_event`` raises; the run ends there.
        """
        with self._lock:
            work = Work(self._progress, on_event)
            run = self._verified(Record(record) if isinstance(record, Answer) else record, work)
            if on_event is not None:
                on_event(RunFinished(run))
            return run

    def search(self, query: str, k: int) -> tuple[Context, ...]:
        """The passages that a query finds, as they are found for a claim.

        Args:
            query: a text.
            k: how many at most, at least 1.

        Raises:
            StoreError: if there is no store.
            ModelError: if the embedder cannot be loaded.
        """
        with self._lock:
            atom = Atom("", query, original=query)  # no passage has this id
            return self._retrieve([atom], Record(Answer(query)), Work(self._progress), k).contexts

    def verify_together(self, records: Sequence[Record]) -> list[Run | FactcheckError]:
        """Verify several answers, a passage being read once for the claims of all of them.

        The runs are those of `verify`, apart from times. That they share takes a store that keeps
        scores; without one they are verified one after the other.

        Returns:
            Of each record its run, or why it has none.

        Raises:
            StoreError: as `verify`.
            ModelError: as `verify`.
        """
        with self._lock:
            works = [Work(self._progress) for _ in records]
            begun = [_tried(self._begun, r, w) for r, w in zip(records, works, strict=True)]
            good = [b for b in begun if isinstance(b, Begun)]
            if len(good) > 1 and self._keeps_scores:
                read_ahead(good, self.relation_model, self._progress)
            return [_tried(self._finished, b) if isinstance(b, Begun) else b for b in begun]

    def prepare(self, stop: Callable[[], bool] = lambda: False) -> Prepared:
        """Have the LLM read the store's passages before there is an answer; see ``prepare``.

        Args:
            stop: asked before each passage whether to leave it and the rest for another time.

        Raises:
            InputError: if the settings' relation model has no LLM that keeps passages.
            StoreError: if there is no store in a folder, or it holds no passages.
            ModelError: if the model is not here or cannot be loaded.
            OSError: if the store's folder cannot be written to.
        """
        if not isinstance(self.store, Store):
            raise StoreError("no store whose passages could be read")
        with self._lock:
            return prepare(self.store, self.settings, load=self._load, stop=stop)

    @property
    def _keeps_scores(self) -> bool:
        """Whether a pair that is read ahead of a run need not be read in it."""
        if self.store is None or self.settings.assessor in JUDGES:
            return False
        # A budget is of one run, and what is read as a summary is known in it alone.
        alone = self.settings.budget is not None or self.settings.summarize
        return self._cache and self._given_relation_model is None and not alone

    def _verified(self, record: Record, work: Work) -> Run:
        return self._finished(self._begun(record, work))

    def _begun(self, record: Record, work: Work) -> Begun:
        """A run up to the pairs that are to be read."""
        started = datetime.now(UTC).isoformat(timespec="seconds")
        if self.settings.thresholds == "shipped":
            with work.stage("load"):
                _ = self.risk  # if the model brings none, that is said before the answer is split
        atoms = record.atoms
        if atoms is None:
            atoms = _named_apart(self._atoms(record.answer, work), record.contexts or (), work)
        checked = tuple(a for a in atoms if a.kind.check_worthy and a.id not in work.failures)
        if self.settings.assessor in JUDGES:
            return Begun(record, work, started, atoms, checked)
        retrieved = self._retrieve(checked, record, work)
        if record.contexts is not None:
            atoms, checked = (_as_pooled(some, retrieved.by_atom) for some in (atoms, checked))
        with work.stage("load"):
            _ = self.relation_model  # loaded on first use, which is to count as loading
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
            alike = near_duplicates(retrieved.contexts)
        return Begun(record, work, started, atoms, checked, retrieved, pairs, alike)

    def _finished(self, begun: Begun) -> Run:
        """The rest of a run."""
        record, work, started = begun.record, begun.work, begun.started
        atoms, checked, retrieved = begun.atoms, begun.checked, begun.retrieved
        if retrieved is None:
            assessment = self._judge(record, atoms, checked, work)
            return self._run(record, assessment, started, work)
        related = self._relate(begun, retrieved.contexts)
        known = {a.id for a in checked}
        for (_, hypothesis), why in related.failures.items():
            if hypothesis in known:
                work.failures[hypothesis] = why
        work.note(
            sum(h not in known for _, h in related.failures),
            "relations between passages left out, as they could not be scored",
        )
        cut = self.settings.cut_instructions and self._given_relation_model is None
        if cut:
            work.notes += cut_notes(retrieved.contexts, checked, self.settings.tables)
        work.notes += _languages(retrieved.contexts)
        work.note(related.copied, "pairs not read but taken over from a near duplicate")
        work.note(related.settled, "pairs of passages settled by their other direction")
        with work.stage("reason"):
            posterior = reason(
                checked,
                retrieved.contexts,
                related.pairs,
                self.settings,
                progress=work.progress("reason"),
            )
        work.note(posterior.untried_sources, "sources not tried for what rests on them")
        work.note(posterior.untried, "relations not tried for what rests on them")
        with work.stage("quote"):
            quotes = pick_quotes(
                [(x.premise, x.hypothesis) for x in posterior.links if x.hypothesis in known],
                {c.id: c for c in retrieved.contexts},
                {a.id: a.text for a in checked},
                self.embedder,
                cut=cut,
            )
        assessment = assess(
            record.answer,
            atoms,
            retrieved.contexts,
            related.pairs,
            posterior,
            quotes,
            work.failures,
            self.settings,
            work.notes,
            self.risk or NO_THRESHOLDS,
        )
        return self._run(record, assessment, started, work)

    def _judge(
        self, record: Record, atoms: Sequence[Atom], checked: Sequence[Atom], work: Work
    ) -> Assessment:
        """The way of an assessor that asks the LLM instead of building a network."""
        judge = find_judge(self.settings.assessor)
        contexts: Sequence[Context] = ()
        by_atom: Mapping[str, tuple[str, ...]] = {}
        if judge.wants_contexts:
            retrieved = self._retrieve(checked, record, work)
            contexts, by_atom = retrieved.contexts, retrieved.by_atom
            work.notes += _languages(contexts)
            if record.contexts is not None:
                atoms = _as_pooled(atoms, by_atom)
        llm = self._asked_llm(work)
        passages, asked = {c.id: c for c in contexts}, {a.id for a in checked}
        claims = {a.id: a for a in atoms if a.id in asked}

        def reached(id_: str, said: Judgement | str) -> None:
            if work.on_event is not None and id_ in claims:
                work.reach(judged_atom(claims[id_], said), passages, claims)

        case = Case(record.answer, tuple(checked), passages, by_atom, reached)
        if self.settings.cut_instructions:
            work.notes += cut_notes(contexts, checked)
            case = case.hardened()
        with work.stage("judge"):
            judged = judge.judge(case, llm, work.progress("judge"))
        # Instructions to a model state nothing, so nothing bears them out.
        unread = asked - {a.id for a in case.atoms}
        not_found = Judgement(Verdict.NOT_FOUND, WORTH[Verdict.NOT_FOUND])
        judged = replace(judged, by_atom={**judged.by_atom, **dict.fromkeys(unread, not_found)})
        work.note(judged.cut, "claims with more to read than the model was shown")
        assessment = assessment_of(
            record.answer,
            atoms,
            contexts,
            judged,
            work.failures,
            self.settings.assessor,
            work.notes,
        )
        for assessed in assessment.atoms:  # those of which the judge has not told
            work.reach(assessed, passages, claims)
        return assessment

    def _run(self, record: Record, assessment: Assessment, started: str, work: Work) -> Run:
        language = foreign(record.answer.text)
        if language is not None:
            note = f"the answer is in another language ({language}): {MODELS_READ}"
            assessment = replace(assessment, notes=(note, *assessment.notes))
        return Run(
            assessment=assessment,
            language=language,
            settings=self.settings,
            models=self.models_used(llm=work.asked_llm, searched=record.contexts is None),
            index=self.index_used(record),
            risk=self.risk,
            started=started,
            seconds=work.seconds,
            given=tuple(n for n in ("atoms", "contexts") if getattr(record, n) is not None),
        )

    def _relate(self, begun: Begun, contexts: Sequence[Context]) -> Related:
        atoms, work = begun.checked, begun.work
        short = self._summarize(begun.pairs, atoms, contexts, begun.alike, work)
        try:
            with work.stage("relate"):
                return relate(
                    [pair for pair in begun.pairs if pair not in short.nothing],
                    begun.premises,
                    {a.id: a.text for a in atoms} | {c.id: c.text for c in contexts},
                    self.relation_model,
                    work.progress("relate"),
                    alike=begun.alike,
                    summaries=short.summaries,
                    completed=self._completed(atoms, contexts, work),
                )
        finally:
            self._drop_gone(begun, contexts)

    def _drop_gone(self, begun: Begun, contexts: Sequence[Context]) -> None:
        """Have nothing stay of passages that a run of the indexer removed while they were read."""
        store = self.store if begun.record.contexts is None else None
        if isinstance(store, Store) and store.states and store.states.exists():
            store.drop_gone(contexts)

    def _completed(
        self, atoms: Sequence[Atom], contexts: Sequence[Context], work: Work
    ) -> Completed | None:
        """What tells each claim that is complete; None where nobody listens."""
        if work.on_event is None:
            return None
        claims, passages = {a.id: a for a in atoms}, {c.id: c for c in contexts}
        thresholds = self.risk or NO_THRESHOLDS

        def completed(id_: str, related: Related) -> None:
            found = provisional(claims[id_], related, passages, self.settings, thresholds)
            work.reach(found, passages, claims)

        return completed

    def _summarize(
        self,
        pairs: Sequence[tuple[str, str]],
        atoms: Sequence[Atom],
        contexts: Sequence[Context],
        alike: Mapping[str, str],
        work: Work,
    ) -> Summarized:
        if not self.settings.summarize:
            return Summarized({})
        llm = self._asked_llm(work)
        with work.stage("summarize"):
            found = summarize(
                pairs,
                contexts,
                {a.id: a.text for a in atoms},
                llm,
                alike=alike,
                progress=work.progress("summarize"),
            )
        work.note(len(found.summaries), "long passages read as their summary for a claim")
        work.note(len(found.nothing), "long passages left out for a claim they are silent on")
        work.note(found.refused, "summaries not trusted, the passage was read as it is")
        work.note(found.failed, "summaries that failed, the passage was read as it is")
        return found


def _tried(stage: Callable[..., T], *given: object) -> T | FactcheckError:
    """What a stage makes of an answer, or what is wrong with this one alone."""
    try:
        return stage(*given)
    except (RecordError, InferenceError) as error:
        return error


def _languages(contexts: Sequence[Context]) -> list[str]:
    """What a run says of passages in languages that its models do not read."""
    found = [language for c in contexts if (language := foreign(c.text)) is not None]
    if not found:
        return []
    return [f"{len(found)} passages are in another language ({named(found)}): {MODELS_READ}"]


def _named_apart(
    atoms: Sequence[Atom], contexts: Sequence[Context], work: Work
) -> tuple[Atom, ...]:
    """Atoms, and those of them that failed, under ids that no passage of their record has."""
    taken, mark = {c.id for c in contexts}, ""
    while any(mark + a.id in taken for a in atoms):
        mark += "_"
    work.failures = {mark + id_: why for id_, why in work.failures.items()}
    return tuple(replace(a, id=mark + a.id) for a in atoms)


def _as_pooled(atoms: Sequence[Atom], by_atom: Mapping[str, tuple[str, ...]]) -> tuple[Atom, ...]:
    """Atoms of a record with the contexts they have in the assessment.

    It has no others than the pooled ones, and can be repeated from these.
    """
    return tuple(replace(a, context_ids=by_atom.get(a.id, ())) for a in atoms)
