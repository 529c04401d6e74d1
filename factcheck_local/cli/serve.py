"""factcheck serve: checks over HTTP for a team, and the keys for it."""

from __future__ import annotations

import ipaddress
import logging
import os
import ssl
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from factcheck_local.cli.choosing import SettingsCommand, choose_settings, settings_options
from factcheck_local.cli.common import Number, read_input
from factcheck_local.cli.messages import tell
from factcheck_local.cli.places import open_store, store_option
from factcheck_local.core import egress
from factcheck_local.core.errors import InputError, StoreError
from factcheck_local.indexer.address import StorePlace

if TYPE_CHECKING:
    from factcheck_local.models.openai_server.options import ServerOptions
    from factcheck_local.serve.access import Keys

#: Finds the server's folder and the store's.
Places = Callable[[], tuple[Path, Path]]

#: Where the secret of webhooks may stand in the environment.
SECRET = "FACTCHECK_WEBHOOK_SECRET"


class _WhyNotListening(logging.Filter):
    """Keeps from uvicorn's log why its address cannot be listened on, to say it as one line.

    Attributes:
        said: why, in words; empty if it can be.
    """

    said = ""

    def filter(self, record: logging.LogRecord) -> bool:
        """See ``logging.Filter``."""
        if not isinstance(record.msg, OSError):
            return True
        # What asyncio puts in front is the address again.
        why = (record.msg.strerror or str(record.msg)).rpartition(": ")[2]
        self.said = f"cannot be listened on: {why}"
        return False


class _Serving(SettingsCommand, click.Group):
    """The server itself, and what is below it."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options, then the commands below."""
        super().format_options(ctx, formatter)
        self.format_commands(ctx, formatter)


def _named_folders(
    _context: click.Context, _option: click.Parameter, given: tuple[str, ...]
) -> dict[str, str]:
    """Name -> absolute path."""
    found: dict[str, str] = {}
    for text in given:
        name, _, path = text.partition("=")
        if not name or not name.isprintable() or name in found or not Path(path).is_dir():
            raise click.BadParameter(f"expected a new NAME= and a folder that is there: {text}")
        found[name] = str(Path(path).resolve())
    return found


data_option = click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for checks, keys and the audit log; beside the store by default.",
)


