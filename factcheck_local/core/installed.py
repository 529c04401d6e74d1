"""What is installed of the libraries that this package needs."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PACKAGE = "factcheck-local"


@dataclass(frozen=True, slots=True)
class Dependency:
    """A distribution that another one needs here.

    Attributes:
        name: in its canonical spelling.
        specifier: the versions that are accepted, such as ``>=2.9``.
        version: what is installed; None for nothing.
        wanted_by: the one that needs it.
    """

    name: str
    specifier: str
    version: str | None
    wanted_by: str

    @property
    def is_met(self) -> bool:
        """Whether a version is installed that is accepted."""
        wanted = Requirement(self.name + self.specifier).specifier
        return self.version is not None and wanted.contains(self.version, prereleases=True)


def source_tree() -> Path | None:
    """The checkout that this package runs from; None for an installed one."""
    root = Path(__file__).resolve().parents[2]
    return root if _project(root).get("name") == PACKAGE else None


def _project(root: Path) -> dict[str, Any]:
    """What a folder's pyproject.toml says of its project; empty without one that can be read."""
    try:
        stated = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):  # what others leave beside installed packages may be anything
        return {}
    project: dict[str, Any] = stated.get("project", {})
    return project


def requirements(package: str = PACKAGE, extras: Iterable[str] = ()) -> tuple[str, ...]:
    """What a distribution says that it needs; the package's own also from a checkout.

    Args:
        package: the distribution.
        extras: of a checkout, what they need, too; of an installed one it is there, marked.

    Raises:
        PackageNotFoundError: if it is not installed.
    """
    if package == PACKAGE and (root := source_tree()) is not None:
        project = _project(root)
        optional = project["optional-dependencies"]
        return (*project["dependencies"], *(one for e in extras for one in optional.get(e, ())))
    return tuple(metadata.requires(package) or ())


def dependencies(package: str = PACKAGE, extras: Iterable[str] = ()) -> tuple[Dependency, ...]:
    """Everything that a distribution needs in this environment, directly or not, by name.

    A distribution that several need is there once for each.

    Args:
        package: the distribution.
        extras: of its own; what they need is among it.
    """
    waiting = [(str(canonicalize_name(package)), frozenset(extras))]
    seen: set[tuple[str, frozenset[str]]] = set()
    found: list[Dependency] = []
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        for needed in _needed(*one):
            version = _version(needed.name)
            found.append(
                Dependency(
                    canonicalize_name(needed.name), str(needed.specifier), version, wanted_by=one[0]
                )
            )
            if version is not None:
                waiting.append((canonicalize_name(needed.name), frozenset(needed.extras)))
    return tuple(sorted(set(found), key=lambda d: (d.name, d.wanted_by, d.specifier)))


def versions(needed: Iterable[Dependency]) -> dict[str, str]:
    """Name -> version of those that are installed."""
    return {d.name: d.version for d in needed if d.version is not None}


def _needed(name: str, extras: frozenset[str]) -> Iterator[Requirement]:
    """What applies here of a distribution's requirements."""
    for text in requirements(name, extras):
        needed = Requirement(text)
        marker = needed.marker
        if marker is None or any(marker.evaluate({"extra": e}) for e in (extras or {""})):
            yield needed


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
