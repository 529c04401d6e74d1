"""Many answers at once: folders of reports that go on, merged documents, exit codes."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from defusedxml import ElementTree
from lxml import html as lxml_html

from factcheck_local.cli import verify as verify_module
from factcheck_local.cli.answers import report_names
from factcheck_local.cli.common import make_view
from factcheck_local.core.errors import InferenceError, ModelError, ScoringError
from factcheck_local.core.types import Answer
from factcheck_local.indexer.fingerprint import Fingerprint
from factcheck_local.indexer.store import Store
from factcheck_local.indexer.sync import sync
from factcheck_local.models.contracts import Message
from factcheck_local.models.fake import FakeChatModel, FakeEmbedder, FakePairClassifier
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.claims.records import Record
from factcheck_local.pipeline.events import OnEvent
from factcheck_local.pipeline.relation import CalibratedRelationModel
from factcheck_local.pipeline.relation.encoder import EncoderPairScorer
from factcheck_local.pipeline.run import Run
from factcheck_local.report.render import FORMATS

from .helpers import Done, factcheck, refused

CLI = Path(__file__).resolve().parents[2] / "cli.py"

PAGES = {"leave.md": "Leave is 25 days.", "pay.md": "Pay is monthly."}
RIGHT, WRONG, UNKNOWN = "Leave is 25 days.", "Pay is weekly.", "Dogs may come."


def judge(premise: str, hypothesis: str) -> tuple[float, float, float]:
    if "unreadable" in hypothesis:
        raise ScoringError("the passage does not fit")
    if premise.split()[-3:-1] != hypothesis.split()[-3:-1] and not (
        "Pay" in premise and "Pay" in hypothesis
    ):
        return 0.01, 0.01, 0.98
    return (0.95, 0.02, 0.03) if hypothesis in premise else (0.02, 0.95, 0.03)


class Work:
    """What the fakes were asked: answers that were verified, checkers that were made."""

    def __init__(self) -> None:
        self.verified: list[str | None] = []
        self.made = 0
        self.sha256 = "0" * 64


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Work:
    """A store and fakes for the models, in an empty working directory."""
    seen = Work()

    class Faked(FactChecker):
        def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401
            seen.made += 1
            classifier = FakePairClassifier(judge)
            classifier.sha256 = seen.sha256
            super().__init__(
                *arguments,
                llm=FakeChatModel(last_line),
                embedder=FakeEmbedder(),
                relation_model=CalibratedRelationModel(EncoderPairScorer(classifier)),
                **options,
            )

        def verify(self, record: Record | Answer, *, on_event: OnEvent | None = None) -> Run:
            assert isinstance(record, Record)
            seen.verified.append(record.answer.path)
            if "impossible" in record.answer.text:
                raise InferenceError("the network has no answer")
            return super().verify(record, on_event=on_event)

    monkeypatch.setattr(verify_module, "FactChecker", Faked)
    monkeypatch.chdir(tmp_path)
    write("docs", PAGES)
    index()
    return seen


def last_line(messages: Any) -> str:  # noqa: ANN401
    """The sentence itself is the only claim."""
    found: Message = messages[-1]
    return f"- {found.content.rsplit('Sentence: ', 1)[-1].strip()}"


def index() -> None:
    embedder = FakeEmbedder()
    path = Path(".factcheck")
    made = Store.open(path) if path.exists() else Store.create(path, Fingerprint.of(embedder))
    with made:
        sync([Path("docs")], made, embedder)


def write(folder: str, files: dict[str, str]) -> None:
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (Path(folder) / name).write_text(text)


ANSWERS = {"a.md": RIGHT, "b.md": f"{RIGHT} {WRONG}", "c.md": UNKNOWN}


@pytest.fixture
def answers(work: Work) -> list[str]:
    assert work.made == 0
    write("answers", ANSWERS)
    return [f"answers/{name}" for name in ANSWERS]


def names(folder: str = "out") -> set[str]:
    return {p.name for p in Path(folder).iterdir()}


def load(path: str) -> Any:  # noqa: ANN401
    return json.loads(Path(path).read_text())


# --------------------------------------------------------------------- folder


def test_a_folder_of_reports(work: Work, answers: list[str]) -> None:
    done = factcheck("verify", *answers, "--output", "out/new", "--format", "markdown")
    assert (done.code, done.out) == (0, "")
    assert done.err.splitlines() == [
        *(f"written to out/new/{x}.md" for x in "abc"),
        "written to out/new/index.html",
    ]
    assert names("out/new") == {
        *("a.md", "a.json", "b.md", "b.json", "c.md", "c.json"),
        *("index.html", "summary.json"),
    }
    assert work.made == 1, "models are loaded once"
    summary = load("out/new/summary.json")
    assert summary["schema"] == "factcheck.summary/1"
    assert [(a["path"], a["report"], a["precision"]) for a in summary["answers"]] == [
        ("answers/a.md", "a.md", 1.0),
        ("answers/b.md", "b.md", 0.5),
        ("answers/c.md", "c.md", 0.0),
    ]
    counts = {v: n for v, n in summary["counts"].items() if n}
    assert counts == {"supported": 2, "contradicted": 1, "not_found": 1}
    assert summary["precision"] == 2 / 4
    assert summary["failed"] == []
    stored = load("out/new/b.json")
    assert [a["verdict"] for a in stored["atoms"]] == ["supported", "contradicted"]
    shown = factcheck("report", "out/new/b.json", "--format", "markdown")
    assert shown.out == Path("out/new/b.md").read_text()


def test_the_overview_links_the_reports(answers: list[str]) -> None:
    odd = "answers/x <b>#1&\u202e.md"
    Path(odd).write_text(WRONG)
    factcheck("verify", *answers, odd, "nowhere.md", "--output", "out", "--format", "html")
    text = Path("out/index.html").read_text()
    page = lxml_html.document_fromstring(text)
    (policy,) = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "script" not in policy
    assert not page.xpath("//script | //*[@style] | //img | //link | //b")
    links = page.xpath("//a/@href")
    assert len(links) == 8
    assert all((Path("out") / unquote(link)).is_file() for link in links)
    rows = [r.text_content() for r in page.xpath("//tbody//th")]
    assert rows == [*answers, "answers/x <b>#1&[U+202E].md"]
    shown = [d.text_content() for d in page.xpath("//tbody/tr[2]//data")]
    assert shown[0] == "0.50"
    (alert,) = page.xpath("//p[@class='alert']")
    assert alert.text_content() == (
        "Not verified: nowhere.md: cannot be read: No such file or directory"
    )


def test_a_second_run_verifies_what_changed(work: Work, answers: list[str]) -> None:
    def again(*options: object) -> list[str | None]:
        work.verified.clear()
        done = factcheck("verify", *answers, "--output", "out", *options)
        assert done.code == 0, done
        told = {line.split(":")[0] for line in done.err.splitlines() if "unchanged" in line}
        assert told == set(answers) - set(work.verified)
        return list(work.verified)

    assert again() == answers
    before = {n: Path("out", n).read_bytes() for n in names()}
    assert again() == []
    assert {n: Path("out", n).read_bytes() for n in names()} == before
    assert again("--format", "markdown") == [], "another format is made from the JSON"
    assert Path("out/b.md").is_file()

    Path(answers[1]).write_text(f"{RIGHT} {UNKNOWN}")
    assert again() == answers[1:2]
    assert [a["verdict"] for a in load("out/b.json")["atoms"]] == ["supported", "not_found"]
    assert again("-k", 2) == answers, "another setting"
    assert again() == answers
    assert again("--question", "How much?") == answers
    assert again("--question", "How much?") == []
    assert again("--again", "--question", "How much?") == answers
    again()
    work.sha256 = "1" * 64
    assert again() == answers, "other weights"
    write("docs", {"dogs.md": "Dogs may come."})
    index()
    assert again() == answers, "another index"
    Path("out/a.json").write_text(Path("out/a.json").read_text()[:-40])
    Path("out/c.json").unlink()
    assert again() == [answers[0], answers[2]], "cut off, or gone"


def test_an_interrupted_run_goes_on(
    work: Work, answers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    faked: type[FactChecker] = vars(verify_module)["FactChecker"]
    kept = faked.verify

    def interrupted(self: FactChecker, record: Record, **options: OnEvent | None) -> Run:
        if record.answer.path == answers[1]:
            raise KeyboardInterrupt
        return kept(self, record, **options)

    with monkeypatch.context() as patched:
        patched.setattr(faked, "verify", interrupted)
        done = factcheck("verify", *answers, "--output", "out")
    assert done.code == 130
    assert names() == {"a.txt", "a.json", "index.html", "summary.json"}, "none is half written"
    failed = [(f["path"], f["error"]) for f in load("out/summary.json")["failed"]]
    assert failed == [(a, "not verified, the run ended before: interrupted") for a in answers[1:]]
    assert factcheck("verify", *answers, "--output", "out").code == 0
    assert work.verified == answers, "each once"


def test_a_run_that_ends_at_its_first_answer_leaves_no_earlier_overview(
    answers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was supported yesterday is not shown as today's run, whose answers say otherwise."""
    assert factcheck("verify", *answers[:1], "--output", "out/").code == 0
    assert [a["path"] for a in load("out/summary.json")["answers"]] == answers[:1]
    Path(answers[0]).write_text(WRONG)

    def interrupted(*_: object, **__: object) -> Run:
        raise KeyboardInterrupt

    monkeypatch.setattr(vars(verify_module)["FactChecker"], "verify", interrupted)
    assert refused("verify", *answers[:1], "--output", "out/", "--set", "k=0")
    assert "summary.json" in names(), "no run has begun"
    assert factcheck("verify", *answers[:1], "--output", "out/").code == 130
    assert names() == {"a.txt", "a.json"}
    said = refused("report", "out/summary.json", "--fail-on", "contradicted")
    assert said == "out/summary.json: cannot be read: No such file or directory"


