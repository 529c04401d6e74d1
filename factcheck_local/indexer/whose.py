"""Whose documents these are: the organisation that pages speak for, without naming it again.

"Laptops lock after five minutes" stands in a policy; the answer says "laptops of Harbour Trust".
What a document calls its own people tells the name, and the name that most of a folder's
documents tell is that of all of them.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any

from factcheck_local.core.types import Context
from factcheck_local.indexer.loaders.text import printable
from factcheck_local.indexer.manifest import SourceRecord
from factcheck_local.indexer.reliability.statements import texts

#: Under which a document's own statement of it is looked for, and what is found is kept.
ORGANISATION = "organisation"
_SPELLED = (ORGANISATION, "organization", "company")

#: Names that are kept of a document, those told most often first.
MOST_NAMES = 3
#: Characters of a name.
LONGEST = 60
#: Characters from which on a name's first word alone names it.
LEAST_ALONE = 4
#: Documents that have to tell a name, ...
LEAST_SOURCES = 2
#: ... as a share of all, for a few speak of others' people, too, ...
LEAST_SHARE = 0.03
#: ... how many times as many as tell another one and not it, as two firms in a folder do, ...
AHEAD = 2
#: ... and how many times as many as tell another one at all, such as the agency of an office.
LEAD = 1.25
#: Share of the documents which tell another name that have to tell it, too, for them to belong.
BESIDE = 0.3

_WORD = r"(?:[A-ZÀ-ÖØ-ÞŁŚŠŽČ]|\d+[A-Za-z])[\w&]*(?:[-'’][A-Z0-9]\w*)*"
_NAME = rf"(?P<name>{_WORD}(?: (?:(?:of|and|&|for|the|de) )?{_WORD}){{0,3}})"
_PEOPLE = r"(?i:employees?|staff|colleagues|team members|teammates|workforce|volunteers)"

#: What says whose people a text speaks of. Not what bears a © or a legal form: those name the
#: makers of software in footers, and partners in contracts.
_CUES = tuple(
    re.compile(cue)
    for cue in (
        rf"\b{_PEOPLE} (?:of|at) (?:the )?{_NAME}",
        rf"\b(?:[Ww]ork(?:s|ing|ed)? (?:at|for)|[Ww]elcome to|[Ee]mployed (?:by|at)) "
        rf"(?:the )?{_NAME}",
        rf"(?<!\S)[a-z][\w'’-]*[,;]? {_NAME}(?:['’]s?)? {_PEOPLE}\b",
    )
)

#: Words with a capital that are nobody's name alone.
_GENERAL = frozenset(
    """Agency All Any Association Board Company Council Department EU Each Employee Employees
    Employer Every Finance Firm Foundation Full General Group HR Head Headquarters Human I
    IT If Inc Legal Limited Management New No Office Operations Organisation Organization
    Our Part People Project Research Resources Sales Services Some Staff Support Team Teams
    The These They This Those Trust UK US USA University We You Your""".split()
)


def told(passages: Iterable[str]) -> tuple[str, ...]:
    """The names of organisations whose people a document speaks of.

    Args:
        passages: what it says.

    Returns:
        At most `MOST_NAMES`, those told most often first.
    """
    found: Counter[str] = Counter()
    for passage in passages:
        for cue in _CUES:
            found.update(filter(None, (_proper(m["name"]) for m in cue.finditer(passage))))
    return tuple(name for name, _ in found.most_common(MOST_NAMES))


def _proper(name: str) -> str | None:
    words = name.split()
    while words and words[0] in _GENERAL:
        del words[0]
    name = " ".join(words)
    return name if 1 < len(name) <= LONGEST else None


def with_organisation(stated: Mapping[str, Any], passages: Iterable[str]) -> dict[str, Any]:
    """What a document states of itself, and whose it is by its words where it does not say so."""
    if any(key in stated for key in _SPELLED):
        return dict(stated)
    names = told(passages)
    return {**stated, ORGANISATION: list(names)} if names else dict(stated)


def organisations(records: Iterable[SourceRecord]) -> dict[str, str]:
    """Whose the documents are, by source, as most documents of the same folder tell it.

    A document that tells only of others is left out: it may be theirs. Not so where what it tells
    of is told beside the organisation elsewhere.

    Args:
        records: the documents that a run may use.

    Returns:
        Nothing of a folder of which it is not clear, see `organisation_of`.
    """
    folders: defaultdict[str, dict[str, frozenset[str]]] = defaultdict(dict)
    for record in records:
        folders[record.root][record.source] = _names(record)
    found = {}
    for by_source in folders.values():
        organisation = organisation_of(by_source.values())
        if organisation is not None:
            own = _own(organisation, by_source.values())
            for source, names in by_source.items():
                if not names or names & own:
                    found[source] = organisation
    return found


def _own(organisation: str, told_names: Collection[Collection[str]]) -> frozenset[str]:
    """The names of an organisation, and of what it is a part of or a part of it is.

    Those are told beside it (`LEAST_SOURCES`, `BESIDE`), as the agency of an office is.
    """
    beside = _families(names for names in told_names if _tell(organisation, names))
    all_told = _families(told_names)
    return frozenset(
        name
        for name, n in beside.items()
        if _alike(organisation, name) or n >= max(LEAST_SOURCES, BESIDE * all_told[name])
    )


def _names(record: SourceRecord) -> frozenset[str]:
    """The names that a document tells."""
    if not any(f'"{key}"' in record.stated for key in _SPELLED):
        return frozenset()  # nothing to parse, as in most of many documents
    stated = record.metadata
    said = (" ".join(printable(n).split()) for key in _SPELLED for n in texts(stated, key))
    return frozenset(name for name in said if 1 < len(name) <= LONGEST)


def organisation_of(told_names: Collection[Collection[str]]) -> str | None:
    """The organisation that documents are of, as most of those that tell one tell it.

    A name and a longer one that begins with it are one name; of several spellings the one that
    most documents have is taken, of these the longest.

    Args:
        told_names: of each document the names that it tells.

    Returns:
        None where fewer than `LEAST_SOURCES` or `LEAST_SHARE` of them tell it, or nearly as many
        another one, with it (`LEAD`) or without it (`AHEAD`).
    """
    votes = Counter(name for names in told_names for name in set(names))
    if not votes:
        return None
    family = _families(told_names)
    best = max(votes, key=lambda n: (family[n], votes[n], len(n), n))
    without = _families(names for names in told_names if not _tell(best, names))
    others = [name for name in votes if not _alike(best, name)]
    least = max(
        LEAST_SOURCES,
        LEAST_SHARE * len(told_names),
        AHEAD * max((without[name] for name in others), default=0),
        LEAD * max((family[name] for name in others), default=0),
    )
    return best if family[best] >= least else None


def _tell(organisation: str, names: Collection[str]) -> bool:
    return any(_alike(organisation, name) for name in names)


def _families(told_names: Iterable[Collection[str]]) -> Counter[str]:
    """How many documents tell each name, or one that is alike."""
    told_names = list(told_names)
    by_first: defaultdict[str, set[str]] = defaultdict(set)
    for name in {name for names in told_names for name in names}:
        by_first[name.split()[0]].add(name)
    return Counter(
        other
        for names in told_names
        for other in {n for name in names for n in by_first[name.split()[0]] if _alike(n, name)}
    )


def _alike(one: str, other: str) -> bool:
    return f"{one} ".startswith(f"{other} ") or f"{other} ".startswith(f"{one} ")


def below(organisation: str | None, context: Context) -> Context:
    """A passage with whose it is on top of its title, where that does not name it.

    What its text says of the organisation ("if you have come to it from elsewhere") does not tell
    that the rest is about it. Only what stands above changes; text, place and prior do not.
    """
    if not organisation or named_in(context.title, organisation):
        return context
    return replace(context, title=" > ".join(filter(None, [organisation, context.title])))


def named_in(text: str, organisation: str) -> bool:
    """Whether a text names an organisation; the first word of its name does where it is long."""
    first = organisation.split()[0]
    name = first if len(first) >= LEAST_ALONE else organisation
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None
