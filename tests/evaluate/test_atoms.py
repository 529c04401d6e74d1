"""Atoms against human ones, by hand: similarities are given."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from factcheck_local.core.types import Answer, Kind, Span
from factcheck_local.evaluate.atoms import (
    FILE,
    Biography,
    Sentence,
    drafted,
    load,
    named,
    run,
    score,
)
from factcheck_local.models.contracts import Message
from factcheck_local.models.embedder import SentenceTransformerEmbedder
from factcheck_local.models.fake import FakeChatModel
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.settings import Settings


def sentence(
    similarity: list[list[float]], *, relevant: bool = True, elsewhere: list[float] | None = None
) -> dict[str, Any]:
    own = len(similarity)
    return {
        "relevant": relevant,
        "verified": own > 0,
        "human": ["h"] * (len(similarity[0]) if similarity else 0),
        "own": ["o"] * own,
        "similarity": similarity,
        "elsewhere": elsewhere or [0.0] * own,
    }


def values(*sentences: dict[str, Any]) -> dict[str, Any]:
    rows = [{"item": "b", "failures": 0, "sentences": list(sentences)}]
    found = score(rows, threshold=0.8)
    return {**found, **{name: m["value"] for name, m in found["measures"].items()}}


def test_a_sentence_left_unsplit_is_seen_one_to_one() -> None:
    """One atom matches both human ones; matched once only, it is half of them."""
    found = values(sentence([[0.9, 0.85]]))
    assert (found["recall"], found["precision"]) == (1.0, 1.0)
    assert (found["recall_one_to_one"], found["precision_one_to_one"]) == (0.5, 1.0)
    assert (found["split_less"], found["split_further"]) == (1, 0)
    assert found["atoms_a_human_atom"] == 0.5


def test_the_assignment_matches_most() -> None:
    """The first atom could take either; the second only the first human one."""
    found = values(sentence([[0.9, 0.8], [0.95, 0.1]]))
    assert found["recall_one_to_one"] == 1.0


def test_an_atom_of_another_sentence() -> None:
    found = values(sentence([[0.3], [0.9]], elsewhere=[0.9, 0.95]))
    assert found["from_another_sentence"] == 1
    assert found["precision"] == 0.5


def test_sentences_without_human_atoms_count_for_check_worthiness_alone() -> None:
    found = values(
        sentence([[0.9]]),
        {**sentence([], relevant=False), "verified": True, "own": ["o"], "elsewhere": [0.0]},
        sentence([], relevant=False),
    )
    assert found["precision"] == 1.0
    assert found["check_worthiness_balanced_accuracy"] == 3 / 4
    assert found["check_worthiness_f1"] == pytest.approx(2 / 3)


def test_nothing_to_compare() -> None:
    assert values()["recall"] is None
    assert values()["atoms_a_human_atom"] is None


def test_pronouns_are_read_as_the_name_that_a_biography_is_of() -> None:
    assert named("He wrote it for her.", "Ann Vale") == "Ann Vale wrote it for her."
    assert named("Her films include Ice.", r"A\1") == r"A\1's films include Ice."
    assert named("Hershey makes chocolate.", "Ann") == "Hershey makes chocolate."
    assert named("She is tall.", "") == "She is tall."


def test_a_biography_is_split_and_compared(
    tmp_path: Path, minilm: SentenceTransformerEmbedder
) -> None:
    """The real embedder; the splitter is scripted. A sentence without atoms keeps its place."""
    row = {
        "input": "Question: Tell me a bio of Ann Vale.",
        "topic": "Ann Vale",
        "output": "Ann Vale is a chemist. Thanks. She founded a firm in Turin.",
        "annotations": [
            {
                "text": "Ann Vale is a chemist.",
                "is-relevant": True,
                "human-atomic-facts": [{"text": "Ann Vale is a chemist."}],
            },
            {"text": "Thanks.", "is-relevant": False, "human-atomic-facts": None},
            {
                "text": "She founded a firm in Turin.",
                "is-relevant": True,
                "human-atomic-facts": [
                    {"text": "She founded a firm."},
                    {"text": "Her firm is in Turin."},
                ],
            },
        ],
    }
    (tmp_path / FILE).write_text(json.dumps(row), encoding="utf-8")
    items, _ = load(tmp_path)

    def reply(messages: Sequence[Message]) -> str:
        """Of the splitter the sentence, of the reviser the claim with the name."""
        *_, sentence = messages[-1].content.split("Sentence: ")
        *_, claim = sentence.split("Claim: ")
        return claim if claim == sentence else claim.replace("She", "Ann Vale")

    def label(messages: Sequence[Message], _ending: str, _labels: Sequence[str]) -> str:
        return "meta" if messages[-1].content.endswith("Thanks.") else "fact"

    checker = FactChecker(Settings(), llm=FakeChatModel(reply, label))
    (found,) = run(items, checker, minilm, tmp_path / "out")
    first, thanks, last = found["sentences"]
    assert first["own"] == ["Ann Vale is a chemist."]
    assert first["similarity"] == [[pytest.approx(1, abs=1e-3)]]
    assert first["elsewhere"][0] < 0.99
    assert (thanks["own"], thanks["similarity"], thanks["elsewhere"]) == ([], [], [])
    assert (thanks["relevant"], thanks["verified"]) == (False, False)
    assert (first["kinds"], thanks["kinds"]) == ([Kind.FACT], [Kind.META_STATEMENT])
    assert last["own"] == ["Ann Vale founded a firm in Turin."]
    # "She" and "Her" are read as the name, so both human atoms are near, and the other is not.
    ((whole, firm),) = last["similarity"]
    assert min(whole, firm) > 0.8 > last["elsewhere"][0]
    (unnamed,) = run([replace(items[0], topic="")], checker, minilm, tmp_path / "out")
    assert max(unnamed["sentences"][2]["similarity"][0]) < min(whole, firm)


def test_the_atoms_that_come_with_the_data_are_compared_alike(
    minilm: SentenceTransformerEmbedder,
) -> None:
    """One sentence has a draft of half its atoms, one has none: 1 of 3 is there, none wrong."""
    text = "Ann Vale plays the harp. She lives in Oslo and sells boats."
    first, second = Span(0, 24), Span(25, len(text))
    sentences = (
        Sentence(first, True, ("Ann Vale plays the harp.",)),
        Sentence(second, True, ("She lives in Oslo.", "She sells boats."), ("She sells boats.",)),
    )
    found = score(drafted([Biography("b", Answer(text, "b"), sentences, "Ann Vale")], minilm))
    assert (found["human_atoms"], found["own_atoms"]) == (3, 1)
    measures = {name: m["value"] for name, m in found["measures"].items()}
    assert measures["recall"] == pytest.approx(1 / 3)
    assert measures["precision"] == 1.0
    # Nobody asked that splitter which sentences to verify.
    assert measures["check_worthiness_f1"] is None
