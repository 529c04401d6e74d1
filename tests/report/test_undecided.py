"""A claim between two thresholds, and what they promise, in every report."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from factcheck_local.core.types import AtomAssessment, Evidence, Thresholds, Verdict
from factcheck_local.pipeline.run import Run, unlike
from factcheck_local.pipeline.settings import Settings
from factcheck_local.report import SCHEMA, to_dict, to_markdown, to_text
from factcheck_local.report.diff import compare
from factcheck_local.report.html import to_html, to_overview
from factcheck_local.report.html.claims import URGENCY
from factcheck_local.report.junit import FAILURES, to_junit
from factcheck_local.report.many_answers import AnswerEntry, to_summary
from factcheck_local.report.sarif import to_sarif
from factcheck_local.report.schema import ASSUMPTION
from factcheck_local.report.view import SIGNS, headline, promise

from .helpers import ALL, ENTAILMENT, assessment, atom, quote, run

RISK = Thresholds(0.93, 0.88, 0.05, 312, "dev sets", "fr2")
SAID = (
    "Promise: of the claims called supported (certainty ≥ 93.0 %) and contradicted (certainty ≥ "
    "88.0 %) at most 5 % each are not, on average, if claims, documents and settings are like "
    "those of the labelled claims that the thresholds are fitted on (312, dev sets)."
)

UNDECIDED = AtomAssessment(
    replace(atom(3), id="a9"),
    Verdict.UNDECIDED,
    0.62,
    0.57,
    evidence=(Evidence("c1", ENTAILMENT, 0.6, (quote("Leave is 25 days a year."),)),),
)


@pytest.fixture
def whole() -> dict[str, Any]:
    found = assessment(*(UNDECIDED if a.verdict is Verdict.NOT_FOUND else a for a in ALL))
    return to_dict(replace(run(found), risk=RISK))


def test_every_report_knows_every_verdict() -> None:
    assert set(SIGNS) == set(Verdict)
    assert set(URGENCY) == set(Verdict) - {"skipped"}
    assert {v for v in Verdict if not v.supports} - {"unscored", "skipped"} == set(FAILURES)


def test_the_json(whole: dict[str, Any]) -> None:
    assert whole["schema"] == SCHEMA
    assert whole["run"]["risk"] == {
        "supported": 0.93,
        "contradicted": 0.88,
        "alpha": 0.05,
        "claims": 312,
        "data": "dev sets",
        "assessor": "fr2",
        "assumption": ASSUMPTION,
    }
    summary = whole["summary"]
    assert (summary["counts"]["undecided"], summary["counts"]["not_found"]) == (1, 0)
    # Supported, conflicting, contradicted, undecided: one of four, two of four.
    assert (summary["precision"], summary["coverage"]) == (1 / 4, 2 / 4)
    assert json.loads(json.dumps(whole, allow_nan=False)) == whole
    assert headline(whole).startswith(
        "factual precision 0.25, coverage 0.50: 1 supported, 1 contradicted, 1 conflicting, "
        "1 undecided, "
    )


def test_text_and_markdown(whole: dict[str, Any]) -> None:
    shown = to_text(whole, width=200, colour=False)
    assert "~ undecided" in shown
    assert " ".join(shown.split()).count(SAID) == 1
    page = to_markdown(whole)
    assert "| ~ undecided | 62.0 % | Lunch is free. |" in page
    assert page.count("Promise: of the claims called supported") == 1
    for text in (shown, page):
        assert "Leave is 25 days a year." in text
        assert "certainty 57.0 %; to be called supported takes 93.0 %" in text
    assert "~ undecided" in to_text(whole, width=200, colour=False, only={"undecided"})


def test_a_certainty_that_lacks_a_hair_is_not_shown_as_enough(whole: dict[str, Any]) -> None:
    (hardly,) = (a for a in whole["atoms"] if a["verdict"] == "undecided")
    hardly["certainty"] = 0.92996
    said = "certainty 92.996 %; to be called supported takes 93 %"
    for shown in (to_text(whole, width=200, colour=False), to_markdown(whole), to_html(whole)):
        assert said in shown


def test_the_page(whole: dict[str, Any]) -> None:
    page = to_html(whole)
    assert page.count("at most 5 % each are not") == 1
    assert '<button type="button" aria-pressed="false" data-verdict="undecided"' in page
    assert '<details class="claim undecided"' in page
    assert 'data-json="/summary/coverage"' in page
    assert 'data-json="/run/risk/supported">93.0 %' in page
    assert "Undecided: certainty 57.0 %; to be called supported takes 93.0 %." in page
    assert ".undecided {" in page


def test_without_thresholds_nothing_is_promised() -> None:
    plain = to_dict(run(assessment(*ALL)))
    assert plain["run"]["risk"] is None
    assert promise(plain) == ""
    for text in (to_text(plain, width=200, colour=False), to_markdown(plain), to_html(plain)):
        assert "Promise:" not in text
    assert "a certainty of at least" not in to_html(plain)


def test_a_side_without_a_threshold_is_not_promised(whole: dict[str, Any]) -> None:
    whole["run"]["risk"]["contradicted"] = 0.0
    said = promise(whole)
    assert "contradicted" not in said
    assert "supported (certainty ≥ 93.0 %) at most 5 % are not" in said
    assert to_html(whole).count("a certainty of at least") == 1


def test_findings(whole: dict[str, Any]) -> None:
    results = to_sarif([whole])["runs"][0]["results"]
    (found,) = [r for r in results if r["ruleId"] == "undecided"]
    assert found["level"] == "note"
    assert "Leave is 25 days a year." in found["message"]["text"]
    failures = [f.get("type") for f in ET.fromstring(to_junit([whole])).iter("failure")]
    assert failures == ["conflicting", "contradicted", "undecided"]
    chosen = ET.fromstring(to_junit([whole], failing=("contradicted",)))
    assert [f.get("type") for f in chosen.iter("failure")] == ["contradicted"]


def test_many_answers_are_counted_as_each_is(whole: dict[str, Any]) -> None:
    """Supported by verdict, not by P: here and in the answer's own summary."""
    # P > ½ without being supported: a conflict, undecided, and not found by way of others.
    odd = tuple(
        AtomAssessment(replace(atom(0), id=f"b{i}"), verdict, 0.9)
        for i, verdict in enumerate(
            (Verdict.CONFLICTING, Verdict.UNDECIDED, Verdict.NOT_FOUND, Verdict.SUPPORTED)
        )
    )
    other = to_dict(run(assessment(*odd)))
    entries = [
        AnswerEntry.of(n, f"{n}.html", f"{n}.json", v) for n, v in (("a", whole), ("b", other))
    ]
    summary = to_summary(entries, [])
    rows = {row["path"]: row for row in summary["answers"]}
    assert (rows["a"]["precision"], rows["b"]["precision"]) == (1 / 4, 1 / 4)
    assert (rows["a"]["coverage"], rows["b"]["coverage"]) == (2 / 4, 1 / 4)
    assert (summary["precision"], summary["coverage"]) == (2 / 8, 3 / 8)
    assert summary["counts"]["undecided"] == 2
    page = to_overview(summary)
    assert 'data-json="/coverage">0.38' in page
    assert 'class="undecided" title="undecided"' in page


