"""From an assessment to edits of its answer, each verified before it is shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from factcheck_local.core.types import Span
from factcheck_local.correct.edits import (
    Correction,
    Edit,
    Refused,
    Unsupported,
    apply,
    marked,
    without,
)
from factcheck_local.correct.form import plain
from factcheck_local.correct.replace import Wrong, drafts
from factcheck_local.correct.units import UNSUPPORTED, Row, Unit, said, units_of
from factcheck_local.correct.verification import Checked, verified
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.claims.markers import marker, unmarked
from factcheck_local.pipeline.claims.split import segment
from factcheck_local.report.view import citations, one_line, quoted

#: New sentences that are verified in the place of one, if the first does not stand.
MAX_DRAFTS = 3


@dataclass(slots=True)
class _Outcome:
    """What came of writing a sentence anew: the text that stands, and what did not."""

    text: str | None = None
    checked: Checked = field(default_factory=Checked)
    refused: list[Refused] = field(default_factory=list)


def correct(
    assessment: Row,
    checker: FactChecker,
    *,
    unsupported: Unsupported = "mark",
    name: str = "the assessment",
) -> Correction:
    """Edits after which an answer claims nothing unmarked that its evidence does not bear out.

    A contradicted sentence is rewritten by the evidence that weighs most against it. What the new
    sentence claims is scored against the same passages, and it stays only if that comes out
    supported. A conflict is marked with both sides, never decided; nor is what is undecided.
    Markers of an earlier correction are taken back where they no longer hold.

    Args:
        assessment: what ``to_dict`` gives.
        checker: its models write and verify.
        unsupported: what becomes of the other sentences. ``remove`` takes only those of
            which nothing is supported, conflicting, undecided or unscored, and no item of a list
            that has a list or paragraphs of its own, and marks the others.
        name: of the assessment, for messages.

    Raises:
        RecordError: if the assessment is not complete.
    """
    text = assessment["answer"]["text"]
    units, unplaced = units_of(assessment, text)
    outcomes, models = _outcomes(assessment, units, checker, name)
    edits = [
        edit
        for i, unit in enumerate(units)
        if (edit := _edit(assessment, unit, outcomes.get(i, _Outcome()), unsupported))
    ]
    sentences = [*(unit.span for unit in units), *(s.span for s in segment(text))]
    edits = _removed(assessment, text, edits, sentences)
    edited, _ = apply(text, [(e.span, e.new) for e in edits])
    return Correction(edited, tuple(edits), unplaced, models)


# ------------------------------------------------------------------- writing


def _outcomes(
    assessment: Row, units: Sequence[Unit], checker: FactChecker, name: str
) -> tuple[dict[int, _Outcome], tuple[Row, ...]]:
    """What comes of each sentence that can be written anew, and the models that verified.

    All are verified together; those that do not stand are tried again with their next draft.
    """
    writers = _writers(assessment, units, checker)
    found = {i: _Outcome() for i in writers}
    models: tuple[Row, ...] = ()
    for _ in range(MAX_DRAFTS):
        written = {}
        for i, writer in writers.items():
            draft = next(writer, None) if found[i].text is None else None
            if isinstance(draft, Refused):
                found[i].refused.append(draft)
            elif draft is not None:
                written[i] = draft
        if not written:
            break
        outcomes, models = verified(assessment, units, written, checker, name)
        for i, outcome in outcomes.items():
            if outcome.refused is None:
                found[i].text, found[i].checked = written[i], outcome
            else:
                found[i].refused.append(Refused(written[i], outcome.refused, outcome.claims))
    return found, models


def _writers(
    assessment: Row, units: Sequence[Unit], checker: FactChecker
) -> dict[int, Iterator[str | Refused]]:
    """New sentences for each that has a contradicted claim with a quote against it."""
    parts = segment(assessment["answer"]["text"])
    passages = {c["id"]: c for c in assessment["contexts"]}
    found = {}
    for i, unit in enumerate(units):
        wrong = [w for c in unit.of("contradicted") if (w := _against(c, passages))]
        if wrong and len(wrong) == len(unit.of("contradicted")):
            headings = next((s.headings for s in parts if s.span == unit.span), ())
            earlier = (s.text for s in reversed(parts) if s.span.end <= unit.span.start)
            found[i] = drafts(
                unit.text,
                wrong,
                checker.llm,
                others=[said(c) for c in unit.claims if c["verdict"] != "contradicted"],
                supported=[said(c) for c in unit.of("supported")],
                heading=" > ".join(headings),
                before=plain(unmarked(next(earlier, "")).strip("#*_ ")),
            )
    return found


def _against(claim: Row, passages: Mapping[str, Row]) -> Wrong | None:
    """A claim with the evidence that weighs most against it; None if that has no quote."""
    against = next((e for e in claim["evidence"] if e["relation"] == "contradiction"), None)
    if against is None or not (quote := quoted(against)):
        return None
    passage = passages[against["context"]]
    title = passage.get("title") or ""
    return Wrong(said(claim), quote, title, passage["text"], against["probability"])


# ------------------------------------------------------------------- editing


def _edit(assessment: Row, unit: Unit, outcome: _Outcome, unsupported: Unsupported) -> Edit | None:
    """What becomes of a sentence; None for one that may stay as it is."""
    claims = unit.of(*UNSUPPORTED)
    if not claims:
        # Without a verdict on all of it an earlier one is not taken back.
        if unit.text == unit.stands or unit.of("unscored") or not unit.of("supported"):
            return None
        return Edit("unmark", unit.span, unit.stands, unit.text, unit.of("supported"))
    refused = tuple(outcome.refused)
    if outcome.text is not None:
        rest = [
            claim
            for claim in outcome.checked.still_open
            if unsupported != "keep" or _marker(assessment, claim) in unit.stands
        ]
        new = _with_markers(assessment, outcome.text, rest)
        checked = outcome.checked.claims
        return Edit("replace", unit.span, unit.stands, new, claims, checked, drafts=refused)
    reason = refused[0].reason if refused else None
    left = Edit("keep", unit.span, unit.stands, unit.stands, claims, (), reason, refused)
    if unsupported == "keep":
        return left
    if unsupported == "remove" and not unit.of("supported", "conflicting", "undecided", "unscored"):
        return replace(left, action="remove", new="")
    return _marked(assessment, left)


def _marked(assessment: Row, edit: Edit) -> Edit:
    """An edit that says of a sentence what is not supported, in the place of another."""
    new = _with_markers(assessment, unmarked(edit.old), edit.claims)
    return replace(edit, action="keep" if new == edit.old else "mark", new=new)


def _with_markers(assessment: Row, sentence: str, claims: Sequence[Row]) -> str:
    """The sentence with what is to be said of its claims."""
    for said_of in dict.fromkeys(_marker(assessment, claim) for claim in claims):
        sentence = marked(sentence, said_of)
    return sentence


def _marker(assessment: Row, claim: Row) -> str:
    places = dict.fromkeys(one_line(c.place) for c in shown(assessment, claim))
    return marker(claim["verdict"], places)


def shown(assessment: Row, claim: Row) -> list[Any]:
    """The citations that an edit rests on: of a conflict both sides, else the deciding one."""
    found = list(citations(assessment, claim))
    return found if claim["verdict"] == "conflicting" else found[:1]


def _removed(
    assessment: Row, text: str, edits: Sequence[Edit], sentences: Sequence[Span]
) -> list[Edit]:
    """Removals with the space or the line that goes with them; neighbours go together.

    Those that cannot be taken out of their list are marked instead. From the end, so that it is
    known what is left below an item.
    """
    found: list[Edit] = []
    gone: list[Span] = []
    for group in reversed(_neighbours(text, edits)):
        first, last = group[0], group[-1]
        if first.action != "remove":
            found += group
            continue
        span = without(text, Span(first.span.start, last.span.end), sentences, gone)
        if span is None:
            found += reversed([_marked(assessment, edit) for edit in group])
            continue
        gone.append(span)
        claims = tuple(claim for edit in group for claim in edit.claims)
        refused = tuple(draft for edit in group for draft in edit.drafts)
        found.append(replace(first, span=span, old=span.of(text), claims=claims, drafts=refused))
    return found[::-1]


def _neighbours(text: str, edits: Sequence[Edit]) -> list[list[Edit]]:
    """The edits in order, removals with nothing but spaces between them together."""
    groups: list[list[Edit]] = []
    for edit in edits:
        last = groups[-1][-1] if groups else None
        if last and last.action == edit.action == "remove":
            between = text[last.span.end : edit.span.start]
            if not between.strip() and "\n" not in between:
                groups[-1].append(edit)
                continue
        groups.append([edit])
    return groups
