"""Word, PowerPoint and Excel: structure by hand, and the guards around their archives."""

from __future__ import annotations

import copy
import datetime
import io
import re
import zipfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pptx
import pytest
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.oxml.parser import parse_xml
from openpyxl.styles import Font
from openpyxl.utils import get_column_letter
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE

from factcheck_local.core.errors import DocumentError
from factcheck_local.indexer.chunker import chunk
from factcheck_local.indexer.loaders import office, xlsx

from .samples import outline, read, repacked, saved, slides, word, workbook

MAKERS = {"a.docx": word, "a.pptx": slides, "a.xlsx": workbook}
TABLE = [
    "Year; Days; Note",
    "Year: 2024; Days: 25; Note: as agreed",
    "Year: 2025; Days: 26; Note: one more",
]


def test_word_has_its_structure(corpus: Path) -> None:
    document = read(corpus, "a.docx", word())
    assert outline(document) == [
        (("Leave",), "Leave"),
        (("Leave",), "Staff get 25 days. They ask in writing."),
        (("Leave", "Carrying over"), "Carrying over"),
        (("Leave", "Carrying over"), "- five days\n- not more"),
        *((("Leave", "Carrying over"), row) for row in TABLE),
        (("Leave", "Carrying over"), "The end."),
    ]
    assert [block.is_heading for block in document.blocks] == [True, False, True] + 5 * [False]
    assert document.title == "Leave policy"
    assert document.metadata == {"date": "2024-03-01"}


def test_word_without_title_is_called_by_its_first_heading(corpus: Path) -> None:
    document = docx.Document()
    document.core_properties.title = ""
    document.add_paragraph("Before.")
    document.add_heading("Rules", 0)
    assert read(corpus, "a.docx", saved(document)).title == "Rules"


def test_word_headings_by_outline_level_of_a_style_or_paragraph(corpus: Path) -> None:
    document = docx.Document()
    style = document.styles.add_style("Clause", 1)
    based = document.styles.add_style("Subclause", 1)
    based.base_style = style
    level = OxmlElement("w:outlineLvl")
    level.set(qn("w:val"), "1")
    style.element.get_or_add_pPr().append(level)
    document.add_paragraph("Scope", style="Subclause")
    own = document.add_paragraph("Deeper")
    third = copy.deepcopy(level)
    third.set(qn("w:val"), "2")
    own._p.get_or_add_pPr().append(third)
    document.add_paragraph("text")
    assert outline(read(corpus, "a.docx", saved(document)))[-1] == (("Scope", "Deeper"), "text")


def wrapped(paragraph: object, tag: str) -> None:
    """Put the first run of a paragraph into another element."""
    run = paragraph.runs[0]._r  # type: ignore[attr-defined]
    outer = OxmlElement(tag)
    run.addprevious(outer)
    outer.append(run)


def test_word_reads_insertions_and_content_controls_and_no_deletions(corpus: Path) -> None:
    document = docx.Document()
    wrapped(document.add_paragraph("inserted"), "w:ins")
    gone = document.add_paragraph("deleted")
    gone.add_run(" kept")
    wrapped(gone, "w:del")
    control = document.add_paragraph("controlled")._p
    outer, inner = OxmlElement("w:sdt"), OxmlElement("w:sdtContent")
    control.addprevious(outer)
    outer.append(inner)
    inner.append(control)
    assert [text for _, text in outline(read(corpus, "a.docx", saved(document)))] == [
        "inserted",
        "kept",
        "controlled",
    ]


def test_word_merged_cells_are_said_where_they_reach(corpus: Path) -> None:
    document = docx.Document()
    table = document.add_table(4, 3)
    texts = [
        ["Team", "Year", "Days"],
        ["Sales", "2024", "25"],
        ["", "2025", "26"],
        ["All", "", "1"],
    ]
    for row, cells in zip(table.rows, texts, strict=True):
        for cell, text in zip(row.cells, cells, strict=True):
            cell.text = text
    table.cell(1, 0).merge(table.cell(2, 0))
    table.cell(3, 0).merge(table.cell(3, 1))
    assert [text for _, text in outline(read(corpus, "a.docx", saved(document)))] == [
        "Team; Year; Days",
        "Team: Sales; Year: 2024; Days: 25",
        "Team: Sales; Year: 2025; Days: 26",
        "Team: All; Days: 1",
    ]


def texts(corpus: Path, name: str, file: object) -> list[str]:
    return [text for _, text in outline(read(corpus, name, saved(file)))]


#: Names and values, which have no header.
PAIRS = [["Name", "Acme"], ["Seat", "Berlin"], ["Owner", "Anna"]]


def word_table(rows: Sequence[Sequence[str]]) -> tuple[Any, Any]:
    """A document and its table."""
    document = docx.Document()
    table = document.add_table(len(rows), len(rows[0]))
    for row, cells in zip(table.rows, rows, strict=True):
        for cell, text in zip(row.cells, cells, strict=True):
            cell.text = text
    return document, table


