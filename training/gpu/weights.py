"""A GGUF model's weights as one plain file, and read from it with torch alone.

    python -m training.gpu.weights --base model.gguf --lessons relations.pt --out WEIGHTS

Only the rows of word embeddings and output that the lessons use are taken along; ids are
numbered anew. The blocks stay quantised as they are in the file, and are turned into
bfloat16 where they are used, so that the adapter learns on the model that llama.cpp runs. The
formats are those of ggml: Q4_K and Q6_K, superblocks of 256 weights.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import torch

from training.gpu.lessons import NO_LABEL

Q4_K_BYTES, Q6_K_BYTES = 144, 210
#: Tokens that no lesson has, among which a reply's are to be found, too.
OTHER_TOKENS = 8000
INDEX, DATA = "index.json", "weights.bin"


def dequantised(kind: str, raw: torch.Tensor, shape: tuple[int, ...]) -> torch.Tensor:
    """The weights of a tensor, float32.

    Args:
        kind: ggml's name of the format: F32, Q4_K or Q6_K.
        raw: its bytes, uint8, on the device where it is wanted.
        shape: of the result.

    Raises:
        ValueError: if the format is another.
    """
    if kind == "F32":
        return raw.view(torch.float32).reshape(shape)
    if kind == "Q4_K":
        return _q4_k(raw.reshape(-1, Q4_K_BYTES)).reshape(shape)
    if kind == "Q6_K":
        return _q6_k(raw.reshape(-1, Q6_K_BYTES)).reshape(shape)
    raise ValueError(f"weights of the format {kind}: none of F32, Q4_K, Q6_K")


def _half(raw: torch.Tensor) -> torch.Tensor:
    """Two bytes of each row as a number, shape (n, 1)."""
    return raw.contiguous().view(torch.float16).float()


def _q4_k(raw: torch.Tensor) -> torch.Tensor:
    d, least = _half(raw[:, 0:2]), _half(raw[:, 2:4])
    packed, quants = raw[:, 4:16].int(), raw[:, 16:]
    low, mid, high = packed[:, 0:4], packed[:, 4:8], packed[:, 8:12]
    # Six bits each: the first four of the eight in one byte, the others spread over two.
    scale = torch.cat([low & 63, (high & 15) | ((low >> 6) << 4)], dim=1)
    shift = torch.cat([mid & 63, (high >> 4) | ((mid >> 6) << 4)], dim=1)
    nibbles = quants.reshape(-1, 4, 1, 32)
    values = torch.cat([nibbles & 15, nibbles >> 4], dim=2).reshape(-1, 8, 32).float()
    return (d * scale).unsqueeze(2) * values - (least * shift).unsqueeze(2)


def _q6_k(raw: torch.Tensor) -> torch.Tensor:
    low, high = raw[:, 0:128].reshape(-1, 2, 1, 64), raw[:, 128:192].reshape(-1, 2, 1, 32)
    scale, d = raw[:, 192:208].view(torch.int8).float(), _half(raw[:, 208:210])
    four = torch.cat([low & 15, low >> 4], dim=2).reshape(-1, 2, 4, 32)
    two = torch.cat([(high >> at) & 3 for at in (0, 2, 4, 6)], dim=2)
    values = (four | (two << 4)).reshape(-1, 16, 16).float() - 32.0
    return (d * scale).unsqueeze(2) * values


class Weights:
    """Tensors of a folder that ``write`` has made, by their names in the GGUF file.

    Attributes:
        about: the model's sizes, as in the file's header.
        read: the old id of each new one among the word embeddings.
        said: the same among the rows of the output.
    """

    def __init__(self, place: Path) -> None:
        index = json.loads((place / INDEX).read_text())
        self._file, self._tensors = place / DATA, index["tensors"]
        self.about: Mapping[str, Any] = index["about"]
        self.read: list[int] = index["read"]
        self.said: list[int] = index["said"]

    def tensor(self, name: str, device: str) -> torch.Tensor:
        """A tensor as float32, rows as long as what it maps from."""
        kind, shape, begin, size = self._tensors[name]
        with self._file.open("rb") as file:
            file.seek(begin)
            raw = torch.frombuffer(bytearray(file.read(size)), dtype=torch.uint8)
        return dequantised(kind, raw.to(device), tuple(shape))


def write(base: Path, read: list[int], said: list[int], out: Path) -> None:
    """Write a model's weights as one file, with an index.

    Args:
        base: the GGUF file.
        read: ids whose word embeddings are kept.
        said: ids whose rows of the output are kept.
        out: the folder.
    """
    from gguf import GGUFReader

    reader = GGUFReader(base)
    out.mkdir(parents=True, exist_ok=True)
    tensors: dict[str, Any] = {}
    kept = {"token_embd.weight": read, "output.weight": said}
    with (out / DATA).open("wb") as file:
        for tensor in reader.tensors:
            rows = kept.get(tensor.name)
            raw = (tensor.data if rows is None else tensor.data[rows]).tobytes()
            shape = [int(n) for n in reversed(tensor.shape)]
            shape[0] = shape[0] if rows is None else len(rows)
            tensors[tensor.name] = [tensor.tensor_type.name, shape, file.tell(), len(raw)]
            file.write(raw)
    about = {key: reader.fields[field].contents() for key, field in _sizes(reader)}
    index = {"about": about, "read": read, "said": said, "tensors": tensors}
    (out / INDEX).write_text(json.dumps(index))


def _sizes(reader: Any) -> Iterator[tuple[str, str]]:
    name = reader.fields["general.architecture"].contents()
    for key, field in {
        "layers": "block_count",
        "heads": "attention.head_count",
        "groups": "attention.head_count_kv",
        "epsilon": "attention.layer_norm_rms_epsilon",
        "theta": "rope.freq_base",
    }.items():
        yield key, f"{name}.{field}"


@click.command()
@click.option("--base", type=click.Path(exists=True, path_type=Path), required=True)
@click.option(
    "--lessons", type=click.Path(exists=True, path_type=Path), multiple=True, required=True
)
@click.option("--letters", type=int, multiple=True, help="Ids of the label tokens.")
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), required=True)
def main(
    base: Path, lessons: tuple[Path, ...], letters: tuple[int, ...], seed: int, out: Path
) -> None:
    """Write the weights of BASE that the lessons need."""
    torch.manual_seed(seed)
    read, said = set(letters), set(letters)
    for path in lessons:
        kept = torch.load(path, weights_only=True)
        tokens = set(kept["tokens"].unique().tolist())
        read |= tokens
        if (kept["labels"] == NO_LABEL).any():
            said |= tokens
    said.update(torch.randint(0, max(read), (OTHER_TOKENS,)).tolist())
    write(base, sorted(read), sorted(said), out)
    click.echo(f"{len(read)} tokens read, {len(said)} said; {(out / DATA).stat().st_size} bytes")


if __name__ == "__main__":
    main()
