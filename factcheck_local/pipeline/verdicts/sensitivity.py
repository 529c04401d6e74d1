"""What a posterior rests on: the source, the prior or the relation that it turns on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate

import numpy as np

from factcheck_local.core.progress import Progress, silent
from factcheck_local.core.types import Atom, Context, EvidenceLink, RelationLabel, Sensitivity
from factcheck_local.markov.arrays import part_of
from factcheck_local.pipeline.verdicts.decide import side_of_half
from factcheck_local.pipeline.verdicts.documents import said_once

#: P(true) of every variable, given contexts and links.
Solve = Callable[[Sequence[Atom], Sequence[Context], Sequence[EvidenceLink]], Mapping[str, float]]

#: Atoms, contexts and links that are joined in the network.
Part = tuple[list[Atom], list[Context], list[EvidenceLink]]

#: Priors that each source is given in turn.
PRIOR_RANGE = (0.5, 0.99)

#: How often the network of an answer is solved at most. One of a part of its links counts by
#: their share.
MAX_RUNS = 400


def sensitivity(
    atoms: Sequence[Atom],
    contexts: Sequence[Context],
    links: Sequence[EvidenceLink],
    same: Mapping[str, str],
    p_true: Mapping[str, float],
    solve: Solve,
    progress: Progress = silent,
) -> tuple[dict[str, Sensitivity], int, int]:
    """Solve the network again with one thing changed at a time: each source, then each relation.

    Copies of a text are sources of their own, as what one of them says stays said without it. A
    relation that was read of a text is one, however many passages have that text.

    Args:
        atoms: those with a posterior.
        contexts: their contexts, copies among them.
        links: the edges between them.
        same: id of a passage -> id of the one that ``solve`` takes it for, if it is a copy.
        p_true: the posteriors as they are.
        solve: builds and solves a network; it has no more zeros than the whole one.
        progress: called after each source and each relation that is tried.

    Returns:
        By atom id, and how many sources and how many relations were left untried for want of
        runs. An atom has no entry if nothing relates to it, or none of its sources was tried.
    """
    parts = _parts(atoms, contexts, links, same)
    sources = {c.id: c.source for c in contexts}
    said = {id(x): said_once(x, same) for x in links}
    without: dict[str, dict[str, float]] = {a.id: {} for part in parts for a in part[0]}
    alone: dict[str, dict[str, float]] = {id_: {} for id_ in without}
    low = {id_: p_true[id_] for id_ in without}
    high = dict(low)
    turning: dict[str, tuple[float, EvidenceLink]] = {}

    def try_source(part: Part, source: str) -> None:
        claims, given, between = part
        rest = [
            x for x in between if source not in (sources.get(x.premise), sources.get(x.hypothesis))
        ]
        solved = solve(claims, [c for c in given if c.source != source], rest)
        for atom in claims:
            without[atom.id][source] = solved[atom.id]
        inside = [
            x for x in between if sources[x.premise] == source == sources.get(x.hypothesis, source)
        ]
        solved = solve(claims, [c for c in given if c.source == source], inside)
        for id_ in without.keys() & {x.hypothesis for x in inside}:
            alone[id_][source] = solved[id_]
        for prior in PRIOR_RANGE:
            changed = [replace(c, prior=prior) if c.source == source else c for c in given]
            solved = solve(claims, changed, between)
            for atom in claims:
                low[atom.id] = min(low[atom.id], solved[atom.id])
                high[atom.id] = max(high[atom.id], solved[atom.id])

    def try_relation(part: Part, link: EvidenceLink) -> None:
        claims, given, between = part
        solved = solve(claims, given, [x for x in between if said[id(x)] != said[id(link)]])
        for atom in claims:
            p, now = p_true[atom.id], solved[atom.id]
            flips = side_of_half(now) != side_of_half(p)
            if flips and abs(now - p) > turning.get(atom.id, (0.0,))[0]:
                turning[atom.id] = abs(now - p), link

    steps: list[tuple[int, Callable[[], None]]] = [
        (len(part[2]) * (2 + len(PRIOR_RANGE)), partial(try_source, part, source))
        for part in parts
        for source in dict.fromkeys(c.source for c in part[1])
    ]
    of_sources = len(steps)
    steps += [
        (len(part[2]), partial(try_relation, part, link))
        for part in parts
        for link in _once(part[2], said, same)
    ]
    spent = accumulate(cost for cost, _ in steps)
    tried = sum(cost <= MAX_RUNS * len(links) for cost in spent)
    for done, (_, step) in enumerate(steps[:tried], start=1):
        step()
        progress(done, tried)
    found = {
        id_: Sensitivity(own, low[id_], high[id_], turning.get(id_, (0, None))[1], alone[id_])
        for id_, own in without.items()
        if own
    }
    return found, max(0, of_sources - tried), len(steps) - max(of_sources, tried)


def _once(
    links: Sequence[EvidenceLink],
    said: Mapping[int, tuple[str, str, RelationLabel]],
    same: Mapping[str, str],
) -> list[EvidenceLink]:
    """A link for each relation, the strongest first, and of copies the one that stands for them."""
    found: dict[tuple[str, str, RelationLabel], EvidenceLink] = {}
    for link in sorted(links, key=lambda x: (-x.strength, same.get(x.premise) != x.premise)):
        premise, hypothesis, _ = key = said[id(link)]
        # What copies say of each other is in no network.
        if premise != hypothesis:
            found.setdefault(key, link)
    return list(found.values())


def _parts(
    atoms: Sequence[Atom],
    contexts: Sequence[Context],
    links: Sequence[EvidenceLink],
    same: Mapping[str, str],
) -> list[Part]:
    """What is joined by links, by a common source or by a copy, without unrelated atoms."""
    if not links:
        return []
    ends = [name for x in links for name in (x.premise, x.hypothesis)]
    place = {name: i for i, name in enumerate(dict.fromkeys((*ends, *(c.id for c in contexts))))}
    joined = [(place[x.premise], place[x.hypothesis]) for x in links]
    first: dict[str, int] = {}
    # Those that nothing relates to as well: a document's prior is that of all its passages, and
    # a copy lends its own to the text.
    for c in contexts:
        joined.append((place[c.id], first.setdefault(c.source, place[c.id])))
        joined.append((place[c.id], place[same.get(c.id, c.id)]))
    labels = part_of(np.array(joined), len(place)).tolist()
    label = dict(zip(place, labels, strict=True))
    parts = [
        (
            [a for a in atoms if label.get(a.id) == part],
            [c for c in contexts if label[c.id] == part],
            [x for x in links if label[x.premise] == part],
        )
        for part in range(max(labels) + 1)
    ]
    # Passages may be related with each other and with no atom.
    return [part for part in parts if part[0]]