@pytest.mark.parametrize(
    ("given", "options"),
    [
        (["answers/a.md"], ("--output", "answers/a.md")),
        (["answers/a.md", "answers/b.md"], ("--output", "answers", "--format", "markdown")),
        (["answers/c.json"], ("--output", "answers/")),
        (["answers/summary.json"], ("--output", "answers/")),
    ],
)
def test_no_report_is_written_over_an_answer(
    answers: list[str], given: list[str], options: tuple[str, ...]
) -> None:
    for name in ("c.json", "summary.json"):
        Path("answers", name).write_text(json.dumps({"output": RIGHT}))
    before = {path: path.read_bytes() for path in Path("answers").iterdir()}
    assert answers[0] in map(str, before)
    said = refused("verify", *given, *options)
    assert said.endswith("is read, and would be overwritten (try: another file or folder)")
    assert {path: path.read_bytes() for path in Path("answers").iterdir()} == before


def test_an_output_that_is_empty_or_a_folder_is_refused_at_once(
    work: Work, answers: list[str]
) -> None:
    """A variable of a build that was not set is an empty option."""
    assert "expected a file or a folder" in factcheck("verify", *answers, "--output", "").err
    Path("graph.json").write_text("{}")
    said = refused("infer", "graph.json", "--write-uai", "answers")
    assert "answers" in said
    assert work.made == 0


