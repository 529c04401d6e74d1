"""factcheck calibrate: fits, stores, is used and removed; refuses what decides nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from factcheck_local.core.errors import ScoringError, TooLongError
from factcheck_local.indexer.fingerprint import Fingerprint
from factcheck_local.indexer.store import Store
from factcheck_local.models.cards import find_card
from factcheck_local.models.contracts import Message
from factcheck_local.models.embedder import SentenceTransformerEmbedder
from factcheck_local.models.fake import FakeChatModel
from factcheck_local.models.llama_cpp import LlamaCppModel
from factcheck_local.pipeline.relation import load as load_module

from .helpers import SMALL, factcheck, refused

MODEL = ("--relation", SMALL)


@pytest.fixture
def store(tmp_path: Path, minilm: SentenceTransformerEmbedder) -> Path:
    """A store without documents: calibration needs none."""
    Store.create(tmp_path / "store", Fingerprint.of(minilm)).close()
    return tmp_path / "store"


class Scripted(FakeChatModel):
    """In SmolLM2's place: sure of a label by the claim's length, and of its limits."""

    id, sha256 = SMALL, find_card(SMALL).sha256

    def __init__(self) -> None:
        super().__init__(lambda _m: "", lambda _m, claim, labels: labels[len(claim) % 3])
        self.read: list[int] = []

    def score_labels(
        self, messages: Sequence[Message], endings: Sequence[str], labels: Sequence[str]
    ) -> npt.NDArray[np.float64]:
        self.read.append(len(endings))
        if len(messages[-1].content) > 20_000:
            raise ScoringError("does not fit the context")
        if any(len(ending) > 20_000 for ending in endings):
            raise TooLongError("a claim does not fit the context")
        return super().score_labels(messages, endings, labels)


@pytest.fixture
def scripted() -> Scripted:
    return Scripted()


@pytest.fixture
def loads(scripted: Scripted, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names each time a command asked for a model."""
    asked: list[str] = []

    def load(name: str) -> Scripted:
        asked.append(name)
        return scripted

    monkeypatch.setattr(load_module, "load_model", load)
    return asked


def rows() -> list[dict[str, Any]]:
    """30 pairs over three premises: ten of each label, and a title."""
    found = []
    for days in (25, 27, 30):
        premise = f"Staff get {days} days of leave."
        for i in range(3):
            found += [
                {"premise": premise, "hypothesis": f"{word} {days} days.", "label": label}
                for word, label in (
                    (f"Case {i}: leave is", "entailment"),
                    (f"Case {i}: leave is not", "contradiction"),
                    (f"Case {i}: the trip takes", "neutral"),
                )
            ]
    for label in ("entailment", "contradiction", "neutral"):
        pair = {"premise": "Dogs may come.", "hypothesis": f"A {label}.", "label": label}
        found.append(pair | {"title": "Office"})
    return found


def lines(values: list[dict[str, Any]]) -> bytes:
    return "\n".join(json.dumps(v) for v in values).encode()


