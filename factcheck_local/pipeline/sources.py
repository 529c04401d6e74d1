"""The sources of a store that a run may use, and whose they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from factcheck_local.core.types import Context
from factcheck_local.indexer.joined import ReadableStore
from factcheck_local.indexer.manifest import SourceRecord
from factcheck_local.indexer.scope import Condition, as_seen, in_scope
from factcheck_local.indexer.whose import below, organisations
from factcheck_local.pipeline.settings import AUTO, Settings


@dataclass(frozen=True, slots=True)
class Sources:
    """What of a store a run may use.

    Attributes:
        records: the sources that fulfil the conditions, and that the groups may see.
        scope: their names; None where that is all of the store.
        seen: those that the groups may see; None for all.
        said: whose they all are, as it was said.
        told: whose they are, by name, as most of the documents tell.
    """

    records: Sequence[SourceRecord] = ()
    scope: frozenset[str] | None = None
    seen: frozenset[str] | None = None
    said: str | None = None
    told: Mapping[str, str] = field(default_factory=dict)

    def whose(self, source: str) -> str | None:
        """The organisation whose document a source is."""
        return self.said or self.told.get(source)

    def as_read(self, passage: Context) -> Context:
        """A passage as a run reads it: with whose it is, and no successor that may not be seen."""
        return below(self.whose(passage.source), as_seen(passage, self.seen))

    @property
    def organisation(self) -> str | None:
        """The one whose documents all are that are known to be anybody's."""
        told = set(self.told.values())
        return self.said or (told.pop() if len(told) == 1 else None)


def usable(store: ReadableStore | None, settings: Settings) -> Sources:
    """The sources that a run with these settings may use, none of them known without a store.

    Raises:
        InputError: if a condition is none.
    """
    said = None if settings.organisation == AUTO else settings.organisation
    if store is None:
        return Sources(said=said)
    where = [Condition.parse(text) for text in settings.where]
    sources, groups = store.sources(), settings.as_groups
    seen, scope = in_scope(sources, groups=groups), in_scope(sources, where, groups)
    used = [s for s in sources if scope is None or s.source in scope]
    told = organisations(used) if settings.organisation == AUTO else {}
    return Sources(used, scope, seen, said, told)
