"""Passages: exact offsets, full coverage, true titles, sizes, stable ids."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pptx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from factcheck_local.core.types import Chunk, Document
from factcheck_local.indexer.chunker import chunk
from factcheck_local.indexer.loaders import load
from factcheck_local.indexer.loaders import markdown as markdown_loader
from factcheck_local.indexer.loaders import plain as plain_loader

from .helpers import pdf, write
from .samples import saved


def markdown(text: str) -> Document:
    return markdown_loader.load(text.encode(), "a.md")


def plain(text: str) -> Document:
    return plain_loader.load(text.encode(), "a.txt")


def prose(words: int, word: str = "word") -> str:
    """Sentences of ten words."""
    return " ".join(f"{word}{'.' if n % 10 == 9 else ''}" for n in range(words)).capitalize()


def sentences(count: int) -> str:
    return " ".join(f"Sentence number {n} says what ten words can say here." for n in range(count))


def count(text: str) -> int:
    return len(text.split())


def check(document: Document, chunks: tuple[Chunk, ...]) -> None:
    """The invariants that hold for every document."""
    position = 0
    for passage in chunks:
        assert passage.text == passage.span.of(document.text)
        assert passage.text == passage.text.strip() != ""
        assert passage.span.start >= position
        position = passage.span.end
        before = document.text[: passage.span.start]
        assert passage.line == len(re.findall(r"\r\n?|\n", before)) + 1
    covered = [i for p in chunks for i in range(p.span.start, p.span.end)]
    assert len(covered) == len(set(covered))
    inside = set(covered)
    for block in document.blocks:
        for i in range(block.span.start, block.span.end):
            assert i in inside or document.text[i].isspace()
    assert len({passage.id for passage in chunks}) == len(chunks)


FULL_STOPS = "\u3002\uff01\uff1f"  # those of East Asian scripts, where no space follows

ANY_MARKDOWN = st.lists(
    st.one_of(
        st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30),
        st.sampled_from(["# A\n\n", "## B\n", "## B\n", "### C\n\n", "\n\n", "\n", "\r\n", "- ",
                         "word ", "word. Word ", "| a | b |\n|---|---|\n| 1 | 2 |\n\n", "漢字。",
                         prose(40) + "\n\n", "1. ", "Dr. Who ", "```\ncode\n\n```\n"]),
    ),
    max_size=40,
).map("".join)  # fmt: skip


@given(text=ANY_MARKDOWN, sizes=st.tuples(st.integers(1, 60), st.integers(0, 30)))
@settings(deadline=None)
def test_offsets_and_coverage_of_any_text(text: str, sizes: tuple[int, int]) -> None:
    for document in (markdown(text), plain(text)):
        check(document, chunk(document, target_words=sizes[0], max_words=sum(sizes)))
    for passage in chunk(plain(text), target_words=sizes[0], max_words=sum(sizes)):
        assert count(passage.text) <= sum(sizes)


@given(text=ANY_MARKDOWN)
@settings(deadline=None)
def test_titles_are_true_of_all_the_text(text: str) -> None:
    """Each block of a passage lies below its titles, and the other headings are inside."""
    document = markdown(text)
    for passage in chunk(document, target_words=30, max_words=40):
        titles = passage.titles[1:] if passage.titles[:1] == (document.title,) else passage.titles
        inside = [
            block
            for block in document.blocks
            if block.span.start < passage.span.end and passage.span.start < block.span.end
        ]
        headings = [block.headings[-1] for block in inside if block.is_heading]
        for block in inside:
            path = tuple(filter(None, block.headings))
            if not block.is_heading:
                known = (
                    path[: len(titles)] == titles or path[: len(passage.titles)] == passage.titles
                )
                assert known
                assert set(path) <= {*passage.titles, *headings}


@given(st.lists(st.text(st.characters(categories=["L", "P", "Zs"])), max_size=30).map("\n".join))
@settings(deadline=None)
def test_no_word_is_cut(text: str) -> None:
    text = re.sub(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]", "x", text)
    document = plain(text)
    for passage in chunk(document, target_words=4, max_words=6):
        start, end = passage.span.start, passage.span.end
        assert start == 0 or text[start - 1].isspace() or text[start - 1] in FULL_STOPS
        assert end == len(text) or text[end].isspace() or text[end - 1] in FULL_STOPS


def test_blocks_of_a_section_are_packed_whole() -> None:
    paragraphs = [prose(70, f"w{n}") for n in range(6)]
    document = markdown("# Head\n\n" + "\n\n".join(paragraphs))
    chunks = chunk(document)
    check(document, chunks)
    assert [passage.text for passage in chunks] == [
        "# Head\n\n" + "\n\n".join(paragraphs[:2]),
        "\n\n".join(paragraphs[2:4]),
        "\n\n".join(paragraphs[4:]),
    ]
    assert {passage.titles for passage in chunks} == {("Head",)}
    assert [passage.line for passage in chunks] == [1, 7, 11]


def test_long_block_is_split_at_sentences() -> None:
    document = markdown(f"# Head\n\n{sentences(50)}")
    chunks = chunk(document)
    check(document, chunks)
    assert all(120 <= count(passage.text) <= 180 for passage in chunks)
    assert all(passage.text.endswith(".") for passage in chunks)


@pytest.mark.parametrize("words", [170, 174, 175, 176, 180])
def test_heading_counts_as_part_of_its_passage(words: int) -> None:
    """Of up to 180 words: five of the heading (its ## among them) and the text's."""
    chunks = chunk(markdown(f"## Four words of heading\n\n{prose(words)}\n\n{prose(80)}"))
    assert all(count(passage.text) <= 180 for passage in chunks)
    assert count(chunks[0].text) > 5


def test_remarks_count_as_part_of_a_passage() -> None:
    remark = f"<!-- {prose(100)} -->"
    document = markdown("\n\n".join([prose(60), remark, prose(60, "other")] * 3))
    chunks = chunk(document)
    check(document, chunks)
    assert all(count(passage.text) <= 180 for passage in chunks)


def test_heading_longer_than_a_passage_keeps_its_text() -> None:
    document = markdown(f"# {prose(200)}\n\nshort text")
    chunks = chunk(document)
    check(document, chunks)
    assert chunks[-1].text.endswith("short text")
    assert count(chunks[-1].text) > 2


@pytest.mark.parametrize("stop", ["Dr. Smith", "No. 7", "e.g. Spain", "J. Doe", "3.5 days"])
def test_abbreviations_end_no_sentence(stop: str) -> None:
    document = plain(" ".join([f"The report of {stop} says so clearly."] * 60))
    for passage in chunk(document):
        assert passage.text.startswith("The report")


def test_numbers_of_list_items_stay_with_their_items() -> None:
    document = markdown("\n".join(f"{n}. item {prose(20)}" for n in range(1, 40)))
    for passage in chunk(document):
        assert re.match(r"\d+\. item", passage.text)


def test_table_rows_are_not_cut() -> None:
    rows = "\n".join(f"| {n} | {prose(12)} |" for n in range(60))
    document = markdown(f"| n | text |\n|---|---|\n{rows}")
    chunks = chunk(document)
    check(document, chunks)
    assert len(chunks) > 3
    assert all(passage.text.startswith("|") and passage.text.endswith("|") for passage in chunks)


def test_small_sections_share_a_passage_with_their_headings_inside() -> None:
    faq = "\n\n".join(f"## Question {n}\n\n{prose(15)}" for n in range(8))
    document = markdown(f"# FAQ\n\n{faq}")
    chunks = chunk(document)
    check(document, chunks)
    assert len(chunks) == 1
    assert chunks[0].titles == ("FAQ",)
    assert chunks[0].text.startswith("# FAQ")


def test_large_sections_do_not_share_a_passage() -> None:
    document = markdown(f"# Top\n\n## A\n\n{prose(90)}\n\n## B\n\n{prose(90)}")
    chunks = chunk(document)
    assert [passage.titles for passage in chunks] == [("Top", "A"), ("Top", "B")]
    assert chunks[0].text.startswith("# Top\n\n## A\n\n")  # no heading alone


def test_sections_without_a_common_title_do_not_share_a_passage() -> None:
    document = markdown("# A\n\nfew words\n\n# B\n\nfew words")
    assert [passage.titles for passage in chunk(document)] == [("A",), ("B",)]


def test_sections_of_the_same_name_are_different_sections() -> None:
    text = f"# Top\n\n## Note\n\n{prose(140)}\n\n## Note\n\n{prose(140)}"
    assert len(chunk(markdown(text))) == 2


def test_tail_of_a_section_is_not_merged_without_its_heading() -> None:
    document = markdown(f"# Top\n\n## A\n\n{prose(170)}\n\n{prose(20)}\n\n## B\n\n{prose(20)}")
    for passage in chunk(document):
        if "## B" in passage.text:
            assert passage.titles == ("Top", "B") or "## A" in passage.text


def test_empty_section_stays_with_its_parent() -> None:
    document = markdown("# Top\n\n## Empty\n\n## Full\n\ntext")
    (passage,) = chunk(document)
    assert passage.titles == ("Top",)


def test_document_title_stands_above_its_headings() -> None:
    document = markdown("---\ntitle: Handbook\n---\n# Leave\n\ntext")
    assert chunk(document)[0].titles == ("Handbook", "Leave")
    document = markdown("---\ntitle: Leave\n---\n# Leave\n\ntext")
    assert chunk(document)[0].titles == ("Leave",)
    assert chunk(plain("text"))[0].titles == ("a.txt",)


@pytest.mark.parametrize(
    ("title", "headings", "titles"),
    [
        # Said by a section's own heading it is not said twice, but stands above the others.
        ("Leave", ["Leave", "Notice"], [("Leave",), ("Leave", "Notice")]),
        ("Leave", ["Notice", "Leave"], [("Leave", "Notice"), ("Leave",)]),
        ("Leave", ["Leave 2024", "Notice"], [("Leave 2024",), ("Leave", "Notice")]),
        # A heading that says less than the title takes nothing from it.
        ("Travel, Germany", ["Travel", "Hotels"],
         [("Travel, Germany", "Travel"), ("Travel, Germany", "Hotels")]),
        # The only one is the title as the text has it.
        ("Leave \u2013 Intranet", ["Leave"], [("Leave",)]),
        # A part of a word does not say it.
        ("Tea", ["Team rules", "Green Tea"], [("Tea", "Team rules"), ("Green Tea",)]),
        ("Team rules", ["Tea"], [("Team rules", "Tea")]),
        # What is only the first heading is no title of the others.
        ("", ["Leave", "Notice"], [("Leave",), ("Notice",)]),
    ],
)  # fmt: skip
def test_a_title_is_above_each_passage_that_does_not_say_it(
    title: str, headings: list[str], titles: list[tuple[str, ...]]
) -> None:
    front = f"---\ntitle: {title}\n---\n" if title else ""
    document = markdown(front + "\n\n".join(f"# {head}\n\n{prose(150)}" for head in headings))
    assert [passage.titles for passage in chunk(document)] == titles


def test_a_decks_title_is_above_all_its_slides(corpus: Path) -> None:
    deck = pptx.Presentation()
    deck.core_properties.title = "Pricing Germany 2024"
    for title, text in (("Pricing Germany 2024", "Kick-off"), ("Basic plan", "5 EUR a month.")):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = text
    write(corpus, {"a.pptx": saved(deck)})
    assert [passage.titles for passage in chunk(load(corpus / "a.pptx", "a.pptx"))] == [
        ("Pricing Germany 2024",),
        ("Pricing Germany 2024", "Basic plan"),
    ]


def test_front_matter_is_in_no_passage() -> None:
    (passage,) = chunk(markdown("---\ntitle: x\n---\ntext"))
    assert (passage.text, passage.line) == ("text", 4)


def test_passages_do_not_span_pages(corpus: Path) -> None:
    write(corpus, {"a.pdf": pdf("First page.", "Second page.\nmore", "", "Last page.")})
    document = load(corpus / "a.pdf", "a.pdf")
    chunks = chunk(document)
    check(document, chunks)
    assert [(passage.page, passage.text) for passage in chunks] == [
        (1, "First page."),
        (2, "Second page.\nmore"),
        (4, "Last page."),
    ]


def test_pages_are_none_without_pages() -> None:
    assert chunk(plain("text"))[0].page is None


def test_edit_above_keeps_the_ids_below() -> None:
    sections = [f"## Part {n}\n\n{prose(140, f'w{n}')}" for n in range(5)]
    before = chunk(markdown("# Top\n\nIntro.\n\n" + "\n\n".join(sections)))
    sections[0] = f"## New first part\n\n{prose(130, 'new')}\n\nAnd more."
    after = chunk(markdown("# Top\n\nIntro.\n\n" + "\n\n".join(sections)))
    assert [p.id for p in before][-4:] == [p.id for p in after][-4:]
    assert [p.span for p in before][-4:] != [p.span for p in after][-4:]


def test_id_depends_on_source_titles_text_and_ordinal() -> None:
    texts = ["# A\n\nsame\n\n# A\n\nsame", "# B\n\nsame"]
    first, second = (chunk(markdown(text)) for text in texts)
    other = chunk(markdown_loader.load(texts[1].encode(), "b.md"))
    assert len({passage.id for passage in (*first, *second, *other)}) == 4
    assert chunk(markdown(texts[0])) == first


@pytest.mark.parametrize(
    "text",
    ["word " * 50_000, sentences(5_000), "x" * 1_000_000, "w\n" * 50_000, "漢字" * 25_000,
     "." * 100_000, '."' * 50_000, "a" + " " * 500_000 + "b", "a" + "\n" * 50_000 + "b"],
    ids=["line", "sentences", "word", "lines", "ideographs", "dots", "quotes", "spaces", "blank"],
)  # fmt: skip
def test_huge_inputs_take_linear_time(text: str) -> None:
    began = time.process_time()
    document = plain(text)
    chunks = chunk(document)
    assert time.process_time() - began < 8  # a quadratic rule takes minutes
    check_ends = [passage.span.of(document.text) == passage.text for passage in chunks]
    assert all(check_ends)
    assert all(count(passage.text) <= 180 for passage in chunks)


def test_text_without_spaces_is_measured_by_its_characters() -> None:
    chunks = chunk(plain("漢字" * 1000))
    assert all(120 <= len(passage.text) <= 180 for passage in chunks)


def test_document_without_blocks_has_no_passages() -> None:
    assert chunk(plain("")) == ()


def test_heading_that_is_a_text_is_cut_like_one() -> None:
    document = markdown(f"# {'word ' * 2000}\n\nshort text")
    chunks = chunk(document)
    check(document, chunks)
    assert all(count(passage.text) <= 180 for passage in chunks)
    assert all(len(passage.title) <= 300 for passage in chunks)


def test_runs_that_are_no_words_are_measured_and_cut() -> None:
    chunks = chunk(plain("Before it. " + "A" * 100_000 + " After it."))
    assert all(len(passage.text) <= 180 * 101 for passage in chunks)
    assert "".join(passage.text for passage in chunks).count("A") == 100_001
    address = "https://example.org/" + "path/" * 15
    assert chunk(plain(f"{prose(100)} {address} {prose(100)}"))[0].text.count("path") in (0, 15)


def test_rows_of_a_word_are_packed_to_the_length_of_a_passage() -> None:
    document = plain("\n\n".join(["word"] * 1000))
    chunks = chunk(document)
    check(document, chunks)
    assert all(100 <= count(passage.text) <= 180 for passage in chunks)
    assert [passage.line for passage in chunks[:2]] == [1, 2 * count(chunks[0].text) + 1]


def table(rows: int, words: int = 6) -> str:
    """A table of two columns; a row's second cell are sentences."""
    said = " ".join(f"Word{n}." for n in range(words))
    return "| Plan | What it has |\n|---|---|\n" + "\n".join(
        f"| Plan {n} | {said} |" for n in range(rows)
    )


@given(rows=st.integers(2, 60), words=st.integers(1, 40), before=st.integers(0, 200))
@settings(deadline=None, max_examples=20)
def test_a_table_is_cut_between_its_rows(rows: int, words: int, before: int) -> None:
    document = markdown(f"# Plans\n\n{prose(before)}\n\n{table(rows, words)}\n\nPrices are net.\n")
    chunks = chunk(document)
    check(document, chunks)
    for passage in chunks:
        inside = [at for at in passage.text.split("\n") if "|" in at]
        assert all(at.startswith("| ") or at == "|---|---|" for at in inside)
        assert all(at.endswith("|") for at in inside)
        if "|---" in passage.text:
            assert "| Plan 0 |" in passage.text, "header, rule and first row stay together"
        within = passage.text.startswith("| Plan ") and "|---" not in passage.text
        assert passage.lead == ("| Plan | What it has |" if within else "")
        assert passage.title == " > ".join(["Plans"] + ["| Plan | What it has |"] * within)


def test_a_row_that_is_too_long_is_cut_like_any_text() -> None:
    document = markdown("| A | B |\n|---|---|\n| x | y |\n" + f"| 1 | {prose(400)} |\n| 2 | z |")
    chunks = chunk(document)
    check(document, chunks)
    assert all(count(passage.text) <= 180 for passage in chunks)
    begins = [passage.text.split("\n")[0] for passage in chunks]
    assert any(not begin.startswith("|") for begin in begins)
    assert all(
        passage.lead == ("" if n == 0 or not begins[n].startswith("|") else "| A | B |")
        for n, passage in enumerate(chunks)
    )


def test_a_table_that_says_no_headers_leads_nothing() -> None:
    rows = "\n".join(f"| Word {n} | {prose(8)} |" for n in range(60))
    chunks = chunk(markdown(f"| | |\n|---|---|\n{rows}"))
    assert len(chunks) > 2
    assert {passage.lead for passage in chunks} == {""}


def test_a_wide_header_leads_with_its_first_columns() -> None:
    names = [f"Column of the table, number {n}" for n in range(12)]
    head = "| " + " | ".join(names) + " |\n|" + "---|" * 12
    chunks = chunk(markdown(head + "\n" + "\n".join(["|" + " 1 |" * 12] * 40)))
    lead = chunks[1].lead
    assert len(lead) <= 200
    kept = [cell.strip() for cell in lead.strip("|").split("|")]
    assert kept == names[: len(kept)]
    assert 1 < len(kept) < len(names)


def test_in_a_code_fence_there_is_no_table() -> None:
    assert {p.lead for p in chunk(markdown(f"```\n{table(60)}\n```"))} == {""}
    assert {p.lead for p in chunk(plain(table(60)))} == {"", "| Plan | What it has |"}
