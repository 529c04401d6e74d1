"""Thresholds of verdicts, and where they come from: a model's card, or the user's own labels.

A promise holds for the certainty that it was fitted on. So an entry belongs to an assessor, and
to a relation model with its weights and its calibration: with any other, claims get their
verdicts as without thresholds. Those of a store stand in ``risk.json`` and win over the card's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from factcheck_local.core.errors import ModelError
from factcheck_local.core.types import Thresholds
from factcheck_local.indexer.parts import RISK
from factcheck_local.pipeline.relation.fitted_file import FittedFile

#: Whose certainty a card's thresholds are of, if it does not say.
ASSESSOR = "fr2"

#: How the id of two models, the fast one first, begins.
CASCADE = "cascade("

_FILE = FittedFile(
    RISK, "factcheck.risk/2", "thresholds", hint="factcheck calibrate LABELS.jsonl --risk 0.05"
)


@dataclass(frozen=True, slots=True)
class StoredRisk:
    """Thresholds fitted on a user's labels, and what they belong to.

    Attributes:
        relation: id of the relation model.
        sha256: hash of its weights, lower-case hex.
        made_with: its calibration, as ``load.describe`` gives it.
        thresholds: with the assessor.
        date: when they were fitted, as YYYY-MM-DD in UTC.
    """

    relation: str
    sha256: str
    made_with: Mapping[str, Any]
    thresholds: Thresholds
    date: str

    @property
    def key(self) -> tuple[str, str, str]:
        """Of two entries with the same the later one stands."""
        return self.relation, self.sha256, self.thresholds.assessor

    def is_of(self, scorer: str, sha256: str) -> bool:
        """Whether the relation model is this one, this scorer with what is around it, or a cascade.

        A cascade's hash is of both of its models, so there the name has to do.
        """
        if self.relation.startswith(CASCADE):
            inner = self.relation.removeprefix(CASCADE).removesuffix(")").split(",")
            return self.relation == scorer or any(_is_around(one, scorer) for one in inner)
        return _is_around(self.relation, scorer) and self.sha256 == sha256


def read_risks(store_dir: Path) -> tuple[StoredRisk, ...]:
    """All thresholds of a store; none where it has no file of them.

    Raises:
        StoreError: if the file is malformed, naming it.
    """
    return _FILE.read(store_dir, _entry)


def find_risk(
    store_dir: Path, relation: str, sha256: str, made_with: Mapping[str, Any], assessor: str
) -> Thresholds | None:
    """The thresholds for a relation model as it is calibrated, and an assessor.

    Raises:
        StoreError: if the file is malformed, naming it.
    """
    wanted = relation, sha256, assessor
    # As the file has it: a tuple is a list there.
    here = json.loads(json.dumps(made_with))
    found = (e for e in read_risks(store_dir) if e.key == wanted and e.made_with == here)
    return next((e.thresholds for e in found), None)


def store_risk(store_dir: Path, entry: StoredRisk) -> None:
    """Keep thresholds, in place of earlier ones of the same model, weights and assessor.

    Raises:
        StoreError: if the file is malformed, naming it.
    """
    others = [e for e in read_risks(store_dir) if e.key != entry.key]
    entries = sorted([*others, entry], key=lambda e: e.key)
    _FILE.write(store_dir, [asdict(e) for e in entries])


def remove_risks(store_dir: Path, scorer: str, sha256: str) -> bool:
    """Forget the thresholds of a relation model or of a scorer; returns whether there were any.

    Raises:
        StoreError: if the file is malformed, naming it.
    """
    entries = read_risks(store_dir)
    others = [e for e in entries if not e.is_of(scorer, sha256)]
    if len(others) < len(entries):
        _FILE.write(store_dir, [asdict(e) for e in others])
    return len(others) < len(entries)


def card_risk(risk: Mapping[str, Any], key: str) -> Thresholds | None:
    """The thresholds that a card holds under a key, if it does.

    Args:
        risk: the card's ``risk`` tables.
        key: that of its calibration; for a cascade the id of the slow model's scorer.

    Raises:
        ModelError: if they are malformed.
    """
    if key not in risk:
        return None
    try:
        return thresholds_from(risk[key])
    except ValueError as error:
        raise ModelError(f"risk of {key}: {error}") from error


def thresholds_from(values: object) -> Thresholds:
    """The thresholds of a table, as a card or a store holds it.

    Raises:
        ValueError: if it is malformed.
    """
    needed = {"supported", "contradicted", "alpha", "claims", "data"}
    if not isinstance(values, Mapping) or not needed <= set(values):
        raise ValueError(f"expected {', '.join(sorted(needed))}, got {values!r}")
    try:
        found = Thresholds(
            supported=float(values["supported"]),
            contradicted=float(values["contradicted"]),
            alpha=float(values["alpha"]),
            claims=int(values["claims"]),
            data=str(values["data"]),
            assessor=str(values.get("assessor", ASSESSOR)),
        )
    except (TypeError, OverflowError) as error:
        raise ValueError(f"expected numbers, got {values!r}") from error
    if not (0 <= found.contradicted <= 1 and 0 <= found.supported <= 1):
        raise ValueError(f"expected thresholds in [0, 1], got {values!r}")
    if found.alpha is None or not (0 < found.alpha < 1 and found.claims > 0):
        raise ValueError(f"expected an alpha in (0, 1) and a count of claims, got {values!r}")
    return found


def _is_around(relation: str, scorer: str) -> bool:
    """Whether a relation model's id is a scorer's, or that with the names of layers behind it."""
    return relation == scorer or relation.startswith(f"{scorer}+")


def _entry(row: Mapping[str, Any]) -> StoredRisk:
    return StoredRisk(
        relation=str(row["relation"]),
        sha256=str(row["sha256"]),
        made_with=dict(row["made_with"]),
        thresholds=thresholds_from(row["thresholds"]),
        date=str(row["date"]),
    )
