"""Which store a command works on, or which several it reads: --store and --collection."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from factcheck_local.core.errors import StoreError
from factcheck_local.indexer.address import ServerAddress, StorePlace, collection_in
from factcheck_local.indexer.folder import STORE_NAME, find_store
from factcheck_local.indexer.joined import JoinedPlace, ReadableStore, ReadPlace, open_place
from factcheck_local.indexer.store import Store

#: A scheme, or a host with a port that lacks one.
_LIKE_AN_ADDRESS = re.compile(r"https?:|[a-z+.-]+://|[^/]+:[0-9]+(/|$)", re.IGNORECASE)


class StoreType(click.ParamType):  # type: ignore[type-arg]  # not generic in older click
    """A folder, or the address of a store on a server, which decides by what it looks like."""

    name = "store"
    _folder = click.Path(path_type=Path, file_okay=False)

    def convert(
        self,
        value: str | StorePlace,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> StorePlace:
        """See ``click.ParamType.convert``."""
        if isinstance(value, ServerAddress):
            return value
        if not _LIKE_AN_ADDRESS.match(str(value)):
            return Path(self._folder.convert(value, param, ctx))
        try:
            return ServerAddress.parse(str(value))
        except StoreError as error:
            self.fail(str(error), param, ctx)


_STORE_HELP = (
    f"The store's folder, by default the nearest {STORE_NAME} from here upwards; "
    "or http://HOST:PORT[/NAME] for one on a Chroma server."
)

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def store_option(command: Decorated) -> Decorated:
    """The options --store and --collection of a command that works on one store.

    The command is given ``store_path``, None where its user named none.
    """
    return _store_options(
        command, _STORE_HELP, "A store of its own inside, by its name.", multiple=False
    )


def stores_option(command: Decorated) -> Decorated:
    """The same for a command that reads, from several stores together if it has to.

    The command is given ``store_path``, a `JoinedPlace` where there are several.
    """
    return _store_options(
        command,
        f"{_STORE_HELP} Can be given several times. --collection NAME reads the collection NAME "
        "inside the store; it can be repeated, too.",
        None,
        multiple=True,
    )


def _store_options(
    command: Decorated, store_help: str, collection_help: str | None, *, multiple: bool
) -> Decorated:
    @wraps(command)
    def with_place(
        *arguments: Any,  # noqa: ANN401
        store_path: tuple[StorePlace, ...] | StorePlace | None,
        collections: tuple[str, ...] | str | None,
        **options: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        place = named_place(store_path, collections)
        return command(*arguments, store_path=place, **options)

    store = click.option(
        "--store", "store_path", type=StoreType(), multiple=multiple, help=store_help
    )
    collection = click.option(
        "--collection",
        "collections",
        metavar="NAME",
        multiple=multiple,
        help=collection_help,
        hidden=collection_help is None,
    )
    return cast("Decorated", store(collection(with_place)))


def named_place(
    stores: tuple[StorePlace, ...] | StorePlace | None, collections: tuple[str, ...] | str | None
) -> ReadPlace | None:
    """Where the stores are that --store and --collection name; None if neither was given."""
    named = stores if isinstance(stores, tuple) else () if stores is None else (stores,)
    inner = (collections,) if isinstance(collections, str) else collections or ()
    if inner:
        if len(named) > 1:
            raise click.UsageError("--collection is of one --store")
        base = store_to_write(named[0] if named else None)
        named = tuple(collection_in(base, name) for name in dict.fromkeys(inner))
    # One that is named twice is read once, whatever it is called by.
    named = tuple({p.resolve() if isinstance(p, Path) else p: p for p in named}.values())
    if len(named) > 1:
        return JoinedPlace.of(named)
    return named[0] if named else None


def open_store(place: StorePlace | None) -> Store:
    """The store that the user named, or the nearest one.

    Raises:
        StoreError: if there is none.
    """
    return Store.open(place or find_store(Path.cwd()))


def open_stores(place: ReadPlace | None) -> ReadableStore:
    """The store that the user named, or several as one, or the nearest.

    Raises:
        StoreError: if one is not there.
    """
    return open_place(place or find_store(Path.cwd()))


def nearest_store() -> Path | None:
    """The nearest store from here upwards; None if there is none."""
    try:
        return find_store(Path.cwd())
    except StoreError:
        return None


def store_to_write(place: StorePlace | None) -> StorePlace:
    """Where to index into: what the user named, the nearest store, or a new one here."""
    return place or nearest_store() or Path.cwd() / STORE_NAME
