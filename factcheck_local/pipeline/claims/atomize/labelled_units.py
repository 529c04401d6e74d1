"""VERIFY's unit extraction (Bayat et al. 2024, "FactBench"): units, each with its label.

The model lists what a sentence is made of and says of each unit what it is. Units that
are neither fact nor claim are kept with their label and go no further. What comes next in
VERIFY, making each unit understandable on its own, is ``claims.rewording.revise`` of all units.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from factcheck_local.core.errors import ScoringError
from factcheck_local.core.progress import Progress, silent
from factcheck_local.core.types import Kind, Segment
from factcheck_local.models.contracts import TextGenerator
from factcheck_local.models.prompts import load_prompt
from factcheck_local.pipeline.claims.atomize.checks import left_out, stated
from factcheck_local.pipeline.claims.atomize.each import (
    MAX_REPLY_TOKENS,
    STOP,
    Atomized,
    Split,
    each_segment,
)
from factcheck_local.pipeline.claims.atomize.parse import parse_units
from factcheck_local.pipeline.claims.atomize.window import window


def extract_units(
    segments: Sequence[Segment],
    model: TextGenerator,
    *,
    question: str | None = None,
    chosen: Collection[int] | None = None,
    progress: Progress = silent,
) -> Atomized:
    """Let a model list the units of every segment, each with its kind.

    Unlike ``atomize`` the kind is each unit's own, and what the model wrote. A unit stays
    only if its sentence states it; a clause that none takes up is added as a claim. A
    reply without a labelled unit is a failure of its segment.

    Args:
        segments: the answer's units, in order.
        model: lists and labels.
        question: what the answer replies to, if known.
        chosen: which segments, counted from 0; None for all.
        progress: called after each segment.
    """

    def split(index: int) -> Split:
        segment = segments[index]
        seen = window(segments, index)
        messages = load_prompt("verify_units").opening(question=question, **seen)
        parsed = parse_units(model.generate(messages, max_tokens=MAX_REPLY_TOKENS, stop=STOP))
        if not parsed:
            raise ScoringError("the model listed no unit with a kind")
        kept = [(kind, text) for kind, text in parsed if stated(text, segment)]
        added = left_out([text for _, text in kept], segment.text)
        units = (*kept, *((Kind.CLAIM, text) for text in added))
        return Split(units, len(parsed) - len(kept), bool(added))

    return each_segment(segments, split, chosen=chosen, progress=progress)
