"""A folder of broken, odd and hostile files, each with what a run has to say of it."""

from __future__ import annotations

import codecs
import io
import json
import os
import random
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from pypdf import PdfReader, PdfWriter

from .helpers import pdf, write
from .samples import MAILBOX, MARKDOWN, MEDIAWIKI, SAMPLES, mail, repacked, slides, word, workbook

OFFICE = {".docx": word(), ".pptx": slides(), ".xlsx": workbook()}

#: The part that holds the text, and a place in it where more may stand.
MAIN_PART = {
    ".docx": ("word/document.xml", b"<w:body>"),
    ".pptx": ("ppt/slides/slide1.xml", b"<p:cSld>"),
    ".xlsx": ("xl/worksheets/sheet1.xml", b"<sheetData>"),
}


class Case(NamedTuple):
    """A file, the list of the report that it ends in, and what the reason begins with."""

    name: str
    data: bytes
    outcome: str
    reason: str


def indexed(name: str, data: str | bytes, reason: str = r"\d+ passages?$") -> Case:
    return Case(name, data.encode() if isinstance(data, str) else data, "indexed", reason)


def failed(name: str, data: str | bytes, reason: str) -> Case:
    return Case(name, data.encode() if isinstance(data, str) else data, "failed", reason)


def skipped(name: str, data: str | bytes, reason: str) -> Case:
    return Case(name, data.encode() if isinstance(data, str) else data, "skipped", reason)


QUOTES = '"' * 20_000
NESTED = r"is nested too deeply$"
EMPTY = r"empty file$"
NO_TEXT = r"holds no text$"
NOISE = bytes(random.Random(0).randrange(256) for _ in range(600))
PICTURE = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + NOISE
LAUGHS = (
    '<!DOCTYPE a [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {chr(c)} "{f"&{chr(c - 1)};" * 10}">' for c in range(ord("b"), ord("l")))
    + "]>"
)


def every() -> Iterator[Case]:
    """All cases whose files have plain names."""
    yield from _any_format()
    yield from _texts()
    yield from _markup()
    yield from _records()
    yield from _source()
    yield from _messages()
    yield from _pdfs()
    yield from _archives()


# ---------------------------------------------------------------- every format


def _any_format() -> Iterator[Case]:
    for extension in SAMPLES:
        if extension == ".py":
            yield skipped("empty.py", b"", "holds no docstring$")
            yield skipped("space.py", b" \n\n", "holds no docstring$")
        else:
            yield failed(f"empty{extension}", b"", "empty file$")
            yield failed(f"space{extension}", b" \n\t\r\n" * 9, "holds no text$|is not a ")
        yield failed(f"noise{extension}", NOISE, "looks binary|is not ")
        yield failed(f"picture{extension}", PICTURE, "looks binary|is not ")


# -------------------------------------------------------------------- encodings


