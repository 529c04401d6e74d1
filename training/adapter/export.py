r"""Write a trained adapter as a GGUF file that llama.cpp puts on the unchanged model.

    python -m training.adapter.export RUN/adapter.pt \\
        --out factcheck_local/models/weights/MODEL/relate-v2.gguf

The file is named by the prompt that the adapter was trained with. Prints the table for the
model's card. Half of each product, the one with rows as long as the model is wide, is written in
8 bits (Q8_0); the other half has rows of the rank, too short for blocks of 32.
"""

from __future__ import annotations

import re
from pathlib import Path

import click
import numpy as np
import torch
from gguf import GGMLQuantizationType, GGUFReader, GGUFWriter
from gguf.quants import dequantize, quantize

from factcheck_local.models.adapters import Adapter, adapter_folder
from factcheck_local.models.cards import sha256_of

#: A linear map's name in torch -> in a GGUF file.
NAMES = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
#: Weights of a row that Q8_0 keeps together.
BLOCK = 32

_PARAMETER = re.compile(r"model\.layers\.(\d+)\.(\w+\.\w+)\.([ab])")
_TENSOR = re.compile(r"blk\.(\d+)\.(\w+)\.weight\.lora_([ab])")


def tensor_name(parameter: str) -> str:
    """The name in a GGUF file of a parameter, as ``blk.0.attn_q.weight.lora_a``.

    Raises:
        ValueError: if it is none of an adapter's.
    """
    found = _PARAMETER.fullmatch(parameter)
    if not found or found[2] not in NAMES:
        raise ValueError(f"{parameter}: not a parameter of an adapter")
    return f"blk.{found[1]}.{NAMES[found[2]]}.weight.lora_{found[3]}"


def weights_of(path: Path) -> dict[str, torch.Tensor]:
    """The weights of an exported adapter by their names in torch, to train on from them.

    Raises:
        ValueError: if a tensor is none of an adapter's.
    """
    places = {ours: theirs for theirs, ours in NAMES.items()}
    found = {}
    for tensor in GGUFReader(path).tensors:
        parts = _TENSOR.fullmatch(tensor.name)
        if not parts or parts[2] not in places:
            raise ValueError(f"{tensor.name}: not a tensor of an adapter")
        name = f"model.layers.{parts[1]}.{places[parts[2]]}.{parts[3]}"
        found[name] = torch.from_numpy(dequantize(tensor.data, tensor.tensor_type).copy())
    return found


@click.command()
@click.argument("trained", type=click.Path(exists=True, path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option(
    "--architecture", default="qwen2", show_default=True, help="The model's, in its GGUF."
)
def main(trained: Path, out: Path, architecture: str) -> None:
    """Export TRAINED, an adapter.pt or state.pt of a run."""
    saved = torch.load(trained, weights_only=True)
    out.parent.mkdir(parents=True, exist_ok=True)
    writer = GGUFWriter(out, architecture)
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", float(saved["alpha"]))
    writer.add_license("apache-2.0")
    for name, weights in sorted(saved["adapter"].items()):
        if name.endswith(".a") and weights.shape[1] % BLOCK == 0:
            packed = quantize(weights.float().numpy(), GGMLQuantizationType.Q8_0)
            writer.add_tensor(tensor_name(name), packed, raw_dtype=GGMLQuantizationType.Q8_0)
        else:
            writer.add_tensor(tensor_name(name), weights.numpy().astype(np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    sha256 = sha256_of(out)
    click.echo(f"{out}: {out.stat().st_size / 1e6:.1f} MB, {Adapter(out, sha256).name}", err=True)
    file = out.resolve().relative_to(adapter_folder().resolve()) if _is_shipped(out) else out
    click.echo(f'[adapters.{out.stem}]\nfile = "{file.as_posix()}"\nsha256 = "{sha256}"')


def _is_shipped(path: Path) -> bool:
    return path.resolve().is_relative_to(adapter_folder().resolve())


if __name__ == "__main__":
    main()
