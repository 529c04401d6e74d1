"""Collections of a store, and several stores in one check, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .helpers import SMALL, factcheck, refused

pytestmark = pytest.mark.long

DOCS = {
    "hr": "# Leave\n\nStaff have 27 days of leave a year.",
    "it": "# Backup\n\nBackups are kept for 30 days.",
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two collections in its store, and no store beside them."""
    folder = tmp_path_factory.mktemp("place")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, text in DOCS.items():
            (folder / name).mkdir()
            (folder / name / "rules.md").write_text(text)
            done = factcheck("index", name, "--collection", name)
            assert done.code == 0, done.err
    return folder


@pytest.fixture(autouse=True)
def inside(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)


def searched(*arguments: object) -> set[str]:
    done = factcheck("search", "how many days", "--json", *arguments)
    assert done.code == 0, done.err
    return {row["source"] for row in json.loads(done.out)}


def test_one_of_them_and_both() -> None:
    assert searched("--collection", "hr") == {"rules.md"}
    both = ("--collection", "hr", "--collection", "it")
    assert searched(*both) == {"hr/rules.md", "it/rules.md"}
    assert searched(*both, "--where", "source=it/**") == {"it/rules.md"}
    inner = Path(".factcheck/collections")
    assert searched("--store", inner / "hr", "--store", inner / "it") == searched(*both)
    same = ("--store", inner / "hr", "--store", Path.cwd() / inner / "hr")
    assert searched(*same) == {"rules.md"}, "one store, however it is named"
    assert factcheck("status", "--collection", "it").out.count("rules.md") == 1


def test_a_claim_is_judged_by_the_passages_of_both(tmp_path: Path) -> None:
    atoms = ["Staff have 27 days of leave a year.", "Backups are kept for 30 days."]
    given = [{"id": f"a{i}", "text": text} for i, text in enumerate(atoms)]
    record = {"input": "", "output": " ".join(atoms), "atoms": given}
    answer = tmp_path / "answer.json"
    answer.write_text(json.dumps(record))
    done = factcheck(
        *("verify", answer, "--collection", "hr", "--collection", "it", "--format", "json"),
        *("--llm", SMALL, "--relation", "encoder"),
    )
    assert done.code == 0, done.err
    run = json.loads(done.out)
    assert run["run"]["index"]["collection"] == "hr, it"
    assert run["run"]["index"]["chunks"] == 2
    sources = {context["id"]: context["source"] for context in run["contexts"]}
    for claim, source in zip(run["atoms"], ("hr/rules.md", "it/rules.md"), strict=True):
        assert claim["verdict"] == "supported"
        assert sources[claim["evidence"][0]["context"]] == source
    again = tmp_path / "run.json"
    again.write_text(done.out)
    same = factcheck("recheck", again, "--collection", "hr", "--collection", "it", "--json")
    assert same.code == 0, same


def test_what_cannot_be_is_said() -> None:
    assert refused("search", "x") == (
        f"no store at {Path('.factcheck').resolve()} (try: --collection NAME, one of hr, it)"
    )
    assert "no store at" in refused("search", "x", "--collection", "sales")
    assert "expected up to 100" in refused("search", "x", "--collection", "../hr")
    done = factcheck("search", "x", "--store", "a", "--store", "b", "--collection", "hr")
    assert done.code == 2
    assert "--collection is of one --store" in done.err


def test_the_store_itself_stays_apart(tmp_path: Path) -> None:
    """A store beside its collections is neither read nor rebuilt with them."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "pay.md").write_text("Pay is due on the last day of the month.")
    store = tmp_path / "store"
    assert factcheck("index", docs, "--store", store, "--collection", "old").code == 0
    assert factcheck("index", tmp_path, "--store", store).out.startswith("1 indexed")
    assert factcheck("index", tmp_path, "--store", store, "--rebuild").code == 0
    assert searched("--store", store) == {"docs/pay.md"}
    assert searched("--store", store, "--collection", "old") == {"pay.md"}
    assert "collection old: a store of its own" in factcheck("status", "--store", store).out
