"""OCR: a text layer for pages of a PDF that have none, by ocrmypdf and tesseract.

They run in a process and a temporary folder of their own, on a copy that holds nothing
but these pages. Neither of them uses the network.
"""

from __future__ import annotations

import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from pypdf import PdfReader, PdfWriter

from factcheck_local.core.errors import DocumentError
from factcheck_local.indexer.loaders.text import printable, shortened

#: Languages that are recognised, as tesseract names them, joined by "+".
LANGUAGE = "eng"

#: Time that a page may take, in seconds, and at most half of what all of them may; one that
#: takes longer stays without text.
PAGE_SECONDS = 120

#: Pages of more megapixels than this are not drawn: they are made to fill the memory.
MAX_MEGAPIXELS = 128

_PROGRAMS = {"tesseract": "tesseract-ocr", "gs": "ghostscript"}  # their Debian packages


def with_text_layer(pdf: PdfReader, pages: Sequence[int], source: str, seconds: float) -> bytes:
    """Read pages by OCR.

    Args:
        pdf: an open file, decrypted.
        pages: numbers of its pages, from 1; at least one.
        source: what the file is called.
        seconds: time that they may take all together.

    Returns:
        A PDF of these pages alone, in their order, each with what was recognised.

    Raises:
        DocumentError: naming what has to be installed, if anything has; if the pages
            cannot be drawn, or take too long all together.
    """
    if missing := _missing():
        raise DocumentError(f"{source}: OCR needs {missing}")
    writer = PdfWriter()
    for number in pages:
        writer.add_page(pdf.pages[number - 1])
    scan = io.BytesIO()
    writer.write(scan)
    with tempfile.TemporaryDirectory(prefix="factcheck-ocr-") as scratch:
        folder = Path(scratch)
        (folder / "scan.pdf").write_bytes(scan.getvalue())
        command = [
            *(sys.executable, "-P", "-m", "ocrmypdf"),  # -P: no module from the folder
            *("--force-ocr", "--output-type", "pdf", "--optimize", "0", "--quiet"),
            *("--language", LANGUAGE, "--max-image-mpixels", str(MAX_MEGAPIXELS)),
            *("--tesseract-timeout", f"{min(PAGE_SECONDS, seconds / 2):g}"),
            *("scan.pdf", "read.pdf"),
        ]
        try:
            _run(command, folder, seconds)
            return (folder / "read.pdf").read_bytes()
        except subprocess.TimeoutExpired as error:
            count = f"{len(pages)} page{'s' * (len(pages) > 1)}"
            raise DocumentError(
                f"{source}: OCR of {count} took longer than {seconds:g} seconds:"
                " raise --max-file-time"
            ) from error
        except (subprocess.CalledProcessError, OSError) as error:
            said = printable((folder / "log").read_text(errors="replace"))
            what = shortened(said) or "ocrmypdf did not say why"
            raise DocumentError(f"{source}: OCR failed: {what}") from error


def _missing() -> str:
    """How to install what is missing; "" if nothing is."""
    packages = [package for name, package in _PROGRAMS.items() if shutil.which(name) is None]
    needs = ["pip install 'factcheck-local[ocr]'"] if find_spec("ocrmypdf") is None else []
    if packages:
        needs.append(f"apt-get install {' '.join(packages)}")
    return ", ".join(needs)


def _run(command: Sequence[str], folder: Path, seconds: float) -> None:
    """Run a program in a folder; what it says goes to the file ``log`` there.

    Raises:
        CalledProcessError: if it fails.
        TimeoutExpired: if it takes too long; it and all that it started are ended.
    """
    environment = {**os.environ, "TMPDIR": str(folder)}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            status = process.wait(seconds)
        finally:
            if process.poll() is None:  # too slow, or we are interrupted
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    if status:
        raise subprocess.CalledProcessError(status, command[0])
