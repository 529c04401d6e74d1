"""The same numbered rules in a file of each format, and what stands at a place in it.

Files are made with the format's own library; places are read without the loaders.
"""

from __future__ import annotations

import base64
import csv
import html
import io
import json
import quopri
import re
import zipfile
from collections.abc import Callable
from email.message import EmailMessage
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import docx
import openpyxl
import pptx
from pypdf import PdfReader

from factcheck_local.core.types import Chunk

from .helpers import pdf
from .samples import saved

#: Rules of each section.
SECTIONS = {"Green tea": range(12), "Black tea": range(12, 24), "Milk": range(24, 36)}

_LINE_END = re.compile(r"\r\n?|\n")


def rule(number: int) -> str:
    return (
        f"Rule {number:03d} says that tea number {number:03d} costs {7 * number} pence in K\xf6ln."
    )


RULES = [rule(number) for numbers in SECTIONS.values() for number in numbers]


def paragraphs(numbers: range, line: str = "\n", blank: str = "\n\n") -> str:
    """Paragraphs of four rules, two on a line."""
    lines = [" ".join(map(rule, numbers[at : at + 2])) for at in range(0, len(numbers), 2)]
    return blank.join(line.join(lines[at : at + 2]) for at in range(0, len(lines), 2))


def _prose(heading: str) -> str:
    """A text with headings; ``heading`` shows how one is written."""
    return "\n\n".join(
        f"{heading.format(title, '=' * len(title))}\n\n{paragraphs(numbers)}"
        for title, numbers in SECTIONS.items()
    )


def _page() -> str:
    parts = [
        f"<h2>{title}</h2>"
        + "".join(
            f"<p>{html.escape(text).replace('tea number', '<b>tea</b> number')}</p>"
            for text in paragraphs(numbers).split("\n\n")
        ).replace("\xf6", "&ouml;")
        for title, numbers in SECTIONS.items()
    ]
    return f"<title>Tea</title><nav>Home</nav><main>{''.join(parts)}</main>"


def _word() -> bytes:
    document = docx.Document()
    for title, numbers in SECTIONS.items():
        document.add_heading(title, 1)
        for text in paragraphs(numbers, line=" ").split("\n\n"):
            paragraph = document.add_paragraph()
            for piece in re.split(r"(tea number)", text):
                paragraph.add_run(piece).bold = piece == "tea number"
    return saved(document)


def _slides() -> bytes:
    deck = pptx.Presentation()
    for title, numbers in SECTIONS.items():
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = "\n".join(map(rule, numbers[:8]))
        slide.notes_slide.notes_text_frame.text = "\n".join(map(rule, numbers[8:]))
    return saved(deck)


def _workbook() -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for title, numbers in SECTIONS.items():
        sheet = book.create_sheet(title)
        sheet.append(["Number", "Text"])
        for number in numbers:
            sheet.append([number, rule(number)])
            if number % 5 == 0:
                sheet.append([])
    return saved(book)


def _table(delimiter: str) -> str:
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter=delimiter)
    writer.writerow(["Number", "Text", "Note"])
    for number, text in enumerate(RULES):
        writer.writerow([number, text, "on two\nlines" if number % 7 == 0 else "so, so"])
        if number % 5 == 0:
            buffer.write("\r\n")
    return buffer.getvalue()


def _mail(title: str, numbers: range, encoding: str) -> bytes:
    message = EmailMessage()
    message["From"] = "People <people@example.org>"
    message["Subject"] = title
    message.set_content(paragraphs(numbers) + "\n", cte=encoding)
    return message.as_bytes()


def _records() -> list[dict[str, Any]]:
    return [
        {"title": title, "owner": "People", "text": paragraphs(numbers)}
        for title, numbers in SECTIONS.items()
    ]


def _wiki() -> str:
    pages = "".join(
        f"<page><title>{title}</title><revision><text>"
        + paragraphs(numbers).replace("tea number", "'''tea''' number")
        + "</text></revision></page>"
        for title, numbers in SECTIONS.items()
    )
    return f"<mediawiki>{pages}</mediawiki>"


def _source() -> str:
    return "\n\n".join(
        f'def f{numbers.start}():\n    """{paragraphs(numbers, chr(10) + "    ")}\n    """'
        for numbers in SECTIONS.values()
    )


_LINES = "\n".join(map(json.dumps, _records()))
_MAILBOX = b"\n\n".join(
    b"From a@b Mon Mar  4 10:00:00 2024\n" + _mail(title, numbers, "base64")
    for title, numbers in SECTIONS.items()
)

