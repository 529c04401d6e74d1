"""Runs over folders: what is indexed, kept, removed, and that nothing is lost or doubled."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta, tzinfo
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import numpy.typing as npt
import pytest

from factcheck_local.core.errors import InputError, ProfileError, StoreError
from factcheck_local.core.types import Chunk, Span
from factcheck_local.indexer.fingerprint import Fingerprint
from factcheck_local.indexer.manifest import LeftOut
from factcheck_local.indexer.reliability import ReliabilityProfile
from factcheck_local.indexer.reliability.rules import SourceRule
from factcheck_local.indexer.store import Store
from factcheck_local.indexer.survey import SourceEntry
from factcheck_local.indexer.sync import Step, SyncReport, sync

from .helpers import (
    HashingEmbedder,
    both_kinds,
    contents,
    found_contexts,
    long_text,
    pdf,
    write,
)
from .samples import workbook

OpenStore = Callable[..., Store]

FILES: dict[str, str | bytes] = {
    "policies/leave.md": "# Leave\n\nStaff get 25 days of leave a year.",
    "policies/pay.txt": "Pay is due on the last day of the month.",
    "web/page.html": "<title>Page</title><main><p>The office opens at nine.</p></main>",
    "scan.pdf": pdf("The contract ends in May.", ""),
}


def sources(entries: tuple[SourceEntry, ...]) -> list[str]:
    return [entry.source for entry in entries]


def counts(report: SyncReport) -> tuple[int, int, int, int, int]:
    groups = (report.indexed, report.unchanged, report.removed, report.skipped, report.failed)
    indexed, unchanged, removed, skipped, failed = map(len, groups)
    return indexed, unchanged, removed, skipped, failed


@both_kinds
def test_first_run(corpus: Path, store: Store, embedder: HashingEmbedder) -> None:
    write(corpus, FILES)
    progress: list[Step] = []
    report = sync([corpus], store, embedder, progress=progress.append)
    assert report == SyncReport(
        indexed=(
            SourceEntry("policies/leave.md", "1 passage"),
            SourceEntry("policies/pay.txt", "1 passage"),
            SourceEntry("scan.pdf", "1 passage; no text on page 2: scanned?"),
            SourceEntry("web/page.html", "1 passage"),
        )
    )
    size = sum(path.stat().st_size for path in corpus.rglob("*") if path.is_file())
    assert progress[0] == Step(0, 4, 0, size, 0, "")
    assert [step.files for step in progress] == [0, 1, 2, 3, 4, 4]
    assert progress[-1] == Step(4, 4, size, size, 4, "web/page.html")
    context, *_ = found_contexts(store, embedder, "leave days for staff", 1)
    assert (context.source, context.title, context.line) == ("policies/leave.md", "Leave", 1)
    assert context.span == Span(0, len(FILES["policies/leave.md"]))


def test_titles_are_embedded_with_the_text(corpus: Path, store: Store) -> None:
    embedder = HashingEmbedder()
    write(corpus, {"a.md": "# Top\n\n## Sub\n\ntext"})
    sync([corpus], store, embedder)
    assert embedder.texts == ["Top > Sub\n# Top\n\n## Sub\n\ntext"]
    assert Chunk("x", "a", "text", Span(0, 4), (), 1).titled_text == "text"


def test_second_run_reads_nothing(
    corpus: Path, store: Store, embedder: HashingEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(corpus, FILES)
    sync([corpus], store, embedder)
    digest, embedded = store.digest(), len(embedder.texts)
    monkeypatch.setattr(Path, "open", None)  # not even to hash it
    monkeypatch.setattr(Path, "read_bytes", None)
    report = sync([corpus], store, embedder)
    assert counts(report) == (0, 4, 0, 0, 0)
    assert {entry.reason for entry in report.unchanged} == {""}
    assert (store.digest(), len(embedder.texts)) == (digest, embedded)


def test_touched_file_is_unchanged(corpus: Path, store: Store, embedder: HashingEmbedder) -> None:
    write(corpus, FILES)
    sync([corpus], store, embedder)
    write(corpus, FILES, age=60)
    embedded = len(embedder.texts)
    assert counts(sync([corpus], store, embedder)) == (0, 4, 0, 0, 0)
    assert len(embedder.texts) == embedded


def test_edit_within_the_same_time_stamp_and_size_is_seen(
    corpus: Path, store: Store, embedder: HashingEmbedder
) -> None:
    """A file that was fresh when it was indexed is not trusted by its time stamp."""
    write(corpus, {"a.txt": "five"}, age=0)
    stamp = (corpus / "a.txt").stat().st_mtime_ns
    sync([corpus], store, embedder)
    write(corpus, {"a.txt": "nine"})
    os.utime(corpus / "a.txt", ns=(stamp, stamp))
    assert counts(sync([corpus], store, embedder)) == (1, 0, 0, 0, 0)


def test_a_time_stamp_of_zero_tells_nothing(
    corpus: Path, store: Store, embedder: HashingEmbedder
) -> None:
    for text in ("five", "nine"):
        write(corpus, {"a.txt": text})
        os.utime(corpus / "a.txt", (0, 0))
        assert counts(sync([corpus], store, embedder)) == (1, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("seconds", "day"),
    [
        (253_402_300_799, "9999-12-31"),
        (253_402_300_800, "9999-12-31"),
        (10**13, "9999-12-31"),
        (-1, "1969-12-31"),
        (-62_135_596_801, "0001-01-01"),
    ],
)
def test_a_time_stamp_that_no_calendar_has(
    store: Store, embedder: HashingEmbedder, seconds: int, day: str
) -> None:
    memory = Path("/dev/shm")  # many a disk has no place for such stamps
    if not memory.is_dir():
        pytest.skip("no file system in memory")
    with TemporaryDirectory(dir=memory) as folder:
        write(Path(folder), {"a.md": "text"})
        os.utime(Path(folder, "a.md"), (seconds, seconds))
        profile = ReliabilityProfile(half_life_days=1)
        for _ in range(2):
            sync([Path(folder)], store, embedder, profile)
    assert [record.modified for record in store.sources()] == [day]


@both_kinds
def test_changed_file_embeds_only_what_is_new(
    corpus: Path, new_store: OpenStore, embedder: HashingEmbedder
) -> None:
    parts = [f"# Part {n}\n\n{long_text(f'thing{n}', 1)}" for n in range(6)]
    write(corpus, {"a.md": "\n\n".join(parts), "b.md": "other"})
    store = new_store()
    sync([corpus], store, embedder)
    embedder.texts.clear()
    parts[2] = "# Part 2\n\n" + long_text("changed", 1)
    parts.insert(0, "# New\n\n" + long_text("new", 1))
    write(corpus, {"a.md": "\n\n".join(parts)}, age=60)
    report = sync([corpus], store, embedder)
    assert counts(report) == (1, 1, 0, 0, 0)
    assert sorted(text.partition("\n")[0] for text in embedder.texts) == ["New", "Part 2"]
    fresh = new_store("fresh")
    sync([corpus], fresh, HashingEmbedder())
    assert contents(store) == contents(fresh)
    query = embedder.embed(["thing4 of part"])
    assert store.query(query, 9) == fresh.query(query, 9)  # lines and offsets moved too


@both_kinds
def test_deleted_file_is_removed(corpus: Path, store: Store, embedder: HashingEmbedder) -> None:
    write(corpus, FILES)
    sync([corpus], store, embedder)
    (corpus / "policies/pay.txt").unlink()
    report = sync([corpus], store, embedder)
    assert report.removed == (SourceEntry("policies/pay.txt", "file is gone"),)
    assert counts(report) == (0, 3, 1, 0, 0)
    assert "policies/pay.txt" not in [known.source for known in store.sources()]
    assert store.count() == 3


def test_last_file_of_a_folder_can_go(
    corpus: Path, store: Store, embedder: HashingEmbedder
) -> None:
    write(corpus, {"a.md": "text"})
    sync([corpus], store, embedder)
    (corpus / "a.md").unlink()
    assert counts(sync([corpus], store, embedder)) == (0, 0, 1, 0, 0)
    assert store.count() == 0
    with pytest.raises(InputError, match="nothing to index"):
        sync([corpus], store, embedder)


def test_moved_file_keeps_its_embeddings(
    corpus: Path, new_store: OpenStore, embedder: HashingEmbedder
) -> None:
    """Also where its first words, without a heading, are titled by the file's own name."""
    write(corpus, FILES | {"policies/long.md": "# Long\n\n" + long_text("term")})
    store = new_store()
    sync([corpus], store, embedder)
    embedder.texts.clear()
    (corpus / "policies/long.md").rename(corpus / "other.md")
    (corpus / "policies/pay.txt").rename(corpus / "pay.txt")
    (corpus / "web/page.html").rename(corpus / "web/home.html")
    report = sync([corpus], store, embedder)
    assert sources(report.indexed) == ["other.md", "pay.txt", "web/home.html"]
    assert sources(report.removed) == ["policies/long.md", "policies/pay.txt", "web/page.html"]
    assert embedder.texts == []
    (corpus / "pay.txt").rename(corpus / "salary.txt")
    sync([corpus], store, embedder)
    assert embedder.texts == ["salary.txt\n" + str(FILES["policies/pay.txt"])]
    fresh = new_store("fresh")
    sync([corpus], fresh, embedder)
    assert contents(store) == contents(fresh)


