"""Several answers at once: the runs of one by one, each passage read once."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from factcheck_local.core.errors import FactcheckError, RecordError
from factcheck_local.core.types import Answer
from factcheck_local.indexer.fingerprint import Fingerprint
from factcheck_local.indexer.store import Store
from factcheck_local.indexer.sync import sync
from factcheck_local.models.cards import find_card
from factcheck_local.models.contracts import Message
from factcheck_local.models.embedder import SentenceTransformerEmbedder
from factcheck_local.models.fake import FakeChatModel
from factcheck_local.models.llama_cpp import LlamaCppModel
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.claims.records import Record
from factcheck_local.pipeline.relation.llm import LABELS
from factcheck_local.pipeline.run import Run
from factcheck_local.pipeline.settings import Settings
from factcheck_local.report import to_dict

pytestmark = pytest.mark.long

PAGES = {
    "leave.md": "Employees receive 27 days of annual leave.\n",
    "pay.md": "Pay comes at the end of the month.\n",
    "lunch.md": "Lunch is served from noon. Guests pay 9 euros.\n",
}
ANSWERS = (
    "Employees receive 27 days of leave. Guests pay nothing for lunch.",
    "Leave is 30 days for employees. Pay comes weekly.",
    "Lunch is served all day.",
)


@pytest.fixture
def store(tmp_path: Path, minilm: SentenceTransformerEmbedder) -> Iterator[Store]:
    (tmp_path / "docs").mkdir()
    for name, text in PAGES.items():
        (tmp_path / "docs" / name).write_text(text, encoding="utf-8")
    with Store.create(tmp_path / "store", Fingerprint.of(minilm)) as made:
        sync([tmp_path / "docs"], made, minilm)
        yield made


def sentence(messages: Sequence[Message]) -> str:
    return messages[-1].content.rsplit("Sentence: ", 1)[1]


def without_times(run: Run | FactcheckError) -> dict[str, Any]:
    assert isinstance(run, Run), run
    value = to_dict(run)
    del value["run"]["started"], value["run"]["seconds"]
    return value


@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize("assessor", ["fr2", "fr3", "factscore"])
def test_each_run_is_the_one_of_its_answer_alone(
    store: Store,
    minilm: SentenceTransformerEmbedder,
    monkeypatch: pytest.MonkeyPatch,
    assessor: str,
    cache: bool,
) -> None:
    read: list[str] = []

    def label(messages: Sequence[Message], claim: str, labels: Sequence[str]) -> str:
        if tuple(labels) == LABELS:
            read.append(next(p for p in PAGES.values() if p.strip() in messages[-1].content))
        return labels[len(claim) % len(labels)]

    llm = FakeChatModel(sentence, label)
    card = find_card("smollm2-135m")
    monkeypatch.setattr(llm, "id", card.id)
    monkeypatch.setattr(llm, "sha256", card.sha256)
    records = [Record(Answer(text)) for text in ANSWERS]

    def checker(*, cache: bool) -> FactChecker:
        relation: dict[str, Any] = {} if assessor == "factscore" else {"relation": "llm"}
        settings = Settings(llm=card.id, assessor=assessor, **relation)
        made = FactChecker(settings, store, llm=llm, embedder=minilm, cache=cache)
        assert made.llm is llm
        return made

    plain = checker(cache=False)
    alone = [without_times(plain.verify(record)) for record in records]
    one_by_one, read[:] = list(read), []
    together = checker(cache=cache).verify_together(records)
    assert list(map(without_times, together)) == alone
    if assessor == "fr2" and cache:
        begun = [passage for passage, _ in itertools.groupby(read)]
        assert len(begun) == len(PAGES), "each passage is turned to once"
        assert sorted(read) == sorted(one_by_one)
    if assessor == "fr2" and not cache:
        assert read == one_by_one


def test_a_real_model_gives_the_same_bytes_together(
    store: Store, minilm: SentenceTransformerEmbedder, smollm: LlamaCppModel
) -> None:
    records = [Record(Answer(text)) for text in ANSWERS]
    settings = Settings(llm="smollm2-135m", relation="encoder+llm")
    plain = FactChecker(settings, store, llm=smollm, embedder=minilm, cache=False)
    alone = [without_times(plain.verify(record)) for record in records]
    shared = FactChecker(settings, store, llm=smollm, embedder=minilm)
    assert list(map(without_times, shared.verify_together(records))) == alone


def test_an_answer_that_cannot_be_verified_does_not_take_the_others_with_it(
    store: Store, minilm: SentenceTransformerEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    checker = FactChecker(
        Settings(relation="encoder"), store, llm=FakeChatModel(sentence), embedder=minilm
    )
    alone = without_times(checker.verify(Record(Answer(ANSWERS[2]))))
    begun = checker._begun

    def refuse(record: Record, *rest: Any) -> Any:  # noqa: ANN401
        if record.answer.text == ANSWERS[1]:
            raise RecordError("of no use")
        return begun(record, *rest)

    monkeypatch.setattr(checker, "_begun", refuse)
    first, second, third = checker.verify_together([Record(Answer(text)) for text in ANSWERS])
    assert isinstance(first, Run)
    assert str(second) == "of no use"
    assert without_times(third) == alone
    assert checker.verify_together([]) == []
