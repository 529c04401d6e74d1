"""The commands at work: a real store with MiniLM, SmolLM2, and fakes where a verdict is needed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from factcheck_local.cli import atoms as atoms_module
from factcheck_local.cli import verify as verify_module
from factcheck_local.core.errors import ScoringError
from factcheck_local.models.fake import FakeChatModel, FakeEmbedder, FakePairClassifier
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.relation import CalibratedRelationModel
from factcheck_local.pipeline.relation.encoder import EncoderPairScorer

from .helpers import SMALL, Done, Scores, factcheck, refused, scan
from .worlds import fake

# ---------------------------------------------------------------------- index

LEAVE = (
    "# Leave\n\nStaff get 25 days of leave a year.\n\nUnused \x1b[31mdays\x1b[0m expire in March.\n"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three documents, one of which is a scan, and an empty folder."""
    found = tmp_path_factory.mktemp("corpus")
    (found / "docs").mkdir()
    (found / "docs/leave.md").write_text(LEAVE)
    (found / "docs/office.txt").write_text("The office in Kiel opens at nine on weekdays.")
    (found / "docs/scan.pdf").write_bytes(scan())
    (found / "docs/reliability.toml").write_text(
        'default = 0.9\n[[source]]\nmatch = "leave.md"\nprior = 0.97\n'
    )
    (found / "empty").mkdir()
    return found


@pytest.fixture(scope="module")
def indexed(folder: Path) -> Done:
    return factcheck("index", folder / "docs", "--store", folder / ".factcheck")


@pytest.fixture
def store(indexed: Done, folder: Path) -> Path:
    assert indexed.code == 0
    return folder / ".factcheck"


def test_index_reports_the_scan_and_goes_on(indexed: Done, folder: Path) -> None:
    assert indexed.code == 0
    assert indexed.err == ""
    *said, counts = indexed.out.splitlines()
    (failed,) = [line for line in said if line.startswith("failed: ")]
    assert failed.startswith("failed: scan.pdf: ")
    assert "scan" in failed.removeprefix("failed: scan.pdf")
    assert counts.startswith("2 indexed, 0 unchanged, 0 removed, ")
    assert counts.endswith(f"1 failed; 2 passages in {folder / '.factcheck'}")


def test_a_limit_of_memory_says_where_it_has_no_effect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_text("The office in Kiel opens at nine on weekdays.")
    limited = ("index", tmp_path / "a.txt", "--store", tmp_path / "s", "--max-file-memory", "900")
    assert factcheck(*limited).err == ""
    monkeypatch.setattr("factcheck_local.cli.index.LIMITS_MEMORY", False)
    done = factcheck(*limited)
    assert done.code == 0
    assert done.err == "factcheck: --max-file-memory has no effect here, only on Linux\n"
    assert factcheck(*limited[:-2]).err == "", "it was not asked for"


def test_search(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (store.parent / "docs/deep").mkdir(exist_ok=True)
    monkeypatch.chdir(store.parent / "docs/deep")
    done = factcheck("search", "How much holiday do employees have?", "-k", 1, "--json")
    assert (done.code, done.err) == (0, "")
    (hit,) = json.loads(done.out)
    assert (hit["source"], hit["prior"], hit["line"]) == ("leave.md", 0.97, 1)
    assert LEAVE[hit["start"] : hit["end"]] == hit["text"]
    assert 0.2 < hit["similarity"] < 1


def test_search_reranked(store: Path) -> None:
    query = "Staff get 30 days of leave a year."
    plain = json.loads(factcheck("search", query, "--store", store, "--json").out)
    done = factcheck("search", query, "--store", store, "--rerank", "encoder", "-k", 1, "--json")
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out) == plain[:1], "the contradicted page is first, with and without"
    long = factcheck("search", "very " * 400 + "long", "--store", store, "--rerank", "encoder")
    assert long.code == 0
    assert long.err == "encoder cannot read the query; the order is the search's\n"
    assert len(long.out.splitlines()) == 4
    line = refused("search", query, "--store", store, "--rerank", "all-minilm-l6-v2")
    assert line == "model all-minilm-l6-v2 is of role embedder; encoder or reranker is needed here"
    assert not (store / "pair-scores.sqlite").exists(), "a query is no claim"


