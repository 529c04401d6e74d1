"""Replies written side by side: the same as one by one, each its own, and the same again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from operator import eq
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from factcheck_local.core.errors import ScoringError, TooLongError
from factcheck_local.models.cards import find_card
from factcheck_local.models.contracts import Adapted, Labelled, Message, adapted_to
from factcheck_local.models.llama_branches import read_after
from factcheck_local.models.llama_context import Row
from factcheck_local.models.llama_cpp import LlamaCppModel
from factcheck_local.models.prompts import finished
from factcheck_local.models.reply_cache import CachedChatModel

from .test_adapters import write_adapter

PROMPT = "claims-v1"
CHAT = [Message("system", "Name things."), Message("user", "Here is a list of colours.\n")]
ENDINGS = ["Which is the sky's?", "Which is that of grass?", "Which is that of snow and milk?"]
LABELS = ["claim", "meta", "opinion"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LlamaCppModel]:
    """A model with an adapter that changes nothing, to compare with the model alone."""
    path: Path = tmp_path_factory.mktemp("adapter") / "none.gguf"
    card = find_card("smollm2-135m", "llm")
    model = LlamaCppModel.from_card(replace(card, adapters={PROMPT: write_adapter(path, size=0)}))
    yield model
    model.close()


def test_replies_are_those_of_one_prompt_after_the_other(model: LlamaCppModel) -> None:
    found = model.adapted(PROMPT).label_and_write(CHAT, ENDINGS, LABELS, least=0.0, max_tokens=6)
    scores = model.score_labels(CHAT, ENDINGS, LABELS)
    np.testing.assert_allclose([reply.scores for reply in found], scores, atol=0.2)
    for reply, ending in zip(found, ENDINGS, strict=True):
        alone = model.generate(finished(CHAT, ending), max_tokens=6, start="claim\n")
        assert reply.text == alone
        longer = model.generate(finished(CHAT, ending), max_tokens=7, start="claim\n")
        assert reply.ended == (longer == alone)


def test_a_score_is_the_same_to_the_bit_in_any_company(smollm: LlamaCppModel) -> None:
    """More endings than a batch takes, long and short ones, the same one twice, none."""
    endings = [
        "",
        " Why?",
        *ENDINGS,
        *(f"Which of the {n} is it, the first, do you think?" for n in range(9)),
    ]
    endings.append(ENDINGS[0])
    apart = []
    for ending in endings:
        smollm.forget()
        apart.append(smollm.score_labels(CHAT, [ending], LABELS)[0])
    assert len({tuple(row) for row in apart}) == len(endings) - 1
    assert np.array_equal(smollm.score_labels(CHAT, endings, LABELS), apart)
    assert np.array_equal(smollm.score_labels(CHAT, endings[::-1], LABELS), apart[::-1])
    assert smollm.score_labels(CHAT, [], LABELS).shape == (0, 3)


def test_branches_leave_the_sequence_as_it_was(smollm: LlamaCppModel) -> None:
    llama = smollm._llama
    stem = llama.tokenize("One two three four five six seven eight nine ten.", markup=False)
    tails = [llama.tokenize(f"Or {word}?", markup=False) for word in ("eleven", "none", "one")]
    smollm.forget()
    llama.decode(stem, 0, wants_logits=False)
    first = list(read_after(llama, stem, tails))
    assert all(map(np.array_equal, first, read_after(llama, stem, tails)))
    following = llama.tokenize("And what follows is read as if there had been none.", markup=False)
    found = llama.decode(following, len(stem), wants_logits=True)
    smollm.forget()
    assert np.array_equal(llama.decode(stem + following, 0, wants_logits=True), found)
    smollm.forget()


def test_it_writes_only_behind_a_probable_first_label(model: LlamaCppModel) -> None:
    adapted = model.adapted(PROMPT)
    scores = np.exp(model.score_labels(CHAT, ENDINGS, LABELS)[:, 0])
    between = float(np.sort(scores)[:2].mean())
    found = adapted.label_and_write(CHAT, ENDINGS, LABELS, least=between, max_tokens=3)
    assert [reply.text is not None for reply in found] == (scores >= between).tolist()
    assert adapted.label_and_write(CHAT, [], LABELS, least=0.0, max_tokens=3) == []


def test_more_endings_than_branches_and_the_same_again(
    model: LlamaCppModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("factcheck_local.models.llama_cpp.ENDINGS", 5)
    many = [f"{ending} ({i})" for i in range(2) for ending in ENDINGS]
    ask = model.adapted(PROMPT).label_and_write
    found = ask(CHAT, many, LABELS, least=0.0, max_tokens=3)
    assert len(found) == len(many) > 5
    assert ask(CHAT, many, LABELS, least=0.0, max_tokens=3) == found
    other = [Message("user", "Another one. ")]
    assert ask(other, many[:2], LABELS, least=0.0, max_tokens=3) != found[:2]
    assert ask(CHAT, many, LABELS, least=0.0, max_tokens=3) == found


def test_progress_counts_what_is_complete(
    model: LlamaCppModel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Replies that end with their first token, in groups of two; a cache's count at once."""
    monkeypatch.setattr("factcheck_local.models.llama_cpp.ENDINGS", 2)
    monkeypatch.setattr(type(model._llama), "ends_turn", lambda *_: True)
    told: list[tuple[int, int]] = []

    def ask(writer: Adapted, endings: list[str]) -> None:
        writer.label_and_write(
            *(CHAT, endings, LABELS),
            least=0.0,
            max_tokens=3,
            progress=lambda *at: told.append(at),
        )

    ask(model.adapted(PROMPT), ENDINGS)
    assert told == [(2, 3), (3, 3)]
    card = find_card("smollm2-135m", "llm")
    adapters = {PROMPT: write_adapter(tmp_path / "none.gguf", size=0)}
    kept = CachedChatModel(lambda: model, card.id, card.sha256, tmp_path / "said.sqlite", adapters)
    adapted = adapted_to(kept, PROMPT)
    assert adapted is not None
    ask(adapted, ENDINGS[:1])
    told.clear()
    ask(adapted, ENDINGS)
    assert told == [(3, 3)]


