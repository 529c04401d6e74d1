"""factcheck settings: every setting, its value, and where that comes from."""

from __future__ import annotations

from collections.abc import Iterator

import click

from factcheck_local.cli.choosing import SettingsCommand, choose_settings, settings_options
from factcheck_local.cli.common import write_json
from factcheck_local.cli.places import nearest_store, open_store, store_option
from factcheck_local.indexer.address import StorePlace
from factcheck_local.pipeline.chosen import ABOUT_PRESETS, PRESETS, Chosen
from factcheck_local.pipeline.setting import Needs
from factcheck_local.pipeline.settings import SETTINGS


@click.command("settings", cls=SettingsCommand)
@store_option
@settings_options
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json", "markdown"]),
    default="text",
    show_default=True,
    help="markdown: the reference, without the present values.",
)
def command(
    store_path: StorePlace | None, assigned: tuple[str, ...], preset: str | None, form: str
) -> None:
    """Show every setting: its value here, where that comes from, its default, its effect.

    The first place that sets one decides: an option of the command, --set, the factcheck.toml
    in the working directory or else beside the store, a preset, the default.

    \b
    Example:
      factcheck settings --preset careful
    """
    if form == "markdown":
        click.echo("\n".join(reference()))
        return
    chosen = _chosen(store_path, assigned, preset)
    if form == "json":
        write_json({"schema": "factcheck.settings/1", "settings": _rows(chosen)})
        return
    for row in _rows(chosen):
        click.echo(f"{row['name']}={row['value']}  ({row['origin']}; default {row['default']})")
        click.echo(f"    {row['effect']}")


def _chosen(place: StorePlace | None, assigned: tuple[str, ...], preset: str | None) -> Chosen:
    place = place or nearest_store()
    if place is None:
        # Without a store the settings are those of the working directory.
        return choose_settings({}, assigned, preset, None)
    with open_store(place) as store:
        return choose_settings({}, assigned, preset, store)


def _rows(chosen: Chosen) -> list[dict[str, str]]:
    return [
        {
            "name": row.name,
            "value": row.shown(getattr(chosen.settings, row.name)),
            "origin": chosen.origins[row.name],
            "default": row.shown(row.default),
            "values": row.expected,
            "effect": row.effect,
        }
        for row in SETTINGS.values()
    ]


def _met_by_all(needs: Needs) -> bool:
    """Whether every value that a user can choose meets it."""
    choices = SETTINGS[needs.of].choices
    return bool(choices) and all(needs.holds(one) for one in choices)


def reference() -> Iterator[str]:
    """The lines of the tables in docs/settings.md."""
    yield "| preset | what it sets | what it is for |"
    yield "|---|---|---|"
    for name, values in PRESETS.items():
        sets = ", ".join(f"`{key}={SETTINGS[key].shown(value)}`" for key, value in values.items())
        yield f"| `{name}` | {sets or 'nothing'} | {ABOUT_PRESETS[name]} |"
    yield ""
    yield "| setting | default | values | effect | needs |"
    yield "|---|---|---|---|---|"
    for row in SETTINGS.values():
        needs = f"`{row.needs.said}`" if row.needs and not _met_by_all(row.needs) else ""
        default = row.shown(row.default)
        cells = (f"`{row.name}`", f"`{default}`" if default else "", row.expected, row.effect)
        yield "| " + " | ".join(c.replace("|", "\\|") for c in (*cells, needs)) + " |"
