"""factcheck audit: prove that a server's audit log is what was written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from factcheck_local.core.errors import InputError
from factcheck_local.serve.audit import NOTHING, AuditError, verified

log_argument = click.argument(
    "log", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="AUDIT.jsonl"
)


@click.group("audit")
def command() -> None:
    """Check and export the audit log of a server.

    \b
    Example:
      factcheck audit verify audit.jsonl
    """


@command.command("verify")
@log_argument
@click.option("--expect", metavar="HASH", help="A hash that the log had at its end before.")
def verify(log: Path, expect: str | None) -> None:
    """Prove that every line follows from the one before, and show the last hash.

    Kept elsewhere, that hash proves later that no line up to that one was cut off or changed:
    --expect. Of lines that came later it proves nothing.
    """
    # The hash of a log without lines is that of any log's beginning.
    count, last, met = 0, NOTHING, expect in (None, NOTHING)
    for entry in _lines(log):
        count, last = entry["number"], entry["hash"]
        met = met or last == expect
    if not met:
        raise AuditError(f"{log}: no line has the hash {expect}: lines were cut off")
    click.echo(f"{count} lines hold; the last hash is {last}")


@command.command("export")
@log_argument
@click.option(
    "--since",
    type=click.DateTime(),
    metavar="DATE",
    help="Only from this time on, in UTC: 2026-11-01 or 2026-11-01T08:30:00.",
)
@click.option("--who", help="Only of this caller.")
def export(log: Path, since: datetime | None, who: str | None) -> None:
    """Write lines that hold as JSON lines to stdout."""
    begin = since.replace(tzinfo=UTC) if since else None
    for entry in _lines(log):
        is_late = begin is None or datetime.fromisoformat(entry["time"]) >= begin
        if is_late and who in (None, entry["who"]):
            click.echo(json.dumps(entry, ensure_ascii=True))


def _lines(log: Path) -> Iterator[dict[str, Any]]:
    try:
        yield from verified(log)
    except OSError as error:
        raise InputError(f"{log}: cannot be read: {error.strerror}") from error
