"""The relate stage: what the relation model says of the pairs, asked no more than it has to be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypeVar

from factcheck_local.core.errors import ScoringError
from factcheck_local.core.progress import Progress, silent
from factcheck_local.core.types import Relation, RelationLabel, ScoredPair, Summary
from factcheck_local.models.scoring import score_each
from factcheck_local.pipeline.relation.cascade import CascadeRelationModel
from factcheck_local.pipeline.relation.scorer import Premise, RelationModel, at_once

T = TypeVar("T")
R = TypeVar("R")

Pair = tuple[str, str]

#: The relation of a pair, or why it has none.
Outcome = Relation | str

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


#: Called with a claim's id and all that was said of the pairs in which it is the hypothesis.
Completed = Callable[[str, Related], None]


def relate(
    pairs: Sequence[Pair],
    premises: Mapping[str, Premise],
    hypotheses: Mapping[str, str],
    model: RelationModel,
    progress: Progress = silent,
    *,
    alike: Mapping[str, str] | None = None,
    summaries: Mapping[Pair, Summary] | None = None,
    completed: Completed | None = None,
) -> Related:
    """Score ordered pairs, a premise at a time, so that each is read once.

    Pairs that differ only in which near duplicate they name are read once. Of the two
    directions between passages the one asked for first is read first, the other only
    where it can change the outcome.

    Premises are read in the order in which they are named, which for passages is that of the
    claims they were found for, so that claims are complete one after the other. Another
    order would show claims later. A model on a server is asked for several premises at once.

    Args:
        pairs: (premise id, hypothesis id), in any order. An id that stands in both
            places is one passage.
        premises: by id.
        hypotheses: texts by id.
        model: the relation model.
        progress: called before the first premise, where there is anything to read, and after each.
        alike: id of a passage -> id of the one that stands for it and for its near
            duplicates, as ``retrieval.duplicates.near_duplicates`` gives them.
        summaries: what is read in place of a pair's premise; the same for pairs that
            differ only in which near duplicate they name.
        completed: called once for each hypothesis that is no premise, as soon as the last of
            its pairs is read: at the beginning where there is none.
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
        return replace(whole, text=short[pair].text) if pair in short else whole

    found: dict[Pair, Outcome] = {}
    settled: set[Pair] = set()
    twice = 0  # pairs that the slow model of two has read
    # Of each claim its pairs, and how many of them are still to be read. It is nothing's near
    # duplicate, so the pairs that are read for it are named after it.
    claims: dict[str, list[Pair]] = {}
    to_read: Counter[str] = Counter()
    if completed is not None:
        claims = {id_: [] for id_ in hypotheses if id_ not in premises}
        to_read.update(hypothesis for _, hypothesis in reads)
        for pair in names:
            if pair[1] in claims:
                claims[pair[1]].append(pair)

    def tell(ids: Iterable[str]) -> None:
        if completed is not None:
            for id_ in dict.fromkeys(ids):
                if id_ in claims and not to_read[id_]:
                    completed(id_, gathered(claims[id_]))

    def take(outcomes: Mapping[Pair, Outcome]) -> None:
        found.update(outcomes)
        to_read.subtract(hypothesis for _, hypothesis in outcomes)
        tell(hypothesis for _, hypothesis in outcomes)
        progress(len(found) + len(settled), len(reads))

    def read(chosen: Iterable[Pair]) -> None:
        nonlocal twice
        asked = [reads[n] for n in chosen]
        if isinstance(model, CascadeRelationModel):
            twice += _read_twice(asked, premise, hypotheses, model, take, twice)
        else:
            _read(asked, premise, hypotheses, model, take)

    def gathered(chosen: Iterable[Pair]) -> Related:
        scored: list[ScoredPair] = []
        failures: dict[Pair, str] = {}
        for pair in chosen:
            outcome = found[reads[names[pair]]]
            if isinstance(outcome, str):
                failures[pair] = outcome
            else:
                scored.append(ScoredPair(*pair, outcome, short.get(pair)))
        return Related(tuple(scored), failures)

    if reads:
        progress(0, len(reads))  # whoever finds that too many says so before the first is read
    tell(claims)
    read(n for n in reads if n in first)
    settled = {n for n in second if _settles(found[reads[n[1], n[0]]])}
    if settled:
        progress(len(first) + len(settled), len(reads))
    read(n for n in second if n not in settled)
    return replace(
        gathered(pair for pair, name in names.items() if name not in settled),
        copied=sum(reads[n] != pair for pair, n in names.items() if n not in settled),
        settled=sum(n in settled for n in names.values()),
    )


def _name(pair: Pair, same: Mapping[str, str]) -> Pair:
    """What pairs that differ only in near duplicates have in common."""
    premise, hypothesis = (same.get(id_, id_) for id_ in pair)
    # Two near duplicates of each other are a pair of their own, not one of a text with itself.
    return pair if premise == hypothesis else (premise, hypothesis)


def _settles(forward: Relation | str) -> bool:
    """Whether a -> b leaves nothing to ask of b -> a, for the edges of `network.links_from`.

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
    take: Callable[[Mapping[Pair, Outcome]], None],
) -> None:
    """Ask a model of each pair; ``take`` gets what is found as it is found, each pair once."""
    by_premise: dict[tuple[str, Premise], list[Pair]] = {}
    for pair in pairs:
        by_premise.setdefault((pair[0], premise(pair)), []).append(pair)

    def ask(item: tuple[tuple[str, Premise], list[Pair]]) -> dict[Pair, Outcome]:
        (_, text), of_it = item
        found = score_each(
            lambda asked: model.relate(text, asked), [hypotheses[i] for _, i in of_it]
        )
        said = (str(one) if isinstance(one, ScoringError) else one for one in found)
        return dict(zip(of_it, said, strict=True))

    for outcomes in _in_order(ask, list(by_premise.items()), at_once(model)):
        take(outcomes)


def _in_order(work: Callable[[T], R], items: Sequence[T], threads: int) -> Iterator[R]:
    """``work`` on each item, so many at once, the results in order; one after the other for 1."""
    if threads == 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(threads) as pool:
        under_way = [pool.submit(work, item) for item in items]
        try:
            for future in under_way:
                yield future.result()
        finally:
            # Whoever asks no further wants none of what has not begun.
            for future in under_way:
                future.cancel()


def _read_twice(
    pairs: Sequence[Pair],
    premise: Callable[[Pair], Premise],
    hypotheses: Mapping[str, str],
    model: CascadeRelationModel,
    take: Callable[[Mapping[Pair, Outcome]], None],
    before: int,
) -> int:
    """All pairs by the fast model, then the least sure of all of them by the slow one.

    A pair that the slow model fails on has failed: the fast one was not sure of it.

    Returns:
        How many the slow model has read, which has read ``before`` of this run before.
    """
    found: dict[Pair, Outcome] = {}
    _read(pairs, premise, hypotheses, model.fast, found.update)
    quick = {pair: r for pair, r in found.items() if isinstance(r, Relation)}
    chosen = [list(quick)[i] for i in model.plan(list(quick.values()), before)]
    left_open = set(chosen)
    take({pair: outcome for pair, outcome in found.items() if pair not in left_open})

    def pool(second: Mapping[Pair, Outcome]) -> None:
        take(
            {
                pair: slow if isinstance(slow, str) else model.pool(quick[pair], slow)
                for pair, slow in second.items()
            }
        )

    _read(chosen, premise, hypotheses, model.slow, pool)
    return len(chosen)