@pytest.mark.parametrize(
    ("look", "header"),
    [
        ({"val": "04A0", "firstRow": "1", "firstColumn": "1"}, True),  # the default
        ({"val": "0600"}, True),  # that of other programs
        ({"val": "0480", "firstRow": "0", "firstColumn": "1"}, False),
        ({"val": "0480"}, False),  # as older versions write it
    ],
)
def test_word_tables_may_have_no_header(corpus: Path, look: dict[str, str], header: bool) -> None:
    document, table = word_table(PAIRS)
    mark = table._tbl.tblPr.find(qn("w:tblLook"))
    mark.attrib.clear()
    mark.attrib.update({qn(f"w:{key}"): value for key, value in look.items()})
    rows = ["Name: Seat; Acme: Berlin", "Name: Owner; Acme: Anna"]
    pairs = ["Seat; Berlin", "Owner; Anna"]
    assert texts(corpus, "a.docx", document) == ["Name; Acme", *(rows if header else pairs)]


def test_word_headers_of_two_rows(corpus: Path) -> None:
    document, table = word_table(
        [["Region", "2023", "", "2024"], ["", "1", "2", "1"], ["North", "10", "20", "30"]]
    )
    for row in table.rows[:2]:
        row._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))
    table.cell(0, 1).merge(table.cell(0, 2))
    table.cell(0, 0).merge(table.cell(1, 0))
    *_, last = texts(corpus, "a.docx", document)
    assert last == "Region: North; 2023 1: 10; 2023 2: 20; 2024 1: 30"


@pytest.mark.parametrize("name", ["a.docx", "a.pptx"])
def test_passages_end_between_the_rows_of_a_table(corpus: Path, name: str) -> None:
    said = (
        "Made for teams that grow. " + "Support by mail and phone is included " * 3 + "for a year"
    )
    rows = [["Plan", "Text", "Fee"], *([plan, said, f"{plan} 5"] for plan in "ABCDEFGH")]
    file: Any = word_table(rows)[0] if name == "a.docx" else deck_with_table(rows)[0]
    passages = chunk(read(corpus, name, saved(file)))
    assert len(passages) > 1
    for passage in passages[1:]:
        assert passage.text.startswith("Plan: ")
        assert passage.text.endswith(" 5")


def test_word_lists_have_levels_and_numbers(corpus: Path) -> None:
    document = docx.Document()
    for text, style in (
        ("Full time", "List Number"),
        ("25 days", "List Bullet 2"),
        ("Part time", "List Number"),
    ):
        document.add_paragraph(text, style=style)
    document.add_paragraph("Apart.")
    document.add_paragraph("None", style="List Number")
    deep = document.add_paragraph("of level two", style="List Bullet")
    number = deep._p.get_or_add_pPr().get_or_add_numPr()
    number.get_or_add_numId().val = 1
    number.get_or_add_ilvl().val = 1
    assert texts(corpus, "a.docx", document) == [
        "1. Full time\n  - 25 days\n2. Part time",
        "Apart.",
        "3. None\n  - of level two",
    ]


NUMBERING = """<w:numbering xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">
<w:abstractNum w:abstractNumId="0">
<w:lvl w:ilvl="0"><w:start w:val="4"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>
<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%2)"/></w:lvl>
<w:lvl w:ilvl="2"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/></w:lvl></w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>
<w:num w:numId="2"><w:abstractNumId w:val="0"/>
<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num></w:numbering>"""


def numbered(
    corpus: Path, *paragraphs: tuple[str, int, int], style: str = "", numbering: str = NUMBERING
) -> list[str]:
    """What a Word document says; paragraphs are (text, list, level).

    Args:
        corpus: where to put it.
        paragraphs: those of list 1 and level 0 get the style.
        style: a name.
        numbering: how the lists are numbered.
    """
    document = docx.Document()
    for text, list_, level in paragraphs:
        paragraph = document.add_paragraph(text, ((list_, level) == (1, 0) and style) or None)
        number = paragraph._p.get_or_add_pPr().get_or_add_numPr()
        number.get_or_add_numId().val = list_
        number.get_or_add_ilvl().val = level

    def change(name: str, content: bytes) -> bytes:
        return numbering.encode() if name == "word/numbering.xml" else content

    return [text for _, text in outline(read(corpus, "a.docx", repacked(saved(document), change)))]


def test_word_numbers_go_on_and_begin_anew(corpus: Path) -> None:
    assert numbered(
        corpus,
        *(("a", 1, 0), ("b", 1, 1), ("c", 1, 1), ("d", 1, 2), ("e", 1, 0), ("f", 1, 1)),
        *(("g", 2, 0), ("h", 2, 0), ("i", 1, 0), ("j", 0, 0)),
    ) == ["4. a\n  1. b\n  2. c\n    - d\n5. e\n  1. f\n1. g\n2. h\n3. i", "j"]


CLAUSES = (("Scope", 1, 0), ("all", 1, 1), ("staff", 1, 1), ("Fees", 1, 0), ("five", 1, 1))


def test_word_headings_count_among_the_items_of_their_list(corpus: Path) -> None:
    texts = numbered(corpus, *CLAUSES, style="Heading 1")
    assert texts == ["Scope", "1. all\n2. staff", "Fees", "1. five"]


def test_word_writes_no_number_that_is_a_part_of_one(corpus: Path) -> None:
    numbering = NUMBERING.replace("%2)", "%1.%2")
    texts = numbered(corpus, *CLAUSES, numbering=numbering)
    assert texts == ["4. Scope\n  - all\n  - staff\n5. Fees\n  - five"]