def test_a_new_spelling_where_the_system_knows_no_case(
    corpus: Path, store: Store, embedder: HashingEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The former name still leads to the file, but no folder lists it."""
    write(corpus, {"hr/leave.md": "# Leave\n\ntext"})
    sync([corpus], store, embedder)
    os.link(corpus / "hr/leave.md", corpus / "hr/Leave.md")
    walk, embedded = os.walk, len(embedder.texts)
    monkeypatch.setattr(
        os,
        "walk",
        lambda top, **how: (
            (at, folders, [name for name in names if name != "leave.md"])
            for at, folders, names in walk(top, **how)
        ),
    )
    report = sync([corpus], store, embedder)
    assert report.removed == (SourceEntry("hr/leave.md", "file is gone"),)
    assert sources(report.indexed) == ["hr/Leave.md"]
    assert (store.count(), len(embedder.texts)) == (1, embedded)


def test_files_that_change_places(
    corpus: Path, new_store: OpenStore, embedder: HashingEmbedder
) -> None:
    write(corpus, {"a.md": "# A\n\n" + long_text("a"), "b.md": "# B\n\n" + long_text("b")})
    store = new_store()
    sync([corpus], store, embedder)
    (corpus / "a.md").rename(corpus / "c")
    (corpus / "b.md").rename(corpus / "a.md")
    (corpus / "c").rename(corpus / "b.md")
    assert counts(sync([corpus], store, embedder)) == (2, 0, 0, 0, 0)
    fresh = new_store("fresh")
    sync([corpus], fresh, embedder)
    assert contents(store) == contents(fresh)


def test_copied_file_is_not_embedded_again(
    corpus: Path, store: Store, embedder: HashingEmbedder
) -> None:
    write(corpus, {"a.md": "# A\n\n" + long_text("a")})
    sync([corpus], store, embedder)
    embedded = len(embedder.texts)
    write(corpus, {"copy.md": (corpus / "a.md").read_bytes()})
    assert sources(sync([corpus], store, embedder).indexed) == ["copy.md"]
    assert (store.count(), len(embedder.texts)) == (2 * embedded, embedded)


def test_what_was_left_out_is_remembered_until_it_is_mended(
    corpus: Path, store: Store, embedder: HashingEmbedder
) -> None:
    write(corpus, {"a.md": "text", "sub/b.md": b"\xff", "sub/c.odt": b"PK", "d.md": ""})
    sync([corpus], store, embedder)
    odt = LeftOut("sub/c.odt", "no loader for .odt", failed=False)
    empty = LeftOut("d.md", "empty file", failed=True)
    broken = LeftOut("sub/b.md", "is not valid UTF-8 (byte 0xff at offset 0)", failed=True)
    assert store.left_out() == (empty, broken, odt)
    write(corpus, {"sub/b.md": "mended", "d.md": "mended"}, age=60)
    sync([corpus / "sub"], store, embedder)
    assert store.left_out() == (empty, odt)
    sync([corpus / "d.md"], store, embedder)
    assert store.left_out() == (odt,)


def test_what_was_left_out_of_another_folder_is_remembered(
    corpus: Path, store: Store, embedder: HashingEmbedder, tmp_path: Path
) -> None:
    """Also by a run over the folder whose sources have no label before them."""
    write(corpus, {"a.md": "text", "b.odt": b"PK"})
    write(tmp_path / "web", {"c.md": "text", "d.odt": b"PK"})
    sync([corpus], store, embedder)
    sync([tmp_path / "web"], store, embedder)
    (corpus / "b.odt").unlink()
    sync([corpus], store, embedder)
    assert [entry.source for entry in store.left_out()] == ["web/d.odt"]
    (tmp_path / "web" / "d.odt").unlink()
    sync([corpus, tmp_path / "web"], store, embedder)
    assert store.left_out() == ()


def test_what_a_run_does_not_ask_for_is_left_out_as_before(
    corpus: Path, store: Store, embedder: HashingEmbedder
) -> None:
    write(corpus, {"a.md": "text", "b.txt": "text", "bad.md": b"\xff", ".c.md": "text"})
    sync([corpus, corpus / ".c.md"], store, embedder)
    left_out = store.left_out()
    assert [(entry.source, entry.failed) for entry in left_out] == [("bad.md", True)]
    report = sync([corpus], store, embedder, include=["*.txt"])
    assert sources(report.skipped) == [".c.md", "a.md", "bad.md"]
    assert store.left_out() == left_out


def test_what_was_mended_below_a_folder_around_a_known_one(
    corpus: Path, store: Store, embedder: HashingEmbedder
) -> None:
    write(corpus, {"hr/a.md": b"\xff", "b.md": "text"})
    sync([corpus / "hr"], store, embedder)
    assert sources(sync([corpus], store, embedder).failed) == ["a.md"]
    write(corpus, {"hr/a.md": "mended"}, age=60)
    assert sources(sync([corpus], store, embedder).indexed) == ["a.md"]
    assert store.left_out() == ()


def test_bad_files_are_reported_and_the_rest_goes_on(
    corpus: Path, store: Store, embedder: HashingEmbedder
) -> None:
    bad: dict[str, str | bytes] = {
        "binary.txt": b"\x00\x01\x02",
        "empty.md": "",
        "latin.md": b"caf\xe9",
        "prior.md": "---\nreliability: 1.3\n---\ntext",
        "scanned.pdf": pdf("", ""),
        "truncated.pdf": pdf("text")[:-100],
        "yaml.md": "---\na: b: c\n---\ntext",
    }
    write(corpus, {**FILES, **bad})
    report = sync([corpus], store, embedder)
    assert sources(report.indexed) == sorted(FILES)
    assert report.failed == (
        SourceEntry("binary.txt", "looks binary (NUL byte at offset 0)"),
        SourceEntry("empty.md", "empty file"),
        SourceEntry("latin.md", "is not valid UTF-8 (byte 0xe9 at offset 3)"),
        SourceEntry(
            "prior.md",
            "front matter, line 2: reliability must be between 0 and 1, both excluded, got 1.3",
        ),
        SourceEntry("scanned.pdf", "no text layer on any of 2 pages: scanned? run OCR first"),
        SourceEntry("truncated.pdf", "is truncated (no end-of-file marker)"),
        SourceEntry(
            "yaml.md",
            "front matter is not valid YAML, line 2: mapping values are not allowed here",
        ),
    )


def test_what_only_a_loader_lists_may_stand_in_front_matter(
    corpus: Path, store: Store, embedder: HashingEmbedder
) -> None:
    write(
        corpus,
        {
            "a.md": "---\nleft_out: 5\npages_without_text: 1\nocr_pages: all\n---\ntext",
            "b.md": "---\nleft_out: [all]\npages_without_text: [1]\nocr_pages: [2]\n---\ntext",
        },
    )
    report = sync([corpus], store, embedder)
    assert report.indexed == (SourceEntry("a.md", "1 passage"), SourceEntry("b.md", "1 passage"))
    assert not sync([corpus], store, embedder, ocr=True).indexed


def test_a_note_is_of_limited_length(corpus: Path, store: Store, embedder: HashingEmbedder) -> None:
    parts = "".join(
        f"--x\nContent-Type: text/plain; charset=none-{n}\n\ncaf\xe9\n" for n in range(500)
    )
    message = f"From: a@b.c\nContent-Type: multipart/mixed; boundary=x\n\n{parts}--x--\n"
    write(corpus, {"a.eml": message.encode("latin-1")})
    sync([corpus], store, embedder)
    note = store.sources()[0].note
    assert note is not None
    assert note.startswith("text that is not valid NONE-0 has replacements; text that")
    assert note.endswith("\u2026")
    assert len(note) <= 1000


@both_kinds
def test_halves_of_characters_end_no_run(
    corpus: Path, store: Store, embedder: HashingEmbedder
) -> None:
    """Escapes of YAML and JSON give them; no file and no database can hold them."""
    stated = ("date", "superseded_by", "supersedes", "document_id", "owner", "access")
    files = {f"{key}.md": f'---\n{key}: "x\\ud800"\n---\ntext' for key in stated}
    files["key.md"] = '---\n"x\\ud800": [a, "b\\ud800"]\naccess: ["x\\ud800"]\n---\ntext'
    files["a.json"] = '{"title": "x\\ud800", "date": "\\ud800", "text": "text"}'
    write(corpus, dict(files))
    assert sources(sync([corpus], store, embedder).indexed) == sorted(files)
    assert counts(sync([corpus], store, embedder)) == (0, len(files), 0, 0, 0)
    known = {record.source: record for record in store.sources()}
    assert (known["date.md"].date, known["a.json"].date) == ("x?", "?")
    assert known["superseded_by.md"].superseded_by == "x?"
    assert known["access.md"].groups == known["key.md"].groups == frozenset({"x?"})
    assert known["key.md"].metadata == {"x?": ["a", "b?"], "access": ["x?"]}
    assert store.faults() == ()


def test_file_that_went_bad_leaves_no_old_evidence(
    corpus: Path, store: Store, embedder: HashingEmbedder
) -> None:
    write(corpus, {"a.md": "text", "b.md": "more"})
    sync([corpus], store, embedder)
    write(corpus, {"a.md": b"\xff"}, age=60)
    report = sync([corpus], store, embedder)
    assert sources(report.failed) == ["a.md"]
    assert report.failed[0].reason.endswith("its earlier passages are removed")
    assert [known.source for known in store.sources()] == ["b.md"]
    write(corpus, {"a.md": "mended"}, age=30)
    assert sources(sync([corpus], store, embedder).indexed) == ["a.md"]


def test_skipped_with_reasons(corpus: Path, store: Store, embedder: HashingEmbedder) -> None:
    write(
        corpus,
        {
            "a.md": "text",
            "b.odt": b"PK",
            "Makefile": "x",
            ".hidden.md": "x",
            ".git/config.txt": "x",
            "reliability.toml": "default = 0.5",
            "drafts/c.md": "x",
        },
    )
    os.mkfifo(corpus / "pipe.txt")
    report = sync([corpus], store, embedder, exclude=["drafts/**"])
    assert sources(report.indexed) == ["a.md"]
    assert report.skipped == (
        SourceEntry(".git/", "hidden"),
        SourceEntry(".hidden.md", "hidden"),
        SourceEntry("Makefile", "no loader for files without extension"),
        SourceEntry("b.odt", "no loader for .odt"),
        SourceEntry("drafts/c.md", "excluded by drafts/**"),
        SourceEntry("pipe.txt", "not a regular file"),
        SourceEntry("reliability.toml", "reliability profile"),
    )


def test_links_are_not_followed(
    corpus: Path, store: Store, embedder: HashingEmbedder, tmp_path: Path
) -> None:
    write(tmp_path / "secret", {"a.md": "outside"})
    write(corpus, {"a.md": "inside", "sub/b.md": "inside too"})
    (corpus / "out.md").symlink_to(tmp_path / "secret" / "a.md")
    (corpus / "outdir").symlink_to(tmp_path / "secret")
    (corpus / "in.md").symlink_to(corpus / "a.md")
    (corpus / "loop").symlink_to(corpus)
    (corpus / "broken.md").symlink_to(tmp_path / "nowhere")
    report = sync([corpus], store, embedder)
    assert sources(report.indexed) == ["a.md", "sub/b.md"]
    assert report.skipped == (
        SourceEntry("broken.md", "link to a place out of the folder"),
        SourceEntry("in.md", "link to a place in the folder"),
        SourceEntry("loop", "link to a place in the folder"),
        SourceEntry("out.md", "link to a place out of the folder"),
        SourceEntry("outdir", "link to a place out of the folder"),
    )


def test_indexed_file_that_became_a_link_out_of_the_folder(
    corpus: Path, store: Store, embedder: HashingEmbedder, tmp_path: Path
) -> None:
    write(tmp_path / "secret", {"a.md": "outside"})
    write(corpus, {"a.md": "inside", "b.md": "inside"})
    sync([corpus], store, embedder)
    (corpus / "a.md").unlink()
    (corpus / "a.md").symlink_to(tmp_path / "secret" / "a.md")
    assert sources(sync([corpus], store, embedder).removed) == ["a.md"]


def test_indexed_file_that_became_a_link_in_the_folder_is_as_in_a_fresh_store(
    corpus: Path, new_store: OpenStore, embedder: HashingEmbedder
) -> None:
    write(corpus, {"a.md": "one", "b.md": "two", "sub/c.md": "three"})
    store = new_store()
    sync([corpus], store, embedder)
    (corpus / "a.md").unlink()
    (corpus / "a.md").symlink_to(corpus / "b.md")
    (corpus / "sub").rename(corpus / "other")
    (corpus / "sub").symlink_to(corpus / "other")
    report = sync([corpus], store, embedder)
    assert sources(report.removed) == ["a.md", "sub/c.md"]
    fresh = new_store("fresh")
    assert sync([corpus], fresh, embedder).skipped == report.skipped
    assert contents(store) == contents(fresh)


def test_what_cannot_be_looked_into_is_named_and_ends_no_run(
    corpus: Path, store: Store, embedder: HashingEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder whose names can be listed and no more, and its files that were indexed before."""
    write(corpus, {"a.md": "text", "closed/b.md": "text", "closed/sub/c.md": "text"})
    sync([corpus], store, embedder)
    write(corpus, {"closed/new.md": "text"})
    stat = os.stat

    def refusing(path: str | Path, **how: bool) -> os.stat_result:
        if corpus / "closed" in Path(path).parents:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return stat(path, **how)

    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", refusing)
        report = sync([corpus], store, embedder)
        reason = "cannot be read: Permission denied"
        removed = f"{reason}; its earlier passages are removed"
        assert report.failed == (
            SourceEntry("closed/b.md", removed),
            SourceEntry("closed/new.md", reason),
            SourceEntry("closed/sub/c.md", removed),
        )
        assert (report.removed, report.skipped) == ((), ())
        assert sources(report.unchanged) == ["a.md"]
        with pytest.raises(InputError, match=r"closed/b\.md: cannot be read: Permission denied"):
            sync([corpus / "closed" / "b.md"], store, embedder)
    assert len(sync([corpus], store, embedder).indexed) == 3


def test_the_store_itself_is_not_indexed(
    corpus: Path, new_store: OpenStore, embedder: HashingEmbedder
) -> None:
    store = new_store("docs/index")
    write(corpus, {"a.md": "text", "index/notes.md": "x"})
    report = sync([corpus], store, embedder)
    assert sources(report.indexed) == ["a.md"]
    assert report.skipped == ()


def test_include_narrows_and_exclude_removes(
    corpus: Path, store: Store, embedder: HashingEmbedder
) -> None:
    write(corpus, FILES)
    report = sync([corpus], store, embedder, include=["*.md", "web/**"])
    assert sources(report.indexed) == ["policies/leave.md", "web/page.html"]
    assert {entry.reason for entry in report.skipped} == {"not included"}
    report = sync([corpus], store, embedder, include=["*.txt"])
    assert sources(report.indexed) == ["policies/pay.txt"]
    assert report.removed == ()  # what was left out stays
    report = sync([corpus], store, embedder, exclude=["policies/**"])
    assert report.removed == (
        SourceEntry("policies/leave.md", "excluded by policies/**"),
        SourceEntry("policies/pay.txt", "excluded by policies/**"),
    )


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, r"nothing to index: .*docs \(no files\)"),
        ({"a.xyz": "x", ".b.md": "x"}, r"nothing to index: .* \(hidden; no loader for \.xyz\)"),
    ],
)
def test_empty_folder(
    corpus: Path, store: Store, embedder: HashingEmbedder, files: dict[str, str], message: str
) -> None:
    write(corpus, files)
    with pytest.raises(InputError, match=message):
        sync([corpus], store, embedder)
    assert store.roots() == {}


