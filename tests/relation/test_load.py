"""From a relation model's name to the layers it is made of."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from factcheck_local.core.errors import ModelError
from factcheck_local.indexer.states import part_of
from factcheck_local.models.contracts import ChatModel
from factcheck_local.models.fake import FakeChatModel
from factcheck_local.models.llama_cpp import LlamaCppModel
from factcheck_local.models.registry import beside
from factcheck_local.pipeline.relation import CalibratedRelationModel, describe, load_relation_model
from factcheck_local.pipeline.relation.cascade import CascadeRelationModel, Sure
from factcheck_local.pipeline.relation.guard import GuardedRelationModel
from factcheck_local.pipeline.relation.hardened import HardenedRelationModel
from factcheck_local.pipeline.relation.scorer import Premise
from factcheck_local.pipeline.relation.tables import StatedRelationModel

UNTOUCHED = {"calibration": {"slope": 1.0, "bias": (0.0, 0.0, 0.0)}}


def test_layers_are_there_unless_told_otherwise(smollm: LlamaCppModel) -> None:
    load = partial(load_relation_model, "llm", default_llm="smollm2-135m", load=beside(smollm))
    stated = load()
    assert isinstance(stated, StatedRelationModel)
    hardened = load(tables="raw")
    assert isinstance(hardened, HardenedRelationModel)
    guarded = load(tables="raw", cut_instructions=False)
    assert isinstance(guarded, GuardedRelationModel)
    plain = load(tables="raw", quantities=False, cut_instructions=False)
    assert isinstance(plain, CalibratedRelationModel)
    assert guarded.id == f"{plain.id}+quantities"
    assert hardened.id == f"{guarded.id}+hardened"
    assert stated.id == f"{hardened.id}+stated"
    assert load(quantities=False).id == f"{plain.id}+hardened+stated"
    assert describe(stated) == describe(hardened) == UNTOUCHED
    assert describe(guarded) == describe(plain) == UNTOUCHED


def test_the_calibration_of_an_earlier_run_wins(smollm: LlamaCppModel) -> None:
    load = partial(load_relation_model, default_llm="smollm2-135m", load=beside(smollm))
    own = {"calibration": {"slope": 0.5, "bias": (0.1, 0.2, 0.3)}}
    assert describe(load("llm", recorded=own)) == own
    two = describe(load("encoder+llm", recorded={"slow": own}))
    assert two["slow"] == own
    assert two["fast"] == describe(load("encoder"))
    bad = {"calibration": {"slope": -1, "bias": [0, 0, 0]}}
    with pytest.raises(ModelError, match="calibration of the earlier run: expected a slope > 0"):
        load("llm", recorded=bad)


def test_two_names_are_a_cascade(smollm: LlamaCppModel) -> None:
    model = load_relation_model(
        "smollm2-135m+llm",
        default_llm="smollm2-135m",
        load=beside(smollm),
        quantities=False,
        cut_instructions=False,
        tables="raw",
    )
    assert isinstance(model, CascadeRelationModel)
    assert model.id == "cascade(smollm2-135m/relate-v1,smollm2-135m/relate-v1)"
    assert describe(model) == {"fast": UNTOUCHED, "slow": UNTOUCHED}


def test_a_cascade_stays_one_whatever_its_models_are_wrapped_in(smollm: LlamaCppModel) -> None:
    # The stage plans over all pairs of a cascade, so nothing may be wrapped around it.
    model = load_relation_model("smollm2-135m+llm", default_llm="smollm2-135m", load=beside(smollm))
    assert isinstance(model, CascadeRelationModel)
    assert isinstance(model.fast, StatedRelationModel)
    assert isinstance(model.slow, StatedRelationModel)


@pytest.mark.parametrize("name", ["smollm2-135m+", "+llm", "a+b", "all-minilm-l6-v2"])
def test_names_that_are_none(name: str, smollm: LlamaCppModel) -> None:
    with pytest.raises(ModelError):
        load_relation_model(name, default_llm="smollm2-135m", load=beside(smollm))


def test_the_bounds_of_a_cascade_come_from_the_fast_models_card() -> None:
    assert Sure.from_card({}) == Sure(0.95, 0.95, 0.95)
    assert Sure.from_card({"sure": {"neutral": 0.8}}) == Sure(0.95, 0.95, 0.8)
    for wrong in ({"sure": {"nonsense": 1}}, {"sure": 3}, {"sure": {"neutral": "high"}}):
        with pytest.raises(ModelError, match="option sure"):
            Sure.from_card(wrong)


class Noting(FakeChatModel):
    """Notes where it is told to keep what it made of passages."""

    id = "smollm2-135m"

    def __init__(self) -> None:
        super().__init__(lambda _messages: "")
        self.folders: list[Path] = []

    def remembering(self, folder: Path, part: str = "") -> ChatModel:
        self.folders.append(folder / part)
        return self


def test_a_model_is_told_where_to_keep_what_it_made_of_a_stores_passages(tmp_path: Path) -> None:
    model = Noting()
    load = partial(load_relation_model, "llm", default_llm=model.id, load=beside(model))
    of_store, given = Premise("T", "A text.", "a.txt"), Premise("T", "A text.")
    for kept in (load(states=tmp_path, cache=False), load()):
        kept.relate(of_store, ["A claim."])
    assert model.folders == []
    keeping = load(states=tmp_path)
    keeping.relate(given, ["A claim."])
    assert model.folders == []
    keeping.relate(of_store, ["A claim."])
    assert model.folders == [tmp_path / part_of("a.txt")]
