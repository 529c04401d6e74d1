"""Cards over files that are made on the spot."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from factcheck_local.models.cards import ModelCard, ModelFile


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def card(files: dict[str, bytes], **changes: Any) -> ModelCard:  # noqa: ANN401
    """The card of a model with these files; nothing is written."""
    fields: dict[str, Any] = {
        "id": "tiny",
        "title": "Tiny",
        "role": "llm",
        "licence": "none",
        "backend": "llama_cpp",
        "files": tuple(ModelFile(name, len(data), sha256(data)) for name, data in files.items()),
        "options": {"context_length": 512, "chat_format": "chatml"},
    }
    return ModelCard(**fields | changes)


def write(folder: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
