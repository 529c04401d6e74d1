"""Passages by the one sentence of each that says most of a claim."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from factcheck_local.core.types import Context
from factcheck_local.indexer.fingerprint import Fingerprint
from factcheck_local.indexer.store import Store
from factcheck_local.indexer.sync import sync
from factcheck_local.models.embedder import SentenceTransformerEmbedder
from factcheck_local.pipeline.retrieval import sentences
from factcheck_local.pipeline.retrieval.search import search
from factcheck_local.pipeline.retrieval.sentences import by_sentences


def passage(name: str, text: str, title: str = "") -> Context:
    return Context(id=name, text=text, source=f"{name}.md", title=title, prior=0.9)


TOGETHER = passage("together", "Tea is served. The kettle in the kitchen is descaled on Monday.")
SPREAD = passage(
    "spread", "The kettle is new. Monday is quiet.\nThe kitchen opens at eight. Pumps are descaled."
)
OTHER = passage("other", "Parking is free. Bikes stand in the yard.")
CLAIM = "The kettle in the kitchen is descaled on Monday."


def test_a_sentence_that_says_it_comes_before_words_that_are_spread() -> None:
    (found,) = by_sentences([CLAIM], [[OTHER, SPREAD, TOGETHER]], together=False)
    assert found == ["together", "spread", "other"]


def test_ties_stay_as_they_were() -> None:
    twin = passage("twin", OTHER.text)
    assert by_sentences(["Nothing of it."], [[twin, OTHER]], together=True) == [["twin", "other"]]
    assert by_sentences([], [], together=True) == []
    assert by_sentences(["Anything."], [[]], together=False) == [[]]


def test_what_all_passages_have_tells_nothing() -> None:
    everywhere = [passage(f"p{i}", f"Acme Ltd has a rule on topic {i}.") for i in range(6)]
    rare = passage("rare", "A badge is returned.")
    (found,) = by_sentences(["A badge of Acme Ltd."], [[*everywhere, rare]], together=False)
    assert found[0] == "rare"


def test_the_words_of_all_claims_passages_are_counted_together() -> None:
    """Alone "pump" is in every passage of the first claim; among all it is rare."""
    pumps = [passage("a", "The pump hums."), passage("b", "The pump is red and the valve hums.")]
    valves = [passage(f"v{i}", f"A valve hums on floor {i}.") for i in range(8)]
    claims = ["The pump.", "A valve hums."]
    alone, _ = by_sentences(claims, [[valves[0], *pumps], valves], together=False)
    together, _ = by_sentences(claims, [[valves[0], *pumps], valves], together=True)
    assert together[:2] == ["a", "b"]
    assert sorted(alone) == sorted(together)


@pytest.mark.parametrize("title", ["Edge firmware", "Edge firmware > 4.3"])
def test_a_word_in_the_title_counts_half(title: str) -> None:
    below = passage("below", "It installs overnight.", title)
    within = passage("within", "Edge firmware installs overnight.")
    without = passage("without", "It installs overnight.")
    (found,) = by_sentences(
        ["Edge firmware installs overnight."], [[without, below, within]], together=False
    )
    assert found == ["within", "below", "without"]


def test_negations_and_little_words_part_near_sentences() -> None:
    some = passage("some", "Pets may come before noon.")
    none = passage("none", "Pets may not come after noon.")
    (found,) = by_sentences(["Pets may not come after noon."], [[some, none]], together=False)
    assert found[0] == "none"


PAGES = {
    "badges": "# Badges\n\nBadges are blue. Visitors get a badge at the desk. Lost things are "
    "kept. Guests are told of it. Lunch takes an hour.",
    "doors": "# Doors\n\nWhoever loses a badge tells the desk within an hour.",
    "parking": "# Parking\n\nParking is free within the yard. An hour is enough for guests.",
}


def test_a_fused_search_finds_the_sentence_among_pages_on_the_subject(
    tmp_path: Path, minilm: SentenceTransformerEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in PAGES.items():
        (tmp_path / f"{name}.md").write_text(text, encoding="utf-8")
    claim = ["A lost badge is told to the desk within an hour."]
    with Store.create(tmp_path / "store", Fingerprint.of(minilm)) as store:
        sync([tmp_path], store, minilm, exclude=["store/**"])
        first = {}
        for weight in (0.0, 10.0):
            monkeypatch.setattr(sentences, "WEIGHT", weight)
            (found,) = search(claim, minilm.embed(claim), store, 1, "fused")
            first[weight] = found[0].source
    assert first == {0.0: "badges.md", 10.0: "doors.md"}


def test_of_a_group_the_claim_is_read_not_its_further_queries(
    tmp_path: Path, minilm: SentenceTransformerEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in PAGES.items():
        (tmp_path / f"{name}.md").write_text(text, encoding="utf-8")
    asked: list[Sequence[str]] = []

    def seen(
        claims: Sequence[str], found: Sequence[Sequence[Context]], *, together: bool
    ) -> list[list[str]]:
        asked.append(claims)
        return by_sentences(claims, found, together=together)

    monkeypatch.setattr(sentences, "by_sentences", seen)
    texts = ["Guests park for an hour.", "Badges are blue.", "parking guests"]
    with Store.create(tmp_path / "store", Fingerprint.of(minilm)) as store:
        sync([tmp_path], store, minilm, exclude=["store/**"])
        search(texts, minilm.embed(texts), store, 2, "fused", of=[0, 1, 0])
        search(texts[:1], minilm.embed(texts[:1]), store, 2, "dense")
    assert asked == [texts[:2]]