def _texts() -> Iterator[Case]:
    for encoding in ("utf-8-sig", "utf-16", "utf-32"):
        for extension, text in ((".md", MARKDOWN), (".html", "<p>Caf\xe9 &amp; tea</p>")):
            yield indexed(f"{encoding}{extension}", text.encode(encoding), "1 passage$")
    for name, mark in (("8", codecs.BOM_UTF8), ("16", codecs.BOM_UTF16_BE)):
        yield failed(f"mark{name}.txt", mark, NO_TEXT)
        yield failed(f"mark{name}.html", mark, NO_TEXT)
    yield failed("no-mark.txt", "text".encode("utf-16-le"), r"looks binary \(NUL byte at offset 1")
    yield failed("odd16.md", "text".encode("utf-16") + b"x", "is not valid UTF-16 ")
    yield failed("half16.md", codecs.BOM_UTF16_LE + b"\x00\xd8x\x00", "is not valid UTF-16 ")
    yield failed("far32.md", codecs.BOM_UTF32_LE + b"\xff" * 8, "is not valid UTF-32 ")
    yield failed("nul.txt", b"text\x00text", r"looks binary \(NUL byte at offset 4\)")
    yield failed("control.md", b"\x01\x02text\x03", "looks binary .3 control characters among 7")
    yield failed("latin.md", b"caf\xe9", r"is not valid UTF-8 \(byte 0xe9 at offset 3\)")
    yield failed("cut8.txt", "text caf\xe9".encode()[:-1], "is not valid UTF-8 ")
    yield indexed("crlf.md", MARKDOWN.replace("\n", "\r\n"))
    yield indexed("cr.txt", "One.\rStill one.\r\rTwo.\r")
    yield indexed("mixed-ends.rst", "One\r===\r\nText.\n\rMore.\r\r\nEnd.")
    yield indexed(
        "right-to-left.md",
        "# \u0645\u0631\u062d\u0628\u0627\n\n\u202e\u0634\u0643\u0631\u0627 25.\u202c \u05e9\u05dc\u05d5\u05dd",
    )  # noqa: E501
    yield indexed("separators.txt", "a\u2028b\x85c\x0bd\x0ce\u00a0g\u200bh")
    yield indexed("one-line.txt", "x" * 2_000_000, r"112 passages$")
    yield indexed("spaces.txt", "a" + " " * 2_000_000 + "b", "1 passage$")
    yield indexed("blank-lines.txt", "a" + "\r\n" * 500_000 + "b", "1 passage$")
    yield indexed("dots.txt", "." * 200_000)
    yield indexed("long-heading.md", "# " + "word " * 20_000 + "\n\n" + "Text.\n\n# A\n\n" * 50)


# ----------------------------------------------------------------------- markup


def _markup() -> Iterator[Case]:
    deep = 5_000
    yield indexed("quotes.md", "> " * deep + "deep")
    yield indexed("lists.md", "- " * deep + "deep")
    yield indexed("both.md", "> 1. " * deep + "deep")
    yield indexed("steps.md", "\n".join("  " * n + "- item" for n in range(400)))
    yield indexed("emphasis.md", "*a **b " * deep + "c** d*" * deep)
    yield indexed("brackets.md", "[" * deep + "a" + "](b)" * deep)
    yield indexed("ticks.md", "".join("`" * n + "a" for n in range(300)))
    yield indexed("wide.md", "\n".join(cell * 20_000 + "|" for cell in ("|a", "|-", "|1")))
    yield indexed("fence.md", "```\nnever closed\n" * 3)
    yield failed("yaml-deep.md", f"---\na: {'[' * deep}\n---\nx", "front matter is not valid YAML")
    yield failed("yaml-tag.md", "---\na: !!int ''\n---\nx", "front matter is not valid YAML")
    yield failed("yaml-day.md", "---\ndate: 2024-06-31\n---\nx", "front matter is not valid YAML")
    yield failed(
        "yaml-laughs.md",
        "---\na: &a [x, x]\nb: &b [*a, *a, *a]\ntitle: *b\n---\nx",
        "front matter is not valid YAML, line 3: aliases are not read$",
    )
    yield failed(
        "yaml-lines.md", '---\nreliability: "a\\n\\e[31mb"\n---\nx', "front matter, line 2"
    )
    yield failed("div.html", "<div>" * 50_000 + "deep", NESTED)
    yield failed("tables.html", "<table><tr><td>" * 50_000 + "deep", NESTED)
    yield indexed("laughs.html", LAUGHS.replace("<!DOCTYPE a", "<!DOCTYPE html") + "<p>&k; text")
    yield indexed("cut.html", "<main><h1>Title</h1><p>Text <b", "1 passage$")
    yield failed("remark.html", "<!-- never closed <p>text</p>", NO_TEXT)
    yield failed("unknown.html", "<meta charset='x\x1b[1m'>y", "declares the unknown encoding 'x'$")
    yield failed("script.html", "<script>" + "x" * 1000, NO_TEXT)
    yield indexed("attributes.html", "<p " + "a=b " * 2000 + ">text</p>")
    yield indexed("articles.html", "<article>text</article>" * 2_000)
    yield indexed("spaces.html", "<p>a" + " \n" * 5_000 + "b</p>")
    yield indexed(
        "include.rst", "Text.\n\n.. include:: /etc/hostname\n\n.. raw:: html\n   :url: x\n"
    )
    yield indexed("line.rst", "*word " * 20_000)
    yield failed("steps.rst", "\n\n".join(" " * n + "a" for n in range(600)), NESTED)
    yield failed("laughs.xml", LAUGHS + "<mediawiki>&k;</mediawiki>",
                 "is not well-formed XML|declares XML entities")  # fmt: skip
    yield failed("outside.xml", '<!DOCTYPE a SYSTEM "file:///etc/hostname"><mediawiki/>',
                 "declares XML entities or a document type$")  # fmt: skip
    yield failed("cut.xml", MEDIAWIKI[:400], "is not well-formed XML: ")
    yield failed("deep.xml", "<mediawiki>" + "<a>" * 5_000, "is not well-formed XML: ")
    yield skipped("other.xml", "<svg/>", r"is XML, but no MediaWiki or Confluence export")
    yield indexed("brackets.xml", "<mediawiki><page><title>T</title><revision><text>"
                  + "{{a|[[" * 5_000 + "</text></revision></page></mediawiki>")  # fmt: skip


