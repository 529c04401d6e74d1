"""Look for known vulnerabilities in requirements.lock, where an advisory service can be reached.

    python -m supply.audit

Exits with 1 if some are known; with 0 if none are, or nobody could be asked, which it says.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

LOCK = Path(__file__).resolve().parents[1] / "requirements.lock"

#: Seconds to wait for the service: for one package, and for all.
_PATIENCE, _ALL = "15", 300


def audit(lock: Path = LOCK) -> tuple[int, str]:
    """Exit code and what to say."""
    command = [sys.executable, "-m", "pip_audit", "--format", "json", "--timeout", _PATIENCE]
    # No service knows a build by its local version: torch's 2.13.0+cpu would be passed over.
    public = re.sub(r"^(\S+==[^\s+]+)\+\S+", r"\1", lock.read_text("utf-8"), flags=re.MULTILINE)
    # Every version is pinned, so pip need not resolve anything.
    try:
        with tempfile.TemporaryDirectory() as folder:
            asked = Path(folder) / lock.name
            asked.write_text(public, encoding="utf-8")
            done = subprocess.run(
                [*command, "--disable-pip", "--require-hashes", "--requirement", str(asked)],
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
    skipped = [str(package["name"]) for package in checked if "vulns" not in package]
    looked_up = len(checked) - len(skipped)
    if not looked_up:
        return 0, f"nothing was checked, the advisory service knows none of {len(skipped)} packages"
    names = f" ({', '.join(skipped)})" if skipped else ""
    summary = f"{looked_up} packages looked up, {len(skipped)} not{names}"
    summary += f"; {len(known)} known holes"
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
