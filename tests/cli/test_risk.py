"""factcheck calibrate --risk: thresholds from reviewed claims, used by verify from then on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from factcheck_local.cli import calibrate as calibrate_module
from factcheck_local.cli import recheck as recheck_module
from factcheck_local.cli import replay as replay_module
from factcheck_local.cli import verify as verify_module
from factcheck_local.core.errors import ModelError
from factcheck_local.core.types import Thresholds
from factcheck_local.models.fake import FakePairClassifier
from factcheck_local.pipeline.relation import CalibratedRelationModel
from factcheck_local.pipeline.relation.encoder import EncoderPairScorer
from factcheck_local.pipeline.relation.load import (
    card_calibration,
    relation_card,
    thresholds_of,
)
from factcheck_local.pipeline.settings import Settings

from .helpers import SMALL, factcheck, refused
from .worlds import by_number, fake, index, write

ANSWER = "Annual leave is 25 days. At most 3 animals may come to the office.\n"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    write(tmp_path / "docs", leave="Annual leave is 25 days.", pets="At most 2 animals may come.")
    index(tmp_path / "docs", tmp_path / "store")
    return tmp_path / "store"


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same scripted relation model in every command."""
    fake(monkeypatch, verify_module, recheck_module, replay_module)
    model = CalibratedRelationModel(EncoderPairScorer(FakePairClassifier(by_number)))
    monkeypatch.setattr(calibrate_module, "relation_model_of", lambda *_a, **_k: model)


def review(
    count: int, p: float, reviewed: str | None, verdict: str, sure: float | None = None
) -> list[dict[str, Any]]:
    """Lines as an HTML report downloads them; no passage says otherwise unless it is said."""
    line = {
        "kind": "verdict",
        "hypothesis": "Leave is short.",
        "verdict": verdict,
        "probability": p,
        "certainty": max(p, 1 - p) if sure is None else sure,
        "reviewed": reviewed,
        "note": "",
        "reviewer": "A",
    }
    return [line] * count


def lines(rows: list[dict[str, Any]]) -> bytes:
    return "\n".join(json.dumps(row) for row in rows).encode()


def verified(tmp_path: Path, store: Path) -> dict[str, Any]:
    (tmp_path / "answer.md").write_text(ANSWER)
    path = tmp_path / "run.json"
    options = ("--store", store, "--format", "json", "--output", path)
    done = factcheck("verify", tmp_path / "answer.md", *options)
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(path.read_text())
    return found


@pytest.mark.usefixtures("scripted")
def test_from_a_review_to_undecided_and_back(tmp_path: Path, store: Path) -> None:
    before = verified(tmp_path, store)
    assert [a["verdict"] for a in before["atoms"]] == ["supported", "contradicted"]
    assert before["run"]["risk"] is None
    high, low = (a["probability"] for a in before["atoms"])
    sure, also_sure = (a["certainty"] for a in before["atoms"])
    assert 0.5 < sure < high
    assert 0.5 < also_sure < 1 - low
    # Of claims as certain as the supported one half are wrong, of surer ones none: 19 will do.
    surer = (sure + 1) / 2
    rows = [
        *review(19, high, "supported", "supported", surer),
        *review(2, high, "contradicted", "supported", sure),
        *review(2, high, "supported", "supported", sure),
        *review(20, low, "contradicted", "contradicted", also_sure),
        # None of these says anything of a threshold.
        *review(5, 0.999, "contradicted", "conflicting"),
        *review(3, 0.999, "unclear", "supported"),
        *review(1, 0.999, None, "supported"),
        {"kind": "relation", "premise": "x", "hypothesis": "y", "label": "neutral"},
    ]
    done = factcheck("calibrate", "-", "--risk", 0.05, "--store", store, stdin=lines(rows))
    assert (done.code, done.err) == (0, "")
    said = [" ".join(line.split()) for line in done.out.splitlines()]
    assert said[0] == "claims 48, and 4 without a label, a probability or a certainty"
    assert said[1:3] == [
        f"supported certainty from {surer:.4f}: 19 of the 23 that could be, 0 of them wrong",
        f"contradicted certainty from {also_sure:.4f}: 20 of the 20 that could be, 0 of them wrong",
    ]
    # 39 of 48, before 43 of 48
    assert said[3] == "coverage 0.81 of the claims get one of both, 0.90 without thresholds"
    assert said[4].startswith("promise of the claims called supported and contradicted at most 5 %")
    assert said[4].endswith("settings are like those of the labelled claims")
    assert said[5].endswith(f"and fr2 in {store / 'risk.json'}")

    after = verified(tmp_path, store)
    # The threshold of contradicted is this claim's own certainty.
    assert [a["verdict"] for a in after["atoms"]] == ["undecided", "contradicted"]
    assert [a["probability"] for a in after["atoms"]] == [high, low]
    risk = after["run"]["risk"]
    assert (risk["supported"], risk["contradicted"]) == (surer, also_sure)
    assert (risk["alpha"], risk["claims"], risk["assessor"]) == (0.05, 48, "fr2")
    assert (after["summary"]["precision"], after["summary"]["coverage"]) == (0.0, 1 / 2)

    # A run repeats itself; without its thresholds it cannot.
    assert factcheck("replay", tmp_path / "run.json", "--store", store).code == 0
    shown = factcheck("status", "--store", store).out
    least = f"supported from {surer:.4f}, contradicted from {also_sure:.4f}"
    assert f"fr2: by certainty {least}, alpha 0.05" in shown
    gone = factcheck("calibrate", "--risk", 0.05, "--reset", "--store", store)
    assert gone.out.startswith("removed the thresholds of ")
    assert not (store / "risk.json").exists()
    said_again = refused("replay", tmp_path / "run.json", "--store", store)
    assert "cannot be repeated: thresholds of verdicts " in said_again
    assert verified(tmp_path, store)["atoms"] == before["atoms"]
    none = factcheck("calibrate", "--risk", 0.05, "--reset", "--store", store)
    assert none.out.startswith("there are no thresholds of ")


