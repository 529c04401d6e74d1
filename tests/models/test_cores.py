"""How many threads are worth it: cores, and what a container's quota leaves of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from factcheck_local.models import cores
from factcheck_local.models.cores import available_cores

from .helpers import write

V1 = "cpu.cfs_quota_us", "cpu.cfs_period_us"


@pytest.mark.parametrize(
    ("own", "files", "expected"),
    [
        ("0::/", {"cpu.max": "200000 100000"}, 2),
        ("0::/", {"cpu.max": "150000 100000"}, 2),
        ("0::/", {"cpu.max": "10000 100000"}, 1),
        ("0::/", {"cpu.max": "max 100000"}, 8),
        ("0::/", {"cpu.max": "9900000 100000"}, 8),
        ("0::/pod/one", {"pod/one/cpu.max": "300000 100000"}, 3),
        ("0::/pod/one", {"pod/cpu.max": "100000 50000", "pod/one/cpu.max": "max 100000"}, 2),
        ("0::/of/the/host", {"cpu.max": "300000 100000"}, 3),
        ("5:cpu,cpuacct:/a", {f"cpu/a/{V1[0]}": "250000", f"cpu/a/{V1[1]}": "100000"}, 3),
        ("5:cpu:/a\n0::/", {f"cpu/{V1[0]}": "-1", f"cpu/{V1[1]}": "100000"}, 8),
        ("4:cpuset:/a", {"cpuset/a/cpu.max": "100000 100000"}, 8),
        ("0::/", {"cpu.max": ""}, 8),
        ("0::/", {"cpu.max": "1 0"}, 8),
        ("0::/", {"cpu.max": "\xff"}, 8),
        ("what", {"cpu.max": "soon"}, 8),
        ("0::/", {}, 8),
        (None, {"cpu.max": "100000 100000"}, 8),
    ],
)
def test_a_quota_limits_the_threads(
    own: str | None,
    files: dict[str, str],
    expected: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(8), raising=False)
    monkeypatch.setattr(cores, "OWN_GROUPS", tmp_path / "own")
    monkeypatch.setattr(cores, "GROUPS", tmp_path / "groups")
    write(tmp_path / "groups", {name: text.encode("latin-1") for name, text in files.items()})
    if own is not None:
        (tmp_path / "own").write_text(f"{own}\n")
    assert available_cores() == expected
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert available_cores() == 1
