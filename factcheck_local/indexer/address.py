"""Where a store is, as a user names it: a folder, an address, or a collection of either."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from factcheck_local.core.errors import StoreError

#: Name of a server's store where the address has none.
DEFAULT_NAME = "passages"

#: What the names of a store's other collections end in, see `server`.
SOURCES, WRITER = "-sources", "-writer"

#: The folder of a store's folder that holds its collections, each a store of its own.
COLLECTIONS = "collections"

_ADDRESS = re.compile(
    r"(?P<scheme>https?)://(?P<host>[a-z0-9.-]+|\[[0-9a-f:.]+\]):(?P<port>[0-9]{1,5})(/(?P<name>[^/]*))?",
    re.IGNORECASE,
)
#: A part of what Chroma takes as the name of a collection, with room for an ending.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,98}[A-Za-z0-9]")

#: What a collection in a folder may be called; Chroma, on a server, wants three letters.
_FOLDER = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,98}[A-Za-z0-9])?")


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """A Chroma server and the store on it; ``str()`` gives it as a user would write it.

    Attributes:
        scheme: ``http`` or ``https``.
        host: a name or an IP address, in lower case; IPv6 in brackets.
        port: 1 to 65535.
        name: of the store; one server holds several.
    """

    scheme: str
    host: str
    port: int
    name: str = DEFAULT_NAME

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``http://HOST:PORT`` or ``http://HOST:PORT/NAME``, or the same with https.

        Raises:
            StoreError: if it is anything else. The text is not repeated, for it may
                hold a password.
        """
        found = _ADDRESS.fullmatch(text)
        if not found or not 0 < int(found["port"]) < 65536:
            raise StoreError("expected an address such as http://localhost:8000 or …:8000/NAME")
        name = found["name"] or DEFAULT_NAME
        if not _NAME.fullmatch(name) or name.endswith((SOURCES, WRITER)):
            raise StoreError(
                "expected a store's name of 3 to 100 letters, digits, '.', '_' and '-', "
                f"not ending in {SOURCES} or {WRITER}"
            )
        return cls(found["scheme"].lower(), found["host"].lower(), int(found["port"]), name)

    @property
    def url(self) -> str:
        """The server alone."""
        return f"{self.scheme}://{self.host}:{self.port}"

    def __str__(self) -> str:
        return self.url if self.name == DEFAULT_NAME else f"{self.url}/{self.name}"


#: Where a store is: its folder, or its address on a Chroma server.
StorePlace = Path | ServerAddress


def collection_in(place: StorePlace, name: str) -> StorePlace:
    """Where a collection of this name is: a store of its own, below a folder or on a server.

    Raises:
        StoreError: if the name cannot be one, or the address names a store already.
    """
    if isinstance(place, Path):
        if not _FOLDER.fullmatch(name):
            raise StoreError(
                f"collection {name!r}: expected up to 100 letters, digits, '.', '_' and '-', "
                "the first and the last one a letter or digit"
            )
        return place / COLLECTIONS / name
    if place.name != DEFAULT_NAME:
        raise StoreError(f"{place}: names a store already, so collection {name!r} cannot be it")
    return ServerAddress.parse(f"{place.url}/{name}")
