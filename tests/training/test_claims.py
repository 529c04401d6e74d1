"""What the adapter that takes answers apart is trained on, and how an answer is read once."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch
from transformers import AttentionInterface, Qwen2Config, Qwen2ForCausalLM

from factcheck_local.correct.edits import Refused
from factcheck_local.correct.replace import ADAPTED_PROMPT as ADAPTED_CORRECTION
from factcheck_local.correct.replace import NOTHING as SAID_NOTHING
from factcheck_local.evaluate.lines import Results
from factcheck_local.models.chat_format import chat_format
from factcheck_local.models.contracts import Message
from factcheck_local.models.prompts import load_prompt
from factcheck_local.pipeline.claims.atomize.asking import ADAPTED_PROMPT, KINDS, PROMPT
from factcheck_local.pipeline.claims.split import segment
from tests.models.helpers import FakeAdapted
from training.adapter.model import ATTENTION, Adapted, LowRank
from training.adapter.model import _attention as attention
from training.claims.answers import LabelledAnswer, Part, answers, drawn, needs_question
from training.claims.corrections import NOTHING, corrections, sequences
from training.claims.measure import items, kinds_right, names_no_subject
from training.claims.measure_corrections import outcome, summary
from training.claims.packing import KIND_WEIGHT, Packer, taught
from training.claims.preferences import ANCHOR, Preference, pairs
from training.claims.train import Teacher, rate
from training.claims.ways import ways_of
from training.claims.wordings import lines_of, wordings

ATOMS = Path(__file__).parents[2] / "training" / "data" / "atoms"
CORRECTIONS = ATOMS.parent / "corrections"


@pytest.fixture(scope="module")
def kept() -> list[LabelledAnswer]:
    return answers(ATOMS, held_out=False)


@pytest.fixture(scope="module")
def held_out() -> list[LabelledAnswer]:
    return answers(ATOMS, held_out=True)


@pytest.fixture
def packer() -> Packer:
    """Of single characters, so that what is read can be read here, too."""
    return Packer(lambda t: [ord(c) for c in t], chat_format("chatml"), load_prompt(PROMPT))


def text_of(tokens: torch.Tensor) -> str:
    return "".join(map(chr, tokens.tolist()))


def test_every_answer_is_on_one_side(
    kept: list[LabelledAnswer], held_out: list[LabelledAnswer]
) -> None:
    assert len(kept) + len(held_out) == 518
    assert 80 <= len(held_out) <= 100
    assert not {a.text for a in kept} & {a.text for a in held_out}


def test_parts_are_the_product_s_and_nearly_all_are_there(
    kept: list[LabelledAnswer], held_out: list[LabelledAnswer]
) -> None:
    parts = [(a, p) for a in (*kept, *held_out) for p in a.parts]
    assert all(p.segment.span.of(a.text) == p.segment.text for a, p in parts)
    assert {p.kind for _, p in parts} == set(KINDS)
    assert all(bool(p.claims) == (p.kind == "claim") for _, p in parts)
    assert len([p for _, p in parts if p.claims]) > 1050


def test_a_row_of_a_table_is_a_part_with_pipes_or_without(tmp_path: Path) -> None:
    row = "Annual leave | lapses"
    units = [{"text": row, "kind": "claim", "claims": ["Annual leave lapses."]}]
    answer = f"| Leave | At the end |\n| --- | --- |\n| {row} |\n"
    path = tmp_path / "rows.jsonl"
    for text in (row, f"| {row} |"):
        about = {"question": "", "answer": answer, "units": [units[0] | {"text": text}]}
        path.write_text(json.dumps(about), encoding="utf-8")
        (found,) = (*answers(path, held_out=False), *answers(path, held_out=True))
        assert [part.claims for part in found.parts] == [("Annual leave lapses.",)]


def test_a_question_is_needed_where_a_claim_has_a_word_of_it_alone() -> None:
    found = next(a for a in answers(ATOMS, held_out=False) if a.parts[0].claims)
    part = replace(found.parts[0], claims=("Narwhals have one tusk.",))
    asked = LabelledAnswer("What of narwhals?", "They have one tusk.", (part,))
    assert needs_question(asked)
    assert not needs_question(replace(asked, text="Narwhals have one tusk."))


@pytest.mark.parametrize(
    ("question", "read"),
    [
        ("How much leave do I get?", "Fen Courier: How much leave do I get?"),
        ("How much leave does Fen Courier give?", "How much leave does Fen Courier give?"),
        (None, "How does this work at Fen Courier?"),
    ],
)
def test_an_answer_of_a_known_organisation_is_read_as_the_product_asks_for_it(
    packer: Packer, question: str | None, read: str
) -> None:
    (leave,) = segment("You have 25 days.")
    part = Part(leave, "claim", ("Employees of Fen Courier have 25 days.",))
    answer = LabelledAnswer(question, leave.text, (part,), "Fen Courier")
    (taught,) = packer.pack(answer, most=10**9)
    assert f"Question: {read}\n" in text_of(taught.tokens)
    assert items([answer])[0].answer.question == read


def test_a_known_organisation_needs_no_question_and_is_read_without_one() -> None:
    (leave,) = segment("You have 25 days.")
    part = Part(leave, "claim", ("Employees of Fen Courier have 25 days.",))
    answer = LabelledAnswer("How long at Fen Courier?", leave.text, (part,), "Fen Courier")
    assert not needs_question(answer)
    assert needs_question(replace(answer, organisation=None))
    assert {drawn(answer, Random(seed)).question for seed in range(20)} == {None}
    of_leave = replace(part, claims=("Employees of Fen Courier have 25 days of leave.",))
    asked = replace(answer, question="How much leave?", parts=(of_leave,))
    assert {drawn(asked, Random(seed)).question for seed in range(20)} == {"How much leave?"}


def test_a_reply_sees_the_answer_and_its_own_part(
    packer: Packer, kept: list[LabelledAnswer]
) -> None:
    answer = next(a for a in kept if len(a.parts) > 5)
    (taught,) = packer.pack(answer, most=10**9)
    ((begin, end, sees),) = taught.segments
    assert (begin, end) == (0, len(taught.tokens))
    firsts = torch.nonzero(taught.weights == KIND_WEIGHT).flatten().tolist()
    for part, at in zip(answer.parts, firsts, strict=True):
        place = int(taught.at[at])
        read = text_of(taught.tokens[: place + 1][sees[place, : place + 1]])
        assert f"Answer:\n{answer.text}" in read
        assert read.endswith(
            f"Part: {' '.join(part.segment.text.split())}<|im_end|>\n<|im_start|>assistant\n"
        )
        assert read.count("Part: ") == 1
        assert int(taught.positions[place]) == len(read) - 1


def test_a_part_is_read_without_citations_as_in_use(packer: Packer) -> None:
    text = "Leave is [25 days](https://h/leave) [1]. Ask HR."
    leave, _ = segment(text)
    answer = LabelledAnswer(None, text, (Part(leave, "claim", ("Leave is 25 days.",)),))
    (taught,) = packer.pack(answer, most=10**9)
    assert "Part: Leave is [25 days].<|im_end|>" in text_of(taught.tokens)


def test_the_reply_is_what_the_model_is_asked_to_write(
    packer: Packer, kept: list[LabelledAnswer]
) -> None:
    answer = next(a for a in kept if {p.kind for p in a.parts} > {"claim"})
    (taught,) = packer.pack(answer, most=10**9)
    replies = text_of(taught.wanted).split("<|im_end|>")
    assert replies[:-1] == [
        "\n".join(("claim", *p.claims)) if p.claims else p.kind for p in answer.parts
    ]


def test_a_long_answer_is_read_in_several_sequences(
    packer: Packer, kept: list[LabelledAnswer]
) -> None:
    answer = max(kept, key=lambda a: len(a.parts))
    several = list(packer.pack(answer, most=3500))
    assert len(several) > 1
    assert all(len(t.tokens) <= 3500 for t in several)
    (whole,) = packer.pack(answer, most=10**9)
    assert torch.equal(torch.cat([t.wanted for t in several]), whole.wanted)


def test_what_is_measured_is_what_people_wrote(held_out: list[LabelledAnswer]) -> None:
    for item, answer in zip(items(held_out), held_out, strict=True):
        assert [s.atoms for s in item.sentences] == [p.claims for p in answer.parts]


def test_a_part_has_the_right_kind_alone(held_out: list[LabelledAnswer]) -> None:
    answer = next(a for a in held_out if {p.kind for p in a.parts} >= {"claim", "greeting"})
    kinds = [{"claim": ["claim", "fact"]}.get(p.kind, ["greeting"]) for p in answer.parts]
    expected = [p.kind in ("claim", "greeting") for p in answer.parts]
    assert kinds_right([answer], [{"sentences": [{"kinds": k} for k in kinds]}]) == expected
    mixed = [{"sentences": [{"kinds": ["fact", "greeting"]} for _ in answer.parts]}]
    assert not any(kinds_right([answer], mixed))


def test_the_prompt_is_the_one_that_a_card_names() -> None:
    assert load_prompt(PROMPT).id == ADAPTED_PROMPT


def test_the_rate_warms_up_and_falls() -> None:
    assert rate(0.0, 1.0) < rate(0.04, 1.0) < rate(0.05, 1.0) == 1.0
    assert 1.0 > rate(0.5, 1.0) > rate(0.9, 1.0) > rate(1.0, 1.0) == 0.02


def test_every_correction_is_on_one_side_and_says_why() -> None:
    kept, held_out = (corrections(CORRECTIONS, held_out=h) for h in (False, True))
    assert len(kept) + len(held_out) == 531
    assert 50 <= len(held_out) <= 110
    assert all(item.quote in item.passage for item in (*kept, *held_out))


def test_a_corrected_sentence_sees_its_own_source_alone() -> None:
    wrong = corrections(CORRECTIONS, held_out=False)[:4]
    (sequence,) = sequences(
        wrong,
        tokenize=lambda t: [ord(c) for c in t],
        template=chat_format("chatml"),
        prompt=load_prompt(ADAPTED_CORRECTION),
        most=10**9,
    )
    read_at_once = taught(*sequence)
    ((_, _, sees),) = read_at_once.segments
    last = int(read_at_once.at.max())
    read = text_of(read_at_once.tokens[: last + 1][sees[last, : last + 1]])
    assert wrong[-1].passage in read
    assert not any(other.passage in read for other in wrong[:-1])
    assert read.count("Correct the sentence by its source") == 1
    wanted = text_of(read_at_once.wanted)
    assert wanted == "".join(f"{item.corrected or NOTHING}<|im_end|>" for item in wrong)
    assert NOTHING == SAID_NOTHING
    assert set(read_at_once.weights.tolist()) == {1.0}


def test_a_correction_is_right_as_people_wrote_it() -> None:
    item = corrections(CORRECTIONS, held_out=True)[0]
    wrong = replace(item, sentence="It takes 30 days.", corrected="It takes 25 days.")
    assert outcome(wrong, "**It takes 25 days.**") == "right"
    assert outcome(wrong, "It takes 26 days.") == "wrong"
    assert outcome(wrong, Refused("", "no")) == "refused"
    for stays in (replace(wrong, corrected=wrong.sentence), replace(wrong, corrected="")):
        assert outcome(stays, Refused("", "no")) == "right"
        assert outcome(stays, "It takes 25 days.") == "wrong"
    rows = [{"kind": "number", "outcome": o, "wanted": "x"} for o in ("right", "wrong")]
    rows.append({"kind": "already-right", "outcome": "right", "wanted": "x"})
    assert summary(rows) == {
        **{"items": 3, "to_change": 2, "to_change_right": 1, "wrong": 1},
        "kinds": {"already-right": {"right": 1}, "number": {"right": 1, "wrong": 1}},
    }


@pytest.mark.parametrize(
    ("claim", "vague"),
    [
        ("It is due in May.", True),
        ("The company pays 450 euros.", True),
        ("The plan's price is 9 euros.", True),
        ("The company car of Vantaa has a card.", False),
        ("Its own makes Kestrel proud.", True),
        ("Kestrel pays for its staff.", False),
    ],
)
def test_a_claim_that_does_not_say_of_whom_it_is(claim: str, *, vague: bool) -> None:
    assert names_no_subject(claim) is vague


def tiny(dtype: torch.dtype) -> Adapted:
    """A model of three layers, of which the upper two have an adapter."""
    AttentionInterface.register(ATTENTION, attention)
    sizes: dict[str, Any] = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3}
    heads: dict[str, Any] = {"num_attention_heads": 4, "num_key_value_heads": 2}
    config = Qwen2Config(vocab_size=300, **sizes, **heads)
    config._attn_implementation = ATTENTION
    torch.manual_seed(1)
    network: Any = Qwen2ForCausalLM(config)
    network.to(dtype)
    network.requires_grad_(False)
    for layer in network.model.layers[1:]:
        layer.mlp.up_proj = LowRank(layer.mlp.up_proj, 4, 8)
    return Adapted(network, lambda text: [ord(c) for c in text], [65, 66, 67], 8)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_teacher_computes_in_its_model_s_type(dtype: torch.dtype) -> None:
    """A GPU and some processors hold the weights in bfloat16; the losses are float32."""
    model = tiny(dtype)
    (sequence, *_) = sequences(
        corrections(CORRECTIONS, held_out=True)[:1],
        tokenize=lambda text: [ord(c) % 300 for c in text],
        template=chat_format("chatml"),
        prompt=load_prompt(ADAPTED_CORRECTION),
        most=10,
    )
    teacher = Teacher(model, 1, torch.arange(300))
    lesson = taught(*sequence)
    first, weights = teacher.loss(lesson, 0)
    again, _ = teacher.loss(lesson, 0)
    assert first.dtype == torch.float32
    assert len(first) == len(weights) == len(lesson.wanted)
    assert torch.allclose(first, again, atol=0.05), "what the lower layers made is kept"
    assert 4 < first.mean() < 8, "near log 300 without training"
    first.sum().backward()  # type: ignore[no-untyped-call]
    assert all(p.grad is not None for p in model.adapter.values())


def test_the_ways_of_an_answer_are_compared_with_what_people_wrote() -> None:
    text = "You get 30 days. Nice! They carry over until March."
    first, _, third = segment(text)
    answer = LabelledAnswer(
        None,
        text,
        (
            Part(first, "claim", ("Employees of Ardent get 30 days of leave.",)),
            Part(segment("Nice!")[0], "greeting", ()),
            Part(third, "claim", ("Days of leave carry over at Ardent until March.",)),
        ),
        "Ardent",
    )

    def reply(messages: Sequence[Message]) -> str:
        part = messages[-1].content.rsplit("Part: ", 1)[1]
        return "Ardent gets 30 days of leave." if "30" in part else "It does."

    model = FakeAdapted(reply)
    model.drawn = lambda _m: ("Employees of Ardent get 30 days of leave.", "It does.")
    found = list(ways_of(answer, model, 2))
    spans = [slice(*row["span"]) for row in found]
    assert [text[s] for s in spans] == ["You get 30 days.", "They carry over until March."]
    likely, drawn_one, other = found[0]["ways"]
    assert likely["text"] == "Ardent gets 30 days of leave."
    assert drawn_one["likeness"] == 1.0 > likely["likeness"] > other["likeness"]
    assert len(found[1]["ways"]) == 2, "the same text is one way"


def written(folder: Path, *parts: dict[str, Any]) -> Path:
    row = {"question": "How?", "organisation": None, "answer": "An answer.", "parts": parts}
    Results(folder).keep("one", row)
    return folder


def way(text: str, likeness: float) -> dict[str, Any]:
    return {"text": text, "likeness": likeness}


def test_a_pair_is_the_best_way_and_the_worst(tmp_path: Path) -> None:
    about = {"headings": ["Leave"], "span": [0, 10], "claims": ["A is right.", "So is B."]}
    best, worst = way("A is right.\nB is right.", 0.9), way("C is right.", 0.3)
    path = written(tmp_path / "ways", about | {"ways": [way("D is.", 0.5), best, worst]})
    (answer,) = pairs(path)
    assert answer.asked == "How?"
    assert [part.claims for part in answer.parts] == [
        ("A is right.", "B is right."),
        ("C is right.",),
    ]
    assert {part.segment.headings for part in answer.parts} == {("Leave",)}
    assert {part.segment.text for part in answer.parts} == {"An answer."}


def test_where_no_way_is_good_there_is_none_to_prefer(tmp_path: Path) -> None:
    about = {"headings": [], "span": [0, 10], "claims": ["A is right.", "So is B."]}
    bad = about | {"ways": [way("C.", 0.3), way("D.", 0.6)]}
    assert pairs(written(tmp_path / "ways", bad)) == []


def test_ways_that_are_as_good_teach_nothing(tmp_path: Path) -> None:
    about = {"headings": [], "span": [0, 10], "claims": ["A is right."]}
    alike = about | {"ways": [way("A is right.", 1.0), way("A is.", 0.95)]}
    assert pairs(written(tmp_path / "ways", alike, about | {"ways": []})) == []


def test_both_ways_of_a_part_are_in_one_sequence(packer: Packer, tmp_path: Path) -> None:
    about = {"headings": [], "span": [0, 10], "claims": ["A."]}
    ways = {"ways": [way("A is right.", 0.9), way("C is right.", 0.2)]}
    (answer,) = pairs(written(tmp_path / "ways", *([about | ways] * 3)))
    lessons = list(packer.pack(answer, most=10, together=2))
    assert len(lessons) == 3
    for lesson in lessons:
        assert set(lesson.replies.tolist()) == {0, 1}
        better = text_of(lesson.wanted[lesson.replies == 0])
        worse = text_of(lesson.wanted[lesson.replies == 1])
        assert "A is right." in better
        assert "C is right." in worse


def test_preferring_the_better_way_costs_less(packer: Packer, tmp_path: Path) -> None:
    """Rafailov et al. 2023, equation 7, by hand; Pang et al. 2024 add the better way's own."""
    about = {"headings": [], "span": [0, 10], "claims": ["A."]}
    ways = {"ways": [way("A.", 0.9), way("C is.", 0.2)]}
    (answer,) = pairs(written(tmp_path / "ways", about | ways))
    (lesson,) = packer.pack(answer, most=1000, together=2)
    model = tiny(torch.float32)
    preference = Preference(model, 0.5)
    before = torch.full((len(lesson.wanted),), 2.0)
    loss, by = preference.loss(lesson, before, before)
    assert by.tolist() == [0.0]
    assert loss.item() == pytest.approx(math.log(2) + ANCHOR * 2.0)
    worse = lesson.replies == 1
    loss, by = preference.loss(lesson, before + worse, before)
    margin = 0.5 * int(worse.sum())
    assert by.item() == pytest.approx(margin)
    assert loss.item() == pytest.approx(math.log1p(math.exp(-margin)) + ANCHOR * 2.0)


