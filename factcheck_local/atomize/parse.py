"""Read what a model wrote when asked to split a sentence."""

from __future__ import annotations

import re

from factcheck_local.prompts.lines import plain_lines

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
    return plain_lines(reply, _LABEL)
