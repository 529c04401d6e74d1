"""From an assessment to edits of its answer, each verified before it is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from factcheck_local.core.text.wording import negations, normalised, words_and_numbers
from factcheck_local.core.types import Answer, Atom, Span
from factcheck_local.correct.edits import Correction, Edit, Unsupported, apply, marked, without
from factcheck_local.correct.replace import Draft, Wrong, rewrite
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.claims.records import Record
from factcheck_local.pipeline.claims.split import segment
from factcheck_local.report import to_dict
from factcheck_local.report.stored import contexts_of, span_of
from factcheck_local.report.view import citations, one_line, quoted

#: What stands behind a sentence in which nothing was found.
UNVERIFIED = "[unverified]"

#: What evidence neither bears out nor contradicts.
_OPEN = ("conflicting", "undecided", "not_found")

_UNSUPPORTED = ("contradicted", *_OPEN)

_Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Unit:
    """A sentence of the answer, and what it claims."""

    span: Span
    text: str
    claims: tuple[_Row, ...]

    def of(self, *verdicts: str) -> tuple[_Row, ...]:
        return tuple(c for c in self.claims if c["verdict"] in verdicts)


@dataclass(frozen=True, slots=True)
class _Checked:
    """A new sentence after it was verified; ``refused`` is None if it stands."""

    claims: tuple[_Row, ...] = ()
    refused: str | None = None


def correct(
    assessment: _Row,
    checker: FactChecker,
    *,
    unsupported: Unsupported = "mark",
    name: str = "the assessment",
) -> Correction:
    """Edits after which an answer claims nothing unmarked that its evidence does not bear out.

    A contradicted sentence is rewritten by the evidence that weighs most against it. The new
    sentence is split and scored against the same passages, and stays only if it comes
    out supported. A conflict is marked with both sides, never decided; nor is what is undecided.

    Args:
        assessment: what ``to_dict`` gives.
        checker: its models write and verify.
        unsupported: what becomes of the other sentences. ``remove`` takes only those of
            which nothing is supported, conflicting, undecided or unscored, and marks the
            others.
        name: of the assessment, for messages.

    Raises:
        RecordError: if the assessment is not complete.
    """
    text = assessment["answer"]["text"]
    units, unplaced = _units(assessment, text)
    drafts = _drafts(assessment, units, checker)
    written = {i: draft.text for i, draft in drafts.items() if draft.text is not None}
    checked, models = _verified(assessment, units, written, checker, name) if written else ({}, ())
    edits = [
        edit
        for i, unit in enumerate(units)
        if (edit := _edit(assessment, unit, drafts.get(i), checked.get(i), unsupported))
    ]
    sentences = [*(unit.span for unit in units), *(s.span for s in segment(text))]
    edits = _removed(text, edits, sentences)
    edited, _ = apply(text, [(e.span, e.new) for e in edits])
    return Correction(edited, tuple(edits), unplaced, models)


def _units(assessment: _Row, text: str) -> tuple[list[_Unit], tuple[_Row, ...]]:
    """The sentences in order, and the unsupported claims that have none.

    What a record gives as a claim's origin may overlap that of another: these are one.
    """
    places = [
        (span, atom)
        for atom in assessment["atoms"]
        for span in map(span_of, [atom["span"], *atom.get("repeats", ())])
        if span is not None
    ]
    units: list[_Unit] = []
    for span, atom in sorted(places, key=lambda place: (place[0].start, place[0].end)):
        claims: tuple[_Row, ...] = (atom,)
        if units and units[-1].span.overlaps(span):
            last = units.pop()
            span = Span(last.span.start, max(last.span.end, span.end))
            claims = (*last.claims, atom)
        units.append(_Unit(span, span.of(text), claims))
    lost = (a for a in assessment["atoms"] if a["span"] is None and a["verdict"] in _UNSUPPORTED)
    return units, tuple(lost)


# ------------------------------------------------------------------- writing


def _drafts(assessment: _Row, units: Sequence[_Unit], checker: FactChecker) -> dict[int, Draft]:
    """A new sentence for each that has a contradicted claim with a quote against it."""
    parts = segment(assessment["answer"]["text"])
    passages = {c["id"]: c for c in assessment["contexts"]}
    found = {}
    for i, unit in enumerate(units):
        wrong = [w for c in unit.of("contradicted") if (w := _against(c, passages))]
        if wrong and len(wrong) == len(unit.of("contradicted")):
            headings = next((s.headings for s in parts if s.span == unit.span), ())
            earlier = (s.text for s in reversed(parts) if s.span.end <= unit.span.start)
            found[i] = rewrite(
                unit.text,
                wrong,
                checker.llm,
                others=[c["text"] for c in unit.claims if c["verdict"] != "contradicted"],
                heading=" > ".join(headings),
                before=" ".join(next(earlier, "").strip("#*_ ").split()),
            )
    return found


def _against(claim: _Row, passages: Mapping[str, _Row]) -> Wrong | None:
    """A claim with the evidence that weighs most against it; None if that has no quote."""
    against = next((e for e in claim["evidence"] if e["relation"] == "contradiction"), None)
    if against is None or not (quote := quoted(against)):
        return None
    passage = passages[against["context"]]
    return Wrong(claim["text"], quote, passage.get("title") or "", passage["text"])


# ----------------------------------------------------------------- verifying


def _verified(
    assessment: _Row,
    units: Sequence[_Unit],
    written: Mapping[int, str],
    checker: FactChecker,
    name: str,
) -> tuple[dict[int, _Checked], tuple[_Row, ...]]:
    """What comes of the new sentences, split and scored as any other, and the models used."""
    text, question = assessment["answer"]["text"], assessment["answer"]["question"]
    edited, spans = apply(text, [(units[i].span, new) for i, new in written.items()])
    answer = Answer(edited, question=question)
    split, failures = checker.atoms(answer, spans)
    read: dict[str, list[str]] = {}
    for relation in assessment["relations"]:
        read.setdefault(relation["to"], []).append(relation["from"])
    atoms: list[Atom] = []
    owners: dict[str, list[int]] = {}
    unsplit: dict[int, str] = {}
    for number, atom in enumerate(split):
        places = [span for span in (atom.span, *atom.repeats) if span is not None]
        own = [i for i, new in zip(written, spans, strict=True) if any(map(new.overlaps, places))]
        unsplit |= dict.fromkeys(own, failures[atom.id]) if atom.id in failures else {}
        ids = (c["id"] for i in own for c in units[i].claims)
        passages = dict.fromkeys(context for id_ in ids for context in read.get(id_, ()))
        # Apart from the passages' ids, which a record chooses freely.
        id_ = f"edited:{number}"
        atoms.append(replace(atom, id=id_, context_ids=tuple(passages)))
        owners[id_] = own
    run = to_dict(checker.verify(Record(answer, tuple(atoms), contexts_of(assessment, name))))
    found = {}
    for i in written:
        claims = [a for a in run["atoms"] if i in owners[a["id"]]]
        found[i] = (
            _Checked(refused=unsplit[i]) if i in unsplit else _judged(units[i], written[i], claims)
        )
    return found, tuple(run["run"]["models"])


def _judged(unit: _Unit, new: str, claims: Sequence[_Row]) -> _Checked:
    """Whether a new sentence stands.

    Each of its claims has to be supported; one that the old sentence made, too, may be
    left as unsupported as it was, and is marked. One at least has to be new.
    """
    open_before = {normalised(c["text"]) for c in unit.of(*_OPEN)}
    before = {normalised(c["text"]) for c in unit.claims}
    # Split anew, an old claim may have other words. It is old if the sentence denies as much as
    # before, and nothing that is new in it is in the claim.
    as_before = bool(open_before) and negations(new) == negations(unit.text)
    fresh = words_and_numbers(new) - words_and_numbers(unit.text)
    looked_at = tuple(c for c in claims if c["verdict"] != "skipped")
    for claim in looked_at:
        old = normalised(claim["text"]) in open_before or (
            as_before and not fresh & words_and_numbers(claim["text"])
        )
        if claim["verdict"] != "supported" and not (claim["verdict"] in _OPEN and old):
            said = claim["verdict"].replace("_", " ")
            return _Checked(looked_at, f"the rewriting is {said} itself: {claim['text']}")
    if all(normalised(c["text"]) in before for c in looked_at):
        return _Checked(looked_at, "the rewriting claims nothing else")
    return _Checked(looked_at)


# ------------------------------------------------------------------- editing


def _edit(
    assessment: _Row,
    unit: _Unit,
    draft: Draft | None,
    checked: _Checked | None,
    unsupported: Unsupported,
) -> Edit | None:
    """What becomes of a sentence; None for one that may stay as it is."""
    claims = unit.of(*_UNSUPPORTED)
    if not claims:
        return None
    if draft and draft.text is not None and checked and checked.refused is None:
        rest = unit.of(*_OPEN) if unsupported != "keep" else ()
        new = _with_markers(assessment, draft.text, rest)
        return Edit("replace", unit.span, unit.text, new, claims, checked.claims)
    reason = (checked.refused if checked else None) or (draft.refused if draft else None)
    if unsupported == "keep":
        return Edit("keep", unit.span, unit.text, unit.text, claims, refused=reason)
    if unsupported == "remove" and not unit.of("supported", "conflicting", "undecided", "unscored"):
        return Edit("remove", unit.span, unit.text, "", claims, refused=reason)
    new = _with_markers(assessment, unit.text, claims)
    action: Literal["mark", "keep"] = "keep" if new == unit.text else "mark"
    return Edit(action, unit.span, unit.text, new, claims, refused=reason)


def _with_markers(assessment: _Row, sentence: str, claims: Sequence[_Row]) -> str:
    """The sentence with what is to be said of its claims, unless that stands there already."""
    for marker in dict.fromkeys(_marker(assessment, claim) for claim in claims):
        if marker not in sentence:
            sentence = marked(sentence, marker)
    return sentence


def _marker(assessment: _Row, claim: _Row) -> str:
    places = dict.fromkeys(one_line(c.place) for c in shown(assessment, claim))
    if claim["verdict"] == "contradicted":
        return f"[contradicted by {', '.join(places)}]"
    if claim["verdict"] == "conflicting":
        return f"[sources disagree: {', '.join(places)}]"
    if claim["verdict"] == "undecided":
        return f"[not decided by {', '.join(places)}]"
    return UNVERIFIED


def shown(assessment: _Row, claim: _Row) -> list[Any]:
    """The citations that an edit rests on: of a conflict both sides, else the deciding one."""
    found = list(citations(assessment, claim))
    return found if claim["verdict"] == "conflicting" else found[:1]


def _removed(text: str, edits: Sequence[Edit], sentences: Sequence[Span]) -> list[Edit]:
    """Removals with the space or the line that goes with them; neighbours become one."""
    found: list[Edit] = []
    for edit in edits:
        last = found[-1] if found else None
        if last and last.action == edit.action == "remove":
            between = text[last.span.end : edit.span.start]
            if not between.strip() and "\n" not in between:
                span = Span(last.span.start, edit.span.end)
                found[-1] = replace(last, span=span, claims=(*last.claims, *edit.claims))
                continue
        found.append(edit)
    wide = [
        replace(e, span=without(text, e.span, sentences)) if e.action == "remove" else e
        for e in found
    ]
    return [replace(e, old=e.span.of(text)) for e in wide]