@pytest.mark.usefixtures("scripted")
def test_another_assessor_has_none(tmp_path: Path, store: Path) -> None:
    rows = review(19, 0.999, "supported", "supported")
    given = ("--risk", 0.05, "--assessor", "fr1", "--store", store)
    assert factcheck("calibrate", "-", *given, stdin=lines(rows)).code == 0
    assert verified(tmp_path, store)["run"]["risk"] is None
    (tmp_path / "answer.md").write_text(ANSWER)
    fr1 = ("--set", "assessor=fr1", "--store", store, "--format", "json")
    found = json.loads(factcheck("verify", tmp_path / "answer.md", *fr1).out)
    assert found["run"]["risk"]["supported"] == 0.999
    assert [a["verdict"] for a in found["atoms"]] == ["undecided", "contradicted"]


@pytest.mark.usefixtures("scripted")
def test_a_side_without_a_threshold_is_said(store: Path) -> None:
    plain = [{"probability": 0.95, "certainty": 0.9, "verdict": "supported"}] * 9
    plain += [{"probability": 0.1, "certainty": 0.9, "verdict": "contradicted"}] * 8
    plain += [{"probability": 0.5, "certainty": 0.5, "verdict": "not_found"}]
    given = ("calibrate", "-", "--risk", 0.1, "--store", store)
    done = factcheck(*given, "--json", stdin=lines(plain))
    assert done.code == 0
    found = json.loads(done.out)
    assert found["thresholds"]["supported"] == 0.9
    assert found["thresholds"]["contradicted"] == 0.0
    assert found["supported"] == {"possible": 9, "called": 9, "wrong": 0}
    assert found["contradicted"] == {"possible": 8, "called": None, "wrong": None}
    assert found["coverage"] == pytest.approx(17 / 18)
    shown = factcheck(*given, stdin=lines(plain))
    assert shown.err == (
        "factcheck: contradicted: 8 claims could be called so; it takes at least 9 of which none "
        "is wrong, or more with few wrong ones\n"
    )
    assert "no threshold, and nothing is promised of it" in shown.out
    assert "promise      of the claims called supported at most 10 % are not" in shown.out


@pytest.mark.usefixtures("scripted")
def test_too_few_claims_promise_nothing(store: Path) -> None:
    rows = lines(review(18, 0.99, "supported", "supported"))
    said = refused("calibrate", "-", "--risk", 0.05, "--store", store, stdin=rows)
    assert said == (
        "standard input: no threshold keeps to 5 %: of 18 claims 18 could be called supported, 0 "
        "contradicted; it takes at least 19 of a side, none of them wrong, or more with few wrong "
        "ones"
    )
    assert not (store / "risk.json").exists()


@pytest.mark.usefixtures("scripted")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"probability": 1.5}, "expected a probability in [0, 1], got 1.5"),
        ({"probability": True}, "expected a probability in [0, 1], got True"),
        ({"certainty": -0.1}, "expected a certainty in [0, 1], got -0.1"),
        ({"reviewed": "maybe"}, "expected one of supported, contradicted, conflicting, not_found"),
        ({"reviewed": ["supported"]}, "expected one of supported, contradicted, conflicting, not"),
        ({"verdict": "yes"}, "expected a verdict of a run, got 'yes'"),
    ],
)
def test_a_bad_line_is_named(store: Path, change: dict[str, Any], message: str) -> None:
    rows = review(20, 0.9, "supported", "supported")
    rows[3] = rows[3] | change
    said = refused("calibrate", "-", "--risk", 0.05, "--store", store, stdin=lines(rows))
    assert said.startswith(f"standard input, line 4: {message}")
    other = lines([*rows[:1], {"hypothesis": "x"}])
    said = refused("calibrate", "-", "--risk", 0.05, "--store", store, stdin=other)
    assert said == (
        "standard input, line 2: expected an object with 'probability', 'certainty' and 'verdict'"
    )