# ---------------------------------------------------------------------- records


def _records() -> Iterator[Case]:
    yield indexed("halves.json", '{"title": "a\\ud800", "text": "\\udfffb", "\\udead": "c"}')
    yield failed("deep.json", "[" * 100_000 + "]" * 100_000, NESTED)
    yield failed("deep.jsonl", '{"a":' * 100_000 + "1" + "}" * 100_000, NESTED)
    yield failed("cut.json", '[{"text": "a"}, {"text": "b', "is not valid JSON, line 1: ")
    yield failed("cut.ndjson", '{"text": "a"}\n{"text": ', "is not valid JSON, line 2: ")
    yield failed("two.json", '{"a": 1}{"b": 2}', "is not valid JSON, line 1: text after the end")
    yield indexed("numbers.json", "[" + "1, " * 5_000 + "1e999999999, NaN]")
    yield indexed(
        "long-key.json", json.dumps({"k" * 20_000: dict.fromkeys(map(str, range(400)), 1)})
    )
    yield failed("quote.csv", 'a,b\n1,"never closed\n' + "2,3\n" * 100,
                 "row at line 2 cannot be read: unexpected end of data$")  # fmt: skip
    yield failed(
        "cell.csv", "a,b\n1," + "x" * 200_000, "row at line 2 cannot be read: field larger"
    )
    yield indexed("wide.csv", "a," * 20_000 + "\n" + "1," * 20_000 + "\n" + "2," * 20_000)
    yield indexed("long-head.csv", "h" * 100_000 + ",b\n" + "1,2\n" * 300)
    yield indexed("one-column.tsv", "\n".join(["word"] * 5_000))
    yield failed("commas.csv", ",,,\n" * 100, NO_TEXT)
    yield failed("nul.csv", b"a,b\n1,\x00", r"looks binary")


