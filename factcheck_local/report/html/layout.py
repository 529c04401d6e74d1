"""The fact graph as a drawing: claims on the left, passages by source on the right."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from factcheck_local.core.types import EvidenceLink
from factcheck_local.report.html.claims import Claim
from factcheck_local.report.network import links_of
from factcheck_local.report.view import place

#: Claims and passages drawn at most: more can neither be read nor scrolled.
MAX_NODES = 150

CLAIM_RIGHT, PASSAGE_LEFT, PASSAGE_RIGHT = 440, 690, 1096
#: Without and with room for arcs between passages.
WIDTH, WIDE = 1100, 1170
#: Heights of a node with its gap, and of a source's name.
ROW, HEAD = 36, 30
#: What fits into a node, in columns of its font.
CLAIM_COLUMNS, PASSAGE_COLUMNS = 48, 46


@dataclass(frozen=True, slots=True)
class Node:
    """A claim or a passage.

    Attributes:
        key: names it within the drawing.
        y: its middle.
        label: what fits.
        claim: of a claim.
        context: position of a passage in the assessment.
        target: fragment of the page that it leads to, or empty.
    """

    key: str
    y: float
    label: str
    claim: Claim | None = None
    context: int | None = None
    target: str = ""


@dataclass(frozen=True, slots=True)
class Edge:
    """A relation: from node ``start`` to node ``end``, along ``path``."""

    start: str
    end: str
    relation: str
    thick: float
    path: str
    title: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """What is drawn, in pixels; ``sources`` are names with where they stand.

    ``left_out`` counts claims with evidence that are not drawn.
    """

    width: float
    height: float
    claims: tuple[Node, ...]
    passages: tuple[Node, ...]
    sources: tuple[tuple[str, float], ...]
    edges: tuple[Edge, ...]
    left_out: int


def lay_out(assessment: Mapping[str, Any], claims: Sequence[Claim]) -> Drawing:
    """The claims that something bears on, with all that does.

    If that is too much, the claims that are plainly supported go first, then the last.
    """
    by_id = {c.atom["id"]: c for c in claims}
    contexts = {c["id"]: i for i, c in enumerate(assessment["contexts"])}
    links = [x for x in links_of(assessment) if x.hypothesis in by_id or x.hypothesis in contexts]
    borne_on = {x.hypothesis for x in links}
    related = [c for c in claims if c.atom["id"] in borne_on]
    drawn = _chosen(related, links)
    ids = {c.atom["id"] for c in drawn}
    shown = {x.premise for x in links if x.hypothesis in ids}
    links = [x for x in links if x.premise in shown and x.hypothesis in ids | shown]

    columns = _by_source(assessment, contexts, shown, links, drawn)
    right = sum(HEAD + ROW * len(own) for own in columns.values())
    height = max(ROW * len(drawn), right) + ROW
    nodes = _claim_nodes(drawn, height)
    sources, passages = _passage_nodes(assessment, contexts, columns, drawn, (height - right) / 2)
    nodes |= passages
    between = any(x.hypothesis in contexts for x in links)
    return Drawing(
        WIDE if between else WIDTH,
        height,
        tuple(n for n in nodes.values() if n.claim is not None),
        tuple(n for n in nodes.values() if n.claim is None),
        sources,
        tuple(_edge(x, nodes[x.premise], nodes[x.hypothesis]) for x in links),
        len(related) - len(drawn),
    )


def _claim_nodes(claims: Sequence[Claim], height: float) -> dict[str, Node]:
    """By atom id, in the order of the answer and spread evenly."""
    step = (height - ROW) / max(len(claims), 1)
    return {
        c.atom["id"]: Node(
            f"c{c.number}",
            ROW / 2 + step * (i + 0.5),
            fit(f"{c.number} {c.atom['text']}", CLAIM_COLUMNS),
            claim=c,
            target=f"claim-{c.number}",
        )
        for i, c in enumerate(claims)
    }


def _passage_nodes(
    assessment: Mapping[str, Any],
    contexts: Mapping[str, int],
    columns: Mapping[str, Sequence[str]],
    claims: Sequence[Claim],
    y: float,
) -> tuple[tuple[tuple[str, float], ...], dict[str, Node]]:
    """Where the sources' names stand from ``y`` on, and below each its passages, by id."""
    targets = _targets(claims)
    sources: list[tuple[str, float]] = []
    nodes: dict[str, Node] = {}
    for source, own in columns.items():
        sources.append((source, y + HEAD * 0.7))
        y += HEAD
        for name in own:
            label = fit(_label(assessment["contexts"][contexts[name]]), PASSAGE_COLUMNS)
            nodes[name] = Node(
                f"p{contexts[name]}",
                y + ROW / 2 - 3,
                label,
                context=contexts[name],
                target=targets.get(name, ""),
            )
            y += ROW
    return tuple(sources), nodes


