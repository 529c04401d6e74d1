"""A run that goes on from its state is the run that was begun: what it was told is kept there."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

#: What may be another when a run goes on: where it runs, and how long.
_FREE = frozenset(("out", "device", "threads", "total", "epochs"))


def arguments() -> dict[str, str]:
    """What the present command was told that decides what a run becomes, by option."""
    told = click.get_current_context().params
    return {name: _plain(value) for name, value in told.items() if name not in _FREE}


def check_arguments(begun: Mapping[str, str] | None) -> None:
    """Refuse to go on with other arguments than a run was begun with.

    Args:
        begun: its ``arguments``; None of a state that does not have them.

    Raises:
        click.UsageError: which differ.
    """
    now = arguments()
    if begun is not None and now != begun:
        names = sorted(name for name in now | dict(begun) if now.get(name) != begun.get(name))
        said = "; ".join(f"{name} was {begun.get(name)}, is {now.get(name)}" for name in names)
        raise click.UsageError(f"the run in --out was begun otherwise: {said}")


def _plain(value: Any) -> str:
    """A file by its name: where the data lie may change."""
    if isinstance(value, Path):
        return value.name
    if isinstance(value, tuple):
        return ", ".join(map(_plain, value))
    return str(value)
