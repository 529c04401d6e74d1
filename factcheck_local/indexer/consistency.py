"""Whether the parts of a store tell the same: its manifest, Chroma, the index of words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from factcheck_local.core.types import Context
from factcheck_local.indexer.manifest import SourceRecord
from factcheck_local.indexer.parts import Parts
from factcheck_local.indexer.passages import OWN, Metadata, inherited, passages_digest, text_sha256


def faults(parts: Parts) -> Iterator[str]:
    """Every contradiction, a line each; every passage is read for it.

    Sources that are not complete are left out: what is amiss with them, the next run of
    the indexer mends. So are the words of a store on a server, which each search mends.
    """
    records = parts.manifest.sources()
    known: set[str] = set()
    for record in records:
        there = parts.passages.of_source(record.source)
        known |= there.keys()
        if record.complete:
            yield from _of_source(record, there, parts.passages.contexts(list(there)))
    ids = frozenset(parts.passages.ids())
    if orphans := ids - known:
        yield f"{len(orphans)} passages are of no source that the store knows"
    if parts.shared:
        return
    words = parts.lexical.ids()
    if missing := ids - words:
        yield f"{len(missing)} passages are not in the index of words"
    if surplus := words - ids:
        yield f"the index of words has {len(surplus)} passages that are not there"


def _of_source(
    record: SourceRecord, there: Mapping[str, Metadata], contexts: Iterable[Context]
) -> Iterator[str]:
    if len(there) != record.chunks:
        yield f"{record.source}: has {len(there)} passages, expected {record.chunks}"
    elif passages_digest({c.id: text_sha256(c.text) for c in contexts}) != record.digest:
        yield f"{record.source}: its passages are not those that were indexed"
    wanted = inherited(record)
    if any(
        {k: v for k, v in values.items() if k not in OWN} != wanted for values in there.values()
    ):
        yield f"{record.source}: passages have another prior, date or access than it has"
