"""How passages bear on claims: p(entailment, contradiction, neutral | premise, hypothesis)."""

from factcheck_local.pipeline.relation.calibration import CalibratedRelationModel, Calibration
from factcheck_local.pipeline.relation.load import (
    describe,
    load_relation_model,
    relation_model_of,
    thresholds_of,
)
from factcheck_local.pipeline.relation.relate import Completed, Related, relate
from factcheck_local.pipeline.relation.scorer import PairScorer, Premise, RelationModel

__all__ = [
    "CalibratedRelationModel",
    "Calibration",
    "Completed",
    "PairScorer",
    "Premise",
    "Related",
    "RelationModel",
    "describe",
    "load_relation_model",
    "relate",
    "relation_model_of",
    "thresholds_of",
]