def test_a_comparison_names_the_verdict_and_the_thresholds(whole: dict[str, Any]) -> None:
    supported = replace(UNDECIDED, verdict=Verdict.SUPPORTED)
    before = to_dict(run(assessment(*(supported if a.atom.id == "a3" else a for a in ALL))))
    found = compare(before, whole)
    assert [(c.old.verdict, c.new.verdict) for c in found.changed] == [("supported", "undecided")]
    assert [d.name for d in found.made_with] == ["thresholds of verdicts"]


def test_a_comparison_tells_the_thresholds_from_the_setting(whole: dict[str, Any]) -> None:
    shipped = Settings.effective({"thresholds": "shipped"})
    before = to_dict(replace(run(assessment(*ALL)), settings=shipped, risk=RISK))
    (setting,) = compare(before, whole).made_with
    assert (setting.name, setting.old, setting.new) == ("thresholds", "shipped", "own")
    before["run"]["risk"] = None
    setting, fitted = compare(before, whole).made_with
    assert (setting.name, fitted.name) == ("thresholds", "thresholds of verdicts")
    assert (fitted.old, fitted.new) == (None, whole["run"]["risk"])


def test_a_run_with_other_thresholds_is_another_run(whole: dict[str, Any]) -> None:
    here = {"risk": {"supported": 0.93, "contradicted": 0.88, "claims": 312, "data": "dev sets"}}
    assert unlike(whole["run"], here) == []
    assert unlike(whole["run"], {"risk": None}) == [
        "thresholds of verdicts 0.93 and 0.88 (dev sets, 312), here none"
    ]
    # A run that was made before there were any has none.
    old = to_dict(Run(assessment(*ALL), Settings(), (), None, "", {}))["run"]
    del old["risk"]
    assert unlike(old, {"risk": None}) == []
