"""Read a reply that was asked for as lines of plain text."""

from __future__ import annotations

import re

_BULLET = re.compile(r"^\s*(?:[-*•–]|\(?\d{1,2}[.)])\s+")

#: A line that is code as a whole, or a fence; in "`a` and `b`" the marks are words' own.
_MARKED = re.compile(r"`[^`]*`|```.*")

_BOLD = re.compile(r"\*\*(?:(?!\*\*).)+\*\*")


def plain_lines(reply: str, label: re.Pattern[str]) -> list[str]:
    """The lines of a reply, in order, each once.

    Bullets, numbering and emphasis around a line are forgiven; lines without a word
    are passed over.

    Args:
        reply: what a model wrote.
        label: what may stand in front of a line, and is no part of it.
    """
    found = []
    for line in reply.splitlines():
        text = _BULLET.sub("", line).strip()
        if _MARKED.fullmatch(text):
            text = text.strip("`").strip()
        text = label.sub("", text).strip()
        if _BOLD.fullmatch(text):
            text = text[2:-2].strip()
        if re.search(r"\w", text):
            found.append(text)
    return list(dict.fromkeys(found))