def test_a_glob_that_is_none(corpus: Path, store: Store, embedder: HashingEmbedder) -> None:
    write(corpus, {"a.md": "text"})
    wrong = ["*.txt", "[z-a]"]
    for include, exclude in ((wrong, []), ([], wrong)):
        with pytest.raises(InputError, match=r"no glob: '\[z-a\]'"):
            sync([corpus], store, embedder, include=include, exclude=exclude)


def test_a_folder_whose_name_cannot_be_stored(
    store: Store, embedder: HashingEmbedder, tmp_path: Path
) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    write(folder, {"a.md": "text"})
    with pytest.raises(InputError, match=r"caf\?: its name is not valid UTF-8$"):
        sync([folder], store, embedder)


def test_path_that_does_not_exist(corpus: Path, store: Store, embedder: HashingEmbedder) -> None:
    with pytest.raises(InputError, match=r"none\.md: no such file or folder"):
        sync([corpus / "none.md"], store, embedder)


# ------------------------------------------------------------------ priors


@both_kinds
def test_changed_profile_embeds_nothing(
    corpus: Path, new_store: OpenStore, embedder: HashingEmbedder
) -> None:
    stated = "---\nreliability: 0.3\n---\nstated"
    write(corpus, {"a.md": long_text("leave"), "b/c.md": "text", "d.md": stated})
    store = new_store()
    sync([corpus], store, embedder)
    assert {(known.prior, known.prior_rule) for known in store.sources()} == {
        (0.9, "default"),
        (0.3, "front matter"),
    }
    embedder.texts.clear()
    profile = ReliabilityProfile(0.9, (SourceRule("/*.md", 0.6, "drafts"),))
    report = sync([corpus], store, embedder, profile)
    assert report.unchanged == (
        SourceEntry("a.md", "prior 0.9 -> 0.6 (/*.md (drafts))"),
        SourceEntry("b/c.md", ""),
        SourceEntry("d.md", ""),
    )
    assert embedder.texts == []
    found = found_contexts(store, embedder, "leave", 20)
    assert {(c.source, c.prior, c.prior_rule) for c in found} == {
        ("a.md", 0.6, "/*.md (drafts)"),
        ("b/c.md", 0.9, "default"),
        ("d.md", 0.3, "front matter"),
    }
    fresh = new_store("fresh")
    sync([corpus], fresh, embedder, profile)
    assert contents(store) == contents(fresh)


