"""Writes models, and wheels if wanted, into a bundle."""

from __future__ import annotations

import io
import os
import shutil
import sys
import sysconfig
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

from factcheck_local import __version__
from factcheck_local.core.errors import BundleError
from factcheck_local.core.progress import ByteProgress, silent
from factcheck_local.models.bundle.manifest import (
    MANIFEST,
    README,
    REQUIREMENTS,
    WHEELS,
    BundleManifest,
    digest,
    member_name,
)
from factcheck_local.models.bundle.wheels import collect_wheels, hashed_requirements
from factcheck_local.models.cards import ModelCard, ModelFile, describe_files

_README = """\
Models, and the package with all that it needs, for a machine without a network.

{wheels}With factcheck installed:

  factcheck models import {bundle}

It checks every file against {manifest} before it is used, and tells the hash of that,
which factcheck models export has told, too. Without factcheck:

  tar -xOf {bundle} {manifest} | sha256sum
"""

#: How the wheels of a bundle are installed.
INSTALL = """\
Without factcheck, for Python {python} on {platform}:

  tar -xf {bundle} {wheels} {requirements}
  python3 -m venv factcheck
  factcheck/bin/pip install --no-index --find-links {wheels} --require-hashes -r {requirements}

On Windows it is python instead of python3, and factcheck\\Scripts\\ instead of factcheck/bin/.

"""


def export_bundle(
    cards: Sequence[ModelCard],
    target: Path,
    *,
    with_wheels: bool = False,
    extras: Sequence[str] = (),
    progress: ByteProgress = silent,
) -> tuple[BundleManifest, str]:
    """Write a bundle; the file appears whole or not at all.

    Args:
        cards: models with files that are here.
        target: the tar.
        with_wheels: whether the package and what it needs, in the versions that are
            installed here, are added; pip fetches or builds them.
        extras: of the package, whose libraries come along with the wheels.
        progress: called with the bytes that were newly written.

    Returns:
        What it holds, and the hash of its manifest.

    Raises:
        BundleError: if it does not fit on the disk.
        ModelError: if a model is not here, or pip cannot get a wheel.
        ChecksumError: if a model's file is not the one that its card names.
        OSError: if it cannot be written.
    """
    for card in cards:
        if not card.files:
            raise BundleError(f"model {card.id} is on a server, {card.server}: it has no files")
        card.check()
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        scratch = Path(folder)
        others = _write_others(scratch, target.name, with_wheels, extras)
        manifest = BundleManifest(__version__, tuple(cards), others)
        sources = {file.path: scratch / file.path for file in others}
        sources |= {member_name(c, f): c.folder / f.path for c in cards for f in c.files}
        _check_space(target, sum(file.size for file in manifest.members().values()))
        partial = scratch / "bundle"
        with tarfile.open(partial, "w", format=tarfile.PAX_FORMAT) as tar:
            data = manifest.to_json()
            _add(tar, MANIFEST, len(data), io.BytesIO(data), progress)
            for name, file in manifest.members().items():
                with sources[name].open("rb") as source:
                    _add(tar, name, file.size, source, progress)
        os.replace(partial, target)
    return manifest, digest(data)


def _write_others(
    folder: Path, bundle: str, with_wheels: bool, extras: Sequence[str]
) -> tuple[ModelFile, ...]:
    """Put what stands in a bundle beside models into a folder, and describe it."""
    install = ""
    if with_wheels:
        (folder / WHEELS).mkdir()
        collect_wheels(folder / WHEELS, extras)
        (folder / REQUIREMENTS).write_text(hashed_requirements(folder / WHEELS), encoding="utf-8")
        install = INSTALL.format(
            python=f"{sys.version_info.major}.{sys.version_info.minor}",
            platform=sysconfig.get_platform(),
            bundle=bundle,
            wheels=WHEELS,
            requirements=REQUIREMENTS,
        )
    text = _README.format(wheels=install, bundle=bundle, manifest=MANIFEST)
    (folder / README).write_text(text, encoding="utf-8")
    return describe_files(folder, (p for p in folder.rglob("*") if p.is_file()))


def _check_space(target: Path, needed: int) -> None:
    free = shutil.disk_usage(target.parent).free
    if free < needed:
        raise BundleError(
            f"{target}: needs {needed / 1e9:.1f} GB, {free / 1e9:.1f} GB are free there"
        )


class _Counted(io.RawIOBase):
    """A file that tells what is read of it."""

    def __init__(self, file: io.BufferedIOBase | io.BytesIO, progress: ByteProgress) -> None:
        self._file = file
        self._progress = progress

    def read(self, size: int = -1, /) -> bytes:
        data = self._file.read(size)
        self._progress(len(data))
        return data


def _add(
    tar: tarfile.TarFile,
    name: str,
    size: int,
    source: io.BufferedIOBase | io.BytesIO,
    progress: ByteProgress,
) -> None:
    """Add a member that tells nothing of this machine: no owner, no time."""
    info = tarfile.TarInfo(name)
    info.size = size
    info.mode = 0o644
    tar.addfile(info, _Counted(source, progress))
