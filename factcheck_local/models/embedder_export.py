"""Make an ONNX file of a sentence-transformers model, once, when it is pulled or imported.

It holds the same weights in float32, and is kept only if it gives the same vectors. A model that
cannot be exported works without it, and starts a few seconds later.
"""

from __future__ import annotations

import copy
import logging
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from factcheck_local.models.cards import ModelCard, sha256_of
from factcheck_local.models.embedder import SentenceTransformerEmbedder
from factcheck_local.models.offline import go_offline
from factcheck_local.models.onnx_embedder import (
    DIGITS,
    EMBEDDER_BACKEND,
    TOLERANCE,
    OnnxEmbedder,
    exported_file,
    exported_stem,
)

logger = logging.getLogger(__name__)

#: What the two have to agree on: short and long, marks written out, nothing at all, other scripts.
PROBES = (
    "Staff get 25 days of leave a year.",
    "",
    "What [SEP] and <s> mean.",
    "Überstunden, 東京, \N{GRINNING FACE} and a\ttab",
    "The office opens at nine on weekdays. " * 80,
)


def export_embedder(card: ModelCard) -> bool:
    """Make the file of a model, if it is one that is embedded by sentence-transformers.

    Args:
        card: of a model whose files are here and were checked.

    Returns:
        Whether there is a file now; why not is logged.

    Raises:
        ModelError: if the model itself cannot be loaded.
        OSError: if the file cannot be written.
    """
    if card.backend != EMBEDDER_BACKEND:
        return False
    if exported_file(card):
        return True
    go_offline()
    model = SentenceTransformerEmbedder(
        card.id, card.sha256, card.folder, max_tokens=int(card.options["max_tokens"])
    )
    stem = exported_stem(card)
    stem.parent.mkdir(parents=True, exist_ok=True)
    partial = stem.with_name(f"{stem.name}.{os.getpid()}.partial")
    try:
        _write(model, partial)
        found = OnnxEmbedder.from_card(card, partial).embed(PROBES)
        off = float(np.abs(found - model.embed(PROBES)).max())
        if off > TOLERANCE:
            logger.info("%s: its ONNX file is off by %.1e and not kept", card.id, off)
            return False
        partial.replace(stem.with_name(f"{stem.name}.{sha256_of(partial)[:DIGITS]}.onnx"))
    except OSError:
        raise
    except Exception as error:  # whatever torch's exporter makes of a model that it cannot trace
        logger.info("%s: cannot be exported: %s", card.id, error)
        return False
    finally:
        partial.unlink(missing_ok=True)
    return True


def _write(model: SentenceTransformerEmbedder, path: Path) -> None:
    """Trace a model, texts of any number and length in, their pooled states out."""
    import torch

    class Pooled(torch.nn.Module):
        def __init__(self, inner: Any, names: list[str]) -> None:  # noqa: ANN401
            super().__init__()
            self.inner, self.names = inner, names

        def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
            found: torch.Tensor = self.inner(dict(zip(self.names, inputs, strict=True)))[
                "sentence_embedding"
            ]
            return found

    inner = copy.deepcopy(model.network).eval()
    # Other kernels of attention are no operators of ONNX.
    inner[0].auto_model.set_attn_implementation("eager")
    features = model.tokenizer(["a short text", "another one"], padding=True, return_tensors="pt")
    names = [name for name in model.tokenizer.model_input_names if name in features]
    axes = {0: "texts", 1: "tokens"}
    with warnings.catch_warnings(), torch.inference_mode():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            Pooled(inner, names).eval(),
            tuple(features[name] for name in names),
            str(path),
            input_names=names,
            output_names=["vectors"],
            dynamic_axes=dict.fromkeys(names, axes) | {"vectors": {0: "texts"}},
            opset_version=17,
            dynamo=False,
        )
