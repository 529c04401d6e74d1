"""The calibrations that a store keeps: fitted on its user's own labels, one a scorer.

They stand in ``calibration.json`` in the store's folder and win over the card's. An
entry belongs to a scorer's id and the hash of its weights: another prompt or other
weights are not calibrated by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from factcheck_local.indexer.parts import CALIBRATION
from factcheck_local.pipeline.relation.calibration import Calibration
from factcheck_local.pipeline.relation.fitted_file import FittedFile

_FILE = FittedFile(
    CALIBRATION, "factcheck.calibration/1", "calibrations", hint="factcheck calibrate LABELS.jsonl"
)


@dataclass(frozen=True, slots=True)
class StoredCalibration:
    """A scorer's calibration, and what it rests on.

    Attributes:
        scorer: id of the scorer.
        sha256: hash of its weights, lower-case hex.
        calibration: slope and biases.
        n: labelled pairs it was fitted on.
        ece_before: expected calibration error without it, in [0, 1].
        ece_after: the same with it, cross-validated.
        date: when it was fitted, as YYYY-MM-DD in UTC.
    """

    scorer: str
    sha256: str
    calibration: Calibration
    n: int
    ece_before: float
    ece_after: float
    date: str


def read_calibrations(store_dir: Path) -> tuple[StoredCalibration, ...]:
    """All calibrations of a store, by scorer; none where it has no file of them.

    Raises:
        StoreError: if the file is malformed, naming it.
    """
    return _FILE.read(store_dir, _entry)


def find_calibration(store_dir: Path, scorer: str, sha256: str) -> StoredCalibration | None:
    """The calibration of a scorer with these weights, if the store has one.

    Raises:
        StoreError: if the file is malformed, naming it.
    """
    entries = read_calibrations(store_dir)
    return next((e for e in entries if (e.scorer, e.sha256) == (scorer, sha256)), None)


def store_calibration(store_dir: Path, entry: StoredCalibration) -> None:
    """Keep a calibration, in place of an earlier one of the same scorer and weights.

    Raises:
        StoreError: if the file is malformed, naming it.
    """
    _write(store_dir, [*_others(store_dir, entry.scorer, entry.sha256), entry])


def remove_calibration(store_dir: Path, scorer: str, sha256: str) -> bool:
    """Forget a scorer's calibration; returns whether there was one.

    Raises:
        StoreError: if the file is malformed, naming it.
    """
    there = find_calibration(store_dir, scorer, sha256) is not None
    if there:
        _write(store_dir, _others(store_dir, scorer, sha256))
    return there


def _others(store_dir: Path, scorer: str, sha256: str) -> list[StoredCalibration]:
    entries = read_calibrations(store_dir)
    return [e for e in entries if (e.scorer, e.sha256) != (scorer, sha256)]


def _write(store_dir: Path, entries: Sequence[StoredCalibration]) -> None:
    _FILE.write(store_dir, [asdict(e) for e in sorted(entries, key=lambda e: (e.scorer, e.sha256))])


def _entry(row: Mapping[str, Any]) -> StoredCalibration:
    return StoredCalibration(
        scorer=str(row["scorer"]),
        sha256=str(row["sha256"]),
        calibration=Calibration.from_values(row["calibration"]),
        n=int(row["n"]),
        ece_before=float(row["ece_before"]),
        ece_after=float(row["ece_after"]),
        date=str(row["date"]),
    )