def test_lists_begin_at_the_margin(corpus: Path) -> None:
    assert numbered(corpus, ("a", 1, 1), ("b\nc", 1, 1), ("d", 1, 2)) == ["1. a\n2. b\nc\n  - d"]
    deck = pptx.Presentation()
    frame = text_box(deck.slides.add_slide(deck.slide_layouts[6])).text_frame
    frame.text = "a"
    frame.add_paragraph().text = "b"
    for paragraph in frame.paragraphs:
        paragraph.level = 1
    assert texts(corpus, "a.pptx", deck) == ["- a\n- b"]


def test_word_leaves_out_what_is_hidden(corpus: Path) -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("costs ")
    paragraph.add_run("30 ").font.hidden = True
    paragraph.add_run("25").font.hidden = False
    assert texts(corpus, "a.docx", document) == ["costs 25"]


WORD = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    ' xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    ' xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
)
FRACTION = (
    "<m:f><m:num><m:r><m:t>{}</m:t></m:r></m:num><m:den><m:r><m:t>{}</m:t></m:r></m:den></m:f>"
)


def test_word_fractions(corpus: Path) -> None:
    document = docx.Document()
    formula = f"<m:r><m:t>2</m:t></m:r>{FRACTION.format(3, 4)}{FRACTION.format('a+b', 'c')}"
    math = parse_xml(f"<m:oMath {WORD}>{formula}</m:oMath>")
    document.add_paragraph("At least ")._p.append(math)
    assert texts(corpus, "a.docx", document) == ["At least 2 3/4 (a+b)/c"]


def test_formulas_are_read_like_other_text(corpus: Path) -> None:
    document = docx.Document()
    strike = "<w:rPr><w:strike/></w:rPr>"
    runs = f"<m:r>{strike}<m:t>30</m:t></m:r><m:r><w:t>25</w:t></m:r>"
    fraction = FRACTION.format(3, 4).replace("<m:t>3<", f"{strike}<m:t>3</m:t></m:r><m:r><m:t>1<")
    math = f"<m:oMath {WORD}>{runs}{fraction}</m:oMath>"
    document.add_paragraph("At least ")._p.append(parse_xml(math))
    assert texts(corpus, "a.docx", document) == ["At least 25 1/4"]
    deck = pptx.Presentation()
    shape = text_box(deck.slides.add_slide(deck.slide_layouts[6]))
    runs = "<m:r><a:rPr strike='sngStrike'/><m:t>30</m:t></m:r><m:r><a:rPr/><m:t>25</m:t></m:r>"
    math = f"<a14:m {WORD} {A14}><m:oMath>{runs}<m:sSup><m:e/><m:sup><m:r><m:t>2</m:t></m:r>"
    math += "</m:sup></m:sSup></m:oMath></a14:m>"
    shape.text_frame.text = "At least "
    shape.text_frame.paragraphs[0]._p.append(parse_xml(math))
    assert texts(corpus, "a.pptx", deck) == ["At least 25²"]


def test_a_word_text_box_in_a_cell_is_read_once(corpus: Path) -> None:
    document, table = word_table([["a", "b"]])
    box = "<w:txbxContent><w:p><w:r><w:t>box</w:t></w:r></w:p></w:txbxContent>"
    offer = f"<mc:Choice>{box}</mc:Choice><mc:Fallback><w:pict>{box}</w:pict></mc:Fallback>"
    run = parse_xml(f"<w:r {WORD}><mc:AlternateContent>{offer}</mc:AlternateContent></w:r>")
    table.cell(0, 0).paragraphs[0]._p.append(run)
    assert texts(corpus, "a.docx", document) == ["a box; b"]


def test_word_superscripts_and_what_is_struck_out(corpus: Path) -> None:
    document = docx.Document()
    for pieces in (["in 1998", "1", ", it"], ["10", "6", " g"], ["20 m", "2", ""]):
        paragraph = document.add_paragraph()
        runs = [paragraph.add_run(piece) for piece in pieces]
        runs[1].font.superscript = True
    struck = document.add_paragraph("costs ")
    for piece, kind in (("30 ", "strike"), ("20 ", "double_strike"), ("25", "strike")):
        setattr(struck.add_run(piece).font, kind, piece != "25")
    assert [text for _, text in outline(read(corpus, "a.docx", saved(document)))] == [
        "in 1998¹, it",
        "10⁶ g",
        "20 m²",
        "costs 25",
    ]


def test_word_formulas_have_superscripts(corpus: Path) -> None:
    document = docx.Document()
    power = OxmlElement("m:sSup")
    for tag, text in (("m:e", "10"), ("m:sup", "6")):
        part, run, said = (OxmlElement(name) for name in (tag, "m:r", "m:t"))
        said.text = text
        run.append(said)
        part.append(run)
        power.append(part)
    document.add_paragraph("about ")._p.append(power)
    assert read(corpus, "a.docx", saved(document)).text == "about 10⁶"


def test_word_names_its_elements_as_it_likes(corpus: Path) -> None:
    def change(name: str, content: bytes) -> bytes:
        if name != "word/document.xml":
            return content
        for old, new in ((b"<w:", b"<x:"), (b"</w:", b"</x:"), (b" w:", b" x:")):
            content = content.replace(old, new)
        return content.replace(b"xmlns:w=", b"xmlns:x=")

    document = read(corpus, "a.docx", repacked(word(), change))
    assert "\n\n".join(TABLE) in document.text


