"""The dev sets as labelled pairs of premise and hypothesis.

``factcheckbench-dev`` and ``fever-symmetric-dev`` are JSON lines of
{"premise", "hypothesis", "label"} and are taken as they are: fever-symmetric keeps
the tokenisation of the Penn Treebank. ``wice-dev`` is made here from WiCE's
articles; see ``benchmarks.nli.wice``.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.nli.wice import read_claims
from factcheck_local.core.errors import InputError
from factcheck_local.models.cards import sha256_of
from training.adapter.groups import linked

#: The order of every array of scores.
LABELS = ("entailment", "contradiction", "neutral")

#: Where each set is below the folder of the data.
FILES = {
    "factcheckbench-dev": "nli/factcheckbench-dev.jsonl",
    "fever-symmetric-dev": "nli/fever-symmetric-dev.jsonl",
    "wice-dev": "wice/dev.jsonl",
}


@dataclass(frozen=True, slots=True)
class Pair:
    """A labelled pair; ``label`` is one of ``LABELS``."""

    premise: str
    hypothesis: str
    label: str

    @property
    def key(self) -> str:
        """Names the two texts, whatever the label."""
        return hashlib.sha256(f"{self.premise}\0{self.hypothesis}".encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class DevSet:
    """A set, or a sample of it.

    Attributes:
        name: key of ``FILES``.
        digest: sha256 of the set's file.
        labels: those of ``LABELS`` that the whole file has.
        pairs: the pairs, in the file's order.
    """

    name: str
    digest: str
    labels: tuple[str, ...]
    pairs: tuple[Pair, ...]

    def clusters(self) -> list[list[int]]:
        """Indices of pairs that are not independent, see ``training.adapter.groups.linked``."""
        return linked([(pair.premise, pair.hypothesis) for pair in self.pairs])

    def by_premise(self) -> dict[str, list[Pair]]:
        """The distinct pairs of each premise, so that it is read once, as in a run."""
        groups: dict[str, dict[str, Pair]] = {}
        for pair in self.pairs:
            groups.setdefault(pair.premise, {}).setdefault(pair.hypothesis, pair)
        return {premise: list(own.values()) for premise, own in groups.items()}

    def summary(self) -> dict[str, Any]:
        """What a result says of its data."""
        return {
            "sha256": self.digest,
            "pairs": len(self.pairs),
            "labels": {label: sum(p.label == label for p in self.pairs) for label in self.labels},
            "premises": len({p.premise for p in self.pairs}),
            "clusters": len(self.clusters()),
        }


def load_set(data: Path, name: str, *, limit: int | None = None, seed: int = 1) -> DevSet:
    """Read a set.

    Args:
        data: folder with the files of ``FILES``.
        name: key of ``FILES``.
        limit: pairs to sample of each label; None takes all. A larger limit
            takes the same pairs and more.
        seed: of the sample.

    Raises:
        InputError: if there is no such set or file, or a row is not a pair.
    """
    if name not in FILES:
        raise InputError(f"unknown set {name!r}: expected {', '.join(FILES)}")
    path = data / FILES[name]
    rows = read_rows(path)
    pairs = _wice_pairs(rows) if name == "wice-dev" else [_pair(path, row) for row in rows]
    labels = tuple(label for label in LABELS if any(p.label == label for p in pairs))
    chosen = pairs if limit is None else sample(pairs, limit, seed)
    return DevSet(name, sha256_of(path), labels, tuple(chosen))


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The objects of a file of JSON lines.

    Raises:
        InputError: if the file cannot be read.
    """
    try:
        # Not splitlines(): texts may hold other line separators than the newline.
        return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as JSON lines: {error}") from error


def sample(pairs: Sequence[Pair], limit: int, seed: int) -> list[Pair]:
    """Up to ``limit`` pairs of each label, in the order of ``pairs``."""
    chosen: list[int] = []
    for label in LABELS:
        own = [i for i, pair in enumerate(pairs) if pair.label == label]
        random.Random(seed).shuffle(own)
        chosen += own[:limit]
    return [pairs[i] for i in sorted(chosen)]


def _pair(path: Path, row: Mapping[str, Any]) -> Pair:
    if row.get("label") not in LABELS:
        raise InputError(f"{path}: expected a label of {', '.join(LABELS)}, got {row}")
    return Pair(row["premise"], row["hypothesis"], row["label"])


def _wice_pairs(rows: Sequence[Mapping[str, Any]]) -> list[Pair]:
    """WiCE has no contradictions; what is supported in part is not entailed."""
    return [
        Pair(
            claim.passage(" "),
            claim.text,
            "entailment" if claim.label == "supported" else "neutral",
        )
        for claim in read_claims(rows)
    ]
