"""Links of Markdown without what they lead to."""

from __future__ import annotations

import re

#: A link or picture: its text, in which one level of brackets may stand, and its target. What
#: touches a word is code: ``handlers[name](event)``.
_LINK = re.compile(
    r"(?<![\w\])])!?\[(?P<text>(?>[^\[\]\n]|\[[^\[\]\n]*\])*)\]"
    r"\((?:<[^<>\n]*>|(?>[^()\s<>]|\([^()\s]*\))*)(?:\s+(?:\"[^\"\n]*\"|'[^'\n]*'))?\)"
)
#: "[policy]: https://…", a line of its own.
_DEFINITION = re.compile(r"^ {0,3}\[[^\[\]\n]+\]:[ \t]+<?\S+(?:[ \t]+[\"'(].*)?$\n?", re.MULTILINE)


def without_targets(text: str) -> str:
    """A text whose links are their words alone: of "the [policy](/hr/policy.md)" "the policy".

    An address says nothing of what a passage claims, and is many tokens to read. HTML has lost its
    own where it is loaded.
    """
    if "](" not in text and "]:" not in text:
        return text
    return _LINK.sub(lambda m: m["text"], _DEFINITION.sub("", text))