def test_calibrate_stores_what_is_then_used(
    store: Path, smollm: LlamaCppModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    loads: list[str] = []

    def load(name: str) -> LlamaCppModel:
        loads.append(name)
        return smollm

    monkeypatch.setattr(load_module, "load_model", load)
    pair = json.dumps({"premise": "Staff get 25 days of leave.", "hypothesis": "Leave is short."})
    relate = ("relate", "-", *MODEL, "--store", store)
    raw = json.loads(factcheck(*relate, stdin=pair.encode()).out)
    done = factcheck("calibrate", "-", *MODEL, "--store", store, "--json", stdin=lines(rows()))
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["labels"] == {"entailment": 10, "contradiction": 10, "neutral": 10}
    assert (found["n"], found["unscored"]) == (30, 0)
    assert found["scorer"] == f"{SMALL}/relate-v1"
    for kind in ("before", "after"):
        assert 0 <= found[kind]["ece"] <= 1
        assert found[kind]["log_loss"] > 0
    assert found["ece_before"] == found["before"]["ece"]
    assert found["calibration"]["slope"] > 0
    assert found["calibration"]["bias"][2] == 0.0
    stored = json.loads((store / "calibration.json").read_text())
    (entry,) = stored["calibrations"]
    assert entry["calibration"] == found["calibration"]

    # The pair is in the cache, uncalibrated: the calibration that came since is applied to it.
    own = found["calibration"]
    odds = {
        label: raw[label] ** own["slope"] * 2.718281828459045**bias
        for label, bias in zip(("entailment", "contradiction", "neutral"), own["bias"], strict=True)
    }
    before = len(loads)
    now = json.loads(factcheck(*relate, stdin=pair.encode()).out)
    for label, value in odds.items():
        assert now[label] == pytest.approx(value / sum(odds.values()), abs=1e-9)
    assert len(loads) == before, "nothing was read anew"

    shown = factcheck("status", "--store", store).out
    assert f"calibration of {SMALL}/relate-v1: 30 labels, ECE " in shown
    assert json.loads(factcheck("status", "--store", store, "--json").out)["calibrations"] == [
        entry
    ]
    removed = factcheck("calibrate", "--reset", *MODEL, "--store", store)
    assert (removed.code, removed.err) == (0, "")
    assert removed.out.startswith(f"removed the calibration of {SMALL}/relate-v1 in {store}")
    assert not (store / "calibration.json").exists()
    assert json.loads(factcheck(*relate, stdin=pair.encode()).out) == raw
    again = factcheck("calibrate", "--reset", *MODEL, "--store", store)
    assert again.out.startswith("there is no calibration of ")


def test_calibrate_reads_each_premise_once_and_no_pair_twice(
    store: Path, loads: list[str], scripted: Scripted
) -> None:
    first = factcheck("calibrate", "-", *MODEL, "--store", store, stdin=lines(rows()))
    assert sorted(scripted.read) == [3, 9, 9, 9]
    again = factcheck("calibrate", "-", *MODEL, "--store", store, stdin=lines(rows()))
    assert len(scripted.read) == 4
    assert loads == [SMALL]
    assert again == first
    assert [line.split("  ")[0].split(" ")[0] for line in first.out.splitlines()] == [
        "labels",
        "ECE",
        "log",
        "calibration",
        "stored",
    ]


def test_a_review_may_have_verdicts_among_its_labels(store: Path, loads: list[str]) -> None:
    """What the HTML report downloads: a reviewer's word on a claim is no label of a pair."""
    review = [{"kind": "relation", "reviewer": "A", **row} for row in rows()]
    review.insert(3, {"kind": "verdict", "hypothesis": "Leave is short.", "reviewed": "supported"})
    review.append({"kind": "verdict", "hypothesis": "Dogs may come.", "reviewed": None})
    plain = factcheck("calibrate", "-", *MODEL, "--store", store, stdin=lines(rows()))
    done = factcheck("calibrate", "-", *MODEL, "--store", store, stdin=lines(review))
    assert done.code == 0, done.err
    first, counted, *rest = done.out.splitlines()
    assert counted == "verdicts    2 on claims, passed over"
    assert [first, *rest] == plain.out.splitlines()
    as_json = factcheck("calibrate", "-", *MODEL, "--store", store, "--json", stdin=lines(review))
    assert json.loads(as_json.out)["verdicts"] == 2
    verdicts = [row for row in review if row["kind"] == "verdict"]
    assert "got 0" in refused("calibrate", "-", *MODEL, "--store", store, stdin=lines(verdicts))
    assert loads == [SMALL]


def test_what_does_not_fit_is_left_out_and_said(store: Path, loads: list[str]) -> None:
    assert loads == []
    long = {"premise": "word " * 6000, "hypothesis": "Pets may come.", "label": "neutral"}
    done = factcheck(
        "calibrate", "-", *MODEL, "--store", store, "--json", stdin=lines([*rows(), long])
    )
    assert done.code == 3
    assert "factcheck: left out, 1 of the pairs: " in done.err
    assert (json.loads(done.out)["n"], json.loads(done.out)["unscored"]) == (30, 1)
    # One less, and there are too few that could be scored.
    line = lines([*rows()[:-1], long])
    few = factcheck("calibrate", "-", *MODEL, "--store", store, stdin=line)
    assert few.code == 2
    assert "expected at least 30 pairs" in few.err.splitlines()[-1]


def test_a_claim_that_is_too_long_leaves_the_others_of_its_passage(
    store: Path, loads: list[str]
) -> None:
    assert loads == []
    long = {"premise": "Dogs may come.", "hypothesis": "word " * 6000, "label": "neutral"}
    values = [*rows(), {**long, "title": "Office"}]
    done = factcheck("calibrate", "-", *MODEL, "--store", store, "--json", stdin=lines(values))
    assert done.code == 3
    assert "factcheck: left out, 1 of the pairs: a claim does not fit the context\n" in done.err
    found = json.loads(done.out)
    assert (found["n"], found["unscored"]) == (30, 1)
    factcheck("calibrate", "--reset", *MODEL, "--store", store)
    without = factcheck("calibrate", "-", *MODEL, "--store", store, "--json", stdin=lines(rows()))
    assert json.loads(without.out)["calibration"] == found["calibration"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": "true"}, "expected a label, one of entailment, contradiction, neutral, got 'tr"),
        ({"label": None}, "expected a label, one of entailment, contradiction, neutral, got None"),
        ({"label": ["neutral"]}, "expected a label, one of entailment, contradiction, neutral, g"),
        ({"premise": " "}, "expected an object with texts 'premise' and 'hypothesis'"),
        ({"hypothesis": 7}, "expected an object with texts 'premise' and 'hypothesis'"),
        ({"title": 7}, "expected 'title' to be a text, got 7"),
    ],
)
def test_a_bad_line_is_named_and_nothing_is_stored(
    store: Path, loads: list[str], change: dict[str, Any], message: str
) -> None:
    values = rows()
    values[4] |= change
    path = store.parent / "labels.jsonl"
    path.write_bytes(lines(values))
    said = refused("calibrate", path, *MODEL, "--store", store)
    assert said.startswith(f"{path}, line 5: {message}")
    assert not (store / "calibration.json").exists()
    assert loads == []