def test_what_does_not_fit_is_an_error_and_harms_nothing(model: LlamaCppModel) -> None:
    ask = model.adapted(PROMPT).label_and_write
    before = ask(CHAT, ENDINGS, LABELS, least=0.0, max_tokens=3)
    with pytest.raises(ScoringError, match="does not fit the context"):
        ask([Message("user", "long " * 9000)], ENDINGS, LABELS, least=0.0, max_tokens=3)
    assert ask(CHAT, ENDINGS, LABELS, least=0.0, max_tokens=3) == before


def test_replies_that_have_no_room_together_are_written_one_after_the_other(
    model: LlamaCppModel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Sixteen rows in a cache of 512 tokens, whose texts do not end by themselves."""
    monkeypatch.setattr(type(model._llama), "ends_turn", lambda *_: False)
    monkeypatch.setattr("factcheck_local.models.llama_cpp.WRITING_CELLS", 384)
    card = find_card("smollm2-135m", "llm")
    small = LlamaCppModel(
        card.id,
        card.sha256,
        card.folder / card.files[0].path,
        context_length=128,
        template="chatml",
        adapters={PROMPT: write_adapter(tmp_path / "none.gguf", size=0)},
    )
    rows = [f"And colour {n}?" for n in range(16)]

    def ask(asked: LlamaCppModel, max_tokens: int) -> list[Labelled]:
        writer = asked.adapted(PROMPT)
        return writer.label_and_write(CHAT, rows, LABELS, least=0.0, max_tokens=max_tokens)

    try:
        found, roomy = ask(small, 20), ask(model, 20)
        assert [reply.scores for reply in found] == [reply.scores for reply in roomy]
        # In other company the last bits differ, and with them a text now and then.
        assert sum(map(eq, found, roomy)) >= 12
        assert len({reply.text for reply in found}) == 16
        with pytest.raises(TooLongError, match="does not fit the context of 128"):
            ask(small, 100)
    finally:
        small.close()


def test_it_leaves_the_model_alone_as_it_was(model: LlamaCppModel, smollm: LlamaCppModel) -> None:
    model.adapted(PROMPT).label_and_write(CHAT, ENDINGS, LABELS, least=0.0, max_tokens=3)
    plain = smollm.score_labels(CHAT, ENDINGS, LABELS)
    assert (model.score_labels(CHAT, ENDINGS, LABELS) == plain).all()


def test_a_cache_keeps_replies_by_ending(model: LlamaCppModel, tmp_path: Path) -> None:
    loads = []

    def load() -> LlamaCppModel:
        loads.append(1)
        return model

    def opened() -> CachedChatModel:
        card = find_card("smollm2-135m", "llm")
        adapters = {PROMPT: write_adapter(tmp_path / "none.gguf", size=0)}
        return CachedChatModel(load, card.id, card.sha256, tmp_path / "said.sqlite", adapters)

    first, again = opened(), opened()
    one, other = (adapted_to(cached, PROMPT) for cached in (first, again))
    assert one is not None
    assert other is not None
    found = one.label_and_write(CHAT, ENDINGS, LABELS, least=0.0, max_tokens=3)
    assert other.label_and_write(CHAT, ENDINGS[1:], LABELS, least=0.0, max_tokens=3) == found[1:]
    assert (loads, again.calls, first.calls) == ([1], 2, 3)


def test_a_model_without_the_adapter_has_none(smollm: LlamaCppModel) -> None:
    assert adapted_to(smollm, PROMPT) is None
    assert adapted_to(object(), PROMPT) is None


def test_other_texts_are_drawn_beside_the_likeliest(
    model: LlamaCppModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("factcheck_local.models.llama_writing.DRAW_TEMPERATURE", 2.0)
    ask = model.adapted(PROMPT).label_and_write
    plain = ask(CHAT, ENDINGS, LABELS, least=0.0, max_tokens=40)
    found = ask(CHAT, ENDINGS, LABELS, least=0.0, max_tokens=40, draws=4)
    # In other company the last bits differ, and with them a text now and then.
    assert sum(replace(one, drawn=()) == other for one, other in zip(found, plain, strict=True)) > 1
    drawn = [text for one in found for text in one.drawn]
    assert drawn
    assert len(set(drawn)) > 1
    assert ask(CHAT, ENDINGS, LABELS, least=0.0, max_tokens=40, draws=4) == found
    # One that does not end is no text.
    monkeypatch.setattr(type(model._llama), "ends_turn", lambda *_: False)
    assert not any(one.drawn for one in ask(CHAT, ENDINGS, LABELS, least=0, max_tokens=2, draws=2))


def test_what_is_drawn_goes_on_from_where_it_parts(
    model: LlamaCppModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The nth draw takes its nth token from second place, and the likeliest ones from there on."""
    taken: dict[int, list[int]] = {}

    def parting(
        logits: npt.NDArray[np.float32], _temperature: float, draw: np.random.Generator
    ) -> int:
        nth, count = of_draw = taken.setdefault(id(draw), [len(taken), 0])
        of_draw[1] += 1
        return int(np.argsort(-logits)[: 1 + (count == nth)][-1])

    monkeypatch.setattr("factcheck_local.models.llama_writing.next_token", parting)
    monkeypatch.setattr("factcheck_local.models.llama_writing.DRAW_LEAST", 1e-9)
    (found,) = model.adapted(PROMPT).label_and_write(
        CHAT, ENDINGS[:1], LABELS, least=0.0, max_tokens=60, draws=8
    )
    chat = finished(CHAT, ENDINGS[0])
    same = []
    for text in found.drawn:
        alike = [*takewhile(lambda pair: eq(*pair), zip(text, found.text or "", strict=False))]
        behind = text.find(" ", len(alike) + 1)
        if behind > 0:
            rest = model.generate(chat, max_tokens=60, start=f"claim\n{text[:behind]}")
            same.append(text[behind:] == rest)
    assert len(same) > 2
    # In other company the last bits differ, and with them a text now and then.
    assert sum(same) > len(same) / 2


def test_what_is_drawn_is_kept_with_the_reply(model: LlamaCppModel, tmp_path: Path) -> None:
    card = find_card("smollm2-135m", "llm")
    adapters = {PROMPT: write_adapter(tmp_path / "none.gguf", size=0)}
    path = tmp_path / "said.sqlite"

    def never() -> LlamaCppModel:
        raise AssertionError("asked again")

    def ask(draws: int, load: Callable[[], LlamaCppModel] = never) -> list[Labelled]:
        kept = CachedChatModel(load, card.id, card.sha256, path, adapters)
        adapted = adapted_to(kept, PROMPT)
        assert adapted is not None
        found = adapted.label_and_write(
            CHAT, ENDINGS, LABELS, least=0.0, max_tokens=40, draws=draws
        )
        return found

    plain, drawn = ask(0, lambda: model), ask(4, lambda: model)
    assert any(one.drawn for one in drawn)
    assert ask(4) == drawn
    assert ask(0) == plain
    assert not any(one.drawn for one in plain)


def test_draws_take_turns_where_there_is_no_room_for_all(
    model: LlamaCppModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = [f"{ending} ({i})" for i in range(2) for ending in ENDINGS]
    ask = model.adapted(PROMPT).label_and_write
    alone = ask(CHAT, many, LABELS, least=0.0, max_tokens=30)
    monkeypatch.setattr("factcheck_local.models.llama_cpp.BRANCHES", 16 + 6)
    found = ask(CHAT, many, LABELS, least=0.0, max_tokens=30, draws=2)
    assert [one.scores for one in found] == [one.scores for one in alone]
    assert sum(a.text == b.text for a, b in zip(found, alone, strict=True)) > len(many) / 2
    monkeypatch.setattr(type(model._llama), "ends_turn", lambda *_: True)
    told: list[int] = []
    ask(
        *(CHAT, many, LABELS),
        least=0.0,
        max_tokens=30,
        draws=2,
        progress=lambda done, _: told.append(done),
    )
    assert told == [3, 6]


def test_texts_that_begin_alike_are_read_once(
    model: LlamaCppModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing but the likeliest token is drawn, draws cost nothing."""
    rows: list[int] = []
    decode = model._llama.decode_rows

    def counted(asked: Sequence[Row]) -> list[npt.NDArray[np.float32]]:
        rows.append(len(asked))
        return decode(asked)

    monkeypatch.setattr(model._llama, "decode_rows", counted)
    monkeypatch.setattr("factcheck_local.models.llama_writing.DRAW_LEAST", 1.0)
    ask = model.adapted(PROMPT).label_and_write
    plain = ask(CHAT, ENDINGS, LABELS, least=0.0, max_tokens=40)
    alone, rows[:] = sum(rows), []
    found = ask(CHAT, ENDINGS, LABELS, least=0.0, max_tokens=40, draws=5)
    assert sum(rows) <= alone
    assert [replace(one, drawn=()) for one in found] == plain
    assert all(set(one.drawn) <= {one.text} for one in found)
