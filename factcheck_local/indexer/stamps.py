"""What is known of a file before and after it is read, as a record."""

from __future__ import annotations

import errno
import hashlib
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from stat import S_ISREG
from typing import Any

from factcheck_local.core.text.language import MODELS_READ, foreign
from factcheck_local.indexer.loaders.text import first_of
from factcheck_local.indexer.manifest import SourceRecord
from factcheck_local.indexer.survey import Root

#: A file changed this recently may change again within the same time stamp.
RACY_NS = 2_000_000_000


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
    modified = datetime.fromtimestamp(stat.st_mtime, UTC).date().isoformat()
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


#: Of pages in a document's note.
WITHOUT_TEXT = "no text on page"


def note_on(metadata: Mapping[str, Any], passages: Iterable[str] = ()) -> str | None:
    """What a reader should know of how a document was read, and of its passages' language."""
    notes = [str(entry) for entry in listed(metadata, "left_out")]
    if language := foreign("\n".join(passages)):
        notes.append(f"in another language ({language}): {MODELS_READ}")
    if pages := listed(metadata, "ocr_pages"):
        notes.insert(0, f"read by OCR: page {first_of(pages)}")
    if pages := listed(metadata, "pages_without_text"):
        notes.insert(0, f"{WITHOUT_TEXT} {first_of(pages)}: scanned?")
    return "; ".join(notes) or None


def listed(metadata: Mapping[str, Any], key: str) -> Sequence[object]:
    """What a loader lists under a key; empty where a document's front matter has something else."""
    value = metadata.get(key)
    return value if isinstance(value, list | tuple) else ()


def stated_text(value: object) -> str | None:
    """A metadata value as written; None where it is absent or empty."""
    return str(value) if value not in (None, "") else None
