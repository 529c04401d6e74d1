"""Which documents are superseded, and by which.

Four things tell, the first that does counts: the document says so (``superseded_by``),
its successor says so (``supersedes``), both are the same document in two versions
(``document_id`` with ``version`` or ``date``), or, if the profile wants it, the file names
do (``report-v1.md``, ``report-v2.md``). Each document has its immediate successor.

A circle would leave no document that is in force. So in each circle the links that rest
on the weakest of these grounds are dropped, all of them if all are equal.
"""

from __future__ import annotations

import datetime
import posixpath
import re
import unicodedata
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import PurePosixPath
from typing import Any, TypeVar

from packaging.version import InvalidVersion, Version

from factcheck_local.indexer.reliability.statements import ISSUE_KEYS, comparable, day_of, texts

_Statements = Mapping[str, Mapping[str, Any]]
_MARKED = re.compile(r"(.+)[-_ ]v([0-9]+(?:\.[0-9]+)*)", re.IGNORECASE | re.DOTALL)
_Order = TypeVar("_Order", Version, datetime.date)


def supersession(
    documents: Iterable[tuple[str, Mapping[str, Any]]], *, by_name: bool
) -> dict[str, str]:
    """The source that replaces a source, for each that is replaced, by name.

    Args:
        documents: sources, and what `storable` keeps of their metadata.
        by_name: whether trailing version marks of file names count.

    Returns:
        Source -> its immediate successor, never itself. A successor that is stated and
        not among the documents stands as it is written.
    """
    known = dict(sorted(documents, key=lambda document: document[0]))
    grounds = [_superseded_by(known), _supersedes(known), _same_document(known)]
    if by_name:
        grounds.append(_same_name(known))
    links: dict[str, tuple[int, str]] = {}
    for rank, found in enumerate(grounds):
        for source, successor in found.items():
            links.setdefault(source, (rank, successor))
    for circle in list(_circles({source: link[1] for source, link in links.items()})):
        weakest = max(links[source][0] for source in circle)
        for source in circle:
            if links[source][0] == weakest:
                del links[source]
    return {source: links[source][1] for source in known if source in links}


def _superseded_by(known: _Statements) -> dict[str, str]:
    found, spelled = {}, _spelled(known)
    for source, stated in known.items():
        for text in texts(stated, "superseded_by")[:1]:
            successor = _resolved(text, source, spelled) or text
            if successor != source:
                found[source] = successor
    return found


def _supersedes(known: _Statements) -> dict[str, str]:
    """By the statements of successors; of several the one that is itself replaced first."""
    spelled = _spelled(known)
    replaced = {
        source: {_resolved(text, source, spelled) for text in texts(stated, "supersedes")}
        for source, stated in known.items()
    }
    claimants = defaultdict(set)
    for source, olds in replaced.items():
        for old in olds:
            if old is not None and old != source:
                claimants[old].add(source)

    def first(rivals: set[str]) -> str:
        def order(source: str) -> tuple[int, datetime.date, str]:
            day = day_of(known[source], ISSUE_KEYS) or datetime.date.max
            return len((replaced[source] & rivals) - {source}), day, source

        return min(rivals, key=order)

    return {old: first(rivals) for old, rivals in claimants.items()}


@dataclass(frozen=True, slots=True)
class _Edition:
    """A document that has others of the same identity."""

    source: str
    version: Version | None
    day: datetime.date | None = None


def _same_document(known: _Statements) -> dict[str, str]:
    groups = defaultdict(list)
    for source, stated in known.items():
        identity = texts(stated, "document_id") or texts(stated, "doc_id")
        if identity:
            version = next((_version(text) for text in texts(stated, "version")), None)
            edition = _Edition(source, version, day_of(stated, ISSUE_KEYS))
            groups[comparable(identity[0])].append(edition)
    return _successors(groups.values())


def _same_name(known: _Statements) -> dict[str, str]:
    groups = defaultdict(list)
    for source in known:
        folder, name = posixpath.split(source)
        stem, extension = posixpath.splitext(name)
        if marked := _MARKED.fullmatch(stem):
            identity = folder, marked[1].casefold(), extension.casefold()
            groups[identity].append(_Edition(source, Version(marked[2])))
    return _successors(groups.values())


def _successors(groups: Iterable[Sequence[_Edition]]) -> dict[str, str]:
    """The next edition of each, by version where both have one, else by date."""
    found = {}
    for group in groups:
        versions = _ordered((e.version, e.source) for e in group)
        days = _ordered((e.day, e.source) for e in group)
        days_only = _ordered((e.day, e.source) for e in group if e.version is None)
        for edition in group:
            later = _next(versions, edition.version)
            if later is None:
                later = _next(days if edition.version is None else days_only, edition.day)
            if later is not None:
                found[edition.source] = later
    return found


def _ordered(pairs: Iterable[tuple[_Order | None, str]]) -> list[tuple[_Order, str]]:
    return sorted((order, source) for order, source in pairs if order is not None)


def _next(editions: Sequence[tuple[_Order, str]], order: _Order | None) -> str | None:
    """The first edition after this place in the order."""
    if order is None:
        return None
    at = bisect_right(editions, order, key=itemgetter(0))
    return editions[at][1] if at < len(editions) else None


def _version(text: str) -> Version | None:
    try:
        return Version(text)
    except InvalidVersion:
        return None


def _spelled(sources: Iterable[str]) -> dict[str, str]:
    """The sources by their names as text is typed: file names from macOS may be decomposed."""
    return {unicodedata.normalize("NFC", source): source for source in sources}


def _resolved(text: str, source: str, spelled: Mapping[str, str]) -> str | None:
    """The document that a path in another one means, None if there is none.

    The path is taken from the document's folder and then from each folder above it, so
    that paths below the root and full names of sources are found, too; one with a leading
    slash the other way round.
    """
    path = text.partition("#")[0].strip().replace("\\", "/")
    folders = [str(folder) for folder in PurePosixPath(source).parents]
    if path.startswith("/"):
        folders.reverse()
    names = (posixpath.normpath(posixpath.join(at, path.lstrip("/"))) for at in folders)
    found = (spelled.get(unicodedata.normalize("NFC", name)) for name in names)
    return next(filter(None, found), None) if path else None


def _circles(successors: Mapping[str, str]) -> Iterator[list[str]]:
    """Those that are reached again from themselves; each has one successor, so none overlap."""
    seen: set[str] = set()
    for start in successors:
        path: list[str] = []
        at: str | None = start
        while at is not None and at not in seen:
            seen.add(at)
            path.append(at)
            at = successors.get(at)
        if at in path:
            yield path[path.index(at) :]
