"""What a store keeps as JSON of its user's own fits: a list of entries under a schema's name."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from factcheck_local.core.errors import StoreError
from factcheck_local.core.files import write_whole

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FittedFile:
    """A file of entries in the folder of a store.

    Attributes:
        name: of the file.
        schema: what it says that it is.
        rows: name of the list in it, and of what it holds.
        hint: the command that makes it anew.
    """

    name: str
    schema: str
    rows: str
    hint: str

    def read(self, store_dir: Path, entry: Callable[[Mapping[str, Any]], T]) -> tuple[T, ...]:
        """The entries; none where there is no file.

        Args:
            store_dir: the folder of the store.
            entry: makes one of a row; a KeyError, TypeError, ValueError or OverflowError of it is
                the file's.

        Raises:
            StoreError: if the file is malformed, naming it.
        """
        path = store_dir / self.name
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return ()
        except (OSError, ValueError, RecursionError) as error:
            raise self._malformed(path, error) from error
        found = values.get("schema") if isinstance(values, Mapping) else None
        if found != self.schema:
            raise self._malformed(path, f"expected schema {self.schema}, got {found!r}")
        try:
            return tuple(entry(row) for row in values[self.rows])
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise self._malformed(path, repr(error)) from error

    def write(self, store_dir: Path, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write the file, all of it or nothing; without entries it goes."""
        path = store_dir / self.name
        if not rows:
            path.unlink(missing_ok=True)
            return
        values = {"schema": self.schema, self.rows: list(rows)}
        write_whole(path, json.dumps(values, indent=2, allow_nan=False) + "\n")

    def _malformed(self, path: Path, why: object) -> StoreError:
        return StoreError(
            f"{path}: not a file of {self.rows}: {why}", hint=f"delete it, then: {self.hint}"
        )