FOOTNOTES = b"""<w:footnotes xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">
<w:footnote w:type="separator" w:id="-1"><w:p><w:r><w:t>-----</w:t></w:r></w:p></w:footnote>
<w:footnote w:id="2"><w:p><w:r><w:t>Except in May.</w:t></w:r></w:p></w:footnote></w:footnotes>"""


def test_word_footnotes_stand_at_the_end(corpus: Path) -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("Staff get 25 days")
    reference = OxmlElement("w:footnoteReference")
    reference.set(qn("w:id"), "2")
    paragraph.add_run()._r.append(reference)

    def change(name: str, content: bytes) -> bytes:
        if name == "[Content_Types].xml":
            kind = b"application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
            part = b'<Override PartName="/word/footnotes.xml" ContentType="%s"/></Types>'
            return content.replace(b"</Types>", part % kind)
        if name == "word/_rels/document.xml.rels":
            kind = b"http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"
            link = b'<Relationship Id="rId99" Type="%s" Target="footnotes.xml"/></Relationships>'
            return content.replace(b"</Relationships>", link % kind)
        return content

    data = repacked(saved(document), change, {"word/footnotes.xml": FOOTNOTES})
    assert outline(read(corpus, "a.docx", data)) == [
        ((), "Staff get 25 days [2]"),
        (("Footnotes",), "Footnotes"),
        (("Footnotes",), "[2] Except in May."),
    ]


def test_slides_are_pages(corpus: Path) -> None:
    document = read(corpus, "a.pptx", slides())
    assert outline(document) == [
        (("Goals",), "Goals"),
        (("Goals",), "Sell more tea.\nBuy less milk."),
        (("Goals", "Speaker notes"), "Speaker notes"),
        (("Goals", "Speaker notes"), "Speak slowly here."),
        *(((), row) for row in TABLE),
    ]
    assert [passage.page for passage in chunk(document)] == [1, 2]
    assert document.title == "Plans"
    assert document.metadata == {"date": "2024-03-01"}


def test_slides_without_text_keep_their_numbers(corpus: Path) -> None:
    deck = pptx.Presentation()
    for text in ("", "two", "", "four"):
        slide = deck.slides.add_slide(deck.slide_layouts[6])
        if text:
            slide.shapes.add_textbox(0, 0, 914400, 914400).text_frame.text = text
    document = read(corpus, "a.pptx", saved(deck))
    assert [(p.page, p.text) for p in chunk(document)] == [(2, "two"), (4, "four")]
    assert document.metadata["left_out"] == ("no text on slide 1, 3",)
    assert document.title == "a.pptx"


def test_slides_groups_and_charts(corpus: Path) -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    group = slide.shapes.add_group_shape().shapes.add_group_shape()
    group.shapes.add_textbox(0, 0, 1, 1).text_frame.text = "inside"
    data = CategoryChartData()  # type: ignore[no-untyped-call]
    data.categories = ["2023", "2024"]
    data.add_series("Tea", (1.5, 2))  # type: ignore[no-untyped-call]
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, 914400, 914400, data)
    texts = [text for _, text in outline(read(corpus, "a.pptx", saved(deck)))]
    assert texts == ["inside", "Tea (2023: 1.5; 2024: 2)"]


def deck_with_table(rows: Sequence[Sequence[str]]) -> tuple[Any, Any]:
    """A presentation of one slide, and the table on it."""
    deck = pptx.Presentation()
    shapes = deck.slides.add_slide(deck.slide_layouts[6]).shapes
    table = shapes.add_table(len(rows), len(rows[0]), 0, 0, 9144000, 914400).table
    for row, cells in zip(table.rows, rows, strict=True):
        for cell, text in zip(row.cells, cells, strict=True):
            cell.text = text
    return deck, table


def test_slides_with_merged_cells_and_without_header(corpus: Path) -> None:
    deck, table = deck_with_table([["Plan", "Term", "Fee"], ["A", "1", "5"], ["", "2", "9"]])
    table.cell(1, 0).merge(table.cell(2, 0))
    rows = ["Plan; Term; Fee", "Plan: A; Term: 1; Fee: 5", "Plan: A; Term: 2; Fee: 9"]
    assert texts(corpus, "a.pptx", deck) == rows
    deck, table = deck_with_table(PAIRS)
    assert texts(corpus, "a.pptx", deck)[1] == "Name: Seat; Acme: Berlin"
    table.first_row, table.first_col = False, True
    assert texts(corpus, "a.pptx", deck) == ["; ".join(pair) for pair in PAIRS]


def text_box(slide: Any) -> Any:  # noqa: ANN401
    """A new text box of a slide."""
    return slide.shapes.add_textbox(0, 0, 914400, 914400)


