"""Look for known vulnerabilities in requirements.lock, where an advisory service can be reached.

    python -m supply.audit

Exits with 1 if some are known; with 0 if none are, or nobody could be asked, which it says.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

LOCK = Path(__file__).resolve().parents[1] / "requirements.lock"

#: Seconds to wait for the service: for one package, and for all.
_PATIENCE, _ALL = "15", 300


def audit(lock: Path = LOCK) -> tuple[int, str]:
    """Exit code and what to say."""
    command = [sys.executable, "-m", "pip_audit", "--format", "json", "--timeout", _PATIENCE]
    # Every version is pinned, so pip need not resolve anything.
    try:
        done = subprocess.run(
            [*command, "--disable-pip", "--require-hashes", "--requirement", str(lock)],
            capture_output=True,
            text=True,
            check=False,
            timeout=_ALL,
        )
    except subprocess.TimeoutExpired:
        return 0, f"nothing was checked, no advisory service answered within {_ALL} seconds"
    try:
        checked = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        lines = done.stderr.strip().splitlines() or ["no reason given"]
        return 0, f"nothing was checked, no advisory service can be asked: {lines[-1]}"
    known = list(_known(checked))
    skipped = sum("vulns" not in package for package in checked)
    looked_up = len(checked) - skipped
    if not looked_up:
        return 0, f"nothing was checked, the advisory service knows none of {skipped} packages"
    summary = f"{looked_up} packages looked up, {skipped} not; {len(known)} known holes"
    return int(bool(known)), "\n".join([*known, summary])


def _known(checked: list[dict[str, object]]) -> Iterator[str]:
    for package in checked:
        found = package.get("vulns", [])
        assert isinstance(found, list)
        for one in found:
            mended = ", ".join(one["fix_versions"]) or "no version"
            yield f"{package['name']} {package['version']}: {one['id']}, mended in {mended}"


def main() -> None:
    """See the module's text."""
    code, text = audit()
    print(text)
    sys.exit(code)


if __name__ == "__main__":
    main()
