"""From the units of an answer to atoms: one piece of information each."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from factcheck_local.core.progress import Progress
from factcheck_local.core.types import Segment
from factcheck_local.models.contracts import ChatModel
from factcheck_local.pipeline.claims.atomize.asking import ADAPTED_PROMPT
from factcheck_local.pipeline.claims.atomize.atoms import atomize, merge_repeats
from factcheck_local.pipeline.claims.atomize.each import Atomized
from factcheck_local.pipeline.claims.atomize.labelled_units import extract_units
from factcheck_local.pipeline.claims.atomize.one_pass import take_apart
from factcheck_local.pipeline.claims.atomize.veriscore import extract_claims
from factcheck_local.pipeline.settings import AtomizerName


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
    "prompted": atomize,
    "factbench": extract_units,
    "veriscore": extract_claims,
}

__all__ = [
    "ADAPTED_PROMPT",
    "ATOMIZERS",
    "Atomized",
    "Atomizer",
    "atomize",
    "extract_claims",
    "extract_units",
    "merge_repeats",
    "take_apart",
]
