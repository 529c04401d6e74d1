"""Thresholds for a card from a bench's lines: by hand, and what is wrong with a folder."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks import thresholds
from factcheck_local.core.types import Verdict
from factcheck_local.pipeline.relation.risk import thresholds_from


def atom(label: str, probability: float, certainty: float, verdict: str) -> dict[str, Any]:
    return {
        "id": "a",
        "label": label,
        "probability": probability,
        "certainty": certainty,
        "verdict": verdict,
    }


def line(item: str, *atoms: dict[str, Any], assessor: str = "fr2") -> dict[str, Any]:
    return {"key": item, "item": item, "assessor": assessor, "atoms": list(atoms)}


#: Of an item two true claims, and a conflict that is as probable but not as certain.
ITEM = (
    atom("supported", 0.9, 0.8, "supported"),
    atom("supported", 0.8, 0.7, "supported"),
    atom("conflicting", 0.9, 0.4, "supported"),
    atom("not_found", 0.5, 0.5, "not_found"),
)


def folder(path: Path, *lines: dict[str, Any], others: Sequence[dict[str, Any]] = ()) -> Path:
    """As a bench leaves it; ``others`` are lines of a later run that was ended early."""
    path.mkdir()
    text = "\n".join(json.dumps(row) for row in (*lines, *others))
    (path / "items.jsonl").write_text(text, encoding="utf-8")
    made = {
        "command": "factcheck bench sets",
        "version": "1",
        "data": "d" * 64,
        "settings": "factcheck-local:1|k:3",
        "models": {"llm": {"id": "small", "sha256": "a" * 64}},
        "seed": 0,
        "keys": [row["key"] for row in lines],
    }
    (path / "summary.json").write_text(json.dumps(made), encoding="utf-8")
    return path


def test_halves_tell_certainty_from_p() -> None:
    """By certainty the two of three that are right; by P the conflict is among the surest."""
    items = [[thresholds._claim(a) for a in ITEM] for _ in range(8)]
    sure = thresholds.halves(items, Verdict.SUPPORTED, 0.25, draws=20)
    assert (sure.none, sure.wrong) == (0.0, 0.0)
    assert sure.kept == pytest.approx(2 / 3)
    by_p = [[thresholds.by_probability(c) for c in item] for item in items]
    assert thresholds.halves(by_p, Verdict.SUPPORTED, 0.25, draws=20).none == 1.0
    assert thresholds.halves(items, Verdict.CONTRADICTED, 0.25, draws=20).none == 1.0


def test_a_draw_in_which_nothing_is_called_says_nothing_of_what_is_wrong() -> None:
    """Fitted on the surest item none of the others is called, on the next half of them wrongly."""
    items = [
        [thresholds._claim(atom(label, 0.95, sure, "supported"))] * 9
        for label, sure in (("supported", 0.9), ("supported", 0.8), ("contradicted", 0.8))
    ]
    found = thresholds.halves(items, Verdict.SUPPORTED, 0.25, draws=20)
    assert 0.0 < found.none < 1.0
    assert found.wrong == 0.5
    assert 0.0 < found.kept < 1.0


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = atom("contradicted", 0.99, 0.99, "supported")
    own = [line(f"s{n}", *ITEM) for n in range(5)]
    other = line("s1", wrong, assessor="fr1") | {"key": "s1 of fr1"}
    # With other settings, in the same folder, and ended before its summary.
    later = line("s0", wrong) | {"key": "s0 of another run"}
    sets = folder(tmp_path / "sets", other, *own, others=[later])
    tried = folder(tmp_path / "tried", line("h", *ITEM))
    thresholds.main([str(sets), "--alpha", "0.25", "--tried", str(tried), "--data", "by hand"])
    table, card, signed = capsys.readouterr().out.split("\n\n")
    rows = table.splitlines()
    assert rows[2].startswith("| supported | certainty | ")
    # all 15 that are called supported, and the three of the other folder
    assert rows[2].endswith("| 10 of 15, 0 | 2 of 3, 0 |")
    assert rows[3].endswith("| none |  |")
    found = thresholds_from(tomllib.loads(card))
    assert (found.supported, found.contradicted) == (0.7, 0.0)
    assert (found.claims, found.data, found.assessor) == (20, "by hand", "fr2")
    assert signed.splitlines()[0] == (
        "factcheck bench sets: version 1, data dddddddd, small aaaaaaaa, seed 0; "
        "factcheck-local:1|k:3"
    )
    assert len(signed.splitlines()) == 2


def test_figures_without_a_signature_are_refused(tmp_path: Path) -> None:
    sets = folder(tmp_path / "sets", *(line(f"s{n}", *ITEM) for n in range(5)))
    (sets / "summary.json").unlink()
    with pytest.raises(SystemExit, match=r"summary\.json: no summary of a bench: FileNotFound"):
        thresholds.main([str(sets), "--alpha", "0.25"])


def test_a_summary_that_does_not_name_its_lines_is_refused(tmp_path: Path) -> None:
    """Of an earlier version; or lines of it are gone."""
    sets = folder(tmp_path / "sets", *(line(f"s{n}", *ITEM) for n in range(5)))
    made = json.loads((sets / "summary.json").read_text(encoding="utf-8"))
    for keys in ([*made["keys"], "gone"], None):
        (sets / "summary.json").write_text(json.dumps({**made, "keys": keys}), encoding="utf-8")
        with pytest.raises(
            SystemExit, match=r"summary\.json: does not name .* run the bench again"
        ):
            thresholds.main([str(sets), "--alpha", "0.25"])


@pytest.mark.parametrize("key", ["certainty", "label"])
def test_lines_of_an_earlier_version_are_refused(tmp_path: Path, key: str) -> None:
    old = dict(ITEM[0])
    del old[key]
    sets = folder(tmp_path / "sets", line("s", old))
    with pytest.raises(SystemExit, match=r"items\.jsonl: no lines with certainties: KeyError"):
        thresholds.main([str(sets)])
    with pytest.raises(SystemExit, match="no labelled claims of fr1"):
        thresholds.main([str(folder(tmp_path / "b", line("s", *ITEM))), "--assessor", "fr1"])
