"""The sample handbook: what the benchmark reads must be right."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from factcheck_local.indexer.chunker import chunk
from factcheck_local.indexer.loaders import load
from factcheck_local.indexer.reliability import ReliabilityProfile
from tests.indexer.helpers import of_document

HANDBOOK = Path(__file__).parent.parent / "corpora" / "handbook"
LABELS = sorted((HANDBOOK / "answers").glob("*.labels.json"))
PAGES = sorted(
    p
    for p in HANDBOOK.rglob("*")
    if p.is_file() and p.suffix != ".toml" and "answers" not in p.parts
)


def test_there_is_a_small_wiki_with_five_answers() -> None:
    assert 15 <= len(PAGES) <= 25
    assert {p.suffix for p in PAGES} == {".md", ".html", ".pdf"}
    assert len(LABELS) == 5


@pytest.mark.parametrize("path", LABELS, ids=lambda p: p.name)
def test_labels_point_into_the_answer_and_at_pages(path: Path) -> None:
    data = json.loads(path.read_text(encoding="utf-8"))
    text = (path.parent / data["answer"]).read_text(encoding="utf-8")
    for claim in data["claims"]:
        assert text[claim["start"] : claim["end"]] == claim["original"]
        assert all((HANDBOOK / source).is_file() for source in claim["sources"])
        assert bool(claim["sources"]) == (claim["label"] != "not_found")


def test_every_label_occurs() -> None:
    labels = Counter(c["label"] for p in LABELS for c in json.loads(p.read_text())["claims"])
    assert set(labels) == {"supported", "contradicted", "conflicting", "not_found"}
    assert min(labels.values()) >= 5


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.relative_to(HANDBOOK).as_posix())
def test_every_page_loads_and_has_a_prior_of_its_own(path: Path) -> None:
    source = path.relative_to(HANDBOOK).as_posix()
    document = load(path, source)
    profile = ReliabilityProfile.load(HANDBOOK / "reliability.toml")
    assert of_document(profile, document, source).rule != "default"
    for passage in chunk(document):
        assert passage.span.of(document.text) == passage.text
