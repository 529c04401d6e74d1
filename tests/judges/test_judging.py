"""Judges in the pipeline: a real store, the real embedder, a real LLM, and the reports."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from factcheck_local.core.types import Answer, Atom, Kind, Span, Verdict
from factcheck_local.indexer.fingerprint import Fingerprint
from factcheck_local.indexer.store import Store
from factcheck_local.indexer.sync import sync
from factcheck_local.models.embedder import SentenceTransformerEmbedder
from factcheck_local.models.fake import FakeChatModel
from factcheck_local.models.llama_cpp import LlamaCppModel
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.claims.records import Record
from factcheck_local.pipeline.settings import Settings
from factcheck_local.report import to_dict, to_markdown, to_text
from factcheck_local.report.html import to_html

pytestmark = pytest.mark.long

TEXT = "Lunch costs 9 euros. Badges are red. Hello!"
SPANS = (Span(0, 20), Span(21, 36), Span(37, 43))
ATOMS = tuple(
    Atom(f"a{i}", span.of(TEXT), span.of(TEXT), span=span) for i, span in enumerate(SPANS)
)
RECORD = Record(Answer(TEXT, "a.md"), (*ATOMS[:2], replace(ATOMS[2], kind=Kind.OTHER)))


@pytest.fixture(scope="module")
def store(
    tmp_path_factory: pytest.TempPathFactory, minilm: SentenceTransformerEmbedder
) -> Iterator[Store]:
    folder: Path = tmp_path_factory.mktemp("judging")
    (folder / "docs").mkdir()
    (folder / "docs" / "canteen.md").write_text("# Canteen\n\nLunch costs 9 euros.\n")
    (folder / "docs" / "gate.md").write_text("# Gate\n\nBadges are blue.\n")
    with Store.create(folder / "store", Fingerprint.of(minilm)) as made:
        sync([folder / "docs"], made, minilm)
        yield made


@pytest.mark.parametrize("name", ["factscore", "factverify", "veriscore", "felm-segment"])
def test_a_real_model_judges(
    name: str, store: Store, minilm: SentenceTransformerEmbedder, smollm: LlamaCppModel
) -> None:
    """Every claim has a verdict with P on its side, or a reason why it has none."""
    checker = FactChecker(Settings(assessor=name, k=2), store, llm=smollm, embedder=minilm)
    found = checker.verify(RECORD)
    for assessed in found.assessment.atoms[:2]:
        if assessed.verdict is Verdict.UNSCORED:
            assert assessed.reason
            continue
        assert assessed.probability is not None
        if assessed.verdict in (Verdict.CONTRADICTED, Verdict.UNSUPPORTED):
            assert assessed.probability <= 0.5
    assert found.assessment.atoms[2].verdict is Verdict.SKIPPED
    roles = [model["role"] for model in found.models]
    assert "relation" not in roles
    assert roles[0] == "llm"
    assert found.assessment.inference.method == name
    again = checker.verify(RECORD)
    assert again.assessment == found.assessment


def judged(store: Store, minilm: SentenceTransformerEmbedder, reply: str) -> dict[str, object]:
    llm = FakeChatModel(lambda _: reply)
    settings = Settings(assessor="factverify", k=1)
    return to_dict(FactChecker(settings, store, llm=llm, embedder=minilm).verify(RECORD))


def test_reports_show_what_was_read_and_written(
    store: Store, minilm: SentenceTransformerEmbedder
) -> None:
    whole = judged(store, minilm, "It says <b>9</b> euros.\nVerdict: supported")
    text = to_text(whole, width=300, colour=False)
    # Cells are wrapped: only words that stand on one line can be looked for.
    assert "It says <b>9</b> euros." in text
    assert "Judged from canteen.md:1." in text
    assert "Judged from canteen.md:1." in to_markdown(whole).replace("\\", "")
    page = to_html(whole)
    assert "Judged from canteen.md:1." in page
    assert "<b>9</b>" not in page
    assert "a judge's own" in page or "a judge&#39;s own" in page


def test_undecided_is_not_counted_as_supported(
    store: Store, minilm: SentenceTransformerEmbedder
) -> None:
    whole = judged(store, minilm, "Verdict: undecided")
    assert whole["summary"]["counts"]["not_found"] == 2  # type: ignore[index]
    assert whole["summary"]["precision"] == 0.0  # type: ignore[index]


def test_without_a_verdict_it_is_unscored(
    store: Store, minilm: SentenceTransformerEmbedder
) -> None:
    whole = judged(store, minilm, "Who knows?")
    assert whole["summary"]["counts"]["unscored"] == 2  # type: ignore[index]
    assert whole["summary"]["precision"] is None  # type: ignore[index]


def test_a_run_by_a_judge_can_be_repeated(
    store: Store, minilm: SentenceTransformerEmbedder
) -> None:
    """The embedder that found its passages is among what is compared."""
    whole = judged(store, minilm, "Verdict: supported")
    settings = Settings(assessor="factverify", k=1)
    llm = FakeChatModel(lambda _: "Verdict: supported")
    run: dict[str, Any] = json.loads(json.dumps(whole["run"]))
    assert {m["role"] for m in run["models"]} == {"llm", "embedder"}
    same = FactChecker(settings, store, llm=llm, embedder=minilm)
    assert same.unlike(RECORD, run) == []
    run["models"][1]["sha256"] = "0" * 64
    assert len(same.unlike(RECORD, run)) == 1
