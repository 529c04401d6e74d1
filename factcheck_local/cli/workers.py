"""The option --workers: which machines share the work."""

from __future__ import annotations

import re

import click

#: What stands for Ray on this machine alone.
RAY = "ray"


def _is_address(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    """Refuse what is neither Ray on this machine nor the address of a cluster."""
    if value is not None and not re.fullmatch(rf"{RAY}(://[^/@?#\s]+:[0-9]{{1,5}})?", value):
        raise click.BadParameter(f"expected {RAY} or {RAY}://HOST:PORT")
    return value


workers_option = click.option(
    "--workers", metavar="ray[://HOST:PORT]", callback=_is_address, hidden=True
)


def cluster_address(workers: str) -> str | None:
    """The address of a cluster; None for this machine alone."""
    return None if workers == RAY else workers
