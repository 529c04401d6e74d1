"""Edits, patches and rewritings by themselves: no pipeline, no store."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck_local.core.types import Span
from factcheck_local.correct.edits import apply, marked, unified_diff, without
from factcheck_local.correct.form import changed_within
from factcheck_local.correct.replace import ADAPTED_PROMPT, Wrong, drafts
from factcheck_local.models.cards import find_card
from factcheck_local.models.fake import FakeChatModel
from factcheck_local.models.prompts import load_prompt
from tests.correct.helpers import refusal, rewrite
from tests.models.helpers import FakeAdaptable, FakeAdapted


@given(st.text(max_size=40), st.lists(st.tuples(st.integers(0, 40), st.text(max_size=5))))
def test_what_is_outside_of_the_spans_stays(text: str, cuts: list[tuple[int, str]]) -> None:
    places = sorted(min(at, len(text)) for at, _ in cuts)
    spans = [Span(a, b) for a, b in zip(places[::2], places[1::2], strict=False)]
    new = [new for _, new in cuts[: len(spans)]]
    edited, moved = apply(text, list(zip(spans, new, strict=True)))
    assert [s.of(edited) for s in moved] == new
    outside = [s.end for s in [Span(0, 0), *spans]], [*(s.start for s in spans), len(text)]
    kept = [text[a:b] for a, b in zip(*outside, strict=True)]
    outside = [s.end for s in [Span(0, 0), *moved]], [*(s.start for s in moved), len(edited)]
    assert [edited[a:b] for a, b in zip(*outside, strict=True)] == kept


def test_edits_that_overlap_are_refused() -> None:
    with pytest.raises(ValueError, match="expected spans in order, got 2 after 3"):
        apply("abcdef", [(Span(0, 3), "x"), (Span(2, 4), "y")])


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Pets may come.", "Pets may come [x]."),
        ("Pets may come", "Pets may come [x]"),
        ("**Pets may come!**", "**Pets may come [x]!**"),
        ("“Pets may come.”", "“Pets may come [x].”"),
        ("| pets | yes |", "| pets | yes [x] |"),
        ("Version 2.0", "Version 2.0 [x]"),
        ("Remove old builds by `make clean.`", "Remove old builds by `make clean.` [x]"),
        ("Remove old builds by ``make `all`.``", "Remove old builds by ``make `all`.`` [x]"),
        ("Say `no`.", "Say `no` [x]."),
        ("See [the page](https://h/?)", "See [the page](https://h/?) [x]"),
        ("See [the page](https://h/?).", "See [the page](https://h/?) [x]."),
    ],
)
def test_a_marker_stays_within_its_sentence(sentence: str, expected: str) -> None:
    assert marked(sentence, "[x]") == expected


def removed(text: str, span: Span, sentences: Sequence[Span] = ()) -> str:
    wide = without(text, span, sentences)
    assert wide is not None
    return apply(text, [(wide, "")])[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. GONE. Two.", "One. Two."),
        ("GONE. Two.\n", "Two.\n"),
        ("One. GONE.\n\nTwo.", "One.\n\nTwo."),
        ("GONE.\n\nTwo.", "\nTwo."),
        ("- One.\n- GONE.\n- Two.\n", "- One.\n- Two.\n"),
        ("> 1. GONE.", ""),
        ("- GONE.\n  Two.\n", "- \n  Two.\n"),
        ("| a |\n|---|\n| GONE. |\n| b |\n", "| a |\n|---|\n| b |\n"),
        ("One\r\n\r\n* GONE.\r\n* Two", "One\r\n\r\n* Two"),
    ],
)
def test_a_sentence_goes_with_its_space_or_its_line(text: str, expected: str) -> None:
    gone = "| GONE. |" if "| GONE. |" in text else "GONE."
    start = text.index(gone)
    assert removed(text, Span(start, start + len(gone))) == expected


def test_a_number_that_ends_a_sentence_is_no_item_of_a_list() -> None:
    text = "The limit is\n25. GONE. Two.\n"
    first, gone = Span(0, 16), Span(17, 22)
    assert (first.of(text), gone.of(text)) == ("The limit is\n25.", "GONE.")
    alone = text.replace(" Two.", "")
    assert removed(alone, gone, [first, gone]) == "The limit is\n25.\n"
    # The unit of a line has the mark in front of it, too: it is no sentence before.
    quoted = "> Foo.\n> GONE.\n"
    assert removed(quoted, Span(9, 14), [Span(0, 6), Span(7, 14)]) == "> Foo.\n"
    assert removed(text, gone, [first, gone]) == "The limit is\n25. Two.\n"


@pytest.mark.skipif(shutil.which("git") is None, reason="git applies the patches")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a\nb\nc\n", "a\nB\nc\n"),
        ("a\nb", "a\nB"),
        ("a\nb\n", "a\nb"),
        ("a\r\nb\r\n", "a\r\nB\r\n"),
        ("a\u2028b\x0cc\nd\n", "a\u2028B\x0cc\nd\n"),
        ("a\n", ""),
    ],
)
def test_a_patch_is_one_for_git(tmp_path: Path, old: str, new: str) -> None:
    name = "my answer.md"
    (tmp_path / name).write_bytes(old.encode())
    patch = "# why: “--- a/x”\n" + unified_diff(old, new, name)
    # Outside of any repository, so that the whole path counts.
    subprocess.run(
        ["git", "apply", "--whitespace=nowarn", "-"],
        input=patch.encode(),
        cwd=tmp_path,
        env={"GIT_CEILING_DIRECTORIES": str(tmp_path.parent), "PATH": "/usr/bin:/bin"},
        check=True,
    )
    assert (tmp_path / name).read_bytes() == new.encode()
    assert unified_diff(old, old, name) == ""


# ---------------------------------------------------------------- rewriting

SENTENCE = "Annual leave in Kiel is 30 days and expires in March."
WRONG = Wrong("Annual leave in Kiel is 30 days.", "Staff in Kiel get 25 days of annual leave.")
OTHER = "Annual leave expires in March."


def test_the_wrong_part_is_replaced() -> None:
    good = "Annual leave in Kiel is 25 days and expires in March."
    model = FakeChatModel(lambda _m: f"Sentence: {good}\nMore.")
    draft = rewrite(SENTENCE, [WRONG], model, others=[OTHER], heading="Leave")
    assert draft == good
    (turn,) = (call[-1].content for call in model.calls)
    assert turn == (
        f"Heading: Leave\nSource: {WRONG.quote}\nWrong: {WRONG.claim}\nSentence: {SENTENCE}"
    )


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "did not change"),
        (f"**{SENTENCE}**", "did not change"),
        ("Annual leave in Kiel is 27 days and expires in March.", "number that nobody gave: 27"),
        ("Annual leave in Bremen is 25 days and expires in March.", "name that nobody gave: breme"),
        (
            "Annual leave in Kiel is a generous and wholly ample 25 days and expires in March.",
            "words of neither",
        ),
        ("25 days of leave.", "too little of the sentence"),
        ("Annual leave in Kiel: 25 days.", "drops another claim"),
        ("Annual leave in Kiel | is 25 days and expires in March.", "another row of the table"),
        (" ".join(["Annual leave in Kiel is 25 days and expires in March."] * 3), "too long"),
    ],
)
def test_a_rewriting_that_cannot_be_trusted_is_refused(reply: str, reason: str) -> None:
    assert reason in refusal(SENTENCE, [WRONG], FakeChatModel(lambda _m: reply), others=[OTHER])


@pytest.mark.parametrize("mark", ["[^2]", " <https://intra/leave>", ", see [the page](/leave)"])
def test_a_rewriting_that_drops_a_link_or_a_footnote_is_refused(mark: str) -> None:
    sentence = f"{SENTENCE.removesuffix('.')}{mark}."
    new = sentence.replace("30", "25")
    kept = rewrite(sentence, [WRONG], FakeChatModel(lambda _m: new), others=[OTHER])
    assert kept == new
    plain = SENTENCE.replace("30", "25")
    model = FakeChatModel(lambda _m: plain)
    wrong = replace(WRONG, claim=sentence)
    lost = refusal(sentence, [wrong], model)
    assert lost == "the rewriting drops a link, a footnote or other markup"
    # Where it is dropped beside what is wrong, the rest of the rewriting counts.
    kept = rewrite(sentence, [WRONG], model, others=[OTHER])
    assert kept == new


def test_a_rewriting_that_changes_more_is_followed_by_one_that_does_not() -> None:
    old = "It can be powered over Ethernet and has built-in **Wi-Fi**."
    both = "It cannot be powered over Ethernet and does not have built-in Wi-Fi."
    wrong = Wrong("The G3 has built-in Wi-Fi.", "It takes power over Ethernet; it has no Wi-Fi.")
    found = list(drafts(old, [wrong], FakeChatModel(lambda _m: both)))
    assert found == [
        "It cannot be powered over Ethernet and does not have built-in **Wi-Fi**.",
        "It can be powered over Ethernet and does not have built-in **Wi-Fi**.",
    ]


def test_the_part_of_a_rewriting_may_count_where_all_of_it_does_not() -> None:
    reply = "Annual leave in Kiel is 25 days and expires in May."
    assert rewrite(SENTENCE, [WRONG], FakeChatModel(lambda _m: reply), others=[OTHER]) == (
        "Annual leave in Kiel is 25 days and expires in March."
    )


@pytest.mark.parametrize(
    ("new", "old", "claim", "expected"),
    [
        ("A is 2 and B is 4.", "A is 1 and B is 3.", "A is 1.", "A is 2 and B is 3."),
        ("A is 2 and B is 4.", "A is 1 and B is 3.", "A is 1 and B is 3.", None),
        ("A is 2 and B is 3.", "A is 1 and B is 3.", "A is 1.", None),
        ("A is 1 and B is 4.", "A is 1 and B is 3.", "A is 1.", None),
        ("A is not 1 and B is 4.", "A is 1 and B is 3.", "A is 1.", "A is not 1 and B is 3."),
        ("A is 1, and it is 4.", "A is 1, and it is so.", "Nothing of it.", None),
        ("A costs 2 €, B 40.", "A costs 1 €, B 10.", "A costs 1 €.", "A costs 2 €, B 10."),
        ("", "A is 1.", "A is 1.", None),
        ("We get 2 A in B.", "A is 1 in B and old.", "A is 1 in B.", None),
        ("2 or 5.", "In A it is 1 and 3.", "In A it is 1.", None),
    ],
)
def test_the_changes_within_a_claim(new: str, old: str, claim: str, expected: str | None) -> None:
    assert changed_within(new, old, claim) == expected


def test_two_wrong_claims_are_replaced_one_after_the_other() -> None:
    replies = {
        WRONG.claim: SENTENCE.replace("30", "25"),
        OTHER: SENTENCE.replace("30", "25").replace("March", "April"),
    }
    model = FakeChatModel(lambda m: next(r for c, r in replies.items() if c in m[-1].content))
    second = Wrong(OTHER, "Annual leave expires in April.")
    draft = rewrite(SENTENCE, [WRONG, second], model)
    assert draft == "Annual leave in Kiel is 25 days and expires in April."
    assert "Sentence: Annual leave in Kiel is 25 days and expires in March." in (
        model.calls[1][-1].content
    )


def adaptable(reply: str) -> FakeAdaptable:
    return FakeAdaptable(ADAPTED_PROMPT, FakeAdapted(lambda _m: reply))


def test_a_model_with_an_adapter_reads_the_whole_passage() -> None:
    good = SENTENCE.replace("30", "25")
    writer = FakeAdapted(lambda _m: good)
    model = FakeAdaptable(ADAPTED_PROMPT, writer)
    wrong = replace(WRONG, title="Leave > Kiel", passage=f"Of Kiel. {WRONG.quote} No more.")
    draft = rewrite(SENTENCE, [wrong], model, heading="Leave", before="Leave differs by site.")
    assert draft == good
    (turn,) = (call[-1].content for call in writer.calls)
    assert turn == (
        f"Source: Leave > Kiel\n{wrong.passage}\nIt says: {WRONG.quote}\n"
        f"Before: Leave differs by site.\nSentence: {SENTENCE}"
    )
    assert not model.calls


def test_what_stands_in_the_passage_is_given_to_a_model_that_reads_it() -> None:
    old = "Joris is the chief engineer and the lift carries 630 kg."
    new = "Anneke is the chief engineer and the lift carries 450 kg."
    wrong = Wrong(old, "Joris is head of sales.", "Lift", "Anneke, chief engineer. 450 kg.")
    assert rewrite(old, [wrong], adaptable(new)) == new
    plain = refusal(old, [wrong], FakeChatModel(lambda _m: new))
    assert plain == "the rewriting has a number that nobody gave: 450"
    made_up = refusal(old, [wrong], adaptable(new.replace("Anneke", "Davor")))
    assert made_up == "the rewriting has a name that nobody gave: davor"


def test_an_adapter_may_mend_two_claims_at_once() -> None:
    both = SENTENCE.replace("30", "25").replace("March", "April")
    second = Wrong(OTHER, "Annual leave expires in April.")
    assert rewrite(SENTENCE, [WRONG, second], adaptable(both)) == both


def test_of_two_claims_mended_at_once_each_is_taken_in_its_turn() -> None:
    both = SENTENCE.replace("30", "25").replace("March", "April")
    model = FakeChatModel(lambda _m: both)
    second = Wrong(OTHER, "Annual leave expires in April.")
    assert rewrite(SENTENCE, [WRONG, second], model) == both
    asked = [call[-1].content.rpartition("Sentence: ")[2] for call in model.calls]
    assert asked == [SENTENCE, SENTENCE.replace("30", "25")]


def test_a_sentence_that_an_adapter_leaves_as_it_was_is_refused() -> None:
    why = refusal(SENTENCE, [WRONG, Wrong(OTHER, "April.")], adaptable(SENTENCE))
    assert why == "the model did not change the sentence"


@pytest.mark.parametrize(
    ("old", "quote", "new", "follows"),
    [
        ("30 days are 240 hours.", "25 days", "25 days are 200 hours.", True),
        ("36 months at 40 euros.", "48 months", "48 months at 30 euros.", True),
        ("From 40 to 55, a rise of 15.", "to 50", "From 40 to 50, a rise of 10.", True),
        ("0.25 percent, so 20 euros.", "0.35 %", "0.35 percent, so 28 euros.", True),
        ("30 days are 240 hours.", "25 days", "25 days are 210 hours.", False),
        ("Version 4.1.2 of 30 May.", "version 4.1.3", "Version 4.1.3 of 31 May.", False),
    ],
)
def test_a_number_that_depends_on_a_wrong_one_may_follow(
    old: str, quote: str, new: str, *, follows: bool
) -> None:
    case = old, [Wrong(old, quote)], adaptable(new)
    if follows:
        assert rewrite(*case) == new
    else:
        assert refusal(*case)


def test_an_adapter_s_dash_says_that_the_source_has_nothing_right() -> None:
    why = refusal(SENTENCE, [WRONG], adaptable("-"))
    assert why == "the source does not say what is right"


def test_a_shipped_adapter_for_corrections_is_found_by_its_prompt() -> None:
    assert load_prompt(ADAPTED_PROMPT).id == ADAPTED_PROMPT
    assert ADAPTED_PROMPT in find_card("qwen2.5-coder-1.5b").adapters