def _source() -> Iterator[Case]:
    yield failed("syntax.py", "def f(:\n    pass", "is not valid Python, line 1: invalid syntax")
    yield failed("brackets.py", "(" * 5_000, r"is not valid Python, line 1: too many nested")
    yield failed("minus.py", "'d'\nx = " + "-" * 50_000 + "1", NESTED)
    yield failed("sum.py", "'d'\nx = " + "+".join("1" * 50_000), NESTED)
    yield failed("indent.py", "\n".join(" " * n + "if a:" for n in range(200)),
                 "is not valid Python, line 101: too many levels of indentation$")  # fmt: skip
    yield failed("codec.py", "# coding: rot13\n'd'", "is not valid ROT13$")
    yield failed("unknown.py", "# coding: klingon\n'd'", "is not Python: unknown encoding")
    yield failed("utf-16.py", "'d'".encode("utf-16"), "is not Python: |is not valid Python")
    yield failed("nul.py", b"'d\x00'", "is not Python: |looks binary")
    yield skipped("bare.py", "x = 1\n", "holds no docstring$")
    yield indexed("elifs.py", "'d'\nif a: pass\n" + "elif a: pass\n" * 2_000)
    yield indexed("halves.py", "'a docstring with \\ud800 in it'")


# --------------------------------------------------------------------- messages


