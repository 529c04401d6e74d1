"""Passages that the LLM reads ahead: a run does not read them again, and says the same."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from factcheck_local.core.errors import InputError, ScoringError, StoreError
from factcheck_local.core.types import Answer, Atom, Context
from factcheck_local.indexer.fingerprint import Fingerprint
from factcheck_local.indexer.states import part_of
from factcheck_local.indexer.store import Store
from factcheck_local.indexer.sync import sync
from factcheck_local.models.contracts import Message
from factcheck_local.models.embedder import SentenceTransformerEmbedder
from factcheck_local.models.fake import FakeChatModel
from factcheck_local.models.llama_context import Row
from factcheck_local.models.llama_cpp import LlamaCppModel
from factcheck_local.models.prompt_states import given
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.claims.records import Record
from factcheck_local.pipeline.prepare import Prepared, prepare
from factcheck_local.pipeline.relation.llm import LlmPairScorer
from factcheck_local.pipeline.relation.scorer import Premise
from factcheck_local.pipeline.settings import Settings
from tests.cli.helpers import factcheck, refused
from tests.pipeline.test_checker import PROFILE

pytestmark = pytest.mark.long

SMALL = "smollm2-135m"
SETTINGS = Settings(llm=SMALL, relation="llm", organisation="Vell")
ROOM = 10**9

PAGES = {
    "policies/leave.md": "# Leave\n\nEmployees of Vell receive 27 days of annual leave.\n",
    "policies/pay.md": "# Pay\n\n| Grade | Salary |\n|---|---|\n| One | 30,000 euros |\n",
    "drafts/leave.md": "# Leave, draft\n\nEmployees receive 30 days of annual leave.\n",
}
CLAIMS = ("Employees receive 27 days of leave.", "Grade One has a salary of 40,000 euros.")
RECORD = Record(Answer(" ".join(CLAIMS)), tuple(Atom(f"a{i}", c, c) for i, c in enumerate(CLAIMS)))

Count = Callable[[], int]


@pytest.fixture
def store(tmp_path: Path, minilm: SentenceTransformerEmbedder) -> Iterator[Store]:
    docs = tmp_path / "docs"
    for name, text in PAGES.items():
        (docs / name).parent.mkdir(parents=True, exist_ok=True)
        (docs / name).write_text(text, encoding="utf-8")
    (docs / "reliability.toml").write_text(PROFILE, encoding="utf-8")
    with Store.create(tmp_path / "store", Fingerprint.of(minilm)) as made:
        sync([docs], made, minilm)
        yield made


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch, keeping_llm: LlamaCppModel) -> Count:
    """How many tokens the model has read since it was asked last."""
    counted = [0]
    decode = keeping_llm._llama.decode_rows

    def counting(rows: Sequence[Row]) -> list[npt.NDArray[np.float32]]:
        counted[0] += len(rows)
        return decode(rows)

    def since() -> int:
        found, counted[0] = counted[0], 0
        return found

    monkeypatch.setattr(keeping_llm._llama, "decode_rows", counting)
    return since


def files(store: Store) -> list[Path]:
    assert store.states is not None
    return sorted(store.states.glob("*/*.state"))


def kept(store: Store) -> set[str]:
    return {path.name for path in files(store)}


def emptied(store: Store) -> list[int]:
    """Sizes of what is kept, which is taken away."""
    found = [path.stat().st_size for path in files(store)]
    for path in files(store):
        path.unlink()
    return found


def test_a_run_reads_only_claims_of_what_was_prepared(
    store: Store, minilm: SentenceTransformerEmbedder, keeping_llm: LlamaCppModel, decoded: Count
) -> None:
    def relations(*, cache: bool) -> list[object]:
        keeping_llm.forget()
        with FactChecker(SETTINGS, store, llm=keeping_llm, embedder=minilm, cache=cache) as checker:
            return [pair.relation for pair in checker.verify(RECORD).assessment.pairs]

    plain = relations(cache=False)
    assert plain
    alone = decoded()
    found = prepare(store, SETTINGS, space=ROOM, load=lambda _name: keeping_llm)
    there = kept(store)
    assert found == Prepared(
        read=3, known=0, passed_over=0, left=0, bytes=sum(p.stat().st_size for p in files(store))
    )
    decoded()
    assert relations(cache=True) == plain
    assert decoded() < alone / 2
    assert kept(store) == there, "what a run is shown is what was prepared"
    again = prepare(store, SETTINGS, space=ROOM, load=lambda _name: keeping_llm)
    assert again == Prepared(read=0, known=3, passed_over=0, left=0, bytes=found.bytes)
    assert decoded() == 0


def test_the_most_reliable_come_first_and_what_has_no_room_is_counted(
    store: Store, keeping_llm: LlamaCppModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []
    remember = LlmPairScorer.remember

    def noted(self: LlmPairScorer, premise: Premise) -> None:
        shown.append(premise.text)
        remember(self, premise)

    monkeypatch.setattr(LlmPairScorer, "remember", noted)
    prepare(store, SETTINGS, space=ROOM, load=lambda _name: keeping_llm)
    assert [("30 days" in text) for text in shown] == [False, False, True]
    assert any("Grade: One; Salary: 30,000 euros" in text for text in shown)
    each = max(emptied(store))
    found = prepare(store, SETTINGS, space=2 * each + 1, load=lambda _name: keeping_llm)
    assert (found.read, found.left) == (2, 1)
    assert found.bytes <= 2 * each + 1
    assert len(files(store)) == 2
    again = prepare(store, SETTINGS, load=lambda _name: keeping_llm)
    assert (again.read, again.known, again.left) == (0, 2, 1), "none goes for another"
    more = prepare(store, SETTINGS, space=3 * each + 1, load=lambda _name: keeping_llm)
    assert (more.read, more.known, more.left) == (1, 2, 0)
    emptied(store)
    as_before = prepare(store, SETTINGS, load=lambda _name: keeping_llm)
    assert (as_before.read, as_before.left) == (3, 0)
    assert store.states is not None
    assert given(store.states) == 3 * each + 1


def test_a_reading_that_is_to_stop_leaves_the_rest_for_the_next(
    store: Store, minilm: SentenceTransformerEmbedder, keeping_llm: LlamaCppModel
) -> None:
    left = iter([False, False, True])
    with FactChecker(SETTINGS, store, llm=keeping_llm, embedder=minilm) as checker:
        found = checker.prepare(lambda: next(left))
        assert (found.read, found.known, found.left) == (2, 0, 1)
        assert (again := checker.prepare()).read == 1
        assert (again.known, again.left) == (2, 0)
    without = FactChecker(SETTINGS, llm=keeping_llm, embedder=minilm)
    with pytest.raises(StoreError, match="no store"):
        without.prepare()


def test_a_source_that_changes_costs_its_own_passages(
    store: Store, tmp_path: Path, minilm: SentenceTransformerEmbedder, keeping_llm: LlamaCppModel
) -> None:
    prepare(store, SETTINGS, space=ROOM, load=lambda _name: keeping_llm)
    there = kept(store)
    page = tmp_path / "docs" / "policies" / "leave.md"
    page.write_text(PAGES["policies/leave.md"].replace("27", "28"), encoding="utf-8")
    sync([tmp_path / "docs"], store, minilm)
    assert len(kept(store) & there) == 2
    found = prepare(store, SETTINGS, space=ROOM, load=lambda _name: keeping_llm)
    assert (found.read, found.known) == (1, 2)


def test_nothing_stays_of_a_passage_that_is_removed_while_it_is_read(
    store: Store,
    tmp_path: Path,
    minilm: SentenceTransformerEmbedder,
    keeping_llm: LlamaCppModel,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The indexer, in another process, is done with it before its state is written."""
    assert store.states is not None
    read, page = LlamaCppModel.score_labels, tmp_path / "docs" / "policies" / "leave.md"
    remember = LlamaCppModel.remember
    left = page.read_text(encoding="utf-8")

    def remove() -> None:
        if page.exists():
            page.unlink()
            with Store.open(tmp_path / "store") as other:
                sync([tmp_path / "docs"], other, minilm)

    def scored(self: LlamaCppModel, *given: Any) -> npt.NDArray[np.float64]:  # noqa: ANN401
        remove()
        return read(self, *given)

    def remembered(self: LlamaCppModel, messages: Sequence[Message]) -> None:
        remove()
        remember(self, messages)

    monkeypatch.setattr(LlamaCppModel, "score_labels", scored)
    with FactChecker(SETTINGS, store, llm=keeping_llm, embedder=minilm) as checker:
        assert checker.verify(RECORD).assessment.pairs
    part = store.states / part_of("policies/leave.md")
    assert not part.exists()
    assert kept(store), "those that are still there"
    page.write_text(left, encoding="utf-8")
    sync([tmp_path / "docs"], store, minilm)
    monkeypatch.setattr(LlamaCppModel, "remember", remembered)
    found = prepare(store, SETTINGS, space=ROOM, load=lambda _name: keeping_llm)
    assert not part.exists()
    assert (found.read + found.known, found.left) == (2, 0)


