"""The passages that a judge is shown, within what a prompt can hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from factcheck_local.core.types import Context

#: Characters of all passages of a prompt together: some 2,000 tokens, which leaves a
#: context of 4,096 room for instructions, examples and a reply.
MAX_CHARACTERS = 8000


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage as the prompts name its parts."""

    title: str
    text: str


def fit(
    contexts: Sequence[Context], characters: int = MAX_CHARACTERS
) -> tuple[tuple[Passage, ...], bool]:
    """The passages of contexts, best first, cut so that together they are short enough.

    What short ones leave over goes to the long ones: none is cut below an equal share.

    Returns:
        The passages, and whether any was cut.
    """
    shares: dict[int, int] = {}
    left = characters
    shortest_first = sorted(range(len(contexts)), key=lambda i: len(contexts[i].text))
    for done, i in enumerate(shortest_first):
        shares[i] = min(len(contexts[i].text), left // (len(contexts) - done))
        left -= shares[i]
    passages = tuple(Passage(c.title, c.text[: shares[i]]) for i, c in enumerate(contexts))
    return passages, any(shares[i] < len(c.text) for i, c in enumerate(contexts))
