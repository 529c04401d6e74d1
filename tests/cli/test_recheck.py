"""Past runs against a store that has changed: a real store, scripted models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from factcheck_local.cli import recheck as recheck_module
from factcheck_local.cli import verify as verify_module
from factcheck_local.core.errors import InferenceError, ScoringError
from factcheck_local.models.fake import FakeEmbedder, FakePairClassifier
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.settings import Settings

from .helpers import factcheck, refused
from .worlds import fake, index, write

LEAVE, PETS = "Annual leave is 25 days.", "At most 2 animals may come to the office."
ANSWER = f"{LEAVE} {PETS}\n"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[FactChecker]:
    return fake(monkeypatch, verify_module, recheck_module)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    write(tmp_path / "docs", leave="Annual leave is 25 days.", pets="At most 2 animals may come.")
    index(tmp_path / "docs", tmp_path / "store")
    return tmp_path / "store"


@pytest.fixture
def past(tmp_path: Path, store: Path, made: list[FactChecker]) -> Path:
    """A run in which both claims are supported."""
    (tmp_path / "answer.md").write_text(ANSWER)
    path = tmp_path / "run.json"
    options = ("--store", store, "--format", "json", "--output", path)
    done = factcheck("verify", tmp_path / "answer.md", "--question", "And leave?", *options)
    assert done.code == 0
    assert verdicts(path) == {LEAVE: "supported", PETS: "supported"}
    made.clear()
    return path


def verdicts(path: Path) -> dict[str, str]:
    return {a["text"]: a["verdict"] for a in json.loads(path.read_text())["atoms"]}


def test_an_index_that_has_not_changed_costs_nothing(
    past: Path, store: Path, made: list[FactChecker]
) -> None:
    done = factcheck("recheck", past, "--store", store)
    assert done == (0, f"{past}: skipped: the index is the same as in the run\n", "")
    (checker,) = made
    assert isinstance(checker.embedder, FakeEmbedder)
    assert checker.embedder.calls == []
    assert factcheck("recheck", past, "--store", store, "--all").out == (
        f"{past}:\n  2 verdicts are the same\n"
    )


def test_a_changed_document_is_named(past: Path, store: Path, tmp_path: Path) -> None:
    before = past.read_bytes()
    write(tmp_path / "docs", leave="Annual leave is 30 days.")
    index(tmp_path / "docs", store)
    done = factcheck("recheck", past, "--store", store)
    assert (done.code, done.err) == (1, "")
    head, changed, cause, count = done.out.splitlines()
    assert head == f"{past}:"
    assert changed.startswith("  supported ")
    assert " -> contradicted " in changed
    assert changed.endswith(LEAVE)
    assert cause.startswith("    leave.md:1: text changed, entailment 90.0 % -> contradiction 90.0")
    assert cause.endswith("“Annual leave is 25 days.” -> “Annual leave is 30 days.”")
    assert count == "  1 of 2 verdicts changed"
    assert past.read_bytes() == before, "nothing is written without --write"


def test_a_removed_document_is_told_from_a_passage_not_found(
    past: Path, store: Path, tmp_path: Path
) -> None:
    (tmp_path / "docs/pets.md").unlink()
    index(tmp_path / "docs", store)
    done = factcheck("recheck", past, "--store", store)
    assert done.code == 1
    assert "pets.md:1: document no longer in the store: entailment 90.0 %" in done.out
    (row,) = json.loads(factcheck("recheck", past, "--store", store, "--json").out)
    assert (row["run"], row["written"]) == (str(past), False)
    assert row["removed_sources"] == ["pets.md"]
    assert row["diff"]["same"] is False


def test_write_puts_the_new_run_in_the_place_of_the_old(
    past: Path, store: Path, tmp_path: Path
) -> None:
    past.chmod(0o640)
    old = json.loads(past.read_text())
    write(tmp_path / "docs", leave="Annual leave is 30 days.")
    index(tmp_path / "docs", store)
    done = factcheck("recheck", past, "--store", store, "--write")
    assert (done.code, done.err) == (1, f"written to {past}\n")
    new = json.loads(past.read_text())
    assert verdicts(past) == {LEAVE: "contradicted", PETS: "supported"}
    assert new["answer"] == old["answer"]
    assert new["run"]["settings"] == old["run"]["settings"]
    for a, b in zip(old["atoms"], new["atoms"], strict=True):
        assert [a[k] for k in ("id", "text", "span")] == [b[k] for k in ("id", "text", "span")]
    assert [m["role"] for m in new["run"]["models"]] == [m["role"] for m in old["run"]["models"]]
    assert new["notes"][-1] == f"the claims are those of the run of {old['run']['started']}"
    assert past.stat().st_mode & 0o777 == 0o640
    assert sorted(p.name for p in tmp_path.iterdir()) == ["answer.md", "docs", "run.json", "store"]
    again = factcheck("recheck", past, "--store", store)
    assert (again.code, "skipped" in again.out) == (0, True)


def test_what_was_written_before_an_interrupt_is_told(
    past: Path, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run was replaced, so no other one will say which verdicts changed."""
    other = tmp_path / "other.json"
    other.write_bytes(past.read_bytes())
    write(tmp_path / "docs", leave="Annual leave is 30 days.")
    index(tmp_path / "docs", store)
    faked: type[FactChecker] = vars(recheck_module)["FactChecker"]
    usual, asked = faked.verify, []

    def interrupted(self: FactChecker, *given: Any, **options: Any) -> Any:  # noqa: ANN401
        asked.append(given)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return usual(self, *given, **options)

    monkeypatch.setattr(faked, "verify", interrupted)
    done = factcheck("recheck", past, other, "--store", store, "--write", "--json")
    assert done.code == 130
    assert verdicts(past)[LEAVE] == "contradicted"
    assert verdicts(other)[LEAVE] == "supported"
    (told,) = json.loads(done.out)
    assert (told["run"], told["written"]) == (str(past), True)