def test_the_model_is_as_it_was_for_a_moment() -> None:
    model = tiny(torch.float32)
    was = {name: p.detach().clone() for name, p in model.adapter.items()}
    preference = Preference(model, 0.1)
    with torch.no_grad():
        for parameter in model.adapter.values():
            parameter.add_(1.0)
    now = {name: p.detach().clone() for name, p in model.adapter.items()}
    with preference.before():
        assert all(torch.equal(p, was[name]) for name, p in model.adapter.items())
    assert all(torch.equal(p, now[name]) for name, p in model.adapter.items())


def test_a_claim_is_worded_as_the_model_words_it() -> None:
    said = {
        "You get 30 days of leave.": "Employees of Ardent get 30 days of leave.",
        "You get 20 days of leave.": "Employees of Ardent get 30 days of leave.",  # another number
        "Leave never lapses.": "Leave lapses at Ardent.",  # no denial
        "It is paid, and taxed.": "Leave at Ardent is paid.\nLeave at Ardent is taxed.",
        "Leave is asked for in Tock.": "Leave is asked for in Tock.",  # as it was
    }
    asked: list[str] = []

    def reply(messages: Sequence[Message]) -> str:
        asked.append(messages[-1].content)
        return said[messages[-1].content.rsplit("Part: ", 1)[1]]

    found = list(wordings(list(said), "Ardent", FakeAdapted(reply)))
    assert found == ["Employees of Ardent get 30 days of leave.", None, None, None, None]
    assert len(set(asked)) == 5
    assert "work at Ardent?" in asked[0].partition("You get 30")[0], "whose rules these are"


def test_lines_of_a_passage_and_of_a_set_know_whose_rules_they_tell() -> None:
    row = {
        "title": "Ardent Staff Handbook > Leave",
        "claims": [{"text": f"{n}"} for n in range(20)],
    }
    first, second = lines_of(row)
    assert (len(first[0]), len(second[0])) == (16, 4)
    assert first[1] == "Ardent"
    assert [whose for _, whose in lines_of(row | {"set": "Wayfell Software: intranet"})] == [
        "Wayfell Software"
    ] * 2
    assert not list(lines_of(row | {"title": "Staff Handbook > Leave"})), "names nobody"
