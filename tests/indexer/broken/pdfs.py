"""PDFs: cut off, encrypted, looped, and bombs."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator

from pypdf import PdfReader, PdfWriter

from ..helpers import pdf
from .case import NESTED, Case, failed, indexed


def objects(*bodies: bytes, trailer: bytes = b"/Root 1 0 R") -> bytes:
    """A PDF of these objects, numbered from 1."""
    data = b"%PDF-1.4\n"
    places = []
    for number, body in enumerate(bodies, start=1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(places) + 1
    return (
        data
        + b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table)
        + b"trailer\n<< /Size %d %s >>\nstartxref\n%d\n%%%%EOF\n" % (size, trailer, len(data))
    )


CATALOG = b"<< /Type /Catalog /Pages 2 0 R >>"
PAGES = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
FONT = b"<< /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"
PAGE = (
    b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources %s >>" % FONT
)
SAID = b"BT /F 12 Tf 50 700 Td (Staff get 25 days.) Tj ET"


def stream(content: bytes, entries: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), entries, content)


def cases() -> Iterator[Case]:
    whole = pdf("Staff get 25 days.", "They ask.")
    for part in range(1, 8):
        yield failed(f"cut-{part}.pdf", whole[: len(whole) * part // 8], "is truncated")
    yield failed(
        "cut-mended.pdf", whole[: len(whole) // 2] + b"%%EOF", "is a damaged PDF: |no text"
    )
    yield indexed("objects.pdf", objects(CATALOG, PAGES, PAGE, stream(SAID)), "1 passage$")
    yield failed("text.pdf", "plain text", r"is not a PDF")
    yield failed("head.pdf", "%PDF-1.4\n%%EOF", "is a damaged PDF: ")
    yield failed("scan.pdf", pdf("", ""), "no text layer on any of 2 pages: scanned")
    yield indexed("half-scan.pdf", pdf("text", ""), "1 passage; no text on page 2: scanned")
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(whole)))
    writer.encrypt("secret", "owner", algorithm="AES-256")
    locked = io.BytesIO()
    writer.write(locked)
    yield failed("locked.pdf", locked.getvalue(), "is encrypted, a password is needed$")
    around = b"<< /Type /Pages /Kids [2 0 R 3 0 R] /Count 2 >>"
    yield failed(
        "page-loop.pdf", objects(CATALOG, around, PAGE, stream(SAID)), "is a damaged PDF: "
    )
    outlined = b"<< /Type /Catalog /Pages 2 0 R /Outlines 5 0 R >>"
    entry = b"<< /Title (A) /Parent 5 0 R /First 6 0 R /Next 6 0 R /Dest [3 0 R /Fit] >>"
    yield indexed("outline-loop.pdf", objects(outlined, PAGES, PAGE, stream(SAID),
                  b"<< /Type /Outlines /First 6 0 R /Last 6 0 R >>", entry))  # fmt: skip
    yield indexed("table-loop.pdf", objects(CATALOG, PAGES, PAGE, stream(SAID),
                  trailer=b"/Root 1 0 R /Prev 400"), "1 passage$")  # fmt: skip
    bomb = zlib.compress(bytes(100_000_000))
    yield failed("bomb.pdf", objects(CATALOG, PAGES, PAGE, stream(bomb, b"/Filter /FlateDecode")),
                 "is a damaged PDF: |no text layer")  # fmt: skip
    yield failed("filters.pdf", objects(CATALOG, PAGES, PAGE, stream(
        SAID, b"/Filter [%s]" % (b"/FlateDecode " * 500))), "is a damaged PDF: ")  # fmt: skip
    yield failed("no-pages.pdf", objects(CATALOG, b"<< /Type /Pages /Kids [] /Count 9 >>"),
                 "is a damaged PDF: |no text layer")  # fmt: skip
    yield failed("brackets.pdf", objects(CATALOG, b"[" * 5_000), NESTED)
    yield failed("brackets-said.pdf", objects(CATALOG, PAGES, PAGE, stream(b"[" * 5_000)),
                 "is nested too deeply$|no text layer")  # fmt: skip
