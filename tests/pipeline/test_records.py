"""Reading answers and records, and saying what is wrong with them and where."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from factcheck_local.core.errors import RecordError
from factcheck_local.core.types import Answer, Atom, Context, Span
from factcheck_local.indexer.reliability import DEFAULT_PRIOR
from factcheck_local.pipeline.claims.records import (
    Record,
    decode_answer,
    load_json,
    parse_input,
    parse_record,
)

DATA = Path(
    os.environ.get("FACTCHECK_SHARED_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")
)
FLAHERTY = DATA / "factreasoner" / "flaherty_wikipedia.json"

RECORD: dict[str, Any] = {
    "input": "Who?",
    "output": "He acted. He died in 2024.",
    "topic": "him",
    "atoms": [
        {"id": "a0", "text": "He acted.", "label": "S", "contexts": ["c0", "c1", "c0"]},
        {"id": "a1", "text": "He passed away.", "original": "He died in 2024.", "label": None},
    ],
    "contexts": [
        {"id": "c0", "title": "Wiki", "text": "an actor", "snippet": "short", "link": "http://x"},
        {"id": "c1", "title": "", "snippet": "only a snippet"},
    ],
}


def changed(**changes: Any) -> dict[str, Any]:  # noqa: ANN401
    return {**RECORD, **changes}


def one(path: str, data: str | bytes, **options: str) -> Record:
    (record,) = parse_input(data.encode() if isinstance(data, str) else data, path, **options)
    return record


# -------------------------------------------------------------------- answers


@pytest.mark.parametrize("path", ["a.md", "a.txt", "standard input", "a", "a.json.md"])
def test_text_is_an_answer(path: str) -> None:
    text = '{"output": 1}\r\n# Not read as a record \u2028'
    assert one(path, text) == Record(Answer(text, path))
    assert one(path, text, question="Why?").answer.question == "Why?"


def test_byte_order_mark_is_no_text() -> None:
    assert one("a.md", b"\xef\xbb\xbfHello").answer.text == "Hello"
    assert one("a.json", b'\xef\xbb\xbf{"output": "Hello"}').answer.text == "Hello"


@pytest.mark.parametrize("path", ["a.md", "a.json", "a.jsonl"])
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the answer is empty"),
        (b" \n\t\xc2\xa0", "the answer is empty"),
        (b"\xef\xbb\xbf", "the answer is empty"),
        (b"ab\xff", "not valid UTF-8: byte 0xff at offset 2"),
        ("é".encode("latin-1"), "not valid UTF-8: byte 0xe9 at offset 0"),
        (b"PK\3\4\0\0", "looks binary: a NUL byte at offset 4"),
    ],
)
def test_what_is_no_answer(path: str, data: bytes, message: str) -> None:
    with pytest.raises(RecordError) as caught:
        parse_input(data, path)
    assert str(caught.value) == f"{path}: {message}"
    with pytest.raises(RecordError, match=message):
        decode_answer(data, path)


# -------------------------------------------------------------------- records


def test_record() -> None:
    record = one("r.json", json.dumps(RECORD))
    output = RECORD["output"]
    assert record.answer == Answer(output, "r.json", "Who?")
    first, second = record.atoms or ()
    assert first == Atom(
        "a0", "He acted.", "He acted.", span=Span(0, 9), context_ids=("c0", "c1"), label="S"
    )
    assert second.original == "He died in 2024."
    assert second.span is not None
    assert second.span.of(output) == second.original
    assert second.context_ids == ()
    assert record.contexts == (
        Context("c0", "http://x", "Wiki", "an actor", DEFAULT_PRIOR, link="http://x"),
        Context("c1", "r.json, context 1", "", "only a snippet", DEFAULT_PRIOR),
    )


def test_an_original_that_is_not_verbatim_has_no_place() -> None:
    record = parse_record(changed(atoms=[{"id": "a", "text": "He sang."}]), "r")
    assert record.atoms is not None
    assert record.atoms[0].span is None


def test_what_is_not_there_is_still_to_be_done() -> None:
    assert parse_record({"output": "x"}, "r") == Record(Answer("x", "r"))
    bare = parse_record({"output": "x", "atoms": None, "contexts": None, "input": None}, "r")
    assert bare == Record(Answer("x", "r"))


def test_a_given_question_wins() -> None:
    assert parse_record(RECORD, "r", question="When?").answer.question == "When?"


@pytest.mark.skipif(not FLAHERTY.is_file(), reason="needs the shared data")
def test_factreasoners_own_record() -> None:
    raw = json.loads(FLAHERTY.read_text(encoding="utf-8"))
    record = one(str(FLAHERTY), FLAHERTY.read_bytes())
    assert record.answer.text == raw["output"]
    assert record.answer.question == raw["input"]
    assert record.atoms is not None
    assert record.contexts is not None
    assert len(record.atoms) == 26
    assert len(record.contexts) == 53
    known = {c.id for c in record.contexts}
    for atom, given in zip(record.atoms, raw["atoms"], strict=True):
        assert (atom.id, atom.text, atom.label) == (given["id"], given["text"], given["label"])
        assert set(atom.context_ids) == set(given["contexts"]) <= known
        if atom.span is not None:
            assert atom.span.of(record.answer.text) == atom.original
    assert {a.label for a in record.atoms} <= {"S", "NS"}
    assert all(c.text.strip() for c in record.contexts)


ATOM = RECORD["atoms"][0]
CONTEXT = RECORD["contexts"][0]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([RECORD], "r.json: expected a JSON object, got list"),
        ("text", "r.json: expected a JSON object, got str"),
        (None, "r.json: expected a JSON object, got NoneType"),
        ({}, "r.json: expected 'output' to be a non-empty text"),
        (changed(output=""), "r.json: expected 'output' to be a non-empty text"),
        (changed(output=" \n"), "r.json: the answer ('output') is empty"),
        (changed(output=5), "r.json: expected 'output' to be a text, got int"),
        (changed(input=["Who?"]), "r.json: expected 'input' to be a text, got list"),
        (changed(atoms="a0"), "r.json: expected 'atoms' to be a list of objects"),
        (changed(atoms=["a0"]), "r.json: expected 'atoms' to be a list of objects"),
        (changed(contexts={"c0": "x"}), "r.json: expected 'contexts' to be a list of objects"),
        (
            changed(atoms=[{"id": "a"}]),
            "r.json, atom 0: expected 'text' to be a non-empty text",
        ),
        (
            changed(atoms=[ATOM, {"text": "x"}]),
            "r.json, atom 1: expected 'id' to be a non-empty text",
        ),
        (
            changed(atoms=[ATOM | {"id": 7}]),
            "r.json, atom 0: expected 'id' to be a text, got int",
        ),
        (
            changed(atoms=[ATOM | {"label": True}]),
            "r.json, atom 0: expected 'label' to be a text, got bool",
        ),
        (
            changed(atoms=[ATOM | {"contexts": ["c9"]}]),
            "r.json, atom 0: unknown context 'c9'",
        ),
        (
            changed(atoms=[ATOM | {"contexts": "c0"}]),
            "r.json, atom 0: expected 'contexts' to be a list of ids",
        ),
        (
            changed(atoms=[ATOM | {"contexts": [0]}]),
            "r.json, atom 0: expected 'contexts' to be a list of ids",
        ),
        (changed(atoms=[ATOM, ATOM]), "r.json, atoms: the id 'a0' stands twice"),
        (
            changed(contexts=[CONTEXT, RECORD["contexts"][1], CONTEXT]),
            "r.json, contexts: the id 'c0' stands twice",
        ),
        (
            changed(contexts=[{"id": "c0", "title": "x", "text": " "}]),
            "r.json, context 0: expected a 'text' or a 'snippet'",
        ),
        (
            changed(contexts=[{"text": "x"}]),
            "r.json, context 0: expected 'id' to be a non-empty text",
        ),
        (
            changed(atoms=[ATOM | {"id": "c1"}]),
            "r.json: 'c1' is the id of an atom and of a context",
        ),
        (changed(contexts=None), "r.json, atom 0: unknown context 'c0'"),
    ],
)
def test_malformed_record(value: object, message: str) -> None:
    with pytest.raises(RecordError) as caught:
        parse_input(json.dumps(value).encode(), "r.json")
    assert str(caught.value) == message


def test_a_record_made_in_python_has_one_text_for_an_id() -> None:
    atom, context = Atom("x", "He acted.", original="He acted."), Context("x", "s", "", "No.", 0.5)
    with pytest.raises(RecordError) as caught:
        Record(Answer("He acted."), (atom,), (context,))
    assert str(caught.value) == "record: 'x' is the id of an atom and of a context"
    assert Record(Answer("He acted."), contexts=(context,)).atoms is None


@pytest.mark.parametrize(
    ("path", "atoms", "contexts", "message"),
    [
        (None, ("a", "b", "a"), (), "record, atoms: the id 'a' stands twice"),
        ("a.md", ("a",), ("c", "c"), "a.md, contexts: the id 'c' stands twice"),
        ("a.md", ("a", "c9"), ("c",), "a.md, atom 1: unknown context 'c9'"),
        (None, ("c9",), (), "record, atom 0: unknown context 'c9'"),
    ],
)
def test_a_record_made_in_python_has_ids_as_a_file_has(
    path: str | None, atoms: tuple[str, ...], contexts: tuple[str, ...], message: str
) -> None:
    made = tuple(
        Atom(id_, f"Claim {i}.", f"Claim {i}.", context_ids=("c9",) if id_ == "c9" else ())
        for i, id_ in enumerate(atoms)
    )
    brought = tuple(Context(id_, "s", "", f"Text {i}.", 0.5) for i, id_ in enumerate(contexts))
    with pytest.raises(RecordError) as caught:
        Record(Answer("He acted.", path), made, brought)
    assert str(caught.value) == message


def test_contexts_of_another_run_are_looked_for_anew() -> None:
    """Claims of a run name its passages; a record without contexts retrieves its own."""
    atom = Atom("a", "He acted.", "He acted.", context_ids=("c9",))
    assert Record(Answer("He acted."), (atom,)).contexts is None


# ----------------------------------------------------------------------- JSON


def test_json_lines() -> None:
    rows = [{"output": "one"}, {"output": "two \u2028 \x85 \x0c still two"}, {"output": "three"}]
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    data = f"{lines[0]}\r\n\n{lines[1]}\n  \n{lines[2]}"
    records = parse_input(data.encode(), "r.JSONL")
    assert [r.answer.text for r in records] == [row["output"] for row in rows]
    assert [r.answer.path for r in records] == [f"r.JSONL, line {n}" for n in (1, 3, 5)]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ('{"output": "x"}\n{"output": ', "r.jsonl, line 2: not JSON: Expecting value at column 12"),
        ('\n\n[]\n{"output": "x"}', "r.jsonl, line 3: expected a JSON object, got list"),
        ('{"output": "x"}\n{"output": 3}', "r.jsonl, line 2: expected 'output' to be a text"),
        ('{"output": "x"}\n{"output": "\\ud83d"}', r"r.jsonl, line 2: \ud83d is half a character"),
    ],
)
def test_a_bad_line_is_named(data: str, message: str) -> None:
    with pytest.raises(RecordError) as caught:
        parse_input(data.encode(), "r.jsonl")
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{\n"a": 1,\n}', "f, line 3: not JSON: "),
        ("nope", "f, line 1: not JSON: Expecting value at column 1"),
        ("[" * 200_000, "f: JSON that cannot be read: "),
        ("1" * 5000, "f: JSON that cannot be read: "),
        (r'{"a": ["\udc00 x"]}', r"f: \udc00 is half a character, not a text"),
        (r'{"\ud800": 1}', r"f: \ud800 is half a character, not a text"),
    ],
)
def test_json_that_cannot_be_read(text: str, message: str) -> None:
    with pytest.raises(RecordError) as caught:
        load_json(text, "f")
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_json_that_can() -> None:
    assert load_json(r'{"a": "\ud83d\ude00 \\ud83d"}', "f") == {"a": "😀 \\ud83d"}
