"""From a model's name to a loaded model: check the files, import the backend, build it.

Backends are imported on use, so that a command that needs no model loads none.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeAlias

from factcheck_local.core import plugins
from factcheck_local.core.errors import InputError, ModelError
from factcheck_local.models.cards import ModelCard, find_card
from factcheck_local.models.contracts import Identified
from factcheck_local.models.offline import go_offline

#: Backend -> the function that builds a model from its checked card.
BACKENDS = {
    "llama_cpp": "factcheck_local.models.llama_cpp:LlamaCppModel.from_card",
    "openai_server": "factcheck_local.models.openai_server.model:ServerModel.from_card",
    "sentence_transformers": "factcheck_local.models.embedder:load_embedder",
    "transformers": "factcheck_local.models.encoder:NliEncoder.from_card",
    "onnx": "factcheck_local.models.onnx_encoder:OnnxNliEncoder.from_card",
    "cross_encoder": "factcheck_local.models.cross_encoder:CrossEncoderScorer.from_card",
}

#: From a model's name to the model, as `load_model` goes.
Loader: TypeAlias = Callable[[str], Any]

DEFAULT_LLM = "qwen2.5-coder-1.5b"
DEFAULT_EMBEDDER = "all-minilm-l6-v2"
DEFAULT_ENCODER = "mpnet-l6-nli"


def load_model(name: str, role: str | None = None) -> Any:  # noqa: ANN401
    """Load the model called ``name``.

    Returns:
        What the backend builds; the caller knows its Protocol from the role:
        ``llm`` is a TextGenerator and LabelScorer, ``embedder`` an Embedder,
        ``encoder`` a PairClassifier, ``reranker`` a RelevanceScorer.

    Raises:
        ModelError: if the model is unknown, not pulled, of another role, its
            backend is not installed, it cannot be loaded, or its server does
            not answer.
        ChecksumError: if a file is not the one that the card names.
    """
    card = find_card(name, role)
    card.check()
    go_offline()
    try:
        return _builder(card)(card)
    except ImportError as error:
        missing = error.name or str(error).strip().split("\n", 1)[0]
        raise ModelError(
            f"model {card.id} needs a library that is not installed: {missing}",
            hint="pip install factcheck-local" if card.backend in BACKENDS else None,
        ) from error


def beside(model: Identified) -> Loader:
    """`load_model` for all models but one, which is in memory already."""
    return lambda name: model if name == model.id else load_model(name)


def _builder(card: ModelCard) -> Callable[[ModelCard], Any]:
    if card.backend not in BACKENDS:
        added = plugins.plugin_names(plugins.MODELS)
        if card.backend in added:
            try:
                made: Callable[[ModelCard], Any] = plugins.load_plugin(plugins.MODELS, card.backend)
            except InputError as error:
                raise ModelError(f"model {card.id}: {error}") from error
            return made
        known = ", ".join(sorted({*BACKENDS, *added}))
        raise ModelError(f"model {card.id}: unknown backend {card.backend!r}, expected {known}")
    module_name, _, path = BACKENDS[card.backend].partition(":")
    found: Any = import_module(module_name)
    for name in path.split("."):
        found = getattr(found, name)
    builder: Callable[[ModelCard], Any] = found
    return builder
