"""Verdicts as they are reached: JSON lines for a program, lines on a terminal."""

from __future__ import annotations

import json
import os
import re
import sys
import threading
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest import mock

import jsonschema
import pytest

from factcheck_local.cli import main
from factcheck_local.cli import verify as verify_module
from factcheck_local.core.errors import InferenceError, ModelError
from factcheck_local.models.fake import FakePairClassifier
from factcheck_local.report import event_json_schema
from factcheck_local.report.events import EVENT_SCHEMA

from .helpers import Done, factcheck, refused
from .worlds import fake, index, write

VALIDATOR = jsonschema.Draft202012Validator(json.loads(event_json_schema()))

RIGHT, WRONG, UNKNOWN = "Leave is 25 days.", "Animals: 5 may come.", "Dogs sleep."
ANSWERS = {"a.md": f"{RIGHT} {WRONG}", "b.md": f"{UNKNOWN}\n\nShall I go on?"}
STREAM = ("--format", "jsonl", "--stream")


@pytest.fixture
def answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A store and answers in an empty working directory, models by script."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "docs", leave="Leave is 25 days.", animals="Animals: 2 may come.")
    index(tmp_path / "docs", tmp_path / ".factcheck")
    fake(monkeypatch, verify_module)
    for name, text in ANSWERS.items():
        Path(name).write_text(text)
    return list(ANSWERS)


def events(out: str) -> list[dict[str, Any]]:
    """Lines of JSON, each as the schema says."""
    assert out.endswith("\n")
    found = [json.loads(line) for line in out.splitlines()]
    for event in found:
        VALIDATOR.validate(event)
    return found


def untimed(assessment: dict[str, Any]) -> str:
    del assessment["run"]["started"], assessment["run"]["seconds"]
    return json.dumps(assessment)


def kinds(found: list[dict[str, Any]], *chosen: str) -> list[tuple[int, str]]:
    return [(e["number"], e["event"]) for e in found if e["event"] in chosen]


# ---------------------------------------------------------------- JSON lines


def test_the_last_line_is_what_json_gives(answers: list[str]) -> None:
    done = factcheck("verify", answers[0], *STREAM)
    assert (done.code, done.err) == (0, "")
    found = events(done.out)
    assert {(e["schema"], e["answer"], e["number"]) for e in found} == {(EVENT_SCHEMA, "a.md", 1)}
    alone = factcheck("verify", answers[0], "--format", "json")
    assert found[-1]["event"] == "assessment"
    assert untimed(found[-1]["assessment"]) == untimed(json.loads(alone.out))
    claims = [e for e in found if e["event"] == "claim"]
    assert [(e["done"], e["count"]) for e in claims] == [(1, 2), (2, 2)]
    assert {(e["claim"]["text"], e["claim"]["verdict"]) for e in claims} == {
        *((RIGHT, "supported"), (WRONG, "contradicted"))
    }
    assert [[c["source"] for c in e["contexts"]] for e in claims] == [
        [f"{e['claim']['text'].split()[0].lower().strip(':')}.md"] for e in claims
    ]
    assert kinds(found, "stage", "claim")[-3:] == [(1, "claim"), (1, "stage"), (1, "stage")]


def test_of_several_answers_each_has_its_lines(answers: list[str]) -> None:
    Path("bad.md").write_bytes(b"caf\xe9")
    done = factcheck("verify", answers[0], "bad.md", answers[1], *STREAM)
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    found = events(done.out)
    assert kinds(found, "claim", "assessment", "failed") == [
        *((1, "claim"), (1, "claim"), (1, "assessment"), (2, "failed")),
        *((3, "claim"), (3, "assessment")),
    ]
    (failed,) = (e for e in found if e["event"] == "failed")
    assert f"factcheck: {failed['error']}\n" == done.err
    assert failed["answer"] == "bad.md"
    exit_code = factcheck("verify", *answers, *STREAM, "--fail-on", "contradicted").code
    assert exit_code == 1


