"""What changed between two runs: claims and passages are matched, causes are named."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck_local.report.diff import EvidenceChange, compare
from factcheck_local.report.diff_text import diff_to_markdown, diff_to_text

from .helpers import factcheck, refused
from .runs import claim, context, run

CLI = Path(__file__).resolve().parents[2] / "cli.py"

LEAVE = "Leave is 25 days."
POLICY = "Staff get 25 days of leave a year."


def leave(
    verdict: str, probability: float, *evidence: tuple[str, str, float, str], id_: str = "a1"
) -> dict[str, Any]:
    return claim(id_, LEAVE, verdict, probability, evidence)


SUPPORTED = run(
    [leave("supported", 0.9, ("c1", "entailment", 0.95, POLICY))],
    [context("c1", "leave.md", POLICY)],
)


def only_cause(old: dict[str, Any], new: dict[str, Any]) -> EvidenceChange:
    (change,) = compare(old, new).changed
    (cause,) = change.evidence
    return cause


def test_a_run_is_the_same_as_itself() -> None:
    found = compare(SUPPORTED, json.loads(json.dumps(SUPPORTED)))
    assert found.same
    assert (found.made_with, found.index) == ((), None)
    assert [c.evidence for c in found.claims] == [()]


def test_a_new_document_that_contradicts() -> None:
    text = "From 2026 leave is 30 days."
    new = run(
        [
            leave(
                "contradicted",
                0.3,
                ("c9", "contradiction", 0.8, text),
                ("c1", "entailment", 0.95, POLICY),
            )
        ],
        [context("c1", "leave.md", POLICY), context("c9", "new.md", text, 0.98)],
        index="d2",
    )
    cause = only_cause(SUPPORTED, new)
    assert (cause.source, cause.kinds, cause.old) == ("new.md", ("appeared",), None)
    assert cause.shift == pytest.approx(-0.8 * 0.98)
    text_form = diff_to_text(compare(SUPPORTED, new))
    assert text_form.splitlines() == [
        f"supported 90.0 % -> contradicted 30.0 %: {LEAVE}",
        f"  new.md:1: new passage: contradiction 80.0 %, source 0.98: “{text}”",
        "1 of 1 verdicts changed",
    ]
    back = only_cause(new, SUPPORTED)
    assert (back.kinds, back.new) == (("disappeared",), None)
    assert back.shift == pytest.approx(0.8 * 0.98)


def test_a_changed_text_is_the_same_passage() -> None:
    text = "Staff get 30 days of leave a year."
    new = run(
        [leave("contradicted", 0.1, ("x1", "contradiction", 0.9, text))],
        # An id stands for a text, so it is another one.
        [context("x1", "leave.md", text)],
    )
    cause = only_cause(SUPPORTED, new)
    assert cause.kinds == ("text", "relation")
    assert cause.old is not None
    assert cause.new is not None
    assert (cause.old.quote, cause.new.quote) == (POLICY, text)


def test_another_passage_of_the_same_document_is_not_its_new_text() -> None:
    text = "Pets may not come to the office on any weekday."
    new = run([leave("not_found", 0.5)], [context("x1", "leave.md", text)])
    assert only_cause(SUPPORTED, new).kinds == ("disappeared",)


def test_a_lower_prior_and_a_successor() -> None:
    new = run(
        [leave("not_found", 0.5, ("c1", "entailment", 0.95, POLICY))],
        [context("c1", "leave.md", POLICY, 0.3, superseded_by="leave-2.md")],
    )
    cause = only_cause(SUPPORTED, new)
    assert cause.kinds == ("prior", "superseded")
    assert cause.shift == pytest.approx(0.95 * (0.3 - 0.9))
    assert "source 0.9 -> 0.3, superseded by leave-2.md" in diff_to_text(compare(SUPPORTED, new))


def test_another_model_reads_the_same_passage_otherwise() -> None:
    new = run(
        [leave("not_found", 0.5)],
        [context("c1", "leave.md", POLICY)],
        neutral=(("c1", "a1", 0.7),),
        sha256="b" * 64,
        k=5,
    )
    found = compare(SUPPORTED, new)
    assert next((d.name, d.old) for d in found.made_with) == ("k", 3)
    assert [d.name for d in found.made_with] == ["k", "relation model"]
    cause = only_cause(SUPPORTED, new)
    assert cause.kinds == ("relation",)
    shown = diff_to_text(found).splitlines()
    assert shown[0].startswith("made with other settings or models")
    assert (
        shown[2] == "  relation model: tiny (sha256 aaaaaaaaaaaa…) -> tiny (sha256 bbbbbbbbbbbb…)"
    )
    assert "entailment 95.0 % -> neutral 70.0 %" in shown[4]


def test_a_passage_that_says_nothing_of_the_claim_is_no_cause() -> None:
    new = run(
        [leave("not_found", 0.5, ("c1", "entailment", 0.95, POLICY))],
        [context("c1", "leave.md", POLICY), context("c2", "pets.md", "Pets may come.")],
        neutral=(("c2", "a1", 0.99),),
    )
    (change,) = compare(SUPPORTED, new).changed
    assert change.evidence == ()
    assert "no passage that bears on it has changed" in diff_to_text(compare(SUPPORTED, new))


def test_a_summary_that_is_less_sure_is_a_cause() -> None:
    """A relation counts as much as its summary says something, as in the claim's evidence."""
    runs = [
        run(
            [leave(verdict, p, ("c1", "entailment", 0.95, POLICY))],
            [context("c1", "leave.md", POLICY)],
        )
        for verdict, p in (("supported", 0.9), ("undecided", 0.6))
    ]
    for one, sure in zip(runs, (1.0, 0.2), strict=True):
        one["relations"][0]["summary"] = {"text": "25 days.", "confidence": sure}
    assert only_cause(*runs).kinds == ("relation",)
    assert "entailment 95.0 % -> entailment 19.0 %" in diff_to_text(compare(*runs))


