"""Scanned pages of a PDF, read by OCR where it is asked for."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont
from pypdf import PdfReader, PdfWriter
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from factcheck_local.core.errors import DocumentError
from factcheck_local.core.types import Document
from factcheck_local.indexer.chunker import chunk
from factcheck_local.indexer.loaders import load, ocr
from factcheck_local.indexer.reader import ReadLimits, Task, Unread, read_ahead
from factcheck_local.indexer.reliability import ReliabilityProfile
from factcheck_local.indexer.store import Store
from factcheck_local.indexer.survey import SourceEntry
from factcheck_local.indexer.sync import sync

from .helpers import HashingEmbedder, pdf, write

INSTALLED = find_spec("ocrmypdf") is not None and all(map(shutil.which, ("tesseract", "gs")))
NEEDS_OCR = pytest.mark.skipif(not INSTALLED, reason="ocrmypdf, tesseract or ghostscript missing")

SIZE = (500, 300)  # of a page, in points
SENTENCE = "The notice period is three months."


def picture(text: str) -> Image.Image:
    """A page as a scanner gives it, at about 150 dots per inch."""
    image = Image.new("L", (SIZE[0] * 2, SIZE[1] * 2), 255)
    ImageDraw.Draw(image).text((60, 200), text, font=ImageFont.load_default(40), fill=0)
    return image


def scanned(*pages: str | Image.Image | None) -> bytes:
    """A PDF of pages with text, pages that are pictures, and empty ones."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=SIZE, invariant=True)
    for page in pages:
        if isinstance(page, str):
            canvas.drawString(60, 200, page)
        elif page is not None:
            canvas.drawImage(ImageReader(page), 0, 0, *SIZE)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def read(folder: Path, data: bytes) -> Document:
    write(folder, {"scan.pdf": data})
    return load(folder / "scan.pdf", "scan.pdf", ocr_seconds=60)


@NEEDS_OCR
def test_scanned_pages_are_read_and_keep_their_numbers(corpus: Path) -> None:
    data = scanned("Staff get 25 days.", picture(SENTENCE), None, "They ask.")
    document = read(corpus, data)
    assert document.metadata == {"pages_without_text": (3,), "ocr_pages": (2,)}
    assert document.sha256 == hashlib.sha256(data).hexdigest()
    assert [(passage.page, passage.text) for passage in chunk(document)] == [
        (1, "Staff get 25 days."),
        (2, SENTENCE),
        (4, "They ask."),
    ]
    assert [path.name for path in corpus.iterdir()] == ["scan.pdf"]
    assert (corpus / "scan.pdf").read_bytes() == data


@NEEDS_OCR
def test_a_scan_that_is_encrypted_with_the_empty_password_is_read(corpus: Path) -> None:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(scanned(picture(SENTENCE)))))
    writer.encrypt("", "owner", algorithm="AES-256")
    buffer = io.BytesIO()
    writer.write(buffer)
    assert read(corpus, buffer.getvalue()).text == SENTENCE


@NEEDS_OCR
def test_pages_with_nothing_on_them_stay_without_text(corpus: Path) -> None:
    with pytest.raises(DocumentError, match=r"on any of 2 pages, and OCR found none$"):
        read(corpus, scanned(None, None))


@NEEDS_OCR
def test_what_ocr_says_is_passed_on_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TESSDATA_PREFIX", str(tmp_path))  # where no language is installed
    pages = PdfReader(io.BytesIO(scanned(picture(SENTENCE))))
    with pytest.raises(DocumentError, match=r"^a\.pdf: OCR failed: [^\n]*eng\.") as caught:
        ocr.with_text_layer(pages, [1], "a.pdf", 60)
    assert str(caught.value).isprintable()