def test_search_shows_no_control_codes(store: Path) -> None:
    done = factcheck("search", "leave", "--store", store)
    assert done.code == 0
    assert len(done.out.splitlines()) == 4
    assert "\x1b" not in done.out
    assert "leave.md:1  prior 0.97" in done.out
    assert "office.txt:1  prior 0.9" in done.out


def test_status(store: Path) -> None:
    done = factcheck("status", "--store", store, "--json")
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    assert found["passages"] == 2
    assert found["embedder"]["id"] == "all-minilm-l6-v2"
    assert {s["source"]: s["prior"] for s in found["sources"]} == {
        "leave.md": 0.97,
        "office.txt": 0.9,
    }
    assert found["formats"] == {".md": 1, ".txt": 1}
    assert found["size"] > 0
    (folder,) = found["folders"].values()
    assert (folder["documents"], folder["passages"], folder["failed"]) == (2, 2, 1)
    shown = factcheck("status", "--store", store).out.splitlines()
    assert any(line.startswith("0.97 ") and "leave.md  [" in line for line in shown)
    assert shown[-1].startswith("2 sources, 2 passages, ")
    assert "embedder all-minilm-l6-v2" in shown[-1]


def test_status_names_what_is_missing(tmp_path: Path) -> None:
    docs, store = tmp_path / "docs", tmp_path / "s"
    (docs / "hr").mkdir(parents=True)
    (docs / "a.md").write_text("Text.")
    (docs / "hr/pay.md").write_text("---\naccess: [hr]\n---\nPay is due.")
    (docs / "hr/bad.md").write_bytes(b"\xff")
    steering = 'access: ["hr\\u001b]0;owned\\u0007"]'
    (docs / "x\x1b[2J").mkdir()
    (docs / "x\x1b[2J/pay.md").write_text(f"---\n{steering}\n---\nPay is due.")
    (docs / "hr/bad.odt").write_bytes(b"PK")
    assert factcheck("index", docs, "--store", store).code == 0
    shown = factcheck("status", "--store", store).out.splitlines()
    assert all(line.isprintable() for line in shown)
    assert "failed: hr/bad.md: is not valid UTF-8 (byte 0xff at offset 0)" in shown
    assert "(top): 1 documents, 1 passages, 0 skipped, 0 failed" in shown
    assert "hr/: 1 documents, 1 passages, 1 skipped, 1 failed" in shown
    assert "formats: 3 .md" in shown
    assert any("hr/pay.md" in line and line.endswith("]  only hr") for line in shown)
    left_out = json.loads(factcheck("status", "--store", store, "--json").out)["left_out"]
    assert [(e["source"], e["failed"]) for e in left_out] == [
        ("hr/bad.md", True),
        ("hr/bad.odt", False),
    ]


def test_search_within_a_scope(tmp_path: Path) -> None:
    docs, store = tmp_path / "docs", tmp_path / "s"
    (docs / "hr").mkdir(parents=True)
    front = "owner: Legal\nsuperseded_by: hr/pay.md"
    (docs / "a.md").write_text(f"---\n{front}\n---\nPay is due on the last day.")
    (docs / "hr/pay.md").write_text("---\naccess: [hr]\n---\nPay is due on the first day.")
    (docs / "reliability.toml").write_text("superseded = 0.3")
    factcheck("index", docs, "--store", store)

    def found(*options: str) -> list[str]:
        done = factcheck("search", "when is pay due", "--store", store, "--json", *options)
        return sorted(hit["source"] for hit in json.loads(done.out))

    assert found() == found("--as", "sales, hr") == ["a.md", "hr/pay.md"]
    assert found("--as", "sales") == found("--where", "owner=legal") == ["a.md"]
    assert found("--as", "hr", "--where", "source=hr/**") == ["hr/pay.md"]
    assert found("--where", "owner=Board") == []
    # A successor that one may not see is not named, either.
    rule = "(default; superseded by hr/pay.md)"
    for options, named in (((), True), (("--where", "source=a.md"), True), (("--as", "it"), False)):
        done = factcheck("search", "when is pay due", "--store", store, *options)
        assert (rule in done.out, "hr/pay.md" in done.out) == (named, named)
    assert "where: expected a condition such as" in refused(
        "search", "x", "--store", store, "--where", "owner"
    )
    assert "at least one group" in refused("search", "x", "--store", store, "--as", " , ")


