"""The relate stage: what the relation model says of the pairs, asked no more than it has to be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from factcheck_local.core.errors import ScoringError
from factcheck_local.core.progress import Progress, silent
from factcheck_local.core.types import Relation, RelationLabel, ScoredPair, Summary
from factcheck_local.pipeline.relation.cascade import CascadeRelationModel
from factcheck_local.pipeline.relation.scorer import Premise, RelationModel

Pair = tuple[str, str]

#: Probability of a label from which one direction between two passages decides for
#: both, see `_settles`. Not fitted: high enough to be sure, under a calibrated model.
SETTLED = 0.9


@dataclass(frozen=True, slots=True)
class Related:
    """The pairs that have a relation, and why others have none.

    Attributes:
        pairs: with their relations, in the order asked for.
        failures: (premise, hypothesis) -> reason.
        copied: how many of both took over what was said of a near duplicate.
        settled: how many pairs of passages are in neither, since the other
            direction settled them.
    """

    pairs: tuple[ScoredPair, ...]
    failures: Mapping[Pair, str]
    copied: int = 0
    settled: int = 0


def relate(
    pairs: Sequence[Pair],
    premises: Mapping[str, Premise],
    hypotheses: Mapping[str, str],
    model: RelationModel,
    progress: Progress = silent,
    *,
    alike: Mapping[str, str] | None = None,
    summaries: Mapping[Pair, Summary] | None = None,
) -> Related:
    """Score ordered pairs, a premise at a time, so that each is read once.

    Pairs that differ only in which near duplicate they name are read once. Of the two
    directions between passages the one asked for first is read first, the other only
    where it can change the outcome.

    Args:
        pairs: (premise id, hypothesis id), in any order. An id that stands in both
            places is one passage.
        premises: by id.
        hypotheses: texts by id.
        model: the relation model.
        progress: called after each premise.
        alike: id of a passage -> id of the one that stands for it and for its near
            duplicates, as ``retrieval.duplicates.near_duplicates`` gives them.
        summaries: what is read in place of a pair's premise; the same for pairs that
            differ only in which near duplicate they name.
    """
    same, short = alike or {}, summaries or {}
    names = {pair: _name(pair, same) for pair in pairs}
    reads: dict[Pair, Pair] = {}
    for pair, name in names.items():
        reads.setdefault(name, pair)
    place = {name: i for i, name in enumerate(reads)}
    second = [n for n in reads if place.get((n[1], n[0]), len(place)) < place[n]]
    first = reads.keys() - set(second)

    def premise(pair: Pair) -> Premise:
        whole = premises[pair[0]]
        return Premise(whole.title, short[pair].text) if pair in short else whole

    def read(chosen: Iterable[Pair], before: int) -> dict[Pair, Relation | str]:
        return _read(
            [reads[n] for n in chosen],
            premise,
            hypotheses,
            model,
            lambda done: progress(before + done, len(reads)),
        )

    found = read((n for n in reads if n in first), 0)
    settled = {n for n in second if _settles(found[reads[n[1], n[0]]])}
    if settled:
        progress(len(first) + len(settled), len(reads))
    found |= read((n for n in second if n not in settled), len(first) + len(settled))

    scored: list[ScoredPair] = []
    failures: dict[Pair, str] = {}
    for pair, name in names.items():
        if name in settled:
            continue
        outcome = found[reads[name]]
        if isinstance(outcome, str):
            failures[pair] = outcome
        else:
            scored.append(ScoredPair(*pair, outcome, short.get(pair)))
    return Related(
        tuple(scored),
        failures,
        copied=sum(reads[n] != pair for pair, n in names.items() if n not in settled),
        settled=sum(n in settled for n in names.values()),
    )


def _name(pair: Pair, same: Mapping[str, str]) -> Pair:
    """What pairs that differ only in near duplicates have in common."""
    premise, hypothesis = (same.get(id_, id_) for id_ in pair)
    # Two near duplicates of each other are a pair of their own, not one of a text with itself.
    return pair if premise == hypothesis else (premise, hypothesis)


def _settles(forward: Relation | str) -> bool:
    """Whether a -> b leaves nothing to ask of b -> a, for the edges of `graph.links_from`.

    * Contradiction is symmetric in truth: one factor says that not both hold, and a
      second one from the other direction would count the same evidence twice.
    * Neutral makes no edge, but b may still entail a, being the more specific of the
      two. Then a leaves b open and usually not without doubt; where the model is
      sure that the two do not bear on each other, they are not read again.
    * Entailment never settles: with one back it is an equivalence.
    * A failure says nothing: the other premise may be one that can be read.
    """
    return (
        isinstance(forward, Relation)
        and forward.label is not RelationLabel.ENTAILMENT
        and forward.probability >= SETTLED
    )


def _read(
    pairs: Sequence[Pair],
    premise: Callable[[Pair], Premise],
    hypotheses: Mapping[str, str],
    model: RelationModel,
    tell: Callable[[int], None],
) -> dict[Pair, Relation | str]:
    """The relation of each pair, or why it has none."""
    if isinstance(model, CascadeRelationModel):
        return _read_twice(pairs, premise, hypotheses, model, tell)
    by_premise: dict[tuple[str, Premise], list[Pair]] = {}
    for pair in pairs:
        by_premise.setdefault((pair[0], premise(pair)), []).append(pair)
    found: dict[Pair, Relation | str] = {}
    for (_, text), of_it in by_premise.items():
        try:
            relations = model.relate(text, [hypotheses[i] for _, i in of_it])
        except ScoringError as error:
            found |= dict.fromkeys(of_it, str(error))
        else:
            found |= dict(zip(of_it, relations, strict=True))
        tell(len(found))
    return found


def _read_twice(
    pairs: Sequence[Pair],
    premise: Callable[[Pair], Premise],
    hypotheses: Mapping[str, str],
    model: CascadeRelationModel,
    tell: Callable[[int], None],
) -> dict[Pair, Relation | str]:
    """All pairs by the fast model, then the least sure of all of them by the slow one.

    A pair that the slow model fails on has failed: the fast one was not sure of it.
    """
    found = _read(pairs, premise, hypotheses, model.fast, lambda _done: None)
    quick = {pair: r for pair, r in found.items() if isinstance(r, Relation)}
    chosen = [list(quick)[i] for i in model.plan(list(quick.values()))]
    settled = len(pairs) - len(chosen)
    tell(settled)
    second = _read(chosen, premise, hypotheses, model.slow, lambda done: tell(settled + done))
    for pair, slow in second.items():
        found[pair] = slow if isinstance(slow, str) else model.pool(quick[pair], slow)
    return found
