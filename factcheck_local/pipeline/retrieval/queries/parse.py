"""Read what a model wrote when asked for search queries."""

from __future__ import annotations

import re

from factcheck_local.models.prompts.lines import plain_lines

#: A label ends in a colon, or in a stop or dash that is not inside a word.
_LABEL = re.compile(
    r"^[\[(*_]*(?:(?:not|nothing|none) found|(?:new |next |other |better |search )*quer(?:y|ies)"
    r"|search|reply)(?: ?#?\d{1,2})?[\])*_]*(?:\s*[:|][*_]*\s*|\s*\.\s+|\s+[–-]\s+|\s*\.?$)",
    re.IGNORECASE,
)
_FOUND = re.compile(r"^found(?:\W*$|\s*[.:,;–-]|\s+(?:in|by|it)\b)", re.IGNORECASE)
_QUOTES = "\"'“”„’«»"


def parse_queries(reply: str) -> list[str]:
    """The queries of a reply, one a line, in order, each once.

    Bullets, numbering, quotes, emphasis and a label in front of a query are forgiven;
    lines without a word, and lines that only announce others, are passed over.

    Returns:
        Texts; none if nothing can be made of the reply.
    """
    lines = (line.strip(f"{_QUOTES},; ") for line in plain_lines(reply, _LABEL))
    return list(dict.fromkeys(line for line in lines if line and not line.endswith(":")))


def says_found(reply: str) -> bool:
    """Whether a reply says, in its first line, that what was looked for is found."""
    lines = parse_queries(reply)
    return bool(lines) and _FOUND.match(lines[0]) is not None
