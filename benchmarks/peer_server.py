"""An OpenAI-compatible server on loopback for the model of a card."""

from __future__ import annotations

import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from factcheck_local.core.errors import ModelError
from factcheck_local.models.cards import ModelCard
from factcheck_local.models.cores import available_cores

PATIENCE_SECONDS = 180.0


@contextmanager
def serve(python: str, card: ModelCard, seed: int = 0) -> Iterator[str]:
    """Run ``llama_cpp.server`` for as long as the block lasts.

    Args:
        python: an interpreter with ``llama-cpp-python[server]``.
        card: of an LLM; its context length and chat format are the server's.
        seed: of the server's sampling.

    Yields:
        The base URL of the API.

    Raises:
        ModelError: if the server does not come up, with the end of what it wrote.
    """
    card.check()
    port = _free_port()
    settings = {
        "model": str(card.folder / card.files[0].path),
        "model_alias": card.id,
        "host": "127.0.0.1",
        "port": str(port),
        "n_ctx": str(card.options["context_length"]),
        "chat_format": card.options["chat_format"],
        "n_threads": str(available_cores()),
        "n_threads_batch": str(available_cores()),
        "seed": str(seed),
        # llama_cpp.server returns log probabilities on no other condition.
        "logits_all": "true",
        "interrupt_requests": "false",
    }
    arguments = [text for name, value in settings.items() for text in (f"--{name}", value)]
    base_url = f"http://127.0.0.1:{port}/v1"
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
        server = subprocess.Popen(
            [python, "-m", "llama_cpp.server", *arguments], stdout=log, stderr=subprocess.STDOUT
        )
        try:
            _await(server, base_url, log)
            yield base_url
        finally:
            server.terminate()
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _await(server: subprocess.Popen[bytes], base_url: str, log: IO[str]) -> None:
    # No proxy: this is loopback.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        try:
            with opener.open(f"{base_url}/models", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            # Not listening yet.
            time.sleep(0.5)
    log.seek(0)
    raise ModelError(f"llama_cpp.server does not answer at {base_url}: …{log.read()[-800:]}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
