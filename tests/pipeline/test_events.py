"""What a run tells as it goes: each claim once, and nothing that changes what it ends in."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from typing import Any

import jsonschema
import pytest

from factcheck_local import ClaimReached, Event, FactChecker, RunFinished, Settings
from factcheck_local.core.errors import ScoringError
from factcheck_local.core.types import Answer, Atom, Context, Relation, Verdict
from factcheck_local.models.embedder import SentenceTransformerEmbedder
from factcheck_local.models.fake import FakeChatModel, FakeEmbedder
from factcheck_local.models.llama_cpp import LlamaCppModel
from factcheck_local.pipeline.claims.records import Record
from factcheck_local.pipeline.events import StageAdvanced, StageBegun
from factcheck_local.pipeline.relation import Premise
from factcheck_local.pipeline.run import Run
from factcheck_local.pipeline.verdicts.judges import registry
from factcheck_local.pipeline.verdicts.judges.case import Case, Judged, Judgement
from factcheck_local.report import event_json_schema, event_to_dict, to_dict, to_markdown
from tests.relation.helpers import Scripted

VALIDATOR = jsonschema.Draft202012Validator(json.loads(event_json_schema()))

TEXTS = ("Staff get 27 days of leave.", "Guests pay 12 euros for lunch.", "The moon is cheese.")
CONTEXTS = (
    Context("p", "policies/leave.md", "Leave", "Staff get 27 days of annual leave.", 0.98),
    Context("q", "canteen.md", "Canteen", "Lunch is served from noon. Guests pay 9 euros.", 0.9),
    Context("r", "old.md", "Leave", "Staff get 25 days of annual leave.", 0.5),
)
RECORD = Record(
    Answer(" ".join(TEXTS), "a.md"),
    tuple(
        Atom(f"a{i}", text, text, context_ids=own)
        for i, (text, own) in enumerate(zip(TEXTS, (("p", "r"), ("q",), ()), strict=True))
    ),
    CONTEXTS,
)


def said(run: Run) -> str:
    """All of an assessment but its times."""
    value = to_dict(run)
    del value["run"]["started"], value["run"]["seconds"]
    return json.dumps(value)


def told(checker: FactChecker, record: Record | Answer) -> tuple[Run, list[Event]]:
    """A run with its events, which are in order, of this thread, and as their schema says."""
    events: list[Event] = []
    threads = set()

    def listen(event: Event) -> None:
        threads.add(threading.get_ident())
        events.append(event)

    run = checker.verify(record, on_event=listen)
    assert threads == {threading.get_ident()}
    assert events[-1] == RunFinished(run)
    assert [type(e) for e in events].count(RunFinished) == 1
    for event in events:
        VALIDATOR.validate(json.loads(json.dumps(event_to_dict(event), allow_nan=False)))
    claims = reached(events)
    assert [e.done for e in claims] == list(range(1, len(claims) + 1))
    assert {e.count for e in claims} <= {len(claims)}
    checked = {a.atom.id for a in run.assessment.atoms if a.verdict is not Verdict.SKIPPED}
    assert sorted(e.claim.atom.id for e in claims) == sorted(checked)
    for e in claims:
        named = [x.context_id for x in e.claim.evidence] or list(e.claim.read)
        assert [c.id for c in e.contexts] == named
    return run, events


def reached(events: list[Event]) -> list[ClaimReached]:
    return [e for e in events if isinstance(e, ClaimReached)]


@pytest.mark.parametrize(
    ("assessor", "relation"),
    [("fr1", "llm"), ("fr2", "encoder+llm"), ("fr3", "encoder"), ("fr4", "encoder")],
)
def test_a_run_is_the_same_to_the_byte_with_a_listener(
    assessor: str, relation: str, minilm: SentenceTransformerEmbedder, smollm: LlamaCppModel
) -> None:
    def checker() -> FactChecker:
        smollm.forget()
        settings = Settings(assessor=assessor, relation=relation, llm=smollm.id)
        return FactChecker(settings, llm=smollm, embedder=minilm)

    alone = checker().verify(RECORD)
    run, events = told(checker(), RECORD)
    assert said(run) == said(alone)
    assert len(reached(events)) == len(TEXTS)
    stages = [e.stage for e in events if isinstance(e, StageBegun)]
    assert stages == ["load", "retrieve", "load", "relate", "reason", "quote"]
    advanced = [e for e in events if isinstance(e, StageAdvanced)]
    assert [e.stage for e in advanced if e.done == e.count][-2:] == ["relate", "reason"]


def test_from_the_text_on(minilm: SentenceTransformerEmbedder, smollm: LlamaCppModel) -> None:
    """A real model takes the answer apart; what is no claim is not told."""
    record = Record(Answer(f"# Leave\n\n{TEXTS[0]}"), None, CONTEXTS)
    settings = Settings(relation="encoder", llm=smollm.id)
    run, events = told(FactChecker(settings, llm=smollm, embedder=minilm), record)
    assert len(reached(events)) < len(run.assessment.atoms), "the heading is none"
    stages = [e.stage for e in events if isinstance(e, StageBegun)]
    assert stages[:3] == ["load", "atomize", "revise"]


# ----------------------------------------------------------------- the verdicts


FOR, AGAINST = Relation(0.9, 0.04, 0.06), Relation(0.05, 0.9, 0.05)
TABLE = {
    (CONTEXTS[0].text, TEXTS[0]): FOR,
    (CONTEXTS[2].text, TEXTS[0]): AGAINST,
    (CONTEXTS[1].text, TEXTS[1]): AGAINST,
}


def scripted(model: Any = None, **settings: Any) -> FactChecker:  # noqa: ANN401
    chosen: dict[str, Any] = {"assessor": "fr1", "min_similarity": -1.0} | settings
    return FactChecker(
        Settings(**chosen),
        llm=FakeChatModel(lambda _: ""),
        embedder=FakeEmbedder(),
        relation_model=model or Scripted(TABLE),
    )


def test_a_claim_comes_as_soon_as_its_own_passages_are_read() -> None:
    """Without passages at once; and before the passages that are only other claims'."""
    read_by: dict[str, list[tuple[str, str]]] = {}
    model = Scripted(TABLE)

    def listen(event: Event) -> None:
        if isinstance(event, ClaimReached):
            read_by[event.claim.atom.id] = list(model.read)

    scripted(model).verify(RECORD, on_event=listen)
    assert list(read_by) == ["a2", "a1", "a0"]
    assert read_by["a2"] == []
    passages, own = [c.text for c in CONTEXTS], model.read
    assert [p for p, _ in read_by["a1"]] == passages[:2]
    assert read_by["a0"] == own


