"""What a model made of a fixed prompt, kept on disk: the same bytes come back."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from factcheck_local.core.errors import ScoringError
from factcheck_local.models import llama_cpp
from factcheck_local.models.cards import find_card
from factcheck_local.models.contracts import Message
from factcheck_local.models.llama_context import Row
from factcheck_local.models.llama_cpp import LlamaCppModel
from factcheck_local.models.prompt_states import MIN_TOKENS, PromptStates, give, sizes
from factcheck_local.models.prompts import load_prompt

pytestmark = pytest.mark.long

#: A few tokens more than are worth a file.
INSTRUCTIONS = "Answer with one word. " + "Read the passage with care before you do. " * 14
LABELS = ("yes", "no")


def chat(question: str, *, fixed: bool = True, about: str = "") -> list[Message]:
    return [Message("system", INSTRUCTIONS + about, fixed=fixed), Message("user", question)]


def scored(model: LlamaCppModel) -> npt.NDArray[np.float64]:
    return model.score_labels(chat("Is water wet"), ["?", " then?"], LABELS)


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Callable[[bool], LlamaCppModel]]:
    """New contexts over the real file, with or without the folder of states."""
    card = find_card("smollm2-135m")
    card.check()
    made: list[LlamaCppModel] = []

    def make(keeps: bool) -> LlamaCppModel:
        states = PromptStates(tmp_path / "states", card.sha256) if keeps else None
        model = LlamaCppModel(
            card.id,
            card.sha256,
            card.folder / card.files[0].path,
            context_length=2048,
            template="chatml",
            states=states,
        )
        made.append(model)
        return model

    yield make
    for model in made:
        model.close()


def states_in(folder: Path) -> list[Path]:
    return sorted((folder / "states").glob("*")) if (folder / "states").exists() else []


def count_tokens(model: LlamaCppModel, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Gets the tokens that the model decodes from now on."""
    decoded: list[int] = []
    decode = model._llama.decode_rows

    def counted(rows: Sequence[Row]) -> list[npt.NDArray[np.float32]]:
        decoded.extend(token for _, token, _, _ in rows)
        return decode(rows)

    monkeypatch.setattr(model._llama, "decode_rows", counted)
    return decoded


