"""Brings a store up to date with files: only what changed is read and embedded."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from factcheck_local.core.types import Chunk
from factcheck_local.indexer.fingerprint import Fingerprint
from factcheck_local.indexer.manifest import LeftOut, SourceRecord
from factcheck_local.indexer.reader import Reading, ReadLimits, Task, Unread, read_ahead
from factcheck_local.indexer.reliability import ReliabilityProfile, storable, supersession
from factcheck_local.indexer.reliability.statements import texts, writable
from factcheck_local.indexer.stamps import found_by_loader, note_on, stamped
from factcheck_local.indexer.store import Draft, Store
from factcheck_local.indexer.survey import NAME_TAKEN, NOT_INCLUDED, Root, SourceEntry, survey
from factcheck_local.indexer.whose import with_organisation
from factcheck_local.models.embedder import for_passages
from factcheck_local.models.registry import load_model

if TYPE_CHECKING:
    from factcheck_local.models.contracts import Embedder, FloatArray

#: Passages embedded and written at a time: what an interruption can lose.
EMBED_BATCH = 256


class Step(NamedTuple):
    """How far a run is.

    Attributes:
        files: files that are done with.
        all_files: files there are.
        size: bytes of the files that are done with.
        all_size: bytes of all files.
        passages: passages embedded so far.
        source: the file that was last read.
    """

    files: int
    all_files: int
    size: int
    all_size: int
    passages: int
    source: str


#: Called after each file and each batch of passages.
Progress = Callable[[Step], None]


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a run did, each by source.

    Attributes:
        indexed: read, and how many passages they gave.
        unchanged: left as they were; the reason names a new prior, if any. With one, those
            that were not looked at are among them.
        removed: gone from the store.
        skipped: not indexed, and why.
        failed: could not be read, and why.
    """

    indexed: tuple[SourceEntry, ...] = ()
    unchanged: tuple[SourceEntry, ...] = ()
    removed: tuple[SourceEntry, ...] = ()
    skipped: tuple[SourceEntry, ...] = ()
    failed: tuple[SourceEntry, ...] = ()


def sync(
    paths: Iterable[Path],
    store: Store,
    embedder: Embedder | None = None,
    profile: ReliabilityProfile | None = None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    progress: Progress | None = None,
    *,
    limits: ReadLimits | None = None,
    ocr: bool = False,
    today: date | None = None,
    at_once: int = 1,
    forget: Sequence[Path] = (),
) -> SyncReport:
    """Index what is new or changed below the paths, and remove what is gone from there.

    A file is unchanged if its size and time stamp are, or else its sha256; of a
    changed or moved one, only passages that are new are embedded. With ``ocr`` an unchanged
    one is read, too, if it has pages without text that OCR has not been tried on. An interrupted
    run loses at most `EMBED_BATCH` passages, or 2 * ``at_once`` times as many with a higher one,
    and the next one goes on from there.

    Args:
        paths: folders, searched to any depth, and files.
        store: an open store.
        embedder: the model that the store was made with; None loads it by its name.
        profile: priors of the sources; None takes the `reliability.toml` in each
            indexed folder, where there is one.
        include: globs as in ``.gitignore``; only these files are looked at.
        exclude: globs; these files leave the store.
        progress: called after each file and each batch of passages.
        limits: what reading a file may take.
        ocr: whether pages of a PDF without text are read by OCR.
        today: the day from which ages of documents count; None is the first of this month, so
            that priors, and with them the index digest, stay the same for a month.
        at_once: batches that the embedder takes at the same time, each from a thread of its own.
        forget: files and folders, gone or not, whose sources leave the store.

    Raises:
        InputError: if a path does not exist, there is nothing to index, or nothing of a path
            to be forgotten is in the store.
        ProfileError: if a profile is wrong; then nothing has changed.
        StoreError: if the store was made with another embedder or chunker, or another run
            is writing to it.
        ModelError: if the embedder is not here, or gives something else than it says.
    """
    paths = tuple(paths)
    made = store.fingerprint
    if embedder is None:
        embedder = for_passages(load_model(made.embedder.id, "embedder"))
    made.check(Fingerprint.of(embedder), store.place)
    with store.writing():
        plan = survey(paths, store, include, exclude, forget)
        roots = plan.roots | {root for root, _ in plan.files.values()}
        profiles = {r.label: profile or ReliabilityProfile.beside(r.path) for r in roots}
        since = today or datetime.now(UTC).date().replace(day=1)
        run = _Run(store, embedder, profiles, since, progress, at_once, ocr)
        tasks = run.look_at(plan.files)
        with closing(read_ahead(tasks, limits or ReadLimits(), ocr=ocr)) as found:
            for task, reading in found:
                run.take(task, reading)
        run.flush()
        # Last, so that a file that was moved finds its embeddings.
        for entry in plan.gone:
            store.remove(entry.source)
        run.rate()
        earlier = {entry.source: entry for entry in store.left_out()}
        left_out = [LeftOut(*e, failed=False) for e in (*plan.skipped, *run.skipped)]
        # What was not asked for is as it was.
        left_out = [earlier.get(e.source, e) if e.reason == NOT_INCLUDED else e for e in left_out]
        left_out += [LeftOut(*entry, failed=True) for entry in run.failed]
        # A hidden file that was given by name is there, and what OCR alone failed on.
        there = {record.source for record in store.sources()}
        left_out = [e for e in left_out if e.source not in there or e.reason == NAME_TAKEN]
        store.set_left_out(plan.below, left_out)
    return SyncReport(
        indexed=tuple(sorted(run.indexed)),
        unchanged=tuple(run.unchanged),
        removed=tuple(sorted(plan.gone)),
        skipped=tuple(sorted([*plan.skipped, *run.skipped])),
        failed=tuple(sorted(run.failed)),
    )


