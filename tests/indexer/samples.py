"""A file of each format, made with its real library, and an independent reading of it."""

from __future__ import annotations

import datetime
import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from email.message import EmailMessage
from pathlib import Path

import docx
import openpyxl
import pptx

from factcheck_local.core.types import Document
from factcheck_local.indexer.loaders import load

from .helpers import pdf, write

ROWS = [["Year", "Days", "Note"], ["2024", "25", "as agreed"], ["2025", "26", "one more"]]


def outline(document: Document) -> list[tuple[tuple[str, ...], str]]:
    return [(block.headings, block.span.of(document.text)) for block in document.blocks]


def saved(document: object) -> bytes:
    """What an object with a method ``save`` writes."""
    buffer = io.BytesIO()
    document.save(buffer)  # type: ignore[attr-defined]
    return buffer.getvalue()


def repacked(
    data: bytes,
    change: Callable[[str, bytes], bytes],
    extra: Mapping[str, bytes] | None = None,
    method: int = zipfile.ZIP_DEFLATED,
) -> bytes:
    """The archive with its members changed, and others added."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as old,
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))
        for name, content in (extra or {}).items():
            new.writestr(name, content, method)
    return buffer.getvalue()


def word() -> bytes:
    document = docx.Document()
    document.core_properties.title = "Leave policy"
    document.core_properties.modified = datetime.datetime(2024, 3, 1, 12)
    document.add_heading("Leave", 1)
    document.add_paragraph("Staff get 25 days. They ask in writing.")
    document.add_heading("Carrying over", 2)
    for item in ("five days", "not more"):
        document.add_paragraph(item, style="List Bullet")
    table = document.add_table(len(ROWS), len(ROWS[0]))
    for row, cells in zip(table.rows, ROWS, strict=True):
        for cell, text in zip(row.cells, cells, strict=True):
            cell.text = text
    document.add_paragraph("The end.")
    return saved(document)


def slides() -> bytes:
    deck = pptx.Presentation()
    deck.core_properties.title = "Plans"
    deck.core_properties.modified = datetime.datetime(2024, 3, 1, 12)
    first = deck.slides.add_slide(deck.slide_layouts[1])
    first.shapes.title.text = "Goals"
    first.placeholders[1].text = "Sell more tea.\nBuy less milk."
    first.notes_slide.notes_text_frame.text = "Speak slowly here."
    second = deck.slides.add_slide(deck.slide_layouts[6])
    shape = second.shapes.add_table(len(ROWS), len(ROWS[0]), 0, 0, 9144000, 914400)
    for row, cells in zip(shape.table.rows, ROWS, strict=True):
        for cell, text in zip(row.cells, cells, strict=True):
            cell.text = text
    return saved(deck)


def workbook(sheets: Mapping[str, Sequence[Sequence[object]]] | None = None) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for name, rows in (
        sheets or {"Leave": ROWS, "Prices": [[], ["Item", "Price"], ["Tea", 2.5]]}
    ).items():
        sheet = book.create_sheet(name)
        for number, row in enumerate(rows, start=1):
            for column, value in enumerate(row, start=1):
                sheet.cell(number, column, value)
    return saved(book)


def mail(subject: str = "Leave policy", text: str = "Staff get 25 days.\n\nThey ask.\n") -> bytes:
    message = EmailMessage()
    message["From"] = "People <people@example.org>"
    message["To"] = "all@example.org"
    message["Subject"] = subject
    message["Date"] = "Fri, 01 Mar 2024 10:00:00 +0000"
    message.set_content(text)
    message.add_alternative("<p>Not this <b>one</b>.</p>", subtype="html")
    message.add_attachment(b"%PDF-", maintype="application", subtype="pdf", filename="rules.pdf")
    return message.as_bytes()


RST = """.. a remark
   on two lines

=====
Leave
=====

:date: 2024-03-01
:reliability: 0.8

Staff get *25* days.
They ask in writing.

Carrying over ``days``
----------------------

- five days

  and no more

