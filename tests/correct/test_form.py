"""Lines, marks and links of a sentence stay with it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck_local.correct.form import bare, changed, fitted, plain, standing
from factcheck_local.correct.replace import Wrong

from .helpers import Writer, refusal, rewrite


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        # A quotation, a hard break of either kind, and the lines of an item.
        ("Leave is 30 days\n> and it expires.", "Leave is 25 days and it expires.", "25"),
        ("Leave is 30 days,  \nand it expires.", "Leave is 25 days, and it expires.", "25"),
        ("Leave is 30 days,\\\nand it expires.", "Leave is 25 days, and it expires.", "25"),
        ("Leave is 30 days\r\n  and it expires.", "Leave is 25 days and it expires.", "25"),
        ("Leave is\n30 days.", "Leave is 25 days.", "25"),
        # Marks that the model dropped, around what stays and around what changes.
        ("The **Pro** plan of `hub` has 30 rules.", "The Pro plan of hub has 25 rules.", "25"),
        ("The Pro plan has **30** rules.", "The Pro plan has 25 rules.", "25"),
        ("The Pro plan has **30 rules.**", "The Pro plan has 25 rules.", "25"),
        ("**Leave is 30 days.", "Leave is 25 days.", "25"),
        # Brackets and quotation marks within the marks, and around them.
        ("Call `limit(30)` for all in Kiel.", "Call limit(25) for all in Kiel.", "25"),
        ('Call `size="30"`, then `a.b(30)`.', 'Call size="25", then a.b(25).', "25"),
        ("The Pro plan has **(30)** rules.", "The Pro plan has (25) rules.", "25"),
        ("The Pro plan has (**30**) rules.", "The Pro plan has (25) rules.", "25"),
        # The final stop.
        ("Leave is 30 days.", "Leave is 25 days", "25"),
        ("Leave is 30.", "Leave is 25", "25"),
        ("Leave is 30!", "Leave is 25!", "25"),
        ("It is `30`", "It is `25`", "25"),
        ("Annual leave: 30", "Annual leave: 25.", "25"),
        ("**Annual leave: 30**", "**Annual leave: 25.**", "25"),
        ("Annual leave: `30`", "Annual leave: 25.", "25"),
        ("Remove it by `make 30.`", "Remove it by make 25.", "25"),
    ],
)
def test_a_rewriting_keeps_the_form_of_its_sentence(old: str, new: str, expected: str) -> None:
    assert fitted(new, old) == old.replace("30", expected)
    assert rewrite(old, [Wrong(old, "25")], Writer(new)) == old.replace("30", expected)


def test_a_line_ends_where_words_went() -> None:
    old = "Leave is thirty working\n> days a year."
    assert fitted("Leave is 25 days a year.", old) == "Leave is 25\n> days a year."
    # With nothing behind it there is no place for it.
    old = "Leave in Kiel is 30 days for all of the staff,  \nwho like it."
    writer = Writer("Leave in Kiel is 25 days for all the staff.")
    why = refusal(old, [Wrong(old, "25")], writer)
    assert why == "the rewriting does not keep the lines of the sentence"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("Leave is **30** working days.", "Leave is 25 days.", "Leave is **25** days."),
        ("Leave is **30** working days.", "Leave is 25 net days.", "Leave is **25** net days."),
        ("Leave is net **30** days.", "Leave is 25 days.", "Leave is **25** days."),
        ("Leave is net **30 days.**", "Leave is 25 days.", "Leave is **25 days.**"),
        ("Leave **is 30** net days.", "Leave is 25 days.", "Leave **is 25** days."),
        ("Leave is **30** net days.", "Leave is up **25** days.", "Leave is up **25** days."),
        ("Take **30**, not more.", "Take 25 or more.", "Take **25** or more."),
        ('Take "**30**" days.', "Take 25 days.", "Take **25** days."),
        # Marks of what is on either side go with neither.
        ("**It is 30** or **31 days.**", "It is 25 days.", "**It is 25 days.**"),
    ],
)
def test_marks_stay_in_pairs_where_words_beside_them_go(old: str, new: str, expected: str) -> None:
    assert fitted(new, old) == expected


@given(st.lists(st.sampled_from(["a", "b.", "**c**", "`d`", "_e_", "5"]), min_size=1, max_size=9))
def test_a_sentence_fits_itself_however_it_is_marked(words: list[str]) -> None:
    text = "\n> ".join(words)
    assert fitted(plain(text), text) == text


WORDS = st.lists(
    st.sampled_from(["a", "B", "b.", "**c**", "`d`", "_e_", "5", "5,", "(*5*),"]), min_size=1
)


@given(WORDS, WORDS, st.sampled_from([" ", "\n> ", "  \n"]))
def test_a_rewriting_says_in_its_form_what_it_said(
    old: list[str], new: list[str], gap: str
) -> None:
    text = fitted(" ".join(new), gap.join(old))
    assert bare(text).rstrip(".").split() == bare(" ".join(new)).rstrip(".").split()


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("The **Pro** plan has 30 rules.", "The Pro tariff has 25 rules.", None),
        ("*Paid* leave in Kiel is 30 days.", "Leave in Kiel is 25 days.", "drops"),
        ("Leave is 30 days.", "Leave is **25 days.", "adds"),
        ("Leave is 30 days.", "Leave is `25` days.", "adds"),
    ],
)
def test_marks_are_as_many_as_before(old: str, new: str, why: str | None) -> None:
    case = old, [Wrong(old, "25 tariff vacation")], Writer(new)
    if why is None:
        assert rewrite(*case) == "The **Pro** tariff has 25 rules."
    else:
        assert f"the rewriting {why} " in refusal(*case)


@pytest.mark.parametrize(
    "link",
    [
        "[leave](https://en.wikipedia.org/wiki/Leave_(work))",
        '[leave](https://h/leave "The page")',
        "[leave](<my file.md>)",
        "[leave][1]",
        "[leave]",
        "leave[^2]",
        "https://intra/leave",
        "<https://intra/leave>",
        "![leave](plan.png)",
        "leave<br>",
    ],
)
def test_links_are_those_of_the_sentence(link: str) -> None:
    plain_old = "Annual leave in Kiel is 30 days and expires in March."
    linked = plain_old.replace("leave", link)
    passage = f"Annual {link} in Kiel is 25 days. leave"
    wrong = [Wrong(plain_old, passage)]
    new = linked.replace("30", "25")
    assert rewrite(linked, wrong, Writer(new)) == new
    without = Writer(plain_old.replace("30", "25"))
    dropped = refusal(linked, [Wrong(linked, passage)], without)
    assert dropped == "the rewriting drops a link, a footnote or other markup"
    # Where the claim has nothing of it, what is right is put in without the rest.
    assert rewrite(linked, wrong, without) == new
    # Nothing that a document shows or links to gets into the answer.
    added = refusal(plain_old, wrong, Writer(new))
    assert added == "the rewriting adds a link, an image or other markup"


def test_a_link_goes_where_it_went() -> None:
    old = "See [the page](https://h/a) of 30 rules."
    writer = Writer(old.replace("h/a", "h/b"))
    why = refusal(old, [Wrong(old, "25 rules https://h/b")], writer)
    assert why == "the rewriting drops a link, a footnote or other markup"
    new = "See [the leaflet](https://h/a) of 25 rules."
    assert rewrite(old, [Wrong(old, "The leaflet of 25 rules")], Writer(new)) == new


@pytest.mark.parametrize("begins", ["- ", "# ", "> ", "1. ", "<div>", "[x]: "])
def test_a_sentence_becomes_no_other_block(begins: str) -> None:
    old = "Annual leave in Kiel is 30 days."
    writer = Writer(begins + old.replace("30", "25"))
    assert "markup" in refusal(old, [Wrong(old, "25 1 x div")], writer)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("Leave is 30 days.", "Leave is 25 days.", ("30", "25")),
        ("**Leave** is 30.", "Leave is 25.", ("30", "25")),
        ("Pets may come.", "Pets may not come.", ("may", "may not")),
        ("Pets may not come.", "Pets may come.", ("may not", "may")),
        ("Pets may come.", "No pets may come.", ("Pets", "No pets")),
        ("It is 7 a day, all 9.", "It is 8 a day, all 10.", ("7 a day, all 9", "8 a day, all 10")),
        ("It is (30) days.", "It is (25) days.", ("30", "25")),
        ("Leave is **30** days.", "Leave is 30 days.", ("", "")),
        ("One", "Two words", ("One", "Two words")),
    ],
)  # fmt: skip
def test_what_changed_is_one_run_of_words(old: str, new: str, expected: tuple[str, str]) -> None:
    assert changed(old, new) == expected


def test_words_stand_by_themselves() -> None:
    text = "25 of K-25 and 25.5, (25), 1,25 or 25."
    assert [m.start() for m in standing("25", text)] == [0, 22, len(text) - 3]