@pytest.mark.parametrize(
    ("keep", "found"),
    [
        (lambda i, _label: i < 29, "got 29: entailment 10, contradiction 10, neutral 9"),
        (lambda _i, label: label == "neutral", "got 10: entailment 0, contradiction 0, neutral 10"),
    ],
)
def test_too_few_labels(
    store: Path,
    loads: list[str],
    keep: Any,  # noqa: ANN401
    found: str,
) -> None:
    values = [v for i, v in enumerate(rows()) if keep(i, v["label"])]
    said = refused("calibrate", "-", *MODEL, "--store", store, stdin=lines(values))
    assert said == (
        "standard input: expected at least 30 pairs, and 5 of each of two labels or more, " + found
    )
    one = [v | {"label": "neutral"} for v in rows()]
    said = refused("calibrate", "-", *MODEL, "--store", store, stdin=lines(one))
    assert said.endswith("got 30: entailment 0, contradiction 0, neutral 30")
    assert loads == []


def test_what_the_store_holds_is_checked_first(store: Path) -> None:
    assert "expected either LABELS or --reset" in refused("calibrate", "--store", store)
    assert "expected either LABELS or --reset" in refused("calibrate", "x", "--reset")
    (store / "calibration.json").write_text("{")
    damaged = f"{store / 'calibration.json'}: not a file of calibrations: "
    assert refused("status", "--store", store).startswith(damaged)
    assert refused("calibrate", "--reset", *MODEL, "--store", store).startswith(damaged)
    (store / "pair-scores.sqlite").write_bytes(b"garbage" * 1000)
    said = refused("calibrate", "--reset", *MODEL, "--store", store)
    assert said.startswith(
        f"{store / 'pair-scores.sqlite'}: the cache of verdicts cannot be used: "
    )
    assert f"rm {store / 'pair-scores.sqlite'}*" in said


def test_a_rebuild_keeps_cache_and_calibration(
    store: Path, loads: list[str], minilm: SentenceTransformerEmbedder
) -> None:
    assert factcheck("calibrate", "-", *MODEL, "--store", store, stdin=lines(rows())).code == 0
    Store.erase(store)
    assert {p.name for p in store.iterdir()} == {
        *("calibration.json", "pair-scores.sqlite"),
        "writer.lock",
    }
    Store.create(store, Fingerprint.of(minilm)).close()
    assert "calibration of " in factcheck("status", "--store", store).out
    assert loads == [SMALL]
