"""What rules on owner, front matter, age and succession make of a prior, and access labels."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck_local.core.errors import DocumentError, ProfileError
from factcheck_local.indexer.loaders import load
from factcheck_local.indexer.reliability import (
    ReliabilityProfile,
    check_statements,
    storable,
    visible,
)
from factcheck_local.indexer.reliability.access import own_groups
from factcheck_local.indexer.reliability.profile import Reliability, decayed
from factcheck_local.indexer.reliability.rules import AccessRule, SourceRule

from .helpers import of_document, of_source, write

TODAY = date(2025, 6, 30)

PROFILE = """\
default = 0.8
half_life_days = 1000
superseded = 0.3

[[source]]
match = "policies/**"
owner = ["Legal", "Works Council"]
prior = 0.98
half_life_days = 365
note = "signed off"

[[source]]
where = { status = "draft", department = ["hr", "finance"] }
prior = 0.4

[[source]]
match = "law/**"
prior = 0.95
half_life_days = inf

[[access]]
match = "hr/**"
groups = ["hr", "board"]

[[access]]
where = { confidential = true }
groups = ["board"]
"""


def profile(folder: Path, text: str = PROFILE) -> ReliabilityProfile:
    write(folder, {"reliability.toml": text})
    return ReliabilityProfile.load(folder / "reliability.toml")


def judged(
    rules: ReliabilityProfile,
    source: str,
    stated: Mapping[str, Any],
    modified: date | None = None,
    superseded_by: str | None = None,
) -> Reliability:
    return rules.reliability(
        [source], storable(stated), today=TODAY, modified=modified, superseded_by=superseded_by
    )


# -------------------------------------------------------------------- conditions


@pytest.mark.parametrize(
    ("source", "stated", "rule"),
    [
        ("policies/a.md", {"owner": "LEGAL"}, "policies/**, owner Legal or Works Council"),
        ("policies/a.md", {"author": "works  council"}, "policies/**, owner"),
        ("policies/a.md", {"Owner": ["HR", "Legal"]}, "policies/**, owner"),
        ("policies/a.md", {"owner": "HR", "author": "Legal"}, "default"),  # the owner counts
        ("policies/a.md", {"owner": "Legal dept."}, "default"),
        ("policies/a.md", {}, "default"),
        ("wiki/a.md", {"owner": "Legal"}, "default"),
        ("a.md", {"status": "Draft", "department": "HR"}, "status draft, department hr or finance"),
        ("a.md", {"status": "draft", "department": ["it", "finance"]}, "status draft, department"),
        ("a.md", {"status": "draft", "department": "it"}, "default"),
        ("a.md", {"status": "draft"}, "default"),
    ],
)
def test_all_conditions_of_a_rule_must_hold(
    tmp_path: Path, source: str, stated: dict[str, Any], rule: str
) -> None:
    assert judged(profile(tmp_path), source, stated).rule.startswith(rule)


@pytest.mark.parametrize(
    ("asked", "value", "holds"),
    [
        ("6", 6, True),
        ("6", "6", True),
        ("6.0", 6, True),
        ("6", 60, False),
        ("1", True, False),
        ("true", True, True),
        ("true", "True", True),
        ("false", 0, False),
        ("2024-03-01", date(2024, 3, 1), True),
        ("2024-03-01", "2024-03-01", True),
        ('"a b"', " A  B ", True),
        ('"B\u00fcro"', "Bu\u0308ro", True),
        ('["x", 7]', [7, 8], True),
        ('"x"', {"x": "x"}, False),
    ],
)
def test_values_are_compared_by_what_they_say(
    tmp_path: Path, asked: str, value: object, holds: bool
) -> None:
    rules = profile(tmp_path, f"[[source]]\nwhere = {{ Key-Name = {asked} }}\nprior = 0.5")
    assert (judged(rules, "a.md", {"key name": value}).prior == 0.5) is holds


def test_conditions_may_stand_in_a_table_of_their_own(tmp_path: Path) -> None:
    rules = profile(tmp_path, '[[source]]\nprior = 0.5\n[source.where]\nstatus = "draft"')
    assert rules.rules == (SourceRule(None, 0.5, where=(("status", ("draft",)),)),)


# --------------------------------------------------------------------------- age


def test_an_old_document_is_believed_less(tmp_path: Path) -> None:
    # 365 days at a half-life of 365: half of 0.98 - 0.5 is left.
    found = judged(
        profile(tmp_path), "policies/a.md", {"owner": "Legal", "date": date(2024, 6, 30)}
    )
    assert found.prior == 0.74
    assert found.rule == (
        "policies/**, owner Legal or Works Council (signed off); 365 days old, half-life 365 days"
    )


def test_the_profiles_half_life_is_for_rules_without_one(tmp_path: Path) -> None:
    # 500 days at a half-life of 1000: 0.5 + 0.3 / sqrt(2) = 0.712132.
    found = judged(profile(tmp_path), "a.md", {}, modified=date(2024, 2, 16))
    assert found == (0.712132, "default; 500 days old, half-life 1000 days")


@pytest.mark.parametrize(
    ("source", "stated", "prior"),
    [
        ("law/a.md", {"date": "1900-01-01"}, 0.95),  # half_life_days = inf
        ("a.md", {"status": "draft", "department": "hr", "date": "1900-01-01"}, 0.4),  # below 1/2
        ("a.md", {"date": "2025-06-30"}, 0.8),
        ("a.md", {"date": "9999-12-31"}, 0.8),  # in the future
        ("a.md", {}, 0.8),  # of no known age
        ("a.md", {"date": "1900-01-01", "reliability": 0.97}, 0.97),  # its own word does not age
    ],
)
def test_what_does_not_age(
    tmp_path: Path, source: str, stated: dict[str, Any], prior: float
) -> None:
    found = judged(profile(tmp_path), source, stated)
    assert found.prior == prior
    assert "old" not in found.rule


def test_the_last_update_is_what_counts(tmp_path: Path) -> None:
    stated = {"date": "2020-01-01", "Last-Modified": "2025-06-29"}
    found = judged(profile(tmp_path), "a.md", stated, modified=date(2022, 1, 1))
    assert found.rule == "default; 1 day old, half-life 1000 days"


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("2025-06-20", 10),
        ("2025-06-20T23:30:00+02:00", 10),
        ("20250620", 10),
        (20250620, 10),
        ("20 June 2025", 10),
        ("June 20th, 2025", 10),
        ("20.6.2025", 10),
        ("6/20/2025", 10),
        ("2025/06/02", 28),
        ("Fri, 20 Jun 2025 10:00:00 +0000", 10),
        ("02/06/2025", 1),  # from here on no date, or more than one: the file's own counts
        ("June 2025", 1),
        ("2025", 1),
        (2025, 1),
        ("20 June 25", 1),
        ("last June", 1),
        ("2025-06-31", 1),
        ("9" * 30, 1),
        (True, 1),
        (["2025-06-20", "2001-01-01"], 10),
    ],
)
def test_how_dates_are_read(tmp_path: Path, text: object, days: int) -> None:
    found = judged(profile(tmp_path), "a.md", {"date": text}, modified=date(2025, 6, 29))
    assert found.rule == f"default; {days} day{'s' * (days > 1)} old, half-life 1000 days"


PRIORS = st.floats(0, 1, exclude_min=True, exclude_max=True)
AGES = st.integers(0, 10**6)
HALF_LIVES = st.floats(0, exclude_min=True)


@given(PRIORS, AGES, AGES, HALF_LIVES)
def test_decay_goes_down_with_age_and_stays_between_a_half_and_the_prior(
    prior: float, age: int, more: int, half_life: float
) -> None:
    young, old = decayed(prior, age, half_life), decayed(prior, age + more, half_life)
    assert min(0.5, prior) <= old <= young <= prior
    assert decayed(prior, 0, half_life) == prior
    if prior <= 0.5:
        assert old == prior


# ------------------------------------------------------------------ supersession


def test_a_superseded_document_is_believed_up_to_the_cap(tmp_path: Path) -> None:
    rules = profile(tmp_path)
    old = judged(rules, "a.md", {"date": "2022-10-04"}, superseded_by="b.md")
    # 1000 days at a half-life of 1000 would leave 0.65.
    assert old == (
        0.3,
        "default; 1000 days old, half-life 1000 days; superseded by b.md",
    )
    own = judged(rules, "a.md", {"reliability": 0.9}, superseded_by="b.md")
    assert own == (0.3, "front matter; superseded by b.md")


def test_the_cap_raises_nothing(tmp_path: Path) -> None:
    own = judged(profile(tmp_path), "a.md", {"reliability": 0.2}, superseded_by="b.md")
    assert own == (0.2, "front matter")


def test_without_a_cap_a_successor_changes_nothing() -> None:
    found = judged(ReliabilityProfile(), "a.md", {}, superseded_by="b.md")
    assert found == (0.9, "default")


STATED = st.dictionaries(
    st.sampled_from(["owner", "status", "date", "version", "updated"]), st.text(max_size=12)
)


@given(PRIORS, PRIORS, STATED, st.sampled_from(["a/b.md", "b.md"]))
def test_without_the_new_keys_nothing_but_the_name_counts(
    default: float, prior: float, stated: dict[str, str], source: str
) -> None:
    rules = ReliabilityProfile(default, (SourceRule("a/**", prior),))
    found = rules.reliability(
        [source], storable(stated), today=TODAY, modified=date(2000, 1, 1), superseded_by="c.md"
    )
    assert found == of_source(rules, source)


# ------------------------------------------------- what a document says of itself


def test_a_wrong_prior_of_its_own_names_the_source() -> None:
    with pytest.raises(DocumentError, match=r"^docs/a\.md: front matter: reliability must be"):
        ReliabilityProfile().reliability(
            ["a.md", "docs/a.md"], {"reliability": "high"}, today=TODAY
        )


def test_the_case_of_a_key_does_not_matter(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "---\nReliability: 0.3\n---\ntext"})
    document = load(tmp_path / "a.md", "a.md")
    assert of_document(ReliabilityProfile(), document) == (0.3, "front matter")


@pytest.mark.parametrize(
    ("yaml", "line", "message"),
    [
        ("access: 3", 3, "access must be a list of group names, got 3"),
        ("Access:", 3, "access must be a list of group names, got None"),
        ("access: ''", 3, "access must name at least one group"),
        ("access: []", 3, "access must name at least one group"),
        ("access: {groups: [hr]}", 3, "access must be a list of group names, got {'groups'"),
        ("access: [hr, 7]", 3, "access must be a list of group names, got ['hr', 7]"),
        ("access: [hr, the board]", 3, "access must be names without blanks and commas"),
        ("\naccess: 3", 4, "access must be a list"),
        ("accessory: 1\n'access' : 3", 4, "access must be a list"),
    ],
)
def test_an_access_that_names_no_group_is_an_error(
    tmp_path: Path, yaml: str, line: int, message: str
) -> None:
    write(tmp_path, {"a.md": f"---\ntitle: x\n{yaml}\n---\ntext"})
    document = load(tmp_path / "a.md", "a.md")
    with pytest.raises(DocumentError) as caught:
        check_statements(document)
    assert str(caught.value).startswith(f"a.md: front matter, line {line}: {message}")
    assert own_groups(storable(document.metadata)) == frozenset()  # nobody, wherever it is asked


# ------------------------------------------------------------------------ access


@pytest.mark.parametrize(
    ("source", "stated", "groups"),
    [
        ("wiki/a.md", {}, None),
        ("hr/a.md", {}, {"hr", "board"}),
        ("wiki/a.md", {"confidential": True}, {"board"}),
        ("hr/a.md", {"confidential": True}, {"hr", "board"}),  # the first rule that holds
        ("wiki/a.md", {"access": "hr, it"}, {"hr", "it"}),
        ("wiki/a.md", {"access": ["it"]}, {"it"}),
        ("wiki/a.md", {"Access": "it"}, {"it"}),
        ("hr/a.md", {"access": "hr it"}, {"hr"}),
        ("hr/a.md", {"access": "it"}, set()),
        ("hr/a.md", {"access": "HR"}, set()),  # names are compared as they are written
        ("wiki/a.md", {"access": {"groups": ["it"]}}, set()),
        ("wiki/a.md", {"access": None}, set()),
        ("wiki/a.md", {"access": 5}, set()),
        ("wiki/a.md", {"access": ["it", "the board"]}, set()),
    ],
)
def test_groups(
    tmp_path: Path, source: str, stated: dict[str, Any], groups: set[str] | None
) -> None:
    found = profile(tmp_path).groups([source], storable(stated))
    assert found == (None if groups is None else frozenset(groups))


@pytest.mark.parametrize(
    ("groups", "asks", "expected"),
    [
        (None, set(), True),
        (None, {"it"}, True),
        ({"hr", "board"}, {"it", "hr"}, True),
        ({"hr"}, {"it"}, False),
        ({"hr"}, set(), False),
        (set(), {"hr"}, False),
        (set(), None, True),  # the owner of the store
        ({"hr"}, None, True),
    ],
)
def test_visible(groups: set[str] | None, asks: set[str] | None, expected: bool) -> None:
    allowed = None if groups is None else frozenset(groups)
    assert visible(allowed, None if asks is None else frozenset(asks)) is expected


GROUPS = st.none() | st.frozensets(st.sampled_from("abc"), min_size=1)


@given(GROUPS, GROUPS, st.frozensets(st.sampled_from("abc")))
def test_nobody_sees_what_document_or_rule_keeps_from_them(
    own: frozenset[str] | None, ruled: frozenset[str] | None, asks: frozenset[str]
) -> None:
    rules = () if ruled is None else (AccessRule("**", ruled),)
    stated = {} if own is None else {"access": sorted(own)}
    groups = ReliabilityProfile(access=rules).groups(["x.md"], storable(stated))
    # With one group at a time, both must allow it.
    for group in asks:
        one = frozenset({group})
        assert visible(groups, one) is (visible(own, one) and visible(ruled, one))


# ------------------------------------------------------------------------ errors


RULE = '[[source]]\nmatch = "a/**"\nprior = 0.5\n'
ACCESS = '[[access]]\nmatch = "a/**"\n'


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("half_life_days = 0", 1, "half_life_days must be a number of days above 0, got 0"),
        ("\nhalf_life_days = -3.5", 2, "half_life_days must be a number of days above 0"),
        ("half_life_days = nan", 1, "half_life_days must be a number of days above 0, got nan"),
        ("half_life_days = true", 1, "half_life_days must be a number of days above 0"),
        ('half_life_days = "1 year"', 1, "half_life_days must be a number of days above 0"),
        ("superseded = 1", 1, "superseded must be between 0 and 1, both excluded, got 1"),
        ("default = 0.5\nsuperseded = 0.0", 2, "superseded must be between 0 and 1"),
        ("superseded = false", 1, "superseded must be a number between 0 and 1, got False"),
        ("versions_by_name = 1", 1, "versions_by_name must be true or false, got 1"),
        ('versions_by_name = "yes"', 1, "versions_by_name must be true or false"),
        ("half_life_days = 9\n" + RULE + "half_life_days = 0", 5, "half_life_days must be"),
        (RULE + RULE + "half_life_days = []", 7, "half_life_days must be a number"),
        (RULE + 'owner = ""', 4, "owner must be a short text, a number, a date, true or false"),
        (RULE + "owner = []", 4, "owner must be a short text"),
        (RULE + f'owner = "{"x" * 201}"', 4, "owner must be a short text"),
        (RULE + "owner = [[1]]", 4, "owner must be a short text"),
        (RULE + 'where = "draft"', 4, 'where must be like { status = "draft" }, got'),
        (RULE + "where = {}", 4, "where must be like"),
        (RULE + "where = { a = 1, status = [] }", 4, "where: status must be a short text"),
        (RULE + "where.status = { a = 1 }", 4, "where: status must be a short text"),
        (RULE + "\n[source.where]\nstatus = []", 5, "where: status must be a short text"),
        (RULE + "[source.where]\na = []\n" + RULE + "where = {b = 1}", 4, "where: a must be"),
        ("[[source]]\nprior = 0.5", 1, "[[source]] lacks 'match', 'owner' or 'where'"),
        (RULE + '[[source]]\nowner = "x"', 4, "[[source]] lacks 'prior'"),
        (RULE + "groups = ['hr']", 4, "unknown key 'groups' in [[source]]"),
        (ACCESS, 1, "[[access]] lacks 'groups'"),
        (RULE + "[[access]]\ngroups = ['hr']", 4, "[[access]] lacks 'match', 'owner' or 'where'"),
        (ACCESS + "groups = []", 3, "groups must name at least one group"),
        (ACCESS + 'groups = "hr"', 3, "groups must be a list of group names, got 'hr'"),
        (ACCESS + "groups = ['hr', 3]", 3, "groups must be a list of group names"),
        (ACCESS + "groups = ['the board']", 3, "groups must be names without blanks and commas"),
        (ACCESS + "groups = [\n'hr',\n'a,b']", 3, "groups must be names without blanks"),
        (ACCESS + "groups = ['']", 3, "groups must be names without blanks and commas, got ''"),
        (ACCESS + "'groups' = ['a\\tb', 3]", 3, "groups must be a list"),
        (ACCESS + "groups = ['hr']\nprior = 0.5", 4, "unknown key 'prior' in [[access]]"),
        (RULE + "prior2 = 1\n" + ACCESS + "groups = []", 4, "unknown key 'prior2'"),
        (ACCESS + "groups = ['hr']\n" + RULE.replace("0.5", "5"), 6, "prior must be between"),
        (ACCESS + "groups = ['hr']\n" + RULE.replace('"a/**"', '"!a"'), 5, "match must be a glob"),
        ("[access]\ngroups = ['hr']", 1, "access must be tables [[access]]"),
        ("access = [{match = 'a', groups = []}]\nsuperseded = 0.3", 1, "groups must name"),
        (
            "source = [{match = 'a', prior = 0.5, half_life_days = 0}]\nhalf_life_days = 9",
            1,
            "half_life_days must be",
        ),
        (RULE + '[where]\nstatus = "x"', 4, "unknown key 'where' in the profile"),
        ("# [[source]]\n[[ source ]]\nprior = 2\nmatch = 'a'", 3, "prior must be between"),
        ("# a\u2028b\ndefault = 2", 2, "default must be between"),  # one line, for TOML
        ("default = " + "9" * 5000, 1, "Exceeds the limit"),
    ],
)
def test_errors_name_the_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    with pytest.raises(ProfileError) as caught:
        profile(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / 'reliability.toml'}:{line}: {message}")
    assert "\n" not in str(caught.value)


def test_all_keys_at_once(tmp_path: Path) -> None:
    assert profile(tmp_path, PROFILE + "\n") == ReliabilityProfile(
        default_prior=0.8,
        rules=(
            SourceRule(
                "policies/**", 0.98, "signed off", (("owner", ("Legal", "Works Council")),), 365
            ),
            SourceRule(
                None, 0.4, None, (("status", ("draft",)), ("department", ("hr", "finance")))
            ),
            SourceRule("law/**", 0.95, half_life_days=float("inf")),
        ),
        half_life_days=1000,
        superseded=0.3,
        access=(
            AccessRule("hr/**", frozenset({"hr", "board"})),
            AccessRule(None, frozenset({"board"}), (("confidential", (True,)),)),
        ),
    )