def test_alone_it_is_what_it_will_be_where_no_passage_is_shared() -> None:
    run, events = told(scripted(), RECORD)
    final = {a.atom.id: a for a in run.assessment.atoms}
    for e in reached(events):
        end = final[e.claim.atom.id]
        assert e.claim.verdict is end.verdict
        assert e.claim.probability == pytest.approx(end.probability)
        assert [(x.context_id, x.label) for x in e.claim.evidence] == [
            (x.context_id, x.label) for x in end.evidence
        ]
    verdicts = [e.claim.verdict for e in reached(events)]
    assert verdicts == [Verdict.NOT_FOUND, Verdict.CONTRADICTED, Verdict.SUPPORTED]


def test_what_others_say_of_a_passage_comes_in_at_the_end() -> None:
    """Two passages exclude each other, which fr3 reads: the claim's own pairs do not say so."""
    exclude = TABLE | {(CONTEXTS[0].text, CONTEXTS[2].text): AGAINST}
    run, events = told(
        scripted(Scripted(exclude), assessor="fr3", min_context_similarity=-1.0), RECORD
    )
    (before,) = (e.claim.probability for e in reached(events) if e.claim.atom.id == "a0")
    after = run.assessment.atoms[0].probability
    assert before is not None
    assert after is not None
    assert abs(before - after) > 0.01


def test_a_claim_that_could_not_be_scored_says_so_before_and_after() -> None:
    class Failing(Scripted):
        def relate(self, premise: Premise, hypotheses: Any) -> list[Relation]:  # noqa: ANN401
            if premise.text == CONTEXTS[1].text:
                raise ScoringError("too long")
            return super().relate(premise, hypotheses)

    run, events = told(scripted(Failing(TABLE)), RECORD)
    (early,) = (e.claim for e in reached(events) if e.claim.atom.id == "a1")
    assert (early.verdict, early.reason) == (Verdict.UNSCORED, "too long")
    assert early == run.assessment.atoms[1]