def test_profile_beside_the_corpus_is_found(
    corpus: Path, store: Store, embedder: HashingEmbedder
) -> None:
    profile = '[[source]]\nmatch = "wiki/**"\nprior = 0.6\n'
    write(corpus, {"wiki/a.md": "x", "b.md": "y", "reliability.toml": profile})
    sync([corpus / "wiki", corpus], store, embedder)
    assert {known.source: known.prior for known in store.sources()} == {
        "b.md": 0.9,
        "wiki/a.md": 0.6,
    }


def test_wrong_profile_changes_nothing(
    corpus: Path, store: Store, embedder: HashingEmbedder
) -> None:
    write(corpus, {"a.md": "x", "b.md": "y"})
    sync([corpus], store, embedder)
    (corpus / "a.md").unlink()
    write(corpus, {"reliability.toml": "default = 1.3"})
    with pytest.raises(ProfileError, match=r"reliability\.toml:1: default must be"):
        sync([corpus], store, embedder)
    assert store.count() == 2


def test_dates_and_successors_reach_the_evidence(
    corpus: Path, store: Store, embedder: HashingEmbedder
) -> None:
    write(corpus, {"a.md": "---\ndate: 2020-01-02\nsuperseded_by: b.md\n---\ntext"})
    sync([corpus], store, embedder)
    (context,) = found_contexts(store, embedder, "text", 1)
    assert (context.date, context.superseded_by) == ("2020-01-02", "b.md")


