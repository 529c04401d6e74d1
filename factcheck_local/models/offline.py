"""Switches that keep third-party libraries from calling out.

Called by every path that loads a model or opens a store, before the library
in question is imported: the libraries read these variables at import time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from factcheck_local.core import egress

_SWITCHES = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
    "ANONYMIZED_TELEMETRY": "False",
    # Of the frameworks that factcheck_local.adapters serve. A trace holds the documents' words.
    "LANGSMITH_TRACING_V2": "false",
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "DEEPEVAL_TELEMETRY_OPT_OUT": "1",
    # onnxruntime 1.31 looks up a host of Microsoft's ten seconds after its import, on Linux, too,
    # by compiled code that the egress guard cannot see.
    "ORT_DISABLE_TELEMETRY": "1",
    # Forked tokenizer threads warn and can dead-lock; one process is enough here.
    "TOKENIZERS_PARALLELISM": "false",
}


def go_offline() -> None:
    """Set the libraries' own offline and no-telemetry switches for this process."""
    os.environ.update(_SWITCHES)


@contextmanager
def hub_reachable() -> Iterator[None]:
    """Let the hub's library call out for as long as a pull lasts; files are wherever it says.

    It reads its switch on import, which may have been long ago.
    """
    from huggingface_hub import constants

    before = constants.HF_HUB_OFFLINE
    constants.HF_HUB_OFFLINE = False
    try:
        with egress.lifted():
            yield
    finally:
        constants.HF_HUB_OFFLINE = before


@contextmanager
def without_proxies() -> Iterator[None]:
    """Hide the environment's proxies from a library that reads them as its client is made."""
    before = {name: os.environ.get(name) for name in ("NO_PROXY", "no_proxy")}
    os.environ.update(dict.fromkeys(before, "*"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def quiet_transformers() -> None:
    """Switch off transformers' own progress bars and advice on stderr."""
    from transformers.utils import logging

    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