@dataclass(slots=True)
class _Run:
    """One run over the files, and what it reports."""

    store: Store
    embedder: Embedder
    profiles: Mapping[str, ReliabilityProfile]
    today: date
    progress: Progress | None
    at_once: int
    ocr: bool
    indexed: list[SourceEntry] = field(default_factory=list)
    unchanged: list[SourceEntry] = field(default_factory=list)
    skipped: list[SourceEntry] = field(default_factory=list)
    failed: list[SourceEntry] = field(default_factory=list)
    records: dict[str, SourceRecord] = field(init=False)
    current: dict[str, SourceRecord] = field(default_factory=dict)
    by_sha256: dict[str, str] = field(init=False)
    waiting: list[tuple[Draft, tuple[Chunk, ...]]] = field(default_factory=list)
    step: Step = field(init=False)

    def __post_init__(self) -> None:
        self.records = {r.source: r for r in self.store.sources()}
        self.by_sha256 = {r.sha256: r.source for r in self.records.values() if r.complete}

    def look_at(self, files: Mapping[str, tuple[Root, Path]]) -> list[Task]:
        """Those of the files that have to be read; the others are as they were."""
        tasks = []
        for source, (root, path) in sorted(files.items()):
            known = self.records.get(source)
            try:
                current = stamped(source, root, path, known)
            except OSError as error:
                self._leave(source, f"cannot be read: {error.strerror}", self.failed)
                continue
            self.current[source] = current
            changed = known is None or not known.complete or current.sha256 != known.sha256
            if changed or (self.ocr and current.ocr_left):
                tasks.append(Task(source, path, current.size))
        size = sum(task.size for task in tasks)
        self.step = Step(len(files) - len(tasks), len(files), 0, size, 0, "")
        self._report()
        return tasks

    def take(self, task: Task, found: Reading | Unread) -> None:
        """Bring one file up to date with what was read; what is wrong ends in the report."""
        if isinstance(found, Unread):
            self._leave(task.source, found.reason, self.failed if found.failed else self.skipped)
        else:
            record = self._described(self.current[task.source], found)
            self.waiting.append((self.store.begin(record), found.chunks))
            # Twice as many as are embedded at once, so that none waits while others are written.
            enough = EMBED_BATCH * (1 if self.at_once == 1 else 2 * self.at_once)
            if sum(len(chunks) for _, chunks in self.waiting) >= enough:
                self.flush()
        self.step = self.step._replace(
            files=self.step.files + 1, size=self.step.size + task.size, source=task.source
        )
        self._report()

    def _report(self) -> None:
        if self.progress is not None:
            self.progress(self.step)

    def _leave(self, source: str, reason: str, report: list[SourceEntry]) -> None:
        """Report a file; what it said before is no evidence any more, unless it still says it."""
        known, current = self.records.get(source), self.current.get(source)
        if known and current and known.complete and current.sha256 == known.sha256:
            reason += "; its earlier passages stay"  # it was read again for OCR alone
        else:
            self.current.pop(source, None)
            if known:
                self.store.remove(source)
                reason += "; its earlier passages are removed"
        report.append(SourceEntry(writable(source), reason))

    def _described(self, record: SourceRecord, reading: Reading) -> SourceRecord:
        """The record with what the document says of itself."""
        known = self.records.get(record.source)
        stated = with_organisation(storable(reading.metadata), (c.text for c in reading.chunks))
        without_text = found_by_loader(reading.metadata, "pages_without_text")
        return self._rated(
            replace(
                record,
                sha256=reading.sha256,
                stated=json.dumps(stated),
                date=next(iter(texts(stated, "date")), None),
                superseded_by=known.superseded_by if known else None,
                note=note_on(reading.metadata, (chunk.text for chunk in reading.chunks)),
                # A page that OCR was tried on in vain is not tried again.
                ocr_left=bool(without_text) and not self.ocr,
            )
        )

    def _rated(self, record: SourceRecord) -> SourceRecord:
        """The record with what the profile gives it now."""
        profile, names = self.profiles[record.root], (record.name, record.source)
        stated = record.metadata
        given = profile.reliability(
            names,
            stated,
            today=self.today,
            modified=date.fromisoformat(record.modified),
            superseded_by=record.superseded_by,
        )
        groups = profile.groups(names, stated)
        return replace(
            record,
            prior=given.prior,
            prior_rule=given.rule,
            access=None if groups is None else json.dumps(sorted(groups)),
        )

    def flush(self) -> None:
        """Embed what is new of the waiting files, and write them."""
        new: list[tuple[SourceRecord, Chunk]] = []
        moved: list[tuple[SourceRecord, Chunk]] = []
        vectors: list[FloatArray] = []
        for draft, chunks in self.waiting:
            known = self._known_vectors(draft.record)
            for chunk in chunks:
                if chunk.id in draft.present:
                    continue
                if chunk.titled_text in known:
                    moved.append((draft.record, chunk))
                    vectors.append(known[chunk.titled_text])
                else:
                    new.append((draft.record, chunk))
        if moved:
            self.store.add(moved, np.stack(vectors))
        for batch, embeddings in self._embedded(new):
            self.store.add(batch, embeddings)
            self.step = self.step._replace(passages=self.step.passages + len(batch))
            self._report()
        for draft, chunks in self.waiting:
            record = self.store.complete(draft, chunks)
            self.current[record.source] = record
            count = f"{len(chunks)} passage{'s' * (len(chunks) != 1)}"
            reason = f"{count}; {record.note}" if record.note else count
            self.indexed.append(SourceEntry(record.source, reason))
        self.waiting.clear()

    def _embedded(
        self, new: Sequence[tuple[SourceRecord, Chunk]]
    ) -> Iterator[tuple[Sequence[tuple[SourceRecord, Chunk]], FloatArray]]:
        """The passages in batches, in order, each with its vectors."""

        def embed(batch: Sequence[tuple[SourceRecord, Chunk]]) -> FloatArray:
            return self.embedder.embed([chunk.titled_text for _, chunk in batch])

        batches = [new[start : start + EMBED_BATCH] for start in range(0, len(new), EMBED_BATCH)]
        if self.at_once == 1:
            yield from ((batch, embed(batch)) for batch in batches)
            return
        pool = ThreadPoolExecutor(self.at_once)
        try:
            yield from zip(batches, pool.map(embed, batches), strict=True)
        finally:  # of an interrupted run nothing more is embedded
            pool.shutdown(cancel_futures=True)

    def _known_vectors(self, record: SourceRecord) -> dict[str, FloatArray]:
        """Vectors of another file of the same bytes: this one was moved, or copied."""
        other = self.by_sha256.get(record.sha256)
        if other is None or other == record.source:
            return {}
        return self.store.vectors_of(other)

    def rate(self) -> None:
        """Give each source of the roots the prior, successor and groups that it has by now.

        Those that were not looked at, too: a file may say that it replaces one of them.
        """
        stored = {record.source: record for record in self.store.sources()}
        everything = {source: record.metadata for source, record in stored.items()}
        successors = {
            by_name: supersession(everything.items(), by_name=by_name)
            for by_name in {profile.versions_by_name for profile in self.profiles.values()}
        }
        read = {entry.source for entry in self.indexed}
        told = read | {entry.source for entry in (*self.skipped, *self.failed)}
        beside = {s: r for s, r in stored.items() if r.root in self.profiles}
        for source, record in sorted((beside | self.current).items()):
            successor = successors[self.profiles[record.root].versions_by_name].get(source)
            new = self._rated(replace(record, superseded_by=successor))
            old = record if source in read else self.records[source]
            if new != old:
                self.store.revise(new)
            same = (old.prior, old.prior_rule) == (new.prior, new.prior_rule)
            if source not in told and (source in self.current or not same):
                reason = "" if same else f"prior {old.prior:g} -> {new.prior:g} ({new.prior_rule})"
                self.unchanged.append(SourceEntry(source, reason))
