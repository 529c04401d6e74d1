"""What every atomizer has in common: segment by segment, with failures and counts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from factcheck_local.core.errors import ScoringError
from factcheck_local.core.progress import Progress
from factcheck_local.core.types import Atom, Kind, Segment

MAX_REPLY_TOKENS = 320

#: Texts before which a reply is cut.
STOP = ("\n\n", "\nSentence:")


@dataclass(frozen=True, slots=True)
class Atomized:
    """What the atomizer made of an answer.

    Attributes:
        atoms: all units in the answer's order, those not check-worthy too.
        failures: atom id -> why the unit could not be looked at.
        dropped: atoms that their own sentence does not state.
        completed: sentences from which the split left something out, which was
            added as it stands there.
    """

    atoms: tuple[Atom, ...]
    failures: Mapping[str, str]
    dropped: int
    completed: int


@dataclass(frozen=True, slots=True)
class Split:
    """What one segment was split into.

    Attributes:
        units: kind and text, in order, at least one.
        dropped: how many more there were, which the segment does not state.
        completed: whether something was added that the split had left out.
    """

    units: tuple[tuple[Kind, str], ...]
    dropped: int = 0
    completed: bool = False


def each_segment(
    segments: Sequence[Segment],
    split: Callable[[int], Split],
    *,
    chosen: Collection[int] | None,
    progress: Progress,
) -> Atomized:
    """Split the segments whose form does not settle their kind.

    A segment on which the model fails stays whole, as one claim that has failed.

    Args:
        segments: the answer's units, in order.
        split: of the segment at an index; may raise ``ScoringError``.
        chosen: which segments, counted from 0; None for all.
        progress: called after each segment.
    """
    atoms: list[Atom] = []
    failures: dict[str, str] = {}
    dropped = completed = 0
    for index, segment in enumerate(segments):
        if chosen is not None and index not in chosen:
            continue
        failure = None
        if segment.kind is not None:
            found = Split(((segment.kind, segment.text),))
        else:
            try:
                found = split(index)
            except ScoringError as error:
                found, failure = Split(((Kind.CLAIM, segment.text),)), str(error)
        dropped += found.dropped
        completed += found.completed
        for kind, text in found.units:
            atom = Atom(f"a{len(atoms) + 1}", text, segment.text, kind, segment.span)
            atoms.append(atom)
            if failure:
                failures[atom.id] = failure
        progress(index + 1, len(segments))
    return Atomized(tuple(atoms), failures, dropped, completed)
