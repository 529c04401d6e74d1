"""How a sentence is written, apart from what it says: its lines, its marks and its links."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

from factcheck_local.core.text.markdown import markdown_parser

#: What stands between two words: spaces, or the end of a line, with the backslash in front of it
#: that breaks it and the signs of a quotation behind it.
_GAP = re.compile(r"(?:\\?[^\S\r\n]*(?:\r\n?|\n)[ \t]*(?:>[ \t]*)*)+|\s+")

_LINE_END = re.compile(r"\r\n?|\n")

#: The marks of emphasis and code, at the edge of a word: "max_items" has none.
_MARK = re.compile(r"(?<!\w)(?:[*_`]|~~)+|(?:[*_`]|~~)+(?!\w)")

#: The first and the last of them in a word, each with the punctuation outside of it.
_FIRST_MARK = re.compile(r"^([^\w*_`~]*)((?:[*_`]|~~)+)")
_LAST_MARK = re.compile(r"((?:[*_`]|~~)+)([^\w*_`~]*)$")

#: What ends a sentence, with quotation marks and emphasis behind it. Not code, which is kept whole.
_STOP = re.compile(r"""[.!?…]+(["'”’)*_]*)$""")

#: The full stop at the end of words, and the marks behind it.
_FULL_STOP = re.compile(r"(?<=[^\s.!?…])\.((?:[*_`]|~~)*)$")

#: "[text][label]", "[label]" and "[^2]": without its definition a reference is text.
_LABEL = re.compile(r"\[[^\[\]]*\]\[([^\[\]]+)\]|\[([^\[\]]+)\]")

_URL = re.compile(r"(?:https?://|www\.)[^\s<>|]*[\w/]", re.IGNORECASE)

_TAG = re.compile(r"<[^<>]*>")

#: Punctuation around words.
_AROUND = " .,;:!?…\"'“”’()"

#: As answers are split.
_PARSER = markdown_parser("code")


def plain(sentence: str) -> str:
    """A sentence on one line, without the quotation signs that its lines begin with."""
    return " ".join(_GAP.split(sentence)).strip()


def bare(sentence: str) -> str:
    """A sentence on one line without the marks of emphasis and code."""
    return _MARK.sub("", plain(sentence))


def markup(sentence: str) -> Counter[str]:
    """What of a sentence is no words: marks, blocks, links, references, images and tags."""
    found = Counter(mark for run in _MARK.findall(sentence) for mark in run)
    for token in _PARSER.parse(plain(sentence)):
        if token.children is None:
            found.update([token.type, *_TAG.findall(token.content)])
            continue
        for child in token.children:
            if child.type in ("link_open", "image"):
                found.update([f"{child.type} {sorted(child.attrs.items())}"])
            elif child.type == "html_inline":
                found.update([child.content])
        said = "".join(child.content for child in token.children if child.type == "text")
        found.update(label[1] or label[2] for label in _LABEL.finditer(said))
        found.update(_URL.findall(said))
    return found


def line_ends(sentence: str) -> int:
    """How many lines of a sentence end within it."""
    return len(_LINE_END.findall(sentence))


def fitted(new: str, old: str) -> str:
    """A rewriting in the form of its sentence.

    A model reads and writes a sentence on one line, and drops marks that it takes for
    decoration. The words that stay keep their marks and their places on lines, those that take
    the place of others get what was around these, and the sentence ends with a stop as before.

    Args:
        new: the rewriting, on one line; of nothing nothing is made.
        old: the sentence as it stands in its text.
    """
    if not new.split():
        return ""
    if (stop := _STOP.search(old)) and not _STOP.search(new):
        new = new.removesuffix(stop[1]) + stop[0]
    elif not _STOP.search(bare(old)):
        new = _FULL_STOP.sub(r"\1", new)
    olds, news = _GAP.split(old), new.split()
    gaps = [" ", *_GAP.findall(old)]
    words: list[str] = []
    between: list[str] = []
    carried = ""
    same = SequenceMatcher(None, _compared(olds), _compared(news), autojunk=False)
    for tag, i, j, k, m in same.get_opcodes():
        run = olds[i:j] if tag == "equal" else _with_marks(news[k:m], olds[i:j])
        there, gone = gaps[i:j][: len(run)], gaps[i:j][len(run) :]
        there += [" "] * (len(run) - len(there))
        if carried and there:
            there[0], carried = (there[0] if line_ends(there[0]) else carried), ""
        # The end of a line stays, though the words at it may go.
        carried = next(filter(line_ends, gone), carried)
        words += run
        between += there
    return "".join(gap + word for gap, word in zip(["", *between[1:]], words, strict=True))


def _compared(words: Sequence[str]) -> list[str]:
    """Words without their marks; the last one, which no other is like, without the final stop."""
    bare = [_MARK.sub("", word) for word in words]
    return [*bare[:-1], *(_STOP.sub("", word) + "\n" for word in bare[-1:])]


def _with_marks(new: list[str], old: list[str]) -> list[str]:
    """Words with the marks around those that they replace, where they have none of their own.

    As many words as before stay in front of these and behind, if there are as many. Marks that
    close before others open are around nothing here, and where words only went, but for a capital
    letter, none is in the place of the marked ones.
    """
    opening = [(at, mark) for at, word in enumerate(old) if (mark := _FIRST_MARK.search(word))]
    closing = [(at, mark) for at, word in enumerate(old) if (mark := _LAST_MARK.search(word))]
    if {*map(str.lower, new)} <= {*map(str.lower, old)}:
        return new
    if opening and closing and closing[-1][0] < opening[0][0]:
        return new
    words, begin = [*new], 0
    if opening and not any(map(_FIRST_MARK.search, new)):
        at, mark = opening[0]
        begin = min(at, len(new) - 1)
        word = new[begin].removeprefix(mark[1])
        words[begin] = new[begin].removesuffix(word) + mark[2] + word
    if closing and not any(map(_LAST_MARK.search, new)):
        at, mark = closing[-1]
        end = max(begin, len(new) - len(old) + at)
        word = words[end].removesuffix(mark[2])
        words[end] = word + mark[1] + words[end].removeprefix(word)
    return words


def changed(old: str, new: str) -> tuple[str, str]:
    """What the one run of words in which two sentences differ is in each, marks aside.

    Where words were only added or taken out a word beside them goes with them, so that it is
    known where they belong. Both empty if the sentences say the same.
    """
    olds, news = (bare(text).split() for text in (old, new))
    if olds == news:
        return "", ""
    shorter = min(len(olds), len(news))
    front = next((n for n in range(shorter) if olds[n] != news[n]), shorter)
    most = shorter - front
    back = next((n for n in range(most) if olds[-1 - n] != news[-1 - n]), most)
    if front + back == shorter:
        front, back = (front - 1, back) if front else (front, back - 1)
    runs = (words[max(front, 0) : len(words) - max(back, 0)] for words in (olds, news))
    was, now = (" ".join(run) for run in runs)
    # Punctuation around both is the sentence's.
    while was and now and was[0] == now[0] and was[0] in _AROUND:
        was, now = was[1:], now[1:]
    while was and now and was[-1] == now[-1] and was[-1] in _AROUND:
        was, now = was[:-1], now[:-1]
    return was, now


def changed_within(new: str, old: str, claim: str) -> str | None:
    """A rewriting with that of its changes alone whose words a claim has.

    Args:
        new: the rewriting, on one line.
        old: the sentence.
        claim: one of it.

    Returns:
        None where it makes no other change, or none or several in words of the claim, which may
        not go together without the rest; nor for one that takes most of its words away.
    """
    olds, news = plain(old).split(), new.split()
    same = SequenceMatcher(None, _compared(olds), _compared(news), autojunk=False)
    changes = [opcode for opcode in same.get_opcodes() if opcode[0] != "equal"]

    def within(start: int, end: int) -> bool:
        # What was only added belongs to the words around it.
        around = olds[start:end] or olds[max(start - 1, 0) : start + 1]
        return bool(standing(bare(" ".join(around)).strip(_AROUND), bare(claim)))

    own = [change for change in changes if within(*change[1:3])]
    if len(own) != 1 or len(changes) == 1:
        return None
    _, i, j, k, m = own[0]
    if m - k < (j - i) / 2:
        return None
    return " ".join((*olds[:i], *news[k:m], *olds[j:]))


def standing(words: str, text: str) -> list[re.Match[str]]:
    """Where words stand in a text, not as a part of others: no "25" in "25.5" or "K-25"."""
    return list(re.finditer(rf"(?<![\w-])(?<!\d[.,:]){re.escape(words)}(?![\w-]|[.,:]\w)", text))