def test_an_empty_folder(folder: Path, tmp_path: Path) -> None:
    line = refused("index", folder / "empty", "--store", tmp_path / "s")
    assert str(folder / "empty") in line
    assert str(tmp_path / "no") in refused("index", tmp_path / "no", "--store", tmp_path / "s")


def test_a_prior_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/a.txt").write_text("Text.")
    profile = tmp_path / "docs/reliability.toml"
    profile.write_text('[[source]]\nmatch = "a.txt"\nprior = 1.3\n')
    beside = refused("index", tmp_path / "docs", "--store", tmp_path / "s")
    assert beside.startswith(f"{profile}:3: prior ")
    assert beside.endswith("got 1.3")
    profile = profile.rename(tmp_path / "other.toml")
    given = refused("index", tmp_path / "docs", "--store", tmp_path / "s", "--reliability", profile)
    assert given.startswith(f"{profile}:3: prior ")


# ---------------------------------------------------------------------- infer

GRAPH = {
    "nodes": [
        {"id": "a", "type": "atom", "probability": 0.5},
        {"id": "c1", "type": "context", "probability": 0.99},
        {"id": "c2", "type": "context", "probability": 0.99},
    ],
    "edges": [
        {"from": "c1", "to": "a", "relation": "entailment", "probability": 0.8, "link": "x"},
        {"from": "c2", "to": "a", "relation": "contradiction", "probability": 0.9, "link": "x"},
    ],
}


@pytest.mark.parametrize("method", ["auto", "exact", "bp", "gibbs", "pgmpy"])
@pytest.mark.parametrize(
    ("factors", "true", "false"),
    [
        # Example 1 of the FactReasoner paper; contexts summed out, for a and for not a.
        ("table1", 0.8 * 0.108, 0.206 * 0.9),
        ("conditional", 0.797 * 0.104, 0.203 * 0.896),
    ],
)
def test_infer(tmp_path: Path, method: str, factors: str, true: float, false: float) -> None:
    (tmp_path / "g.json").write_text(json.dumps(GRAPH))
    options = ("--method", method, "--factors", factors)
    done = factcheck("infer", tmp_path / "g.json", *options)
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    assert {"marginals", "method", "exact", "log_z", "converged"} <= set(found)
    assert found["multimodal"] is False
    assert set(found["marginals"]) == {"a", "c1", "c2"}
    assert found["marginals"]["a"] == pytest.approx(true / (true + false), abs=1e-9)
    assert found["converged"] is True
    assert factcheck("infer", "-", *options, stdin=json.dumps(GRAPH).encode()) == done


def test_infer_reads_and_writes_uai(tmp_path: Path) -> None:
    (tmp_path / "g.json").write_text(json.dumps(GRAPH))
    done = factcheck("infer", tmp_path / "g.json", "--write-uai", tmp_path / "g.uai")
    assert done.code == 0
    assert (tmp_path / "g.uai").read_text().startswith("MARKOV\n3\n2 2 2\n")
    again = factcheck("infer", tmp_path / "g.uai")
    assert again.code == 0
    expected = json.loads(done.out)["marginals"]
    found = json.loads(again.out)["marginals"]
    assert list(found.values()) == pytest.approx(list(expected.values()), abs=1e-12)
    assert list(found) == ["x0", "x1", "x2"]
    line = refused("infer", tmp_path / "g.uai", "--factors", "table1")
    assert line.startswith("--factors is for a fact graph, not for a UAI network")


