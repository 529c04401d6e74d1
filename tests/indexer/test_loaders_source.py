"""reStructuredText and Python: text as written, structure by the languages' own parsers."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from factcheck_local.core.errors import DocumentError
from factcheck_local.core.types import Document
from factcheck_local.indexer.loaders import python, rst

from .samples import PYTHON, RST, outline, read


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_rst_structure_and_offsets(corpus: Path, line_end: str) -> None:
    text = RST.replace("\n", line_end)
    document = read(corpus, "a.rst", text)
    assert document.text == text
    assert [(path, said.replace("\r\n", "\n")) for path, said in outline(document)] == [
        (("Leave",), "=====\nLeave\n====="),
        (("Leave",), ":date: 2024-03-01\n:reliability: 0.8"),
        (("Leave",), "Staff get *25* days.\nThey ask in writing."),
        (("Leave", "Carrying over days"), "Carrying over ``days``\n----------------------"),
        (("Leave", "Carrying over days"), "- five days\n\n  and no more"),
        (("Leave", "Carrying over days"), ".. note::\n\n   Ask *early*."),
        (("Leave", "Carrying over days"), "The end."),
    ]
    assert [block.is_heading for block in document.blocks] == [
        True, False, False, True, False, False, False,
    ]  # fmt: skip
    assert document.title == "Leave"
    assert document.metadata == {"date": "2024-03-01", "reliability": 0.8}


def test_rst_metadata_stands_at_the_top_only(corpus: Path) -> None:
    document = read(corpus, "a.rst", "Text first.\n\n:date: 2024-03-01\n\nA\n=\n\n:date: 2020\n")
    assert document.metadata == {}


def test_rst_meta_directive(corpus: Path) -> None:
    text = (
        ".. meta::\n   :superseded_by: new.rst\n   :date: 2024-03-01\n\n.. title:: Rules\n\nText.\n"
    )
    document = read(corpus, "a.rst", text)
    assert document.metadata == {
        "title": "Rules",
        "date": "2024-03-01",
        "superseded_by": "new.rst",
    }
    assert document.title == "Rules"


@pytest.mark.parametrize(
    "directive",
    [
        ".. include:: secret.txt",
        ".. literalinclude:: secret.txt",
        ".. raw:: html\n   :file: secret.txt",
        ".. csv-table:: t\n   :file: secret.txt",
        ".. figure:: secret.txt\n   :figwidth: image",
    ],
)
def test_rst_reads_no_other_file(
    corpus: Path, directive: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (corpus / "secret.txt").write_text("Secret\n======\n\nsecret text, more")
    (corpus / "docutils.conf").write_text("[parsers]\nfile_insertion_enabled: yes\n")
    monkeypatch.chdir(corpus)
    document = read(corpus, "a.rst", f"Top\n===\n\n{directive}\n\nEnd.\n")
    assert outline(document) == [(("Top",), "Top\n==="), (("Top",), directive), (("Top",), "End.")]


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        (".. a remark\n   goes on\n\n   and on\n\nText.", ["Text."]),
        ("..\n   a remark\n\nText.", ["Text."]),
        ("..\n\n   A quotation.", ["..\n\n   A quotation."]),
        (".. [1] A note.\n\n.. |x| replace:: y\n\n.. _l:\n\nText.",
         [".. [1] A note.", ".. |x| replace:: y", "Text."]),
        ("Code::\n\n    A\n    =\n\nText.", ["Code::\n\n    A\n    =", "Text."]),
        ("Term\n  Means.\n\n  More.\n\n====\n\nEnd.", ["Term\n  Means.\n\n  More.", "End."]),
        ("Unknown :role:`x` |here|\n\n.. nothing:: a\n\n   b",
         ["Unknown :role:`x` |here|", ".. nothing:: a\n\n   b"]),
        ("A\n===\n\n.. a\n\nB\n---\ntext", ["A\n===", "B\n---\ntext"]),
    ],
)  # fmt: skip
def test_rst_blocks(corpus: Path, text: str, texts: list[str]) -> None:
    found = [said for _, said in outline(read(corpus, "a.rst", text))]
    assert "\n".join(found).split() == " ".join(texts).split()


def test_rst_headings_after_odd_line_ends(corpus: Path) -> None:
    text = "One\x0c\u2028two\t.\x85\n\nA\n===\n\n\ttext\n\nB\n===\n"
    document = read(corpus, "a.rst", text)
    assert [said for said, block in zip(outline(document), document.blocks, strict=True)
            if block.is_heading] == [(("A",), "A\n==="), (("B",), "B\n===")]  # fmt: skip


def test_rst_with_a_line_that_is_too_long_keeps_its_text(corpus: Path) -> None:
    text = "A\n===\n\n" + "word " * 10_000
    assert read(corpus, "a.rst", text).blocks[-1].span.end == len(text.rstrip())


def test_rst_nested_deeply_is_read_or_one_line(corpus: Path) -> None:
    text = "".join(" " * level + "- x\n\n" for level in range(0, 1200, 2))
    with pytest.raises(DocumentError, match=r"^a\.rst: is nested too deeply$"):
        read(corpus, "a.rst", text)


def test_python_docstrings_under_their_names(corpus: Path) -> None:
    document = read(corpus, "pkg/tea.py", PYTHON)
    assert document.text == PYTHON
    assert outline(document) == [
        ((), "What this module does, caf\xe9."),
        ((), "In more detail."),
        (("Tea",), "class Tea(Drink):"),
        (("Tea",), "A drink."),
        (
            ("Tea", "Tea.brew"),
            "def brew(\n        self, minutes: int = 3\n    ) -> str:  # slowly",
        ),
        (("Tea", "Tea.brew"), "Takes three minutes."),
        (("Tea", "Tea.brew"), "No more."),
        (("undocumented", "undocumented.inner"), "async def inner():"),
        (("undocumented", "undocumented.inner"), "Says little."),
    ]
    assert document.title == "tea.py"


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("def é(ü='ü'): 'said é'", ["def é(ü='ü'):", "said é"]),
        ("x = 'no'\ndef f():\n  # remark\n  '''one\\\n  two'''", ["def f():", "one\\\n  two"]),
        ("'joined ' 'literals'", ["'joined ' 'literals'"]),
        ("if x:\n  try:\n    class A:\n      'a'\n  except E:\n    def f():\n      'b'",
         ["class A:", "a", "def f():", "b"]),
        ("\x0c'''after a form feed'''\r\n", ["after a form feed"]),
        ("'\\N{BULLET} and \\d'", ["\\N{BULLET} and \\d"]),
    ],
)  # fmt: skip
def test_python_places(corpus: Path, text: str, texts: list[str]) -> None:
    assert [said for _, said in outline(read(corpus, "a.py", text))] == texts


def test_python_in_the_encoding_that_it_declares(corpus: Path) -> None:
    data = "# -*- coding: latin-1 -*-\n'''café'''\n".encode("latin-1")
    assert outline(read(corpus, "a.py", data)) == [((), "café")]


def test_python_is_never_run(corpus: Path) -> None:
    mark = corpus / "mark"
    read(corpus, "a.py", f"'''Doc.'''\nopen({str(mark)!r}, 'w')\n")
    assert not mark.exists()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "holds no docstring"),
        (b"x = 1\n", "holds no docstring"),
        (b"'''open", "is not valid Python, line 1: "),
        (b"def f(:\n", "is not valid Python, line 1: "),
        (b"print 'python 2'", "is not valid Python, line 1: "),
        (b"# coding: klingon\n'''x'''", "is not Python: unknown encoding"),
        (b"'''caf\xe9'''", "is not (Python: |valid )"),
        (b"x\x00", "looks binary"),
        (b"(" * 5000, "is not valid Python"),
        (b"x = " + b"-" * 200_000 + b"1", "is nested too deeply"),
    ],
)
def test_python_that_cannot_be_read(corpus: Path, data: bytes, reason: str) -> None:
    with pytest.raises(DocumentError, match=rf"^a\.py: {reason}"):
        read(corpus, "a.py", data)


def sound(document: Document) -> None:
    position = 0
    for block in document.blocks:
        text = block.span.of(document.text)
        assert position <= block.span.start < block.span.end <= len(document.text)
        assert text == text.strip()
        position = block.span.end


PIECES = st.sampled_from(
    [*"=-~ \t\n\n\n", "\r\n", "A\n=\n", "B\n--\n", "====\n T\n====\n", ".. x\n", ".. a::\n", "..\n",
     "   in\n", "- i\n", ":f: v\n", "::\n", "`r`_", "|s|", "*", "``", "_l:", "\x0b", "\x85", "w "]
)  # fmt: skip


@given(text=st.lists(PIECES, max_size=40).map("".join))
@settings(deadline=None)
def test_any_rst_gives_sound_blocks(text: str) -> None:
    sound(rst.load(text.encode(), "a.rst"))


CODE = st.sampled_from(
    ["class A:\n", "def f(x): # c\n", " ", "    ", "'d'\n", '"""d\n\ne"""\n', "pass\n", "\n",
     "é = 1\n", "# c\n", "r'''x\\'''\n", "'a' 'b'\n", ";", "\x0c", "\\\n", "@d\n", "\r"]
)  # fmt: skip


@given(text=st.lists(CODE, max_size=25).map("".join))
@settings(deadline=None)
def test_any_python_gives_sound_blocks(text: str) -> None:
    with suppress(DocumentError):
        sound(python.load(text.encode(), "a.py"))