@pytest.fixture
def slow_programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs for OCR that take longer than any test."""
    folder = tmp_path / "bin"
    for name in ("tesseract", "gs"):
        write(folder, {name: "#!/bin/sh\nexec sleep 60\n"})
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


@NEEDS_OCR
@pytest.mark.usefixtures("slow_programs")
def test_ocr_ends_before_its_file_is_given_up_and_says_what_gives_it_more_time(
    corpus: Path,
) -> None:
    write(corpus, {"text.pdf": pdf("one"), "scan.pdf": scanned(picture(SENTENCE))})
    tasks = [Task(name, corpus / name, 10) for name in ("text.pdf", "scan.pdf")]
    limits = ReadLimits(seconds=8, memory_megabytes=2345)  # another process than of other tests
    _, (_, found) = read_ahead(tasks, limits, ocr=True)
    assert found == Unread("OCR of 1 page took longer than 7.2 seconds: raise --max-file-time")


#: Reads a file by OCR.
RUN = """
import sys
from pathlib import Path
from factcheck_local.indexer.reader import ReadLimits, Task, read_ahead

list(read_ahead([Task("scan.pdf", Path(sys.argv[1]), 10)], ReadLimits(), ocr=True))
"""


@NEEDS_OCR
@pytest.mark.usefixtures("slow_programs")
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_is_ended_amid_ocr_leaves_no_scanned_page(tmp_path: Path, sent: int) -> None:
    write(tmp_path, {"scan.pdf": scanned(picture(SENTENCE))})
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary)}
    command = [sys.executable, "-c", RUN, str(tmp_path / "scan.pdf")]
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as running:
        while not list(temporary.rglob("scan.pdf")):
            assert running.poll() is None
            time.sleep(0.1)
        running.send_signal(sent)
    end = time.monotonic() + 20
    while os.listdir(temporary) and time.monotonic() < end:
        time.sleep(0.1)
    assert os.listdir(temporary) == []


def test_missing_programs_are_named(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(corpus))
    monkeypatch.setattr(ocr, "find_spec", lambda _: None)
    with pytest.raises(DocumentError) as caught:
        read(corpus, scanned(picture(SENTENCE)))
    assert str(caught.value) == (
        "scan.pdf: OCR needs pip install 'factcheck-local[ocr]',"
        " apt-get install tesseract-ocr ghostscript"
    )


def test_text_needs_no_ocr(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(corpus))
    monkeypatch.setattr(subprocess, "Popen", None)
    document = read(corpus, pdf("one", "two"))
    assert document.metadata == {}
    write(corpus, {"a.txt": "text"})
    assert load(corpus / "a.txt", "a.txt", ocr_seconds=60).text == "text"


def test_ocr_is_not_used_unasked(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "Popen", None)
    write(corpus, {"scan.pdf": scanned("one", picture(SENTENCE))})
    assert load(corpus / "scan.pdf", "scan.pdf").metadata == {"pages_without_text": (2,)}


@NEEDS_OCR
def test_what_is_indexed_is_read_again_for_ocr_and_once_only(
    corpus: Path, store: Store, embedder: HashingEmbedder
) -> None:
    write(
        corpus,
        {
            "scan.pdf": scanned("Staff get 25 days.", picture(SENTENCE), None),
            "text.pdf": pdf("one"),
            "a.md": "---\npages_without_text: [1]\n---\ntext",
        },
    )
    sync([corpus], store, embedder)
    report = sync([corpus], store, embedder, ocr=True)
    note = "2 passages; no text on page 3: scanned?; read by OCR: page 2"
    assert report.indexed == (SourceEntry("scan.pdf", note),)
    assert len(report.unchanged) == 2
    for ocr_too in (True, False):
        assert not sync([corpus], store, embedder, ocr=ocr_too).indexed
    assert store.count() == 4


def test_what_ocr_cannot_read_keeps_the_passages_that_it_has(
    corpus: Path, store: Store, embedder: HashingEmbedder
) -> None:
    write(corpus, {"scan.pdf": scanned("Staff get 25 days.", picture(SENTENCE)), "a.md": "text"})
    sync([corpus], store, embedder)
    (before,) = [record for record in store.sources() if record.source == "scan.pdf"]
    for profile in (None, ReliabilityProfile(0.6)):
        limits = ReadLimits(seconds=0.01)
        report = sync([corpus], store, embedder, profile, ocr=True, limits=limits)
        assert [entry.source for entry in report.unchanged] == ["a.md"]
        (failed,) = report.failed
        assert failed.source == "scan.pdf"
        assert failed.reason.endswith("; its earlier passages stay")
        assert store.left_out() == ()
    after = next(record for record in store.sources() if record.source == "scan.pdf")
    assert (after.digest, after.complete, after.prior) == (before.digest, True, 0.6)
