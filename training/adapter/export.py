r"""Write a trained adapter as a GGUF file that llama.cpp puts on the unchanged model.

    python -m training.adapter.export RUN/adapter.pt \\
        --out factcheck_local/models/weights/MODEL/relate-v2.gguf

The file is named by the prompt that the adapter was trained with. Prints the table for the
model's card. Half of each product, the one with rows as long as the model is wide, is written in
8 bits (Q8_0); the other half has rows of the rank, too short for blocks of 32. ``--rank`` writes
a smaller file than the run trained; ``--mean`` the mean of the run and of the file that it began
with, which keeps more of what that one knew, ``--share`` with another weight than half.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from pathlib import Path

import click
import numpy as np
import torch
from gguf import GGMLQuantizationType, GGUFReader, GGUFWriter
from gguf.quants import dequantize, quantize

from factcheck_local.models.adapters import Adapter, adapter_folder
from factcheck_local.models.cards import sha256_of
from training.adapter.names import NAMES

#: What a GGUF file begins with.
GGUF = b"GGUF"
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


def widened(
    weights: Mapping[str, torch.Tensor], fresh: Mapping[str, torch.Tensor]
) -> dict[str, torch.Tensor]:
    """Weights of a lower rank put into fresh ones; the maps they stand for stay the same.

    That holds where alpha / rank is the same for both. Layers without fresh weights are left out.

    Args:
        weights: by name; ``a`` of shape (r, inputs), ``b`` of shape (outputs, r).
        fresh: the same with rank R >= r, each ``b`` zero.
    """
    found = {}
    for name, parameter in fresh.items():
        wide, narrow = parameter.detach().clone(), weights[name]
        wide[: narrow.shape[0], : narrow.shape[1]] = narrow
        found[name] = wide
    return found


def taken_up(
    path: Path, fresh: Mapping[str, torch.Tensor], scale: float
) -> dict[str, torch.Tensor]:
    """The weights of an exported adapter in the place of fresh ones, as the same maps.

    Args:
        path: the file.
        fresh: see ``widened``.
        scale: alpha / rank of the fresh ones.

    Raises:
        click.BadParameter: see ``fitting``.
    """
    return widened(fitting(path, fresh, scale, option="--from"), fresh)


def mean(
    weights: Mapping[str, torch.Tensor], others: Mapping[str, torch.Tensor], share: float = 0.5
) -> dict[str, torch.Tensor]:
    """The mean of two adapters' maps, as one of both ranks together (Wortsman et al. 2022).

    It stands for that where alpha / rank is the same for all three. A layer that one of them
    leaves as it is has a map of zeros there.

    Args:
        weights: by name; ``a`` of shape (r, inputs), ``b`` of shape (outputs, r).
        others: the same with a rank and layers of their own.
        share: weight of the first, 0 to 1; that of the others is the rest.
    """
    found = {}
    for name in sorted(weights.keys() | others.keys()):
        w = weights[name] if name in weights else torch.zeros_like(others[name])
        other = others[name] if name in others else torch.zeros_like(w)
        found[name] = (
            torch.cat([w, other])
            if name.endswith(".a")
            else torch.cat([share * w, (1 - share) * other], dim=1)
        )
    return found


def fitting(
    path: Path, names: Collection[str], scale: float, *, option: str
) -> dict[str, torch.Tensor]:
    """The weights of an exported adapter that is on the same layers, with the same scale.

    Args:
        path: the file.
        names: of the other one's weights.
        scale: its alpha / rank.
        option: by which the file was given.

    Raises:
        click.BadParameter: if its scale is another, or it is on other layers.
    """
    weights = of_scale(path, scale, option=option)
    if weights.keys() != set(names):
        first = min(map(layer_of, weights))
        raise click.BadParameter(
            f"{path} is on other layers than this run: --first-layer {first}", param_hint=option
        )
    return weights


def of_scale(path: Path, scale: float, *, option: str) -> dict[str, torch.Tensor]:
    """The weights of an exported adapter with this alpha / rank.

    Raises:
        click.BadParameter: if it has another, by the option that named the file.
    """
    weights, _, own = weights_and_scale(path)
    if not math.isclose(own, scale, rel_tol=1e-6):
        raise click.BadParameter(
            f"{path} has alpha / rank {own:g}, this run {scale:g}", param_hint=option
        )
    return weights


def layer_of(name: str) -> int:
    """The layer of a weight by its name in torch, as ``model.layers.6.mlp.up_proj.a``."""
    return int(name.split(".")[2])


def weights_and_scale(path: Path) -> tuple[dict[str, torch.Tensor], int, float]:
    """The weights of a run's file or of an exported one, their rank, and alpha / rank."""
    with path.open("rb") as file:
        exported = file.read(len(GGUF)) == GGUF
    if not exported:
        saved = torch.load(path, weights_only=True)
        return saved["adapter"], saved["rank"], float(saved["alpha"]) / saved["rank"]
    weights = weights_of(path)
    rank = next(len(w) for name, w in weights.items() if name.endswith(".a"))
    return weights, rank, float(GGUFReader(path).fields["adapter.lora.alpha"].contents()) / rank


