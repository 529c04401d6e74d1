"""Where answers and sources are: files as URIs, and regions of a text, as SARIF has them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from factcheck_local.pipeline.claims.records import RECORD_SUFFIXES

#: What relative URIs are relative to: the checkout, and the folder that was indexed.
CHECKOUT, DOCUMENTS = "%SRCROOT%", "DOCUMENTS"

_LINE_OF_RECORDS = re.compile(r"(?P<file>.+), (?:line|row) (?P<line>[0-9]+)", re.DOTALL)
_WEB = re.compile(r"https?://", re.IGNORECASE)


def answer_file(answer: Mapping[str, Any]) -> tuple[str | None, int | None, bool]:
    """The file that an answer is in.

    Returns:
        Its path, None where it came from no file; the line or row of a record in it; and whether
        the file is the answer, so that places in the one are places in the other.
    """
    path = answer["path"]
    if path is None or path == "standard input":
        return None, None, True
    found = _LINE_OF_RECORDS.fullmatch(path)
    if found and found["file"].lower().endswith(RECORD_SUFFIXES):
        return found["file"], int(found["line"]), False
    return path, None, not path.lower().endswith(RECORD_SUFFIXES)


def file_location(path: str) -> dict[str, Any]:
    """A file as named on the command line; relative where its name is."""
    pure = PurePath(path)
    if pure.is_absolute():
        return {"uri": pure.as_uri()}
    # Quoted as bytes: a file's name need not be text.
    uri = quote(os.fsencode(pure.as_posix()))
    return {"uri": uri} if ".." in pure.parts else {"uri": uri, "uriBaseId": CHECKOUT}


def source_location(context: Mapping[str, Any]) -> dict[str, Any]:
    """A document of the store, or what a record links to."""
    for name in (context.get("link") or "", context["source"]):
        if _WEB.match(name):
            return {"uri": quote(name, safe="%/:?#[]@!$&'()*+,;=~")}
    name = quote(context["source"].encode("utf-8", "replace"))
    return {"uri": name, "uriBaseId": DOCUMENTS}


def region(text: str, start: int, end: int) -> dict[str, Any]:
    """A stretch of a text, by line and column and by offset.

    Lines end with a line feed, as SARIF has it by default. Columns and offsets count
    UTF-16 code units, columns from 1; the end column is the one after the last.

    Args:
        text: the whole.
        start: offset in code points, where the stretch begins.
        end: likewise, where it ends.
    """
    first, last = (text.rfind("\n", 0, at) + 1 for at in (start, end))
    return {
        "startLine": text.count("\n", 0, start) + 1,
        "startColumn": _units(text[first:start]) + 1,
        "endLine": text.count("\n", 0, end) + 1,
        "endColumn": _units(text[last:end]) + 1,
        "charOffset": _units(text[:start]),
        "charLength": _units(text[start:end]),
        "snippet": {"text": text[start:end]},
    }


def _units(text: str) -> int:
    """UTF-16 code units; those beyond the basic plane count two."""
    return len(text) + sum(c > "\uffff" for c in text)
