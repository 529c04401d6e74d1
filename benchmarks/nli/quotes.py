"""The quote picked out of a WiCE window against the sentences that support the claim.

Precision: the share of quoted sentences that are in any supporting set. Recall:
how much of a supporting set was quoted, for the set that was quoted most, mean
over the claims. The window holds each sentence of the article on a line of its
own, as a document would. Windows all of whose sentences support are left out: there,
every quote would be right. These are mostly claims whose support is scattered over
more words than a window has, so recall is that of the easier ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.nli.wice import WiceClaim
from factcheck_local.core.types import Context, Span
from factcheck_local.metrics import bootstrap_ci
from factcheck_local.models.contracts import Embedder
from factcheck_local.pipeline.verdicts.quotes import pick_quotes


def quote_report(claims: Sequence[WiceClaim], embedder: Embedder, *, seed: int) -> dict[str, Any]:
    """Precision and recall by label, and the precision of a sentence drawn at random."""
    # A few claims that are not supported have supporting sentences all the same.
    right = [c for c in claims if c.supporting and c.label != "not_supported"]
    asked = [c for c in right if not set(c.window) <= _supporting(c)]
    found = pick(
        {str(i): c.passage("\n") for i, c in enumerate(asked)},
        {str(i): c.text for i, c in enumerate(asked)},
        embedder,
    )
    rows = [(c, quoted_sentences(c, found.get(str(i), []))) for i, c in enumerate(asked)]
    labels = list(dict.fromkeys(c.label for c in asked))
    return {
        "left_out": len(right) - len(asked),
        "by_label": {
            "all": _summary(rows, seed),
            **{label: _summary([r for r in rows if r[0].label == label], seed) for label in labels},
        },
    }


def pick(
    passages: Mapping[str, str], claims: Mapping[str, str], embedder: Embedder
) -> dict[str, list[Span]]:
    """What is quoted of each passage for its claim, as spans of the passage."""
    contexts = {i: Context(i, "wice", "", text, prior=0.9) for i, text in passages.items()}
    quotes = pick_quotes([(i, i) for i in passages], contexts, claims, embedder)
    return {i: [quote.span for quote in found] for (i, _), found in quotes.items()}


def quoted_sentences(claim: WiceClaim, spans: Sequence[Span]) -> frozenset[int]:
    """The sentences of the article that spans of the passage, one a line, lie in."""
    found, start = set(), 0
    for i in claim.window:
        end = start + len(claim.evidence[i])
        if any(span.start < end and start < span.end for span in spans):
            found.add(i)
        start = end + 1
    return frozenset(found)


def _summary(rows: Sequence[tuple[WiceClaim, frozenset[int]]], seed: int) -> dict[str, Any]:
    return {
        "claims": len(rows),
        "quoted_sentences": sum(len(quoted) for _, quoted in rows),
        "precision": _precision(rows),
        "precision_ci95": bootstrap_ci(rows, _precision, seed=seed),
        "recall": _recall(rows),
        "recall_ci95": bootstrap_ci(rows, _recall, seed=seed),
        "random_precision": _mean(
            [len(_supporting(c) & set(c.window)) / len(c.window) for c, _ in rows]
        ),
    }


def _precision(rows: Sequence[tuple[WiceClaim, frozenset[int]]]) -> float | None:
    return _mean([float(i in _supporting(claim)) for claim, quoted in rows for i in quoted])


def _recall(rows: Sequence[tuple[WiceClaim, frozenset[int]]]) -> float | None:
    return _mean([max(len(quoted & s) / len(s) for s in c.supporting) for c, quoted in rows])


def _supporting(claim: WiceClaim) -> frozenset[int]:
    return frozenset().union(*claim.supporting)


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None
