"""Rewrites of a sentence whose effect on its meaning is known.

Each function returns the rewritten sentence, or None where it does not apply.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from training import lexicon

Rewrite = Callable[[str, random.Random], str | None]

WORDS = "two three four five six seven eight nine ten eleven twelve".split()
NUMBER = re.compile(r"(?<![\w.,-])\d[\d,]*(?:\.\d+)?(?![\w-]|\.\d)")
NAME = re.compile(r"(?<=[a-z,] )(?:[A-Z][a-zA-Z]+)(?: [A-Z][a-zA-Z]+){0,2}")
SUBJECT = re.compile(
    r"^(?:The )?[A-Z][\w-]*(?: [A-Z][\w-]*){0,3}(?= (?:is|was|are|were|has|had|can|will)\b)"
)
AUXILIARY = re.compile(r"\b(is|are|was|were|can|could|must|should|will|would|may)\b(?! not\b)")


def _replace_word(sentence: str, old: str, new: str) -> str | None:
    found = re.search(rf"(?<![\w-]){re.escape(old)}(?![\w-])", sentence, re.IGNORECASE)
    if not found:
        return None
    if found[0][0].isupper():
        new = new[0].upper() + new[1:]
    return sentence[: found.start()] + new + sentence[found.end() :]


def _swap(table: Sequence[tuple[str, str]]) -> Rewrite:
    """Replace the word of a random entry that the sentence holds."""
    by_word: dict[str, list[str]] = {}
    for old, new in table:
        by_word.setdefault(old.lower(), []).append(new)

    def rewrite(sentence: str, rng: random.Random) -> str | None:
        words = re.findall(r"[\w-]+", sentence.lower())
        known = [
            w
            for n in (1, 2, 3)
            for w in map(" ".join, zip(*(words[i:] for i in range(n)), strict=False))
            if w in by_word
        ]
        if not known:
            return None
        old = rng.choice(known)
        return _replace_word(sentence, old, rng.choice(by_word[old]))

    return rewrite


def _both_ways(text: str) -> list[tuple[str, str]]:
    table = lexicon.pairs(text)
    return table + [(b, a) for a, b in table]


synonym = _swap([*_both_ways(lexicon.SYNONYMS), ("in order to", "to")])
antonym = _swap(_both_ways(lexicon.ANTONYMS))
strengthened = _swap(lexicon.pairs(lexicon.STRENGTHEN))
other_kind = _swap(
    [
        (a, b)
        for line in lexicon.KINDS.strip().splitlines()
        for a in line.split()
        for b in line.split()
        if a != b
    ]
)


def other_number(sentence: str, rng: random.Random) -> str | None:
    """Another number of the same shape: a year stays a year, 1,200 keeps its comma."""
    found = list(NUMBER.finditer(sentence))
    if not found:
        return None
    match = rng.choice(found)
    digits = match[0].replace(",", "")
    if "." in digits:
        whole, part = digits.split(".")
        new = f"{int(whole) + rng.randint(1, 9)}.{part}"
    elif len(digits) == 4 and digits[:2] in {"18", "19", "20"}:
        new = str(int(digits) + rng.choice([-30, -12, -5, -3, -2, -1, 1, 2, 4, 7, 10]))
    else:
        value = int(digits)
        new_value = rng.choice(
            [value + 1, value + 2, value * 2, value * 10, value + 5, max(value - 1, 0), value // 2]
        )
        if new_value == value:
            new_value += 3
        new = f"{new_value:,}" if "," in match[0] else str(new_value)
    return sentence[: match.start()] + new + sentence[match.end() :]


def number_words(sentence: str, rng: random.Random) -> str | None:
    """``12`` as ``twelve`` or the other way round."""
    options = [(str(n), w) for n, w in enumerate(WORDS, start=2)]
    rng.shuffle(options)
    for digits, word in options:
        for old, new in ((digits, word), (word, digits)):
            if old.isdigit() and not any(m[0] == old for m in NUMBER.finditer(sentence)):
                continue
            if (made := _replace_word(sentence, old, new)) is not None:
                return made
    return None


def unit_words(sentence: str, rng: random.Random) -> str | None:
    """The same quantity in another unit."""
    for unit, per, smaller in (
        ("hours", 60, "minutes"),
        ("minutes", 60, "seconds"),
        ("days", 24, "hours"),
        ("weeks", 7, "days"),
        ("years", 12, "months"),
    ):
        if found := re.search(rf"\b(\d+) {unit}\b", sentence):
            return sentence.replace(found[0], f"{int(found[1]) * per} {smaller}")
        if (found := re.search(rf"\b(\d+) {smaller}\b", sentence)) and int(found[1]) % per == 0:
            return sentence.replace(
                found[0],
                f"{int(found[1]) // per} {unit}" if int(found[1]) > per else f"one {unit[:-1]}",
            )
    if "%" in sentence:
        return re.sub(r" ?%", " percent", sentence)
    return None


def negated(sentence: str, rng: random.Random) -> str | None:
    """A ``not`` put in, or taken out."""
    for old, new in ((" cannot ", " can "), ("n't ", " "), (" not ", " ")):
        if old in sentence:
            return sentence.replace(old, new, 1) if old != "n't " else None
    found = AUXILIARY.search(sentence)
    if not found:
        return None
    return f"{sentence[: found.end()]} not{sentence[found.end() :]}"


def other_name(names: Sequence[str]) -> Rewrite:
    """Another name of as many words, anywhere but in front."""

    def rewrite(sentence: str, rng: random.Random) -> str | None:
        found = list(NAME.finditer(sentence))
        if not found:
            return None
        match = rng.choice(found)
        same = [
            n
            for n in rng.sample(names, min(60, len(names)))
            if n.count(" ") == match[0].count(" ") and n not in sentence
        ]
        return sentence[: match.start()] + same[0] + sentence[match.end() :] if same else None

    return rewrite


def other_subject(names: Sequence[str]) -> Rewrite:
    """The same said of somebody else: the passage leaves that open."""

    def rewrite(sentence: str, rng: random.Random) -> str | None:
        found = SUBJECT.match(sentence)
        if not found:
            return None
        same = [n for n in rng.sample(names, min(40, len(names))) if n not in sentence]
        return same[0] + sentence[found.end() :] if same else None

    return rewrite


def without_lead_in(sentence: str, rng: random.Random) -> str | None:
    """The sentence without ``However,`` and its like."""
    for lead in lexicon.LEAD_INS:
        if sentence.startswith(lead):
            rest = sentence[len(lead) :]
            return rest[0].upper() + rest[1:]
    return None


def without_aside(sentence: str, rng: random.Random) -> str | None:
    """The sentence without what stands in parentheses."""
    made = re.sub(r" ?\([^()]*\)", "", sentence)
    return made if made != sentence else None


def main_clause(sentence: str, rng: random.Random) -> str | None:
    """The sentence up to a clause that only adds to it."""
    found = re.search(
        r"(?:, (?:which|who|where|while|although|but|so|and (?:it|they|he|she|the|is|was))|;| because| although| and (?:is|was|are|has|had|were|can|must|will)) ",
        sentence,
    )
    if (
        not found
        or sentence[: found.start()].count(" ") < 4
        or re.match(
            r"(?:If|When|Unless|While|Although|Since|As|After|Before|Because|For|In|On) ", sentence
        )
    ):
        return None
    return sentence[: found.start()].rstrip(",; ") + "."


def second_clause(sentence: str, rng: random.Random) -> str | None:
    """What is said second of the same subject: "X is A and was B" gives "X was B"."""
    subject = SUBJECT.match(sentence)
    found = re.search(r",? and (is|was|has|had|can|must|will|were|are) (.+)$", sentence)
    if not subject or not found or "," in found[2]:
        return None
    return f"{subject[0]} {found[1]} {found[2]}"


def relative_clause(sentence: str, rng: random.Random) -> str | None:
    """X is A, out of: X, which is A, does B."""
    found = re.match(
        r"^((?:The |A )?[A-Z][\w -]{2,40}), (?:which|who) ((?:is|was|has|had|are|were) [^,]{8,90}), ",
        sentence,
    )
    return f"{found[1]} {found[2]}." if found else None


def apposition(sentence: str, rng: random.Random) -> str | None:
    """X is a Y, out of: X, a Y, does Z."""
    found = re.match(
        r"^((?:The )?[A-Z][\w -]{2,40}), ((?:a|an|the) [^,]{6,70}), (?!and|or)", sentence
    )
    return f"{found[1]} is {found[2]}." if found else None


def without_opening(sentence: str, rng: random.Random) -> str | None:
    """The sentence without the time or place that it opens with."""
    found = re.match(r"^(?:In|On|At|By|During|Since|After) [^,]{3,40}, (?=[a-zA-Z])", sentence)
    if not found:
        return None
    rest = sentence[found.end() :]
    return rest[0].upper() + rest[1:]


def without_condition(sentence: str, rng: random.Random) -> str | None:
    """The consequence without its condition, which the passage does not state."""
    found = re.match(r"^(?:If|When|Unless|Once) [^,]{8,90}, (?=[a-z])", sentence)
    if found:
        rest = sentence[found.end() :]
        return rest[0].upper() + rest[1:]
    cut = re.search(r",? (?:if|unless|only if|only when|provided that) [^,]{8,}\.$", sentence)
    return sentence[: cut.start()] + "." if cut and cut.start() > 25 else None


def turned_round(sentence: str, rng: random.Random) -> str | None:
    """A passive with its agent, as an active sentence."""
    for participle, active in lexicon.pairs(lexicon.VERBS):
        found = re.match(
            rf"^([^,]{{4,60}}) (?:is|was|are|were) {participle} by ([^,.]{{4,50}})\.$", sentence
        )
        if found:
            agent = found[2][0].upper() + found[2][1:]
            patient = found[1]
            if re.match(r"(?:The|A|An|This|These|It|They|All|Each) ", patient):
                patient = patient[0].lower() + patient[1:]
            return f"{agent} {active} {patient}."
    return None


def shorter_list(sentence: str, rng: random.Random) -> str | None:
    """One member of "A, B and C" left out."""
    found = re.search(r"([\w-]+), ([\w -]{2,30}),? and ([\w -]{2,30})(?=[.,])", sentence)
    if not found:
        return None
    keep = rng.choice([f"{found[1]} and {found[2]}", f"{found[1]} and {found[3]}"])
    return sentence[: found.start()] + keep + sentence[found.end() :]


def with_detail(sentence: str, rng: random.Random) -> str | None:
    """The sentence with a detail that nothing supports."""
    details = [d.strip() for line in lexicon.DETAILS.strip().splitlines() for d in line.split(";")]
    return f"{sentence.rstrip('.')} {rng.choice(details)}."


KEEPING: tuple[Rewrite, ...] = (
    synonym,
    number_words,
    unit_words,
    without_lead_in,
    without_aside,
    main_clause,
    second_clause,
    relative_clause,
    apposition,
    without_opening,
    turned_round,
    shorter_list,
)


def keep(sentence: str, rng: random.Random, times: int) -> str:
    """Up to ``times`` rewrites that follow from the sentence."""
    order = list(KEEPING)
    rng.shuffle(order)
    # Synonyms fit nearly everywhere and would hide the rest.
    order.sort(key=lambda r: r is synonym)
    done = 0
    for rewrite in order:
        if done == times:
            break
        if (made := rewrite(sentence, rng)) is not None:
            sentence, done = made, done + 1
    return sentence


def first_of(rewrites: Sequence[Rewrite], sentence: str, rng: random.Random) -> str | None:
    """The first rewrite, in random order, that applies."""
    for rewrite in rng.sample(rewrites, len(rewrites)):
        if (made := rewrite(sentence, rng)) is not None and made != sentence:
            return made
    return None
