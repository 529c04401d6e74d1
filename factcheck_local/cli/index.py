"""factcheck index: documents into the store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from factcheck_local.cli import interrupts
from factcheck_local.cli.common import Number, json_option, write_json
from factcheck_local.cli.messages import complain, tell
from factcheck_local.cli.places import store_option, store_to_write
from factcheck_local.cli.progress import index_progress
from factcheck_local.cli.workers import cluster_address, workers_option
from factcheck_local.core import plugins
from factcheck_local.core.errors import FactcheckError
from factcheck_local.core.text.language import MODELS_READ
from factcheck_local.indexer import server
from factcheck_local.indexer.address import ServerAddress, StorePlace
from factcheck_local.indexer.fingerprint import Fingerprint
from factcheck_local.indexer.loaders import LOADERS
from factcheck_local.indexer.reader import LIMITS_MEMORY, ReadLimits
from factcheck_local.indexer.reliability import PROFILE_NAME, ReliabilityProfile, is_glob
from factcheck_local.indexer.store import Store
from factcheck_local.indexer.survey import existing, known_roots
from factcheck_local.indexer.sync import SyncReport, sync
from factcheck_local.indexer.watch import changes
from factcheck_local.models.contracts import Embedder
from factcheck_local.models.embedder import for_passages
from factcheck_local.models.registry import DEFAULT_EMBEDDER, load_model
from factcheck_local.report.view import one_line
from factcheck_local.scale.embedding import shared_embedder

#: Sources in another language that are named.
_NAMED = 5

_PARTS = ("indexed", "unchanged", "removed", "skipped", "failed")


def _list_formats(context: click.Context, _option: click.Parameter, asked: bool) -> None:
    """A line for each extension and what it is, instead of indexing anything."""
    if asked and not context.resilient_parsing:
        for extension, form in LOADERS.items():
            click.echo(f"{extension:<10} {form.title}")
        for extension in plugins.plugin_names(plugins.LOADERS):
            if extension in LOADERS:
                continue  # ours cannot be replaced
            click.echo(f"{extension:<10} by a plugin")
        context.exit()


def limit_option(name: str, field: str, unit: str, text: str) -> Callable[[Any], Any]:
    """An option for one of `ReadLimits`."""
    return click.option(
        name,
        field,
        # What is waited for, and what a system counts in bytes, has an end.
        type=Number(min=0, max=10**9, min_open=True),
        default=getattr(ReadLimits(), field),
        show_default=True,
        metavar=unit,
        help=text,
        callback=_can_limit,
    )


def _can_limit(context: click.Context, option: click.Parameter, value: float) -> float:
    """Say so where a limit that was asked for has no effect."""
    chosen = context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
    if chosen and option.name == "memory_megabytes" and not LIMITS_MEMORY:
        tell("factcheck: --max-file-memory has no effect here, only on Linux")
    return value


def _globs(
    _context: click.Context, _option: click.Parameter, given: tuple[str, ...]
) -> tuple[str, ...]:
    """Refuse what is no glob before --rebuild forgets the store."""
    for glob in given:
        if not is_glob(glob):
            raise click.BadParameter(f"no glob: {glob!r}")
    return given


@click.command("index")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@store_option
@click.option(
    "--reliability",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The reliability profile; by default the reliability.toml in each folder.",
)
@click.option(
    "--include", multiple=True, metavar="GLOB", callback=_globs, help="Index only these files."
)
@click.option(
    "--exclude", multiple=True, metavar="GLOB", callback=_globs, help="Leave these files out."
)
@click.option(
    "--forget",
    multiple=True,
    metavar="PATH",
    type=click.Path(path_type=Path),
    help="Remove the sources of this file or folder, gone or not.",
)
@click.option("--embedder", default=DEFAULT_EMBEDDER, show_default=True, help="Embedding model.")
@click.option("--rebuild", is_flag=True, help="Forget the store and index everything anew.")
@click.option("--watch", is_flag=True, help="Go on, and index again whenever a file changes.")
@click.option("--ocr", is_flag=True, help="Read scanned pages of PDFs by OCR (extra: ocr).")
@limit_option("--max-file-size", "megabytes", "MB", "Leave larger files out.")
@limit_option("--max-file-time", "seconds", "SECONDS", "Give up on a file after so long.")
@limit_option("--max-file-memory", "memory_megabytes", "MB", "What reading a file may take.")
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
@workers_option
@json_option
def command(
    paths: tuple[Path, ...],
    store_path: StorePlace | None,
    reliability: Path | None,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    forget: tuple[Path, ...],
    embedder: str,
    rebuild: bool,
    watch: bool,
    ocr: bool,
    unlock: bool,
    workers: str | None,
    as_json: bool,
    **limits: float,
) -> None:
    """Bring the store up to date with folders and files.

    Only what changed is read and embedded again; what is gone is removed.

    With --workers ray, or --workers ray://HOST:PORT, passages are embedded by a worker per GPU or
    machine; this process reads the files and writes the store.

    \b
    Example:
      factcheck index ./docs --exclude 'drafts/**'
    """
    if reliability:
        ReliabilityProfile.load(
            reliability
        )  # what is wrong with it is said before anything is done
    if forget and (watch or rebuild):
        raise click.UsageError("--forget takes neither --watch nor --rebuild")
    if watch and workers is not None:
        raise click.UsageError("--watch embeds here, without --workers")
    place = store_to_write(store_path)

    def run(model: Embedder, at_once: int = 1) -> tuple[SyncReport, int]:
        profile = ReliabilityProfile.load(reliability) if reliability else None
        with Store.create(place, Fingerprint.of(model)) as store, index_progress() as progress:
            report = sync(
                paths,
                store,
                model,
                profile,
                include,
                exclude,
                progress,
                limits=ReadLimits(**limits),
                ocr=ocr,
                at_once=at_once,
                forget=forget,
            )
            _name_languages(report)
            if profile is None:
                _name_unruled(store)
            return report, store.count()

    show = _write if as_json else _show
    with _embedder(embedder, workers) as (model, at_once):
        if unlock:
            _unlock(place)
        if rebuild:
            # What is wrong with these is said before anything is lost.
            for path in existing(paths):
                ReliabilityProfile.beside(path if path.is_dir() else path.parent)
            Store.erase(place)
        show(*run(model, at_once), str(place))
    if watch:
        with interrupts.noticed() as interrupted:
            tell("watching; interrupt to end")
            watched = [*paths, *([reliability] if reliability else [])]
            for _ in changes(watched, place if isinstance(place, Path) else None, stop=interrupted):
                try:
                    report, passages = run(model)
                except FactcheckError as error:  # it may be mended while we watch
                    tell(f"factcheck: {error}")
                    continue
                if report.indexed or report.removed or report.failed:
                    show(report, passages, str(place))
        # Only here if what the interrupt raised was dropped on its way.
        raise KeyboardInterrupt


@contextmanager
def _embedder(name: str, workers: str | None) -> Iterator[tuple[Embedder, int]]:
    """The embedder of this name, here or by workers, and how many batches it takes at once."""
    if workers is None:
        yield for_passages(load_model(name, "embedder")), 1
        return
    with shared_embedder(name, cluster_address(workers)) as shared:
        yield shared, shared.workers


def _unlock(place: StorePlace) -> None:
    """Take the lock on a server away from whoever has it.

    Raises:
        click.UsageError: if the store is a folder, of which the system lets go by itself.
    """
    if not isinstance(place, ServerAddress):
        raise click.UsageError("--unlock is for a store on a server")
    if holder := server.unlock(place):
        tell(f"factcheck: unlocked, it was held by {holder}")


def _write(report: SyncReport, passages: int, place: str) -> None:
    write_json(
        {part: [e._asdict() for e in getattr(report, part)] for part in _PARTS}
        | {"passages": passages, "store": place}
    )


def _name_languages(report: SyncReport) -> None:
    """Say on stderr which sources the models do not read."""
    found = [entry.source for entry in report.indexed if MODELS_READ in entry.reason]
    if found:
        more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        shown = ", ".join(found[:_NAMED])
        what = "a source is" if len(found) == 1 else f"{len(found)} sources are"
        complain(f"{what} in another language, and {MODELS_READ}: {shown}{more}", None, 0)


def _name_unruled(store: Store) -> None:
    """Say on stderr which folders a profile around them does not hold for: its labels neither."""
    used = {record.root for record in store.sources()}
    roots = [root for root in known_roots(store) if root.label in used]
    for inner in roots:
        for outer in roots:
            rules = outer.path / PROFILE_NAME
            if outer.path in inner.path.parents and rules.is_file():
                why = f"{rules} does not hold for {inner.path}, which was indexed by itself"
                complain(why, f"factcheck index --rebuild {outer.path}", 0)


def _show(report: SyncReport, passages: int, place: str) -> None:
    for part in ("removed", "skipped", "failed"):
        for entry in getattr(report, part):
            reason = f": {entry.reason}" if entry.reason else ""
            click.echo(one_line(f"{part}: {entry.source}{reason}"))
    counts = ", ".join(f"{len(getattr(report, part))} {part}" for part in _PARTS)
    click.echo(f"{counts}; {passages} passages in {place}")
