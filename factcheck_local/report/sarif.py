"""Assessments as SARIF 2.1.0, for code-scanning pages and editors.

One rule for each verdict that is a finding. What could not be scored is no finding: it is a
notification of the run, which then did not succeed. A result's evidence is in its related
locations, and its message links to them.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from factcheck_local import __version__
from factcheck_local.report.places import (
    DOCUMENTS,
    answer_file,
    file_location,
    region,
    source_location,
)
from factcheck_local.report.view import Citation, citations, described, one_line, percent

SCHEMA_URI = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)

#: A finding's rule: its level, its name, and what it says.
_RULES = {
    "contradicted": (
        "error",
        "ContradictedClaim",
        "The documents contradict a claim.",
        "P(claim) is under 50 %, and a passage contradicts it. "
        "Correct the claim, or the document if that is wrong.",
    ),
    "unsupported": (
        "error",
        "UnsupportedClaim",
        "The documents do not support a claim.",
        "They contradict it or say nothing of it; the assessor that was chosen does not tell "
        "which. Correct the claim, or leave it out.",
    ),
    "conflicting": (
        "warning",
        "ConflictingSources",
        "The documents disagree about a claim.",
        "Sources of comparable weight support and contradict it. "
        "Find out which of them holds, and say in the reliability profile how far each is trusted.",
    ),
    "undecided": (
        "note",
        "UndecidedClaim",
        "The documents do not decide a claim.",
        "A passage bears on it, but the claim is less certain than the verdict promises. "
        "Read what it says, or add a source that is clearer.",
    ),
    "not_found": (
        "note",
        "ClaimNotFound",
        "Nothing in the documents bears on a claim.",
        "No passage supports or contradicts it. Add a source that states it, or leave it out.",
    ),
}
_ORDER = {name: i for i, name in enumerate(_RULES)}

_VERBS = {"entailment": "Supported", "contradiction": "Contradicted"}


def to_sarif(assessments: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One log with one run over all answers.

    Args:
        assessments: what ``to_dict`` gives for each.
    """
    results, notifications = [], []
    artifacts: list[dict[str, Any]] = []
    known: dict[tuple[str | None, str], int] = {}
    seen: dict[int, Counter[str]] = {}
    for assessment in assessments:
        answer = assessment["answer"]
        path, _, _ = answer_file(answer)
        # Records of one file are in one artifact.
        index = known.setdefault((path, "" if path else answer["text"]), len(artifacts))
        if index == len(artifacts):
            artifacts.append(_artifact(answer))
        for atom in assessment["atoms"]:
            if atom["verdict"] == "unscored":
                notifications.append(_notification(assessment, index, atom))
            elif atom["verdict"] in _RULES:
                counter = seen.setdefault(index, Counter())
                results.append(_result(assessment, index, atom, counter))
    run: dict[str, Any] = {
        "tool": {"driver": _driver()},
        "invocations": [
            {
                "executionSuccessful": not notifications,
                "toolExecutionNotifications": notifications,
            }
        ],
        "originalUriBaseIds": {
            DOCUMENTS: {"description": {"text": "The folder that was indexed."}}
        },
        "artifacts": artifacts,
        "results": results,
        "columnKind": "utf16CodeUnits",
        "properties": {"signatures": list({a["run"]["signature"]: 0 for a in assessments})},
    }
    return {"$schema": SCHEMA_URI, "version": "2.1.0", "runs": [run]}


def _driver() -> dict[str, Any]:
    return {
        "name": "factcheck-local",
        "version": __version__,
        "rules": [
            {
                "id": rule,
                "name": name,
                "shortDescription": {"text": short},
                "fullDescription": {"text": f"{short} {full}"},
                "help": {"text": full},
                "defaultConfiguration": {"level": level},
            }
            for rule, (level, name, short, full) in _RULES.items()
        ],
        "notifications": [
            {"id": "unscored", "shortDescription": {"text": "A claim could not be scored."}}
        ],
    }


