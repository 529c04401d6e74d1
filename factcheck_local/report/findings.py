"""An assessment in short, for a program: each claim's verdict and what it rests on."""

from __future__ import annotations

from typing import Any

from factcheck_local.report.view import Citation, citations, described


def findings(assessment: dict[str, Any]) -> dict[str, Any]:
    """Verdicts and citations of an assessment (see ``to_dict``), as plain values.

    Returns:
        ``summary`` and ``notes`` as they are there, and ``claims``. A claim has ``text``, ``span``
        (where it stands in the answer, None if that is not known), ``verdict``, ``probability``
        (in [0, 1], None if there is none), ``reason`` where one is given, and ``citations``, the
        deciding one first: ``quote``, ``source``, ``line`` or ``page`` where there are any,
        ``passage`` (its id), ``relation`` with its ``probability``, and ``prior`` of the source.
    """
    claims = []
    for atom in assessment["atoms"]:
        claim = {name: atom[name] for name in ("text", "span", "verdict", "probability")}
        if "reason" in atom:
            claim["reason"] = atom["reason"]
        claims.append(claim | {"citations": [cited(c) for c in citations(assessment, atom)]})
    return {"summary": assessment["summary"], "claims": claims, "notes": assessment["notes"]}


def explained(assessment: dict[str, Any]) -> str:
    """The same as a text for people, a line a claim."""
    lines = []
    for atom in assessment["atoms"]:
        first = next(citations(assessment, atom), None)
        why = described(first) if first else atom.get("reason")
        verdict = atom["verdict"].replace("_", " ")
        lines.append(f"{verdict}: {atom['text']}" + (f" ({why})" if why else ""))
    return "\n".join(lines)


def cited(citation: Citation) -> dict[str, Any]:
    """A citation as ``findings`` has it."""
    place = {"line": citation.line, "page": citation.context.get("page")}
    return {
        "quote": citation.quote,
        "source": citation.context["source"],
        **{name: at for name, at in place.items() if at is not None},
        "passage": citation.context["id"],
        "relation": citation.relation,
        "probability": citation.probability,
        "prior": citation.prior,
    }
