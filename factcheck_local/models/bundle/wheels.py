"""Wheels of the package and of all that it needs, in the versions that are installed here."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from packaging.utils import parse_wheel_filename

from factcheck_local import __version__
from factcheck_local.core.errors import BundleError
from factcheck_local.core.installed import PACKAGE, dependencies, source_tree, versions
from factcheck_local.models.cards import sha256_of
from factcheck_local.models.pip import pip


def collect_wheels(folder: Path, extras: Sequence[str] = ()) -> None:
    """Have pip put a wheel of everything into a folder; what has none is built.

    Args:
        folder: where to.
        extras: of the package, whose libraries come along.

    Raises:
        BundleError: if a library is missing here, or of a version that does not do.
        ModelError: if pip cannot get one of them.
    """
    needed = dependencies(extras=extras)
    for one in needed:
        if not one.is_met:
            raise BundleError(
                f"{one.wanted_by} needs {one.name}{one.specifier}, "
                f"{one.version or 'nothing'} is installed",
                hint="factcheck doctor",
            )
    wanted = [f"{name}=={version}" for name, version in versions(needed).items()]
    pip("wheel", "--no-deps", "--wheel-dir", str(folder), own_requirement(), *wanted)


def own_requirement() -> str:
    """By what pip finds this very package: its checkout, the file it was installed from, its name.

    Under its name it has to be in an index, or in a folder that PIP_FIND_LINKS names.
    """
    if (root := source_tree()) is not None:
        return str(root)
    # https://packaging.python.org/en/latest/specifications/direct-url/
    origin = json.loads(metadata.distribution(PACKAGE).read_text("direct_url.json") or "{}")
    parts = urlsplit(origin.get("url", ""))
    path = Path(url2pathname(parts.path))
    if parts.scheme == "file" and path.exists():
        return str(path)
    return f"{PACKAGE}=={__version__}"


def hashed_requirements(folder: Path) -> str:
    """What ``pip install --require-hashes`` reads, of all wheels in a folder."""
    return "".join(_lines(sorted(folder.glob("*.whl"))))


def _lines(wheels: Iterable[Path]) -> Iterable[str]:
    for wheel in wheels:
        name, version, _, _ = parse_wheel_filename(wheel.name)
        yield f"{name}=={version} --hash=sha256:{sha256_of(wheel)}\n"
