"""The values that pass between the stages: frozen, without behaviour of their own.

Offsets are in characters, half open: ``text[start:end]``. Probabilities are
linear, in [0, 1].
"""

from __future__ import annotations

from factcheck_local.core.types.answer import Answer, Atom, Kind, Segment
from factcheck_local.core.types.assessment import (
    Assessment,
    AtomAssessment,
    Evidence,
    InferenceInfo,
    Quote,
    Sensitivity,
    SourceReliability,
    Thresholds,
    Verdict,
)
from factcheck_local.core.types.corpus import Block, Chunk, Context, Document, titled
from factcheck_local.core.types.relations import (
    SUM_TOLERANCE,
    EvidenceLink,
    Relation,
    RelationLabel,
    ScoredPair,
    Summary,
)
from factcheck_local.core.types.span import Span

__all__ = [
    "SUM_TOLERANCE",
    "Answer",
    "Assessment",
    "Atom",
    "AtomAssessment",
    "Block",
    "Chunk",
    "Context",
    "Document",
    "Evidence",
    "EvidenceLink",
    "InferenceInfo",
    "Kind",
    "Quote",
    "Relation",
    "RelationLabel",
    "ScoredPair",
    "Segment",
    "Sensitivity",
    "SourceReliability",
    "Span",
    "Summary",
    "Thresholds",
    "Verdict",
    "titled",
]
