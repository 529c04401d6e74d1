"""From the name of a relation model to the model: scorer, cache, calibration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from factcheck_local.core.errors import ModelError
from factcheck_local.core.text.hostile import readable
from factcheck_local.core.types import Thresholds
from factcheck_local.indexer.parts import VERDICTS
from factcheck_local.models.cards import ModelCard, find_card
from factcheck_local.models.registry import DEFAULT_ENCODER, Loader, load_model
from factcheck_local.pipeline.relation import llm
from factcheck_local.pipeline.relation.calibration import CalibratedRelationModel, Calibration
from factcheck_local.pipeline.relation.calibration_file import find_calibration
from factcheck_local.pipeline.relation.cascade import CascadeRelationModel, Sure, slow_weight
from factcheck_local.pipeline.relation.encoder import EncoderPairScorer, premises_at_once
from factcheck_local.pipeline.relation.guard import GuardedRelationModel
from factcheck_local.pipeline.relation.hardened import HardenedRelationModel
from factcheck_local.pipeline.relation.risk import card_risk, find_risk
from factcheck_local.pipeline.relation.score_cache import CachedPairScorer, ScoreCache
from factcheck_local.pipeline.relation.scorer import PairScorer, RelationModel, at_once
from factcheck_local.pipeline.relation.tables import StatedRelationModel
from factcheck_local.pipeline.settings import Settings, Tables

#: Settings of what a model is shown and what of its word is taken.
_GUARDS = ("quantities", "cut_instructions", "tables")


def relation_card(name: str, default_llm: str) -> ModelCard:
    """The card of the model that a relation model's name stands for.

    Args:
        name: ``llm`` for the run's own LLM, ``encoder`` for the one that comes with
            the package, or the card of an LLM or encoder.
        default_llm: what ``llm`` stands for.

    Raises:
        ModelError: if there is no such model, or it is of another role.
    """
    card = find_card({"llm": default_llm, "encoder": DEFAULT_ENCODER}.get(name, name))
    return card if card.role == "llm" else find_card(card.id, "encoder")


def scorer_key(card: ModelCard) -> tuple[str, str]:
    """Id and sha256 of the scorer of a model with files, without loading it."""
    return _scorer_id(card), card.sha256


def reading_of(card: ModelCard) -> str:
    """How the scorer of a model reads pairs, where that has changed; see ``CachedPairScorer``."""
    # Before, the end of a long premise was cut off.
    return "windows" if card.role == "encoder" else ""


def card_calibration(card: ModelCard) -> Calibration:
    """The calibration that a model comes with.

    Raises:
        ModelError: if it is malformed.
    """
    return Calibration.from_card(card.calibration, _calibration_key(card))


def _scorer_id(card: ModelCard) -> str:
    return f"{card.id}/{llm.card_key(card)}" if card.role == "llm" else card.id


def _calibration_key(card: ModelCard) -> str:
    return llm.card_key(card) if card.role == "llm" else "encoder"


def _card_risk(card: ModelCard, slow: ModelCard | None = None) -> Thresholds | None:
    """The thresholds of a card for its model alone, or for a cascade with a slow one."""
    return card_risk(card.risk, _scorer_id(slow) if slow else _calibration_key(card))


def load_pair_scorer(
    card: ModelCard,
    *,
    load: Loader | None = None,
    cache_dir: Path | None = None,
    states: Path | None = None,
) -> PairScorer:
    """The uncalibrated scorer of a model.

    Args:
        card: of an LLM or an encoder.
        load: what loads a model; None for ``load_model``.
        cache_dir: the folder of the store that keeps scores. The model is then loaded
            at the first pair that is not kept there; None loads it now, and keeps none.
        states: where a model may keep what it made of passages, see ``Store.states``.

    Raises:
        ModelError: if the model is not here or cannot be loaded.
        StoreError: if the store's cache is damaged.
    """

    def make() -> PairScorer:
        model = (load or load_model)(card.id)
        if card.role == "llm":
            return llm.LlmPairScorer.of_card(card, model, states)
        return EncoderPairScorer(model)

    if cache_dir is None:
        return make()
    cache = ScoreCache(cache_dir / VERDICTS)
    if not card.files:
        # A server says what it is when it is asked.
        scorer = make()
        return CachedPairScorer(
            lambda: scorer, scorer.id, scorer.sha256, cache, at_once=at_once(scorer)
        )
    if not card.is_installed():
        # Says now what is missing, not when the first pair is to be read.
        card.check()
    return CachedPairScorer(
        make,
        *scorer_key(card),
        cache,
        at_once=premises_at_once(card) if card.role == "encoder" else 1,
        reading=reading_of(card),
    )


def load_relation_model(
    name: str,
    *,
    default_llm: str,
    load: Loader | None = None,
    store_dir: Path | None = None,
    states: Path | None = None,
    cache: bool = True,
    quantities: bool = True,
    cut_instructions: bool = True,
    tables: Tables = "stated",
    budget: int | None = None,
    recorded: Mapping[str, Any] | None = None,
) -> RelationModel:
    """Load the relation model called ``name``.

    Args:
        name: ``llm`` for the run's own LLM, ``encoder`` for the one that comes with
            the package, the card of an LLM or encoder, or two of these joined by ``+``
            for a cascade, the fast one first.
        default_llm: what ``llm`` stands for.
        load: what loads a model, such as ``registry.beside`` of one that is in memory
            already; None for ``load_model``.
        store_dir: the folder of a store, whose calibration wins over the card's and
            whose cache is used; None for neither.
        states: where a model may keep what it made of passages, see ``Store.states``.
        cache: whether these two are used. It changes no score.
        quantities: whether quantities that exclude each other weigh in.
        cut_instructions: whether what is hidden in a text or addressed to a model is cut.
        tables: how it reads tables.
        budget: pairs of a run that the slow model of a cascade may read, the least sure
            ones; None for all that the fast one leaves open.
        recorded: what ``describe`` gave of the model in an earlier run, whose calibration then
            wins over the store's and the card's.

    Raises:
        ModelError: if there is no such model, or it is of another role.
        StoreError: if the store's calibration or cache is damaged.
    """

    def single(one: str, said: Mapping[str, Any]) -> tuple[ModelCard, RelationModel, bool]:
        """Card and model, and whether it is calibrated as the card says."""
        card = relation_card(one, default_llm)
        scorer = load_pair_scorer(
            card,
            load=load,
            cache_dir=store_dir if cache else None,
            states=states if cache else None,
        )
        kept = find_calibration(store_dir, scorer.id, scorer.sha256) if store_dir else None
        own = kept.calibration if kept else None
        if "calibration" in said:
            own = _recorded(said["calibration"])
        if own == card_calibration(card):
            own = None
        model = (
            CalibratedRelationModel(scorer, own)
            if own
            else CalibratedRelationModel(scorer, card_calibration(card), _card_risk(card))
        )
        guarded = GuardedRelationModel(model) if quantities else model
        layered = shown(guarded, cut_instructions=cut_instructions, tables=tables)
        return card, layered, own is None

    # The guard is inside the cascade: numbers that clash leave the fast model unsure.
    fast, joined, slow = name.partition("+")
    said = recorded or {}
    card, model, shipped = single(fast, said.get("fast", said))
    if not joined:
        return model
    slow_card, second, both = single(slow, said.get("slow", {}))
    return CascadeRelationModel(
        model,
        second,
        Sure.from_card(card.options),
        weight=slow_weight(card.options),
        budget=budget,
        # A budget leaves pairs to the fast model that the thresholds were not fitted with.
        risk=_card_risk(card, slow_card) if shipped and both and budget is None else None,
    )


def relation_model_of(
    settings: Settings,
    *,
    load: Loader | None = None,
    store_dir: Path | None = None,
    states: Path | None = None,
    cache: bool = True,
    recorded: Mapping[str, Any] | None = None,
) -> RelationModel:
    """The relation model that a run with these settings uses; see ``load_relation_model``."""
    return load_relation_model(
        settings.relation,
        default_llm=settings.llm,
        load=load,
        store_dir=store_dir,
        states=states,
        cache=cache,
        quantities=settings.quantities,
        cut_instructions=settings.cut_instructions,
        tables=settings.tables,
        budget=settings.budget,
        recorded=recorded,
    )


def _recorded(values: object) -> Calibration:
    try:
        return Calibration.from_values(values)
    except ValueError as error:
        raise ModelError(f"calibration of the earlier run: {error}") from error


def shown(model: RelationModel, *, cut_instructions: bool, tables: Tables) -> RelationModel:
    """A model in the layers that decide what of a text it is shown."""
    if cut_instructions:
        model = HardenedRelationModel(model)
    if tables == "raw":
        return model
    # Cut on both sides: a header and its cell may only say together what is addressed to a model.
    return StatedRelationModel(model, readable if cut_instructions else str)


def describe(model: RelationModel) -> dict[str, Any]:
    """What a run's record says of a relation model beside its name and hash.

    A store may have its own calibration, which the model's name does not tell.
    """
    if isinstance(model, StatedRelationModel | HardenedRelationModel | GuardedRelationModel):
        return describe(model.model)
    if isinstance(model, CascadeRelationModel):
        return {"fast": describe(model.fast), "slow": describe(model.slow)}
    if isinstance(model, CalibratedRelationModel):
        return {"calibration": asdict(model.calibration)}
    return {}


def thresholds_of(
    model: RelationModel, settings: Settings, store_dir: Path | None
) -> Thresholds | None:
    """From which certainty on claims get a verdict: the store's thresholds, or the model's card's.

    Args:
        model: as it was loaded.
        settings: whose ``thresholds`` says which are looked for, for its ``assessor``.
        store_dir: the folder of a store; None for none.

    Returns:
        None where there are none for this model, as it is calibrated, and this assessor.

    Raises:
        ModelError: if the model is to bring some and has none for the assessor.
        StoreError: if the store's thresholds are damaged.
    """
    if settings.thresholds == "none":
        return None
    if store_dir is not None:
        own = find_risk(store_dir, model.id, model.sha256, describe(model), settings.assessor)
        if own is not None:
            return own
    if settings.thresholds == "own":
        return None
    while isinstance(model, StatedRelationModel | HardenedRelationModel | GuardedRelationModel):
        model = model.model
    shipped = None
    if isinstance(model, CalibratedRelationModel | CascadeRelationModel):
        shipped = model.risk
    # They were fitted on what the model makes of pairs behind these guards.
    usual = all(getattr(settings, name) == getattr(Settings(), name) for name in _GUARDS)
    if shipped is None or shipped.assessor != settings.assessor or not usual:
        raise ModelError(
            f"no thresholds come with {model.id} as it is used here, with {settings.assessor}",
            hint="fit your own: factcheck calibrate LABELS.jsonl --risk 0.05",
        )
    return shipped
