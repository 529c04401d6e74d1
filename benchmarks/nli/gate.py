"""What the relevance filter before the relation model keeps and drops.

The filter takes a pair whose embeddings have a small cosine as unrelated. What it
drops of the pairs that are not neutral is evidence lost; what it drops of the
neutral ones is time saved. WiCE's neutral pairs are mostly supported in part, so
they ought to be read too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.nli.pairs import DevSet
from factcheck_local.models.contracts import Embedder

THRESHOLDS = (0.15, 0.2, 0.25, 0.3)


def gate_report(dev: DevSet, embedder: Embedder, thresholds: Sequence[float]) -> dict[str, Any]:
    """Recall of the pairs that are not neutral, and share of neutral ones dropped.

    Both are None where the set has no such pairs.
    """
    texts = list(dict.fromkeys(t for p in dev.pairs for t in (p.premise, p.hypothesis)))
    row = {text: i for i, text in enumerate(texts)}
    vectors = embedder.embed(texts)
    cosines = np.array([vectors[row[p.premise]] @ vectors[row[p.hypothesis]] for p in dev.pairs])
    neutral = np.array([p.label == "neutral" for p in dev.pairs])
    return {
        "related": int((~neutral).sum()),
        "neutral": int(neutral.sum()),
        "thresholds": [
            {
                "threshold": threshold,
                "related_kept": _share(cosines[~neutral] >= threshold),
                "neutral_dropped": _share(cosines[neutral] < threshold),
            }
            for threshold in thresholds
        ],
    }


def _share(flags: np.typing.NDArray[np.bool_]) -> float | None:
    return float(flags.mean()) if flags.size else None