def test_models_are_loaded_once_for_equal_settings(
    past: Path, store: Path, tmp_path: Path, made: list[FactChecker]
) -> None:
    value: dict[str, Any] = json.loads(past.read_text())
    paths = [past, tmp_path / "k.json", tmp_path / "again.json"]
    for path, k in zip(paths, (3, 5, 3), strict=True):
        value["run"]["settings"]["k"] = k
        path.write_text(json.dumps(value))
    done = factcheck("recheck", *paths, "--store", store, "--all", "--json")
    assert done.code == 0
    assert [row["run"] for row in json.loads(done.out)] == [str(p) for p in paths]
    assert [checker.settings.k for checker in made] == [3, 5]


def test_a_model_of_another_file_is_named(past: Path, store: Path) -> None:
    value = json.loads(past.read_text())
    roles = {m["role"]: m for m in value["run"]["models"]}
    roles["relation"]["sha256"] = "f" * 64
    past.write_text(json.dumps(value))
    done = factcheck("recheck", past, "--store", store, "--all")
    assert done.code == 0
    assert done.err == (
        f"factcheck: {past}: the relation model is fake-classifier, sha256 {'0' * 64}; "
        f"in the run it was fake-classifier, sha256 {'f' * 64}\n"
    )


def test_a_claim_that_cannot_be_scored_is_no_new_verdict(
    past: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: FakePairClassifier, pairs: object) -> None:  # noqa: ARG001
        raise ScoringError("the passage does not fit")

    before = past.read_bytes()
    monkeypatch.setattr(FakePairClassifier, "classify", fail)
    done = factcheck("recheck", past, "--store", store, "--all", "--write")
    assert done.code == 3
    assert "-> unscored –" in done.out
    assert past.read_bytes() == before


