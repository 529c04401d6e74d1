"""A past run once more: the same, another, or not to be repeated; a real store, scripted models."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from factcheck_local.cli import recheck as recheck_module
from factcheck_local.cli import replay as replay_module
from factcheck_local.cli import verify as verify_module
from factcheck_local.models.fake import FakePairClassifier
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.report.html.whatif import page_model
from factcheck_local.report.replay import changes

from .helpers import factcheck, refused
from .worlds import fake, index, write

ANSWER = "Annual leave is 25 days. At most 2 animals may come to the office.\n"


@pytest.fixture(autouse=True)
def made(monkeypatch: pytest.MonkeyPatch) -> list[FactChecker]:
    return fake(monkeypatch, verify_module, recheck_module, replay_module)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    write(tmp_path / "docs", leave="Annual leave is 25 days.", pets="At most 2 animals may come.")
    index(tmp_path / "docs", tmp_path / "store")
    return tmp_path / "store"


@pytest.fixture
def past(tmp_path: Path, store: Path) -> Path:
    (tmp_path / "answer.md").write_text(ANSWER)
    path = tmp_path / "run.json"
    options = ("--store", store, "--where", "source=**", "--format", "json", "--output", path)
    assert factcheck("verify", tmp_path / "answer.md", *options).code == 0
    return path


@pytest.fixture
def edited(past: Path) -> Callable[..., Path]:
    """The run with some values put in their place, given as path and value."""

    def edit(*places: tuple[str, Any]) -> Path:
        value = json.loads(past.read_text())
        for place, new in places:
            *path, last = place.split(".")
            at = value
            for key in path:
                at = at[int(key)] if isinstance(at, list) else at[key]
            at[int(last) if isinstance(at, list) else last] = new
        past.write_text(json.dumps(value))
        return past

    return edit


def test_a_repetition_differs_in_nothing(past: Path, store: Path) -> None:
    done = factcheck("replay", past, "--store", store)
    value = json.loads(past.read_text())
    counts = f"2 atoms, 2 contexts, {len(value['relations'])} relations"
    assert done == (0, f"{past}: repeated, nothing differs ({counts})\n", "")
    found = json.loads(factcheck("replay", past, "--store", store, "--json").out)
    assert found == {"schema": "factcheck.replay/1", "same": True, "changes": [], "environment": []}


def test_every_pair_is_read_again(past: Path, store: Path, made: list[FactChecker]) -> None:
    made.clear()
    assert factcheck("replay", past, "--store", store).code == 0
    assert made[0]._cache is False


def test_what_differs_is_named_verdicts_first(past: Path, store: Path, edited: Any) -> None:  # noqa: ANN401
    value = json.loads(past.read_text())
    name, p = value["atoms"][1]["id"], value["atoms"][1]["probability"]
    edited(
        ("atoms.1.verdict", "contradicted"),
        ("atoms.1.probability", 0.25),
        ("run.environment.numpy", "0.1"),
    )
    done = factcheck("replay", past, "--store", store)
    assert done.code == 1
    head, verdict, probability, library = done.out.splitlines()
    assert head == f"{past}: repeated, and 1 verdicts, 1 probabilities and 0 other fields differ"
    assert verdict == f"  atoms[{name}].verdict: contradicted -> supported"
    assert probability == f"  atoms[{name}].probability: 0.25 -> {p}"
    assert library.startswith("  made with another numpy: 0.1 -> ")


def test_a_tolerance_is_for_numbers(past: Path, store: Path, edited: Any) -> None:  # noqa: ANN401
    p = json.loads(past.read_text())["atoms"][0]["probability"]
    edited(("atoms.0.probability", p - 1e-5))
    assert factcheck("replay", past, "--store", store).code == 1
    assert factcheck("replay", past, "--store", store, "--tolerance", "1e-4").code == 0
    edited(("atoms.0.verdict", "not_found"))
    assert factcheck("replay", past, "--store", store, "--tolerance", "1").code == 1


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        ("run.version", "0.0.1", "version 0.0.1, here "),
        ("run.models.1.sha256", "f" * 64, f"relation model's sha256 {'f' * 64}, here {'0' * 64}"),
        ("run.models.2.id", "other", "embedder model's id other, here fake-embedder"),
        ("run.prompts.0.sha256", "f" * 64, f"prompt atomize-v1 {'f' * 64}, here "),
        ("run.index.digest", "f" * 64, f"index digest {'f' * 64}, here "),
    ],
)
def test_what_is_not_the_same_is_named(
    past: Path,
    store: Path,
    edited: Any,  # noqa: ANN401
    place: str,
    value: str,
    said: str,
) -> None:
    if place == "run.prompts.0.sha256":
        said = said.replace("atomize-v1", json.loads(past.read_text())["run"]["prompts"][0]["id"])
    edited((place, value))
    line = refused("replay", past, "--store", store)
    assert line.startswith(f"{past}: cannot be repeated: ")
    assert said in line
    assert line.count(", here ") == 1, "nothing else is"


def test_a_method_that_is_none_any_more(past: Path, store: Path, edited: Any) -> None:  # noqa: ANN401
    """Reports and comparisons read the run; what would have to infer again says why it cannot."""
    as_it_was = past.read_text()
    same = past.with_name("same.json")
    same.write_text(as_it_was)
    said = refused("replay", edited(("run.settings.method", "wmb")), "--store", store)
    assert said.startswith(f"{past}: made with method=wmb, weighted mini-buckets")
    for command in ("recheck", "correct"):
        assert refused(command, past, "--store", store) == said
    for form in ("text", "markdown", "html", "sarif"):
        options = ("--format", form)
        found = [factcheck("report", path, *options) for path in (past, same)]
        assert [(done.code, done.err) for done in found] == [(0, ""), (0, "")]
    models = [page_model(json.loads(path.read_text())) for path in (past, same)]
    assert models[0] == models[1]
    assert models[0][0] is not None, "its sliders compute"
    assert factcheck("diff", past, same).code == 0
    numbers = [json.loads(factcheck("infer", path).out)["marginals"] for path in (past, same)]
    assert numbers[0] == numbers[1]


def test_a_calibration_that_is_not_the_same(past: Path, store: Path, edited: Any) -> None:  # noqa: ANN401
    edited(("run.models.1.calibration.slope", 2.0))
    assert "relation model's calibration {" in refused("replay", past, "--store", store)


def test_an_index_that_has_changed(past: Path, store: Path, tmp_path: Path) -> None:
    write(tmp_path / "docs", leave="Annual leave is 30 days.")
    index(tmp_path / "docs", store)
    assert ": cannot be repeated: index digest " in refused("replay", past, "--store", store)


def test_a_run_that_is_not_what_was_verified(past: Path, store: Path, edited: Any) -> None:  # noqa: ANN401
    edited(("answer.text", ANSWER.replace("25", "26")))
    expected = f"{past}: its answer is not the one that was verified"
    assert refused("replay", past, "--store", store) == expected
    value = json.loads(past.read_text())
    del value["run"]["answer"]
    past.write_text(json.dumps(value))
    expected = f"{past}: does not record what it takes to repeat it"
    assert refused("replay", past, "--store", store) == expected
    edited(("run.settings.magic", 1))
    assert "magic" in refused("replay", past, "--store", store)


def test_a_run_that_was_rechecked_can_be_repeated(past: Path, store: Path, tmp_path: Path) -> None:
    write(tmp_path / "docs", leave="Annual leave is 30 days.")
    index(tmp_path / "docs", store)
    assert factcheck("recheck", past, "--store", store, "--write").code == 1
    assert json.loads(past.read_text())["run"]["answer"]["given"] == ["atoms"]
    assert factcheck("replay", past, "--store", store).code == 0


def test_a_record_needs_no_store(tmp_path: Path) -> None:
    """Passages that say the same were pooled, and one claim had only the second of them."""
    record = {
        "output": ANSWER,
        "atoms": [
            {"id": "x", "text": "Annual leave is 25 days.", "contexts": ["one"]},
            {"id": "y", "text": "Annual leave is 30 days.", "contexts": ["two"]},
        ],
        "contexts": [
            {"id": "one", "title": "Leave", "text": "Annual leave is 25 days."},
            {"id": "two", "title": "Leave", "text": "Annual leave is 25 days."},
        ],
    }
    (tmp_path / "record.json").write_text(json.dumps(record))
    path = tmp_path / "run.json"
    options = ("--set", "assessor=fr1", "--format", "json", "--output", path)
    assert factcheck("verify", tmp_path / "record.json", *options).code == 0
    value = json.loads(path.read_text())
    assert [a["verdict"] for a in value["atoms"]] == ["supported", "contradicted"]
    assert [a["contexts"] for a in value["atoms"]] == [["one"], ["one"]]
    assert value["run"]["answer"]["given"] == ["atoms", "contexts"]
    assert factcheck("replay", path).code == 0


def test_a_run_under_a_former_name_is_read_by_all(tmp_path: Path, store: Path) -> None:
    """FactBench's atomizer was called as the command is: report, replay, diff and recheck."""
    atoms = [{"id": "x", "text": "Annual leave is 25 days."}]
    (tmp_path / "record.json").write_text(json.dumps({"output": ANSWER, "atoms": atoms}))
    now, then = tmp_path / "now.json", tmp_path / "then.json"
    options = ("--store", store, "--format", "json", "--output", now)
    (store.parent / "factcheck.toml").write_text('[verify]\natomizer = "factbench"\n')
    assert factcheck("verify", tmp_path / "record.json", *options).code == 0
    value = json.loads(now.read_text())
    value["run"]["settings"]["atomizer"] = "verify"
    then.write_text(json.dumps(value))
    assert factcheck("report", then).code == 0
    done = factcheck("replay", then, "--store", store)
    assert (done.code, done.err) == (0, "")
    assert "repeated, nothing differs" in done.out
    assert factcheck("diff", then, now) == factcheck("diff", now, now)
    write(tmp_path / "docs", leave="Annual leave is 30 days.")
    index(tmp_path / "docs", store)
    rechecked = [factcheck("recheck", run, "--store", store) for run in (now, then)]
    assert "1 of 1 verdicts changed" in rechecked[0].out
    assert rechecked[1].out == rechecked[0].out.replace(now.name, then.name)


