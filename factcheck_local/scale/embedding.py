"""Passages embedded by workers, for an index that one process writes."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from factcheck_local.core import egress
from factcheck_local.core.closing import Closing
from factcheck_local.core.errors import FactcheckError, ModelError
from factcheck_local.models.embedder import for_passages
from factcheck_local.models.offline import go_offline
from factcheck_local.models.registry import load_model
from factcheck_local.scale.cluster import (
    ATTEMPTS,
    PATIENCE,
    Asked,
    Hired,
    Seat,
    connected,
    last_line,
    seats,
)

if TYPE_CHECKING:
    from factcheck_local.models.contracts import Embedder, FloatArray

logger = logging.getLogger(__name__)

#: Id, sha256 and dimension of an embedder.
_Identity = tuple[str, str, int]


class EmbeddingWorker:
    """Embeds in a process of its own, which reaches no address that nobody named.

    What is wrong is returned, not raised: Ray would wrap it, and print the traceback.
    """

    def __init__(self, name: str) -> None:
        go_offline()
        egress.guard()
        self._name = name
        self._embedder: Embedder | None = None

    def ready(self) -> _Identity | FactcheckError:
        """Load the embedder of this name; returns which it is."""
        try:
            made = for_passages(load_model(self._name, "embedder"))
        except FactcheckError as error:
            return error
        self._embedder = made
        return made.id, made.sha256, made.dimension

    def embed(self, texts: Sequence[str]) -> FloatArray | FactcheckError:
        """Vectors of passages, shape (n, dimension)."""
        if self._embedder is None:
            raise RuntimeError("a worker is asked before it is ready")
        try:
            return self._embedder.embed(texts)
        except FactcheckError as error:
            return error


class _LostError(FactcheckError):
    """A worker ended before it was ready."""


class SharedEmbedder(Closing):
    """An embedder by workers; implements ``Embedder``. A context manager, with which they end.

    As many threads as there are workers may embed at once, each one's texts with one worker. Where
    that one is lost, they go to another, and a new one starts in its place; if that is lost before
    it is ready, as on a node that died, the others do without it. A vector depends on its text
    alone, so it is the same whoever makes it.

    Attributes:
        id: of the embedder.
        sha256: of its files.
        dimension: of its vectors.
        workers: how many there were at first.
    """

    #: What the first worker that is ready has.
    _identity: _Identity | None = None

    def __init__(
        self,
        ray: Any,  # noqa: ANN401
        name: str,
        worker: type[EmbeddingWorker] = EmbeddingWorker,
    ) -> None:
        """Start a worker for each GPU, and for each node without one.

        Args:
            ray: what ``cluster.connected`` gives.
            name: of the embedder.
            worker: what each actor is.

        Raises:
            FactcheckError: if one cannot be set up, or has another embedder than the first.
        """
        self._ray = ray
        self._name = name
        self._class = worker
        # None once there is no worker any more, so that nobody waits for one.
        self._free: SimpleQueue[Hired | None] = SimpleQueue()
        self._hired: list[Hired] = []
        try:
            # All of them load before the first is waited for.
            for hired in [self._hire(seat) for seat in seats(ray)]:
                self._check(hired)
                self._free.put(hired)
        except BaseException:
            self.close()
            raise
        if self._identity is None:
            raise FactcheckError("no worker is left: it has no node with a processor")
        self.id, self.sha256, self.dimension = self._identity
        self.workers = len(self._hired)

    def close(self) -> None:
        """End the workers, whatever they are at."""
        for worker in self._hired:
            self._ray.kill(worker.actor)

    def embed(self, texts: Sequence[str]) -> FloatArray:
        """Embed texts, all with the next worker that is free.

        Args:
            texts: n texts.

        Returns:
            Shape (n, dimension), rows of Euclidean length 1.

        Raises:
            FactcheckError: if a worker cannot, `ATTEMPTS` were lost over these texts, or none is
                left.
        """
        why, lost, before = "all were lost", 0, set(self._hired)
        while lost < ATTEMPTS:
            worker = left = self._free.get()
            if worker is None:
                self._free.put(None)
                raise FactcheckError(f"no worker is left: {why}")
            try:
                asked = Asked(worker, "embed", list(texts))
                vectors = self._ray.get(asked.reply)
            except self._ray.exceptions.RayError as error:
                why, left = last_line(error), None
                logger.info("a worker on %s was lost: %s", worker.seat.host, type(error).__name__)
                # One that was dead already was not lost over these texts.
                lost += worker not in before or asked.began(self._ray)
                left = self._replaced(worker)
                continue
            finally:
                if left is not None or not self._hired:
                    self._free.put(left)
            if isinstance(vectors, FactcheckError):
                raise worker.said(vectors)
            # Ray's arrays are read-only, and their memory is the cluster's.
            found: FloatArray = vectors.copy()
            return found
        raise FactcheckError(f"{ATTEMPTS} workers were lost over the same passages: {why}")

    def _replaced(self, lost: Hired) -> Hired | None:
        """A new worker where one was lost; None if that one is lost, too."""
        self._ray.kill(lost.actor)
        try:
            worker = self._hire(lost.seat)
        finally:
            # Only now, so that at no time there seems to be none.
            self._hired.remove(lost)
        try:
            self._check(worker)
        except FactcheckError as error:
            self._hired.remove(worker)
            self._ray.kill(worker.actor)
            if not isinstance(error, _LostError):
                raise
            logger.info("%s; no other one starts there", error)
            return None
        return worker

    def _hire(self, seat: Seat) -> Hired:
        worker = seat.hired(self._ray, self._class, self._name)
        self._hired.append(worker)
        return worker

    def _check(self, worker: Hired) -> None:
        try:
            said = self._ray.get(Asked(worker, "ready").reply, timeout=PATIENCE)
        except self._ray.exceptions.GetTimeoutError as error:
            raise FactcheckError(
                f"worker on {worker.seat.host}: was not ready after {PATIENCE:.0f} s",
                hint="ray status: is it in use?",
            ) from error
        except self._ray.exceptions.RayError as error:
            raise _LostError(f"worker on {worker.seat.host}: {last_line(error)}") from error
        if isinstance(said, FactcheckError):
            raise worker.said(said)
        self._identity = self._identity or said
        if said != self._identity:
            raise ModelError(
                f"worker on {worker.seat.host}: has another {self._name} than the others"
            )


@contextmanager
def shared_embedder(name: str, address: str | None) -> Iterator[SharedEmbedder]:
    """An embedder by workers of this machine, or of a cluster; they end with this.

    Args:
        name: of the embedder.
        address: see ``cluster.connected``.
    """
    with connected(address) as ray, SharedEmbedder(ray, name) as shared:
        yield shared