def test_of_passages_that_come_with_a_record_nothing_is_kept(
    store: Store, minilm: SentenceTransformerEmbedder, keeping_llm: LlamaCppModel
) -> None:
    """They are no store's, and would not go with anything."""
    given = Context("c0", "mine", "Leave", "Employees receive 27 days of annual leave.", 0.9)
    record = replace(RECORD, contexts=(given,))
    with FactChecker(SETTINGS, store, llm=keeping_llm, embedder=minilm) as checker:
        assert checker.verify(record).assessment.pairs
        assert kept(store) == set()
        assert checker.verify(RECORD).assessment.pairs
    assert kept(store)


def test_only_what_runs_may_use_is_read(store: Store, keeping_llm: LlamaCppModel) -> None:
    settings = replace(SETTINGS, where=("source=policies/**",))
    found = prepare(store, settings, space=ROOM, load=lambda _name: keeping_llm)
    assert (found.read, found.left) == (2, 0)


def test_a_passage_that_the_model_cannot_take_is_passed_over(
    store: Store, keeping_llm: LlamaCppModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember = LlmPairScorer.remember

    def fails(self: LlmPairScorer, premise: Premise) -> None:
        if "30 days" in premise.text:
            raise ScoringError("too long")
        remember(self, premise)

    monkeypatch.setattr(LlmPairScorer, "remember", fails)
    found = prepare(store, SETTINGS, space=ROOM, load=lambda _name: keeping_llm)
    assert (found.read, found.passed_over, found.left) == (2, 1, 0)


def test_what_keeps_nothing_is_refused_or_said(
    store: Store, tmp_path: Path, minilm: SentenceTransformerEmbedder
) -> None:
    with pytest.raises(InputError, match="relation=encoder: mpnet-l6-nli keeps nothing"):
        prepare(store, Settings(relation="encoder"), space=ROOM)
    fake = FakeChatModel(lambda _messages: "")
    found = prepare(store, SETTINGS, space=ROOM, load=lambda _name: fake)
    assert found == Prepared(read=0, known=0, passed_over=3, left=0, bytes=0)
    with (
        Store.create(tmp_path / "empty", Fingerprint.of(minilm)) as empty,
        pytest.raises(StoreError, match="holds no passages"),
    ):
        prepare(empty, SETTINGS, space=ROOM)


def test_the_command(
    store: Store, keeping_llm: LlamaCppModel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    at = ("--store", store.path, "--llm", SMALL, "--relation", "llm")
    done = factcheck("prepare", *at, "--space", "0.00001")
    assert (done.code, done.out) == (
        0,
        "0 passages read ahead, 0 before, 0 passed over, 0.00 GB\n",
    )
    free = r"factcheck: no room for {} more, \d+\.\d GB of the disk are free \(try: {}\)\n"
    assert re.fullmatch(free.format(3, "a larger --space"), done.err)
    prepare(store, SETTINGS, space=ROOM, load=lambda _name: keeping_llm)
    two = 2e-9 * max(emptied(store))
    done = factcheck("prepare", *at, "--space", f"{two:.9f}", "--json")
    assert json.loads(done.out)["left"] == 1
    assert re.fullmatch(free.format(1, r"--space 0\.\d+"), done.err)
    assert "relation=encoder" in refused("prepare", "--store", store.path, "--relation", "encoder")
    assert "has no effect" in refused("prepare", *at, "--set", "k=3")
