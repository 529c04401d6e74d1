"""Compares the quantities of a claim with those of a passage.

Nothing here is learned: what comes out is a feature beside a relation model's
probabilities, from which a veto can be made. In doubt the status is ``OPEN``.
"""

from __future__ import annotations

import re
from enum import IntEnum

from factcheck_local.core.text.wording import negations
from factcheck_local.pipeline.relation.quantities.dates import YEAR, YEARLY
from factcheck_local.pipeline.relation.quantities.numerals import find_numerals
from factcheck_local.pipeline.relation.quantities.parse import Parsed, parse
from factcheck_local.pipeline.relation.quantities.values import (
    Bound,
    Kind,
    Quantity,
    QuantityComparison,
    QuantityMatch,
    Reading,
    Status,
)

#: Relative difference at which values are the same number.
_SAME = 1e-9
#: Furthest that a hedge or a rounding reaches, relative to the value.
_REACH = 0.1
#: Furthest that two units of one dimension may differ by conversion, likewise:
#: a month is 30.4 days, 5 km are 3.1 miles.
_CONVERSION = 0.03
#: Share of a claim's content words that stand in a sentence whose number speaks against it.
#: Counted by ``benchmarks.quantities``: below it true claims clash as often as false ones.
_NEAR = 0.6
_NO_NEGATION = re.compile(r"\bnot only\b|\b(?:no|not) \w+ than\b", re.IGNORECASE)


class _Fit(IntEnum):
    """How two quantities stand to each other; the larger, the better."""

    CLASH = 0
    OPEN = 1
    MATCH = 2


def compare_quantities(passage: str, claim: str) -> QuantityMatch:
    """Compares each quantity of a claim with those of a passage.

    Args:
        passage: Evidence, of some sentences.
        claim: What is to be checked. It may be of several sentences.

    Returns:
        The status of every quantity of the claim that is not part of a name.
        What counts against the claim is the sentence nearest to it, the one
        with the largest share of its words: "10 days" elsewhere does not bear
        out ten days of leave where the sentence on leave says five. How
        numbers agree:

        - "About 5 million" agrees with 5.1 million: the passage's value is
          within half the last written digit that is no trailing zero, and
          within 10 %. Twice as far is open.
        - Unhedged, 5 million is open against 5.1 million and 20 against 21 a
          mismatch: only a scale word, decimals or "000" show a rounding.
        - A point within a range or a bound of the passage is open; outside it
          is a mismatch; a limit itself ("up to 20", 20) agrees.
        - Two limits ("at least 8 GB", "at least 4 GB") have to be the same;
          "more than 5" against "more than 10" is open.
        - A date agrees with any date within it; a finer one is open.

        Never raises on any text.
    """
    evidence = parse(passage)
    stated = parse(claim)
    fits = [[_fit(c, q) for q in evidence.quantities] for c in stated.quantities]
    # What states one number of the claim is no rival of another: born in 1918,
    # ruined in 1929. And the opposite of a negated claim is not its refutation.
    taken = {i for row in fits for i, fit in enumerate(row) if fit is _Fit.MATCH}
    # A number without a unit may have it in the header of its column, or in a word left out.
    loose = evidence.loose | {
        value
        for q in evidence.quantities
        if q.kind is Kind.NUMBER and not q.unit
        for reading in q.readings
        for value in reading
    }
    negated = negations(_NO_NEGATION.sub(" ", claim)) > 0
    return QuantityMatch(
        tuple(
            QuantityComparison(
                c, _status(c, row, evidence, loose, frozenset() if negated else stated.words, taken)
            )
            for c, row in zip(stated.quantities, fits, strict=True)
            if not c.weak
        )
    )


def _status(
    claim: Quantity,
    fits: list[_Fit | None],
    evidence: Parsed,
    loose: frozenset[float],
    words: frozenset[str],
    taken: set[int],
) -> Status:
    best: _Fit | None = None
    # How near to the claim a rival stands, and what is none, as the share of its words.
    against, other = 0.0, 0.0
    for i, (q, fit) in enumerate(zip(evidence.quantities, fits, strict=True)):
        if fit is None or (fit is _Fit.CLASH and q.weak):
            continue
        best = fit if best is None else max(best, fit)
        if fit is not _Fit.CLASH:
            other = max(other, _shared(words, evidence, i))
        elif i not in taken and _is_opposable(claim, q):
            against = max(against, _shared(words, evidence, i))
    if best is None:
        return Status.ABSENT
    if against >= _NEAR and against > other and not _number_of(claim) & loose:
        return Status.MISMATCHED
    return Status.MATCHED if best is _Fit.MATCH else Status.OPEN