def test_infer_writes_bif(tmp_path: Path) -> None:
    (tmp_path / "g.json").write_text(json.dumps(GRAPH))
    done = factcheck("infer", tmp_path / "g.json", "--write-bif", tmp_path / "g.bif")
    assert (done.code, done.err) == (0, f"written to {tmp_path / 'g.bif'}\n")
    assert (tmp_path / "g.bif").read_text().startswith("network factcheck {\n}\n")
    assert bif_names(tmp_path / "g.bif") == ["a", "c1", "c2"]


@pytest.mark.parametrize(
    ("name", "written"), [("my file", "my_file"), ("7f", "_7f"), ("A", "A-2"), ("é", "_")]
)
def test_a_name_that_bif_cannot_hold_is_changed(tmp_path: Path, name: str, written: str) -> None:
    (tmp_path / "g.json").write_text(json.dumps(GRAPH).replace('"c1"', json.dumps(name)))
    done = factcheck("infer", tmp_path / "g.json", "--write-bif", tmp_path / "g.bif")
    assert (done.code, name in json.loads(done.out)["marginals"]) == (0, True)
    assert sorted(bif_names(tmp_path / "g.bif")) == sorted(["a", written, "c2"])


def bif_names(path: Path) -> list[str]:
    lines = path.read_text().splitlines()
    return [line.split()[1] for line in lines if line.startswith("variable ")]


def test_infer_refuses_a_broken_uai_file(tmp_path: Path) -> None:
    (tmp_path / "g.uai").write_text("MARKOV 1 2 1 1 0 2 1 -1")
    done = factcheck("infer", tmp_path / "g.uai")
    assert (done.code, done.out) == (2, "")
    assert "g.uai: UAI: entry 1 of table 0: expected a number >= 0, got '-1'" in done.err


# --------------------------------------------------------- relate and atoms


def test_relate_keeps_order_and_ids_and_names_what_does_not_fit() -> None:
    pairs = [
        {"id": "x", "premise": "Staff get 25 days of leave.", "hypothesis": "Leave is 25 days."},
        {"premise": "The office opens at nine.", "hypothesis": "Leave is 25 days."},
        {"id": 7, "premise": "Staff get 25 days of leave.", "hypothesis": "Pets \u2028 may come."},
        {"id": None, "premise": "Staff get 25 days of leave.", "hypothesis": "Leave is 25 days."},
        {"id": "long", "premise": "word " * 6000, "hypothesis": "Pets may come."},
    ]
    data = "\n\n".join(json.dumps(p, ensure_ascii=False) for p in pairs).encode()
    done = factcheck("relate", "-", "--llm", SMALL, stdin=data)
    assert (done.code, done.err) == (3, ""), "a pair was not scored"
    *rows, unscored = [json.loads(line) for line in done.out.splitlines()]
    assert set(unscored) == {"id", "error"}
    assert unscored["id"] == "long"
    assert "does not fit the context" in unscored["error"]
    assert [row["id"] for row in rows] == ["x", 3, 7, None]
    for row in rows:
        values = [row[key] for key in ("entailment", "contradiction", "neutral")]
        assert sum(values) == pytest.approx(1, abs=1e-6)
        assert all(0 <= v <= 1 for v in values)
        assert set(row) == {"id", "entailment", "contradiction", "neutral"}
    assert {**rows[0], "id": None} == rows[3], "the same pair has the same numbers"
    assert rows[0]["entailment"] != rows[2]["entailment"]


