"""Takes models out of a bundle, each file checked before it is in its place.

A bundle may come from anywhere. A file's place follows from the model's card, never from
the tar; a member is taken if the manifest names it, and is a plain file of that size.
"""

from __future__ import annotations

import hashlib
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO

from factcheck_local.core.errors import BundleError, ChecksumError
from factcheck_local.core.progress import ByteProgress, silent
from factcheck_local.models.add import write_card
from factcheck_local.models.bundle.manifest import (
    MANIFEST,
    BundleManifest,
    digest,
    member_name,
    parse,
)
from factcheck_local.models.cards import (
    HASH_BLOCK,
    ModelCard,
    ModelFile,
    data_directory,
    load_cards,
    sha256_of,
)

#: Longer than any manifest; read before anything is known of the bundle.
_MOST_MANIFEST = 16_000_000


def import_bundle(
    source: Path, *, progress: ByteProgress = silent
) -> tuple[tuple[ModelCard, ...], str]:
    """Put the models of a bundle into the data directory.

    A file that is there already and right is not read again, so that an import that was
    interrupted goes on where it stopped. A file appears whole and checked, or not at all,
    and a model that this version does not know gets its card last.

    Returns:
        The models, and the hash of the bundle's manifest.

    Raises:
        BundleError: if it is no bundle, cut off, holds what it should not, does not fit on
            the disk, or has a model whose name stands for another one here.
        ChecksumError: if a file is not the one that the manifest names.
    """
    with _failures(source), tarfile.open(source, "r:") as tar:
        members = iter(tar)
        data = _manifest(tar, next(members, None), source)
        manifest = parse(data, source)
        known = load_cards()
        cards = tuple(_here(card, known, source) for card in manifest.cards)
        missing = dict(_missing(cards))
        _check_space(missing, source)
        _take(tar, members, manifest, missing, source, progress)
    for card in cards:
        if card.id not in known:
            write_card(card)
    return cards, digest(data)


@contextmanager
def _failures(source: Path) -> Iterator[None]:
    try:
        yield
    # A ValueError of a number in a header that is none.
    except (tarfile.TarError, EOFError, ValueError) as error:
        raise BundleError(f"{source}: cut off, or not a bundle: {error}") from error


def _manifest(tar: tarfile.TarFile, first: tarfile.TarInfo | None, source: Path) -> bytes:
    if first is None or first.name != MANIFEST or first.type != tarfile.REGTYPE:
        raise BundleError(f"{source}: not a bundle: it does not begin with {MANIFEST}")
    if first.size > _MOST_MANIFEST:
        raise BundleError(f"{source}: its {MANIFEST} has {first.size} bytes")
    return _open(tar, first).read()


def _open(tar: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    opened = tar.extractfile(member)
    if opened is None:
        raise BundleError(f"{member.name!r} is not a file")
    return opened


def _here(card: ModelCard, known: dict[str, ModelCard], source: Path) -> ModelCard:
    """The card by which a model is known here; its own, if it is not."""
    if card.id not in known:
        return replace(card, location=None)
    here = known[card.id]
    if sorted(here.files, key=str) != sorted(card.files, key=str):
        raise BundleError(f"{source}: its {card.id} is not the model that has this name here")
    return here


def _missing(cards: tuple[ModelCard, ...]) -> Iterator[tuple[str, tuple[Path, ModelFile]]]:
    """Member -> place and description of each file that is not here, or is not right."""
    for card in cards:
        for file in card.files:
            path = card.folder / file.path
            size = path.stat().st_size if path.is_file() else None
            if size != file.size or sha256_of(path) != file.sha256:
                yield member_name(card, file), (path, file)


def _check_space(missing: dict[str, tuple[Path, ModelFile]], source: Path) -> None:
    folder = data_directory()
    folder.mkdir(parents=True, exist_ok=True)
    needed, free = sum(file.size for _, file in missing.values()), shutil.disk_usage(folder).free
    if free < needed:
        raise BundleError(
            f"{source}: its models need {needed / 1e9:.1f} GB, {free / 1e9:.1f} GB are free "
            f"in {folder}",
            hint="FACTCHECK_HOME=FOLDER on a larger disk",
        )


def _take(
    tar: tarfile.TarFile,
    members: Iterator[tarfile.TarInfo],
    manifest: BundleManifest,
    missing: dict[str, tuple[Path, ModelFile]],
    source: Path,
    progress: ByteProgress,
) -> None:
    """Go through a bundle once, and write the files that are missing."""
    expected = manifest.members()
    for member in members:
        file = expected.pop(member.name, None)
        if file is None:
            raise BundleError(f"{source}: holds {member.name!r}, which its {MANIFEST} does not")
        if member.type != tarfile.REGTYPE or member.size != file.size:
            raise BundleError(f"{source}: {member.name!r} is not a file of {file.size} bytes")
        if member.name in missing:
            path, _ = missing[member.name]
            _write(_open(tar, member), path, file, source, progress)
        else:
            progress(file.size)
    if expected:
        raise BundleError(f"{source}: is cut off, {min(expected)!r} is missing")


def _write(
    content: IO[bytes], path: Path, file: ModelFile, source: Path, progress: ByteProgress
) -> None:
    """Write one file beside its place, and move it there if it is the right one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    found = hashlib.sha256()
    try:
        with partial.open("wb") as out:
            while block := content.read(HASH_BLOCK):
                found.update(block)
                out.write(block)
                progress(len(block))
        if found.hexdigest() != file.sha256:
            raise ChecksumError(f"{source}: {file.path} is not the file that its card names")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