def test_one_that_cannot_be_repeated_leaves_the_others(
    past: Path, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other.json"
    other.write_text(past.read_text())
    verify, asked = FactChecker.verify, []

    def fail_first(self: FactChecker, *given: Any, **named: Any) -> Any:  # noqa: ANN401
        asked.append(given)
        if len(asked) % 2:
            raise InferenceError("too many claims hang together")
        return verify(self, *given, **named)

    monkeypatch.setattr(FactChecker, "verify", fail_first)
    before = past.read_bytes()
    done = factcheck("recheck", past, other, "--store", store, "--all", "--write")
    assert done.code == 2
    assert f"factcheck: {past}: too many claims hang together" in done.err
    assert done.out == f"{other}:\n  2 verdicts are the same\n"
    assert past.read_bytes() == before
    rows = json.loads(factcheck("recheck", past, other, "--store", store, "--all", "--json").out)
    assert rows[0] == {
        **{"run": str(past), "written": False, "diff": None},
        "failure": "too many claims hang together",
    }
    assert rows[1]["diff"]["same"] is True
    assert refused("recheck", past, "--store", store, "--all") == "too many claims hang together"


@pytest.mark.parametrize(
    ("embedder", "why"),
    [
        ("no-such", "unknown model 'no-such': known are "),
        ("all-minilm-l6-v2", "made with embedder fake-embedder, not all-minilm-l6-v2"),
    ],
)
def test_runs_of_a_model_that_is_another_or_not_here_leave_the_others(
    past: Path,
    store: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    embedder: str,
    why: str,
) -> None:
    faked: type[FactChecker] = vars(recheck_module)["FactChecker"]

    def checker(settings: Settings, *given: Any, **options: Any) -> FactChecker:  # noqa: ANN401
        kind = FactChecker if settings.embedder == embedder else faked
        return kind(settings, *given, **options)

    monkeypatch.setattr(recheck_module, "FactChecker", checker)
    value = json.loads(past.read_text())
    value["run"]["settings"]["embedder"] = embedder
    others = [tmp_path / name for name in ("one.json", "two.json")]
    for other in others:
        other.write_text(json.dumps(value))
    done = factcheck("recheck", others[0], past, others[1], "--store", store, "--all")
    assert (done.code, done.out) == (2, f"{past}:\n  2 verdicts are the same\n")
    said = done.err.splitlines()
    assert [line.split(": ")[1] for line in said] == list(map(str, others))
    assert all(why in line for line in said)
    assert all("--set" not in line and "(try: " in line for line in said)
    alone = refused("recheck", others[0], "--store", store, "--all")
    assert f"factcheck: {others[0]}: {alone}" == said[0]


def test_the_summary_of_a_folder_is_passed_over(
    past: Path, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert past.is_file()
    (tmp_path / "b.md").write_text(PETS)
    made = factcheck("verify", "answer.md", "b.md", "--store", store, "--output", "out")
    assert made.code == 0
    names = ["out/answer.json", "out/b.json", "out/summary.json"]
    done = factcheck("recheck", *names, "--store", store, "--all", "--write", "--json")
    assert (done.code, [row["run"] for row in json.loads(done.out)]) == (0, names[:2])
    assert "out/summary.json: the summary of several answers, passed over" in done.err.splitlines()
    alone = factcheck("recheck", names[2], "--store", store)
    assert (alone.code, alone.err.splitlines()[-1]) == (
        *(2, "factcheck: out/summary.json: no run of verify"),
    )


def test_a_run_that_cannot_be_repeated_hides_a_claim_that_cannot_be_scored(
    past: Path, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other.json"
    other.write_text(past.read_text())
    codes = iter([3, 2])
    monkeypatch.setattr(recheck_module, "_exit_code", lambda _: next(codes))
    assert factcheck("recheck", past, other, "--store", store, "--all").code == 2


def test_bad_input_ends_before_anything_is_done(past: Path, store: Path, tmp_path: Path) -> None:
    before = past.read_bytes()
    other = tmp_path / "other.json"
    value = json.loads(past.read_text())

    def line(**run: Any) -> str:  # noqa: ANN401
        other.write_text(json.dumps(value | {"run": value["run"] | run}))
        return refused("recheck", past, other, "--store", store, "--all", "--write")

    assert line(index=None) == f"{other}: its passages came with a record, not from a store"
    settings = value["run"]["settings"]
    unknown = line(settings=settings | {"magic": 1})
    assert unknown.startswith(f"{other}: not a complete assessment: TypeError(")
    assert "magic" in unknown
    wrong = line(settings=settings | {"k": 0})
    assert wrong == f"{other}: k: expected a whole number from 1 to 1000, got 0"
    named = line(settings=settings | {"llm": {"id": "x"}})
    assert named == f"{other}: llm: expected a name, got {{'id': 'x'}}"
    assert past.read_bytes() == before
    assert refused("recheck", "-", "--write", stdin=before) == (
        "standard input: cannot be written to"
    )
