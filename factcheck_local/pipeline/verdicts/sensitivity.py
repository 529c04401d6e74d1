"""What a posterior rests on: the source, the prior or the relation that it turns on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from factcheck_local.core.types import Atom, Context, EvidenceLink, RelationLabel, Sensitivity
from factcheck_local.markov.arrays import part_of
from factcheck_local.pipeline.verdicts.decide import side_of_half
from factcheck_local.pipeline.verdicts.documents import said_once

#: P(true) of every variable, given contexts and links.
Solve = Callable[[Sequence[Atom], Sequence[Context], Sequence[EvidenceLink]], Mapping[str, float]]

#: Priors that each source is given in turn.
PRIOR_RANGE = (0.5, 0.99)

#: Once so many networks have been solved for an answer, no more relations are tried.
MAX_RUNS = 400


def sensitivity(
    atoms: Sequence[Atom],
    contexts: Sequence[Context],
    links: Sequence[EvidenceLink],
    same: Mapping[str, str],
    p_true: Mapping[str, float],
    solve: Solve,
) -> tuple[dict[str, Sensitivity], int]:
    """Solve the network again with one thing changed at a time.

    Copies of a text are sources of their own, as what one of them says stays said without it. A
    relation that was read of a text is one, however many passages have that text.

    Args:
        atoms: those with a posterior.
        contexts: their contexts, copies among them.
        links: the edges between them.
        same: id of a passage -> id of the one that ``solve`` takes it for, if it is a copy.
        p_true: the posteriors as they are.
        solve: builds and solves a network; it has no more zeros than the whole one.

    Returns:
        By atom id, and how many relations were left untried for want of runs. An atom
        that nothing relates to has no entry.
    """
    runs = MAX_RUNS
    found: dict[str, Sensitivity] = {}
    untried = 0
    for part_atoms, part_contexts, part_links in _parts(atoms, contexts, links, same):
        without: dict[str, dict[str, float]] = {a.id: {} for a in part_atoms}
        alone: dict[str, dict[str, float]] = {a.id: {} for a in part_atoms}
        low = {a.id: p_true[a.id] for a in part_atoms}
        high = dict(low)
        sources = {c.id: c.source for c in part_contexts}
        for source in dict.fromkeys(sources.values()):
            rest = [
                x
                for x in part_links
                if source not in (sources.get(x.premise), sources.get(x.hypothesis))
            ]
            others = [c for c in part_contexts if c.source != source]
            solved = solve(part_atoms, others, rest)
            for atom in without:
                without[atom][source] = solved[atom]
            inside = [
                x
                for x in part_links
                if sources[x.premise] == source == sources.get(x.hypothesis, source)
            ]
            own = [c for c in part_contexts if c.source == source]
            solved = solve(part_atoms, own, inside)
            for atom in without.keys() & {x.hypothesis for x in inside}:
                alone[atom][source] = solved[atom]
            for prior in PRIOR_RANGE:
                changed = [
                    replace(c, prior=prior) if c.source == source else c for c in part_contexts
                ]
                solved = solve(part_atoms, changed, part_links)
                for atom in without:
                    low[atom] = min(low[atom], solved[atom])
                    high[atom] = max(high[atom], solved[atom])
            runs -= 2 + len(PRIOR_RANGE)
        turning: dict[str, tuple[float, EvidenceLink]] = {}
        said = {id(x): said_once(x, same) for x in part_links}
        tried: dict[tuple[str, str, RelationLabel], EvidenceLink] = {}
        # The strongest first, and of copies the passage that stands for them.
        for link in sorted(
            part_links, key=lambda x: (-x.strength, same.get(x.premise) != x.premise)
        ):
            premise, hypothesis, _ = key = said[id(link)]
            # What copies say of each other is in no network.
            if premise != hypothesis:
                tried.setdefault(key, link)
        for key, link in tried.items():
            if runs <= 0:
                untried += 1
                continue
            runs -= 1
            rest = [x for x in part_links if said[id(x)] != key]
            solved = solve(part_atoms, part_contexts, rest)
            for atom in without:
                change = abs(solved[atom] - p_true[atom])
                flips = side_of_half(solved[atom]) != side_of_half(p_true[atom])
                if flips and change > turning.get(atom, (0.0,))[0]:
                    turning[atom] = change, link
        for a in part_atoms:
            pivotal = turning[a.id][1] if a.id in turning else None
            found[a.id] = Sensitivity(without[a.id], low[a.id], high[a.id], pivotal, alone[a.id])
    return found, untried


def _parts(
    atoms: Sequence[Atom],
    contexts: Sequence[Context],
    links: Sequence[EvidenceLink],
    same: Mapping[str, str],
) -> list[tuple[list[Atom], list[Context], list[EvidenceLink]]]:
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