def test_a_failure_without_a_word_is_one() -> None:
    """The claim would be judged by what else was read, or end every readable report."""

    class Mute(Scripted):
        def relate(self, premise: Premise, hypotheses: Sequence[str]) -> list[Relation]:
            if premise.text == CONTEXTS[2].text:
                raise ScoringError(str(TimeoutError()))
            return super().relate(premise, hypotheses)

    run, events = told(scripted(Mute(TABLE)), RECORD)
    first, *others = run.assessment.atoms
    assert (first.verdict, first.reason) == (Verdict.UNSCORED, "no reason is given")
    assert Verdict.UNSCORED not in {a.verdict for a in others}
    assert next(e.claim for e in reached(events) if e.claim.atom == first.atom) == first
    assert "no reason is given" in to_markdown(to_dict(run))


def test_what_a_listener_raises_ends_the_run_and_no_later_one() -> None:
    class Gone(Exception):
        pass

    def leave(event: Event) -> None:
        if isinstance(event, ClaimReached):
            raise Gone

    checker = scripted()
    with pytest.raises(Gone):
        checker.verify(RECORD, on_event=leave)
    # In another thread, which a lock that was kept would stop.
    later: list[Run] = []
    thread = threading.Thread(target=lambda: later.append(checker.verify(RECORD)))
    thread.start()
    thread.join(timeout=60)
    assert [said(run) for run in later] == [said(scripted().verify(RECORD))]


# -------------------------------------------------------------------- judges


@pytest.mark.parametrize("name", ["veriscore", "factverify", "felm-segment"])
def test_a_judge_tells_what_it_will_say(
    name: str, minilm: SentenceTransformerEmbedder, smollm: LlamaCppModel
) -> None:
    settings = Settings(assessor=name, llm=smollm.id)
    run, events = told(FactChecker(settings, llm=smollm, embedder=minilm), RECORD)
    final = {a.atom.id: a for a in run.assessment.atoms}
    assert all(e.claim == final[e.claim.atom.id] for e in reached(events))


@pytest.mark.parametrize("twice", [False, True])
def test_a_judge_that_tells_nothing_or_the_same_twice(
    twice: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Coin:
        wants_contexts = True

        def judge(self, case: Case, _llm: object, _progress: Callable[..., None]) -> Judged:
            found = {a.id: Judgement(Verdict.SUPPORTED, 0.75, read=("p",)) for a in case.atoms}
            for _ in range(2 if twice else 0):
                for id_, judgement in found.items():
                    case.reached(id_, judgement)
                case.reached("nobody's", "it is not there")
            return Judged(found)

    monkeypatch.setitem(registry.JUDGE_BY_NAME, "factscore", Coin())
    checker = FactChecker(
        Settings(assessor="factscore"), llm=FakeChatModel(lambda _: ""), embedder=FakeEmbedder()
    )
    _, events = told(checker, RECORD)
    assert [e.claim.probability for e in reached(events)] == [0.75] * 3


def test_a_claim_that_a_judge_passes_over_is_unscored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not skipped: that would say that it is nothing to verify."""

    class Lazy:
        wants_contexts = False

        def judge(self, case: Case, _llm: object, _progress: Callable[..., None]) -> Judged:
            return Judged({case.atoms[0].id: Judgement(Verdict.SUPPORTED, 0.9)})

    monkeypatch.setitem(registry.JUDGE_BY_NAME, "factscore", Lazy())
    checker = FactChecker(
        Settings(assessor="factscore"), llm=FakeChatModel(lambda _: ""), embedder=FakeEmbedder()
    )
    run, _ = told(checker, RECORD)
    verdicts = [a.verdict for a in run.assessment.atoms]
    assert verdicts == [Verdict.SUPPORTED, Verdict.UNSCORED, Verdict.UNSCORED]
    assert run.assessment.atoms[1].reason == "the judge said nothing of it"
