"""How passages bear on claims: p(entailment, contradiction, neutral | premise, hypothesis)."""

from factcheck_local.relate.contract import Premise, RelationModel
from factcheck_local.relate.load import load_relation_model
from factcheck_local.relate.stage import Related, relate

__all__ = ["Premise", "Related", "RelationModel", "load_relation_model", "relate"]