def test_what_could_not_be_scored_is_tried_again(work: Work, answers: list[str]) -> None:
    Path(answers[0]).write_text("This is unreadable for pay: Pay is monthly.")
    for _ in range(2):
        assert factcheck("verify", *answers, "--output", "out", "--set", "assessor=fr1").code == 3
    assert work.verified == [*answers, answers[0]]


def test_a_single_answer_into_a_folder(work: Work, answers: list[str]) -> None:
    """A pattern that happens to match one file still makes a folder, if it ends like one."""
    assert factcheck("verify", answers[0], "--output", "out/").code == 0
    assert names() == {"a.txt", "a.json", "index.html", "summary.json"}
    assert factcheck("verify", answers[0], "--output", "out").code == 0
    assert len(work.verified) == 1
    assert factcheck("verify", answers[0], "--output", "one.txt").code == 0
    assert Path("one.txt").read_text().count("✓ supported") == 1


def test_records_of_a_file(work: Work) -> None:
    records = [
        {"output": RIGHT, "contexts": [{"id": "../../x", "text": text}]}
        for text in ("Leave is 25 days.", "Nothing at all.")
    ]
    lines = [json.dumps(r) for r in records]
    Path("r.jsonl").write_text("\n".join([lines[0], "{", lines[1]]))
    done = factcheck("verify", "r.jsonl", "--output", "out", "--format", "jsonl")
    assert done.code == 2
    assert "factcheck: r.jsonl, line 2: not JSON: " in done.err
    assert {n for n in names() if n.endswith(".jsonl")} == {"r-1.jsonl", "r-3.jsonl"}
    (summary,) = load("out/summary.json")["failed"]
    assert summary["path"] == "r.jsonl"
    work.verified.clear()
    records[1]["contexts"] = records[0]["contexts"]
    Path("r.jsonl").write_text("\n".join([lines[0], "", json.dumps(records[1])]))
    assert factcheck("verify", "r.jsonl", "--output", "out").code == 0
    assert work.verified == ["r.jsonl, line 3"], "the same answer with other contexts"


