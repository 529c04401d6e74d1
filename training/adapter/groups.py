"""Labelled pairs as groups, a passage with all its claims, and what is held out of them.

Three kinds of files, all JSON lines: authored passages with their claims, sets of passages
with claims labelled against each (``training/data/README.md``), and plain pairs
``{"premise", "hypothesis", "label"}``. What is held out is decided by a hash of the passage
(of the set's name), so it stays the same whatever else is read.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from factcheck_local.evaluate import lines
from factcheck_local.evaluate.data import sets as sets_of_passages

LABELS = ("entailment", "contradiction", "neutral")

#: A label of two-way sets: anything but entailment.
NOT_ENTAILMENT = "not_entailment"

#: A label as a number, as ``losses.label_losses`` reads it.
NUMBERS = {label: number for number, label in enumerate((*LABELS, NOT_ENTAILMENT))}

#: One in so many is held out, by kind of source; ``evaluate.data.sets`` has the rule for sets.
HELD_OUT = {"authored": 12, "pairs": 12, "check-covid": 6, "scifact": 6}

#: Open claims of a set's passage that are drawn for each decided one; most pairs are open.
OPEN_PER_DECIDED = 1.3
LEAST_OPEN = 3
MOST_CLAIMS = 14

#: How many passages of a set are read side by side, and open claims for each decided one.
COUNTS = (2, 3, 3, 3, 3, 4, 5)
OPEN_SIDE_BY_SIDE = 0.6

#: Stands for the title of passages that are read side by side.
SEVERAL = "several"


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim with its label against the group's passage.

    Attributes:
        label: one of ``LABELS``, or ``NOT_ENTAILMENT``.
        p: what a teacher thinks of the ``LABELS``; None for a label that is certain.
    """

    text: str
    label: str
    p: tuple[float, float, float] | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """A passage and the claims that are read behind it.

    Attributes:
        source: name of the file that it is from.
        title: empty if the passage has none.
    """

    source: str
    title: str
    passage: str
    claims: tuple[Claim, ...]

    def drawn(self, rng: random.Random) -> Group:
        """The group as one step of training reads it: shuffled, open claims of sets sampled."""
        claims = list(self.claims)
        rng.shuffle(claims)
        if self.source.startswith("sets/"):
            decided = [c for c in claims if c.label != "neutral"]
            near = [c for c in claims if c.label == "neutral"]
            count = max(LEAST_OPEN, round(OPEN_PER_DECIDED * len(decided)))
            claims = decided + near[:count]
            rng.shuffle(claims)
        return replace(self, claims=tuple(claims[:MOST_CLAIMS]))


@dataclass(frozen=True, slots=True)
class SideBySide(Group):
    """All passages of a set as one text; as a step reads it, some of them.

    A claim's label is what the passages say together. One that some of them entail and others
    contradict is left out: a reader of one letter has none for it.

    Attributes:
        alone: the groups of its passages, each with all claims of the set in the same order.
    """

    alone: tuple[Group, ...]

    def drawn(self, rng: random.Random) -> Group:
        """Two to five of the passages in any order, most often three; open claims sampled."""
        some = list(self.alone)
        rng.shuffle(some)
        some = some[: rng.choice(COUNTS)]
        claims = list(_claims_together(some))
        rng.shuffle(claims)
        decided = [c for c in claims if c.label != "neutral"][: MOST_CLAIMS - LEAST_OPEN]
        count = max(LEAST_OPEN, round(OPEN_SIDE_BY_SIDE * len(decided)))
        claims = decided + [c for c in claims if c.label == "neutral"][:count]
        rng.shuffle(claims)
        return Group(self.source, SEVERAL, _text(some), tuple(claims[:MOST_CLAIMS]))


def is_held_out(kind: str, text: str) -> bool:
    """Whether a passage (of ``sets``: a set by its name) is kept from training."""
    if kind == "sets":
        return sets_of_passages.is_held_out(text)
    digest = hashlib.sha256(text.encode()).digest()
    return int.from_bytes(digest[:8], "big") % HELD_OUT.get(kind, HELD_OUT["pairs"]) == 0


def authored(path: Path, *, held_out: bool) -> list[Group]:
    """The passages of one authored file, those held out or the others."""
    return [
        Group(
            path.stem,
            row["title"],
            row["passage"],
            tuple(Claim(c["text"], c["label"]) for c in row["claims"]),
        )
        for row in _rows(path)
        if is_held_out("authored", row["passage"]) == held_out
    ]


def sets(path: Path, *, held_out: bool) -> list[Group]:
    """The passages of a file of sets, each with all claims of its set."""
    return [group for row in _sets(path, held_out) for group in row]


