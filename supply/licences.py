"""Write docs/LICENSES.md: the licence of every library that the package needs.

    python -m supply.licences          writes it
    python -m supply.licences --check  exits with 1 if it is not what would be written

Libraries of the extras (ocr, dev, …) are not in it: who installs the package does not
get them.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from factcheck_local.core.installed import dependencies, versions
from factcheck_local.models.cards import load_cards

PAGE = Path(__file__).resolve().parents[1] / "docs/LICENSES.md"

_HEAD = """\
# Licences

Written by `make licences` (pip-licenses), and tested to be what that writes.

factcheck-local is under Apache-2.0, see [LICENSE](../LICENSE). It needs these libraries, in the
versions of `constraints.txt`:

"""

_MODELS = """
## Models

Their weights are fetched by `factcheck models pull`, but for those that come with the package:

| Model | Licence |
|-------|---------|
"""


def page() -> str:
    """The page as it should be, from what is installed here.

    Raises:
        CalledProcessError: if pip-licenses fails.
    """
    command = [sys.executable, "-m", "piplicenses", "--from=mixed", "--format=markdown"]
    found = subprocess.run(
        [*command, "--with-system", "--with-urls", "--packages", *versions(dependencies())],
        capture_output=True,
        text=True,
        check=True,
    )
    models = "".join(
        f"| {card.title} | {card.licence} |\n"
        for card in load_cards().values()
        if card.location is None or card.is_shipped
    )
    return f"{_HEAD}{found.stdout.strip()}\n{_MODELS}{models}"


def main() -> None:
    """See the module's text."""
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(page(), encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != page():
        sys.exit(f"{PAGE.name} is not what is installed; write it anew: make licences")


if __name__ == "__main__":
    main()
