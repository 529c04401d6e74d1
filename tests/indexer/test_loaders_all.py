"""What holds for every format: sound blocks, quotes found again, one line for bad files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from factcheck_local.core.errors import DocumentError
from factcheck_local.core.types import Document
from factcheck_local.indexer.chunker import chunk
from factcheck_local.indexer.loaders import LOADERS, load
from factcheck_local.pipeline.verdicts.quotes import sentences_of

from .helpers import write
from .rich import PLACES, RICH, RULES, line_of
from .samples import LINED, SAMPLES, VERBATIM

EVERY = pytest.mark.parametrize("extension", list(LOADERS))


def sample(folder: Path, extension: str, data: bytes | None = None) -> Document:
    name = f"a{extension}"
    write(folder, {name: SAMPLES[extension] if data is None else data})
    return load(folder / name, name)


def test_there_is_a_sample_of_every_format() -> None:
    assert list(SAMPLES) == list(LOADERS)


@EVERY
def test_blocks_are_sound(corpus: Path, extension: str) -> None:
    document = sample(corpus, extension)
    position = 0
    for block in document.blocks:
        text = block.span.of(document.text)
        assert position <= block.span.start < block.span.end <= len(document.text)
        assert text == text.strip()
        assert not block.is_heading or block.headings
        assert all(heading and heading == " ".join(heading.split()) for heading in block.headings)
        position = block.span.end
    assert document.title


def test_there_is_a_rich_sample_of_every_format() -> None:
    assert list(RICH) == list(PLACES) == list(LOADERS)


@EVERY
@pytest.mark.parametrize("size", [5, 20, 60, 150])
def test_a_quote_is_found_again_in_the_source(corpus: Path, extension: str, size: int) -> None:
    data = RICH[extension]
    document = sample(corpus, extension, data)
    found: list[str] = []
    for passage in chunk(document, target_words=size, max_words=size * 6 // 5):
        assert passage.text == document.text[passage.span.start : passage.span.end]
        for span in sentences_of(passage.text):
            quote = span.of(passage.text)
            if not re.search(r"Rule \d+|tea number|pence", quote):
                continue  # a heading
            place = PLACES[extension](data, passage, line_of(extension, passage, span.start))
            # In a row the headers stand before the cells.
            cells = re.split(r"; (?=\w+: )|(?<=\d); |(?:^|(?<=; ))(?:Number|Text|Note): ", quote)
            for cell in cells:
                assert "".join(cell.split()) in "".join(place.split()), (quote, place)
            found.append(" ".join(quote.split()))
    said = " ".join(found)
    if size >= 60:  # else sentences are cut
        assert all(sum(rule in quote for quote in found) == 1 for rule in RULES)
    assert [said.count(f"tea number {n:03d}") for n in range(36)] == [1] * 36


@pytest.mark.parametrize("extension", VERBATIM)
def test_offsets_are_those_of_the_file(corpus: Path, extension: str) -> None:
    data = SAMPLES[extension]
    text = data.decode(VERBATIM[extension])
    document = sample(corpus, extension)
    assert document.text == text
    for passage in chunk(document, target_words=12, max_words=20):
        assert text[passage.span.start : passage.span.end] == passage.text
        before = text[: passage.span.start]
        assert passage.line == len(re.findall(r"\r\n?|\n", before)) + 1


@pytest.mark.parametrize("extension", LINED)
@pytest.mark.parametrize("size", [3, 12, 100])
def test_lines_of_quotes_are_those_of_the_file(corpus: Path, extension: str, size: int) -> None:
    lines = SAMPLES[extension].decode().replace("\\n", " ").splitlines()
    headers = set(re.findall(r"\w+", lines[0])) if extension in (".csv", ".tsv") else set()
    document = sample(corpus, extension)
    for passage in chunk(document, target_words=size, max_words=size):
        for span in sentences_of(passage.text):
            # As reports count: from the passage's line on, by line feeds.
            line = passage.line + passage.text.count("\n", 0, span.start)
            record = " ".join(lines[line - 1 : line + 1])  # a record may go on below
            said_there = set(re.findall(r"\w+", record)) | headers
            assert set(re.findall(r"\w+", span.of(passage.text))) <= said_there


@EVERY
@pytest.mark.parametrize(
    "data", [b"", b" \n", b"\x00\x01\x02" * 50, b"\xff\xfe\xff\xd8" + bytes(range(256)) * 4]
)
def test_what_is_no_such_file_is_one_line(corpus: Path, extension: str, data: bytes) -> None:
    with pytest.raises(DocumentError) as caught:
        sample(corpus, extension, data)
    assert str(caught.value).startswith(f"a{extension}: ")
    assert "\n" not in str(caught.value)


@EVERY
def test_loading_opens_no_file_but_its_own(
    corpus: Path, extension: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample(corpus, extension)  # imports and templates of the libraries
    opened: list[str] = []
    real = open

    def watched(file: object, *args: object, **kwargs: object) -> object:
        opened.append(str(file))
        return real(file, *args, **kwargs)  # type: ignore[call-overload]

    monkeypatch.setattr("builtins.open", watched)
    sample(corpus, extension)
    assert not opened
