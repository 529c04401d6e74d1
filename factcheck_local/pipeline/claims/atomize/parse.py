"""Read what a model wrote when asked to split a sentence."""

from __future__ import annotations

import re

from factcheck_local.core.types import Kind
from factcheck_local.models.prompts.lines import plain_lines

#: The words that the prompts use for the kinds.
KIND_WORDS = {
    "fact": Kind.FACT,
    "claim": Kind.CLAIM,
    "instruction": Kind.INSTRUCTION,
    "data": Kind.DATA_FORMAT,
    "meta": Kind.META_STATEMENT,
    "question": Kind.QUESTION,
    "other": Kind.OTHER,
}

_LABEL = re.compile(
    r"^[\[(*_]*(?:facts?|claims?|instructions?|data(?: format)?|meta(?: statement)?|questions?"
    r"|other)[\])*_]*(?:\s*[:|]\s*|\s+[–-]\s+|\s*$)",
    re.IGNORECASE,
)

_NO_LABEL = re.compile(r"(?!)")
_KIND = rf"(?P<kind>{'|'.join(KIND_WORDS)})s?(?: format| statement)?(?: ?#?\d{{1,2}})?"

#: ``fact: …``, ``**Fact 2:** …``, ``[fact] …``; a dash inside a word is no separator.
_LABELLED = re.compile(
    rf"(?:[\[(]\W?{_KIND}\W?[\])][:*_ ]*|[*_]*{_KIND.replace('<kind>', '<bare>')}"
    r"[*_]*(?:\s*[:|][*_]*|\s+[–-]\s)\s*)(?P<text>.*)",
    re.IGNORECASE,
)
#: ``… (fact)``
_LABEL_BEHIND = re.compile(rf"^(?P<text>.*\S)\s*[\[(]{_KIND}[\])]\W*", re.IGNORECASE)
_LABEL_ALONE = re.compile(rf"\W*+{_KIND}\W*", re.IGNORECASE)

_NONE = re.compile(
    r"(?:there (?:is|are) )?(?:none|nothing|no(?: verifiable)?(?: atomic)? "
    r"(?:claims?|facts?|statements?|information|content))"
    r"(?: (?:here|found|in (?:this|the) sentence))?\W*",
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


def parse_units(reply: str) -> list[tuple[Kind, str]]:
    """The units of a reply, one a line, each with its kind.

    The kind may stand in front, behind in brackets, or on a line above; bullets,
    numbering and emphasis are forgiven. Lines without a kind are passed over.

    Returns:
        Kinds and texts, in order; none if nothing can be made of the reply.
    """
    units: list[tuple[Kind, str]] = []
    above: Kind | None = None
    for line in plain_lines(reply, _NO_LABEL):
        if alone := _LABEL_ALONE.fullmatch(line):
            above = KIND_WORDS[alone["kind"].lower()]
            continue
        found = _LABELLED.fullmatch(line) or _LABEL_BEHIND.fullmatch(line)
        if found:
            groups = found.groupdict()
            units.append((KIND_WORDS[(groups["kind"] or groups["bare"]).lower()], found["text"]))
        elif above is not None:
            units.append((above, line))
    return [(kind, text.strip()) for kind, text in dict.fromkeys(units) if text.strip()]


def says_none(reply: str) -> bool:
    """Whether a reply says, in its first line, that there is nothing to verify."""
    lines = parse_claims(reply)
    return bool(lines) and _NONE.fullmatch(lines[0]) is not None
