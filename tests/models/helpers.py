"""Cards over files that are made on the spot, and a scripted model with an adapter."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from factcheck_local.core.progress import Progress, silent
from factcheck_local.models.cards import ModelCard, ModelFile
from factcheck_local.models.contracts import Labelled, Message
from factcheck_local.models.fake import FakeChatModel
from factcheck_local.models.prompts import finished


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


class FakeAdapted(FakeChatModel):
    """An ``Adapted`` by script: what ``FakeChatModel`` scores, and what it replies behind it.

    Attributes:
        drawn: gives what is drawn in the place of a reply.
    """

    drawn: Callable[[Sequence[Message]], Sequence[str]] = staticmethod(lambda _messages: ())

    def label_and_write(
        self,
        messages: Sequence[Message],
        endings: Sequence[str],
        labels: Sequence[str],
        *,
        least: float,
        max_tokens: int,
        draws: int = 0,
        progress: Progress = silent,
    ) -> list[Labelled]:
        """Labels and texts by script, one after the other."""
        scores = self.score_labels(messages, endings, labels)
        found: list[Labelled] = []
        for ending, row in zip(endings, scores, strict=True):
            writes = np.exp(row[0]) >= least
            turn = finished(messages, ending)
            text = self.generate(turn, max_tokens=max_tokens) if writes else None
            ended = text is None or len(self._reply(turn).split(" ")) <= max_tokens
            drawn = tuple(self.drawn(turn))[:draws] if writes else ()
            found.append(Labelled(tuple(row.tolist()), text, ended, drawn))
            progress(len(found), len(endings))
        return found


class FakeAdaptable(FakeChatModel):
    """A model whose adapter for one prompt is scripted, and which writes nothing of use without."""

    def __init__(self, prompt: str, adapted: FakeAdapted) -> None:
        super().__init__(lambda _m: "written without the adapter")
        self.adapters: Mapping[str, str] = MappingProxyType({prompt: "0" * 64})
        self._prompt, self._adapted = prompt, adapted

    def adapted(self, prompt: str) -> FakeAdapted:
        assert prompt == self._prompt
        return self._adapted