def _chosen(claims: Sequence[Claim], links: Sequence[EvidenceLink]) -> list[Claim]:
    """As many claims as there is room for with their passages, in the order of the answer."""
    near: dict[str, set[str]] = {}
    for x in links:
        near.setdefault(x.hypothesis, set()).add(x.premise)
    nodes: set[str] = set()
    chosen = []
    for claim in sorted(claims, key=lambda c: c.verdict == "supported" and not c.disputed):
        more = nodes | near[claim.atom["id"]] | {claim.atom["id"]}
        if len(more) <= MAX_NODES:
            nodes = more
            chosen.append(claim)
    return sorted(chosen, key=lambda c: c.number)


def _by_source(
    assessment: Mapping[str, Any],
    contexts: Mapping[str, int],
    shown: set[str],
    links: Sequence[EvidenceLink],
    claims: Sequence[Claim],
) -> dict[str, list[str]]:
    """Passages of each source, sources and passages near the claims that they bear on."""
    order = {c.atom["id"]: i for i, c in enumerate(claims)}
    level = {
        name: fmean(
            [order[x.hypothesis] for x in links if x.premise == name and x.hypothesis in order]
        )
        for name in shown
    }
    found: dict[str, list[str]] = {}
    for name in sorted(shown, key=lambda n: (level[n], contexts[n])):
        found.setdefault(assessment["contexts"][contexts[name]]["source"], []).append(name)
    middle = {source: fmean(level[n] for n in own) for source, own in found.items()}
    return {source: found[source] for source in sorted(found, key=lambda s: middle[s])}


def _targets(claims: Sequence[Claim]) -> dict[str, str]:
    """Context id -> fragment of where it is first shown as evidence."""
    found: dict[str, str] = {}
    for claim in claims:
        for e in claim.evidence:
            found.setdefault(e.passage["id"], f"evidence-{claim.number}-{e.position}")
    return found


def _label(context: Mapping[str, Any]) -> str:
    where = place(dict(context), None).removeprefix(context["source"]).lstrip(":, ")
    where = f"line {where}" if where.isdecimal() else where
    title = context["title"].rsplit(" > ", 1)[-1]
    return " ".join(part for part in (where, title) if part)


def _edge(link: EvidenceLink, passage: Node, other: Node) -> Edge:
    if other.claim is not None:
        middle = (CLAIM_RIGHT + PASSAGE_LEFT) / 2
        path = (
            f"M{PASSAGE_LEFT} {passage.y:.1f}C{middle} {passage.y:.1f} {middle} {other.y:.1f} "
            f"{CLAIM_RIGHT} {other.y:.1f}"
        )
    else:
        bulge = min(WIDE, PASSAGE_RIGHT + 20 + abs(passage.y - other.y) / 4)
        path = (
            f"M{PASSAGE_RIGHT} {passage.y:.1f}C{bulge:.1f} {passage.y:.1f} {bulge:.1f} "
            f"{other.y:.1f} {PASSAGE_RIGHT} {other.y:.1f}"
        )
    return Edge(
        passage.key,
        other.key,
        link.label.value,
        1 + 3 * link.probability**2,
        path,
        f"{link.label.value}: {passage.label} – {other.label}",
    )


def fit(text: str, columns: int) -> str:
    """A text on one line, cut to what fits; wide characters take two columns."""
    line = " ".join(text.split())
    room = columns
    for i, character in enumerate(line):
        room -= 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if room < 0:
            return line[: max(i - 1, 0)] + "…"
    return line
