"""A rank filled up with zeros: the same maps, in a file that is gone afterwards."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from gguf import GGMLQuantizationType, GGUFReader, GGUFWriter
from gguf.quants import dequantize, quantize

from factcheck_local.models.adapter_rank import LANES, with_full_lanes
from factcheck_local.models.adapters import adapter_folder

INPUTS, OUTPUTS, ALPHA = 64, 48, 20.0
PLACES = ("blk.0.attn_q.weight", "blk.3.ffn_down.weight")


def write(
    path: Path,
    ranks: dict[str, int],
    *,
    first: GGMLQuantizationType = GGMLQuantizationType.F16,
    second: GGMLQuantizationType = GGMLQuantizationType.F16,
) -> Path:
    draw = np.random.default_rng(1)
    writer = GGUFWriter(path, "qwen2")
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", ALPHA)
    writer.add_array("general.tags", ["one", "two"])
    for place, rank in ranks.items():
        for name, shape, kind in (
            ("lora_a", (rank, INPUTS), first),
            ("lora_b", (OUTPUTS, rank), second),
        ):
            matrix = draw.standard_normal(shape).astype(np.float32)
            writer.add_tensor(f"{place}.{name}", quantize(matrix, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def maps(path: Path) -> dict[str, npt.NDArray[np.float32]]:
    """What llama.cpp adds to each weight: alpha / rank times b times a."""
    reader = GGUFReader(path)
    alpha = float(reader.fields["adapter.lora.alpha"].contents())
    found = {t.name: dequantize(t.data, t.tensor_type) for t in reader.tensors}
    places = {name.rsplit(".", 1)[0] for name in found}
    pairs = {p: (found[f"{p}.lora_a"], found[f"{p}.lora_b"]) for p in places}
    return {place: alpha / len(a) * (b @ a) for place, (a, b) in pairs.items()}


def ranks_of(path: Path) -> set[int]:
    """Of the shape of ``a`` the second number, of ``b`` the first: GGUF counts from a row's own."""
    return {int(t.shape[int(t.name.endswith(".lora_a"))]) for t in GGUFReader(path).tensors}


@pytest.mark.parametrize("rank", [1, 10, 16, 17])
@pytest.mark.parametrize("first", [GGMLQuantizationType.F16, GGMLQuantizationType.Q8_0])
@pytest.mark.parametrize("second", [GGMLQuantizationType.F16, GGMLQuantizationType.BF16])
def test_the_maps_stay_the_same(
    tmp_path: Path, rank: int, first: GGMLQuantizationType, second: GGMLQuantizationType
) -> None:
    own = write(tmp_path / "a.gguf", dict.fromkeys(PLACES, rank), first=first, second=second)
    with with_full_lanes(own) as path:
        assert (path == own) == (rank % LANES == 0)
        assert all(r % LANES == 0 for r in ranks_of(path))
        found, expected = maps(path), maps(own)
    assert set(found) == set(PLACES)
    for place in PLACES:
        np.testing.assert_allclose(found[place], expected[place], rtol=1e-5, atol=1e-5)
    assert own.exists()
    assert path == own or not path.exists()


def test_what_else_the_file_says_is_kept(tmp_path: Path) -> None:
    own = write(tmp_path / "a.gguf", dict.fromkeys(PLACES, 10))
    with with_full_lanes(own) as path:
        fields = {n: f.contents() for n, f in GGUFReader(path).fields.items() if "GGUF" not in n}
    assert fields == {
        "general.architecture": "qwen2",
        "general.type": "adapter",
        "general.tags": ["one", "two"],
        "adapter.type": "lora",
        "adapter.lora.alpha": 32.0,
    }


def test_ranks_that_differ_are_left_alone(tmp_path: Path) -> None:
    """Alpha is one for all, so it could make up for one of them only."""
    own = write(tmp_path / "a.gguf", dict(zip(PLACES, (10, 12), strict=True)))
    with with_full_lanes(own) as path:
        assert path == own


def test_the_shipped_adapters_get_full_lanes() -> None:
    shipped = list(adapter_folder().glob("*/*.gguf"))
    assert len(shipped) == 3
    for own in shipped:
        with with_full_lanes(own) as path:
            assert [rank % LANES for rank in ranks_of(path)] == [0]


def test_what_is_no_such_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "no.gguf").write_bytes(b"not a GGUF file at all, whatever its name may say")
    with pytest.raises(ValueError, match="GGUF"), with_full_lanes(tmp_path / "no.gguf"):
        pass