def truncated(weights: Mapping[str, torch.Tensor], rank: int) -> dict[str, torch.Tensor]:
    """The nearest maps of a lower rank, by the largest singular values of each product B A.

    They stand for the same maps where alpha / rank stays the same.

    Args:
        weights: by name; ``a`` of shape (r, inputs), ``b`` of shape (outputs, r).
        rank: at most r.
    """
    found = {}
    for name, b in weights.items():
        if not name.endswith(".b"):
            continue
        # Of two thin factors instead of the whole product, which has the size of the map.
        left, inner_b = torch.linalg.qr(b.float())
        right, inner_a = torch.linalg.qr(weights[f"{name[:-1]}a"].float().T)
        u, s, v = torch.linalg.svd(inner_b @ inner_a.T)
        root = s[:rank].sqrt()
        found[name] = (left @ u[:, :rank]) * root
        found[f"{name[:-1]}a"] = root[:, None] * (v[:rank] @ right.T)
    return found


@click.command()
@click.argument("trained", type=click.Path(exists=True, path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option(
    "--architecture", default="qwen2", show_default=True, help="The model's, in its GGUF."
)
@click.option(
    "--rank", type=click.IntRange(min=1), help="To be brought to; default: as it was trained."
)
@click.option(
    "--mean",
    "other",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="An exported adapter: write the mean of both instead.",
)
@click.option(
    "--share",
    type=click.FloatRange(0, 1),
    help="The weight of TRAINED in the mean; default: half.",
)
def main(
    trained: Path,
    out: Path,
    architecture: str,
    rank: int | None,
    other: Path | None,
    share: float | None,
) -> None:
    """Export TRAINED: an adapter.pt or state.pt of a run, or a file that was exported."""
    if share is not None and other is None:
        raise click.BadParameter(
            "is of a mean: name the other file by --mean", param_hint="--share"
        )
    adapter, full, scale = weights_and_scale(trained)
    if rank is not None and rank > full:
        raise click.BadParameter(f"{trained} has {full}", param_hint="--rank")
    rank = rank or full
    if other is not None:
        others = of_scale(other, scale, option="--mean")
        adapter = mean(adapter, others, 0.5 if share is None else share)
    if other is not None or rank < full:
        adapter = truncated(adapter, rank)
    alpha = scale * rank
    out.parent.mkdir(parents=True, exist_ok=True)
    writer = GGUFWriter(out, architecture)
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", alpha)
    writer.add_license("apache-2.0")
    for name, weights in sorted(adapter.items()):
        if name.endswith(".a") and weights.shape[1] % BLOCK == 0:
            packed = quantize(weights.float().contiguous().numpy(), GGMLQuantizationType.Q8_0)
            writer.add_tensor(tensor_name(name), packed, raw_dtype=GGMLQuantizationType.Q8_0)
        else:
            writer.add_tensor(tensor_name(name), weights.float().numpy().astype(np.float16))
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
