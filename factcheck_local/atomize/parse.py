"""Read what a model wrote when asked to split a sentence."""

from __future__ import annotations

import re

_BULLET = re.compile(r"^\s*(?:[-*•–]|\(?\d{1,2}[.)])\s+")
_LABEL = re.compile(
    r"^[\[(*_]*(?:facts?|claims?|instructions?|data(?: format)?|meta(?: statement)?|questions?"
    r"|other)[\])*_]*\s*(?:[:|–-]\s*|$)",
    re.IGNORECASE,
)


def parse_claims(reply: str) -> list[str]:
    """The claims of a reply, one a line, in order, each once.

    Bullets, numbering, emphasis around a line and a kind in front of it are
    forgiven; lines without a word are passed over.

    Returns:
        Texts; none if nothing can be made of the reply.
    """
    found = []
    for line in reply.splitlines():
        text = _BULLET.sub("", line).strip().strip("`").strip()
        text = _LABEL.sub("", text).strip()
        if text.startswith("**") and text.endswith("**"):
            text = text[2:-2].strip()
        if re.search(r"\w", text):
            found.append(text)
    return list(dict.fromkeys(found))