def test_atoms() -> None:
    text = "# Leave\n\nStaff get 25 days of leave."
    done = factcheck("atoms", "-", "--llm", SMALL, "--json", stdin=text.encode())
    assert (done.code, done.err) == (0, "")
    atoms = json.loads(done.out)
    assert atoms
    assert len({a["id"] for a in atoms}) == len(atoms)
    for found in atoms:
        assert set(found) == {"id", "text", "original", "kind", "span"}
        assert text[found["span"]["start"] : found["span"]["end"]] == found["original"]
    assert any("25" in a["text"] for a in atoms), "no number of the sentence is lost"


def test_atoms_of_several_answers_are_one_json_document(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A list for each, as one answer has, in their order."""
    monkeypatch.chdir(tmp_path)
    fake(monkeypatch, atoms_module)
    answers = ("Leave is 25 days.", "Dogs may come. Pay is monthly.")
    lines = [json.dumps({"output": text}) for text in answers]
    Path("r.jsonl").write_text("\n".join(lines))
    both = json.loads(factcheck("atoms", "r.jsonl", "--json").out)
    assert [[a["text"] for a in one] for one in both] == [
        [answers[0]],
        ["Dogs may come.", "Pay is monthly."],
    ]
    Path("r.jsonl").write_text(lines[0])
    assert json.loads(factcheck("atoms", "r.jsonl", "--json").out) == both[0]
    Path("r.jsonl").write_text("\n".join([lines[0], "{", lines[1]]))
    assert refused("atoms", "r.jsonl", "--json").startswith("r.jsonl, line 2: not JSON: ")


# --------------------------------------------------------------------- verify

RECORD: dict[str, Any] = {
    "input": "How much leave?",
    "output": "Leave is 25 days. Pay is weekly.",
    "atoms": [
        {"id": "a1", "text": "Leave is 25 days.", "contexts": ["c1"]},
        {"id": "a2", "text": "Pay is weekly.", "contexts": ["c2"]},
    ],
    "contexts": [
        {"id": "c1", "title": "Leave", "text": "Leave is 25 days."},
        {"id": "c2", "title": "Pay", "text": "Pay is monthly."},
    ],
}


def first_supported(premise: str, hypothesis: str) -> tuple[float, float, float]:
    if "Pay" in premise and "Pay" in hypothesis:
        return 0.02, 0.95, 0.03
    return (0.95, 0.02, 0.03) if hypothesis in premise else (0.01, 0.01, 0.98)


@pytest.fixture
def faked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Scores]:
    """The pipeline with fakes in place of the models; ``scores`` decides what is judged how."""
    chosen: dict[str, Scores] = {"scores": first_supported}

    class Faked(FactChecker):
        def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401
            super().__init__(
                *arguments,
                llm=FakeChatModel(lambda _messages: ""),
                embedder=FakeEmbedder(),
                relation_model=CalibratedRelationModel(
                    EncoderPairScorer(FakePairClassifier(chosen["scores"]))
                ),
                **options,
            )

    monkeypatch.setattr(verify_module, "FactChecker", Faked)
    return chosen


@pytest.fixture
def record(tmp_path: Path) -> Path:
    path = tmp_path / "record.json"
    path.write_text(json.dumps(RECORD))
    return path


@pytest.mark.usefixtures("faked")
def test_json_alone_goes_to_stdout(record: Path) -> None:
    done = factcheck("verify", record, "--format", "json")
    assert (done.code, done.err) == (0, "")
    found = json.loads(done.out)
    assert {a["id"]: a["verdict"] for a in found["atoms"]} == {
        "a1": "supported",
        "a2": "contradicted",
    }
    assert found["summary"]["precision"] == 0.5
    assert found["answer"]["question"] == "How much leave?"
    again = factcheck("verify", record, "--format", "json", "--question", "Why?")
    assert json.loads(again.out)["answer"]["question"] == "Why?"


@pytest.mark.usefixtures("faked")
def test_how_to_retrieve_is_in_the_signature(
    record: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    chosen = '[verify]\nqueries = "llm"\nrerank = "encoder"\n'
    (tmp_path / "factcheck.toml").write_text(chosen)
    run = json.loads(factcheck("verify", record, "--format", "json").out)["run"]
    assert (run["settings"]["queries"], run["settings"]["rerank"]) == ("llm", "encoder")
    assert "|queries:llm|query_rounds:1|rerank:encoder|" in run["signature"]
    # The record brings its contexts, so neither was used.
    assert {m["role"] for m in run["models"]} == {"relation", "embedder"}


@pytest.mark.usefixtures("faked")
@pytest.mark.parametrize(("least", "code"), [(0, 0), (0.5, 0), (0.51, 1), (1, 1)])
def test_fail_under(record: Path, least: float, code: int) -> None:
    done = factcheck("verify", record, "--fail-under", least)
    assert done.code == code
    assert "factual precision 0.50, coverage 1.00: 1 supported, 1 contradicted" in done.out


def test_unscored_weighs_more_than_a_low_score(record: Path, faked: dict[str, Scores]) -> None:
    def refuse(premise: str, hypothesis: str) -> tuple[float, float, float]:
        if "monthly" in premise:
            raise ScoringError("the passage does not fit")
        return first_supported(premise, hypothesis)

    faked["scores"] = refuse
    done = factcheck(
        "verify", record, "--format", "json", "--fail-under", 1, "--set", "assessor=fr1"
    )
    assert done.code == 3
    found = {a["id"]: a for a in json.loads(done.out)["atoms"]}
    assert found["a1"]["verdict"] == "supported"
    assert (found["a2"]["verdict"], found["a2"]["probability"]) == ("unscored", None)
    assert found["a2"]["reason"] == "the passage does not fit"


def test_interrupt(record: Path, faked: dict[str, Scores], tmp_path: Path) -> None:
    def interrupt(_premise: str, _hypothesis: str) -> tuple[float, float, float]:
        raise KeyboardInterrupt

    faked["scores"] = interrupt
    output = tmp_path / "report.md"
    output.write_text("the earlier report")
    done = factcheck("verify", record, "--format", "markdown", "--output", output)
    assert (done.code, done.out) == (130, "")
    assert done.err.strip() == "factcheck: interrupted; what was written is kept"
    assert output.read_text() == "the earlier report"


@pytest.mark.usefixtures("faked")
def test_output_and_report(record: Path, tmp_path: Path) -> None:
    stored = tmp_path / "run.json"
    done = factcheck("verify", record, "--format", "json", "--output", stored)
    assert (done.code, done.out) == (0, "")
    assert done.err == f"written to {stored}\n"
    shown = factcheck("report", stored, "--format", "json")
    assert shown.out == stored.read_text()
    page = factcheck("report", "-", "--format", "markdown", stdin=stored.read_bytes())
    assert page.out.startswith("# Fact check of ")
    assert "| ✓ supported |" in page.out
    assert "✗ contradicted" in factcheck("report", stored).out
    page = factcheck("report", stored, "--format", "html")
    assert page.out.startswith("<!doctype html>")
    assert factcheck("report", stored, "--format", "html").out == page.out
    assert (
        factcheck("report", stored, "--format", "html", "--output", tmp_path / "r.html").out == ""
    )
    assert (tmp_path / "r.html").read_text() == page.out

    line = refused("report", stored, "--output", tmp_path / "no/such/folder.txt")
    assert (
        line == f"{tmp_path / 'no/such/folder.txt'}: cannot be written: No such file or directory"
    )


@pytest.mark.usefixtures("faked")
def test_stdin_against_a_store_of_another_embedder(store: Path) -> None:
    """Markdown from stdin gets as far as the store, which another embedder made."""
    line = refused("verify", "-", "--store", store, stdin=b"Leave is 25 days.")
    assert line.startswith(f"{store}: made with embedder all-minilm-l6-v2, not fake-embedder")