.. note::

   Ask *early*.

.. _label:

----

The end.
"""

PYTHON = '''"""What this module does, caf\xe9.

In more detail.
"""

import os


@decorated
class Tea(Drink):
    r"""A drink."""

    def brew(
        self, minutes: int = 3
    ) -> str:  # slowly
        """Takes three minutes.

        No more.
        """
        return os.sep


def undocumented():
    async def inner():
        'Says little.'
'''

MEDIAWIKI = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11">
<siteinfo><sitename>Our wiki</sitename></siteinfo>
<page><title>Tea</title><ns>0</ns>
<revision><timestamp>2024-03-01T10:00:00Z</timestamp><text>'''Tea''' is a [[drink|hot drink]].
== Kinds ==
* green
* black
{| class="wikitable"
! Year !! Days
|-
| 2024 || 25
|}
</text></revision>
<revision><timestamp>2023-01-01T10:00:00Z</timestamp><text>Old text.</text></revision></page>
<page><title>Milk</title><revision><timestamp>2022-01-01T10:00:00Z</timestamp>
<text>Milk is {{colour|white|since=1900}}.</text></revision></page></mediawiki>"""

JSON_LINES = (
    '{"title": "Leave", "text": "Staff get 25 days.\\n\\n- five\\n- six", "owner": "People"}\n'
    '\n{"body": "They ask in writing.", "pages": 3, "tags": ["a", "b"], "by": {"name": "Ann"}}\n'
)

JSON = (
    '[\n  {"heading": "Leave",\n   "content": "Staff get 25 days."},\n'
    '  {"heading": "Carry", "snippet": "Five days."}, {"body": "They ask."}\n]\n'
)

MARKDOWN = "# Leave\n\nStaff get 25 days.\n\n| year | days |\n|---|---|\n| 2024 | 25 |\n"
HTML = "<h1>Leave</h1><p>Staff get <b>25</b> days.</p><ul><li>five days</li></ul>"
TEXT = "Staff get 25 days.\r\n\r\nThey ask.\n"
CSV = 'Name,Days,Note\nAnn,25,"as\nagreed"\n\nBob,26,"so, so"\n'
MAILBOX = (
    b"From a@b Fri Mar  1 10:00:00 2024\n"
    + mail("One")
    + b"\n\nFrom c@d Sat Mar  2 10:00:00 2024\n"
    + mail("Two")
)

#: A file for each extension; those that share a loader may share it.
SAMPLES: dict[str, bytes] = {
    ".md": MARKDOWN.encode(),
    ".markdown": MARKDOWN.encode("utf-16"),
    ".rst": RST.encode(),
    ".txt": TEXT.encode(),
    ".text": b"\xef\xbb\xbf" + TEXT.encode(),
    ".html": HTML.encode(),
    ".htm": HTML.encode(),
    ".pdf": pdf("Leave\nStaff get 25 days.", "They ask."),
    ".docx": word(),
    ".pptx": slides(),
    ".xlsx": workbook(),
    ".csv": CSV.encode(),
    ".tsv": CSV.replace(",", "\t").encode(),
    ".eml": mail(),
    ".mbox": MAILBOX,
    ".jsonl": JSON_LINES.encode(),
    ".ndjson": JSON_LINES.encode(),
    ".json": JSON.encode(),
    ".xml": MEDIAWIKI.encode(),
    ".py": PYTHON.encode(),
}

#: Formats whose text is the file, and the encodings of the samples above.
VERBATIM = {".md": "utf-8", ".markdown": "utf-16", ".rst": "utf-8", ".txt": "utf-8",
            ".text": "utf-8-sig", ".py": "utf-8"}  # fmt: skip

#: Formats whose passages know the line of the file although the text is extracted.
LINED = (".csv", ".tsv", ".jsonl", ".ndjson", ".json")


def read(folder: Path, name: str, content: str | bytes) -> Document:
    """What the loader makes of a file with this content."""
    write(folder, {name: content})
    return load(folder / name, name)
