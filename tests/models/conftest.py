"""A data directory of the test's own, so that the user's models play no part; model servers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from factcheck_local.models.openai_server.model import ServerModel
from factcheck_local.models.openai_server.options import ServerOptions

from .scripted_server import MODELS, Script, ScriptedServer


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data directory, named by FACTCHECK_HOME."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("FACTCHECK_HOME", str(folder))
    return folder


@pytest.fixture
def serve() -> Iterator[Callable[..., ScriptedServer]]:
    """Starts scripted model servers; all are shut down at the end."""
    running: list[ScriptedServer] = []

    def start(script: Script, models: object = MODELS) -> ScriptedServer:
        running.append(ScriptedServer(script, models))
        return running[-1]

    yield start
    for server in running:
        server.close()


@pytest.fixture
def connect() -> Iterator[Callable[..., ServerModel]]:
    """Makes models of servers, with short pauses; all are closed at the end."""
    opened: list[ServerModel] = []

    def make(url: str, **options: Any) -> ServerModel:  # noqa: ANN401
        chosen = ServerOptions(url, **{"chat_format": "chatml"} | options)
        opened.append(ServerModel("team", chosen, pause=0.01))
        return opened[-1]

    yield make
    for model in opened:
        model.close()
