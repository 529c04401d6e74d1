"""factcheck status: what the store holds."""

from __future__ import annotations

from dataclasses import asdict

import click

from factcheck_local.commands.common import (
    StorePlace,
    json_option,
    open_store,
    store_option,
    write_json,
)
from factcheck_local.relate.calibrations import read_calibrations


@click.command("status")
@store_option
@json_option
def command(store_path: StorePlace | None, as_json: bool) -> None:
    """Show the store's sources with their prior and the rule that gave it.

    A calibration that factcheck calibrate has stored is shown, too.

    \b
    Example:
      factcheck status
    """  # noqa: D301
    with open_store(store_path) as store:
        sources = store.sources()
        embedder = store.fingerprint.embedder
        calibrations = read_calibrations(store.path)
        summary = {"store": store.place, "passages": store.count(), "digest": store.digest()}
    if as_json:
        write_json(
            summary
            | {
                "embedder": asdict(embedder),
                "calibrations": [asdict(c) for c in calibrations],
                "sources": [asdict(s) for s in sources],
            }
        )
        return
    for s in sources:
        state = "" if s.complete else "  (interrupted: index again)"
        click.echo(f"{s.prior:<6g} {s.chunks:>4} passages  {s.source}  [{s.prior_rule}]{state}")
    for c in calibrations:
        click.echo(
            f"calibration of {c.scorer}: {c.n} labels, ECE {c.ece_before:.3f} before, "
            f"{c.ece_after:.3f} after, {c.date}"
        )
    click.echo(
        f"{len(sources)} sources, {summary['passages']} passages, embedder {embedder.id}, "
        f"digest {summary['digest'][:16]}"  # type: ignore[index]
    )