def test_slides_leave_out_what_is_struck_or_hidden(corpus: Path) -> None:
    deck = pptx.Presentation()
    first, second = (deck.slides.add_slide(deck.slide_layouts[6]) for _ in range(2))
    paragraph = text_box(first).text_frame.paragraphs[0]
    for text, key, value in (
        *(("costs ", "strike", "noStrike"), ("30 ", "strike", "sngStrike")),
        *(("25, about 10", "baseline", "0"), ("6", "baseline", "30000"), (" in all", "b", "1")),
    ):
        run = paragraph.add_run()
        run.text = text
        run._r.get_or_add_rPr().set(key, value)
    unseen = text_box(first)
    unseen.text_frame.text = "hidden"
    unseen.element.nvSpPr.cNvPr.set("hidden", "1")
    text_box(second).text_frame.text = "not shown"
    second.element.set("show", "0")
    text_box(deck.slides.add_slide(deck.slide_layouts[6])).text_frame.text = "three"
    document = read(corpus, "a.pptx", saved(deck))
    assert [(p.page, p.text) for p in chunk(document)] == [
        (1, "costs 25, about 10⁶ in all"),
        (3, "three"),
    ]
    assert document.metadata["left_out"] == ("hidden: slide 2",)


def test_a_shape_with_the_id_of_the_title_is_read(corpus: Path) -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "Fees"
    box = text_box(slide)
    box.text_frame.text = "A seat costs 12 euros."
    box.element.nvSpPr.cNvPr.set("id", str(slide.shapes.title.shape_id))
    assert texts(corpus, "a.pptx", deck) == ["Fees", "A seat costs 12 euros."]


def test_a_hidden_title_is_not_read(corpus: Path) -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "Draft: do not quote"
    slide.shapes.title.element.nvSpPr.cNvPr.set("hidden", "1")
    text_box(slide).text_frame.text = "A seat costs 12 euros."
    assert outline(read(corpus, "a.pptx", saved(deck))) == [((), "A seat costs 12 euros.")]


@pytest.mark.parametrize("chosen", ["Choice", "Fallback"])
def test_slides_with_offers_to_newer_programs(corpus: Path, chosen: str) -> None:
    deck = pptx.Presentation()
    shape = text_box(deck.slides.add_slide(deck.slide_layouts[6]))
    shape.text_frame.text = "At least "
    formula = f"<a14:m {WORD} {A14}><m:oMath>{FRACTION.format(3, 4)}</m:oMath></a14:m>"
    shape.text_frame.paragraphs[0]._p.append(parse_xml(formula))
    offer = parse_xml(
        f"<mc:AlternateContent {WORD} {A14}><mc:Choice Requires='a14'/><mc:Fallback/>"
        "</mc:AlternateContent>"
    )
    shape.element.addprevious(offer)
    if chosen == "Choice":
        offer[1].append(copy.deepcopy(shape.element))
    offer[chosen == "Fallback"].append(shape.element)
    assert texts(corpus, "a.pptx", deck) == ["At least  3/4"]


A14 = (
    'xmlns:a14="http://schemas.microsoft.com/office/drawing/2010/main"'
    ' xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
)


def test_slides_have_lists_of_several_levels(corpus: Path) -> None:
    deck = pptx.Presentation()
    frame = text_box(deck.slides.add_slide(deck.slide_layouts[6])).text_frame
    frame.text = "Full time"
    for text, level in (("25 days", 1), ("Part time", 0)):
        paragraph = frame.add_paragraph()
        paragraph.text, paragraph.level = text, level
    assert texts(corpus, "a.pptx", deck) == ["- Full time\n  - 25 days\n- Part time"]


def test_cells_and_titles_of_slides_are_no_lists(corpus: Path) -> None:
    deck, table = deck_with_table([["Plan", "Fee"], ["Basic", ""]])
    title = deck.slides.add_slide(deck.slide_layouts[5]).shapes.title
    for frame in (table.cell(1, 1).text_frame, title.text_frame):
        frame.text = "Monthly"
        paragraph = frame.add_paragraph()
        paragraph.text, paragraph.level = "5 EUR", 1
    assert texts(corpus, "a.pptx", deck)[1:] == ["Plan: Basic; Fee: Monthly 5 EUR", "Monthly 5 EUR"]


@pytest.mark.parametrize("word", ["Standard", "Estándar", "General"])
def test_numbers_of_charts_without_a_format_are_no_dates(corpus: Path, word: str) -> None:
    deck = pptx.Presentation()
    shapes = deck.slides.add_slide(deck.slide_layouts[6]).shapes
    data = CategoryChartData(number_format=word)  # type: ignore[no-untyped-call]
    data.categories = ["Tea"]
    data.add_series("Sales", (45000,))  # type: ignore[no-untyped-call]
    shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, 914400, 914400, data)
    assert texts(corpus, "a.pptx", deck) == ["Sales (Tea: 45000)"]


