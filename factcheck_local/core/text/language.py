"""Notices text in a language that the models do not read: they would judge it all the same.

Most text is told by its function words. Only where those are rare is a model of 139 languages
asked (py3langid, a file in that package). Code, addresses and markup are not looked at, and
what is short, or mostly names and numbers, is not decided: a product list has no language.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

#: Ends what is said of a text in another language.
MODELS_READ = "the models read English"

#: A text is cut into pieces of at least so many bytes of words; shorter text is not decided.
#: Bytes, since a letter of Chinese says as much as three of Latin script.
MIN_BYTES, PIECE_BYTES = 60, 240

#: The probability from which a piece is of a language. Of 60 letters of German, French,
#: Spanish, Chinese … all have more, and technical English taken for something else has less.
SURE = 0.7

#: Pieces looked at of a long text, evenly spread over its first characters.
MAX_PIECES, MAX_CHARACTERS = 24, 200_000

#: The share of a text in other languages from which it is worth a word.
WORTH_NAMING = 0.2

#: A piece with less of its words in lower case is a list of names.
_PROSE = 0.4

#: Of 100 words of English pages some 25 are among these, and of other languages hardly one.
_ENGLISH = frozenset(
    "the of and with to are be been from that this which they their it its not "
    "you your will would can could should may must these those when where".split()
)
_ENGLISH_SHARE = 0.1

#: What is no prose: code, addresses, tags. No part of it may begin at each character of a long run.
_NO_PROSE = re.compile(
    r"^[ \t]{0,8}(```|~~~).*?(?:^[ \t]{0,8}\1|\Z)|`[^`\n]*`|(?:https?://|www\.)\S+"
    r"|(?<![\w.+-])[\w.+-]{1,64}@[\w.-]{1,255}|<[^<>]*>",
    re.DOTALL | re.MULTILINE,
)
#: Letters, and the vowel signs of Indic and other scripts, which Python counts as none.
_WORD = re.compile(r"(?:[^\W\d_]|[\u0300-\u036f\u064b-\u065f\u0900-\u0fff]){2,}")

#: What is named: languages that many write documents in. The model's others are what it
#: takes lists of terms for (Latin, Shona), and English that it does not know (Pidgin).
_NAMES = {
    "ar": "Arabic",
    "bg": "Bulgarian",
    "bn": "Bengali",
    "ca": "Catalan",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "es": "Spanish",
    "et": "Estonian",
    "eu": "Basque",
    "fa": "Persian",
    "fi": "Finnish",
    "fr": "French",
    "gl": "Galician",
    "he": "Hebrew",
    "hi": "Hindi",
    "hr": "Croatian",
    "hu": "Hungarian",
    "hy": "Armenian",
    "id": "Indonesian",
    "is": "Icelandic",
    "it": "Italian",
    "ja": "Japanese",
    "ka": "Georgian",
    "ko": "Korean",
    "lt": "Lithuanian",
    "lv": "Latvian",
    "mk": "Macedonian",
    "nl": "Dutch",
    "no": "Norwegian",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sk": "Slovak",
    "sl": "Slovenian",
    "sr": "Serbian",
    "sv": "Swedish",
    "ta": "Tamil",
    "te": "Telugu",
    "th": "Thai",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "ur": "Urdu",
    "vi": "Vietnamese",
    "zh": "Chinese",
}


@dataclass(frozen=True, slots=True)
class Language:
    """A language that a text is in, wholly or in part.

    Attributes:
        code: ISO 639.
        name: in English.
        share: of the text, in (0, 1].
    """

    code: str
    name: str
    share: float

    def __str__(self) -> str:
        """Such as ``German``, or ``34 % German`` where it is less than most of the text."""
        return self.name if self.share > 0.8 else f"{self.share:.0%} {self.name}".replace("%", " %")


def foreign(text: str) -> Language | None:
    """The language of a text, or of a part worth naming, that the models do not read.

    Args:
        text: prose, Markdown or a table.

    Returns:
        The most frequent of such languages, with the share of the text in any of them; None
        where the text is English, too short, or in no language that can be told.
    """
    pieces = list(_pieces(text[:MAX_CHARACTERS]))
    found: Counter[str] = Counter()
    chosen = _spread(pieces)
    for piece in chosen:
        code = _language(piece)
        if code is not None:
            found[code] += len(piece.encode())
    share = found.total() / max(sum(len(p.encode()) for p in chosen), 1)
    if share < WORTH_NAMING:
        return None
    ((code, _),) = found.most_common(1)
    return Language(code, _NAMES[code], round(share, 2))


def named(languages: Iterable[Language]) -> str:
    """The names of some languages, each once, the most frequent first."""
    return ", ".join(name for name, _ in Counter(x.name for x in languages).most_common())


def _pieces(text: str) -> Iterator[str]:
    """The words of a text, line by line, in pieces long enough to be told."""
    waiting: list[str] = []
    size = 0
    for line in _NO_PROSE.sub(" ", text).splitlines():
        words = _WORD.findall(line)
        if not words:
            continue
        waiting += words
        size += sum(len(word.encode()) + 1 for word in words)
        if size >= PIECE_BYTES:
            yield " ".join(waiting)
            waiting, size = [], 0
    if size >= MIN_BYTES:
        yield " ".join(waiting)


def _spread(pieces: list[str]) -> list[str]:
    if len(pieces) <= MAX_PIECES:
        return pieces
    return [pieces[i * len(pieces) // MAX_PIECES] for i in range(MAX_PIECES)]


def _language(piece: str) -> str | None:
    """The language of a piece; None where it is English, or not sure."""
    words = piece.split()
    if sum(word.lower() in _ENGLISH for word in words) >= _ENGLISH_SHARE * len(words):
        return None
    if sum(not word[0].isupper() for word in words) < _PROSE * len(words):
        return None
    code, probability = _identifier().classify(piece)
    return str(code) if probability >= SURE and code in _NAMES else None


@cache
def _identifier() -> Any:  # noqa: ANN401
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