def test_a_file_whose_name_is_not_text(answers: list[str]) -> None:
    odd = os.fsdecode(b"caf\xe9.md")
    Path(odd).write_text(WRONG)
    for form in FORMATS:
        done = factcheck("verify", odd, answers[0], "--output", "out", "--format", form)
        assert done.code == 0, form
    assert {f"caf{ending}" for ending in FORMATS.values()} <= names()
    assert load("out/summary.json")["answers"][0]["path"] == "caf\ufffd.md"


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["a/x.md", "b/x.md", "b/X.txt"], ["x", "x-2", "X-3"]),
        (["index.md", "Summary.md"], ["index-2", "Summary-2"]),
        (["../../etc/passwd", "..", "/", "-"], ["passwd", "answer", "answer-2", "answer-3"]),
        ([".hidden.md", "a b?*:.md", "ä\x1b\n/.md"], ["hidden", "a-b", "md"]),
        (["r.jsonl, line 7", "r-7.md", "r.json"], ["r-7", "r-7-2", "r"]),
        ([None, "standard input"], ["answer", "answer-2"]),
        (["x" * 300 + ".md"], ["x" * 50]),
    ],
)
def test_names_of_reports(paths: list[str | None], expected: list[str]) -> None:
    found = report_names([Record(Answer("x", path)) for path in paths])
    assert found == expected
    assert all(re.fullmatch(r"[^\W_][\w-]*", name) for name in found)


@pytest.mark.parametrize("order", [("a.md", "a.graph.md"), ("a.graph.md", "a.md")])
@pytest.mark.usefixtures("work")
def test_the_report_of_one_is_no_assessment_of_another(order: tuple[str, str]) -> None:
    write(".", {"a.md": RIGHT, "a.graph.md": WRONG})
    done = factcheck("verify", *order, "--output", "out", "--format", "fact-graph")
    assert done.code == 0, done.err
    listed = {a["path"]: a for a in load("out/summary.json")["answers"]}
    assert len(names()) == 2 * len(order) + len(("summary.json", "index.html"))
    for name in order:
        assert load(f"out/{listed[name]['assessment']}")["answer"]["path"] == name
        assert "nodes" in load(f"out/{listed[name]['report']}")


# --------------------------------------------------------------------- stdout


def shown(answers: list[str], form: str, *options: str) -> Done:
    return factcheck("verify", *answers, "--format", form, *options)


def test_one_after_the_other(answers: list[str]) -> None:
    text = shown(answers, "text").out
    assert [line for line in text.splitlines() if line in answers] == answers
    pages = shown(answers, "markdown", "--only", "contradicted").out
    assert pages.count("# Fact check of answers/") == 3
    assert pages.count("| ✗ contradicted |") == 1
    assert "✓ supported" not in pages
    rows = [json.loads(line) for line in shown(answers, "jsonl").out.splitlines()]
    assert [r["answer"]["path"] for r in rows] == answers
    assert [r["answer"]["path"] for r in json.loads(shown(answers, "json").out)] == answers


def test_merged(answers: list[str]) -> None:
    (run,) = json.loads(shown(answers, "sarif").out)["runs"]
    assert [a["location"]["uri"] for a in run["artifacts"]] == answers
    found = [
        (r["ruleId"], r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])
        for r in run["results"]
    ]
    assert found == [("contradicted", answers[1]), ("not_found", answers[2])]
    suites = ElementTree.fromstring(shown(answers, "junit", "--fail-on", "contradicted").out)
    assert [(s.get("name"), s.get("failures")) for s in suites] == [
        *((answers[0], "0"), (answers[1], "1"), (answers[2], "0"))
    ]


def test_standard_input_among_them(answers: list[str]) -> None:
    done = factcheck("verify", answers[0], "-", "--format", "jsonl", stdin=WRONG.encode())
    found = [json.loads(line) for line in done.out.splitlines()]
    assert [f["answer"]["path"] for f in found] == [answers[0], "standard input"]


# ------------------------------------------------------------------ exit codes


