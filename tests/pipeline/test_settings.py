"""Settings: what they take, where they come from, and what has no effect."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from factcheck_local.core.errors import InputError
from factcheck_local.pipeline.chosen import ABOUT_PRESETS, FILE_NAME, PRESETS, choose
from factcheck_local.pipeline.run import unlike
from factcheck_local.pipeline.settings import JUDGES, SETTINGS, Settings, as_named_now
from factcheck_local.report.stored import is_judged, settings_of


def file(folder: Path, text: str) -> Path:
    (folder / FILE_NAME).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("values", "needed"),
    [
        ({"budget": 5, "relation": "llm"}, r"relation=FAST\+SLOW"),
        ({"query_rounds": 2}, "queries=llm"),
        ({"source_correlation": 0.1, "assessor": "fr3"}, "assessor=fr4"),
        ({"min_context_similarity": 0.1}, r"assessor=fr3\|fr4"),
        ({"min_pooled_similarity": 0.1, "assessor": "fr1"}, "assessor=fr2"),
        ({"relation": "encoder", "assessor": "factscore"}, "assessor=fr1"),
        ({"factors": "table1", "assessor": "judge"}, "assessor=fr1"),
        ({"summarize": True, "assessor": "judge"}, "assessor=fr1"),
    ],
)
def test_what_has_no_effect_is_refused(values: dict[str, Any], needed: str) -> None:
    with pytest.raises(InputError, match=f"has no effect .* needs {needed}"):
        Settings(**values)


def test_what_has_an_effect_is_taken() -> None:
    Settings(relation="encoder+llm", budget=5)
    Settings(queries="llm", query_rounds=2)
    Settings(assessor="fr4", source_correlation=0.1, min_context_similarity=0.1)


@pytest.mark.parametrize("assessor", JUDGES)
def test_a_judge_beside_others_leaves_the_network_s_settings_alone(assessor: str) -> None:
    shared = {"relation": "encoder+llm", "budget": 3, "strong": 0.7, "k": 2}
    assert Settings.effective({**shared, "assessor": assessor}) == Settings(assessor=assessor, k=2)
    assert Settings.effective({**shared, "assessor": "fr1"}).budget == 3


def test_each_place_wins_over_the_next(tmp_path: Path) -> None:
    folder = file(tmp_path, "[verify]\npreset = 'own'\nk = 5\nstrong = 0.6\n[presets.own]\n"
                  "k = 6\nstrong = 0.7\nmin_similarity = 0\n")  # fmt: skip
    found = choose({"k": 2}, ["k=3", "method=exact"], None, [folder], {"embedder": "e"})
    chosen = found.settings
    assert (chosen.k, chosen.method, chosen.strong) == (2, "exact", 0.6)
    assert (chosen.min_similarity, chosen.embedder) == (0.0, "e")
    assert found.origins["k"] == "the command line"
    assert found.origins["method"] == "--set"
    assert found.origins["strong"] == str(folder / FILE_NAME)
    assert found.origins["min_similarity"] == "preset own"
    assert found.origins["tables"] == "default"
    assert choose({}, ["k=3", "k=4"]).settings.k == 4
    assert choose({}, [], "careful", [folder]).settings.assessor == "fr4"


def test_the_first_folder_with_a_file_counts(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    folders = [tmp_path, file(tmp_path / "a", "[verify]\nk = 7"), file(tmp_path / "b", "")]
    assert choose({}, folders=folders).settings.k == 7


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("budget=none", "budget", None),
        ("quantities=off", "quantities", False),
        ("cut-instructions=false", "cut_instructions", False),
        ("strong=0.25", "strong", 0.25),
        ("as_groups=hr, it", "as_groups", ("hr", "it")),
        ("llm=x", "llm", "x"),
    ],
)
def test_texts_become_values(text: str, name: str, value: object) -> None:
    assigned = ["relation=encoder+llm", text] if name == "budget" else [text]
    assert getattr(choose({}, assigned).settings, name) == value


@pytest.mark.parametrize(
    ("assigned", "message", "hint"),
    [
        ("retreival=fused", "--set: no setting 'retreival'", "retrieval"),
        ("retrieval=fusd", "--set retrieval: expected dense, lexical, fused, got 'fusd'", "fused"),
        ("k", "--set: expected NAME=VALUE, got 'k'", None),
        ("k=many", "--set k: expected a whole number from 1 to 1000, got 'many'", None),
        ("strong=nan", "--set strong: expected a number from 0 to 1, got nan", None),
        ("llm=", "--set llm: expected a name, got ''", None),
        ("atomizer=verify", "--set atomizer: verify is called factbench now", "atomizer=factbench"),
        ("assessor=verify", "--set assessor: verify is called factbench now", "assessor=factbench"),
        ("relation=cascade", "--set relation: cascade is called encoder+llm now", "encoder+llm"),
        ("assessor=factscore", "--set assessor: factscore is there to be compared", "bench"),
        ("source_correlation=0.3", "--set source_correlation: has no effect", None),
        ("query_rounds=1", "--set query_rounds: has no effect", None),
    ],
)
def test_a_wrong_one_is_named_on_one_line(assigned: str, message: str, hint: str | None) -> None:
    with pytest.raises(InputError) as error:
        choose({}, [assigned])
    assert str(error.value).startswith(message)
    assert (hint or "") in (error.value.hint or "")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("k = ", "cannot be read: Invalid value"),
        ("[verfy]", "expected the tables verify and presets, got 'verfy'"),
        ("verify = 3", "verify: expected a table, got 3"),
        ("[verify]\nkk = 3", "verify: no setting 'kk'"),
        ("[verify]\nk = '3'", "verify.k: expected a whole number from 1 to 1000, got '3'"),
        ("[verify]\nk = true", "verify.k: expected a whole number"),
        ("[verify]\nwhere = [1]", "verify.where: expected texts"),
        ("[verify]\nwhere = ['owner']", "where: expected a condition such as"),
        ("[verify]\npreset = 3", "verify.preset: expected a name, got 3"),
        ("[verify]\nrelation = 'llm'\nbudget = 3", "budget: has no effect"),
        ("[presets.a]\nx = 1", "presets.a: no setting 'x'"),
    ],
)
def test_a_wrong_file_is_named_with_the_place(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message) as error:
        choose({}, folders=[file(tmp_path, text)])
    assert str(tmp_path / FILE_NAME) in str(error.value)


def test_a_stronger_place_may_take_an_effect_away(tmp_path: Path) -> None:
    folder = file(tmp_path, "[verify]\nrelation = 'encoder+llm'\nbudget = 3\n")
    assert choose({}, folders=[folder]).settings.budget == 3
    found = choose({"relation": "encoder"}, folders=[folder])
    assert (found.settings.budget, found.origins["budget"]) == (None, "default")


def test_presets_are_settings() -> None:
    assert tuple(ABOUT_PRESETS) == tuple(PRESETS)
    assert choose({}, [], "default").settings == Settings()
    with pytest.raises(InputError, match="no preset 'carefull'") as error:
        choose({}, [], "carefull")
    assert (error.value.hint or "").startswith("careful")


def test_what_is_shown_is_what_is_read() -> None:
    for row in SETTINGS.values():
        assert row.parse(row.shown(row.default)) == row.default


def test_runs_of_before_are_read() -> None:
    values = Settings(relation="encoder+llm", budget=2).as_dict()
    factors = values.pop("factors")
    old = values | {"parameterisation": factors, "alpha": 0.5, "relation": "cascade"}
    old["query_rounds"] = 4  # had no effect then, either
    found = settings_of({"run": {"settings": old}}, "run.json")
    assert found == Settings(relation="encoder+llm", budget=2)


def test_a_run_of_when_any_p_could_be_a_conflicts_stays_one() -> None:
    for now, then in ((Settings(), 0.5), (Settings(assessor="factscore"), 0.2)):
        old = now.as_dict()
        del old["conflict_within"]
        found = settings_of({"run": {"settings": old}}, "run.json")
        assert found.conflict_within == then  # of judges it has no effect


def test_a_run_of_when_nothing_was_drawn_stays_one() -> None:
    for now, drawn in ((Settings(), 0), (Settings(atomizer="prompted"), 3)):
        old = now.as_dict()
        del old["draws"]
        found = settings_of({"run": {"settings": old}}, "run.json")
        assert found.draws == drawn  # where nothing is drawn it has no effect


def test_runs_of_before_s_judges_are_judged() -> None:
    old = Settings(assessor="factbench", atomizer="factbench").as_dict()
    old |= {"assessor": "verify", "atomizer": "verify"}
    assessment = {"run": {"settings": old}}
    assert settings_of(assessment, "x") == Settings(assessor="factbench", atomizer="factbench")
    assert is_judged(assessment)
    assert not is_judged({"run": {"settings": Settings().as_dict()}})
    assert unlike({"settings": old}, {"settings": as_named_now(old)}) == []
