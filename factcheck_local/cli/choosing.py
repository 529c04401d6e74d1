"""How a command is told its settings: --set, --preset and factcheck.toml; and their completion."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from factcheck_local.cli.places import named_place, nearest_store, open_stores
from factcheck_local.core.errors import FactcheckError, InputError
from factcheck_local.indexer.folder import outermost
from factcheck_local.indexer.joined import ReadableStore
from factcheck_local.models.cards import load_cards
from factcheck_local.pipeline.chosen import PRESETS, SAID_NOW, Chosen, choose
from factcheck_local.pipeline.settings import SETTINGS

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def choose_settings(
    options: Mapping[str, Any],
    assigned: tuple[str, ...],
    preset: str | None,
    store: ReadableStore | None,
) -> Chosen:
    """The settings of a run; see ``pipeline.chosen.choose``.

    Args:
        options: of the command line; None for one that was not given.
        assigned: what ``--set`` was given.
        preset: what ``--preset`` was given.
        store: beside which a factcheck.toml counts, and whose embedder it is; None for a run
            without one, for which the nearest store's factcheck.toml counts all the same.

    Raises:
        InputError: see there.
    """
    given = {name: value for name, value in options.items() if value is not None}
    near = store.path.resolve() if store is not None else nearest_store()
    beside = [outermost(near).parent] if near is not None else []
    brought = {"embedder": store.fingerprint.embedder.id} if store is not None else {}
    return choose(given, assigned, preset, [Path.cwd(), *beside], brought)


def refuse_idle(chosen: Chosen, names: Collection[str], why: str) -> None:
    """Refuse what the command line sets and this run has no use for.

    What a file, a preset or the store sets is for other runs, too, and is passed over.

    Args:
        chosen: the settings.
        names: of those without an effect.
        why: in words, to stand behind the name.

    Raises:
        InputError: naming the first.
    """
    for name in chosen.places:
        if name in names and chosen.origins[name] in SAID_NOW:
            raise InputError(f"{chosen.places[name]}{name}: has no effect, {why}")


class SettingsCommand(click.Command):
    """A command that shows --set and --preset apart, and knows settings that are no options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does; where an unknown option is a setting, the hint says how to set it."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            name = error.option_name.lstrip("-").replace("-", "_")
            shown = name.removeprefix("no_")
            if shown not in SETTINGS:
                raise
            value = "false" if shown != name else "VALUE"
            raise click.NoSuchOption(
                error.option_name,
                f"no option {error.option_name}, it is a setting: --set {shown}={value}",
                ctx=ctx,
            ) from error

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options, then what sets every other setting."""
        options: list[tuple[str, str]] = []
        settings: list[tuple[str, str]] = []
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if record is not None:
                (settings if param.name in ("assigned", "preset") else options).append(record)
        with formatter.section("Options"):
            formatter.write_dl(options)
        if settings:
            with formatter.section("Every other setting (factcheck settings lists them)"):
                formatter.write_dl(settings)


def _assignments(_ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
    """``NAME=`` with the values that it has."""
    name, sign, value = typed.partition("=")
    if not sign:
        return [
            CompletionItem(f"{row.name}=", help=row.effect)
            for row in SETTINGS.values()
            if row.name.startswith(name)
        ]
    row = SETTINGS.get(name)
    if row is None:
        return []
    values = row.choices or (("true", "false") if row.kind is bool else ())
    return [CompletionItem(f"{name}={one}") for one in values if one.startswith(value)]


def model_names(*roles: str, also: tuple[str, ...] = ()) -> Callable[..., list[CompletionItem]]:
    """Completion by the names of models of these roles."""

    def complete(_ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
        try:
            known = [card.id for card in load_cards().values() if card.role in roles]
        except FactcheckError:
            known = []
        return [CompletionItem(name) for name in (*also, *sorted(known)) if name.startswith(typed)]

    return complete


def source_names(ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
    """Completion of ``source=`` by the names of the store's sources."""
    if not typed.startswith("source="):
        return [CompletionItem("source=")] if "source=".startswith(typed) else []
    try:
        place = named_place(ctx.params.get("store_path"), ctx.params.get("collections"))
        with open_stores(place) as store:
            known = sorted(s.source for s in store.sources())
    except FactcheckError:
        return []
    return [CompletionItem(f"source={n}") for n in known if f"source={n}".startswith(typed)]


def settings_options(command: Decorated) -> Decorated:
    """The options --preset and --set of a command that reads a factcheck.toml, too."""
    return _settings_options(
        command,
        ", or one of factcheck.toml",
        "Repeatable. What stands in a factcheck.toml counts unless this says otherwise.",
    )


def settings_options_alone(command: Decorated) -> Decorated:
    """The same for a command that reads none."""
    return _settings_options(command, "", "Repeatable. No factcheck.toml counts here.")


def _settings_options(command: Decorated, others: str, about: str) -> Decorated:
    preset = click.option(
        "--preset",
        metavar="NAME",
        shell_complete=lambda _c, _p, typed: [n for n in PRESETS if n.startswith(typed)],
        help=f"Settings under a name: {', '.join(PRESETS)}{others}.",
    )
    assigned = click.option(
        "--set",
        "assigned",
        multiple=True,
        metavar="NAME=VALUE",
        shell_complete=_assignments,
        help=about,
    )
    return preset(assigned(command))