def _artifact(answer: Mapping[str, Any]) -> dict[str, Any]:
    path, _, _ = answer_file(answer)
    if path is not None:
        return {"location": file_location(path), "roles": ["analysisTarget"]}
    return {
        "description": {"text": "The answer, which came from no file."},
        "roles": ["analysisTarget", "standardStream"],
        "contents": {"text": answer["text"]},
    }


def _result(
    assessment: dict[str, Any], index: int, atom: dict[str, Any], seen: Counter[str]
) -> dict[str, Any]:
    rule = atom["verdict"]
    found = list(citations(assessment, atom))
    level, _, short, _ = _RULES[rule]
    # One piece says why; of a conflict both sides do.
    shown = found if rule == "conflicting" else found[:1]
    sentences = [
        f"{short.removesuffix('.')}: “{_text(atom['text'])}”, P = {percent(atom['probability'])}."
    ]
    for i, c in enumerate(shown, start=1):
        said = f": “{_text(c.quote)}”" if c.quote else "."
        sentences.append(f"{_VERBS[c.relation]} by [{_link(c.place)}]({i}){said}")
    place = _location(assessment["answer"], index, atom["span"])
    again = [_location(assessment["answer"], index, s) for s in atom.get("repeats", ())]
    related = [_source(i, c) for i, c in enumerate(found, start=1)]
    related += [x | {"message": {"text": "Said here, too."}} for x in again if x != place]
    return {
        "ruleId": rule,
        "ruleIndex": _ORDER[rule],
        "level": level,
        "message": {"text": " ".join(sentences)},
        "locations": [place],
        **({"relatedLocations": related} if related else {}),
        "partialFingerprints": {"claim/v1": _fingerprint(atom, seen)},
        "properties": {"claim": atom["id"], "probability": atom["probability"]},
    }


def _notification(assessment: dict[str, Any], index: int, atom: dict[str, Any]) -> dict[str, Any]:
    text = f"Could not be scored: “{_text(atom['text'])}”: {_text(atom['reason'])}"
    return {
        "descriptor": {"id": "unscored", "index": 0},
        "level": "error",
        "message": {"text": text},
        "locations": [_location(assessment["answer"], index, atom["span"])],
    }


def _location(
    answer: Mapping[str, Any], index: int, span: Mapping[str, int] | None
) -> dict[str, Any]:
    """A place in the answer's file; of a record, its line."""
    path, line, verbatim = answer_file(answer)
    artifact = {"index": index} | (file_location(path) if path is not None else {})
    physical: dict[str, Any] = {"artifactLocation": artifact}
    if line is not None:
        physical["region"] = {"startLine": line}
    elif verbatim and span:
        physical["region"] = region(answer["text"], span["start"], span["end"])
    return {"physicalLocation": physical}


def _source(number: int, citation: Citation) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": source_location(citation.context)}
    if citation.line is not None:
        physical["region"] = {"startLine": citation.line}
    message = {"text": _text(described(citation))}
    return {"id": number, "physicalLocation": physical, "message": message}


def _fingerprint(atom: Mapping[str, Any], seen: Counter[str]) -> str:
    """The claim's words and how many claims above it have the same, wherever they stand."""
    words = " ".join(atom["text"].split())
    seen[words] += 1
    return f"{hashlib.sha256(words.encode()).hexdigest()}:{seen[words]}"


def _text(text: str) -> str:
    """Text within a message, in which nothing is a placeholder or a link (§3.11.5 and 6)."""
    plain = one_line(text).replace("{", "{{").replace("}", "}}")
    return plain.replace("](", "] (")


def _link(text: str) -> str:
    """The text of a link in a message."""
    for character in "\\[]":
        text = text.replace(character, f"\\{character}")
    return one_line(text).replace("{", "{{").replace("}", "}}")
