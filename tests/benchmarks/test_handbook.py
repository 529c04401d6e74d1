"""What is counted of the handbook's claims."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.handbook import refuse_others, summary_of
from factcheck_local.indexer.fingerprint import Fingerprint
from factcheck_local.indexer.store import Store
from factcheck_local.indexer.sync import sync
from factcheck_local.models.embedder import SentenceTransformerEmbedder


def row(item: str, verdict: str) -> dict[str, Any]:
    return {"item": item, "label": "supported", "verdict": verdict, "covered": True}


def test_the_interval_draws_whole_answers() -> None:
    """All claims of one answer are right, and none of the other: either may be drawn twice."""
    rows = [row("a", "supported")] * 10 + [row("b", "missed")] * 10
    found = summary_of(rows)
    assert (found["n"], found["accuracy"], found["accuracy_ci95"]) == (20, 0.5, (0.0, 1.0))
    assert summary_of(rows[:10])["accuracy_ci95"] is None


def test_a_store_with_another_corpus_is_refused(
    tmp_path: Path, minilm: SentenceTransformerEmbedder
) -> None:
    """Else each page is found twice, and a claim's passages are copies of one another."""
    own, other = tmp_path / "one" / "handbook", tmp_path / "two" / "handbook"
    for folder in (own, other):
        folder.mkdir(parents=True)
        (folder / "leave.md").write_text("Staff get 30 days of leave.")
    with Store.create(tmp_path / "store", Fingerprint.of(minilm)) as store:
        refuse_others(store, own)
        sync([own], store, minilm)
        refuse_others(store, own)
        with pytest.raises(SystemExit, match="two/handbook; take another --store"):
            refuse_others(store, other)
