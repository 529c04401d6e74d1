"""factcheck index: documents into the store."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from factcheck_local.commands.common import (
    StorePlace,
    json_option,
    store_option,
    store_to_write,
    write_json,
)
from factcheck_local.indexer import server
from factcheck_local.indexer.address import ServerAddress
from factcheck_local.indexer.fingerprint import Fingerprint
from factcheck_local.indexer.loaders import LOADERS
from factcheck_local.indexer.reliability import ReliabilityProfile
from factcheck_local.indexer.store import Store
from factcheck_local.indexer.sync import SyncReport, sync
from factcheck_local.models.registry import DEFAULT_EMBEDDER, load_model

_PARTS = ("indexed", "unchanged", "removed", "skipped", "failed")


def _list_formats(context: click.Context, _option: click.Parameter, asked: bool) -> None:
    """A line for each extension and what it is, instead of indexing anything."""
    if asked and not context.resilient_parsing:
        for extension, form in LOADERS.items():
            click.echo(f"{extension:<10} {form.title}")
        context.exit()


@click.command("index")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@store_option
@click.option(
    "--reliability",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The reliability profile; by default the reliability.toml in each folder.",
)
@click.option("--include", multiple=True, metavar="GLOB", help="Index only these files.")
@click.option("--exclude", multiple=True, metavar="GLOB", help="Leave these files out.")
@click.option("--embedder", default=DEFAULT_EMBEDDER, show_default=True, help="Embedding model.")
@click.option("--rebuild", is_flag=True, help="Forget the store and index everything anew.")
@click.option(
    "--unlock",
    is_flag=True,
    help="Of a store on a server: write although a run that has died elsewhere holds it.",
)
@click.option(
    "--formats",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_formats,
    help="List the formats that can be read, and exit.",
)
@json_option
def command(
    paths: tuple[Path, ...],
    store_path: StorePlace | None,
    reliability: Path | None,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    embedder: str,
    rebuild: bool,
    unlock: bool,
    as_json: bool,
) -> None:
    """Bring the store up to date with folders and files.

    Only what changed is read and embedded again; what is gone is removed.

    \b
    Example:
      factcheck index ./docs --exclude 'drafts/**'
    """  # noqa: D301
    profile = ReliabilityProfile.load(reliability) if reliability else None
    model = load_model(embedder, "embedder")
    place = store_to_write(store_path)
    if unlock:
        _unlock(place)
    if rebuild:
        Store.erase(place)
    with Store.create(place, Fingerprint.of(model)) as store:
        report = sync(paths, store, model, profile, include, exclude, _progress)
        passages = store.count()
    if as_json:
        write_json(
            {part: [e._asdict() for e in getattr(report, part)] for part in _PARTS}
            | {"passages": passages, "store": store.place}
        )
    else:
        _show(report, passages, store.place)


def _unlock(place: StorePlace) -> None:
    """Take the lock on a server away from whoever has it.

    Raises:
        click.UsageError: if the store is a folder, of which the system lets go by itself.
    """
    if not isinstance(place, ServerAddress):
        raise click.UsageError("--unlock is for a store on a server")
    if holder := server.unlock(place):
        click.echo(f"factcheck: unlocked, it was held by {holder}", err=True)


def _progress(done: int, count: int, source: str) -> None:
    if sys.stderr.isatty():
        end = "\n" if done == count else ""
        click.echo(f"\r\033[K{done}/{count} {source}"[:120], nl=False, err=True)
        click.echo(end, nl=False, err=True)


def _show(report: SyncReport, passages: int, place: str) -> None:
    for part in ("removed", "skipped", "failed"):
        for entry in getattr(report, part):
            click.echo(f"{part}: {entry.source}" + (f": {entry.reason}" if entry.reason else ""))
    counts = ", ".join(f"{len(getattr(report, part))} {part}" for part in _PARTS)
    click.echo(f"{counts}; {passages} passages in {place}")
