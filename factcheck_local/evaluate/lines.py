"""Results as JSON lines by key, so that a run that was killed goes on where it was."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from factcheck_local.evaluate.collection import canonical
from factcheck_local.pipeline.run import prompts_here

FILE = "items.jsonl"

PACKAGE = Path(__file__).parents[1]

#: What a line is made by: the rooms that a verdict is made in, and what makes a line of it.
_MADE_BY = (
    *("core", "metrics", "markov", "models", "indexer", "pipeline"),
    *("evaluate/runner.py", "evaluate/atoms.py", "evaluate/factor.py"),
)


class Results:
    """The lines of a folder's ``items.jsonl``.

    Args:
        folder: made where it is not there.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / FILE
        self._known = dict(read(self._path))

    def __contains__(self, key: str) -> bool:
        return key in self._known

    def get(self, key: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The line of a key; made, and on disk when this returns, where it is not there."""
        if key not in self._known:
            self.keep(key, make())
        return self._known[key]

    def keep(self, key: str, line: dict[str, Any]) -> None:
        """Put the line of a key on disk."""
        self._known[key] = line
        # A run that was killed may have left a torn line behind; this one begins a new one.
        torn = self._path.is_file() and self._path.read_bytes()[-1:] not in (b"", b"\n")
        with self._path.open("a", encoding="utf-8") as lines:
            lines.write("\n" * torn + json.dumps({"key": key, **line}) + "\n")


def key_of(parts: Mapping[str, object]) -> str:
    """A hash over all that a line depends on, the package's prompts and code included.

    What the LLM said is kept elsewhere, so that other code makes lines anew without asking again.
    """
    whole = {**parts, "prompts": prompts_digest(), "sources": sources_digest()}
    return hashlib.sha256(canonical(whole).encode("utf-8")).hexdigest()[:32]


def prompts_digest() -> str:
    """Sha256 over all prompts of the package."""
    return hashlib.sha256(canonical(prompts_here()).encode("utf-8")).hexdigest()


@cache
def sources_digest(package: Path = PACKAGE) -> str:
    """Sha256 over the package's code and cards that lines are made by, as first asked for."""
    found = hashlib.sha256()
    for part in _MADE_BY:
        place = package / part
        code = (file for file in place.rglob("*") if file.suffix in (".py", ".toml"))
        for file in [place] if place.suffix else sorted(code):
            text = file.read_bytes()
            found.update(f"{file.relative_to(package).as_posix()} {len(text)}\n".encode() + text)
    return found.hexdigest()


def read(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The lines of a file, each with its key; none where it is not there."""
    if not path.is_file():
        return
    for line in path.read_text(encoding="utf-8").split("\n"):
        try:
            row = json.loads(line)
            key = row.pop("key")
        except (ValueError, KeyError, AttributeError):
            continue  # torn: made again
        yield key, row
