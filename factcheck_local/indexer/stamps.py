"""What is known of a file before and after it is read, as a record."""

from __future__ import annotations

import errno
import hashlib
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from stat import S_ISREG
from textwrap import shorten
from typing import Any

from factcheck_local.core.text.language import MODELS_READ, foreign
from factcheck_local.indexer.loaders.text import first_of, printable
from factcheck_local.indexer.manifest import SourceRecord
from factcheck_local.indexer.survey import Root

#: A file changed this recently may change again within the same time stamp.
RACY_NS = 2_000_000_000

#: Characters of a note on what a loader left out of a document.
MAX_NOTE = 1000

_DAY_NS = 86_400_000_000_000


def stamped(source: str, root: Root, path: Path, known: SourceRecord | None) -> SourceRecord:
    """The file's record by its size, time stamp and, where it is known, its hash.

    Raises:
        OSError: if the file cannot be read.
    """
    stat = path.stat()
    if not S_ISREG(stat.st_mode):  # a pipe would keep us waiting
        raise OSError(errno.EINVAL, "not a regular file")
    # Where systems set all stamps to 0, none tells of a change.
    trusted = 0 < stat.st_mtime_ns < time.time_ns() - RACY_NS
    mtime_ns = stat.st_mtime_ns if trusted else 0
    if known is not None and trusted and (known.size, known.mtime_ns) == (stat.st_size, mtime_ns):
        return known
    modified = _day(stat.st_mtime_ns).isoformat()
    if known is not None:
        with path.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        if known.sha256 == sha256:
            return replace(known, size=stat.st_size, mtime_ns=mtime_ns, modified=modified)
    return SourceRecord(
        source=source,
        root=root.label,
        name=root.name(path),
        sha256="",
        size=stat.st_size,
        mtime_ns=mtime_ns,
        modified=modified,
        prior=0.0,
        prior_rule="",
    )


def _day(mtime_ns: int) -> date:
    """The day of a time stamp; of one that no calendar has, the nearest that it has."""
    try:
        return date(1970, 1, 1) + timedelta(days=mtime_ns // _DAY_NS)
    except OverflowError:
        return date.max if mtime_ns > 0 else date.min


def note_on(metadata: Mapping[str, Any], passages: Iterable[str] = ()) -> str | None:
    """What a reader should know of how a document was read, and of its passages' language."""
    notes = []
    if pages := found_by_loader(metadata, "pages_without_text"):
        notes.append(f"no text on page {first_of(pages)}: scanned?")
    if pages := found_by_loader(metadata, "ocr_pages"):
        notes.append(f"read by OCR: page {first_of(pages)}")
    if left_out := found_by_loader(metadata, "left_out"):
        notes.append(shorten("; ".join(map(str, left_out)), MAX_NOTE, placeholder=" \u2026"))
    if language := foreign("\n".join(passages)):
        notes.append(f"in another language ({language}): {MODELS_READ}")
    return printable("; ".join(notes)) or None


def found_by_loader(metadata: Mapping[str, Any], key: str) -> Sequence[object]:
    """What a loader found out under a key, a tuple; no document can state one, only lists."""
    value = metadata.get(key)
    return value if isinstance(value, tuple) else ()
