"""A chat as one text, or as the turns of a request; content stays data in either.

In this process content is tokenised apart from markup. A server gets text and
tokenises it itself, with every control token that is written out in it, so
the marks in content are broken before they are sent.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from factcheck_local.models.chat_format import ChatFormat
from factcheck_local.models.contracts import Message

#: WORD JOINER: no width, no line break, and in no model's control tokens.
_BREAK = "\u2060"

#: The first character of <|im_end|>, </s>, <bos>, [INST], [/INST]; U+FF5C is a wide bar.
_MARK = re.compile(r"<(?=[|\uff5c]|[^\s<>]+>)|\[(?=/?[A-Z_]{2,}\])")


def neutralised(content: str) -> str:
    """``content`` with every text that could be a control token broken in two.

    Wider than any one model's list of control tokens, which a server does not tell:
    an HTML tag is broken too. The model sees one more character in it.
    """
    return _MARK.sub(lambda found: found.group() + _BREAK, content)


def as_text(messages: Sequence[Message], template: ChatFormat, start: str = "") -> str:
    """The chat by ``template``, up to and with ``start``, the reply's beginning.

    The begin-of-text token is not part of it: servers add it where the model wants one.
    """
    turns = ((message.role, neutralised(message.content)) for message in messages)
    return template.text(turns) + neutralised(start)


def as_turns(messages: Sequence[Message], start: str = "") -> list[dict[str, str]]:
    """The chat as the ``messages`` of a request, ``start`` as an unfinished last turn."""
    turns = [{"role": m.role, "content": neutralised(m.content)} for m in messages]
    if start:
        turns.append({"role": "assistant", "content": neutralised(start)})
    return turns
