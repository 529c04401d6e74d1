"""A data directory of the test's own, so that the user's models play no part."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data directory, named by FACTCHECK_HOME."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("FACTCHECK_HOME", str(folder))
    return folder
