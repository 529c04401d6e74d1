"""How passages bear on claims: p(entailment, contradiction, neutral | premise, hypothesis)."""

from factcheck_local.relate.calibration import CalibratedRelationModel, Calibration
from factcheck_local.relate.contract import PairScorer, Premise, RelationModel
from factcheck_local.relate.load import describe, load_relation_model, thresholds_of
from factcheck_local.relate.stage import Related, relate

__all__ = [
    "CalibratedRelationModel",
    "Calibration",
    "PairScorer",
    "Premise",
    "Related",
    "RelationModel",
    "describe",
    "load_relation_model",
    "relate",
    "thresholds_of",
]