@click.group("serve", cls=_Serving, invoke_without_command=True)
@store_option
@data_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="Its port."
)
@click.option("--allowed-host", "names", multiple=True, help="Another name of this server.")
@click.option(
    "--tls-cert", type=click.Path(exists=True, dir_okay=False), help="Certificate, as PEM."
)
@click.option("--tls-key", type=click.Path(exists=True, dir_okay=False), help="Its key, as PEM.")
@click.option("--behind-proxy", is_flag=True, help="TLS ends at a proxy in front of this.")
@click.option(
    "--queue", type=click.IntRange(min=1), default=100, show_default=True, help="Checks that wait."
)
@click.option(
    "--keep-days",
    type=Number(min=0, min_open=True),
    help="Delete a check, and its reviews, so many days after it has ended; never by default.",
)
@click.option("--openai", metavar="URL", help="Pass chats on to this model server, and check them.")
@click.option("--api-key-env", metavar="VARIABLE", help="Environment variable with that one's key.")
@click.option(
    "--folder",
    "folders",
    multiple=True,
    metavar="NAME=PATH",
    callback=_named_folders,
    help="Repeatable: a folder that a key of scope index may have indexed.",
)
@click.option(
    "--webhook",
    "webhooks",
    multiple=True,
    metavar="URL",
    help="Repeatable: is told, signed and without content, when a check has ended.",
)
@click.option(
    "--webhook-secret",
    "secret_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help=f"File with the secret that signs this; or {SECRET} in the environment.",
)
@click.option(
    "--prepare",
    is_flag=True,
    help="While no check waits, have the LLM read the store's passages (see factcheck prepare).",
)
@settings_options
@click.pass_context
def command(
    context: click.Context,
    store_path: StorePlace | None,
    data: Path | None,
    host: str,
    port: int,
    names: tuple[str, ...],
    tls_cert: str | None,
    tls_key: str | None,
    behind_proxy: bool,
    queue: int,
    keep_days: float | None,
    openai: str | None,
    api_key_env: str | None,
    folders: dict[str, str],
    webhooks: tuple[str, ...],
    secret_file: Path | None,
    prepare: bool,
    assigned: tuple[str, ...],
    preset: str | None,
) -> None:
    """Serve checks and searches over HTTP (docs/server.md).

    On this machine alone no key is needed. Another address asks for a key with each request
    (factcheck serve keys add NAME), and needs TLS files, or --behind-proxy.

    \b
    Example:
      factcheck serve --store .factcheck
    """
    if context.invoked_subcommand is not None:
        # Looked for when it is needed: a command's --help is not for those with a store alone.
        context.obj = partial(places, store_path, data)
        return
    folder, place = places(store_path, data)
    if (tls_cert is None) != (tls_key is None):
        raise click.UsageError("--tls-cert and --tls-key go together")
    local = _is_loopback(host)
    if not local and not tls_cert and not behind_proxy:
        raise click.UsageError(
            f"{host} is reached from other machines: give --tls-cert and --tls-key, or "
            "--behind-proxy"
        )
    if api_key_env is not None and openai is None:
        raise click.UsageError("--api-key-env goes with --openai")
    if secret_file is not None and not webhooks:
        raise click.UsageError("--webhook-secret goes with --webhook")
    need_libraries("serve", "fastapi", "prometheus_client", "uvicorn")
    import uvicorn

    from factcheck_local.serve.app import create_app
    from factcheck_local.serve.connections import ImpatientProtocol
    from factcheck_local.serve.service import Config

    keys = _keys(folder)
    needs_key = not local or behind_proxy
    if needs_key and not keys.all():
        raise InputError("no keys yet", hint="factcheck serve keys add NAME --scope check")
    with open_store(place) as store:
        settings = choose_settings({}, assigned, preset, store).settings
    config = Config(
        store=place,
        folder=folder,
        settings=settings,
        needs_key=needs_key,
        hosts=frozenset({"localhost", "127.0.0.1", "::1", host.lower(), *map(str.lower, names)}),
        queue=queue,
        openai=None if openai is None else _model_server(openai, api_key_env),
        folders=folders,
        webhooks=webhooks,
        webhook_key=_webhook_key(secret_file) if webhooks else b"",
        keep_days=keep_days,
        prepare=prepare,
    )
    app = create_app(config)
    # Its user named it; nothing else may be listened to or reached.
    egress.allow(host, port)
    at = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    tell(f"serving {place} at {'https' if tls_cert else 'http'}://{at}, data in {folder}")
    log, kept = logging.getLogger("uvicorn.error"), _WhyNotListening()
    log.addFilter(kept)
    try:
        uvicorn.run(
            app,
            host=host,
            port=port,
            # Python's own: uvloop connects where the egress guard cannot see it.
            loop="asyncio",
            http=ImpatientProtocol,
            ssl_certfile=tls_cert,
            ssl_keyfile=tls_key,
            # Paths have ids of checks and nothing else, but the log is for what goes wrong.
            access_log=False,
            log_level="warning",
            server_header=False,
            proxy_headers=behind_proxy,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=10,
            limit_concurrency=512,
        )
    except ssl.SSLError as error:
        why = f"no certificate and its key: {error.reason or error}"
        raise InputError(f"{tls_cert} and {tls_key}: {why}") from error
    except SystemExit as error:
        # Uvicorn's own code for a server that did not start says something else here.
        raise InputError(f"{at}: {kept.said or 'the server did not start'}") from error
    finally:
        log.removeFilter(kept)


@command.group("keys")
def keys_command() -> None:
    """Add, list and revoke the keys of a server."""


