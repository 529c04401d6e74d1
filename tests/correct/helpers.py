"""Assessments by hand, and a pipeline with scripted models that corrects them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any

from factcheck_local.correct.edits import Refused
from factcheck_local.correct.replace import ADAPTED_PROMPT, Wrong, drafts
from factcheck_local.models.contracts import Message, TextGenerator
from factcheck_local.models.fake import FakeChatModel
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.settings import Settings
from tests.cli.worlds import scripted
from tests.models.helpers import FakeAdapted

Claim = tuple[str, str, str]


def rewrite(
    sentence: str,
    wrong: Sequence[Wrong],
    generator: TextGenerator,
    **given: Any,  # noqa: ANN401
) -> str:
    """The first draft, which counts."""
    draft = next(drafts(sentence, wrong, generator, **given))
    assert isinstance(draft, str)
    return draft


def refusal(
    sentence: str,
    wrong: Sequence[Wrong],
    generator: TextGenerator,
    **given: Any,  # noqa: ANN401
) -> str:
    """Why the first draft does not count."""
    draft = next(drafts(sentence, wrong, generator, **given))
    assert isinstance(draft, Refused)
    return draft.reason


def assessed(text: str, *claims: Claim, passage: str = "400 days.") -> dict[str, Any]:
    """A run over one passage that weighs against each claim.

    Args:
        text: the answer.
        claims: sentence, claim and verdict of each.
        passage: all of it is the quote.
    """
    context = {"id": "p", "source": "d.md", "title": "", "text": passage, "prior": 0.9, "line": 1}
    context |= {"start": 0, "end": len(passage)}
    quote = {"text": passage, "start": 0, "end": len(passage)}
    evidence = [{"context": "p", "relation": "contradiction", "probability": 0.9, "quote": quote}]
    atoms = [
        {
            "id": f"a{number}",
            "kind": "fact",
            "text": claim,
            "span": {"start": text.index(sentence), "end": text.index(sentence) + len(sentence)},
            "verdict": verdict,
            "probability": 0.5,
            "evidence": evidence,
        }
        for number, (sentence, claim, verdict) in enumerate(claims)
    ]
    relations = [{"from": "p", "to": atom["id"]} for atom in atoms]
    answer = {"path": None, "text": text, "question": None}
    return {"answer": answer, "atoms": atoms, "contexts": [context], "relations": relations}


def checker(
    write: Callable[[str], str] | str, split: Callable[[str], str] = lambda sentence: sentence
) -> FactChecker:
    """The pipeline with models by script.

    Args:
        write: the sentence to write in the place of another; None of them reads the source.
        split: makes a sentence's claims, a line each.
    """

    def reply(turn: str) -> str:
        return write if isinstance(write, str) else write(turn.rsplit("Sentence: ", 1)[1])

    return scripted([], reply, split)(Settings())


class Writer(FakeChatModel):
    """A model whose adapter writes one reply after the other, and the last one again."""

    adapters = MappingProxyType({ADAPTED_PROMPT: "0" * 64})

    def __init__(self, *replies: str) -> None:
        super().__init__(lambda _messages: "written without the adapter")
        left = list(replies)

        def reply(_messages: Sequence[Message]) -> str:
            return left.pop(0) if len(left) > 1 else left[0]

        self.writer = FakeAdapted(reply)

    def adapted(self, _prompt: str) -> FakeAdapted:
        return self.writer
