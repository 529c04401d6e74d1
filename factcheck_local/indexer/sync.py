"""Brings a store up to date with files: only what changed is read and embedded."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from factcheck_local.errors import DocumentError
from factcheck_local.indexer.chunker import chunk
from factcheck_local.indexer.fingerprint import Fingerprint
from factcheck_local.indexer.loaders import UnsupportedFormatError, load
from factcheck_local.indexer.manifest import SourceRecord
from factcheck_local.indexer.reliability import (
    FRONT_MATTER,
    Reliability,
    ReliabilityProfile,
)
from factcheck_local.indexer.store import Store
from factcheck_local.indexer.survey import Entry, Root, survey
from factcheck_local.types import Document

if TYPE_CHECKING:
    from factcheck_local.models.contracts import Embedder

#: Passages embedded and written at a time: what an interruption can lose.
EMBED_BATCH = 64

#: A file changed this recently may change again within the same time stamp.
RACY_NS = 2_000_000_000

#: Called after each file: files done, files in all, source.
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a run did, each by source.

    Attributes:
        indexed: read, and how many passages they gave.
        unchanged: left as they were; the reason names a new prior, if any.
        removed: gone from the store.
        skipped: not indexed, and why.
        failed: could not be read, and why.
    """

    indexed: tuple[Entry, ...] = ()
    unchanged: tuple[Entry, ...] = ()
    removed: tuple[Entry, ...] = ()
    skipped: tuple[Entry, ...] = ()
    failed: tuple[Entry, ...] = ()


def sync(
    paths: Iterable[Path],
    store: Store,
    embedder: Embedder,
    profile: ReliabilityProfile | None = None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    progress: Progress | None = None,
) -> SyncReport:
    """Index what is new or changed below the paths, and remove what is gone from there.

    A file is unchanged if its size and time stamp are, or else its sha256; of a
    changed one, only passages that are new are embedded. An interrupted run
    loses at most `EMBED_BATCH` passages, and the next one goes on from there.

    Args:
        paths: folders, searched to any depth, and files.
        store: an open store.
        embedder: the model that the store was made with.
        profile: priors of the sources; None takes the `reliability.toml` in each
            indexed folder, where there is one.
        include: globs as in ``.gitignore``; only these files are looked at.
        exclude: globs; these files leave the store.
        progress: called after each file.

    Raises:
        InputError: if a path does not exist, or there is nothing to index.
        ProfileError: if a profile is wrong; then nothing has changed.
        StoreError: if the store was made with another embedder, or another run
            is writing to it.
        ModelError: if the embedder gives something else than it says.
    """
    paths = tuple(paths)
    made = store.fingerprint
    made.check(Fingerprint.of(embedder, made.chunker), store.path)
    with store.writing():
        plan = survey(paths, store, include, exclude)
        roots = {root for root, _ in plan.files.values()}
        profiles = {root: profile or ReliabilityProfile.beside(root.path) for root in roots}
        run = _Run(store, embedder)
        for entry in plan.gone:
            store.remove(entry.source)
        for done, (source, (root, path)) in enumerate(sorted(plan.files.items()), start=1):
            run.file(source, root, path, profiles[root])
            if progress is not None:
                progress(done, len(plan.files), source)
    return SyncReport(
        indexed=tuple(run.indexed),
        unchanged=tuple(run.unchanged),
        removed=tuple(sorted(plan.gone)),
        skipped=tuple(sorted([*plan.skipped, *run.skipped])),
        failed=tuple(run.failed),
    )