def test_a_state_gives_the_same_bits(
    fresh: Callable[[bool], LlamaCppModel], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read in one go, read and kept, read from the file by another process's context."""
    plain, writer, reader = fresh(False), fresh(True), fresh(True)
    expected = scored(plain)
    assert np.array_equal(
        writer.score_labels(chat("Is water wet"), ["?", " then?"], LABELS), expected
    )
    assert len(states_in(tmp_path)) == 1
    decoded = count_tokens(reader, monkeypatch)
    assert np.array_equal(
        reader.score_labels(chat("Is water wet"), ["?", " then?"], LABELS), expected
    )
    assert 0 < len(decoded) < MIN_TOKENS, "the instructions were read again"
    reply = plain.generate(chat("Name a colour."), max_tokens=12)
    assert reader.generate(chat("Name a colour."), max_tokens=12) == reply
    assert len(states_in(tmp_path)) == 1


def test_what_a_user_wrote_is_not_kept(
    fresh: Callable[[bool], LlamaCppModel], tmp_path: Path
) -> None:
    model = fresh(True)
    model.score_labels(chat("Is water wet?", fixed=False), [""], LABELS)
    assert states_in(tmp_path) == []
    opening = load_prompt("relate").opening(title="T", passage="A secret.")
    assert all(m.fixed for m in opening[:-1])
    assert not opening[-1].fixed
    assert not any("A secret" in m.content for m in opening if m.fixed)


def test_a_damaged_state_is_read_over(
    fresh: Callable[[bool], LlamaCppModel], tmp_path: Path
) -> None:
    expected = scored(fresh(True))
    (kept,) = states_in(tmp_path)
    whole = kept.read_bytes()
    for damaged in (b"", b"garbage", whole[: len(whole) // 2]):
        kept.write_bytes(damaged)
        assert np.array_equal(scored(fresh(True)), expected)
        assert [path.read_bytes() for path in states_in(tmp_path)] == [whole], "written anew"


def test_a_folder_that_cannot_be_written_costs_no_run(
    fresh: Callable[[bool], LlamaCppModel], tmp_path: Path
) -> None:
    (tmp_path / "states").write_text("a file where the folder would be")
    expected = scored(fresh(False))
    assert np.array_equal(scored(fresh(True)), expected)


def test_the_latest_used_are_kept(
    fresh: Callable[[bool], LlamaCppModel], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = fresh(True)
    model.score_labels(chat("Is water wet?", about="One."), [""], LABELS)
    (one,) = states_in(tmp_path)
    monkeypatch.setattr(model._cache._states, "_limit", 3 * one.stat().st_size // 2)
    model.score_labels(chat("Is water wet?", about="Two."), [""], LABELS)
    (kept,) = states_in(tmp_path)
    assert kept != one
    model.score_labels(chat("Is water wet?", about="Two."), [""], LABELS)
    assert states_in(tmp_path) == [kept], "that of the last prompt"


PASSAGE = "Staff have 27 days of leave a year, and those who work nights have 30 days. " * 8


def asked(passage: str) -> list[Message]:
    return [Message("system", "Answer.", fixed=True), Message("user", f"{passage}\nIs it so that")]


def test_a_passage_is_read_once_for_all_answers(
    fresh: Callable[[bool], LlamaCppModel], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same scores, with a part of the cache shared before it, with one that is damaged."""
    claims = [" there are 27?", " there are 30 for nights?"]
    plain = fresh(False)
    expected = {p: plain.score_labels(asked(p), claims, LABELS) for p in (PASSAGE, PASSAGE[5:])}
    for turn in ("written", "read", "damaged", "read"):
        model = fresh(False)
        decoded = count_tokens(model, monkeypatch)
        keeping = model.remembering(tmp_path / "states")
        for passage, scores in expected.items():
            assert np.array_equal(keeping.score_labels(asked(passage), claims, LABELS), scores)
        assert len(states_in(tmp_path)) == 2
        again = 2 * len(model._llama.tokenize(PASSAGE, markup=False))
        assert (len(decoded) < again) == (turn == "read")
        if turn == "read":
            for kept in states_in(tmp_path):
                kept.write_bytes(kept.read_bytes()[:-9])


def test_a_passage_is_read_before_there_is_a_claim(
    fresh: Callable[[bool], LlamaCppModel], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims = [" there are 27?", " there are 30 for nights?"]
    expected = fresh(False).score_labels(asked(PASSAGE), claims, LABELS)
    model = fresh(False)
    keeping = model.remembering(tmp_path / "states")
    assert keeping.remembers(asked(PASSAGE)) is False
    for _ in range(2):  # the second time nothing is on the disk, but all in the cache
        keeping.remember(asked(PASSAGE))
        assert keeping.remembers(asked(PASSAGE)) is True
        (kept,) = states_in(tmp_path)
        whole = kept.read_bytes()
        kept.unlink()
    kept.write_bytes(whole)
    model.forget()
    decoded = count_tokens(model, monkeypatch)
    keeping.remember(asked(PASSAGE))
    assert decoded == []
    assert np.array_equal(keeping.score_labels(asked(PASSAGE), claims, LABELS), expected)
    assert 0 < len(decoded) < len(model._llama.tokenize(PASSAGE, markup=False))
    assert keeping.remembers(asked("Short.")) is None
    keeping.remember(asked("Short."))
    assert states_in(tmp_path) == [kept]
    monkeypatch.setattr(llama_cpp, "PASSAGE_TOKENS", 10**6)
    boundless = model.remembering(tmp_path / "states")
    with pytest.raises(ScoringError, match="does not fit"):
        boundless.remember(asked("word " * 3000))


def test_what_is_long_is_not_kept(
    fresh: Callable[[bool], LlamaCppModel], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llama_cpp, "PASSAGE_TOKENS", MIN_TOKENS)
    fresh(False).remembering(tmp_path / "states").score_labels(asked(PASSAGE), ["?"], LABELS)
    assert states_in(tmp_path) == []


def test_a_gpu_keeps_no_passages(
    fresh: Callable[[bool], LlamaCppModel], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = fresh(False)
    monkeypatch.setattr(model._llama, "on_gpu", True)
    keeping = model.remembering(tmp_path / "states")
    keeping.score_labels(asked(PASSAGE), ["?"], LABELS)
    keeping.remember(asked(PASSAGE))
    assert keeping.remembers(asked(PASSAGE)) is None
    assert states_in(tmp_path) == []


def test_a_prompt_that_does_not_fit_is_refused_with_its_state_at_hand(
    fresh: Callable[[bool], LlamaCppModel], tmp_path: Path
) -> None:
    keeping = fresh(False).remembering(tmp_path / "states")
    keeping.score_labels(asked(PASSAGE), ["?"], LABELS)
    with pytest.raises(ScoringError, match="does not fit the context of 2048"):
        keeping.score_labels(asked(PASSAGE), ["word " * 2000], LABELS)


class Remembered:
    """A context that takes any state, and how many it took."""

    build = "any"
    taken = 0

    def save(self, path: Path, tokens: Sequence[int]) -> bool:
        path.write_text(str(tokens))
        return True

    def load(self, path: Path, tokens: Sequence[int]) -> bool:
        self.taken += path.read_text() == str(tokens)
        return True


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    """But not what another process may be writing."""
    left, under_way = tmp_path / "a.1.partial", tmp_path / "b.2.partial"
    for partial in (left, under_way):
        partial.write_bytes(b"half")
    two_hours_ago = time.time() - 7200
    os.utime(left, (two_hours_ago, two_hours_ago))
    PromptStates(tmp_path, "weights").keep(Remembered(), "", range(MIN_TOKENS))
    assert not left.exists()
    assert under_way.exists()
    assert len(list(tmp_path.glob("*.state"))) == 1


@pytest.mark.parametrize("error", [PermissionError, OSError(errno.EROFS, "Read-only file system")])
def test_a_state_that_may_only_be_read_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[OSError] | OSError
) -> None:
    """The time stamp of another user's file cannot be set."""

    def refuse(_path: Path) -> None:
        raise error

    context, states = Remembered(), PromptStates(tmp_path, "weights")
    states.keep(context, "", range(MIN_TOKENS))
    monkeypatch.setattr(os, "utime", refuse)
    assert states.restore(context, "", range(MIN_TOKENS)) is True
    assert context.taken == 1
    assert len(list(tmp_path.iterdir())) == 1


def test_a_folder_may_take_what_it_was_given(tmp_path: Path) -> None:
    context = Remembered()
    states = PromptStates(tmp_path / "states", "weights", limit=10**6)

    def keep(count: int) -> int:
        for first in range(count):
            states.keep(context, "", range(first, first + MIN_TOKENS))
        return len(list((tmp_path / "states").glob("*.state")))

    assert sizes(tmp_path / "states") == []
    assert keep(4) == 4
    each = max(sizes(tmp_path / "states"))
    give(tmp_path / "states", 2 * each + each // 2)
    assert keep(5) == 2
    (tmp_path / "states" / "limit").write_text("damaged")
    assert keep(6) == 6