#: A file of every format.
RICH: dict[str, bytes] = {
    ".md": _prose("# {}").encode(),
    ".markdown": _prose("## {}").replace("\n", "\r\n").encode("utf-16"),
    ".rst": _prose("{}\n{}").encode("utf-8-sig"),
    ".txt": _prose("{}").replace("\n", "\r").encode(),
    ".text": _prose("{}").replace("\n", "\r\n").encode("cp1252"),
    ".html": _page().encode(),
    ".htm": _page().encode("utf-16"),
    ".pdf": pdf(*(paragraphs(numbers, blank="\n") for numbers in SECTIONS.values())),
    ".docx": _word(),
    ".pptx": _slides(),
    ".xlsx": _workbook(),
    ".csv": _table(",").encode(),
    ".tsv": _table("\t").encode("utf-16"),
    ".eml": _mail("Tea", range(36), "quoted-printable"),
    ".mbox": _MAILBOX,
    ".jsonl": _LINES.encode(),
    ".ndjson": _LINES.replace("\n", "\n\n").encode(),
    ".json": json.dumps(_records(), indent=1, ensure_ascii=False).encode(),
    ".xml": _wiki().encode(),
    ".py": _source().encode(),
}

#: What the bytes of a file say at the place of a quote: passage, line of the quote.
_Place = Callable[[bytes, Chunk, int], str]


def _line(encoding: str) -> _Place:
    return lambda data, _, line: _LINE_END.split(data.decode(encoding))[line - 1]


def _everywhere(read: Callable[[bytes], str]) -> _Place:
    return lambda data, _passage, _line: read(data)


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.said = ""

    def handle_data(self, data: str) -> None:
        self.said += data


def _tagless(page: str) -> str:
    parser = _Text()
    parser.feed(page)
    return parser.said


def _members(data: bytes, pattern: str) -> str:
    """The text of those members of an archive whose names match."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = sorted(filter(re.compile(pattern).fullmatch, archive.namelist()))
        return " ".join(_tagless(archive.read(name).decode()) for name in names)


def _slide(data: bytes, passage: Chunk, _: int) -> str:
    return _members(data, rf"ppt/(?:slides/slide|notesSlides/notesSlide){passage.page}\.xml")


def _row(data: bytes, passage: Chunk, line: int) -> str:
    sheet = 1 + list(SECTIONS).index(passage.titles[-1])
    space = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        rows = ElementTree.fromstring(archive.read(f"xl/worksheets/sheet{sheet}.xml"))
    (row,) = (row for row in rows.iter(f"{space}row") if row.get("r") == str(line))
    return " ".join(row.itertext())


def _record(data: bytes, _: Chunk, line: int) -> str:
    text = data.decode()
    at = sum(map(len, text.splitlines(keepends=True)[: line - 1]))
    record, _end = json.JSONDecoder().raw_decode(text[at:].lstrip())
    return " ".join(record.values())


def _pdf_page(data: bytes, passage: Chunk, _: int) -> str:
    return PdfReader(io.BytesIO(data)).pages[(passage.page or 0) - 1].extract_text()


def _base64(data: bytes) -> str:
    return " ".join(
        base64.b64decode(body).decode()
        for body in re.findall(rb"\n\n([\w+/=]{60,}(?:\n[\w+/=]+)*)", data)
    )


PLACES: dict[str, _Place] = {
    ".md": _line("utf-8"),
    ".markdown": _line("utf-16"),
    ".rst": _line("utf-8-sig"),
    ".txt": _line("utf-8"),
    ".text": _line("cp1252"),
    ".html": _everywhere(lambda data: _tagless(data.decode())),
    ".htm": _everywhere(lambda data: _tagless(data.decode("utf-16"))),
    ".pdf": _pdf_page,
    ".docx": _everywhere(lambda data: _members(data, r"word/document\.xml")),
    ".pptx": _slide,
    ".xlsx": _row,
    ".csv": _line("utf-8"),
    ".tsv": _line("utf-16"),
    ".eml": _everywhere(lambda data: quopri.decodestring(data).decode()),
    ".mbox": _everywhere(_base64),
    ".jsonl": _record,
    ".ndjson": _record,
    ".json": _record,
    ".xml": _everywhere(lambda data: _tagless(data.decode()).replace("'''", "")),
    ".py": _line("utf-8"),
}

#: Formats in which any line end counts as one; in the others line feeds do.
VERBATIM_LINES = (".md", ".markdown", ".rst", ".txt", ".text", ".py")


def line_of(extension: str, passage: Chunk, at: int) -> int:
    """The line or row, from 1, of what begins at an offset in a passage."""
    before = passage.text[:at]
    ends = _LINE_END.findall(before) if extension in VERBATIM_LINES else before.count("\n")
    return passage.line + (ends if isinstance(ends, int) else len(ends))