def test_dates_are_found_in_any_case(corpus: Path, store: Store, embedder: HashingEmbedder) -> None:
    write(corpus, {"a.md": "---\nDate: 2020-01-02\n---\ntext"})
    sync([corpus], store, embedder)
    assert store.sources()[0].date == "2020-01-02"


def test_of_several_dates_the_first_is_shown(
    corpus: Path, store: Store, embedder: HashingEmbedder
) -> None:
    write(
        corpus,
        {
            "a.md": "---\ndate: [2024-01-01, 2020-01-01]\n---\ntext",
            "b.md": "---\ndate: true\n---\ntext",
            "c.md": "---\ndate: 2024\n---\ntext",
        },
    )
    sync([corpus], store, embedder)
    assert [record.date for record in store.sources()] == ["2024-01-01", None, "2024"]


def test_a_file_indexed_alone_replaces_one_that_is_not_looked_at(
    corpus: Path, new_store: OpenStore, embedder: HashingEmbedder, tmp_path: Path
) -> None:
    write(corpus, {"old.md": "Leave is 24 days.", "other.md": "Pay is monthly."})
    write(corpus, {"reliability.toml": "superseded = 0.3"})
    write(tmp_path / "wiki", {"a.md": "Of another folder."})
    store = new_store()
    sync([corpus, tmp_path / "wiki"], store, embedder)
    write(corpus, {"new.md": "---\nsupersedes: old.md\n---\nLeave is 25 days."})
    report = sync([corpus / "new.md"], store, embedder)
    assert sources(report.indexed) == ["docs/new.md"]
    assert report.unchanged == (
        SourceEntry("docs/old.md", "prior 0.9 -> 0.3 (default; superseded by docs/new.md)"),
    )
    found = found_contexts(store, embedder, "leave", 9)
    assert {c.source: (c.prior, c.superseded_by) for c in found} == {
        "docs/new.md": (0.9, None),
        "docs/old.md": (0.3, "docs/new.md"),
        "docs/other.md": (0.9, None),
        "wiki/a.md": (0.9, None),
    }
    fresh = new_store("fresh")
    sync([corpus, tmp_path / "wiki"], fresh, embedder)
    assert contents(store) == contents(fresh)


def test_a_successor_that_was_the_last_file_of_a_folder(
    corpus: Path, store: Store, embedder: HashingEmbedder
) -> None:
    write(corpus, {"reliability.toml": "superseded = 0.3", "old.md": "Leave is 24 days."})
    write(corpus, {"new/leave.md": "---\nsupersedes: old.md\n---\nLeave is 25 days."})
    sync([corpus], store, embedder)
    (corpus / "new/leave.md").unlink()
    report = sync([corpus / "new"], store, embedder)
    assert report.unchanged == (SourceEntry("old.md", "prior 0.3 -> 0.9 (default)"),)


def test_rules_reach_the_evidence_without_embedding(
    corpus: Path, new_store: OpenStore, embedder: HashingEmbedder
) -> None:
    """Owner, age, succession and access; of files of which nothing but the stat is read."""
    write(
        corpus,
        {
            "old.md": "---\ndate: 2020-01-01\nowner: Legal\n---\nLeave is 20 days.",
            "leave-v1.md": "Leave is 24 days.",
            "leave-v2.md": "Leave is 25 days.",
            "hr/pay.md": "---\naccess: [hr, board]\n---\nPay is secret.",
        },
    )
    store = new_store()
    sync([corpus], store, embedder)
    embedded = len(embedder.texts)
    write(
        corpus,
        {
            "reliability.toml": """
            superseded = 0.3
            versions_by_name = true
            [[source]]
            owner = "legal"
            prior = 0.9
            half_life_days = 366
            [[access]]
            match = "hr/**"
            groups = ["hr"]
            """
        },
    )
    day = date(2021, 1, 1)  # 366 days later
    report = sync([corpus], store, embedder, today=day)
    assert len(embedder.texts) == embedded
    assert [e for e in report.unchanged if e.reason] == [
        SourceEntry("leave-v1.md", "prior 0.9 -> 0.3 (default; superseded by leave-v2.md)"),
        SourceEntry(
            "old.md",
            "prior 0.9 -> 0.7 (owner legal; 366 days old, half-life 366 days)",
        ),
    ]
    found = found_contexts(store, embedder, "leave", 9)
    assert {(c.source, c.prior, c.superseded_by) for c in found} == {
        ("old.md", 0.7, None),  # 0.5 + 0.4 / 2
        ("leave-v1.md", 0.3, "leave-v2.md"),
        ("leave-v2.md", 0.9, None),
        ("hr/pay.md", 0.9, None),
    }
    access = {r.source: r.groups for r in store.sources()}
    assert access["hr/pay.md"] == frozenset({"hr"})
    assert {access[name] for name in ("old.md", "leave-v1.md", "leave-v2.md")} == {None}
    fresh = new_store("fresh")
    sync([corpus], fresh, embedder, today=day)
    assert contents(store) == contents(fresh)
    # The successor goes, and what it replaced is in force again.
    (corpus / "leave-v2.md").unlink()
    sync([corpus], store, embedder, today=day)
    assert {r.source: r.prior for r in store.sources()}["leave-v1.md"] == 0.9