def test_another_threshold_is_not_laid_to_other_claims() -> None:
    new = run([leave("undecided", 0.9, ("c1", "entailment", 0.95, POLICY))], SUPPORTED["contexts"])
    new["run"]["risk"] = {"supported": 0.95}
    said = diff_to_text(compare(SUPPORTED, new))
    assert "has changed: other claims' have, or how it was judged" in said


def test_claims_are_matched_by_text_then_by_sentence() -> None:
    sentence = "Leave is 25 days and pay is monthly."
    old = run(
        [
            claim("a1", "Leave  is\n25 days.", "supported", 0.9, original=sentence),
            claim("a2", "Pay is monthly.", "not_found", 0.5, original=sentence),
            claim("a3", "Pets may come.", "supported", 0.9),
        ],
        [],
    )
    new = run(
        [
            claim("b1", "Pay is due monthly.", "supported", 0.8, original=sentence),
            claim("b2", LEAVE, "supported", 0.9, original=sentence),
            claim("b3", "Lunch is free.", "supported", 0.9),
        ],
        [],
    )
    found = compare(old, new)
    assert [(c.old.id, c.new.id) for c in found.claims] == [("a2", "b1"), ("a1", "b2")]
    assert [c.id for c in found.added] == ["b3"]
    assert [c.id for c in found.removed] == ["a3"]
    assert not found.same


def test_a_claim_that_stands_twice_is_matched_in_order() -> None:
    old = run([leave("supported", 0.9), leave("skipped", 0.9, id_="a2")], [])
    assert [(c.old.id, c.new.id) for c in compare(old, old).claims] == [("a1", "a1"), ("a2", "a2")]


_TEXTS = st.lists(st.sampled_from(["x y", "x z", "x  y", "p q r", "p q s", "t"]), max_size=5)


@given(_TEXTS, _TEXTS)
def test_every_claim_is_accounted_for_once(old: list[str], new: list[str]) -> None:
    def of(texts: list[str]) -> dict[str, Any]:
        return run(
            [claim(f"a{i}", t, "not_found", 0.5, original=t[0]) for i, t in enumerate(texts)], []
        )

    found = compare(of(old), of(new))
    ids = [c.old.id for c in found.claims] + [c.id for c in found.removed]
    assert sorted(ids) == sorted(f"a{i}" for i in range(len(old)))
    ids = [c.new.id for c in found.claims] + [c.id for c in found.added]
    assert sorted(ids) == sorted(f"a{i}" for i in range(len(new)))
    back = compare(of(new), of(old))
    assert (len(back.added), len(back.removed)) == (len(found.removed), len(found.added))


def test_markdown_holds_no_markup_of_the_texts() -> None:
    text = "**Leave** is <b>30</b> days of leave a year."
    new = run(
        [leave("contradicted", 0.1, ("x1", "contradiction", 0.9, text))],
        [context("x1", "leave.md", text)],
    )
    page = diff_to_markdown(compare(SUPPORTED, new))
    assert page.startswith("**1 of 1 verdicts changed**\n\n- supported 90.0 % ")
    assert r"\*\*Leave\*\* is \<b\>30" in page


# ------------------------------------------------------------------- command


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    new = run([leave("not_found", 0.5)], [])
    old = tmp_path / "old.json", tmp_path / "new.json"
    for path, value in zip(old, (SUPPORTED, new), strict=True):
        path.write_text(json.dumps(value))
    return old


def test_the_exit_code_tells_whether_a_verdict_differs(files: tuple[Path, Path]) -> None:
    old, new = files
    assert factcheck("diff", old, old) == (0, "1 verdicts are the same\n", "")
    done = factcheck("diff", old, new)
    assert (done.code, done.err) == (1, "")
    assert "leave.md:1: passage no longer found: entailment 95.0 %" in done.out
    assert factcheck("diff", "-", new, stdin=old.read_bytes()) == done
    found = json.loads(factcheck("diff", old, new, "--json").out)
    assert (found["schema"], found["same"]) == ("factcheck.diff/1", False)
    assert found["claims"][0]["evidence"][0]["kinds"] == ["disappeared"]
    assert factcheck("diff", old, new, "--markdown").out.startswith("**1 of 1 ")


def test_a_text_is_shown_as_far_as_a_terminal_can(tmp_path: Path) -> None:
    """And what programs read is UTF-8 on any."""
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    for path, verdict in ((old, "supported"), (new, "not_found")):
        path.write_text(json.dumps(run([claim("a1", "Leave → 日本", verdict, 0.9)], [])))
    for options, shown in (((), "Leave ? ??"), (("--json",), None), (("--markdown",), None)):
        done = subprocess.run(
            [sys.executable, str(CLI), "diff", str(old), str(new), *options],
            env=os.environ | {"PYTHONIOENCODING": "latin-1"},
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (1, b"")
        assert (shown or "Leave → 日本") in done.stdout.decode("latin-1" if shown else "utf-8")


def test_what_is_no_run_is_refused(files: tuple[Path, Path], tmp_path: Path) -> None:
    other = tmp_path / "x.json"
    other.write_text("{}")
    assert refused("diff", files[0], other) == (
        f"{other}: not an assessment of schema factcheck.assessment/1"
    )
    other.write_text('{"schema": "factcheck.assessment/1"}')
    line = refused("diff", files[0], other)
    assert line.startswith(f"{files[0]} or {other}: not a complete assessment: KeyError(")
    assert refused("diff", "-", "-").startswith("standard input: expected one of the two runs")
    assert "got both" in refused("diff", *files, "--json", "--markdown")
