"""Adapters: what makes a general LLM a specialist for one prompt, beside its unchanged weights.

A low-rank adapter (LoRA, Hu et al. 2021) is a GGUF file of some 20 MB that ships with the
package. The card of the model that it was trained on names it by the prompt that it was
trained with:

    [adapters.relate-v2]
    file = "qwen2.5-coder-1.5b/relate-v2.gguf"
    sha256 = "..."
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path, PurePosixPath
from typing import Any, Self

#: Digits of a hash that name an adapter: enough to tell those of one model apart.
SHORT = 8


@dataclass(frozen=True, slots=True)
class Adapter:
    """An adapter's file.

    Attributes:
        path: the file.
        sha256: what it has to hash to.
    """

    path: Path
    sha256: str

    @classmethod
    def from_values(cls, values: object) -> Self:
        """The adapter of a card's table ``{file, sha256}``.

        Raises:
            ValueError: if the table is malformed.
        """
        if not isinstance(values, Mapping) or set(values) != {"file", "sha256"}:
            raise ValueError(f"an adapter: expected a file and a sha256, got {values!r}")
        if not is_below(values["file"]):
            raise ValueError(f"adapter {values['file']!r}: expected a path below its folder")
        return cls(adapter_folder() / values["file"], str(values["sha256"]))

    def as_table(self) -> dict[str, str]:
        """What ``from_values`` makes it of again."""
        return {"file": self.path.relative_to(adapter_folder()).as_posix(), "sha256": self.sha256}

    @property
    def name(self) -> str:
        """What names it in a scorer's id, as ``adapter-1a2b3c4d``."""
        return f"adapter-{self.sha256[:SHORT]}"


def is_below(path: object) -> bool:
    """Whether a card's path of a file stays below the folder that it belongs to."""
    if not isinstance(path, str):
        return False
    return not PurePosixPath(path).is_absolute() and ".." not in PurePosixPath(path).parts


def adapter_folder() -> Path:
    """Where the package's adapters are."""
    return Path(str(resources.files("factcheck_local.models"))) / "weights"


def adapters_of(tables: Mapping[str, Any]) -> dict[str, Adapter]:
    """A card's adapters, by the id of the prompt that each is for.

    Raises:
        ValueError: if a table is malformed.
    """
    return {prompt: Adapter.from_values(values) for prompt, values in tables.items()}