@dataclass(slots=True)
class _Run:
    """One run over the files, and what it reports."""

    store: Store
    embedder: Embedder
    indexed: list[Entry] = field(default_factory=list)
    unchanged: list[Entry] = field(default_factory=list)
    skipped: list[Entry] = field(default_factory=list)
    failed: list[Entry] = field(default_factory=list)
    records: dict[str, SourceRecord] = field(init=False)

    def __post_init__(self) -> None:
        self.records = {record.source: record for record in self.store.sources()}

    def file(self, source: str, root: Root, path: Path, profile: ReliabilityProfile) -> None:
        """Bring one file up to date; what is wrong with it ends in the report."""
        known = self.records.get(source)
        try:
            current = _stamped(source, root, path, known)
            if known is not None and known.complete and current.sha256 == known.sha256:
                self._revise(known, current, profile)
                return
            document = load(path, source)
            reliability = profile.of_document(document, current.name, source)
        except OSError as error:
            self._leave(source, f"cannot be read: {error.strerror}", self.failed)
        except UnsupportedFormatError as error:
            self._leave(source, str(error).removeprefix(f"{source}: "), self.skipped)
        except DocumentError as error:
            self._leave(source, str(error).removeprefix(f"{source}: "), self.failed)
        else:
            self._index(_described(current, document, reliability), document)

    def _leave(self, source: str, reason: str, report: list[Entry]) -> None:
        """Report a file; what it said before is no evidence any more."""
        if source in self.records:
            self.store.remove(source)
            reason += "; its earlier passages are removed"
        report.append(Entry(source, reason))

    def _revise(
        self, known: SourceRecord, current: SourceRecord, profile: ReliabilityProfile
    ) -> None:
        """Keep a file's passages, with the prior that the profile gives now."""
        now = Reliability(known.prior, known.prior_rule)
        if known.prior_rule != FRONT_MATTER:
            now = profile.of_source(known.name, known.source)
        new = replace(current, prior=now.prior, prior_rule=now.rule)
        if new != known:
            self.store.revise(new)
        same = (known.prior, known.prior_rule) == now
        reason = "" if same else f"prior {known.prior:g} -> {now.prior:g} ({now.rule})"
        self.unchanged.append(Entry(known.source, reason))

    def _index(self, record: SourceRecord, document: Document) -> None:
        """Cut a document, embed what is new of it, write it."""
        chunker = self.store.fingerprint.chunker
        chunks = chunk(document, target_words=chunker.target_words, max_words=chunker.max_words)
        there = self.store.begin(record)
        new = [passage for passage in chunks if passage.id not in there]
        for start in range(0, len(new), EMBED_BATCH):
            batch = new[start : start + EMBED_BATCH]
            vectors = self.embedder.embed([p.titled_text for p in batch])
            self.store.add(record, batch, vectors)
        self.store.complete(record, chunks)
        count = f"{len(chunks)} passage{'s' * (len(chunks) != 1)}"
        self.indexed.append(
            Entry(record.source, f"{count}; {record.note}" if record.note else count)
        )


def _stamped(source: str, root: Root, path: Path, known: SourceRecord | None) -> SourceRecord:
    """The file's record by its size, time stamp and hash, not yet read.

    Raises:
        OSError: if the file cannot be read.
    """
    stat = path.stat()
    trusted = time.time_ns() - stat.st_mtime_ns > RACY_NS
    mtime_ns = stat.st_mtime_ns if trusted else 0
    if known is not None and trusted and (known.size, known.mtime_ns) == (stat.st_size, mtime_ns):
        return known
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    if known is not None and known.sha256 == sha256:
        return replace(known, size=stat.st_size, mtime_ns=mtime_ns)
    return SourceRecord(
        source=source,
        root=root.label,
        name=root.name(path),
        sha256=sha256,
        size=stat.st_size,
        mtime_ns=mtime_ns,
        prior=0.0,
        prior_rule="",
    )


def _described(record: SourceRecord, document: Document, reliability: Reliability) -> SourceRecord:
    """The record with what the document says of itself."""
    notes = list(document.metadata.get("left_out", ()))
    if pages := document.metadata.get("pages_without_text", ()):
        shown = ", ".join(map(str, pages[:10])) + (" …" if len(pages) > 10 else "")
        notes.insert(0, f"no text on page {shown}: scanned?")
    return replace(
        record,
        sha256=document.sha256,
        prior=reliability.prior,
        prior_rule=reliability.rule,
        date=_text(document.metadata.get("date")),
        superseded_by=_text(document.metadata.get("superseded_by")),
        note="; ".join(notes) or None,
        chunks=0,
        complete=False,
    )


def _text(value: object) -> str | None:
    """A metadata value as written; None where it is absent or empty."""
    return str(value) if value not in (None, "") else None
