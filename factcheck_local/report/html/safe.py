"""Text of strangers in a page: shown as it is, without a character that acts.

Markup is escaped by the templates' autoescape; here are the characters that escaping
leaves alone, and the values that go to the page's script.
"""

from __future__ import annotations

import base64
import json
import re
import unicodedata
import zlib
from typing import Any

#: Controls, invisible formatting, separators and lone surrogates; joiners are letters' own.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_KEPT = frozenset("\n\t\u200c\u200d")

#: What would end a script element or open a comment in it, would not survive as UTF-8, or
#: makes the file look other than it is in an editor.
_UNSAFE = re.compile("[<>&\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")


def visible(text: str) -> str:
    """A text with every character that steers or hides written out, as ␛ or [U+202E].

    A carriage return is a line end, as what is read from JSON has between fields.
    """
    if text.isprintable():
        return text
    return "".join(_shown(c) for c in text.replace("\r\n", "\n").replace("\r", "\n"))


def _shown(character: str) -> str:
    if character in _KEPT or unicodedata.category(character) not in _HIDDEN:
        return character
    code = ord(character)
    # Unicode has a picture for each ASCII control.
    return chr(0x2400 + code) if code < 0x20 else f"[U+{code:04X}]"


def json_block(value: Any) -> str:  # noqa: ANN401
    """JSON that can stand in a script element, whatever its texts say."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def packed(value: Any) -> str:  # noqa: ANN401
    """JSON compressed by zlib, in base64; texts take less than half the room."""
    return base64.b64encode(zlib.compress(json_block(value).encode(), 9)).decode()