def test_json_of_several_is_a_list_even_if_one_is_left(answers: list[str]) -> None:
    both = factcheck("verify", answers[0], "nowhere.md", "--format", "json")
    assert both.code == 2
    assert [a["answer"]["path"] for a in json.loads(both.out)] == answers[:1]
    alone = factcheck("verify", answers[0], "--format", "json")
    assert json.loads(alone.out)["answer"]["path"] == answers[0]


@pytest.mark.parametrize("form", ["junit", "json", "sarif"])
def test_what_ends_a_run_leaves_what_was_done(
    answers: list[str], monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    """A model that is lost at the second answer: the first one's report is there all the same."""
    faked: type[FactChecker] = vars(verify_module)["FactChecker"]
    usual = faked.verify

    def lost(self: FactChecker, record: Record, **options: OnEvent | None) -> Run:
        if record.answer.path == answers[1]:
            raise ModelError("the server is gone")
        return usual(self, record, **options)

    monkeypatch.setattr(faked, "verify", lost)
    folder = factcheck("verify", *answers, "--output", "out", "--format", form)
    assert folder.code == 2
    assert "factcheck: the server is gone" in folder.err
    summary = load("out/summary.json")
    assert [a["path"] for a in summary["answers"]] == answers[:1]
    why = "not verified, the run ended before: the server is gone"
    assert summary["failed"] == [{"path": a, "error": why} for a in answers[1:]]
    assert answers[0] in factcheck("verify", *answers, "--format", form).out


def test_what_ends_a_run_before_its_first_answer_is_said_of_all(
    answers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The overview is of today's run, though no answer was reached; with none begun it stays."""
    Path("answers/bad.md").write_bytes(b"caf\xe9")
    given = ["answers/bad.md", *answers]
    assert factcheck("verify", *answers, "--output", "out").code == 0

    def lost(*_: object, **__: object) -> Run:
        raise ModelError("the server is gone")

    monkeypatch.setattr(vars(verify_module)["FactChecker"], "verify", lost)
    before = load("out/summary.json")
    assert refused("verify", *answers, "--output", "out", "--set", "k=0").startswith("--set k: ")
    assert load("out/summary.json") == before
    done = factcheck("verify", *given, "--output", "out", "--again")
    assert (done.code, done.err.splitlines()[-1]) == (2, "factcheck: the server is gone")
    summary = load("out/summary.json")
    assert summary["answers"] == []
    why = "not verified, the run ended before: the server is gone"
    bad = "answers/bad.md: not valid UTF-8: byte 0xe9 at offset 3"
    expected = [(given[0], bad), *((a, why) for a in answers)]
    assert [(f["path"], f["error"]) for f in summary["failed"]] == expected
    assert why in Path("out/index.html").read_text()


def test_the_network_of_a_run_can_be_looked_at_with_other_tools(answers: list[str]) -> None:
    """As pgmpy solves it, and in the UAI format: the posteriors of the run."""
    Path("run.json").write_text(factcheck("verify", answers[1], "--format", "json").out)
    run = load("run.json")
    expected = {a["id"]: a["probability"] for a in run["atoms"]}
    factors = run["run"]["settings"]["factors"]
    for method in ("auto", "pgmpy"):
        written = ("--write-uai", "net.uai", "--write-bif", "net.bif")
        options = ("--method", method, "--factors", factors, *written)
        found = json.loads(factcheck("infer", "run.json", *options).out)["marginals"]
        assert {k: found[k] for k in expected} == pytest.approx(expected, abs=1e-9)
    own = json.loads(factcheck("infer", "run.json").out)["marginals"]
    assert own == json.loads(factcheck("infer", "run.json", "--factors", factors).out)["marginals"]
    again = json.loads(factcheck("infer", "net.uai").out)["marginals"]
    assert sorted(again.values()) == pytest.approx(sorted(found.values()), abs=1e-9)


def test_the_network_has_the_factors_of_its_run(answers: list[str]) -> None:
    options = ("--set", "factors=table1", "--format", "json")
    Path("run.json").write_text(factcheck("verify", answers[1], *options).out)
    found = json.loads(factcheck("infer", "run.json").out)["marginals"]
    expected = {a["id"]: a["probability"] for a in load("run.json")["atoms"]}
    assert {k: found[k] for k in expected} == pytest.approx(expected, abs=1e-9)
    old = load("run.json")
    old["run"]["settings"]["parameterisation"] = old["run"]["settings"].pop("factors")
    Path("old.json").write_text(json.dumps(old))
    assert json.loads(factcheck("infer", "old.json").out)["marginals"] == found
    Path("half.json").write_text('{"schema": "factcheck.assessment/1"}')
    assert refused("infer", "half.json").startswith("half.json: not a complete assessment")


@pytest.mark.usefixtures("work")
def test_the_network_of_fr4_has_its_documents_and_each_copy_once() -> None:
    """A text that stands in two passages counts once, and those of a document hang together."""
    passages = [
        {"id": "one", "link": "handbook", "title": "Handbook", "text": "Leave is 25 days."},
        {"id": "two", "link": "archive", "title": "Handbook", "text": "Leave is 25 days.\n"},
        {"id": "three", "link": "handbook", "title": "Handbook", "text": "Pay is monthly."},
    ]
    atoms = [
        {"id": f"a{i}", "text": text, "contexts": ["one", "two", "three"]}
        for i, text in enumerate((RIGHT, WRONG))
    ]
    record = {"output": f"{RIGHT} {WRONG}", "atoms": atoms, "contexts": passages}
    Path("r.json").write_text(json.dumps(record))
    options = ("--set", "assessor=fr4", "--format", "json")
    Path("run.json").write_text(factcheck("verify", "r.json", *options).out)
    expected = {a["id"]: a["probability"] for a in load("run.json")["atoms"]}
    expected |= {f"source:{s['source']}": s["posterior"] for s in load("run.json")["sources"]}
    assert len(expected) == 3
    files = ("--write-uai", "net.uai", "--write-bif", "net.bif")
    found = json.loads(factcheck("infer", "run.json", *files).out)["marginals"]
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-9)
    written = json.loads(factcheck("infer", "net.uai").out)["marginals"]
    assert sorted(written.values()) == pytest.approx(sorted(found.values()), abs=1e-9)
    assert Path("net.bif").read_text().count("variable ") == len(found)
    graph = factcheck("report", "run.json", "--format", "fact-graph", "--output", "graph.json")
    assert graph.code == 0
    plain = json.loads(factcheck("infer", "graph.json").out)["marginals"]
    assert plain.keys() - found.keys() == {"two"}, "a copy"
    assert found.keys() - plain.keys() == {"source:handbook"}
    assert plain["a0"] != pytest.approx(found["a0"], abs=1e-3)
    table = json.loads(factcheck("infer", "run.json", "--factors", "table1").out)["marginals"]
    assert table.keys() == found.keys()
    assert table != found


def test_a_setting_that_no_network_has_is_named_with_its_run(answers: list[str]) -> None:
    run = json.loads(factcheck("verify", answers[0], "--format", "json").out)
    run["run"]["settings"]["factors"] = "table3"
    Path("run.json").write_text(json.dumps(run))
    said = refused("infer", "run.json")
    assert said.startswith("run.json: factors: expected conditional, table1, got 'table3'")


def test_a_bad_answer_among_many(answers: list[str]) -> None:
    Path("answers/bad.md").write_bytes(b"caf\xe9")
    Path("answers/odd.md").write_text("This is impossible.")
    given = ["answers/bad.md", answers[0], "nowhere.md", "answers/odd.md", answers[1]]
    done = factcheck("verify", *given, "--format", "jsonl", "--fail-on", "contradicted")
    assert done.code == 2
    assert done.err.splitlines() == [
        "factcheck: answers/bad.md: not valid UTF-8: byte 0xe9 at offset 3",
        "factcheck: nowhere.md: cannot be read: No such file or directory",
        "factcheck: answers/odd.md: the network has no answer",
    ]
    found = [json.loads(line)["answer"]["path"] for line in done.out.splitlines()]
    assert found == answers[:2]
    none = factcheck("verify", "x.md", "y.md", "--format", "sarif")
    assert (none.code, none.out, len(none.err.splitlines())) == (2, "", 2)
    assert "the network has no answer" in refused("verify", "answers/odd.md")


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ((), 0),
        (("--fail-on", "contradicted"), 1),
        (("--fail-on", "conflicting"), 0),
        (("--fail-on", "conflicting, not-found"), 1),
        (("--fail-under", "0"), 0),
        (("--fail-under", "0.5"), 1),
    ],
)
def test_exit_codes(answers: list[str], options: tuple[str, ...], code: int) -> None:
    assert factcheck("verify", *answers, *options).code == code


