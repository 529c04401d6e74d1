"""A comparison of two assessments as lines for a terminal, or as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from factcheck_local.report.diff import (
    ClaimChange,
    ClaimState,
    Comparison,
    Difference,
    EvidenceChange,
    Witness,
)
from factcheck_local.report.markdown import plain as plain
from factcheck_local.report.view import indented, percent

#: Characters of a value or a sha256 that are shown.
_SHOWN = 12

_MADE_OTHERWISE = (
    "made with other settings or models, so that not every difference is the documents'"
)


def diff_to_text(comparison: Comparison, present: frozenset[str] | None = None) -> str:
    """Lines: what the runs were made with, each changed claim with its evidence, the counts.

    Args:
        comparison: what ``compare`` gives.
        present: the sources that are still in the store; None where that is not known.
    """
    return "".join(f"{indented(line)}\n" for line in _lines(comparison, present))


def diff_to_markdown(comparison: Comparison) -> str:
    """The same as a list in Markdown, nothing of which is markup of the texts' own."""
    found = [f"**{plain(summary(comparison))}**", ""]
    if comparison.made_with:
        found += [f"{_MADE_OTHERWISE.capitalize()}:", ""]
        found += [f"- {plain(_difference(d))}" for d in comparison.made_with]
        found.append("")
    for change in comparison.changed:
        found.append(f"- {plain(_verdicts(change))}: {plain(change.new.text)}")
        found += [f"  - {plain(line)}" for line in _causes(change)]
    found += [f"- only in the new run: {plain(_claim(c))}" for c in comparison.added]
    found += [f"- only in the old run: {plain(_claim(c))}" for c in comparison.removed]
    return "\n".join(found).rstrip("\n") + "\n"


def summary(comparison: Comparison) -> str:
    """The counts on one line."""
    changed, both = len(comparison.changed), len(comparison.claims)
    said = [f"{changed} of {both} verdicts changed" if changed else f"{both} verdicts are the same"]
    said += [
        f"{len(claims)} claims only in the {side} run"
        for side, claims in (("new", comparison.added), ("old", comparison.removed))
        if claims
    ]
    return ", ".join(said)


def _lines(comparison: Comparison, present: frozenset[str] | None) -> Iterator[str]:
    if comparison.made_with:
        yield f"{_MADE_OTHERWISE}:"
        yield from (f"  {_difference(d)}" for d in comparison.made_with)
    for change in comparison.changed:
        yield f"{_verdicts(change)}: {change.new.text}"
        yield from (f"  {line}" for line in _causes(change, present))
    yield from (f"only in the new run: {_claim(c)}" for c in comparison.added)
    yield from (f"only in the old run: {_claim(c)}" for c in comparison.removed)
    yield summary(comparison)


def _verdicts(change: ClaimChange) -> str:
    old, new = change.old, change.new
    said = (f"{side.verdict.replace('_', ' ')} {percent(side.probability)}" for side in (old, new))
    return " -> ".join(said)


def _claim(claim: ClaimState) -> str:
    return f"{claim.verdict.replace('_', ' ')} {percent(claim.probability)}: {claim.text}"


def _causes(change: ClaimChange, present: frozenset[str] | None = None) -> Iterator[str]:
    if not change.evidence:
        yield "no passage that bears on it has changed: other claims' have, or how it was judged"
    for cause in change.evidence:
        yield _cause(cause, gone=present is not None and cause.source not in present)


def _cause(change: EvidenceChange, *, gone: bool) -> str:
    old, new = change.old, change.new
    if old is None or new is None:
        there = new or old
        if there is None:
            return change.source
        no_more = "document no longer in the store" if gone else "passage no longer found"
        word = "new passage" if old is None else no_more
        return f"{there.place}: {word}: {_says(there)}, source {there.prior:g}{_quote(there)}"
    said = {
        "text": "text changed",
        "prior": f"source {old.prior:g} -> {new.prior:g}",
        "superseded": f"superseded by {new.superseded_by}"
        if new.superseded_by
        else "no longer superseded",
        "relation": f"{_says(old)} -> {_says(new)}",
    }
    what = ", ".join(said[kind] for kind in change.kinds)
    quotes = _quote(new) if old.quote == new.quote else f"{_quote(old)} ->{_quote(new)[1:]}"
    return f"{new.place}: {what}{quotes}"


def _says(witness: Witness) -> str:
    if witness.relation is None:
        return "not read"
    return f"{witness.relation} {percent(witness.probability)}"


def _quote(witness: Witness) -> str:
    return f": “{witness.quote}”" if witness.quote else ": nothing"


def _difference(difference: Difference) -> str:
    if difference.name == "answer":
        return "another text of the answer"
    return f"{difference.name}: {_shown(difference.old)} -> {_shown(difference.new)}"


def _shown(value: Any) -> str:  # noqa: ANN401
    """A value shortly; a model by its name, hash and what else may differ."""
    if isinstance(value, dict) and "sha256" in value:
        rest = {k: v for k, v in value.items() if k not in ("role", "id", "sha256")}
        more = f", {rest}" if rest else ""
        return f"{value['id']} (sha256 {value['sha256'][:_SHOWN]}…{more})"
    return "none" if value is None else str(value)