def _shared(words: frozenset[str], evidence: Parsed, i: int) -> float:
    """Which share of the claim's words stands in the sentence of a quantity, 0 for none."""
    at = evidence.sentence_of[i]
    return len(words & evidence.sentences[at]) / len(words) if at >= 0 and words else 0.0


def _number_of(q: Quantity) -> frozenset[float]:
    """The number as it is written, without its unit."""
    if q.kind is Kind.DATE:
        return frozenset(low // YEAR for low, _ in q.readings)
    return frozenset(v for n in find_numerals(q.text) if not n.weak for v in n.values)


def _is_opposable(claim: Quantity, q: Quantity) -> bool:
    """Whether two quantities that differ speak of the same thing."""
    if claim.rate and q.rate and claim.rate != q.rate:
        return False
    if claim.kind in (Kind.NUMBER, Kind.ORDINAL):
        return bool(claim.unit)
    return True


def _fit(claim: Quantity, q: Quantity) -> _Fit | None:
    """How two quantities agree, None where they cannot be compared."""
    if claim.kind is not q.kind:
        return None
    if claim.unit != q.unit:
        return _fit_across(claim, q)
    if claim.text.lower() == q.text.lower() and claim.bound is q.bound:
        return _Fit.MATCH
    fits = [_fit_readings(claim, a, q, b) for a in claim.readings for b in q.readings]
    if claim.ambiguous or q.ambiguous:
        return _Fit.OPEN
    return max(fits, default=None)


def _fit_across(claim: Quantity, q: Quantity) -> _Fit | None:
    """Units that differ in name: other nouns, a product not named, a date without year."""
    if claim.kind is Kind.DATE:
        return _fit_in_year(claim, q)
    if claim.kind is Kind.VERSION and not (claim.unit and q.unit):
        return max(_fit_readings(claim, a, q, b) for a in claim.readings for b in q.readings)
    if claim.kind in (Kind.NUMBER, Kind.ORDINAL) and not q.weak:
        # "12 staff" may be the "12 employees"; 10 staff are not their opposite.
        same = any(
            _fit_readings(claim, a, q, b) is _Fit.MATCH for a in claim.readings for b in q.readings
        )
        return _Fit.MATCH if same and not (claim.ambiguous or q.ambiguous) else None
    return None


def _fit_in_year(claim: Quantity, q: Quantity) -> _Fit | None:
    """Compares days of the year where one date has no year."""
    pairs = []
    for a in claim.readings:
        for b in q.readings:
            if a[1] - a[0] > 31 or b[1] - b[0] > 31:
                return None
            pairs.append((_in_year(a), _in_year(b)))
    if claim.bound or q.bound or claim.ambiguous or q.ambiguous:
        return _Fit.OPEN
    fits = [_fit_spans(a, b) for a, b in pairs]
    best = max(fits)
    # The day agrees, the year of the claim does not stand there.
    return _Fit.OPEN if best is _Fit.MATCH and q.unit == YEARLY else best


def _in_year(r: Reading) -> Reading:
    return (r[0] % YEAR, r[1] % YEAR)


def _fit_spans(a: Reading, b: Reading) -> _Fit:
    """Dates and versions: the claim may be coarser, not finer."""
    if a[0] <= b[0] and b[1] <= a[1]:
        return _Fit.MATCH
    return _Fit.OPEN if a[0] <= b[1] and b[0] <= a[1] else _Fit.CLASH


def _fit_readings(claim: Quantity, a: Reading, q: Quantity, b: Reading) -> _Fit:
    if claim.bound is Bound.NONE and q.bound is Bound.NONE:
        if claim.kind in (Kind.DATE, Kind.VERSION):
            return _fit_spans(a, b)
        return _fit_points(claim, a[0], q, b[0])
    if claim.bound.is_range or q.bound.is_range:
        return _fit_ranges(claim, a, q, b)
    return _fit_bounds(claim, a, q, b)


def _fit_points(claim: Quantity, a: float, q: Quantity, b: float) -> _Fit:
    distance, size = abs(a - b), max(abs(a), abs(b))
    if distance <= _SAME * size:
        return _Fit.MATCH
    near, far = _tolerance(claim, a), _tolerance(q, b)
    converted = claim.label != q.label
    if converted:
        coarse = min(_CONVERSION * size, max(claim.step, q.step))
        near = max(near, coarse)
    if claim.hedged and distance <= near * (1 + _SAME):
        return _Fit.MATCH
    if converted and distance <= near:
        return _Fit.MATCH
    doubt = max(2 * near, 2 * far) if claim.hedged or q.hedged else 0.0
    # Half up or cut off: 181.7 million is written as 182 and as 181 million.
    doubt = max(doubt, *(min(_REACH * size, 2 * x.rounding) for x in (claim, q)))
    if converted and (claim.label in _LONG) != (q.label in _LONG):
        doubt = max(doubt, _REACH * size)
    return _Fit.OPEN if distance < doubt * (1 + _SAME) else _Fit.CLASH


_LONG = frozenset({"month", "year", "decade", "century"})


def _tolerance(q: Quantity, value: float) -> float:
    return min(q.step, _REACH * abs(value)) if q.hedged else 0.0


def _interval(q: Quantity, r: Reading) -> Reading:
    if q.bound.opens_up:
        return (r[0], float("inf"))
    return (float("-inf"), r[1]) if q.bound.opens_down else r


def _same_limit(claim: Quantity, a: Reading, q: Quantity, b: Reading) -> bool:
    if claim.kind in (Kind.DATE, Kind.VERSION):
        return _fit_spans(a, b) is _Fit.MATCH
    return _fit_points(claim, a[0], q, b[0]) is _Fit.MATCH


def _fit_bounds(claim: Quantity, a: Reading, q: Quantity, b: Reading) -> _Fit:
    """At least one of the two is a bound and none is a range."""
    strict = Bound.ABOVE in (claim.bound, q.bound) or Bound.BELOW in (claim.bound, q.bound)
    if _same_limit(claim, a, q, b):
        same_way = claim.bound.opens_up == q.bound.opens_up or not (claim.bound and q.bound)
        return _Fit.MATCH if same_way and (claim.bound is q.bound or not strict) else _Fit.OPEN
    if claim.bound and claim.bound is q.bound and claim.bound.is_limit:
        # Limits are facts of their own, but "5 million" may be 5.1 million rounded.
        return _Fit.CLASH if _fit_plain(claim, a, q, b) is _Fit.CLASH else _Fit.OPEN
    wide, other = _interval(claim, a), _interval(q, b)
    if wide[0] <= other[0] and other[1] <= wide[1] and not q.bound:
        return _Fit.OPEN if claim.bound.is_limit else _Fit.MATCH
    if wide[0] <= other[1] and other[0] <= wide[1]:
        return _Fit.OPEN
    return _fit_plain(claim, a, q, b)


def _fit_plain(claim: Quantity, a: Reading, q: Quantity, b: Reading) -> _Fit:
    """The numbers alone, bounds aside; at most open."""
    if claim.kind in (Kind.DATE, Kind.VERSION):
        return min(_Fit.OPEN, _fit_spans(a, b))
    return min(_Fit.OPEN, _fit_points(claim, a[0], q, b[0]))


def _fit_ranges(claim: Quantity, a: Reading, q: Quantity, b: Reading) -> _Fit:
    """At least one of the two is a range."""
    if claim.bound.is_range and q.bound.is_range:
        ends = [abs(x - y) <= _SAME * max(abs(x), abs(y), 1.0) for x, y in zip(a, b, strict=True)]
        if all(ends):
            return _Fit.MATCH
    wide, other = _interval(claim, a), _interval(q, b)
    inside = wide[0] <= other[0] and other[1] <= wide[1]
    if inside and (claim.kind is Kind.DATE or claim.bound is not Bound.RANGE):
        return _Fit.MATCH
    if not claim.bound and (a[0] == b[0] or a[1] == b[1]):
        return _Fit.MATCH
    if wide[0] <= other[1] and other[0] <= wide[1]:
        nested = inside or (other[0] <= wide[0] and wide[1] <= other[1])
        both = claim.bound.is_range and q.bound.is_range and not (claim.hedged or q.hedged)
        return _Fit.CLASH if both and not nested else _Fit.OPEN
    low, high = max(wide[0], other[0]), min(wide[1], other[1])
    slack = max(claim.step if claim.hedged else claim.rounding, q.step if q.hedged else q.rounding)
    return _Fit.OPEN if low - high <= min(slack, _REACH * abs(low)) else _Fit.CLASH
