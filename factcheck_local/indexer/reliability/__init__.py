"""The reliability profile: how much each source is to be believed, and who may see it.

A profile is a TOML file; its first rule that matches a source gives the prior
P(what the source says is true)::

    default = 0.9
    half_life_days = 1460

    [[source]]
    match = "policies/**"
    where = { status = "approved" }
    prior = 0.98
    note = "signed off by Legal"

    [[access]]
    match = "hr/**"
    groups = ["hr", "board"]

Globs are those of ``.gitignore``: ``**`` crosses folders, and a pattern without
a slash matches at any depth. A document's own ``reliability`` wins over all rules.
``docs/reliability.md`` explains every key.

Nothing here but `ReliabilityProfile.load` and ``beside`` reads a file: what a profile
says follows from a source's names and its `storable` statements, which a store keeps,
so a new profile needs no document read again.
"""

from factcheck_local.indexer.reliability.access import visible
from factcheck_local.indexer.reliability.profile import (
    DEFAULT_PRIOR,
    PROFILE_NAME,
    SUPERSEDED,
    ReliabilityProfile,
    check_statements,
)
from factcheck_local.indexer.reliability.rules import is_glob, matches
from factcheck_local.indexer.reliability.statements import storable
from factcheck_local.indexer.reliability.supersession import supersession

__all__ = [
    "DEFAULT_PRIOR",
    "PROFILE_NAME",
    "SUPERSEDED",
    "ReliabilityProfile",
    "check_statements",
    "is_glob",
    "matches",
    "storable",
    "supersession",
    "visible",
]
