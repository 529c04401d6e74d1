"""Numbers that are part of a name: sections, standards, products, phones, addresses; and powers.

They are not quantities, so nothing can be read off their difference.
"""

from __future__ import annotations

import re

#: Stands for a masked character: no letter, digit, space or punctuation.
FILLER = "\x00"

_REFERENCES = (
    "section|sections|sec|article|articles|art|chapter|chapters|figure|figures|fig|table|tables|"
    "page|pages|pp|paragraph|paragraphs|para|clause|annex|appendix|step|rule|room|line|row|column|"
    "question|item|note|footnote|act|part|volume|vol|issue|level|grade|class|phase|tier|stage|"
    "season|episode|type|category|track|gate|route|highway|interstate|flight|platform|building|"
    "suite|box|number|numbers|ticket|invoice|order|policy|form|schedule|exhibit|option|"
    "iso|iec|rfc|din|ieee|ansi|nist|bs|regulation|directive|resolution|psalm|sonnet|symphony|opus|"
    "extension|ext|tel|phone|fax|id|isbn|zip|postcode"
)
#: Between a word of these and a number they say that it is one: "the room is 20 °C".
_NO_NAME = "is|are|was|were|has|have|had|of|for|to|in|at|by|with|from|and|or|over"
_DIGITS = r"\d[\d.,/:-]*(?<![.,:/-])[A-Za-z]?"

_NAME = re.compile(
    "|".join(
        (
            r"https?://\S+|www\.\S+|\S+@\S+\.\w+",
            r"(?m:^)[ \t]*(?:[-*•][ \t]+)?\(?\d{1,3}(?:\.\d{1,3})*[.)](?=\s)",
            r"\[\d+(?:[,–-]\s?\d+)*\]",
            r"\(\d{1,3}\)",
            # 192.168.0.1, ISBNs and other numbers of four groups or more
            r"(?<![\w.])\d+(?:-\d+){3,}|(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]\d)",
            r"\+\d[\d ().-]{6,}\d|\(\d{2,5}\)[ -]?\d[\d -]{4,}\d",
            r"(?<![\w-])\d{2,5}-\d{3,}-\d{3,}(?![\w-])|(?<![\w.,-])0\d{2,4}(?:[ /-]\d{3,})+(?!\w)",
            rf"\b(?i:{_REFERENCES})\b\.?(?:\s+(?i:no\.|number))?(?:\s+(?!(?i:{_NO_NAME})\b)\w{{2,4}})?\s*#?{_DIGITS}"
            rf"(?:(?:\s*(?:,|and|or|to|–|-)\s*){_DIGITS})*(?!\w)",
            rf"(?:§+|#|№|\bNos?\.)\s*{_DIGITS}",
            # A380, GPT-4, COVID-19, x86: letters first. Versions such as v7.2 are not meant.
            r"(?<![\w$])(?![vV]\d)(?!(?i:mid|pre|post)-)[A-Za-z]{1,12}\d[\w-]*",
            r"(?<![\w$])(?!(?i:mid|pre|post|late|early)-)[A-Z][A-Za-z]*-\d+(?!\d*s\b)[A-Za-z]?(?!\w)",
            r"(?<![\w/])\d+/\d+(?![\d/])",
            # 5 x 10^3 and 5e-3 are not read, least of all as 3.
            r"(?<![\w.,])(?:\d+(?:[.,]\d+)?\s?[x\u00d7\u00b7\u22c5*]\s?)?\d+(?:\.\d+)?\^[({]?[+\u2212-]?\d+[)}]?",
            r"(?<![\w.,])\d+(?:\.\d+)?[eE][+\u2212-]?\d+(?!\w)",
            # 3:1 and 1:04:32; 11:45 is a time.
            r"(?<![\w:])\d+:\d(?![\d])|(?<![\w:])\d+:\d+:\d+(?:\.\d+)?",
            r"(?i:\b(?:won|lost|beat|beaten|defeated|score|record)(?:\s+\w+){0,3}?\s+)"
            r"\d+\s?[–-]\s?\d+(?![\d%])",
            r"(?<![\w.])\d+\s?[–-]\s?\d+(?=\s+(?i:win|victory|defeat|loss|draw|lead|vote|decision)\b)",
        )
    )
)
_CURRENCY_FIRST = re.compile(r"(?:USD|EUR|GBP|CHF|JPY|INR|AUD|CAD|SEK|NOK|DKK|PLN)\d")
_LOOSE = re.compile(r"\d+(?:\.\d+)?")


def mask_names(text: str) -> tuple[str, frozenset[float]]:
    """Fills the numbers that belong to names.

    Returns:
        The text, as long as before, and the numbers that were in the names.
    """
    loose: set[float] = set()

    def fill(match: re.Match[str]) -> str:
        found = match[0]
        if _CURRENCY_FIRST.match(found):
            return found
        loose.update(float(n) for n in _LOOSE.findall(found))
        return re.sub(r"\S", FILLER, found)

    return _NAME.sub(fill, text), frozenset(loose)