@keys_command.command("add")
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    required=True,
    type=click.Choice(["check", "search", "review", "index", "admin"]),
    help="Repeatable: what the key is for.",
)
@click.option(
    "--as", "groups", multiple=True, help="Repeatable: sees only what these groups may, as a,b."
)
@click.pass_obj
def add(find: Places, name: str, scopes: tuple[str, ...], groups: tuple[str, ...]) -> None:
    """Make a key and show it, this once."""
    folder, _ = find()
    keys = _keys(folder)
    named = [group.strip() for several in groups for group in several.split(",")]
    if not all(named):
        raise click.UsageError("--as: expected names of groups, with a comma between two")
    made = keys.add(name, scopes, tuple(named) or None)
    try:
        _audit(folder, "key.added", name, scopes)
    except StoreError:
        # What cannot be logged is not done.
        keys.revoke(name)
        raise
    click.echo(made)
    tell(f"the key of {name}; it is shown this once, only its hash is kept")


@keys_command.command("list")
@click.pass_obj
def list_keys(find: Places) -> None:
    """Show names, scopes and groups."""
    folder, _ = find()
    for key in _keys(folder).all():
        made = datetime.fromtimestamp(key.created, UTC).date().isoformat()
        groups = "everything" if key.groups is None else ", ".join(key.groups)
        click.echo(f"{key.name}  {', '.join(key.scopes)}  sees {groups}  since {made}")


@keys_command.command("revoke")
@click.argument("name")
@click.pass_obj
def revoke(find: Places, name: str) -> None:
    """Forget a key; the next request with it is refused, even if that cannot be logged."""
    folder, _ = find()
    _keys(folder).revoke(name)
    _audit(folder, "key.revoked", name, ())
    tell(f"the key of {name} is no longer taken")


def places(store_path: StorePlace | None, data: Path | None) -> tuple[Path, Path]:
    """The server's folder and the store's.

    Raises:
        InputError: for a store on a server.
    """
    with open_store(store_path) as store:
        place = store.path if store.place == str(store.path) else None
    if place is None:
        raise InputError("a store on a Chroma server cannot be served yet")
    place = place.resolve()
    folder = data or place.with_name(f"{place.name}-server")
    return folder.resolve(), place


def _webhook_key(secret_file: Path | None) -> bytes:
    """What webhooks are signed with.

    Raises:
        InputError: if there is no secret, it is none, or its file cannot be read.
    """
    from factcheck_local.serve.webhooks import secret_from

    # The processes that the server starts do not need it.
    given = os.fsencode(os.environ.pop(SECRET, ""))
    if secret_file is not None:
        given, _ = read_input(str(secret_file))
    # Base64 is ASCII; what else stands there is refused with the rest.
    return secret_from(given.decode("ascii", "backslashreplace"))


def _keys(folder: Path) -> Keys:
    from factcheck_local.serve.access import Keys, make_folder

    make_folder(folder)
    return Keys(folder / "keys.json")


def _audit(folder: Path, what: str, name: str, scopes: tuple[str, ...]) -> None:
    from factcheck_local.serve.audit import AuditLog

    AuditLog(folder / "audit.jsonl").add("console", what, key=name, scopes=list(scopes))


def need_libraries(command: str, *libraries: str) -> None:
    """Refuse a command whose extra, of the same name, is not installed.

    Raises:
        InputError: then.
    """
    try:
        for library in libraries:
            import_module(library)
    except ImportError as error:
        hint = f"pip install 'factcheck-local[{command}]'"
        raise InputError(f"{command} needs {error.name}", hint=hint) from error


def _model_server(url: str, api_key_env: str | None) -> ServerOptions:
    from factcheck_local.models.openai_server.options import (
        ServerOptions,
        server_url,
        travels_in_clear,
    )

    options = ServerOptions(server_url(url), api_key_env=api_key_env, timeout_seconds=300)
    if travels_in_clear(options.url):
        tell(f"{options.url}: over http, what is sent can be read on its way")
    return options


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