def test_with_the_shipped_encoder(store: Path) -> None:
    """No model is read: what a run said of the claims is in their lines."""
    rows = lines(review(25, 0.97, "supported", "supported"))
    given = ("--risk", 0.05, "--relation", "encoder", "--store", store)
    done = factcheck("calibrate", "-", *given, "--json", stdin=rows)
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["relation"] == "mpnet-l6-nli+quantities+hardened+stated"
    shipped = card_calibration(relation_card("encoder", "none"))
    assert found["made_with"]["calibration"]["slope"] == shipped.slope != 1.0
    assert found["thresholds"]["supported"] == 0.97
    (kept,) = json.loads((store / "risk.json").read_text())["thresholds"]
    assert kept["thresholds"] == found["thresholds"]
    reset = factcheck("calibrate", "--reset", "--relation", "encoder", "--store", store)
    assert "removed the thresholds of mpnet-l6-nli in " in reset.out
    assert not (store / "risk.json").exists()


@pytest.mark.parametrize("beside", ["", 'relation = "encoder"\n', "quantities = false\n"])
def test_they_are_for_the_model_that_verify_takes(tmp_path: Path, beside: str) -> None:
    """Nothing is scripted: with the store's own settings, whatever these are."""
    write(tmp_path / "docs", leave="Annual leave is 25 days.")
    store = tmp_path / "store"
    assert factcheck("index", tmp_path / "docs", "--store", store).code == 0
    (tmp_path / "factcheck.toml").write_text(f'[verify]\nllm = "{SMALL}"\n{beside}')
    rows = lines(review(25, 0.97, "supported", "supported"))
    done = factcheck("calibrate", "-", "--risk", 0.05, "--store", store, stdin=rows)
    assert done.code == 0, done.err
    record = {"output": "Leave is 25 days.", "atoms": [{"id": "a1", "text": "Leave is 25 days."}]}
    (tmp_path / "answer.json").write_text(json.dumps(record))
    options = ("--store", store, "--format", "json")
    found = json.loads(factcheck("verify", tmp_path / "answer.json", *options).out)
    assert found["run"]["risk"]["supported"] == 0.97
    assert (tmp_path / "store" / "risk.json").exists()
    # Of the model that is in it alone, the thresholds of a cascade go as well.
    named = () if "encoder" not in beside else ("--relation", "encoder")
    assert factcheck("calibrate", "--reset", *named, "--store", store).code == 0
    assert not (tmp_path / "store" / "risk.json").exists()


@pytest.mark.parametrize(
    "other", [{}, {"quantities": False}, {"tables": "raw"}, {"cut_instructions": False}]
)
def test_shipped_thresholds_are_of_a_model_with_its_guards(other: dict[str, Any]) -> None:
    settings = Settings(thresholds="shipped", **other)
    shipped = Thresholds(0.8, assessor=settings.assessor)
    scorer = EncoderPairScorer(FakePairClassifier(lambda *_: (0.2, 0.2, 0.6)))
    model = CalibratedRelationModel(scorer, None, shipped)
    if not other:
        assert thresholds_of(model, settings, None) == shipped
        return
    with pytest.raises(ModelError, match="no thresholds come with"):
        thresholds_of(model, settings, None)


def test_thresholds_of_claims_need_to_be_asked_for(store: Path) -> None:
    said = refused("calibrate", "labels.jsonl", "--assessor", "fr3", "--store", store)
    assert "--assessor is for --risk" in said


def test_a_model_without_thresholds_of_its_own_says_so_at_once(tmp_path: Path, store: Path) -> None:
    """Before the answer is split: no stage but loading was begun."""
    (tmp_path / "answer.md").write_text(ANSWER)
    options = ("--preset", "sure", "--relation", "encoder", "--llm", "smollm2-135m")
    events = ("--format", "jsonl", "--stream", "--store", store)
    done = factcheck("verify", tmp_path / "answer.md", *options, *events)
    assert done.code == 2
    said = [json.loads(line) for line in done.out.splitlines()]
    assert [event.get("stage") for event in said if event["event"] == "stage"] == ["load"]
    assert "no thresholds come with mpnet-l6-nli" in done.err
    assert "factcheck calibrate LABELS.jsonl --risk 0.05" in done.err


@pytest.mark.usefixtures("scripted")
def test_what_two_reviewers_say_of_a_claim_counts_once(store: Path) -> None:
    def claim(number: int, reviewed: str) -> dict[str, Any]:
        (row,) = review(1, 0.9, reviewed, "supported")
        return row | {"run": "r", "claim": f"a{number}"}

    once = [claim(n, "supported") for n in range(20)]
    both = [*once, *(row | {"reviewer": "B"} for row in once)]
    differ = [claim(30, "supported"), claim(30, "contradicted")]
    for rows, unlabelled in ((once, 0), (both, 0), ([*both, *differ], 1)):
        done = factcheck(
            *("calibrate", "-", "--risk", 0.05, "--store", store, "--json"), stdin=lines(rows)
        )
        assert done.code == 0, done.err
        found = json.loads(done.out)
        assert found["thresholds"]["claims"] == 20
        assert found["unlabelled"] == unlabelled
