"""The correct stage: edits that make an answer say what its evidence says."""

from factcheck_local.correct.edits import Correction, Edit, Unsupported, unified_diff
from factcheck_local.correct.proposal import correct

__all__ = ["Correction", "Edit", "Unsupported", "correct", "unified_diff"]
