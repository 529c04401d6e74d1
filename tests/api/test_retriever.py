"""A retriever in the place of the store: what it finds is judged, cited and believed as it says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from factcheck_local import Answer, Atom, Context, FactChecker, Record, Retriever, Settings, Store
from factcheck_local.core.errors import InputError, ScoringError
from factcheck_local.core.types import Verdict
from factcheck_local.indexer.fingerprint import Fingerprint
from factcheck_local.models.contracts import Message
from factcheck_local.models.fake import FakeChatModel, FakeEmbedder, FakePairClassifier
from factcheck_local.pipeline.events import ClaimReached
from factcheck_local.pipeline.relation import CalibratedRelationModel
from factcheck_local.pipeline.relation.encoder import EncoderPairScorer
from factcheck_local.pipeline.settings import JUDGES
from factcheck_local.report import to_dict
from tests.cli.worlds import by_number

LEAVE = Context("p1", "leave.md", "Leave", "Employees get 27 days.", prior=0.98, line=7)
DRAFT = Context("p2", "draft.md", "Draft", "Employees get 30 days.", prior=0.5, line=2)
CANTEEN = Context("p3", "canteen.md", "Canteen", "Guests pay 9 euros.", prior=0.9, line=1)

CLAIM = Atom("a1", "Employees get 27 days.", original="Employees get 27 days.")
RECORD = Record(Answer(CLAIM.text), atoms=(CLAIM,))


class Listed:
    """A retriever that gives the same passages for every query."""

    name = "a list"

    def __init__(self, *found: Context) -> None:
        self.found = found
        self.asked: list[tuple[list[str], int]] = []

    def retrieve(self, queries: Sequence[str], k: int) -> Sequence[Sequence[Context]]:
        self.asked.append((list(queries), k))
        return [self.found for _ in queries]


def checker(retriever: Retriever, **settings: Any) -> FactChecker:  # noqa: ANN401
    if settings.get("assessor") not in JUDGES:
        settings = {"min_similarity": -1.0, "min_pooled_similarity": -1.0} | settings
    return FactChecker(
        Settings(**settings),
        retriever=retriever,
        llm=FakeChatModel(lambda m: m[-1].content.rsplit("Sentence: ", 1)[-1]),
        embedder=FakeEmbedder(),
        relation_model=CalibratedRelationModel(EncoderPairScorer(FakePairClassifier(by_number))),
    )


def test_passages_keep_their_source_line_and_prior() -> None:
    retriever = Listed(LEAVE, DRAFT, CANTEEN)
    found = to_dict(checker(retriever).verify(RECORD))
    assert retriever.asked == [([CLAIM.text], 3)]
    places = {c["id"]: (c["source"], c["line"], c["prior"]) for c in found["contexts"]}
    assert places == {c.id: (c.source, c.line, c.prior) for c in (LEAVE, DRAFT, CANTEEN)}
    (claim,) = found["atoms"]
    assert claim["verdict"] == Verdict.SUPPORTED.value, "the draft is believed less"
    assert {e["context"]: e["relation"] for e in claim["evidence"]} == {
        "p1": "entailment",
        "p2": "contradiction",
    }
    assert found["run"]["index"]["store"] == "a list"


def test_whose_passages_they_are_can_be_said() -> None:
    found = checker(Listed(LEAVE), organisation="Harbour Trust").verify(RECORD).assessment
    assert [c.title for c in found.contexts] == ["Harbour Trust > Leave"]
    assert found.notes == ()


def test_a_whole_answer_is_split_and_each_claim_is_a_query() -> None:
    retriever = Listed(LEAVE, CANTEEN)
    answer = Answer("Employees get 27 days. Guests pay 12 euros.", question="How many days?")
    run = checker(retriever, queries="question").verify(answer)
    ((queries, _),) = retriever.asked
    assert queries[:2] == ["Employees get 27 days.", "Guests pay 12 euros."]
    assert all("How many days?" in query for query in queries[2:])
    assert len(queries) == 4
    verdicts = [a.verdict for a in run.assessment.atoms]
    assert verdicts == [Verdict.SUPPORTED, Verdict.CONTRADICTED]


def test_no_more_than_k_are_judged_and_of_copies_one() -> None:
    copy = Context("p9", "copy.md", "Leave", LEAVE.text, prior=0.6)
    run = checker(Listed(copy, LEAVE, DRAFT, CANTEEN), k=2).verify(RECORD)
    assert [c.id for c in run.assessment.contexts] == ["p1", "p2"]


def test_a_record_with_passages_asks_nobody() -> None:
    retriever = Listed(DRAFT)
    record = Record(RECORD.answer, RECORD.atoms, contexts=(LEAVE,))
    assert checker(retriever).verify(record).index is None
    assert retriever.asked == []


@pytest.mark.parametrize("ids", [("a1", "a2"), ("_a1", "a2"), ("c1", "c2")])
@pytest.mark.parametrize("assessor", ["fr3", "veriscore"])
def test_passages_of_a_record_may_have_any_ids(assessor: str, ids: tuple[str, str]) -> None:
    """The claims get others, though they are called a1, a2, ... otherwise."""
    passages = tuple(replace(c, id=i) for c, i in zip((LEAVE, CANTEEN), ids, strict=True))
    told: list[ClaimReached] = []
    run = checker(Listed(), assessor=assessor).verify(
        Record(Answer("Employees get 27 days. Guests pay 12 euros."), contexts=passages),
        on_event=lambda e: told.append(e) if isinstance(e, ClaimReached) else None,
    )
    claims = {a.atom.id: a for a in run.assessment.atoms}
    assert len({*claims, *ids}) == 4
    assert {e.claim.atom.id for e in told} == set(claims)
    assert [a.atom.text for a in claims.values()] == [
        "Employees get 27 days.",
        "Guests pay 12 euros.",
    ]
    assert {c.id: c.text for c in run.assessment.contexts} == {c.id: c.text for c in passages}
    if assessor == "fr3":
        verdicts = [a.verdict for a in claims.values()]
        assert verdicts == [Verdict.SUPPORTED, Verdict.CONTRADICTED]


def test_a_claim_that_failed_keeps_its_reason_whatever_it_is_called() -> None:
    def fail(_messages: Sequence[Message]) -> str:
        raise ScoringError("does not fit")

    failing = checker(Listed())
    failing.llm = FakeChatModel(fail)
    record = Record(Answer(CLAIM.text), contexts=(replace(LEAVE, id="a1"),))
    (atom,) = failing.verify(record).assessment.atoms
    assert (atom.atom.text, atom.verdict, atom.reason) == (
        CLAIM.text,
        Verdict.UNSCORED,
        "does not fit",
    )


class Short(Listed):
    def retrieve(self, queries: Sequence[str], k: int) -> Sequence[Sequence[Context]]:
        return super().retrieve(queries, k)[1:]


@pytest.mark.parametrize(
    ("retriever", "said"),
    [
        (Short(LEAVE), "a list: expected passages for 1 queries, got 0"),
        (
            Listed(Context("p1", "s", "", "Text.", prior=1.0)),
            "a list: passage p1: expected a prior in (0, 1), got 1.0",
        ),
        (
            Listed(LEAVE, Context("p1", "s", "", "Other.", prior=0.5)),
            "a list: the id p1 stands for two passages",
        ),
        (
            Listed(Context("a1", "s", "", "Text.", prior=0.5)),
            "a list: the id a1 is a passage's and a claim's",
        ),
    ],
)
def test_what_is_not_as_promised_is_refused(retriever: Listed, said: str) -> None:
    with pytest.raises(InputError) as refused:
        checker(retriever).verify(RECORD)
    assert str(refused.value) == said


@pytest.mark.parametrize(
    "settings", [{"as_groups": ("hr",)}, {"where": ("source=a.md",)}, {"retrieval": "dense"}]
)
def test_settings_that_would_have_no_effect_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"{next(iter(settings))}: is for a store"):
        checker(Listed(), **settings)


def test_a_store_and_a_retriever_are_refused(tmp_path: Path) -> None:
    with (
        Store.create(tmp_path / "s", Fingerprint.of(FakeEmbedder())) as store,
        pytest.raises(InputError, match="got both"),
    ):
        FactChecker(Settings(), store, retriever=Listed())