def test_unscored_weighs_more_than_a_finding_and_less_than_no_answer(answers: list[str]) -> None:
    Path(answers[0]).write_text("This is unreadable for pay: Pay is monthly.")
    options = ("--set", "assessor=fr1", "--fail-on", "contradicted")
    assert factcheck("verify", *answers, *options).code == 3
    assert factcheck("verify", *answers, "nowhere.md", *options).code == 2


def test_report_fails_on_a_verdict(answers: list[str]) -> None:
    factcheck("verify", *answers, "--output", "out")
    for name, code in (("a", 0), ("b", 1), ("c", 0)):
        done = factcheck("report", f"out/{name}.json", "--fail-on", "contradicted")
        assert done.code == code
        assert "factual precision" in done.out
    sarif = factcheck("report", "out/b.json", "--format", "sarif")
    assert len(json.loads(sarif.out)["runs"][0]["results"]) == 1


def test_report_of_a_summary(answers: list[str], tmp_path: Path) -> None:
    """Nothing is verified again: the documents are the same as those of verify."""
    factcheck("verify", *answers, "--output", "out")
    for form in ("sarif", "junit", "markdown", "text"):
        done = factcheck("report", "out/summary.json", "--format", form)
        direct = shown(answers, form)
        assert (done.code, without_times(done.out)) == (0, without_times(direct.out))
    target = tmp_path / "x.sarif"
    done = factcheck(
        *("report", "out/summary.json", "--format", "sarif"),
        *("--output", target, "--fail-on", "not_found"),
    )
    assert done.code == 1
    assert len(load(str(target))["runs"][0]["artifacts"]) == 3
    assert "html is of one answer" in refused("report", "out/summary.json", "--format", "html")
    factcheck("verify", "nowhere.md", answers[1], "--output", "some")
    some = factcheck("report", "some/summary.json", "--format", "junit")
    assert (some.code, some.out.count("<testsuite ")) == (2, 1)
    assert "nowhere.md: cannot be read" in some.err
    factcheck("verify", "nowhere.md", "neither.md", "--output", "none")
    none = factcheck("report", "none/summary.json", "--format", "sarif", "--output", "none.sarif")
    assert (none.code, load("none.sarif")["runs"][0]["results"]) == (2, [])
    Path("out/b.json").unlink()
    assert refused("report", "out/summary.json").startswith("out/b.json: cannot be read: ")
    summary = load("out/summary.json")
    summary["answers"][0]["assessment"] = "../../elsewhere.json"
    Path("out/summary.json").write_text(json.dumps(summary))
    assert refused("report", "out/summary.json").startswith("out/elsewhere.json: cannot be read")


