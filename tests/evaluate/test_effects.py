"""Settings of a benchmark: where they come from, and what changes none of its figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from factcheck_local.core.errors import InputError
from factcheck_local.core.types import Answer, Atom, Context
from factcheck_local.evaluate.collection import Collection, Item
from factcheck_local.evaluate.effects import (
    SPLITTING,
    check_effects,
    compared_line,
    of_collection,
    of_relation,
)
from factcheck_local.evaluate.summary import SUMMARY
from factcheck_local.pipeline.chosen import choose, choose_each
from factcheck_local.pipeline.claims.records import Record
from factcheck_local.pipeline.settings import ASSESSORS, SETTINGS, Settings
from tests.cli.helpers import factcheck, refused

FR = ("fr1", "fr2")
ANSWER, ATOMS, CONTEXTS = Answer("A."), (Atom("a0", "A.", "A."),), (Context("c", "s", "", "A.", 1),)
GIVEN = Record(ANSWER, ATOMS, CONTEXTS)
SEARCHED = Record(ANSWER, ATOMS)
SPLIT = Record(ANSWER)


def effective(record: Record, assessors: tuple[str, ...], *assigned: str) -> frozenset[str]:
    chosen = choose_each(assessors, FR, {}, assigned)
    data = Collection("x", "0" * 64, (Item("i", record),))
    return of_collection(data, {a: one.settings for a, one in chosen.items()})


def test_each_assessor_has_the_settings_that_are_for_it() -> None:
    chosen = choose_each(
        ("fr1", "fr4", "judge"), FR, {"relation": "llm", "k": 2}, ["source_correlation=0.1"]
    )
    assert {a: one.settings for a, one in chosen.items()} == {
        "fr1": Settings(assessor="fr1", relation="llm", k=2),
        "fr4": Settings(assessor="fr4", relation="llm", k=2, source_correlation=0.1),
        "judge": Settings(assessor="judge", k=2),
    }
    line = compared_line({a: one.settings for a, one in chosen.items()})
    said = dict(part.split(":", 1) for part in line.split("|"))
    assert said["assessor"] == "fr1,fr4,judge"
    assert (said["relation"], said["source_correlation"], said["k"]) == ("llm", "0.1", "2")
    assert list(said)[1:] == list(SETTINGS)


def test_a_setting_back_at_its_default_for_one_is_told_as_the_others_have_it() -> None:
    chosen = choose_each(("fr1", "judge"), FR, {"relation": "encoder"})
    assert "|relation:encoder|" in compared_line({a: c.settings for a, c in chosen.items()})


def test_one_assessor_that_a_setting_is_for_is_enough() -> None:
    budget = {"relation": "encoder+llm"}
    assert choose_each(("factscore", "fr2"), FR, budget, ["budget=3"])["fr2"].settings.budget == 3
    assert choose_each(("factscore", "fr2"), FR, {}, ["budget=3"])["fr2"].settings.budget == 3


@pytest.mark.parametrize(
    ("assessors", "options", "assigned", "said"),
    [
        (("factscore",), {"relation": "llm"}, [], "relation: has no effect .* needs assessor=fr1"),
        (("factscore", "judge"), {}, ["strong=0.4"], "--set strong: has no effect"),
        (("fr1", "judge"), {}, ["min_pooled_similarity=0"], "--set min_pooled_similarity: has no"),
        ((), {}, ["source_correlation=0.4"], "--set source_correlation: has no effect"),
        (("fr2", "judge"), {"relation": "llm"}, ["budget=2"], "--set budget: has no effect"),
        ((), {}, ["assessor=factscore"], "factscore is there to be compared"),
    ],
)
def test_one_that_is_for_none_is_refused(
    assessors: tuple[str, ...], options: dict[str, Any], assigned: list[str], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        choose_each(assessors, FR, options, assigned)


def test_the_usual_ones_unless_something_names_another() -> None:
    assert list(choose_each((), FR, {})) == list(FR)
    assert list(choose_each((), FR, {}, [], "careful")) == ["fr4"]
    assert list(choose_each((), FR, {}, ["assessor=fr3"], "careful")) == ["fr3"]
    assert list(choose_each(("fr1",), FR, {}, [], "careful")) == ["fr1"]


def test_a_judge_may_be_shown_what_is_hidden() -> None:
    chosen = choose_each(("judge",), FR, {}, ["cut_instructions=false"])
    assert not chosen["judge"].settings.cut_instructions


def test_what_the_data_bring_is_not_looked_for() -> None:
    retrieval = {"k", "retrieval", "as_groups", "organisation"}
    retrieval |= {"queries", "query_rounds", "rerank"}
    everything = set(SETTINGS)
    assert effective(SPLIT, FR) == everything - {"where"}
    assert effective(SEARCHED, FR) == everything - {"where", "atomizer", "draws"}
    assert effective(GIVEN, FR) == everything - {"where", "atomizer", "draws"} - retrieval
    assert effective(SEARCHED, ("felm-claim",)) == effective(GIVEN, FR)


@pytest.mark.parametrize(
    ("record", "assessors", "assigned", "asked"),
    [
        (GIVEN, FR, ("relation=encoder",), False),
        (GIVEN, FR, ("relation=encoder+smollm2-135m",), False),
        (GIVEN, FR, ("relation=llm",), True),
        (GIVEN, FR, ("relation=encoder", "summarize=true"), True),
        (GIVEN, ("fr2", "judge"), ("relation=encoder",), True),
        (SPLIT, FR, ("relation=encoder",), True),
        (SEARCHED, FR, ("relation=encoder", "queries=llm"), True),
        (GIVEN, FR, ("relation=encoder", "queries=llm"), False),
    ],
)
def test_whether_the_llm_is_asked(
    record: Record, assessors: tuple[str, ...], assigned: tuple[str, ...], *, asked: bool
) -> None:
    assert ("llm" in effective(record, assessors, *assigned)) == asked


def test_what_has_no_effect_is_named_with_its_place() -> None:
    for assigned, preset, said in (
        (["k=2"], None, "--set k: has no effect on the benchmark factscore"),
        ([], "quick", "preset quick: relation: has no effect on the benchmark factscore"),
    ):
        with pytest.raises(InputError, match=said):
            check_effects("factscore", [choose({}, assigned, preset)], SPLITTING)
    check_effects("factscore", [choose({"llm": "x"}, ["atomizer=veriscore"])], SPLITTING)
    assert "llm" in of_relation(Settings())
    assert "llm" not in of_relation(Settings(relation="encoder"))


FACTOR = (
    "context,completion,contradiction_0,contradiction_1,contradiction_2\n"
    "The bridge was built by the city.,It opened in 1911.,It opened in 1921.,"
    "It never opened.,It opened in 1931.\n"
)


@pytest.fixture
def factor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str | Path, ...]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "expert_factor.csv").write_text(FACTOR)
    return ("bench", "factor", "--data", tmp_path, "--output", tmp_path / "out")


def test_a_file_of_settings_changes_no_figure(
    factor: tuple[str | Path, ...], tmp_path: Path
) -> None:
    """Not even a wrong one is read; its presets are none here."""
    (tmp_path / "factcheck.toml").write_text("[verify]\nrelation = 3\n[presets.house]\n")
    assert factcheck(*factor, "--relation", "encoder", "--set", "quantities=false").code == 0
    result = json.loads((tmp_path / "out" / SUMMARY).read_text())
    assert result["command"].endswith(" --relation encoder --set quantities=false")
    assert "|quantities:False|" in result["settings"]
    assert "|relation:encoder|" in result["settings"]
    assert refused(*factor, "--preset", "house").startswith("no preset 'house'")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--preset", "quick", "-k", "3"], "k: has no effect on the benchmark factor"),
        (["--preset", "careful"], "preset careful: assessor: has no effect on the benchmark"),
        (["--set", "strong=0.4"], "--set strong: has no effect on the benchmark factor"),
        (["--preset", "quick", "--llm", "smollm2-135m"], "llm: has no effect on the benchmark"),
        (["--strong", "0.4"], "no option --strong, it is a setting: --set strong=VALUE"),
        (["--assessor", "fr1"], "--assessor is for factcheckbench, wice, "),
        (
            ["--assessor", "verify"],
            "Invalid value for '--assessor': verify is called factbench now",
        ),
        (["--oracle"], "--oracle is for factcheckbench, wice, felm, not for factor"),
        (["--claims", "pipeline"], "--claims pipeline is for felm, wice, not for factor"),
    ],
)
def test_what_changes_no_figure_is_refused(
    factor: tuple[str | Path, ...], options: list[str], said: str
) -> None:
    assert refused(*factor, *options).startswith(said)


def test_every_assessor_can_be_chosen() -> None:
    for assessor in ASSESSORS:
        assert choose_each((assessor,), FR, {})[assessor].settings.assessor == assessor
