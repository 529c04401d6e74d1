"""What holds of quantities in any text."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from factcheck_local.pipeline.relation.quantities import Status, compare_quantities

_PIECES = st.sampled_from(
    "5 12 1,200 1.200 3.5 2024 1987 0 -7 half dozen twelve million k % $ € EUR GB MB weeks days km "
    "°C March May 14 th st 03/04/2024 2024-03-14 9:30 am pm noon century 1990s BC Python version "
    "v7.2 1.2.3 1.2.3.4.5th ft in 10^3 5e-3 twice daily "
    "ISO A380 # § about over least at up to from between and or – - ( ) . , ; one of "
    "the employees not only ½ first 21st per year a \n quarter past".split(" ")
)
_NOISE = st.lists(_PIECES, max_size=14).map(" ".join)
_TEXTS = st.one_of(st.text(max_size=80), _NOISE)


@given(_TEXTS, _TEXTS)
@settings(max_examples=400, deadline=None)
def test_any_text_is_compared(passage: str, claim: str) -> None:
    match = compare_quantities(passage, claim)
    for c in match.comparisons:
        assert claim[c.claim.start : c.claim.end] == c.claim.text


@given(_TEXTS)
@settings(max_examples=300, deadline=None)
def test_a_text_agrees_with_itself(text: str) -> None:
    match = compare_quantities(text, text)
    assert {c.status for c in match.comparisons} <= {Status.MATCHED}


@given(_NOISE, _NOISE, _NOISE)
@settings(max_examples=300, deadline=None)
def test_a_passage_that_contains_the_claim_never_mismatches(
    before: str, claim: str, after: str
) -> None:
    assert not compare_quantities(f"{before}\n\n{claim}\n\n{after}", claim).n_mismatched


@given(
    st.integers(1, 9999),
    st.sampled_from([("GB", "MB"), ("TB", "GB"), ("km", "m"), ("kg", "g"), ("kW", "W")]),
    st.booleans(),
)
def test_units_are_symmetric(value: int, units: tuple[str, str], swapped: bool) -> None:
    texts = [f"The unit has {value} {units[0]}.", f"The unit has {value * 1000} {units[1]}."]
    passage, claim = reversed(texts) if swapped else texts
    match = compare_quantities(passage, claim)
    assert [c.status for c in match.comparisons].count(Status.MATCHED) == 1


@given(st.integers(2, 500), st.integers(2, 500))
def test_whole_numbers_agree_when_equal(said: int, written: int) -> None:
    match = compare_quantities(
        f"The board has {written} members.", f"The board has {said} members."
    )
    expected = Status.MATCHED if said == written else Status.MISMATCHED
    assert [c.status for c in match.comparisons] == [expected]


@given(st.integers(2, 90), st.integers(1, 90))
def test_a_floor_excludes_what_lies_below(limit: int, said: int) -> None:
    match = compare_quantities(
        f"The server needs at least {limit} kg of salt.", f"The server needs {said} kg of salt."
    )
    expected = (
        Status.MISMATCHED if said < limit else Status.MATCHED if said == limit else Status.OPEN
    )
    assert [c.status for c in match.comparisons] == [expected]
