"""factcheck prepare: passages read before there is an answer."""

from __future__ import annotations

import shutil
from dataclasses import asdict
from functools import partial

import click

from factcheck_local.cli.choosing import (
    SettingsCommand,
    choose_settings,
    refuse_idle,
    settings_options,
)
from factcheck_local.cli.common import (
    Number,
    as_option,
    json_option,
    llm_option,
    relation_option,
    where_option,
    write_json,
)
from factcheck_local.cli.messages import tell
from factcheck_local.cli.places import open_store, store_option
from factcheck_local.cli.progress import stage_progress
from factcheck_local.indexer.address import StorePlace
from factcheck_local.pipeline.prepare import SPACE, Prepared, prepare
from factcheck_local.pipeline.settings import SETTINGS

#: Settings on which it hangs what the LLM is shown of which passage.
_USED = ("relation", "llm", "where", "as_groups", "organisation", "tables", "cut_instructions")

_GIGABYTE = 10**9


@click.command("prepare", cls=SettingsCommand)
@store_option
@click.option(
    "--space",
    type=Number(min=0, max=10**6, min_open=True),
    metavar="GB",
    help="What is kept may take so much of the store's disk; by default what it was given before, "
    f"or {SPACE / _GIGABYTE:g}.",
)
@relation_option
@llm_option
@where_option
@as_option
@settings_options
@json_option
def command(
    store_path: StorePlace | None,
    space: float | None,
    assigned: tuple[str, ...],
    preset: str | None,
    as_json: bool,
    **options: str | tuple[str, ...] | None,
) -> None:
    """Have the LLM read the store's passages ahead, so that answers need not wait for that.

    No verdict changes. A passage takes about a second on two cores, and some 7 MB of the disk;
    those of the most reliable sources come first. Without this, verify keeps what it reads,
    up to 1 GB. When an indexing run changes or removes a document, what was made of it goes;
    run again, this reads what is missing.

    \b
    Example:
      factcheck prepare --space 2
    """
    with open_store(store_path) as store:
        chosen = choose_settings(options, assigned, preset, store)
        refuse_idle(chosen, SETTINGS.keys() - set(_USED), "passages are read, and no answer")
        found = prepare(
            store,
            chosen.settings,
            space=None if space is None else int(space * _GIGABYTE),
            progress=partial(stage_progress(), "prepare"),
        )
    if found.left:
        free = shutil.disk_usage(store.path).free / _GIGABYTE
        tell(
            f"factcheck: no room for {found.left} more, {free:.1f} GB of the disk are free "
            f"(try: {_larger(found)})"
        )
    if not found.read and not found.known and found.passed_over:
        tell("factcheck: nothing is kept on a GPU, by a server or behind a prompt with examples")
    if as_json:
        write_json(asdict(found))
        return
    click.echo(
        f"{found.read} passages read ahead, {found.known} before, {found.passed_over} passed over, "
        f"{found.bytes / _GIGABYTE:.2f} GB"
    )


def _larger(found: Prepared) -> str:
    """The space that all passages take, were those without room like the others, and some more."""
    if not found.read + found.known:
        return "a larger --space"
    each = found.bytes / (found.read + found.known)
    enough = 1.1 * (found.bytes + found.left * each) / _GIGABYTE
    return f"--space {enough:.1f}" if enough >= 1 else f"--space {enough:.2g}"
