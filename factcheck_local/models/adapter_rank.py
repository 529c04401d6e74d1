"""Adapters of a rank that llama.cpp multiplies quickly.

Behind each adapted weight come two thin products, and one of them has rows as long as the rank.
With rows that are no multiple of 16 none of a processor's kernels is vectorised: an adapter of rank
10 took nearly half as long as the model itself, filled up with zeros to 16 a sixth (measured with
AVX-512). The maps stay the same. Of the adapters that ship one, of rank 13, is filled up.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from gguf import GGUFReader

#: What a rank is to be a multiple of: the lanes of the widest kernels for half precision.
LANES = 16

_ALPHA = "adapter.lora.alpha"


@contextmanager
def with_full_lanes(path: Path) -> Iterator[Path]:
    """A file with the same adapter, its rank a multiple of ``LANES``; gone at the end of the with.

    The adapter's own file where there is nothing to fill up: its rank is one already, its weights
    differ in rank (alpha could not make up for that), or it has others than pairs of matrices.

    Args:
        path: a GGUF file.

    Raises:
        ValueError: if it is none.
        OSError: if it cannot be read, or nothing be written beside the system's temporary files.
    """
    from gguf import GGUFReader

    reader = GGUFReader(path)
    rank = _rank(reader)
    if rank is None or rank % LANES == 0:
        yield path
        return
    with TemporaryDirectory(prefix="factcheck-") as folder:
        filled = Path(folder) / path.name
        _write(reader, filled, rank, -(-rank // LANES) * LANES)
        yield filled


def _rank(reader: GGUFReader) -> int | None:
    """The rank of all of an adapter's pairs; None where there is no such one number."""
    ranks = set()
    for tensor in reader.tensors:
        rows_are_the_rank = tensor.name.endswith(".weight.lora_a")
        if not (rows_are_the_rank or tensor.name.endswith(".weight.lora_b")):
            return None
        if len(tensor.shape) != 2 or tensor.name.startswith("token_embd."):
            return None
        # GGUF names the length of a row first.
        ranks.add(int(tensor.shape[1 if rows_are_the_rank else 0]))
    return ranks.pop() if len(ranks) == 1 else None


def _write(reader: GGUFReader, path: Path, rank: int, wider: int) -> None:
    from gguf import GGUFWriter

    architecture = reader.fields["general.architecture"].contents()
    writer = GGUFWriter(path, architecture)
    for name, field in reader.fields.items():
        if name.startswith("GGUF.") or name == "general.architecture":
            continue
        value: Any = field.contents()
        if name == _ALPHA:  # llama.cpp divides it by the rank
            value = value * wider / rank
        writer.add_key_value(name, value, *field.types)
    for tensor in reader.tensors:
        length = int(tensor.shape[0])
        rows = np.ascontiguousarray(tensor.data).view(np.uint8).reshape(int(tensor.shape[1]), -1)
        if tensor.name.endswith(".lora_a"):
            # Zeros in every format, quantised ones included: a scale of zero.
            filled = _filled(rows, wider, rows.shape[1])
        else:
            filled = _filled(rows, rows.shape[0], rows.shape[1] // length * wider)
        writer.add_tensor(tensor.name, filled, raw_dtype=tensor.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _filled(rows: npt.NDArray[np.uint8], count: int, size: int) -> npt.NDArray[np.uint8]:
    found = np.zeros((count, size), dtype=np.uint8)
    found[: rows.shape[0], : rows.shape[1]] = rows
    return found
