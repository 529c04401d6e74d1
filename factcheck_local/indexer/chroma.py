"""Chroma's clients: on a folder of this machine, or on the server that a user named.

They are deaf to ``.env`` and to the environment, which could name another machine's
server, a proxy, or one to send traces to; telemetry is off.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from factcheck_local.core import egress
from factcheck_local.core.errors import EgressError, StoreError
from factcheck_local.indexer.address import ServerAddress
from factcheck_local.models.offline import go_offline, without_proxies

if TYPE_CHECKING:
    import httpx
    from chromadb import Collection, GetResult, Include, Where
    from chromadb.api.client import Client
    from chromadb.api.collection_configuration import CreateHNSWConfiguration
    from chromadb.config import Settings

#: The version of the interface that a server must speak, up to the first point.
INTERFACE = "1"

#: Rows, or values of a filter, that Chroma is asked for at a time: each takes a variable of a
#: statement of SQLite, which has 32,766 in all.
AT_ONCE = 30_000

_CONNECT_SECONDS = 10.0
#: A digest of a large store takes a server minutes.
_READ_SECONDS = 600.0
_SHOWN = 200


def folder_client(path: Path) -> Client:
    """Chroma on a folder of this machine."""
    settings = _settings()
    import chromadb  # slow to import, and only after its switches are set

    return cast("Client", chromadb.PersistentClient(path, settings))


def all_rows(
    collection: Collection, include: Include, where: Where | None = None
) -> Iterator[GetResult]:
    """What a collection holds, `AT_ONCE` rows at a time at most.

    What is deleted meanwhile is left out, what is added too.
    """
    ids = collection.get(where=where, include=[])["ids"]
    for start in range(0, len(ids), AT_ONCE):
        yield collection.get(ids=ids[start : start + AT_ONCE], include=include)


class ChromaServer:
    """A Chroma server, and nothing but it: no proxy, no redirect.

    What fails there is a `StoreError`, one line that names the address; so it is with
    the collections that it gives.
    """

    def __init__(self, address: ServerAddress) -> None:
        """Connect.

        Raises:
            StoreError: if it does not answer, is none of Chroma's, or of another version.
        """
        self.address = address
        egress.allow(address.host, address.port)
        # The system's certificates, among which a company's own authority stands.
        certificates = ssl.create_default_context()
        with _failures(address):
            _check_version(address, certificates)
            self._client = _server_client(address, certificates)
            self.batch = self._client.get_max_batch_size()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()
        _session(self._client).close()

    def find(self, name: str) -> Collection | None:
        """A collection, if there is one of this name."""
        from chromadb.errors import NotFoundError

        with _failures(self.address):
            try:
                return self._guarded(self._client.get_collection(name, embedding_function=None))
            except NotFoundError:
                return None

    def make(
        self, name: str, metadata: Mapping[str, Any], hnsw: CreateHNSWConfiguration | None = None
    ) -> Collection | None:
        """Make a collection; None if there is one. Of several who try it, one succeeds."""
        from chromadb.errors import ChromaError

        with _failures(self.address):
            try:
                made = self._client.create_collection(
                    name,
                    metadata=dict(metadata),
                    configuration={"hnsw": hnsw} if hnsw else None,
                    embedding_function=None,
                )
            except ChromaError:
                # Which error it is when there is one depends on the version.
                if self.find(name) is None:
                    raise
                return None
        return self._guarded(made)

    def find_or_make(self, name: str, hnsw: CreateHNSWConfiguration) -> Collection:
        """A collection without metadata, made if there is none of this name."""
        with _failures(self.address):
            found = self._client.get_or_create_collection(
                name, configuration={"hnsw": hnsw}, embedding_function=None
            )
        return self._guarded(found)

    def delete(self, name: str) -> None:
        """Remove a collection with all that is in it; nothing where there is none."""
        from chromadb.errors import NotFoundError

        with _failures(self.address):
            try:
                self._client.delete_collection(name)
            except NotFoundError:
                return

    def _guarded(self, collection: Collection) -> Collection:
        return cast("Collection", _Guarded(collection, self.address))


class _Guarded:
    """A collection on a server whose failures are errors that name the address."""

    def __init__(self, collection: Collection, address: ServerAddress) -> None:
        self._target = collection
        self._address = address

    def __getattr__(self, name: str) -> object:
        found = getattr(self._target, name)
        return self._guard(found) if callable(found) else found

    def _guard(self, method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def call(*arguments: object, **named: object) -> object:
            with _failures(self._address):
                return method(*arguments, **named)

        return call


@contextmanager
def _failures(address: ServerAddress) -> Iterator[None]:
    """Turn what goes wrong with a server into a `StoreError`."""
    import httpx
    from chromadb.errors import NotFoundError

    try:
        yield
    except (StoreError, EgressError):
        raise
    except httpx.TransportError as error:
        raise StoreError(f"{address}: does not answer: {_line(error)}") from error
    except NotFoundError as error:
        raise StoreError(
            f"{address}: has been rebuilt or removed since it was opened",
            hint="the same command again",
        ) from error
    except Exception as error:  # Chroma raises errors of any kind for what it did not expect
        raise StoreError(f"{address}: the server failed: {_line(error)}") from error


def _line(error: Exception) -> str:
    line = " ".join(str(error).split()) or type(error).__name__
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"


def _check_version(address: ServerAddress, certificates: ssl.SSLContext) -> None:
    """Ask for the version before Chroma's client is made, which would wait for ever.

    Raises:
        StoreError: if it is not a version that we speak.
    """
    import httpx

    reply = httpx.get(
        f"{address.url}/api/v2/version",
        timeout=_CONNECT_SECONDS,
        trust_env=False,
        verify=certificates,
    )
    if reply.is_redirect:
        raise StoreError(f"{address}: redirects elsewhere, which is not followed")
    try:
        version = reply.json() if reply.is_success else None
    except (ValueError, RecursionError):
        version = None
    if not isinstance(version, str):
        raise StoreError(f"{address}: is no Chroma server (status {reply.status_code})")
    if version.partition(".")[0] != INTERFACE:
        raise StoreError(
            f"{address}: expected version {INTERFACE} of Chroma's interface, got {version[:20]}"
        )


def _server_client(address: ServerAddress, certificates: ssl.SSLContext) -> Client:
    settings = _settings(certificates)
    import chromadb

    with without_proxies():
        # The whole URL, since a host alone that begins with "http" is taken for one.
        made = chromadb.HttpClient(
            address.url, address.port, ssl=address.scheme == "https", settings=settings
        )
    client = cast("Client", made)
    _session(client).timeout = (_CONNECT_SECONDS, _READ_SECONDS, _READ_SECONDS, _READ_SECONDS)
    return client


def _session(client: Client) -> httpx.Client:
    """The connections of a server's client, which it neither limits in time nor closes."""
    return cast("httpx.Client", cast("Any", client)._server._session)


def _settings(certificates: ssl.SSLContext | None = None) -> Settings:
    """Chroma's defaults, but no telemetry, without a look at the environment."""
    go_offline()
    from chromadb.config import Settings

    return Settings.model_construct(
        anonymized_telemetry=False,
        chroma_otel_collection_endpoint="",
        chroma_otel_granularity=None,
        chroma_server_ssl_verify=certificates,
    )
