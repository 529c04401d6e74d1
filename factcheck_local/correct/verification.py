"""The second verification: does a new sentence stand?

Its claims are those of the old one with what was changed put in, where that is one run of words
that can be found in them. Split anew a sentence may come out with other subjects or with claims
in other words, of which neither the verdict nor the place is known. Else it is split as any other.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from factcheck_local.core.text.wording import negations, normalised
from factcheck_local.core.types import Answer, Atom, Kind, Span
from factcheck_local.correct.edits import apply
from factcheck_local.correct.form import bare, changed, standing
from factcheck_local.correct.known import words_and_values
from factcheck_local.correct.units import OPEN, Row, Unit, said
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.claims.records import Record
from factcheck_local.report import to_dict
from factcheck_local.report.stored import contexts_of

#: What joins another claim to one.
_JOINS = re.compile(r"\b(?:and|but|while|whereas|which|where|who|whose)\b|;", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Checked:
    """A new sentence after it was verified.

    Attributes:
        claims: what of it was verified.
        refused: why it does not stand; None if it does.
        still_open: what it claims, verified again or not, that has evidence neither way.
    """

    claims: tuple[Row, ...] = ()
    refused: str | None = None
    still_open: tuple[Row, ...] = ()


def verified(
    assessment: Row,
    units: Sequence[Unit],
    written: Mapping[int, str],
    checker: FactChecker,
    name: str,
) -> tuple[dict[int, Checked], tuple[Row, ...]]:
    """What comes of new sentences, scored against the passages of the old ones.

    Args:
        assessment: of the answer.
        units: its sentences.
        written: the new ones, by their number among these.
        checker: its models verify.
        name: of the assessment, for messages.

    Returns:
        What comes of each, and the models used.

    Raises:
        RecordError: if the assessment is not complete.
    """
    text, question = assessment["answer"]["text"], assessment["answer"]["question"]
    edited, spans = apply(text, [(units[i].span, new) for i, new in written.items()])
    answer = Answer(edited, question=question)
    places = dict(zip(written, spans, strict=True))
    changes = {i: substituted(units[i], new) for i, new in written.items()}
    anew = {i: places[i] for i, change in changes.items() if change is None}
    owned, unsplit = _split(answer, anew, checker)
    owned += [
        (Atom("", now, places[i].of(edited), Kind(claim["kind"]), places[i]), [i])
        for i, change in changes.items()
        for claim, now in change or ()
    ]
    read: dict[str, list[str]] = {}
    for relation in assessment["relations"]:
        read.setdefault(relation["to"], []).append(relation["from"])
    atoms = []
    for number, (atom, own) in enumerate(owned):
        ids = (c["id"] for i in own for c in units[i].claims)
        passages = dict.fromkeys(context for id_ in ids for context in read.get(id_, ()))
        # Apart from the passages' ids, which a record chooses freely.
        atoms.append(replace(atom, id=f"edited:{number}", context_ids=tuple(passages)))
    run = to_dict(checker.verify(Record(answer, tuple(atoms), contexts_of(assessment, name))))
    rows = {row["id"]: row for row in run["atoms"]}
    found = {}
    for i, new in written.items():
        claims = [rows[atom.id] for atom, (_, own) in zip(atoms, owned, strict=True) if i in own]
        if i in unsplit:
            found[i] = Checked(refused=unsplit[i])
        elif (change := changes[i]) is None:
            found[i] = _judged(units[i], new, claims)
        else:
            found[i] = _judged_by_claim(units[i], [claim for claim, _ in change], claims)
    return found, tuple(run["run"]["models"])


def _split(
    answer: Answer, places: Mapping[int, Span], checker: FactChecker
) -> tuple[list[tuple[Atom, list[int]]], dict[int, str]]:
    """The claims of new sentences, each with whose it is, and why some could not be split."""
    if not places:
        return [], {}
    atoms, failures = checker.atoms(answer, list(places.values()))
    owned = [(atom, [i for i, span in places.items() if atom.stands_in(span)]) for atom in atoms]
    unsplit = {i: failures[atom.id] for atom, own in owned if atom.id in failures for i in own}
    return owned, unsplit


def substituted(unit: Unit, new: str) -> list[tuple[Row, str]] | None:
    """The claims that a change of their sentence changes, each with what it says then.

    Args:
        unit: the sentence.
        new: the new one.

    Returns:
        None where it is not known how the claims change: the change is more than one run of
        words, these stand in the sentence or in a claim more than once or in no contradicted
        claim, or a claim may say them in other words, they bring in another claim, or one has
        no verdict.
    """
    was, now = changed(unit.text, new)
    if not was or not now or len(standing(was, bare(unit.text))) != 1:
        return None
    if len(_JOINS.findall(now)) > len(_JOINS.findall(was)) or unit.of("unscored"):
        return None
    found = []
    about = words_and_values(was)
    for claim in unit.claims:
        if claim["verdict"] == "skipped":
            continue
        text = said(claim)
        places = standing(was, text)
        if len(places) > 1:
            return None
        if places:
            at = places[0]
            found.append((claim, f"{text[: at.start()]}{now}{text[at.end() :]}"))
        elif not about or about & words_and_values(text):
            return None
    return found if any(claim["verdict"] == "contradicted" for claim, _ in found) else None


def _judged_by_claim(unit: Unit, before: Sequence[Row], claims: Sequence[Row]) -> Checked:
    """Whether a new sentence stands of which it is known what becomes of each claim.

    What was contradicted or supported has to be supported; what was open may stay so.
    """
    for claim in unit.of("contradicted"):
        if claim not in before:
            return Checked(tuple(claims), f"the rewriting leaves what is wrong: {said(claim)}")
    for old, claim in zip(before, claims, strict=True):
        if claim["verdict"] not in ("supported", *(OPEN if old["verdict"] in OPEN else ())):
            return Checked(tuple(claims), _unsupported(claim))
    unchanged = (claim for claim in unit.claims if claim not in before)
    return Checked(tuple(claims), still_open=_open((*claims, *unchanged)))


def _judged(unit: Unit, new: str, claims: Iterable[Row]) -> Checked:
    """Whether a new sentence stands that was split anew.

    Each of its claims has to be supported; one that the old sentence made, too, may be
    left as unsupported as it was, and is marked. One at least has to be new, and supported.
    """
    before = [said(c) for c in unit.claims if c["verdict"] != "contradicted"]
    wrong = {normalised(said(c)) for c in unit.of("contradicted")}
    open_before = [said(c) for c in unit.of(*OPEN)]
    looked_at = tuple(c for c in claims if c["verdict"] != "skipped")
    for claim in looked_at:
        may_be_open = claim["verdict"] in OPEN and _is_among(claim["text"], open_before, new)
        if claim["verdict"] != "supported" and not may_be_open:
            return Checked(looked_at, _unsupported(claim))
    if all(
        normalised(claim["text"]) in wrong or _is_among(claim["text"], before, new)
        for claim in looked_at
    ):
        return Checked(looked_at, "the rewriting claims nothing else")
    kept = words_and_values(unit.text) & words_and_values(new)
    lost = (
        claim
        for claim in unit.claims
        if words_and_values(said(claim)) & words_and_values(unit.text) <= kept
        and not any(_is_among(row["text"], [said(claim)], new) for row in looked_at)
    )
    return Checked(looked_at, still_open=_open((*looked_at, *lost)))


def _open(claims: Iterable[Row]) -> tuple[Row, ...]:
    return tuple(claim for claim in claims if claim["verdict"] in OPEN)


def _is_among(claim: str, others: Collection[str], sentence: str) -> bool:
    """Whether a claim of a sentence says what one of others says, if in other words.

    What it takes from the sentence is in that one, and it denies as much: "security logs are
    kept for 180 days" is not that server logs are.
    """
    own = words_and_values(claim) & words_and_values(sentence)
    return any(
        normalised(claim) == normalised(other)
        or (own and own <= words_and_values(other) and negations(claim) == negations(other))
        for other in others
    )


def _unsupported(claim: Row) -> str:
    verdict = claim["verdict"].replace("_", " ")
    return f"the rewriting is {verdict} itself: {claim['text']}"
