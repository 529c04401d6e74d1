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
#: ... and how many times as many as tell the next one.
AHEAD = 2

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

    A document that tells only of others is left out: it may be theirs.

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
            for source, names in by_source.items():
                if not names or any(_alike(organisation, name) for name in names):
                    found[source] = organisation
    return found


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
        None where fewer than `LEAST_SOURCES` or `LEAST_SHARE` of them tell it, or others nearly as
        often another one.
    """
    votes = Counter(name for names in told_names for name in set(names))
    if not votes:
        return None
    by_first: defaultdict[str, list[str]] = defaultdict(list)
    for name in votes:
        by_first[name.split()[0]].append(name)
    family = Counter(
        other
        for names in told_names
        for other in {n for name in names for n in by_first[name.split()[0]] if _alike(n, name)}
    )
    best = max(votes, key=lambda n: (family[n], votes[n], len(n), n))
    next_one = max((n for name, n in family.items() if not _alike(best, name)), default=0)
    least = max(LEAST_SOURCES, LEAST_SHARE * len(told_names), AHEAD * next_one)
    return best if family[best] >= least else None


def _alike(one: str, other: str) -> bool:
    return f"{one} ".startswith(f"{other} ") or f"{other} ".startswith(f"{one} ")


def below(organisation: str | None, context: Context) -> Context:
    """A passage with whose it is on top of its title, where neither title nor text names it.

    Only what stands above it changes; text, place and prior are what they were.
    """
    if not organisation:
        return context
    first = organisation.split()[0]
    name = first if len(first) >= LEAST_ALONE else organisation
    if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", f"{context.title}\n{context.text}"):
        return context
    return replace(context, title=" > ".join(filter(None, [organisation, context.title])))
