"""Where thresholds of verdicts come from, and to what they belong."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from factcheck_local.core.errors import ModelError, StoreError
from factcheck_local.core.types import Thresholds
from factcheck_local.models.cards import card_from, find_card
from factcheck_local.models.fake import FakeChatModel
from factcheck_local.models.registry import DEFAULT_ENCODER, DEFAULT_LLM, beside
from factcheck_local.pipeline.relation import CalibratedRelationModel, describe, thresholds_of
from factcheck_local.pipeline.relation import load as load_module
from factcheck_local.pipeline.relation.calibration import Calibration
from factcheck_local.pipeline.relation.calibration_file import StoredCalibration, store_calibration
from factcheck_local.pipeline.relation.guard import GuardedRelationModel
from factcheck_local.pipeline.relation.hardened import HardenedRelationModel
from factcheck_local.pipeline.relation.llm import LlmPairScorer, card_key
from factcheck_local.pipeline.relation.load import load_relation_model
from factcheck_local.pipeline.relation.risk import (
    StoredRisk,
    card_risk,
    find_risk,
    read_risks,
    remove_risks,
    store_risk,
)
from factcheck_local.pipeline.settings import Settings

SMALL = "smollm2-135m"
TABLE: dict[str, Any] = {
    "supported": 0.9,
    "contradicted": 0.8,
    "alpha": 0.05,
    "claims": 200,
    "data": "dev sets",
}
OF_CARD = Thresholds(0.9, 0.8, 0.05, 200, "dev sets", "fr2")
SHIPPED = Settings(thresholds="shipped")
OWN = Thresholds(0.8, 0.0, 0.1, 50, "own labels", "fr2")


def model(risk: Thresholds | None = None, bias: float = 0.0) -> HardenedRelationModel:
    """As it is loaded, wrapped in all that is around a scorer."""

    class Small(FakeChatModel):
        id, sha256 = SMALL, "a" * 64

    scorer = LlmPairScorer.of_card(
        find_card(SMALL), Small(lambda _m: "", lambda _m, _c, labels: labels[0])
    )
    calibrated = CalibratedRelationModel(scorer, Calibration(1.0, (bias, 0.0, 0.0)), risk)
    return HardenedRelationModel(GuardedRelationModel(calibrated))


def entry(thresholds: Thresholds = OWN, bias: float = 0.0) -> StoredRisk:
    made = model(bias=bias)
    return StoredRisk(made.id, made.sha256, describe(made), thresholds, "2026-01-01")


def test_a_cards_table() -> None:
    assert card_risk({"relate-v1": TABLE}, "relate-v1") == OF_CARD
    assert card_risk({"relate-v1": TABLE}, "relate-v2") is None
    fr1 = card_risk({"relate-v1": TABLE | {"assessor": "fr1"}}, "relate-v1")
    assert fr1 == replace(OF_CARD, assessor="fr1")


def test_the_default_models_come_with_thresholds() -> None:
    """Of the adapter and the calibrations that ship: others would need others."""
    encoder, llm = find_card(DEFAULT_ENCODER, "encoder"), find_card(DEFAULT_LLM, "llm")
    assert list(encoder.risk) == [f"{llm.id}/{card_key(llm)}"]
    assert card_key(llm) in llm.calibration
    found = card_risk(encoder.risk, f"{llm.id}/{card_key(llm)}")
    assert found is not None
    assert (found.alpha, found.assessor) == (0.05, Settings().assessor)
    assert (found.supported > 0.5, found.contradicted) == (True, 0.0)


@pytest.mark.parametrize(
    "change",
    [
        {"supported": 1.1},
        {"contradicted": -0.1},
        {"alpha": 0},
        {"alpha": None},
        {"claims": 0},
        {"claims": float("inf")},
        {"supported": "high"},
        {"contradicted": float("nan")},
    ],
)
def test_a_malformed_table_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match=r"^risk of encoder: "):
        card_risk({"encoder": TABLE | change}, "encoder")
    with pytest.raises(ModelError, match="expected alpha, claims, contradicted, data, supported"):
        card_risk({"encoder": {"supported": 0.9}}, "encoder")


def test_the_tables_of_a_card_file_are_read() -> None:
    """`[risk."KEY"]`, which most cards are without."""
    card = find_card(SMALL)
    table = {
        **{name: getattr(card, name) for name in ("id", "title", "role", "licence", "backend")},
        "options": dict(card.options),
        "files": [{"path": f.path, "size": f.size, "sha256": f.sha256} for f in card.files],
    }
    assert card_from(table, "here").risk == {}
    assert card_from(table | {"risk": {"relate-v1": TABLE}}, "here").risk == {"relate-v1": TABLE}


def test_the_stores_win_over_the_cards(tmp_path: Path) -> None:
    loaded = model(OF_CARD)
    assert thresholds_of(loaded, SHIPPED, None) == OF_CARD
    assert thresholds_of(loaded, SHIPPED, tmp_path) == OF_CARD
    store_risk(tmp_path, entry())
    assert thresholds_of(loaded, SHIPPED, tmp_path) == OWN
    assert thresholds_of(loaded, SHIPPED, None) == OF_CARD


def test_a_setting_says_which_are_used(tmp_path: Path) -> None:
    loaded = model(OF_CARD)
    assert thresholds_of(loaded, Settings(), tmp_path) is None
    store_risk(tmp_path, entry())
    assert thresholds_of(loaded, Settings(), tmp_path) == OWN
    assert thresholds_of(loaded, Settings(thresholds="none"), tmp_path) is None


def test_what_does_not_come_with_the_model_is_not_promised(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"^no thresholds come with .* with fr2$") as found:
        thresholds_of(model(), SHIPPED, tmp_path)
    assert found.value.hint == "fit your own: factcheck calibrate LABELS.jsonl --risk 0.05"
    with pytest.raises(ModelError, match=r"with fr1$"):
        thresholds_of(model(OF_CARD), replace(SHIPPED, assessor="fr1"), None)


def test_they_are_of_an_assessor_and_of_a_calibration(tmp_path: Path) -> None:
    store_risk(tmp_path, entry())
    assert thresholds_of(model(), Settings(), tmp_path) == OWN
    assert thresholds_of(model(), Settings(assessor="fr1"), tmp_path) is None
    assert thresholds_of(model(bias=0.1), Settings(), tmp_path) is None
    made = model()
    assert find_risk(tmp_path, made.id, "b" * 64, describe(made), "fr2") is None


def test_a_store_keeps_one_of_each(tmp_path: Path) -> None:
    store_risk(tmp_path, entry())
    fr1 = replace(OWN, assessor="fr1")
    store_risk(tmp_path, entry(fr1))
    store_risk(tmp_path, entry(replace(OWN, supported=0.7)))
    assert [e.thresholds for e in read_risks(tmp_path)] == [fr1, replace(OWN, supported=0.7)]
    # A later fit stands even if it is of another calibration.
    store_risk(tmp_path, entry(OWN, bias=0.3))
    assert len(read_risks(tmp_path)) == 2
    assert not remove_risks(tmp_path, f"{SMALL}/relate-v1", "b" * 64)
    assert remove_risks(tmp_path, f"{SMALL}/relate-v1", entry().sha256)
    assert read_risks(tmp_path) == ()
    assert list(tmp_path.iterdir()) == []


ENDLESS = json.dumps(
    {
        "schema": "factcheck.risk/2",
        "thresholds": [asdict(entry()) | {"thresholds": TABLE | {"claims": float("inf")}}],
    }
)


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"schema": "factcheck.risk/2"}', '{"schema": "x"}', ENDLESS]
)
def test_a_damaged_file_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "risk.json").write_text(text)
    with pytest.raises(StoreError, match=r"risk\.json: not a file of thresholds: ") as found:
        thresholds_of(model(), Settings(), tmp_path)
    assert found.value.hint == "delete it, then: factcheck calibrate LABELS.jsonl --risk 0.05"


def test_loading_takes_them_from_the_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless the store calibrates the model otherwise than the card does."""
    card = replace(find_card(SMALL), risk={"relate-v1": TABLE, f"{SMALL}/relate-v1": TABLE})
    monkeypatch.setattr(load_module, "find_card", lambda _name, _role=None: card)

    class Small(FakeChatModel):
        id, sha256 = SMALL, card.sha256

    fake = Small(lambda _m: "", lambda _m, _c, labels: labels[0])

    def found(name: str, budget: int | None = None) -> Thresholds | None:
        loaded = load_relation_model(
            name,
            default_llm=SMALL,
            load=beside(fake),
            store_dir=tmp_path,
            cache=False,
            budget=budget,
        )
        try:
            return thresholds_of(loaded, SHIPPED, tmp_path)
        except ModelError:
            return None

    assert found("llm") == OF_CARD
    assert found(f"{SMALL}+llm") == OF_CARD
    assert found(f"{SMALL}+llm", budget=3) is None
    own = Calibration(2.0, (0.0, 0.0, 0.0))
    sha256 = LlmPairScorer.of_card(card, fake).sha256
    store_calibration(
        tmp_path,
        StoredCalibration(f"{SMALL}/relate-v1", sha256, own, 30, 0.1, 0.1, "2026-01-01"),
    )
    assert found("llm") is None
    assert found(f"{SMALL}+llm") is None
