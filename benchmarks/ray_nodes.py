"""Two nodes of Ray on this machine, one of which can die: for benchmarks and tests."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from factcheck_local.scale.cluster import USAGE


class Nodes:
    """A cluster of two nodes with a core each.

    Attributes:
        address: of its client server, as ``--workers`` takes it.
    """

    def __init__(self) -> None:
        # As ``scale.cluster`` asks of a cluster, and before Ray is there to read it.
        os.environ[USAGE] = "0"
        from ray.cluster_utils import Cluster

        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        head = {"ray_client_server_port": port, "include_dashboard": False}
        self._cluster: Any = Cluster(initialize_head=True, head_node_args=head)
        self._second: Any = None
        self.complete()
        self.address = f"ray://127.0.0.1:{port}"

    def complete(self) -> None:
        """Start the second node if it is not there, as after ``kill``."""
        if self._second is None:
            self._second = self._cluster.add_node(include_dashboard=False)

    def kill(self) -> None:
        """End the second node as a power cut would."""
        self._cluster.remove_node(self._second, allow_graceful=False)
        self._second = None

    def shutdown(self) -> None:
        """End both."""
        self._cluster.shutdown()


@contextmanager
def two_nodes() -> Iterator[Nodes]:
    """``Nodes`` that end with this."""
    nodes = Nodes()
    try:
        yield nodes
    finally:
        nodes.shutdown()
