"""The assessment as JSON: the one form that every other report is made from."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict
from importlib import resources
from typing import Any

from factcheck_local.core.types import (
    Assessment,
    AtomAssessment,
    Context,
    Evidence,
    Sensitivity,
    Span,
    Verdict,
)
from factcheck_local.metrics import (
    binary_entropy,
    bootstrap_ci,
    entropy,
    factual_precision,
    hallucination_score,
)
from factcheck_local.pipeline.run import Run

SCHEMA = "factcheck.assessment/1"

#: The JSON Schema of what ``to_dict`` gives, in this package.
SCHEMA_FILE = "assessment.schema.json"

#: On what condition thresholds keep what they promise, beside its being an average.
ASSUMPTION = "claims, documents and settings are like those of the labelled claims"


def to_dict(run: Run) -> dict[str, Any]:
    """The run as plain values, in the order in which they are written; see ``json_schema``.

    Only ``run.started`` and ``run.seconds`` differ between two runs over the
    same input.
    """
    found = run.assessment
    return {
        "schema": SCHEMA,
        "run": {
            "version": run.version,
            "signature": run.settings.line(),
            "settings": run.settings.as_dict(),
            "models": list(run.models),
            "prompts": list(run.prompts),
            "index": run.index,
            "risk": {**asdict(run.risk), "assumption": ASSUMPTION} if run.risk else None,
            "answer": {
                "sha256": text_sha256(found.answer.text),
                "given": list(run.given),
                # Only where the models do not read it.
                **({"language": asdict(run.language)} if run.language else {}),
            },
            "environment": dict(run.environment),
            "started": run.started,
            "seconds": {name: round(value, 2) for name, value in run.seconds.items()},
        },
        "answer": asdict(found.answer),
        "summary": summary(found),
        "atoms": [atom_to_dict(a) for a in found.atoms],
        "contexts": [context_to_dict(c) for c in found.contexts],
        "relations": [
            {
                "from": pair.premise,
                "to": pair.hypothesis,
                "relation": pair.relation.label.value,
                **asdict(pair.relation),
                # What was read of the passage, where that was not all of it.
                **({"summary": asdict(pair.summary)} if pair.summary else {}),
            }
            for pair in found.pairs
        ],
        "inference": asdict(found.inference),
        "sources": [asdict(source) for source in found.sources],
        "notes": list(found.notes),
    }


def json_schema() -> str:
    """The JSON Schema (draft 2020-12) of an assessment, as text."""
    return resources.files(__package__).joinpath(SCHEMA_FILE).read_text(encoding="utf-8")


def text_sha256(text: str) -> str:
    """Sha256, in hex, of a text as UTF-8: that of its file, if it has no byte order mark."""
    return hashlib.sha256(text.encode()).hexdigest()


def summary(found: Assessment) -> dict[str, Any]:
    """Counts and measures over the atoms that have a probability.

    A measure is None where there is nothing to measure. Everything is counted by verdict
    (``Verdict.supports``, ``denies``), here and over many answers: an atom
    that is conflicting, undecided or not found is neither supported nor contradicted,
    whatever its P. FactReasoner (§3.2) counts P > ½ instead, which is the same where there is
    none of these. In the hallucination score (FactBench) they are U. ``precision_interval``
    is the 95 % percentile bootstrap of the precision over the units of the answer that the
    atoms were split from, since atoms of one sentence stand and fall together; None for one
    unit. ``coverage`` is the share that is supported or contradicted.
    """
    scored = [a for a in found.atoms if a.probability is not None]
    probabilities = [a.probability for a in scored if a.probability is not None]
    supported = sum(a.verdict.supports for a in scored)
    contradicted = sum(a.verdict.denies for a in scored)
    return {
        "precision": factual_precision(supported, len(scored)),
        "precision_interval": _precision_interval(scored),
        "coverage": (supported + contradicted) / len(scored) if scored else None,
        "entropy": entropy(probabilities),
        "binary_entropy": binary_entropy(probabilities),
        "hallucination_score": hallucination_score(
            contradicted, len(scored) - supported - contradicted, len(scored)
        ),
        "counts": {v.value: sum(a.verdict is v for a in found.atoms) for v in Verdict},
    }


def _precision_interval(scored: Sequence[AtomAssessment]) -> list[float] | None:
    """Low and high; None where the scored atoms are of fewer than two units."""
    units: dict[Span | str, list[bool]] = {}
    for a in scored:
        units.setdefault(a.atom.span or a.atom.original, []).append(a.verdict.supports)
    found = bootstrap_ci(
        [(sum(unit), len(unit)) for unit in units.values()],
        lambda drawn: factual_precision(sum(s for s, _ in drawn), sum(n for _, n in drawn)),
    )
    return None if found is None else list(found)


def _span(span: Span | None) -> dict[str, int] | None:
    return None if span is None else asdict(span)


def atom_to_dict(assessed: AtomAssessment) -> dict[str, Any]:
    """A claim with its verdict and evidence; of what is optional it has what there is."""
    atom = assessed.atom
    fields: dict[str, Any] = {
        "id": atom.id,
        "text": atom.text,
        "original": atom.original,
        "kind": atom.kind.value,
        "span": _span(atom.span),
        "repeats": [_span(s) for s in atom.repeats],
        "verdict": assessed.verdict.value,
        "probability": assessed.probability,
        "certainty": assessed.certainty,
        "reason": assessed.reason,
        "label": atom.label,
        "contexts": list(atom.context_ids),
        "read": list(assessed.read),
        "evidence": [_evidence(e) for e in assessed.evidence],
        "sensitivity": _sensitivity(assessed.sensitivity),
    }
    optional = ("reason", "label", "contexts", "read", "repeats", "sensitivity")
    return {k: v for k, v in fields.items() if v or k not in optional}


def _sensitivity(found: Sensitivity | None) -> dict[str, Any] | None:
    if found is None:
        return None
    pivotal = found.pivotal
    return {
        "without": dict(found.without),
        "alone": dict(found.alone),
        "low": found.low,
        "high": found.high,
        "pivotal": None
        if pivotal is None
        else {
            "from": pivotal.premise,
            "to": pivotal.hypothesis,
            "relation": pivotal.label.value,
        },
    }


def _evidence(evidence: Evidence) -> dict[str, Any]:
    quotes = [{"text": quote.text, **asdict(quote.span)} for quote in evidence.quotes]
    return {
        "context": evidence.context_id,
        "relation": evidence.label.value,
        "probability": evidence.probability,
        "quote": quotes[0] if quotes else None,
        # More than one sentence where the first does not say all of it.
        **({"more_quotes": quotes[1:]} if len(quotes) > 1 else {}),
    }


def context_to_dict(context: Context) -> dict[str, Any]:
    """A passage with its place and prior; what it has not is left out."""
    fields = asdict(context)
    span = fields.pop("span") or {}
    return {name: value for name, value in (fields | span).items() if value is not None}
