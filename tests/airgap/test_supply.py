"""Pins, hashes, licences and the audit: each agrees with the others, and none needs a network."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from factcheck_local.core import installed
from factcheck_local.core.installed import dependencies, requirements, versions
from supply import audit, licences

ROOT = Path(__file__).resolve().parents[2]

PINNED: dict[str, str] = {
    str(canonicalize_name(line.partition("==")[0])): line.partition("==")[2]
    for line in (ROOT / "constraints.txt").read_text().splitlines()
    if not line.startswith("#")
}


def locked() -> dict[str, tuple[str, list[str]]]:
    """Name -> version without its local part, and hashes, of every requirement of the lock."""
    text = (ROOT / "requirements.lock").read_text().replace("\\\n", " ")
    found: dict[str, tuple[str, list[str]]] = {}
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        pin, *options = line.split(" --hash=")
        needed = Requirement(pin)
        (specifier,) = needed.specifier
        assert specifier.operator == "==", line
        hashes = [option.strip() for option in options]
        found[canonicalize_name(needed.name)] = (specifier.version.partition("+")[0], hashes)
    return found


@pytest.mark.parametrize(
    "stated",
    ['[project]\nname = "other"\ndependencies = ["none-such"]\n', "[tool.x]\n", "not TOML"],
)
def test_a_project_file_of_others_beside_the_package_makes_no_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stated: str
) -> None:
    monkeypatch.setattr(installed, "__file__", str(tmp_path / "factcheck_local/core/installed.py"))
    (tmp_path / "pyproject.toml").write_text(stated)
    assert installed.source_tree() is None
    assert requirements()  # those of the installed distribution


def test_every_requirement_of_the_lock_has_a_hash_and_the_version_of_the_constraints() -> None:
    lock = locked()
    for name, (version, hashes) in lock.items():
        assert version == PINNED[name], name
        assert hashes, name
        assert all(re.fullmatch("sha256:[0-9a-f]{64}", text) for text in hashes), name
    needed = {canonicalize_name(Requirement(text).name) for text in requirements()}
    assert needed <= set(lock)


def test_the_lock_is_all_that_the_package_needs() -> None:
    """As installed here, which is what `make venv` installs."""
    needed = versions(dependencies())
    assert set(needed) - set(locked()) == set()
    assert needed.keys() <= PINNED.keys()


def test_the_licences_are_those_of_what_is_installed() -> None:
    installed = versions(dependencies())
    differ = {n for n, v in installed.items() if PINNED[n] != v.partition("+")[0]}
    if differ:
        pytest.skip(f"other versions than those of constraints.txt are installed: {min(differ)}")
    assert licences.PAGE.read_text(encoding="utf-8") == licences.page(), "make licences"


def test_every_library_has_a_licence() -> None:
    rows = re.findall(r"^\| (.*) \|$", licences.PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    cells = [[cell.strip() for cell in row.split("|")] for row in rows]
    assert len(cells) > 100
    assert [cell for cell in cells if "UNKNOWN" in cell[2:3]] == []


# ---------------------------------------------------------------------- the audit


def answer(
    monkeypatch: pytest.MonkeyPatch, out: str, err: str = "", code: int = 0
) -> tuple[int, str]:
    """What is made of a reply of pip-audit."""
    done = subprocess.CompletedProcess([], code, out, err)
    monkeypatch.setattr(subprocess, "run", lambda *_command, **_options: done)
    return audit.audit(ROOT / "requirements.lock")


def test_what_the_audit_makes_of_a_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    well = {"name": "a", "version": "1", "vulns": []}
    hole = {"id": "PYSEC-1", "fix_versions": ["1.1", "2.0"], "aliases": [], "description": ""}
    ill = {"name": "b", "version": "1.0", "vulns": [hole, hole | {"id": "X", "fix_versions": []}]}
    skipped = {"name": "c", "skip_reason": "not on PyPI"}
    assert answer(monkeypatch, json.dumps({"dependencies": [well, skipped]})) == (
        *(0, "1 packages looked up, 1 not (c); 0 known holes"),
    )
    assert answer(monkeypatch, json.dumps({"dependencies": [skipped]})) == (
        *(0, "nothing was checked, the advisory service knows none of 1 packages"),
    )
    code, text = answer(monkeypatch, json.dumps({"dependencies": [well, ill]}), code=1)
    assert code == 1
    assert text.splitlines() == [
        "b 1.0: PYSEC-1, mended in 1.1, 2.0",
        "b 1.0: X, mended in no version",
        "2 packages looked up, 0 not; 2 known holes",
    ]


def test_every_package_is_asked_for_by_a_version_that_the_service_knows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of torch's build for CPUs it would know nothing."""
    asked: dict[str, str] = {}

    def run(command: list[str], **_options: object) -> subprocess.CompletedProcess[str]:
        text = Path(command[command.index("--requirement") + 1]).read_text()
        asked.update(re.findall(r"^([^\s=]+)==(\S+)", text, re.MULTILINE))
        return subprocess.CompletedProcess(command, 0, json.dumps({"dependencies": []}), "")

    monkeypatch.setattr(subprocess, "run", run)
    audit.audit(ROOT / "requirements.lock")
    assert {canonicalize_name(name) for name in asked} == set(locked())
    assert [version for version in asked.values() if "+" in version] == []


def test_an_audit_without_a_network_checks_nothing_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    code, text = answer(monkeypatch, "", "WARNING\nERROR:pip_audit: ConnectionError: box", 1)
    assert code == 0
    assert text.startswith("nothing was checked")
    assert text.endswith("ConnectionError: box")
