"""Prompts as data: one TOML file each, versioned, with its examples.

A prompt's ``user`` and ``ending`` are Jinja2 templates. ``ending`` is the part
of the last turn that differs between items sharing the rest; it is empty
where nothing is shared. Changing a file's wording means raising its version,
since calibration and caches are kept by ``Prompt.id``.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined, Template

from factcheck_local.models.contracts import Message

# Autoescape is for HTML; these are prompts, and content must stay as written.
_ENVIRONMENT = Environment(
    undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
)


@dataclass(frozen=True)
class Prompt:
    """A prompt ready to be filled.

    Attributes:
        name: the file's name.
        version: raised with every change of wording.
        sha256: hash of the file, for a run's record.
        examples: solved turns, put in front as a chat.
    """

    name: str
    version: int
    sha256: str
    system: str
    user: str
    ending: str
    examples: tuple[Mapping[str, Any], ...]

    @property
    def id(self) -> str:
        """Name and version, such as ``relate-v1``."""
        return f"{self.name}-v{self.version}"

    def described(self) -> dict[str, str]:
        """Id and sha256, for a run's record."""
        return {"id": self.id, "sha256": self.sha256}

    def opening(self, **values: object) -> list[Message]:
        """Instructions, examples, and the shared part of the last turn."""
        messages = [Message("system", self.system.strip(), fixed=True)]
        for example in self.examples:
            # An example leaves out what it has not; a misspelt name still fails.
            filled = dict.fromkeys(values) | dict(example)
            turn = _render(self.user, filled) + _render(self.ending, filled)
            reply = str(example["reply"]).strip()
            messages += [Message("user", turn, fixed=True), Message("assistant", reply, fixed=True)]
        return [*messages, Message("user", _render(self.user, values))]

    def close(self, **values: object) -> str:
        """The part of the last turn that is one item's own."""
        return _render(self.ending, values)


@cache
def load_prompt(name: str) -> Prompt:
    """Read a prompt of the package by its file's name, without the suffix."""
    raw = (resources.files(__name__) / f"{name}.toml").read_bytes()
    data = tomllib.loads(raw.decode("utf-8"))
    return Prompt(
        name=data.get("name", name),
        version=data["version"],
        sha256=hashlib.sha256(raw).hexdigest(),
        system=data["system"],
        user=data["user"],
        ending=data.get("ending", ""),
        examples=tuple(data.get("examples", ())),
    )


def finished(opening: Sequence[Message], ending: str) -> list[Message]:
    """A chat to be replied to: what ``opening`` gives, with what ``close`` gives at its end."""
    return [*opening[:-1], replace(opening[-1], content=opening[-1].content + ending)]


def prompt_names() -> list[str]:
    """The names of the package's prompts, sorted."""
    files = (Path(file.name) for file in resources.files(__name__).iterdir())
    return sorted(file.stem for file in files if file.suffix == ".toml")


def _render(template: str, values: Mapping[str, Any]) -> str:
    return _compiled(template).render(values)


@cache
def _compiled(template: str) -> Template:
    return _ENVIRONMENT.from_string(template)