def test_another_model_under_the_same_name_is_found_out(
    past: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its word is another though all that a run records is the same."""
    honest = FakePairClassifier.classify
    monkeypatch.setattr(
        FakePairClassifier, "classify", lambda self, pairs: honest(self, pairs)[:, [1, 0, 2]]
    )
    done = factcheck("replay", past, "--store", store)
    assert done.code == 1
    assert ".verdict: supported -> contradicted\n" in done.out


def test_changes_are_found_wherever_they_are() -> None:
    def run(**parts: Any) -> dict[str, Any]:  # noqa: ANN401
        return {"summary": {"precision": 0.5}, "notes": [], "atoms": [], **parts}

    old = run(atoms=[{"id": "a", "n": 1, "kind": "x"}, {"id": "b"}], notes=["1 thing"])
    new = run(atoms=[{"id": "b"}, {"id": "a", "n": True}], summary={"precision": None})
    found = {change.path: (change.old, change.new) for change in changes(old, new)}
    assert found == {
        "summary.precision": (0.5, None),
        "atoms in order": (["[a]", "[b]"], ["[b]", "[a]"]),
        "atoms[a].n": (1, True),
        "atoms[a].kind": ("x", None),
        "notes[0]": ("1 thing", None),
    }
    assert changes(old, old) == []


def test_a_verdict_is_one_whatever_its_claim_is_called() -> None:
    sides = [
        {"atoms": [{"id": "1.2", "verdict": v, "probability": p, "evidence": [e]}]}
        for v, p in (("supported", 0.9), ("contradicted", 0.1))
        for e in [{"context": "c.1", "probability": p}]
    ]
    found = {change.path: change.kind for change in changes(*sides)}
    assert found == {
        "atoms[1.2].verdict": "verdict",
        "atoms[1.2].probability": "probability",
        "atoms[1.2].evidence[c.1].probability": "field",
    }
