"""The report of all measurements: every table with its command and signature."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks import report
from factcheck_local.evaluate.summary import signature


def test_it_is_fresh() -> None:
    """What is in the repository is what the command makes of the results."""
    assert report.REPORT.read_text(encoding="utf-8") == report.report()


def test_every_figure_has_its_command_and_signature() -> None:
    text = report.report()
    for file in sorted(report.RESULTS.glob("bench/*/summary.json")):
        result = json.loads(file.read_text(encoding="utf-8"))
        assert f"    {result['command']}\n" in text
        assert f"signature: `{signature(result)}`" in text
    for measured in report.MEASURED:
        if (report.RESULTS / measured.file).is_file():
            assert f"    {measured.command}\n" in text


def test_pictures_are_found_from_the_report(tmp_path: Path) -> None:
    results = tmp_path / "results"
    results.mkdir()
    (results / "inference.md").write_text("# A\n\n![x](a.png)\n\n## B\n")
    text = report.report(results, tmp_path / "none")
    assert "## A\n\n    python -m benchmarks.inference\n" in text
    assert "![x](results/a.png)" in text
    assert "### B" in text
