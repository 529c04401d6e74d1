"""The relate stage: which pairs to read, and what the relation model says of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from factcheck_local.errors import ScoringError
from factcheck_local.relate.contract import Premise, RelationModel
from factcheck_local.types import ScoredPair

#: Called with the pairs done and all pairs.
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Related:
    """The pairs that were scored, and why those of some premises were not.

    ``failures`` maps (premise, hypothesis) to a reason.
    """

    pairs: tuple[ScoredPair, ...]
    failures: Mapping[tuple[str, str], str]


def relate(
    pairs: Sequence[tuple[str, str]],
    premises: Mapping[str, Premise],
    hypotheses: Mapping[str, str],
    model: RelationModel,
    progress: Progress = lambda _done, _all: None,
) -> Related:
    """Score ordered pairs, a premise at a time, so that each is read once.

    Args:
        pairs: (premise id, hypothesis id), in any order.
        premises: by id.
        hypotheses: texts by id.
        model: the relation model.
        progress: called after each premise.

    Returns:
        Scored pairs, ordered as the ids first appear.
    """
    by_premise: dict[str, list[str]] = {}
    for premise, hypothesis in pairs:
        by_premise.setdefault(premise, []).append(hypothesis)
    scored: list[ScoredPair] = []
    failures: dict[tuple[str, str], str] = {}
    for premise, ids in by_premise.items():
        try:
            found = model.relate(premises[premise], [hypotheses[i] for i in ids])
        except ScoringError as error:
            failures |= {(premise, i): str(error) for i in ids}
        else:
            scored += [ScoredPair(premise, i, r) for i, r in zip(ids, found, strict=True)]
        progress(len(scored) + len(failures), len(pairs))
    return Related(tuple(scored), failures)