def test_charts_by_their_formats_and_levels(corpus: Path) -> None:
    deck = pptx.Presentation()
    shapes = deck.slides.add_slide(deck.slide_layouts[6]).shapes
    dates = CategoryChartData(number_format="0%")  # type: ignore[no-untyped-call]
    dates.categories = [datetime.date(2024, 1, 1), datetime.date(2024, 2, 1)]
    dates.add_series("Share", (0.25, 0.3))  # type: ignore[no-untyped-call]
    levels = CategoryChartData()  # type: ignore[no-untyped-call]
    for year in ("2023", "2024"):
        category = levels.add_category(year)  # type: ignore[no-untyped-call]
        for quarter in ("Q1", "Q2"):
            category.add_sub_category(quarter)
    levels.add_series("Sales", (1, 2, 3, 4))  # type: ignore[no-untyped-call]
    for kind, data in ((XL_CHART_TYPE.LINE, dates), (XL_CHART_TYPE.COLUMN_CLUSTERED, levels)):
        shapes.add_chart(kind, 0, 0, 914400, 914400, data)
    assert texts(corpus, "a.pptx", deck) == [
        "Share (2024-01-01: 25%; 2024-02-01: 30%)",
        "Sales (2023 Q1: 1; 2023 Q2: 2; 2024 Q1: 3; 2024 Q2: 4)",
    ]


def test_rows_are_statements_under_their_sheet(corpus: Path) -> None:
    document = read(corpus, "a.xlsx", workbook())
    assert [(*entry, block.line) for entry, block in
            zip(outline(document), document.blocks, strict=True)] == [
        (("Leave",), "Year; Days; Note", 1),
        (("Leave",), "Year: 2024; Days: 25; Note: as agreed", 2),
        (("Leave",), "Year: 2025; Days: 26; Note: one more", 3),
        (("Prices",), "Item; Price", 2),
        (("Prices",), "Item: Tea; Price: 2.5", 3),
    ]  # fmt: skip
    assert [(p.titles, p.line) for p in chunk(document)] == [
        (("a.xlsx", "Leave"), 1),
        (("a.xlsx", "Prices"), 2),
    ]


@pytest.mark.parametrize("size", [4, 30, 150])
def test_rows_of_passages_and_quotes(corpus: Path, size: int) -> None:
    rows: list[list[object]] = [["Number", "Name"]]
    rows += [[f"n{n}", f"name{n}"] if n % 7 else [] for n in range(2, 60)]
    document = read(corpus, "a.xlsx", workbook({"One": rows, "Two": rows}))
    found = 0
    for passage in chunk(document, target_words=size, max_words=size):
        for offset, line in enumerate(passage.text.split("\n")):
            if line.startswith("Number: "):
                assert line.startswith(f"Number: n{passage.line + offset};")
                found += 1
    assert found == 2 * sum(map(bool, rows[1:]))