def test_a_months_runs_give_the_same_digest(
    corpus: Path,
    new_store: OpenStore,
    embedder: HashingEmbedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Counted by the day, a half-life made everything that was verified stale each day."""
    profile = "half_life_days = 100\ndefault = 0.9\n"
    write(
        corpus,
        {"reliability.toml": profile, "a.md": "---\ndate: 2020-01-01\n---\nLeave is 25 days."},
    )
    store = new_store()
    digests = []
    for day in (3, 28, 40):

        class Clock(datetime):
            @classmethod
            def now(cls, tz: tzinfo | None = None) -> Clock:
                return cls(2020, 2, 1, tzinfo=tz) + timedelta(days=day - 1)  # noqa: B023

        monkeypatch.setattr("factcheck_local.indexer.sync.datetime", Clock)
        sync([corpus], store, embedder)
        digests.append(store.digest())
    assert digests[0] == digests[1] != digests[2]


def test_batches_embedded_at_once_make_the_same_store(
    corpus: Path, new_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever is ready first; and of a run that ends none is embedded any more."""
    monkeypatch.setattr("factcheck_local.indexer.sync.EMBED_BATCH", 2)
    write(corpus, {f"{name}.txt": long_text(name, 5) for name in "abcdef"})
    plain, shared = new_store("plain"), new_store("shared")
    sync([corpus], plain, HashingEmbedder())

    class Uneven(HashingEmbedder):
        """The first of several takes longest; counts how many are at it."""

        def __init__(self) -> None:
            super().__init__()
            self.inside = self.most = self.batches = 0

        def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
            self.inside += 1
            self.batches += 1
            self.most = max(self.most, self.inside)
            time.sleep(0.05 if self.batches % 3 == 1 else 0.01)
            try:
                return super().embed(texts)
            finally:
                self.inside -= 1

    embedder = Uneven()
    sync([corpus], shared, embedder, at_once=3)
    assert embedder.most == 3
    assert contents(shared) == contents(plain)
    assert shared.digest() == plain.digest()

    cut, embedder = new_store("cut"), Uneven()

    def full(*_: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(cut, "add", full)
    with pytest.raises(StoreError, match="the disk is full"):
        sync([corpus], cut, embedder, at_once=3)
    assert embedder.batches < plain.count() / 2


# ------------------------------------------------------------ interruption


@both_kinds
@pytest.mark.parametrize("at", [0, 1, 3, 5, 8])
def test_interrupted_run_continues(
    corpus: Path, new_store: OpenStore, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    """Cut off after any number of embeddings, also in the middle of a file."""
    monkeypatch.setattr("factcheck_local.indexer.sync.EMBED_BATCH", 2)
    write(corpus, {f"{name}.txt": long_text(name, 3) for name in ("a", "b", "c")})
    whole = new_store("whole")
    sync([corpus], whole, HashingEmbedder())
    store, embedder = new_store("cut"), HashingEmbedder()
    embedder.interrupt_at = at
    with pytest.raises(KeyboardInterrupt):
        sync([corpus], store, embedder)
    written = store.count()
    assert at - 2 < written <= at  # at most the batch in hand
    again = HashingEmbedder()
    sync([corpus], store, again)
    assert contents(store) == contents(whole)
    assert len(again.texts) == whole.count() - written  # nothing that was written is lost
    assert all(known.complete for known in store.sources())
    assert counts(sync([corpus], store, again)) == (0, 3, 0, 0, 0)


@both_kinds
def test_interrupted_update_leaves_no_old_passages(
    corpus: Path, new_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("factcheck_local.indexer.sync.EMBED_BATCH", 1)
    write(corpus, {"a.txt": long_text("old")})
    store = new_store()
    sync([corpus], store, HashingEmbedder())
    write(corpus, {"a.txt": long_text("new", 5)}, age=60)
    embedder = HashingEmbedder()
    embedder.interrupt_at = 2
    with pytest.raises(KeyboardInterrupt):
        sync([corpus], store, embedder)
    assert [known.complete for known in store.sources()] == [False]
    sync([corpus], store, HashingEmbedder())
    fresh = new_store("fresh")
    sync([corpus], fresh, HashingEmbedder())
    assert contents(store) == contents(fresh)


def test_source_that_is_gone_after_an_interruption(
    corpus: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("factcheck_local.indexer.sync.EMBED_BATCH", 1)
    write(corpus, {"a.txt": long_text("a"), "b.txt": "b"})
    embedder = HashingEmbedder()
    embedder.interrupt_at = 1
    with pytest.raises(KeyboardInterrupt):
        sync([corpus], store, embedder)
    assert store.count() == 1
    (corpus / "a.txt").unlink()
    report = sync([corpus], store, HashingEmbedder())
    assert (sources(report.removed), store.count()) == (["a.txt"], 1)


def interrupt_second_call(monkeypatch: pytest.MonkeyPatch, store: Store, method: str) -> None:
    """Let Chroma do one passage at a time, and stop before the second one."""
    passages = store._passages
    original = getattr(passages._collection, method)
    calls: list[object] = []

    def once(**arguments: object) -> None:
        calls.append(arguments)
        if len(calls) == 2:
            raise KeyboardInterrupt
        original(**arguments)

    monkeypatch.setattr(passages, "_batch", 1)
    monkeypatch.setattr(passages._collection, method, once)


@both_kinds
def test_interrupted_change_of_priors_is_not_taken_for_done(
    corpus: Path, store: Store, embedder: HashingEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(corpus, {"a.txt": long_text("a")})
    sync([corpus], store, embedder)
    before, digest, embedded = contents(store), store.digest(), len(embedder.texts)
    with monkeypatch.context() as patch:
        interrupt_second_call(patch, store, "update")
        with pytest.raises(KeyboardInterrupt):
            sync([corpus], store, embedder, ReliabilityProfile(0.5))
    assert store.digest() != digest
    sync([corpus], store, embedder)  # with the profile of before, as the record says
    assert (contents(store), store.digest()) == (before, digest)
    assert len(embedder.texts) == embedded


@both_kinds
def test_interrupted_removal_is_not_taken_for_complete(
    corpus: Path, store: Store, embedder: HashingEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"a.txt": long_text("a"), "b.txt": "b"}
    write(corpus, files)
    sync([corpus], store, embedder)
    before = contents(store)
    (corpus / "a.txt").unlink()
    with monkeypatch.context() as patch:
        interrupt_second_call(patch, store, "delete")
        with pytest.raises(KeyboardInterrupt):
            sync([corpus], store, embedder)
    write(corpus, files)  # the same file comes back
    sync([corpus], store, embedder)
    assert contents(store) == before


KILLED = """
import os, signal, sys
from pathlib import Path
from factcheck_local.indexer.fingerprint import Fingerprint
from factcheck_local.indexer.store import Store
from factcheck_local.indexer.sync import sync
from tests.indexer.helpers import HashingEmbedder

def kill(step):
    if step.files == 2:
        os.kill(os.getpid(), signal.SIGKILL)

embedder = HashingEmbedder()
store = Store.create(Path(sys.argv[2]), Fingerprint.of(embedder))
sync([Path(sys.argv[1])], store, embedder, progress=kill)
"""


def test_killed_run_continues(corpus: Path, new_store: OpenStore, tmp_path: Path) -> None:
    """No handler runs, no file is closed: the store opens, unlocked, and goes on."""
    write(corpus, {f"{name}.txt": long_text(name, 3) for name in "abcd"})
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(corpus), str(tmp_path / "cut")],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    store = new_store("cut")
    assert sources(sync([corpus], store, HashingEmbedder()).indexed) == [
        f"{name}.txt" for name in "abcd"
    ]
    whole = new_store("whole")
    sync([corpus], whole, HashingEmbedder())
    assert contents(store) == contents(whole)


def test_passages_that_were_lost_are_made_again(
    corpus: Path, new_store: OpenStore, embedder: HashingEmbedder, tmp_path: Path
) -> None:
    write(corpus, FILES)
    store = new_store()
    sync([corpus], store, embedder)
    whole = contents(store)
    store.close()
    shutil.rmtree(tmp_path / ".factcheck" / "chroma")
    store = new_store()
    assert len(sync([corpus], store, embedder).indexed) == len(FILES)
    assert contents(store) == whole


@pytest.mark.parametrize("first", ["interrupted", "include", "folder"])
def test_passages_that_were_lost_are_made_again_though_the_next_run_does_not_reach_all(
    corpus: Path, new_store: OpenStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    monkeypatch.setattr("factcheck_local.indexer.sync.EMBED_BATCH", 1)
    write(corpus, FILES)
    store, embedder = new_store(), HashingEmbedder()
    sync([corpus], store, embedder)
    whole = contents(store)
    store.close()
    shutil.rmtree(tmp_path / ".factcheck" / "chroma")
    store = new_store()
    if first == "interrupted":
        embedder.interrupt_at = len(embedder.texts) + 1
        with pytest.raises(KeyboardInterrupt):
            sync([corpus], store, embedder)
    elif first == "include":
        sync([corpus], store, embedder, include=["*.txt"])
    else:
        sync([corpus / "web"], store, embedder)
    assert store.count() == 1
    assert [record.complete for record in store.sources()].count(True) == 1
    assert len(contents(store)) == 1  # no words of what is not there
    assert len(sync([corpus], store, HashingEmbedder()).indexed) == len(FILES) - 1
    assert contents(store) == whole


def test_other_embedder_is_refused(corpus: Path, store: Store) -> None:
    write(corpus, {"a.md": "text"})
    with pytest.raises(StoreError, match=r"embedder\.dimension is 64 there, 32 now"):
        sync([corpus], store, HashingEmbedder(32))
    assert store.count() == 0


def test_a_store_of_another_chunker_is_refused(
    corpus: Path, embedder: HashingEmbedder, tmp_path: Path
) -> None:
    """Its passages would be cut and named in two ways."""
    write(corpus, {"a.md": "text"})
    now = Fingerprint.of(embedder)
    before = replace(now, chunker=replace(now.chunker, version=now.chunker.version - 1))
    with Store.create(tmp_path / "before", before) as store:
        with pytest.raises(StoreError, match=r"chunker\.version is \d there, \d now") as caught:
            sync([corpus], store, embedder)
        assert store.count() == 0
    assert "--rebuild" in str(caught.value.hint)


def test_same_input_same_output(corpus: Path, new_store: OpenStore) -> None:
    write(corpus, {f"{n}/{n}.md": long_text(f"topic{n}") for n in range(6)})
    answers = []
    for name in ("one", "two"):
        store, embedder = new_store(name), HashingEmbedder()
        report = sync([corpus], store, embedder)
        answers.append((report, store.digest(), store.query(embedder.embed(["topic3 part"]), 9)))
    assert answers[0] == answers[1]


# ------------------------------------------------------------------- roots


@both_kinds
def test_same_names_below_two_folders(
    store: Store, embedder: HashingEmbedder, tmp_path: Path
) -> None:
    for folder in ("one", "two", "deep/two"):
        write(tmp_path / folder, {"a.md": f"text of {folder}"})
    paths = [tmp_path / folder for folder in ("two", "one", "deep/two")]
    assert sources(sync(paths, store, embedder).indexed) == ["one/a.md", "two-2/a.md", "two/a.md"]
    assert counts(sync(paths[::-1], store, embedder)) == (0, 3, 0, 0, 0)
    assert store.count() == 3


def test_second_folder_does_not_rename_or_remove_the_first(
    corpus: Path, store: Store, embedder: HashingEmbedder, tmp_path: Path
) -> None:
    write(corpus, {"a.md": "text", "sub/b.md": "text"})
    write(tmp_path / "wiki", {"a.md": "wiki text"})
    write(tmp_path / "sub", {"b.md": "another sub"})
    assert sources(sync([corpus], store, embedder).indexed) == ["a.md", "sub/b.md"]
    report = sync([tmp_path / "wiki", tmp_path / "sub"], store, embedder)
    assert sources(report.indexed) == ["sub-2/b.md", "wiki/a.md"]
    assert report.removed == ()
    report = sync([tmp_path / "wiki", corpus], store, embedder)
    assert sources(report.unchanged) == ["a.md", "sub/b.md", "wiki/a.md"]


def test_name_taken_by_another_folder(
    corpus: Path, store: Store, embedder: HashingEmbedder, tmp_path: Path
) -> None:
    """A folder appears later whose files would be called as those of another root."""
    write(corpus, {"a.md": "text"})
    write(tmp_path / "wiki", {"a.md": "wiki text"})
    sync([corpus], store, embedder)
    sync([tmp_path / "wiki"], store, embedder)
    write(corpus, {"wiki/a.md": "clash"})
    for paths in ([corpus], [corpus, tmp_path / "wiki"]):
        report = sync(paths, store, embedder)
        reason = "a file of another indexed folder has this name"
        assert report.skipped == (SourceEntry("wiki/a.md", reason),)
    assert sources(report.unchanged) == ["a.md", "wiki/a.md"]
    assert store.count() == 2


def test_part_of_a_known_folder(corpus: Path, store: Store, embedder: HashingEmbedder) -> None:
    """Sources keep their names, and only that part is looked at."""
    write(corpus, FILES)
    sync([corpus], store, embedder)
    (corpus / "policies/pay.txt").unlink()
    (corpus / "scan.pdf").unlink()
    write(corpus, {"policies/new.md": "new"})
    report = sync([corpus / "policies"], store, embedder)
    assert sources(report.indexed) == ["policies/new.md"]
    assert sources(report.unchanged) == ["policies/leave.md"]
    assert sources(report.removed) == ["policies/pay.txt"]
    assert store.roots() == {"": "docs"}


def test_a_folder_that_is_gone_is_forgotten(
    corpus: Path, store: Store, embedder: HashingEmbedder, tmp_path: Path
) -> None:
    """What stood in it is no evidence any more, and the others stay as they are."""
    wiki, left = tmp_path / "wiki", corpus / "left.md"
    write(corpus, {"a.md": "text", "left.md": "text", "sub/c.md": "text"})
    write(wiki, {"a.md": "wiki text", "b.odt": b"PK"})
    sync([corpus, wiki], store, embedder)
    shutil.rmtree(wiki)
    with pytest.raises(InputError, match="wiki: no such file or folder"):
        sync([wiki], store, embedder)
    report = sync([corpus], store, embedder, forget=[wiki])
    assert report.removed == (SourceEntry("wiki/a.md", "forgotten"),)
    assert [record.source for record in store.sources()] == [
        "docs/a.md",
        "docs/left.md",
        "docs/sub/c.md",
    ]
    assert store.left_out() == ()
    assert store.faults() == ()
    with pytest.raises(InputError, match=r"left\.md: is to be indexed and to be forgotten"):
        sync([corpus], store, embedder, forget=[left])
    with pytest.raises(InputError, match="other: nothing of it is in the store"):
        sync([corpus], store, embedder, forget=[tmp_path / "other"])
    report = sync([corpus / "a.md"], store, embedder, forget=[left, corpus / "sub"])
    assert sources(report.removed) == ["docs/left.md", "docs/sub/c.md"]


@both_kinds
def test_folder_around_a_known_one(corpus: Path, store: Store, embedder: HashingEmbedder) -> None:
    write(corpus, FILES)
    sync([corpus / "policies"], store, embedder)
    report = sync([corpus], store, embedder)
    assert sources(report.unchanged) == ["leave.md", "pay.txt"]
    assert sources(report.indexed) == ["docs/scan.pdf", "docs/web/page.html"]


def test_single_files(corpus: Path, store: Store, embedder: HashingEmbedder) -> None:
    write(corpus, {**FILES, ".hidden.md": "hidden"})
    given = [corpus / "policies/pay.txt", corpus / "policies/leave.md"]
    report = sync(given, store, embedder, exclude=["*"])
    assert sources(report.indexed) == ["leave.md", "pay.txt"]
    assert counts(sync(given[:1], store, embedder)) == (0, 1, 0, 0, 0)
    assert sources(sync([corpus / ".hidden.md"], store, embedder).indexed) == ["docs/.hidden.md"]
    report = sync([corpus], store, embedder)
    assert "docs/.hidden.md" in sources(report.unchanged)  # given by name once, kept
    write(corpus, {"x.xyz": "x"})
    with pytest.raises(InputError, match=r"no loader for \.xyz"):
        sync([corpus / "x.xyz"], store, embedder)


def test_store_and_corpus_can_move_together(
    new_store: OpenStore, embedder: HashingEmbedder, tmp_path: Path
) -> None:
    write(tmp_path / "here" / "docs", FILES)
    store = new_store("here/.factcheck")
    sync([tmp_path / "here" / "docs"], store, embedder)
    store.close()
    (tmp_path / "here").rename(tmp_path / "there")
    moved = new_store("there/.factcheck")
    assert counts(sync([tmp_path / "there" / "docs"], moved, embedder)) == (0, 4, 0, 0, 0)


def test_a_folder_on_another_drive(
    corpus: Path, store: Store, embedder: HashingEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows has no path from one to the other."""

    def refused(path: Path, start: Path) -> str:
        raise ValueError(f"path is on mount {path.drive!r}, start on mount {start.drive!r}")

    monkeypatch.setattr(os.path, "relpath", refused)
    write(corpus, FILES)
    sync([corpus], store, embedder)
    assert store.roots() == {"": corpus.as_posix()}
    assert counts(sync([corpus], store, embedder)) == (0, 4, 0, 0, 0)


def test_rows_keep_their_place_and_what_was_left_out_is_noted(
    corpus: Path, store: Store, embedder: HashingEmbedder
) -> None:
    rows: list[list[object]] = [["Item", "Price"], ["Tea", 2.5], ["Milk", "=1+1"]]
    write(corpus, {"prices.xlsx": workbook({"Drinks": [[], *rows]})})
    report = sync([corpus], store, embedder)
    assert report.indexed == (
        SourceEntry("prices.xlsx", "1 passage; 1 formula without a stored value"),
    )  # fmt: skip
    (passage,) = found_contexts(store, embedder, "Tea", 1)
    assert (passage.title, passage.line) == ("prices.xlsx > Drinks", 2)


def test_files_with_nothing_to_read_are_skipped(
    corpus: Path, store: Store, embedder: HashingEmbedder
) -> None:
    write(corpus, {"a.md": "text", "b.py": "'''Doc.'''", "c.xml": "<rss/>", "d.xml": "<rss>"})
    sync([corpus], store, embedder)
    write(corpus, {"b.py": "x = 1  # no docstring any more"}, age=1800)
    report = sync([corpus], store, embedder)
    assert sources(report.skipped) == ["b.py", "c.xml"]
    assert report.skipped[0].reason == "holds no docstring; its earlier passages are removed"
    assert sources(report.failed) == ["d.xml"]
    assert store.count() == 1


@both_kinds
def test_whose_a_document_is_stays_known_while_it_is_unchanged(
    corpus: Path, store: Store, embedder: HashingEmbedder
) -> None:
    pages: dict[str, str | bytes] = {
        "travel.md": "# Travel\n\nThis covers trips of employees of Harbour Trust.",
        "leave.md": "---\norganization: Fen Courier\n---\n\nStaff of Harbour Trust rest.",
        "canteen.txt": "Lunch is served from noon.",
    }
    write(corpus, pages)
    for _ in range(2):
        sync([corpus], store, embedder)
        assert {s.source: s.metadata for s in store.sources()} == {
            "travel.md": {"organisation": ["Harbour Trust"]},
            "leave.md": {"organization": "Fen Courier"},
            "canteen.txt": {},
        }
