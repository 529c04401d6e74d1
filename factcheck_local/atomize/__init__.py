"""From the units of an answer to atoms: one piece of information each."""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, Protocol

from factcheck_local.atomize.each import Atomized, Progress
from factcheck_local.atomize.stage import atomize, merge_repeats
from factcheck_local.atomize.verify import extract_units
from factcheck_local.atomize.veriscore import extract_claims
from factcheck_local.models.contracts import ChatModel
from factcheck_local.types import Segment

AtomizerName = Literal["atoms", "verify", "veriscore"]


class Atomizer(Protocol):
    """Splits the segments of an answer; see ``atomize`` for the arguments."""

    def __call__(
        self,
        segments: Sequence[Segment],
        model: ChatModel,
        *,
        question: str | None = None,
        chosen: Collection[int] | None = None,
        progress: Progress = ...,
    ) -> Atomized:
        """Split them."""


ATOMIZERS: Mapping[AtomizerName, Atomizer] = {
    "atoms": atomize,
    "verify": extract_units,
    "veriscore": extract_claims,
}

__all__ = [
    "ATOMIZERS",
    "Atomized",
    "Atomizer",
    "AtomizerName",
    "atomize",
    "extract_claims",
    "extract_units",
    "merge_repeats",
]
