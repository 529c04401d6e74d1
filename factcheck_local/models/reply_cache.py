"""A chat model that says again what it said before: for benchmarks, which are run again.

The key is a hash of everything that a reply depends on: the model's id and weights, the
chat, what is asked. With each value stands what it took, so that the cost of a method is
known whoever paid it first.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from factcheck_local.core.errors import ModelError
from factcheck_local.core.keyed_file import KeyedFile
from factcheck_local.core.progress import Progress, silent
from factcheck_local.models.adapters import Adapter
from factcheck_local.models.contracts import (
    Adaptable,
    Adapted,
    ChatModel,
    Labelled,
    LabelScorer,
    Message,
)

Said = TypeVar("Said")


class CachedChatModel:
    """Wraps a model that is loaded at the first thing it has not said; a ``ChatModel``.

    Failures are not kept.

    Attributes:
        id: the wrapped model's.
        sha256: the wrapped model's.
        seconds: what the replies so far took when they were computed.
        waited: what computing took in this process, loading included.
        calls: labels scored and texts generated so far.
    """

    def __init__(
        self,
        load: Callable[[], ChatModel],
        model_id: str,
        sha256: str,
        path: Path,
        adapters: Mapping[str, Adapter] | None = None,
    ) -> None:
        """Open the cache.

        Args:
            load: gives the model; called at most once.
            model_id: its id, known beforehand.
            sha256: hash of its weights, known beforehand.
            path: the file that keeps what it said; made where it is not there.
            adapters: those of its card.

        Raises:
            StoreError: if the file is damaged.
        """
        self._load = load
        self._adapters = dict(adapters or {})
        self.id = model_id
        self.sha256 = sha256
        self.seconds = 0.0
        self.waited = 0.0
        self.calls = 0
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = KeyedFile(
            path,
            "replies",
            "reply",
            what="the cache of replies",
            hint=f"rm {path}*, which loses nothing but time",
        )

    @cached_property
    def model(self) -> ChatModel:
        """The wrapped model, loaded on first use."""
        return self._load()

    def generate(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        stop: Sequence[str] = (),
        start: str = "",
        temperature: float = 0.0,
        seed: int = 0,
    ) -> str:
        """Continue the chat; see ``TextGenerator``."""
        key = self._key(messages, max_tokens, list(stop), start, temperature, seed)
        found = self._read([key])
        if key not in found:
            text, taken = self._timed(
                lambda model: model.generate(
                    messages,
                    max_tokens=max_tokens,
                    stop=stop,
                    start=start,
                    temperature=temperature,
                    seed=seed,
                )
            )
            found = self._keep({key: text}, taken)
        return str(self._count([found[key]])[0])

    def score_labels(
        self, messages: Sequence[Message], endings: Sequence[str], labels: Sequence[str]
    ) -> npt.NDArray[np.float64]:
        """Score labels; see ``LabelScorer``. The missing endings are read together."""
        return self._score(lambda model: model, messages, endings, labels)

    @property
    def adapters(self) -> dict[str, str]:
        """Hash of each adapter by the id of its prompt; see ``Adaptable``."""
        return {prompt: adapter.sha256 for prompt, adapter in self._adapters.items()}

    def adapted(self, prompt: str) -> AdaptedCache:
        """The model with one of its adapters, kept likewise; see ``Adaptable``."""
        if prompt not in self._adapters:
            raise ModelError(f"{self.id}: no adapter for the prompt {prompt}")
        return AdaptedCache(self, prompt, self._adapters[prompt].sha256)

    def _score(
        self,
        scorer: Callable[[ChatModel], LabelScorer],
        messages: Sequence[Message],
        endings: Sequence[str],
        labels: Sequence[str],
        *beside: str,
    ) -> npt.NDArray[np.float64]:
        keys = [self._key(messages, ending, list(labels), *beside) for ending in endings]
        found = self._read(keys)
        missing = {k: e for k, e in zip(keys, endings, strict=True) if k not in found}
        if missing:
            asked = list(missing.values())
            rows, taken = self._timed(
                lambda model: scorer(model).score_labels(messages, asked, labels)
            )
            found |= self._keep(dict(zip(missing, rows.tolist(), strict=True)), taken)
        said = self._count([found[key] for key in keys])
        return np.array(said, dtype=np.float64).reshape(len(endings), len(labels))

    def _timed(self, ask: Callable[[ChatModel], Said]) -> tuple[Said, float]:
        """What the model says, and in how many seconds; loading it counts for ``waited`` alone."""
        begun = time.perf_counter()
        model = self.model
        loaded = time.perf_counter()
        said = ask(model)
        ended = time.perf_counter()
        self.waited += ended - begun
        return said, ended - loaded

    def _read(self, keys: Sequence[bytes]) -> dict[bytes, dict[str, Any]]:
        found = {}
        for key, data in self._file.read(keys).items():
            try:
                value = json.loads(data)  # type: ignore[arg-type]
                found[key] = {"said": value["said"], "seconds": float(value["seconds"])}
            except (TypeError, ValueError, KeyError) as error:
                raise self._file.error("a reply cannot be read") from error
        return found

    def _keep(self, said: dict[bytes, Any], seconds: float) -> dict[bytes, dict[str, Any]]:
        values = {k: {"said": v, "seconds": seconds / len(said)} for k, v in said.items()}
        self._file.write({k: json.dumps(v).encode() for k, v in values.items()})
        return values

    def _count(self, values: Sequence[dict[str, Any]]) -> list[Any]:
        self.seconds += sum(v["seconds"] for v in values)
        self.calls += len(values)
        return [v["said"] for v in values]

    def _key(self, messages: Sequence[Message], *asked: object) -> bytes:
        # As JSON: its quotes and escapes keep one text from running into the next.
        chat = [[m.role, m.content] for m in messages]
        parts = [self.id, self.sha256, chat, *asked]
        return hashlib.sha256(json.dumps(parts).encode("ascii")).digest()


class AdaptedCache:
    """A kept model with one of its adapters, for labels and texts; see ``Adapted``.

    Args:
        model: keeps the replies and counts them.
        prompt: id of the prompt that the adapter is for.
        adapter: hash of the adapter.
    """

    def __init__(self, model: CachedChatModel, prompt: str, adapter: str) -> None:
        self.id = model.id
        self.sha256 = model.sha256
        self._model = model
        self._prompt = prompt
        self._adapter = adapter

    def score_labels(
        self, messages: Sequence[Message], endings: Sequence[str], labels: Sequence[str]
    ) -> npt.NDArray[np.float64]:
        """Score labels; see ``LabelScorer``. The missing endings are read together."""
        return self._model._score(self._adapted, messages, endings, labels, self._adapter)

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
        """Labels and texts; see ``Adapted``. The missing endings are read together."""
        kept = self._model
        # Once it was not kept how a text ended; those are asked for again.
        asked = [list(labels), least, max_tokens, self._adapter, "ended"]
        if draws:
            asked.append(draws)
        keys = [kept._key(messages, ending, *asked) for ending in endings]
        found = kept._read(keys)
        missing = {k: e for k, e in zip(keys, endings, strict=True) if k not in found}
        known = len(endings) - len(missing)
        if missing:
            replies, taken = kept._timed(
                lambda model: self._adapted(model).label_and_write(
                    messages,
                    list(missing.values()),
                    labels,
                    least=least,
                    max_tokens=max_tokens,
                    draws=draws,
                    progress=lambda done, _: progress(known + done, len(endings)),
                )
            )
            said = [[list(r.scores), r.text, r.ended, r.drawn] for r in replies]
            found |= kept._keep(dict(zip(missing, said, strict=True)), taken)
        return [
            Labelled(tuple(scores), text, ended, *map(tuple, drawn))
            for scores, text, ended, *drawn in kept._count([found[key] for key in keys])
        ]

    def _adapted(self, model: ChatModel) -> Adapted:
        return cast(Adaptable, model).adapted(self._prompt)