def sets_side_by_side(path: Path, *, held_out: bool) -> list[SideBySide]:
    """The sets of a file, each with all its passages as one text; see ``SideBySide``."""
    source = f"side-by-side/{path.stem}"
    return [
        SideBySide(source, SEVERAL, _text(row), _claims_together(row), row)
        for row in _sets(path, held_out)
    ]


def side_by_side(passages: Iterable[tuple[str, str]]) -> str:
    """Titles and texts of passages as one text, each with its number."""
    return "\n\n".join(f"[{n}] {title}\n{text}" for n, (title, text) in enumerate(passages, 1))


def pairs(path: Path, *, held_out: bool, least: int = 1) -> list[Group]:
    """Plain pairs, those of one premise together; premises with fewer than ``least`` left out."""
    by_premise: dict[str, list[Claim]] = {}
    for row in _rows(path):
        claim = Claim(row["hypothesis"].strip(), row["label"])
        by_premise.setdefault(row["premise"], []).append(claim)
    return [
        Group(path.stem, "", premise, tuple(claims))
        for premise, claims in by_premise.items()
        if is_held_out(path.stem, premise) == held_out and len(claims) >= least
    ]


def soft(path: Path) -> list[Group]:
    """Rows ``{"title", "premise", "hypothesis", "p"}``, those of one passage together.

    ``p`` holds the probabilities of ``LABELS``; the most probable is the claim's label. Of a pair
    that was labelled more than once, as by another teacher, the last row counts. A row that was
    torn when ``encoder.label`` was killed is passed over: there the pair was labelled anew.
    """
    by_passage: dict[tuple[str, str], dict[str, Claim]] = {}
    for line in path.read_text(encoding="utf-8").split("\n"):
        try:
            row = json.loads(line)
        except ValueError:
            continue
        p = row["p"]
        claim = Claim(row["hypothesis"], LABELS[p.index(max(p))], (p[0], p[1], p[2]))
        by_passage.setdefault((row["title"], row["premise"]), {})[claim.text] = claim
    return [
        Group(path.stem, title, passage, tuple(claims.values()))
        for (title, passage), claims in by_passage.items()
    ]


def wordings(folder: Path) -> dict[str, str]:
    """What ``claims.wordings`` wrote: claims, each with another wording that says the same."""
    return {
        claim: worded
        for _, line in lines.read(folder / lines.FILE)
        for claim, worded in zip(line["claims"], line["worded"], strict=True)
        if worded is not None
    }


def worded(groups: Iterable[Group], other: Mapping[str, str]) -> Iterator[Group]:
    """The groups with those claims alone that have another wording, in it; empty ones left out."""
    for group in groups:
        claims = tuple(replace(c, text=other[c.text]) for c in group.claims if c.text in other)
        if claims:
            yield replace(group, claims=claims)


def linked(read: Sequence[tuple[str, str]]) -> list[list[int]]:
    """Indices of pairs that share a premise or a claim, directly or in a chain.

    Pairs of one premise are not independent, nor are those of one claim: of a set, all.
    """
    parent: dict[str, str] = {}

    def root(text: str) -> str:
        while parent.setdefault(text, text) != text:
            text = parent[text]
        return text

    for premise, claim in read:
        parent[root(f"premise {premise}")] = root(f"claim {claim}")
    found: dict[str, list[int]] = {}
    for i, (premise, _) in enumerate(read):
        found.setdefault(root(f"premise {premise}"), []).append(i)
    return list(found.values())


def _sets(path: Path, held_out: bool) -> Iterator[tuple[Group, ...]]:
    """Of each set of a file the groups of its passages."""
    for row in _rows(path):
        if is_held_out("sets", row["set"]) == held_out:
            yield tuple(
                Group(
                    f"sets/{path.stem}",
                    passage["title"],
                    passage["text"],
                    tuple(Claim(c["text"], _label(c, passage["id"])) for c in row["claims"]),
                )
                for passage in row["passages"]
            )


def _text(passages: Iterable[Group]) -> str:
    return side_by_side((group.title, group.passage) for group in passages)


def _claims_together(passages: Sequence[Group]) -> tuple[Claim, ...]:
    """The claims of a set by what some of its passages say together, those in dispute left out."""
    found = []
    for of_each in zip(*(group.claims for group in passages), strict=True):
        said = {claim.label for claim in of_each} - {"neutral"}
        if len(said) <= 1:
            found.append(Claim(of_each[0].text, said.pop() if said else "neutral"))
    return tuple(found)


def _label(claim: dict[str, Any], passage: str) -> str:
    if passage in claim["entailed_by"]:
        return "entailment"
    return "contradiction" if passage in claim["contradicted_by"] else "neutral"


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)