def _messages() -> Iterator[Case]:
    head = "From: a@b\nSubject: x\n"
    parts = f"{head}Content-Type: multipart/mixed; boundary=x\n\n"
    yield failed("text.eml", "no header at all", "is not an e-mail message")
    yield indexed("charset.eml", f"{head}Content-Type: text/plain; charset=klingon\n\ncaf\xe9",
                  r"1 passage; text that is not valid KLINGON has replacements$")  # fmt: skip
    yield indexed("bytes.eml", b"Subject: caf\xe9\n\ncaf\xe9", "1 passage; text that is not valid")
    yield indexed("base64.eml", f"{head}Content-Transfer-Encoding: base64\n\n!!! no base64 !!!",
                  r"1 passage; text that is not valid UTF-8 has replacements$")  # fmt: skip
    yield indexed("never-closed.eml", f"{parts}--x\n\ntext",
                  "1 passage; the message ends in the middle of a part$")  # fmt: skip
    yield indexed("no-boundary.eml", f"{head}Content-Type: multipart/mixed\n\ntext")
    yield failed("deep.eml", head + "".join(
        f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(1_200)
    ), NESTED)  # fmt: skip
    yield indexed("words.eml", f"From: a@b\nTo: {'=?utf-8?q?a?= ' * 3_000}\n\ntext")
    yield indexed("dots.eml", f"Subject: x\nTo: {'.' * 50_000}\n\ntext")
    yield indexed("parameters.eml", f"{head}Content-Type: text/plain; {QUOTES}\n\ntext")
    yield indexed("parentheses.eml", f"{head}To: {'(' * 20_000}\n\ntext")
    yield indexed("half.eml", mail()[: len(mail()) // 2],
                  "1 passage; the message ends in the middle of a part$")  # fmt: skip
    yield failed("no-message.mbox", "From a@b Mon\n", "message 1 has no header fields$")
    yield failed("text.mbox", "Dear all,\n\nFrom a@b Mon\n", "is not a mailbox")
    yield indexed("half.mbox", MAILBOX[: len(MAILBOX) * 3 // 4],
                  "1 passage; message 2: the message ends in the middle of a part$")  # fmt: skip
    broken = "From a@b\nSubject: x\nContent-Type: text/plain; charset={}\n\n\xff\n\n"
    yield indexed("charsets.mbox", "".join(map(broken.format, ["a\x1bb", *range(40), 0])).encode(
        "latin-1"), r"\d+ passages?; message 1: .* A B .* 38 more problems$")  # fmt: skip


# -------------------------------------------------------------------------- PDF


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


def _pdfs() -> Iterator[Case]:
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


# ----------------------------------------------------------------- Office files


def _archives() -> Iterator[Case]:
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
        yield failed(f"method{extension}", repacked(whole, _same, {"a.xml": NOISE},
                     method=zipfile.ZIP_BZIP2), damaged + "'a.xml' is compressed in a way")  # fmt: skip
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


# ------------------------------------------------------------------------ names


def odd_names(folder: Path) -> Iterator[Case]:
    """Writes what is odd by its name or kind, not by what is in it."""
    text = b"# Tea\n\nTea is hot."
    here = os.fsencode(folder)
    names = {
        b"two\nlines.md": ("indexed", "1 passage$"),
        b"bell\x07\x1b[31m.txt": ("indexed", "1 passage$"),
        b"dots..md": ("indexed", "1 passage$"),
        b"a\\..\\b.md": ("indexed", "1 passage$"),
        "\u202egnp.md".encode(): ("indexed", "1 passage$"),
        b"bad\xff.md": ("skipped", "its name is not valid UTF-8$"),
        b"bad\xff/name.md": ("skipped", "its name is not valid UTF-8$"),
        b"folder.md/inside.md": ("indexed", "1 passage$"),
        b"..md": ("skipped", "hidden$"),
        b"no-extension": ("skipped", "no loader for files without extension$"),
        b"x." + b"y" * 200: ("skipped", "no loader for "),
    }
    for name, (outcome, reason) in names.items():
        path = Path(os.fsdecode(os.path.join(here, name)))
        path.parent.mkdir(exist_ok=True)
        write(path.parent, {path.name: text})
        yield Case(path.relative_to(folder).as_posix(), text, outcome, reason)
    os.mkfifo(folder / "pipe.md")
    yield skipped("pipe.md", b"", "not a regular file$")
    links = {
        "loop": (folder, "link to a place in the folder$"),
        "self.md": (folder / "self.md", "link to a place"),
        "dangling.md": (folder / "nowhere.md", "link to a place in the folder$"),
        "out.md": (folder.parent / "secret.md", "link to a place out of the folder$"),
        "root": (Path("/"), "link to a place out of the folder$"),
        "device.md": (Path("/dev/zero"), "link to a place out of the folder$"),
    }
    for name, (target, reason) in links.items():
        (folder / name).symlink_to(target)
        yield skipped(name, b"", reason)
    write(folder.parent, {"secret.md": "Nobody may read this secret."})
    if os.geteuid():  # root reads everything
        write(folder, {"closed.md": text})
        (folder / "closed.md").chmod(0)
        yield failed("closed.md", text, "cannot be read: Permission denied$")


# -------------------------------------------------------------------- mutations


def mutated(data: bytes, draw: random.Random) -> bytes:
    """The bytes with a few of them cut off, changed, doubled or moved."""
    changed = bytearray(data)
    for _ in range(draw.randint(1, 4)):
        if not changed:
            break
        start = draw.randrange(len(changed))
        end = min(len(changed), start + draw.choice((1, 8, 100, 2000)))
        piece = changed[start:end]
        kind = draw.randrange(6)
        if kind == 0:
            del changed[start:]
        elif kind == 1:
            changed[start] = draw.randrange(256)
        elif kind == 2:
            changed[start:start] = piece * draw.randint(1, 3)
        elif kind == 3:
            del changed[start:end]
        elif kind == 4:
            at = draw.randrange(len(changed))
            changed[at:at] = piece
        else:
            changed[start:start] = draw.choice(
                (
                    b"\x00",
                    b"\xff\xfe",
                    b"-1",
                    b"99999999999",
                    b"<",
                    b'"',
                    b"\n\n",
                    b"&",
                    b"[[",
                    b"(",
                )
            )
    return bytes(changed)


def mutations(extension: str, seed: str, count: int) -> Iterator[bytes]:
    """Damaged samples of a format; of an archive, whole ones with a damaged member, too."""
    draw = random.Random(seed)
    whole = SAMPLES[extension]
    for number in range(count):
        if extension in OFFICE and number % 3:
            with zipfile.ZipFile(io.BytesIO(whole)) as archive:
                parts = {name: archive.read(name) for name in archive.namelist()}
            part = draw.choice(list(parts))
            yield zipped({**parts, part: mutated(parts[part], draw)})
        else:
            yield mutated(whole, draw)
