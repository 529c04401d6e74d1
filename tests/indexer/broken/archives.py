"""Office files: cut off, zip bombs of every kind, and XML that asks for too much."""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping

from ..samples import repacked, slides, word, workbook
from .case import LAUGHS, NOISE, Case, failed, indexed

OFFICE = {".docx": word(), ".pptx": slides(), ".xlsx": workbook()}

#: The part that holds the text, and a place in it where more may stand.
MAIN_PART = {
    ".docx": ("word/document.xml", b"<w:body>"),
    ".pptx": ("ppt/slides/slide1.xml", b"<p:cSld>"),
    ".xlsx": ("xl/worksheets/sheet1.xml", b"<sheetData>"),
}


def cases() -> Iterator[Case]:
    for extension, whole in OFFICE.items():
        kind = extension[1:].upper()
        damaged = f"is a damaged {kind}: "
        part, place = MAIN_PART[extension]

        def more(text: bytes, whole: bytes = whole, part: str = part, at: bytes = place) -> bytes:
            return repacked(
                whole, lambda name, old: old.replace(at, at + text) if name == part else old
            )

        def with_type(declaration: bytes, whole: bytes = whole, part: str = part) -> bytes:
            return repacked(
                whole,
                lambda name, old: (
                    b"<?xml version='1.0'?>" + declaration + re.sub(rb"^<\?xml.*?\?>", b"", old)
                    if name == part
                    else old
                ),
            )

        for cut in (1, 3, 5, 7):
            yield failed(f"cut-{cut}{extension}", whole[: len(whole) * cut // 8], damaged)
        yield failed(f"text{extension}", "plain text", f"is not a {kind} .it is no zip archive")
        yield failed(f"old{extension}", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
                     "is in an old binary Office format, save it as")  # fmt: skip
        yield failed(f"laughs{extension}", with_type(LAUGHS.encode()),
                     "declares XML entities or a document type in ")  # fmt: skip
        yield failed(f"outside{extension}", with_type(b'<!DOCTYPE a SYSTEM "file:///etc/hostname">'),
                     "declares XML entities or a document type in ")  # fmt: skip
        deep = more(b"<a>" * 5_000 + b"</a>" * 5_000)
        if extension == ".xlsx":  # read element by element; what is no row is passed over
            yield indexed("deep.xlsx", deep)
        else:
            yield failed(f"deep{extension}", deep, damaged)
            yield failed(f"no-part{extension}", without(whole, part), damaged)
        yield failed(f"ratio{extension}", repacked(whole, _same, {"a.xml": bytes(11_000_000)}),
                     "'a.xml' is compressed more than 200 times: a zip bomb")  # fmt: skip
        yield failed(f"overlap{extension}", overlapping(whole), "its members overlap: a zip bomb")
        yield failed(f"lie{extension}", lying(whole, part), f"'{part}' is not as long as it says")
        yield failed(f"locked{extension}", flagged(whole), "is encrypted, a password is needed$")
        packed = repacked(whole, _same, {"a.xml": NOISE}, method=zipfile.ZIP_BZIP2)
        yield failed(f"method{extension}", packed, damaged + "'a.xml' is compressed in a way")
        inner = zipped({"a.zip": zipped({"b.zip": zipped({"zeros": bytes(9_000_000)})})})
        yield indexed(f"nested{extension}", repacked(whole, _same, {"media/a.zip": inner}))
        yield indexed(f"outside-name{extension}", repacked(whole, _same, {"../../out.txt": b"x"}))
    far = b'<row r="9"><c r="ZZZZZZ9" t="str"><v>x</v></c></row>'
    yield failed("far.xlsx", _sheet(far), "is a damaged XLSX: .* has a cell beyond any sheet$")
    below = b'<row r="99999999"><c r="A1" t="str"><v>x</v></c></row>'
    yield indexed("below.xlsx", _sheet(below))
    span = b'<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="999999999"/></w:tcPr><w:p/></w:tc>'
    span += b"<w:tc><w:p><w:r><w:t>far</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
    yield indexed("span.docx", repacked(
        OFFICE[".docx"], lambda _, old: old.replace(b"<w:body>", b"<w:body>" + span)))  # fmt: skip


def _same(_: str, content: bytes) -> bytes:
    return content


def _sheet(rows: bytes) -> bytes:
    """The workbook with more rows at the end of its first sheet."""
    return repacked(
        OFFICE[".xlsx"],
        lambda name, old: (
            old.replace(b"</sheetData>", rows + b"</sheetData>") if name.endswith("1.xml") else old
        ),
    )


def zipped(members: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def without(data: bytes, part: str) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return zipped({n: archive.read(n) for n in archive.namelist() if n != part})


def overlapping(data: bytes) -> bytes:
    """The archive with one member, of 9 MB, twenty times in its directory."""
    buffer = io.BytesIO(data)
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros.bin", bytes(9_000_000) + NOISE * 10)
        archive.filelist += [archive.getinfo("zeros.bin")] * 19
    return buffer.getvalue()


def lying(data: bytes, part: str) -> bytes:
    """The archive whose directory gives a member 100 bytes, and their checksum."""
    changed = bytearray(repacked(data, _same))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        checksum = zlib.crc32(archive.read(part)[:100])
    for entry in re.finditer(rb"PK\x01\x02.{42}(?=%s)" % re.escape(part.encode()), changed, re.S):
        struct.pack_into("<L", changed, entry.start() + 16, checksum)
        struct.pack_into("<L", changed, entry.start() + 24, 100)
    return bytes(changed)


def flagged(data: bytes) -> bytes:
    """The archive with one member that is said to be encrypted."""
    changed = bytearray(data)
    changed[changed.rindex(b"PK\x01\x02") + 8] |= 1
    return bytes(changed)
