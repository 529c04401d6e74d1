"""Runs the command line as the shell would, in this process."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from typing import NamedTuple
from unittest import mock

import pytest
from reportlab.pdfgen.canvas import Canvas

from factcheck_local.cli import main

SMALL = "smollm2-135m"


class Done(NamedTuple):
    code: int
    out: str
    err: str


def factcheck(*arguments: object, stdin: bytes = b"") -> Done:
    """Exit code, stdout and stderr of ``factcheck ARGUMENTS``."""
    streams = {name: io.TextIOWrapper(io.BytesIO(), "utf-8") for name in ("out", "err")}
    with (
        mock.patch.object(sys, "argv", ["factcheck", *map(str, arguments)]),
        mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), "utf-8")),
        redirect_stdout(streams["out"]),
        redirect_stderr(streams["err"]),
        pytest.raises(SystemExit) as ended,
    ):
        main()
    found = []
    for stream in streams.values():
        stream.flush()
        assert isinstance(stream.buffer, io.BytesIO)
        found.append(stream.buffer.getvalue().decode())
    code = ended.value.code
    assert isinstance(code, int)
    return Done(code, *found)


def refused(*arguments: object, stdin: bytes = b"") -> str:
    """The one line with which a run ends that had unusable input."""
    done = factcheck(*arguments, stdin=stdin)
    assert done.code == 2, done
    assert done.out == ""
    assert done.err.endswith("\n")
    (line,) = done.err.splitlines()
    assert line.startswith("factcheck: ")
    return line.removeprefix("factcheck: ")


Scores = Callable[[str, str], tuple[float, float, float]]


def scan() -> bytes:
    """A PDF of one page, on which there is a drawing and no text."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, invariant=True)
    canvas.rect(50, 50, 100, 100)
    canvas.showPage()
    canvas.save()
    return buffer.getvalue()