def without_times(text: str) -> str:
    text = re.sub(r"time: .*?\)", "", text, flags=re.DOTALL)
    return re.sub(r'time(stamp)?="[^"]*"', "", text)


# --------------------------------------------------------- terminals and pipes


def test_a_pipe_that_is_not_utf8(answers: list[str]) -> None:
    """Tables are in what the reader asked for, everything else is UTF-8."""
    Path(answers[0]).write_text("Leave is 25 days – ☃.")
    factcheck("verify", answers[0], "--output", "out/")
    for form, encoding in (("text", "ascii"), ("json", "utf-8"), ("markdown", "utf-8")):
        done = subprocess.run(
            [sys.executable, str(CLI), "report", "out/a.json", "--format", form],
            env=os.environ | {"PYTHONIOENCODING": "ascii"},
            capture_output=True,
            check=True,
        )
        assert done.stderr == b""
        assert ("☃" in done.stdout.decode(encoding)) == (encoding == "utf-8")


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environment", "colour"),
    [({"TERM": "xterm"}, True), ({"TERM": "dumb"}, False), ({"NO_COLOR": "1"}, False)],
)
def test_a_terminal(
    environment: dict[str, str], colour: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "stdout", Terminal())
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in (environment | {"COLUMNS": "61"}).items():
        monkeypatch.setenv(name, value)
    view = make_view("text", None)
    assert (view.width, view.colour) == (61, colour)
    into_file = make_view("text", tmp_path / "x.txt")
    assert (into_file.width, into_file.colour) == (120, False)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), "latin-1"))
    piped = make_view("text", None)
    assert (piped.width, piped.colour, piped.encoding) == (120, False, "latin-1")
