"""What a run is made with: settings, store and models, and what it records of these.

A model is loaded once, on first use.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import asdict, fields
from functools import cached_property
from typing import Any

from factcheck_local import __version__
from factcheck_local.core.closing import Closing
from factcheck_local.core.errors import InputError
from factcheck_local.core.progress import StageProgress, silent
from factcheck_local.core.types import Thresholds
from factcheck_local.indexer.joined import ReadableStore
from factcheck_local.models.contracts import ChatModel, Embedder, Identified, identity
from factcheck_local.models.registry import load_model
from factcheck_local.pipeline.claims.records import Record
from factcheck_local.pipeline.relation import (
    RelationModel,
    describe,
    relation_model_of,
    thresholds_of,
)
from factcheck_local.pipeline.retrieval.rerank import Reranker
from factcheck_local.pipeline.retrieval.rerankers import load_reranker
from factcheck_local.pipeline.retrieval.retriever import Retriever
from factcheck_local.pipeline.run import prompts_here, unlike
from factcheck_local.pipeline.settings import JUDGES, Settings

#: What is kept of what was loaded, by the name of its property.
_KEPT = ("llm", "embedder", "relation_model", "risk", "reranker")


class Loaded(Closing):
    """Settings, store and models; a model handed in takes the place of what the settings name.

    A context manager that lets go of the models that it loaded; see ``close``.

    Args:
        settings: of every run.
        store: where contexts come from; None for records that bring theirs.
        retriever: where they come from instead, such as a vector database of your own.
        llm: a model in place of the one that the settings name.
        embedder: likewise.
        relation_model: likewise.
        reranker: likewise.
        cache: whether scores of pairs are kept in the store and taken from it. The
            same scores come back, so this is no setting.
        progress: told how far each stage is.
        shared: whose LLM and embedder are used where they are the ones that the settings name,
            loaded there on first use: for several runs with other settings or another store.
        recorded: what an earlier run says of its relation model, and its ``risk``, to go on with
            its calibration and thresholds.

    Raises:
        InputError: if a retriever is handed in beside a store, or with settings that only a
            store can meet.
    """

    def __init__(
        self,
        settings: Settings,
        store: ReadableStore | None = None,
        *,
        retriever: Retriever | None = None,
        llm: ChatModel | None = None,
        embedder: Embedder | None = None,
        relation_model: RelationModel | None = None,
        reranker: Reranker | None = None,
        cache: bool = True,
        progress: StageProgress = silent,
        shared: Loaded | None = None,
        recorded: Mapping[str, Any] | None = None,
    ) -> None:
        if retriever is not None:
            _check_retriever(settings, store)
        self.settings = settings
        self.store = store
        self.retriever = retriever
        self._given_llm = llm
        self._given_embedder = embedder
        self._given_relation_model = relation_model
        self._given_reranker = reranker
        self._cache = cache
        self._progress = progress
        self._shared = shared
        self._recorded = recorded
        self._others: dict[str, Any] = {}
        self._loading = threading.Lock()
        self._lock = threading.RLock()

    def close(self) -> None:
        """Let go of the models that were loaded; the store and models handed in stay open.

        They are loaded again if this is used once more.
        """
        with self._lock:
            llm = self.__dict__.get("llm")
            for name in _KEPT:
                self.__dict__.pop(name, None)
            lent = self._shared.__dict__.get("llm") if self._shared else None
            own = llm not in (self._given_llm, lent)
            for model in (llm if own else None, *self._others.values()):
                if model is not None and hasattr(model, "close"):
                    model.close()
            self._others.clear()

    @cached_property
    def llm(self) -> ChatModel:
        """The model that splits, rewords and, where it is the relation model, judges."""
        if self._given_llm is not None:
            return self._given_llm
        if self._shared is not None and self._shared.settings.llm == self.settings.llm:
            return self._shared.llm
        loaded: ChatModel = load_model(self.settings.llm, "llm")
        return loaded

    @cached_property
    def embedder(self) -> Embedder:
        """The store's embedder."""
        name, shared = self.settings.embedder, self._shared
        loaded: Embedder
        if self._given_embedder is not None:
            loaded = self._given_embedder
        elif shared is not None and shared.settings.embedder == name:
            loaded = shared.embedder
        else:
            loaded = load_model(name, "embedder")
        if self.store is not None:
            self.store.fingerprint.embedder.check(loaded, self.store.place)
        return loaded

    @cached_property
    def relation_model(self) -> RelationModel:
        """The relation model; shares the LLM's memory where they are the same."""
        return self._given_relation_model or relation_model_of(
            self.settings,
            load=self._load,
            store_dir=self.store.path if self.store else None,
            states=self.store.states if self.store else None,
            cache=self._cache,
            recorded=self._recorded,
        )

    def _load(self, name: str) -> Any:  # noqa: ANN401
        """A model of that name, which is the LLM if that has it: whoever asks first loads it.

        What is shared loads and keeps it.
        """
        llm = self._given_llm.id if self._given_llm else self.settings.llm
        if name == llm:
            return self.llm
        if self._shared is not None:
            return self._shared._load(name)
        # Not `_lock`: a run holds that while it waits for the threads that call this.
        with self._loading:
            if name not in self._others:
                self._others[name] = load_model(name)
            return self._others[name]

    @cached_property
    def risk(self) -> Thresholds | None:
        """Thresholds of the verdicts, of the store's user or the relation model's card.

        None where there are none, and for a judge, which decides by itself.

        Raises:
            ModelError: if the model is to bring some and has none for the assessor.
        """
        if self.settings.assessor in JUDGES:
            return None
        if self._recorded is not None:
            risk = self._recorded.get("risk")
            return (
                Thresholds(**{f.name: risk[f.name] for f in fields(Thresholds)}) if risk else None
            )
        folder = self.store.path if self.store else None
        return thresholds_of(self.relation_model, self.settings, folder)

    @cached_property
    def reranker(self) -> Reranker | None:
        """What reads the best passages again, if anything does."""
        if self._given_reranker is not None or self.settings.rerank is None:
            return self._given_reranker
        cache_dir = self.store.path if self.store and self._cache else None
        return load_reranker(self.settings.rerank, cache_dir=cache_dir)

    def models_used(self, *, llm: bool, searched: bool = True) -> tuple[dict[str, Any], ...]:
        """Role, id, sha256 and calibration of each model that a run has had.

        Args:
            llm: whether it asked the LLM, which an earlier run may have loaded.
            searched: likewise, whether it looked for passages, which a reranker reads again.
        """
        used: list[tuple[str, Identified | RelationModel]] = []
        if self.settings.assessor not in JUDGES:
            used.append(("relation", self.relation_model))
        if "embedder" in self.__dict__ or self.settings.assessor not in JUDGES:
            used.append(("embedder", self.embedder))
        if llm:
            used.insert(0, ("llm", self.llm))
        if searched and (reranker := self.__dict__.get("reranker")) is not None:
            used.append(("reranker", reranker))
        return tuple(
            {"role": role, **identity(m)}
            | (describe(self.relation_model) if role == "relation" else {})
            for role, m in used
        )

    def unlike(self, record: Record, run: Mapping[str, Any]) -> list[str]:
        """What a run over the record would not have as an earlier one had it.

        That is of version, settings, prompts, models, thresholds and index, a line each. The models
        that it had are loaded for that.

        Args:
            record: what would be verified.
            run: of the earlier assessment, see ``report.to_dict``.

        Raises:
            ModelError: if a model cannot be loaded.
        """
        with self._lock:
            return self._unlike(record, run)

    def _unlike(self, record: Record, run: Mapping[str, Any]) -> list[str]:
        here: dict[str, Any] = {
            "version": __version__,
            "settings": self.settings.as_dict(),
            "prompts": prompts_here(),
        }
        if found := unlike(run, here):
            return found
        roles = {model["role"] for model in run["models"]}
        for role in roles & {"embedder", "reranker"}:
            getattr(self, role)  # is among those used once it is loaded
        used = self.models_used(llm="llm" in roles, searched=record.contexts is None)
        here["models"] = [model for model in used if model["role"] in roles]
        here["risk"] = asdict(self.risk) if self.risk else None
        here["index"] = self.index_used(record)
        return unlike(run, here)

    def index_used(self, record: Record) -> dict[str, Any] | None:
        """Where the contexts of a record come from; None if it brings them.

        What a retriever holds is not known here: its record has no count and no digest.
        """
        if self.retriever is not None and record.contexts is None:
            return {"store": self.retriever.name, "collection": "", "chunks": None, "digest": ""}
        if self.store is None or record.contexts is not None:
            return None
        return {
            "store": self.store.place,
            "collection": self.store.collection,
            "chunks": self.store.count(),
            "digest": self.store.digest(),
        }


def _check_retriever(settings: Settings, store: ReadableStore | None) -> None:
    """Refuse what a retriever would leave without effect, such as who may see what.

    Raises:
        InputError: naming it.
    """
    if store is not None:
        raise InputError("expected a store or a retriever, got both")
    for name in ("where", "as_groups", "retrieval"):
        if getattr(settings, name) != getattr(Settings(), name):
            raise InputError(f"{name}: is for a store, and a retriever was handed in")
