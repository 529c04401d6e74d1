"""Assessments as plain values, with no more in them than a comparison needs."""

from __future__ import annotations

from typing import Any

from factcheck_local.pipeline.settings import Settings


def context(id_: str, source: str, text: str, prior: float = 0.9, **more: Any) -> dict[str, Any]:  # noqa: ANN401
    span = {"start": 0, "end": len(text), "line": 1}
    return {"id": id_, "source": source, "title": "", "text": text, "prior": prior} | span | more


def claim(
    id_: str,
    text: str,
    verdict: str,
    probability: float | None,
    evidence: tuple[tuple[str, str, float, str], ...] = (),
    original: str | None = None,
) -> dict[str, Any]:
    """``evidence``: (passage, relation, probability, the quote, at the passage's start)."""
    return {
        "id": id_,
        "text": text,
        "original": original or text,
        "kind": "fact",
        "span": None,
        "verdict": verdict,
        "probability": probability,
        "evidence": [
            {
                "context": c,
                "relation": relation,
                "probability": p,
                "quote": {"text": quote, "start": 0, "end": len(quote)},
            }
            for c, relation, p, quote in evidence
        ],
    }


def run(
    atoms: list[dict[str, Any]],
    contexts: list[dict[str, Any]],
    *,
    answer: str = "An answer.",
    index: str = "d1",
    sha256: str = "a" * 64,
    neutral: tuple[tuple[str, str, float], ...] = (),
    **settings: Any,  # noqa: ANN401
) -> dict[str, Any]:
    """``neutral``: (passage, claim, probability) of pairs that were read without effect."""
    relations = [
        {
            "from": e["context"],
            "to": a["id"],
            "relation": e["relation"],
            e["relation"]: e["probability"],
        }
        for a in atoms
        for e in a["evidence"]
    ]
    relations += [{"from": c, "to": a, "relation": "neutral", "neutral": p} for c, a, p in neutral]
    return {
        "schema": "factcheck.assessment/1",
        "run": {
            "version": "0.1.0",
            "settings": Settings(**settings).as_dict(),
            "models": [{"role": "relation", "id": "tiny", "sha256": sha256}],
            "index": {"store": "/s", "collection": "p", "chunks": 2, "digest": index},
        },
        "answer": {"path": "answer.md", "text": answer, "question": None},
        "atoms": atoms,
        "contexts": contexts,
        "relations": relations,
    }