def test_values_as_a_reader_sees_them(corpus: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    values: list[Any] = [
        datetime.datetime(2024, 3, 1), datetime.datetime(2024, 3, 1, 9, 30), datetime.time(9, 30),
        0.125, 3, 2.50, True, "a\nb", "=1+1", None, 0.1 + 0.2,
    ]  # fmt: skip
    for row, value in enumerate(values, start=1):
        sheet.cell(row, 1, value)
    sheet["A4"].number_format = "0.0%"
    sheet["A5"].number_format = "0%"
    document = read(corpus, "a.xlsx", saved(book))
    assert [text for _, text in outline(document)] == [
        "2024-03-01", "2024-03-01T09:30:00", "09:30:00", "12.5%", "300%", "2.5", "TRUE",
        "a b", "0.3",
    ]  # fmt: skip
    assert document.metadata["left_out"] == ("1 formula without a stored value",)


@pytest.mark.parametrize(
    ("value", "number_format", "text"),
    [
        (49.9, '#,##0.00 "€"', "49.90 €"),
        (1234567.891, "$#,##0.00", "$1,234,567.89"),
        (0.125, "0.0 %", "12.5 %"),
        (0.125, "0%", "13%"),  # rounded as a workbook does it
        (30, '0 "days"', "30 days"),
        (30, "0\\ \\d", "30 d"),
        (501, "00000", "00501"),
        (5, '_-* #,##0.00\\ [$€-407]_-;\\-* #,##0.00\\ [$€-407]_-;_-* "-"', "5.00 €"),
        (-5, '_-* #,##0.00\\ [$€-407]_-;\\-* #,##0.00\\ [$€-407]_-;_-* "-"', "-5.00 €"),
        (-5, "#,##0.00_);[Red](#,##0.00)", "-5.00"),
        (-5, "0.0;[Red]0.0", "-5.0"),
        (-0.05, "0%", "-5%"),
        # Digits that are shown only where they say something.
        (0.255, "0.##%", "25.5%"),
        (0.25, "#%", "25%"),
        (3, "0.0#%", "300%"),
        (0.5, "[>=0.5]0%;0.0%", "50%"),
        (-0.05, '0%;0% "loss"', "-5%"),
        # What says more stays as it is.
        (2.5, '0.## "%"', "2.5"),
        (-5, '0 "gain";0 "loss"', "-5"),
        (2.5, "General", "2.5"),
        (0.5, "# ?/?", "0.5"),
        (12345, "0.00E+00", "12345"),
        (12345, "#,##0,", "12345"),
        (2.5, '0 "open', "2.5"),
        (1e300, "0.00", "1e+300"),
    ],
)
def test_numbers_by_their_format(corpus: Path, value: float, number_format: str, text: str) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.cell(1, 1, value).number_format = number_format
    assert read(corpus, "a.xlsx", saved(book)).text == text


def test_dates_name_columns_of_a_sheet(corpus: Path) -> None:
    days = [datetime.date(2024, 1, 1), datetime.date(2024, 2, 1)]
    data = workbook({"S": [["Item", *days], ["Rent", 5, 6]]})
    assert read(corpus, "a.xlsx", data).text.endswith("Item: Rent; 2024-01-01: 5; 2024-02-01: 6")


def test_what_is_merged_downwards_is_said_in_each_row(corpus: Path) -> None:
    book = openpyxl.Workbook()
    sheet: Any = book.active
    rows: list[list[Any]]
    rows = [["Plan", "Term", "Fee"], ["A", 1, 5], [None, 2, 9], [], ["B", 1, 7], ["all", 3]]
    for number, row in enumerate(rows, start=1):
        for column, value in enumerate(row, start=1):
            sheet.cell(number, column, value)
    sheet.merge_cells("A2:A4")
    sheet.merge_cells("C5:C6")
    assert texts(corpus, "a.xlsx", book) == [
        "Plan; Term; Fee",
        "Plan: A; Term: 1; Fee: 5",
        "Plan: A; Term: 2; Fee: 9",
        "Plan: B; Term: 1; Fee: 7",
        "Plan: all; Term: 3; Fee: 7",
    ]


def test_what_is_merged_reaches_as_far_as_it_says() -> None:
    book = openpyxl.Workbook()
    sheet: Any = book.active
    for number in range(1, 6):
        sheet.cell(number, 1, number)
    for column in map(get_column_letter, range(3, 61)):  # each to be looked at in no row below
        sheet.merged_cells.add(f"{column}1:{column}2")
    sheet.cell(1, 60, "wide")
    data = saved(book)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        shape = xlsx._shape(archive.read("xl/worksheets/sheet1.xml"))
    read: Any = openpyxl.load_workbook(io.BytesIO(data), read_only=True).active
    read.reset_dimensions()
    rows = xlsx._rows(read, shape, Counter())
    assert [len(row.cells) for row in rows] == [60, 60, 1, 1, 1]


def test_what_a_workbook_hides_is_left_out_and_named(corpus: Path) -> None:
    book = openpyxl.Workbook()
    sheet: Any = book.active
    rows = [["Plan", "Secret", "Fee"], ["A", 1, 5], ["B", 2, 9], ["C", 3, 7]]
    for row in rows:
        sheet.append(row)
    sheet.row_dimensions[3].hidden = True
    sheet.column_dimensions["B"].hidden = True
    sheet.column_dimensions["H"].hidden = True  # which is empty
    for name, state in (("Old", "hidden"), ("Older", "veryHidden")):
        other = book.create_sheet(name)
        other.append(["Plan", "Fee"])
        other.sheet_state = state
    document = read(corpus, "a.xlsx", saved(book))
    assert [(block.line, text) for block, (_, text) in
            zip(document.blocks, outline(document), strict=True)] == [
        (1, "Plan; Fee"), (2, "Plan: A; Fee: 5"), (4, "Plan: C; Fee: 7"),
    ]  # fmt: skip
    assert document.metadata["left_out"] == (
        "1 hidden row",
        "1 hidden column",
        "2 hidden sheets",
    )


STRINGS = """<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">
<si><r><t xml:space="preserve">about 10</t></r>
<r><rPr><vertAlign val="superscript"/></rPr><t>6</t></r></si>
<si><r><rPr><strike/></rPr><t xml:space="preserve">30 </t></r><r><t>25 days</t></r></si></sst>"""


def test_what_is_struck_or_raised_in_a_sheet(corpus: Path) -> None:
    book = openpyxl.Workbook()
    sheet: Any = book.active
    for row in (["Users", "Notice"], ["string 0", "string 1"], ["gone", "2 months"]):
        sheet.append(row)
    sheet["A3"].font = Font(strike=True)

    def change(name: str, content: bytes) -> bytes:
        """As Excel writes it: what texts there are in a member of their own."""
        if name == "[Content_Types].xml":
            kind = b"application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
            part = b'<Override PartName="/xl/sharedStrings.xml" ContentType="%s"/></Types>'
            return content.replace(b"</Types>", part % kind)
        written = rb't="inlineStr"><is><t>string (\d)</t></is>'
        return re.sub(written, rb't="s"><v>\1</v>', content)

    data = repacked(saved(book), change, {"xl/sharedStrings.xml": STRINGS.encode()})
    assert [text for _, text in outline(read(corpus, "a.xlsx", data))] == [
        "Users; Notice",
        "Users: about 10⁶; Notice: 25 days",
        "Notice: 2 months",
    ]


def test_a_sheet_that_understates_its_size_is_read_whole(corpus: Path) -> None:
    changed = []

    def change(name: str, content: bytes) -> bytes:
        understated = content.replace(b'ref="A1:C3"', b'ref="A1:A1"')
        if understated != content:
            changed.append(name)
        return understated

    data = repacked(workbook(), change)
    assert changed == ["xl/worksheets/sheet1.xml"]
    assert "Year: 2025; Days: 26" in read(corpus, "a.xlsx", data).text


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        # A title above the header; columns without a header.
        ([["Prices"], ["Item", "", "Cost"], ["Tea", "hot", "2"]],
         ["Prices", "Item; Cost", "Item: Tea; hot; Cost: 2"]),
        # Years are headers, other numbers are not.
        ([["Region", "2023", "2024"], ["North", "1", "2"]],
         ["Region; 2023; 2024", "Region: North; 2023: 1; 2024: 2"]),
        ([["North", "17", "20"], ["South", "18", "21"]], ["North; 17; 20", "South; 18; 21"]),
        ([["a", "a"], ["b", "c"]], ["a; a", "b; c"]),
        ([["only", "one row"]], ["only; one row"]),
        ([["one"], ["column"]], ["one", "column"]),
        ([["a", "b"], ["1", "2", "3"]], ["a; b", "a: 1; b: 2; 3"]),
    ],
)  # fmt: skip
def test_headers(corpus: Path, rows: list[list[object]], expected: list[str]) -> None:
    document = read(corpus, "a.xlsx", workbook({"S": rows}))
    assert [text for _, text in outline(document)] == expected


