"""Access labels: the groups that may see what a document says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from factcheck_local.indexer.reliability.statements import ACCESS

_GAP = re.compile(r"[\s,]+")


def group_names(value: object) -> frozenset[str]:
    """The groups that a list names.

    Raises:
        ValueError: if it is no list of names, is empty, or a name holds a blank or a comma.
    """
    if not isinstance(value, list | tuple) or not all(isinstance(name, str) for name in value):
        raise ValueError(f"must be a list of group names, got {value!r}")
    if not value:
        raise ValueError("must name at least one group")
    for name in value:
        if not name or _GAP.search(name):
            raise ValueError(f"must be names without blanks and commas, got {name!r}")
    return frozenset(value)


def stated_groups(value: object) -> frozenset[str]:
    """The groups that a document's own ``access`` names: a list, or names in one text.

    Raises:
        ValueError: as `group_names` does.
    """
    if isinstance(value, str):
        value = [name for name in _GAP.split(value) if name]
    return group_names(value)


def own_groups(stated: Mapping[str, Any]) -> frozenset[str] | None:
    """Who may see a document by its own statement: None if it makes none.

    A statement that cannot be read shows the document to nobody, not to everybody.
    """
    if ACCESS not in stated:
        return None
    try:
        return stated_groups(stated[ACCESS])
    except ValueError:
        return frozenset()


def visible(groups: frozenset[str] | None, as_groups: frozenset[str] | None) -> bool:
    """Whether what carries these groups is shown to a member of those.

    Args:
        groups: who may see it; None is everyone, the empty set nobody.
        as_groups: the groups of the one who asks. None asks without any limit, as the
            owner of the store does; the empty set is somebody who is in no group.
    """
    return groups is None or as_groups is None or not groups.isdisjoint(as_groups)
