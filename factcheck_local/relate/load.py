"""From the name of a relation model to the model."""

from __future__ import annotations

from factcheck_local.models.cards import find_card
from factcheck_local.models.contracts import LabelScorer
from factcheck_local.models.registry import load_model
from factcheck_local.relate.contract import RelationModel
from factcheck_local.relate.encoder import EncoderRelationModel
from factcheck_local.relate.llm import LlmRelationModel


def load_relation_model(
    name: str, *, default_llm: str, loaded: LabelScorer | None = None
) -> RelationModel:
    """Load the relation model called ``name``.

    Args:
        name: ``llm`` for the run's own LLM, or the card of an LLM or encoder.
        default_llm: what ``llm`` stands for.
        loaded: an LLM that is in memory already, used if it is the one meant.

    Raises:
        ModelError: if there is no such model, or it is an embedder.
    """
    card = find_card(default_llm if name == "llm" else name)
    if card.role == "llm":
        scorer = loaded if loaded is not None and loaded.id == card.id else load_model(card.id)
        return LlmRelationModel(scorer, card.calibration)
    return EncoderRelationModel(load_model(card.id, "encoder"))
