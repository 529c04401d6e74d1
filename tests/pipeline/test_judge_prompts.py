"""The judges' prompts: they render as they are asked, and show every label that they name."""

from __future__ import annotations

import re

import pytest

from factcheck_local.core.types import Context
from factcheck_local.models.prompts import load_prompt

PASSAGES = [
    Context("c1", "board.md", "Board", "Ines Falk chairs the board.", 0.9),
    Context("c2", "plain.txt", "", "Tomas Reed is her deputy.", 0.9),
]

#: Prompts whose reply is a label, and all labels.
SCORED = {
    "judge_factscore": {"True", "False"},
    "judge_veriscore": {"A", "B", "C"},
    "judge_veriscore_binary": {"supported", "unsupported"},
    "judge_verify": {"A", "B", "C"},
    "judge_own_knowledge": {"True", "False", "Unknown"},
    "felm_claim": {"True", "False"},
}

#: Prompts whose reply ends in a line with the result, and that line.
REASONED = {
    "judge_factverify": r"Verdict: (?:supported|contradicted|undecided)",
    "felm_claim_cot": r"Verdict: (?:true|false)",
    "felm_segment_cot": r"Wrong: (?:none|\d+(?:, \d+)*)",
}


@pytest.mark.parametrize("name", [*SCORED, "judge_factverify", "felm_claim_cot"])
def test_passages_are_numbered_with_titles_and_the_claim_comes_last(name: str) -> None:
    prompt = load_prompt(name)
    turn = prompt.opening(passages=PASSAGES)[-1].content + prompt.close(claim="Falk chairs it.")
    assert "[1] Board: Ines Falk chairs the board.\n" in turn
    assert "[2] document: Tomas Reed is her deputy.\n" in turn
    assert turn.index("Claim: Falk chairs it.") > turn.index("[2]")


@pytest.mark.parametrize("name", SCORED)
def test_examples_reply_with_each_label_and_nothing_else(name: str) -> None:
    assert {str(e["reply"]) for e in load_prompt(name).examples} == SCORED[name]


@pytest.mark.parametrize("name", REASONED)
def test_reasoned_examples_end_in_the_result_and_keep_short(name: str) -> None:
    for example in load_prompt(name).examples:
        assert re.fullmatch(REASONED[name], example["reply"].strip().splitlines()[-1])
        assert len(example["reply"].split()) < 120


def test_the_ternary_judge_shows_eight_examples_of_several_passages() -> None:
    examples = load_prompt("judge_veriscore").examples
    assert len(examples) >= 8
    assert all(len(e["passages"]) > 1 for e in examples)


@pytest.mark.parametrize("name", ["felm_segment", "felm_segment_cot"])
def test_segments_are_numbered_and_passages_optional(name: str) -> None:
    ask = load_prompt(name).opening
    given = ask(question="Who?", segments=["Falk.", "Reed."], passages=PASSAGES)[-1].content
    alone = ask(question="Who?", segments=["Falk.", "Reed."], passages=None)[-1].content
    assert "1. Falk.\n2. Reed.\n" in given
    assert given.endswith(alone)
    assert "Passages" not in alone
    unasked = ask(question=None, segments=["Falk.", "Reed."], passages=None)[-1].content
    assert unasked == alone.removeprefix("Question: Who?\n")


@pytest.mark.parametrize("name", ["felm_segment", "felm_segment_cot"])
def test_wrong_segments_of_the_examples_exist(name: str) -> None:
    for example in load_prompt(name).examples:
        last = example["reply"].strip().splitlines()[-1]
        assert all(1 <= int(n) <= len(example["segments"]) for n in re.findall(r"\d+", last))
