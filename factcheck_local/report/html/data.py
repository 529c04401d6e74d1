"""What the page's script works on: claims to review, the passages, the model."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from factcheck_local.report.html.claims import Claim


def _evidence_contexts(claims: Sequence[Claim]) -> list[int]:
    """Positions of the passages that are evidence for some claim."""
    return sorted({e.context for c in claims for e in c.evidence})


def passages_of(assessment: Mapping[str, Any], claims: Sequence[Claim]) -> list[dict[str, str]]:
    """The passages as they were read, for the script."""
    contexts = [assessment["contexts"][i] for i in _evidence_contexts(claims)]
    return [{name: c[name] for name in ("id", "source", "title", "text")} for c in contexts]


def data_of(
    assessment: Mapping[str, Any], claims: Sequence[Claim], model: Mapping[str, Any] | None
) -> dict[str, Any]:
    """What the script needs beside the passages: claims to review, the model."""
    where = {context: i for i, context in enumerate(_evidence_contexts(claims))}
    canonical = json.dumps(assessment, sort_keys=True, allow_nan=False)
    return {
        "run": hashlib.sha256(canonical.encode()).hexdigest(),
        "answer": assessment["answer"]["path"],
        "claims": [
            {
                "id": c.atom["id"],
                "atom": c.position,
                "text": c.atom["text"],
                "verdict": c.verdict,
                "probability": c.atom["probability"],
                "certainty": c.atom.get("certainty"),
                "evidence": {
                    e.position: [where[e.context], e.relation, e.spans] for e in c.evidence
                },
            }
            for c in claims
        ],
        "model": model,
    }
