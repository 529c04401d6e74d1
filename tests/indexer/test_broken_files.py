"""Broken, odd and hostile files: each ends as one line, and none harms another."""

from __future__ import annotations

import logging
import os
import re
import sys
from pathlib import Path

import pytest

from factcheck_local.core.errors import DocumentError
from factcheck_local.core.types import Document
from factcheck_local.indexer.chunker import chunk
from factcheck_local.indexer.fingerprint import Fingerprint
from factcheck_local.indexer.loaders import LOADERS, UnsupportedFormatError, load
from factcheck_local.indexer.reliability.statements import writable
from factcheck_local.indexer.store import Store
from factcheck_local.indexer.survey import SourceEntry
from factcheck_local.indexer.sync import sync

from .broken import every
from .broken.case import Case
from .broken.mutations import mutations
from .broken.names import odd_names
from .helpers import HashingEmbedder, write
from .samples import SAMPLES

pytestmark = pytest.mark.long

CASES = list(every())
GOOD = {f"good/a{extension}": data for extension, data in SAMPLES.items()}
OUTCOMES = ("indexed", "skipped", "failed")


class Run:
    """A run over all of the files, good ones beside them, and another one after it."""

    def __init__(self, folder: Path) -> None:
        self.docs = folder / "docs"
        self.docs.mkdir()
        write(self.docs, {**{case.name: case.data for case in CASES}, **GOOD})
        self.odd = list(odd_names(self.docs))
        self.before = _surroundings(folder)
        embedder = HashingEmbedder()
        with Store.create(folder / ".factcheck", Fingerprint.of(embedder)) as store:
            self.report = sync([self.docs], store, embedder)
            self.embedded = set(embedder.texts)
            self.after = _surroundings(folder)
            self.second = sync([self.docs], store, embedder)

    def lines(self) -> list[tuple[str, SourceEntry]]:
        """The report, each line with the list that it is in."""
        return [(outcome, e) for outcome in OUTCOMES for e in getattr(self.report, outcome)]


def _surroundings(folder: Path) -> list[object]:
    """What no file may change: files, and settings of the process."""
    return [
        sorted(map(str, (folder / "docs").rglob("*"))),
        sorted(set(os.listdir(folder)) - {".factcheck"}),
        sorted(os.listdir()),
        sys.getrecursionlimit(),
        [logging.getLogger(name).level for name in ("", "pypdf")],
    ]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return Run(tmp_path_factory.mktemp("broken"))


def check(run: Run, case: Case) -> None:
    lines = [(outcome, e.reason) for outcome, e in run.lines() if e.source == writable(case.name)]
    assert [outcome for outcome, _ in lines] == [case.outcome], lines
    reason = lines[0][1]
    assert re.match(case.reason, reason), reason
    assert reason.isprintable()
    assert "its reader failed" not in reason
    assert 0 < len(reason) < 500


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_broken_file_is_one_line(run: Run, case: Case) -> None:
    check(run, case)


def test_an_odd_name_or_kind_of_file_is_one_line(run: Run) -> None:
    for case in run.odd:
        check(run, case)


def test_every_file_has_its_line(run: Run) -> None:
    sources = sorted(entry.source for _, entry in run.lines())
    assert sources == sorted([*GOOD, *(writable(case.name) for case in (*CASES, *run.odd))])


def test_good_files_beside_them_are_indexed_in_full(run: Run) -> None:
    counts = {entry.source: entry.reason for entry in run.report.indexed}
    for name in GOOD:
        passages = chunk(load(run.docs / name, name))
        assert counts[name].split(";")[0] == f"{len(passages)} passage{'s' * (len(passages) > 1)}"
        assert {passage.titled_text for passage in passages} <= run.embedded


def test_nothing_else_changes_and_nothing_outside_is_read(run: Run) -> None:
    assert run.before == run.after
    assert not any("secret" in text for text in run.embedded)
    assert not any(Path("/etc/hostname").read_text().strip() in text for text in run.embedded)


def test_a_second_run_says_the_same_and_reads_nothing_twice(run: Run) -> None:
    assert [e.source for e in run.second.unchanged] == [e.source for e in run.report.indexed]
    assert run.second.indexed == ()
    assert run.second.skipped == run.report.skipped
    assert run.second.failed == run.report.failed


def test_a_pipe_is_not_waited_for(corpus: Path) -> None:
    os.mkfifo(corpus / "a.md")
    with pytest.raises(DocumentError, match=r"^a\.md: is not a regular file$"):
        load(corpus / "a.md", "a.md")


@pytest.mark.parametrize("name", ["bad\udcff.md", "bad\udcff/a.md"])
def test_a_name_that_is_no_text_is_not_read(corpus: Path, name: str) -> None:
    with pytest.raises(UnsupportedFormatError, match=r"its name is not valid UTF-8$"):
        load(corpus / name, name)


@pytest.mark.parametrize("extension", list(LOADERS))
def test_a_damaged_file_is_one_line_or_read(corpus: Path, extension: str) -> None:
    name = f"a{extension}"
    for data in mutations(extension, seed=extension, count=60):
        write(corpus, {name: data})
        document, problem = read_or_problem(corpus / name)
        if document is None:
            assert problem.startswith(f"{name}: ")
            assert problem.isprintable()
            assert "its reader failed" not in problem
        else:
            for passage in chunk(document):
                assert passage.text == passage.span.of(document.text)
                assert passage.titled_text.encode()


def read_or_problem(path: Path) -> tuple[Document | None, str]:
    try:
        return load(path, path.name), ""
    except DocumentError as error:
        return None, str(error)
