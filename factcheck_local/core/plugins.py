"""What other distributions add to this package: loaders, models, assessors and reports.

A distribution names what it adds in its ``pyproject.toml``, by one of the groups below::

    [project.entry-points."factcheck_local.reports"]
    csv = "my_package:to_csv"

Nothing of a plugin is imported before it is used. What this package has itself cannot be
replaced by one.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from factcheck_local.core.errors import InputError

#: A file's extension, as ``.tex`` -> ``load(data: bytes, source: str) -> Document``.
LOADERS = "factcheck_local.loaders"

#: A backend, as a model's card names it -> ``build(card: ModelCard)``, which gives the model.
MODELS = "factcheck_local.models"

#: The name of an assessor -> a ``Judge``, see ``pipeline.verdicts.judges.case``.
ASSESSORS = "factcheck_local.assessors"

#: A format, and the ending of its files -> ``report(assessments: Sequence[dict]) -> str``.
REPORTS = "factcheck_local.reports"


@cache
def _found(group: str) -> dict[str, EntryPoint]:
    # By name: which of two distributions wins does not depend on the order of the path.
    found = sorted(entry_points(group=group), key=lambda e: (e.name, e.value), reverse=True)
    return {entry.name: entry for entry in found}


def plugin_names(group: str) -> tuple[str, ...]:
    """The names of a group's plugins, in order; none is imported."""
    return tuple(sorted(_found(group)))


def load_plugin(group: str, name: str) -> Any:  # noqa: ANN401
    """What a plugin adds; its contract is the group's.

    Args:
        group: one of the groups above.
        name: one of its ``plugin_names``.

    Raises:
        InputError: if it cannot be imported, in one line that names the plugin and its
            distribution.
    """
    entry = _found(group)[name]
    try:
        return entry.load()
    except Exception as error:  # whatever its modules raise as they are imported
        of = f"{entry.dist.name} {entry.dist.version}" if entry.dist else "an unnamed distribution"
        raise InputError(
            f"plugin {name!r} of {of} ({group}): cannot be loaded: {type(error).__name__}: {error}"
        ) from error