def test_each_line_is_there_when_it_is_said(
    answers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the second pair that is read a reader has had what came before it."""
    had: list[str] = []
    usual = FakePairClassifier.classify

    def look(self: FakePairClassifier, pairs: Any) -> Any:  # noqa: ANN401
        sys.stdout.buffer.seek(0)
        had.append(sys.stdout.buffer.read().decode())
        return usual(self, pairs)

    monkeypatch.setattr(FakePairClassifier, "classify", look)
    factcheck("verify", answers[0], *STREAM)
    assert len(had) == 2
    assert kinds(events(had[1]), "claim") == [(1, "claim")]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--stream",), "--stream is for jsonl, not for text"),
        (("--stream", "--format", "json"), "--stream is for jsonl, not for json"),
        ((*STREAM, "--output", "x.jsonl"), "--stream is to stdout, not to --output"),
        ((*STREAM, "--together", "2"), "--stream tells of one answer after the other"),
    ],
)
@pytest.mark.usefixtures("answers")
def test_where_there_is_nothing_to_stream(options: tuple[str, ...], why: str) -> None:
    assert refused("verify", "a.md", *options).startswith(why)
    assert refused("verify", "nowhere.md", *STREAM).startswith("nowhere.md: cannot be read")


def raising(monkeypatch: pytest.MonkeyPatch, error: BaseException, *at: int) -> None:
    """Have some calls of the relation model raise, counted from 1."""
    usual, calls = FakePairClassifier.classify, iter(range(1, 1000))

    def classify(self: FakePairClassifier, pairs: Any) -> Any:  # noqa: ANN401
        if next(calls) in at:
            raise error
        return usual(self, pairs)

    monkeypatch.setattr(FakePairClassifier, "classify", classify)


@pytest.mark.parametrize(
    ("error", "code", "said", "why"),
    [
        (KeyboardInterrupt(), 130, "interrupted; what was written is kept", "interrupted"),
        (ModelError("the server is gone"), 2, "the server is gone", "the server is gone"),
    ],
)
def test_what_ends_a_run_amid_an_answer_leaves_whole_lines(
    answers: list[str],
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    code: int,
    said: str,
    why: str,
) -> None:
    # The second call of the first run, and the third of the other.
    raising(monkeypatch, error, 2, 2 + 3)
    done = factcheck("verify", answers[0], *STREAM)
    assert (done.code, done.err.strip()) == (code, f"factcheck: {said}")
    assert kinds(events(done.out), "claim", "assessment", "failed") == [(1, "claim")]
    done = factcheck("verify", answers[0], answers[0], answers[1], *STREAM)
    assert (done.code, done.err.strip()) == (code, f"factcheck: {said}")
    found = events(done.out)
    assert kinds(found, "assessment", "failed") == [
        *((1, "assessment"), (2, "failed"), (3, "failed"))
    ]
    ended = [(e["answer"], e["error"]) for e in found if e["event"] == "failed"]
    assert ended == [(a, f"not verified, the run ended before: {why}") for a in answers]


def test_what_ends_a_run_before_its_first_answer_leaves_a_last_line_for_each(
    answers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    raising(monkeypatch, ModelError("the server is away"), 1)
    Path("bad.md").write_bytes(b"caf\xe9")
    done = factcheck("verify", "bad.md", *answers, *STREAM)
    assert (done.code, done.err.splitlines()[-1]) == (2, "factcheck: the server is away")
    found = [e for e in events(done.out) if e["event"] == "failed"]
    assert [(e["number"], e["answer"]) for e in found] == [(1, "bad.md"), (2, "a.md"), (3, "b.md")]
    ended = "not verified, the run ended before: the server is away"
    assert [e["error"] for e in found[1:]] == [ended] * 2


def test_an_answer_that_fails_late_has_its_last_line(
    answers: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    raising(monkeypatch, InferenceError("no answer"), 1)
    done = factcheck("verify", *answers, *STREAM)
    assert (done.code, done.err) == (2, "factcheck: a.md: no answer\n")
    found = events(done.out)
    assert kinds(found, "assessment", "failed") == [(1, "failed"), (2, "assessment")]


def run_with(out: int, err: int) -> int:
    """The exit code of a verification whose streams are these files."""
    with (
        mock.patch.object(sys, "argv", ["factcheck", "verify", "a.md", *STREAM]),
        os.fdopen(out, "w", encoding="utf-8") as stdout,
        os.fdopen(err, "w", encoding="utf-8") as stderr,
        redirect_stdout(stdout),
        redirect_stderr(stderr),
        pytest.raises(SystemExit) as ended,
    ):
        main()
    assert isinstance(ended.value.code, int)
    return ended.value.code


@pytest.mark.usefixtures("answers")
def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    err = os.open(tmp_path / "err", os.O_WRONLY | os.O_CREAT)
    assert run_with(writing, err) == 0
    assert (tmp_path / "err").read_text() == ""


# ------------------------------------------------------------------- schema


def test_the_command_prints_the_schema() -> None:
    done = factcheck("report", "--event-schema")
    assert (done.code, done.out, done.err) == (0, event_json_schema(), "")
    jsonschema.Draft202012Validator.check_schema(VALIDATOR.schema)


STAGE = {"schema": EVENT_SCHEMA, "answer": None, "number": 1, "event": "stage", "stage": "load"}


@pytest.mark.parametrize(
    "change",
    [
        {"event": "other"},
        {"event": "progress"},
        {"number": 0},
        {"more": 1},
        {"done": 1},
        {"schema": "factcheck.event/2"},
        {"event": "assessment", "assessment": {}},
    ],
)
def test_what_is_otherwise_does_not_pass(change: dict[str, Any]) -> None:
    VALIDATOR.validate(STAGE)
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(STAGE | change)


# ----------------------------------------------------------------- terminals


class Pty:
    """A pseudo-terminal, and what was written to it."""

    def __init__(self) -> None:
        self._ours, self.theirs = os.openpty()
        self._parts: list[bytes] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        while True:
            try:
                part = os.read(self._ours, 4096)
            except OSError:
                # The other end is closed.
                return
            if not part:
                return
            self._parts.append(part)

    def text(self) -> str:
        """All of it, once the other end is closed."""
        self._reader.join(timeout=60)
        os.close(self._ours)
        return b"".join(self._parts).decode().replace("\r\n", "\n")


def on_terminals(*arguments: str, out: bool = True, err: bool = True) -> Done:
    """``factcheck ARGUMENTS`` with stdout or stderr, or both, on terminals; else in files."""
    pty = {name: Pty() for name, is_pty in (("out", out), ("err", err)) if is_pty}
    code = -1

    def stream(name: str) -> Any:  # noqa: ANN401
        if name in pty:
            return os.fdopen(pty[name].theirs, "w", encoding="utf-8")
        return open(f"{name}.txt", "w", encoding="utf-8")

    with (
        mock.patch.object(sys, "argv", ["factcheck", *arguments]),
        stream("out") as stdout,
        stream("err") as stderr,
        redirect_stdout(stdout),
        redirect_stderr(stderr),
        pytest.raises(SystemExit) as ended,
    ):
        main()
    assert isinstance(ended.value.code, int)
    code = ended.value.code
    texts = {n: pty[n].text() if n in pty else Path(f"{n}.txt").read_text() for n in ("out", "err")}
    return Done(code, texts["out"], texts["err"])


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")


def shown(err: str) -> list[str]:
    """The lines that stay on a terminal."""
    return [line.rpartition("\r\x1b[K")[2] for line in err.split("\n")]


@pytest.mark.usefixtures("wide")
def test_a_terminal_shows_claims_as_they_are_reached(answers: list[str]) -> None:
    done = on_terminals("verify", answers[0])
    assert done.code == 0
    lines = shown(done.err)
    at = [i for i, line in enumerate(lines) if "provisional" in line]
    found = [[*re.split(r"\s{2,}", lines[i].strip()), lines[i + 1].strip()] for i in at]
    assert [(verdict, claim, place) for _, verdict, _, claim, place in found] == [
        ("✓ supported", RIGHT, "leave.md:1"),
        ("✗ contradicted", WRONG, "animals.md:1"),
    ]
    assert all(len(line) <= 100 for line in shown(done.err))
    # Progress is drawn below the claims, and over.
    assert done.err.index("provisional") < done.err.index("relate 2/2")
    assert "provisional" not in done.out
    assert "factual precision" in done.out


@pytest.mark.usefixtures("wide")
def test_elsewhere_nothing_is_shown_and_the_report_is_the_same(answers: list[str]) -> None:
    for options, streams in [
        (("verify", answers[0]), {"out": False}),
        (("verify", answers[0]), {"err": False}),
        (("--quiet", "verify", answers[0]), {}),
        (("verify", answers[0], "--format", "markdown"), {}),
        (("verify", answers[0], "--output", "x.txt"), {}),
    ]:
        done = on_terminals(*options, **streams)
        assert done.code == 0
        assert "provisional" not in done.out + done.err, options


@pytest.mark.usefixtures("wide")
def test_claims_that_are_not_asked_for_are_not_shown(answers: list[str]) -> None:
    done = on_terminals("verify", answers[0], "--only", "contradicted")
    assert [line for line in shown(done.err) if RIGHT in line] == []
    assert len([line for line in shown(done.err) if WRONG in line]) == 1


@pytest.mark.usefixtures("wide")
def test_what_a_claim_holds_steers_no_terminal(answers: list[str]) -> None:
    Path(answers[0]).write_text("Leave is 25 \x1b[31mdays\x07 of rest and \u202e more and more.")
    err = on_terminals("verify", answers[0]).err
    (line,) = (line for line in shown(err) if "provisional" in line)
    assert line.isprintable()