# --------------------------------------------------------------------- guards


@pytest.mark.parametrize("name", MAKERS)
def test_what_is_no_office_file(corpus: Path, name: str) -> None:
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("a.txt", "text")
    wrong = MAKERS["a.xlsx" if name == "a.docx" else "a.docx"]()
    kind = name[2:].upper()
    cases = [
        (b"plain text", f"is not a {kind} \\(it is no zip archive\\)"),
        (other.getvalue(), f"is not a {kind} \\(a zip archive of something else\\)"),
        (wrong, f"is a damaged {kind}: "),
        (MAKERS[name]()[:2000], f"is a damaged {kind}: "),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 600, "is in an old binary Office format"),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"),
            "is encrypted, a password is needed",
        ),
    ]
    for data, reason in cases:
        with pytest.raises(DocumentError, match=rf"^{name}: {reason}"):
            read(corpus, name, data)


@pytest.mark.parametrize("name", MAKERS)
def test_encrypted_members_are_named_as_such(corpus: Path, name: str) -> None:
    data = bytearray(MAKERS[name]())
    at = data.rindex(b"PK\x01\x02")
    data[at + 8] |= 1
    with pytest.raises(DocumentError, match="is encrypted, a password is needed"):
        read(corpus, name, bytes(data))


@pytest.mark.parametrize("name", MAKERS)
def test_a_zip_bomb_is_refused_before_it_is_opened(
    corpus: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    zeros = bytes(office.SMALL_MEMBER + 1)
    data = repacked(MAKERS[name](), lambda _, content: content, {"bomb.xml": zeros})
    monkeypatch.setattr(zipfile.ZipFile, "open", lambda *_: pytest.fail("decompressed"))
    with pytest.raises(DocumentError, match=r"'bomb\.xml' is compressed more than 200 times"):
        read(corpus, name, data)


def test_large_and_many_members_are_refused(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(office, "MAX_SIZE", 1000)
    with pytest.raises(DocumentError, match=r"would be \d+ bytes when decompressed, at most 1000"):
        read(corpus, "a.docx", word())
    monkeypatch.setattr(office, "MAX_MEMBERS", 3)
    with pytest.raises(DocumentError, match=r"has 1[0-9] members, at most 3"):
        read(corpus, "a.docx", word())


def test_a_member_that_is_larger_than_it_says_is_refused(corpus: Path) -> None:
    data = bytearray(repacked(word(), lambda _, content: content))
    at = 0
    while (at := data.find(b"PK\x01\x02", at + 1)) >= 0:
        if data[at + 46 :].startswith(b"word/document.xml"):
            data[at + 24 : at + 28] = (100).to_bytes(4, "little")
    with pytest.raises(DocumentError, match=r"'word/document\.xml' is not as long as it says"):
        read(corpus, "a.docx", bytes(data))


LAUGHS = b'<!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;">]>'


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("declaration", [LAUGHS, b'<!DOCTYPE a SYSTEM "file:///etc/hostname">'])
def test_xml_with_a_document_type_is_refused(corpus: Path, name: str, declaration: bytes) -> None:
    def change(member: str, content: bytes) -> bytes:
        if member.endswith(("document.xml", "slide1.xml", "sheet1.xml")):
            head, mark, rest = (
                content.rpartition(b"?>") if b"?>" in content else (b"", b"", content)
            )
            return head + mark + declaration + rest
        return content

    with pytest.raises(DocumentError, match=f"^{name}: declares XML entities or a document type"):
        read(corpus, name, repacked(MAKERS[name](), change))


def test_deep_nesting_is_one_line(corpus: Path) -> None:
    def change(_: str, content: bytes) -> bytes:
        deep = b"<w:sdt><w:sdtContent>" * 3000 + b"</w:sdtContent></w:sdt>" * 3000
        return content.replace(b"<w:body>", b"<w:body>" + deep)

    with pytest.raises(DocumentError, match=r"^a\.docx: is a damaged DOCX: [^\n]*$"):
        read(corpus, "a.docx", repacked(word(), change))


@pytest.mark.parametrize(
    ("name", "empty"),
    [
        ("a.docx", saved(docx.Document())),
        ("a.pptx", saved(pptx.Presentation())),
        ("a.xlsx", saved(openpyxl.Workbook())),
    ],
)
def test_without_text(corpus: Path, name: str, empty: bytes) -> None:
    with pytest.raises(DocumentError, match=f"^{name}: holds no text"):
        read(corpus, name, empty)
