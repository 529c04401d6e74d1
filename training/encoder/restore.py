"""A checkpoint of an encoder that was exported, to go on training from it.

    python -m training.encoder.restore factcheck_local/models/weights/NAME --base DIR \
        --layers 6 --out CHECKPOINT

The reverse of ``training.encoder.export``: weights are what int8 left of them, (q - zero) · scale.
CHECKPOINT serves as ``--base`` of ``training.encoder.train``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np
import numpy.typing as npt
import onnx
import torch
from onnx import numpy_helper
from transformers import AutoTokenizer

from factcheck_local.models.offline import go_offline, quiet_transformers
from factcheck_local.models.onnx_encoder import MODEL_FILE
from training.encoder.train import build

#: Ends of the names that quantising gives to a tensor and its scale and zero point.
_QUANTIZED, _SCALE, _ZERO = "_quantized", "_scale", "_zero_point"


def weights(model: onnx.ModelProto) -> Iterator[tuple[str, npt.NDArray[np.float32]]]:
    """Names of the checkpoint and their weights, float32; of a name that comes twice the last."""
    stored = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    for name, values in stored.items():
        if name.endswith((".weight", ".bias")):
            yield name, values.astype(np.float32)
        elif name.endswith(f".weight{_QUANTIZED}"):
            yield name.removesuffix(_QUANTIZED), _dequantized(stored, name)
    for node in model.graph.node:
        # A multiplied matrix is transposed and may have lost its name; the node keeps its place,
        # as /a/b/MatMul_quant.
        if node.op_type == "MatMulInteger":
            place = node.name.rsplit("/", 1)[0].strip("/").replace("/", ".")
            yield f"{place}.weight", _dequantized(stored, node.input[1]).T


def _dequantized(stored: dict[str, npt.NDArray[np.generic]], name: str) -> npt.NDArray[np.float32]:
    base = name.removesuffix(_QUANTIZED)
    values, zero, scale = (stored[f"{base}{end}"] for end in (_QUANTIZED, _ZERO, _SCALE))
    found: npt.NDArray[np.float32] = values.astype(np.float32) - zero.astype(np.float32)
    return found * scale.astype(np.float32)


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--base", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--layers", type=int, help="As it was trained with.")
@click.option("--out", type=click.Path(path_type=Path), required=True)
def main(folder: Path, base: Path, layers: int | None, out: Path) -> None:
    """Write the export in FOLDER as a checkpoint; config and tokenizer are those of BASE."""
    go_offline()
    quiet_transformers()
    model = build(base, layers)
    found = dict(weights(onnx.load(folder / MODEL_FILE)))
    unknown = set(found) ^ {name for name, _ in model.named_parameters()}
    if unknown:
        raise click.ClickException(f"{folder}: not an export of {base}: {sorted(unknown)[0]}")
    model.load_state_dict({k: torch.tensor(v) for k, v in found.items()}, strict=False)
    model.save_pretrained(out)
    AutoTokenizer.from_pretrained(base).save_pretrained(out)


if __name__ == "__main__":
    main()
