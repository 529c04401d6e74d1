"""Verdicts against expected ones, on a confusion matrix counted by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from factcheck_local.evaluate.scores import difference, score
from factcheck_local.evaluate.summary import to_markdown
from factcheck_local.evaluate.verdicts import EXPECTED, MEASURES, SAID, as_dict, matrix_of, of_three

#: Expected verdict -> verdicts given. 20 claims: 9 supported, 6 contradicted, 2 conflicting, 3 not
#: found.
GIVEN = {
    "supported": ["supported"] * 5 + ["contradicted"] * 2 + ["conflicting", "not_found"],
    "contradicted": ["contradicted"] * 3 + ["supported", "unsupported", "not_found"],
    "conflicting": ["conflicting", "supported"],
    "not_found": ["not_found", "conflicting", "supported"],
}


def atoms(given: dict[str, list[str]]) -> list[dict[str, Any]]:
    return [
        {
            "label": label,
            "verdict": verdict,
            "gold": label == "supported",
            "probability": 0.5 + 0.4 * (verdict == "supported") - 0.4 * (verdict == "contradicted"),
        }
        for label, verdicts in given.items()
        for verdict in verdicts
    ]


def row(*found: dict[str, Any]) -> dict[str, Any]:
    return {"atoms": [{**a, "id": f"a{n}"} for n, a in enumerate(found)], "segments": []}


def test_the_measures() -> None:
    """Of three: 5 of 9, 3 of 6, and of the 5 others the 3 that are called neither."""
    found = {name: f(matrix_of(atoms(GIVEN))) for name, f in MEASURES.items()}
    assert found == {
        "right_of_three": pytest.approx(11 / 20),
        "balanced_of_three": pytest.approx((5 / 9 + 3 / 6 + 3 / 5) / 3),
        "right_of_four": pytest.approx((5 + 3 + 1 + 1) / 20),
        "supported_wrongly": pytest.approx(3 / 8),
        "true_contradicted": pytest.approx(2 / 9),
    }


def test_three_classes_are_four_verdicts_folded() -> None:
    expected = [[5, 2, 2], [1, 3, 2], [2, 0, 3]]
    assert of_three(matrix_of(atoms(GIVEN))).tolist() == expected


@pytest.mark.parametrize("said", [v for v in SAID if v not in ("supported", "contradicted")])
def test_whatever_is_neither_supported_nor_contradicted_is_neither(said: str) -> None:
    matrix = matrix_of([{"label": "not_found", "verdict": said}])
    assert MEASURES["right_of_three"](matrix) == 1.0
    assert MEASURES["right_of_four"](matrix) == float(said == "not_found")


def test_what_is_no_judgement_or_has_no_such_label_is_left_out() -> None:
    kept = atoms(GIVEN)
    others: list[dict[str, Any]] = [
        {"label": "supported", "verdict": "unscored"},
        {"label": "supported", "verdict": "skipped"},
        {"label": "partially_supported", "verdict": "supported"},
        {"label": None, "verdict": "supported"},
    ]
    assert np.array_equal(matrix_of([*kept, *others]), matrix_of(kept))


def test_nothing_is_undefined_not_zero() -> None:
    empty = matrix_of([])
    assert [f(empty) for f in MEASURES.values()] == [None] * len(MEASURES)


def test_the_table_shows_other_verdicts_only_where_they_were_given() -> None:
    plain = as_dict(matrix_of(atoms({"supported": ["supported"]})))
    assert [list(row) for row in plain.values()] == [list(EXPECTED)] * 4
    found = as_dict(matrix_of(atoms(GIVEN)))
    assert list(found["contradicted"].items()) == [
        ("supported", 1),
        ("contradicted", 3),
        ("conflicting", 0),
        ("not_found", 1),
        ("unsupported", 1),
    ]


def test_scores_have_them_where_labels_are_verdicts() -> None:
    rows = [row(*atoms({label: given})) for label, given in GIVEN.items()]
    found = score(rows, verdicts=True)
    assert found["measures"]["right_of_three"]["value"] == pytest.approx(11 / 20)
    low, high = found["measures"]["right_of_three"]["ci95"]
    # Whole rows are drawn: at worst always that of 1/2, at best always that of 2/3.
    assert 1 / 2 <= low < 11 / 20 < high <= 2 / 3
    assert found["confusion"] == as_dict(matrix_of(atoms(GIVEN)))
    plain = score(rows)
    assert "confusion" not in plain
    assert not MEASURES.keys() & plain["measures"].keys()


def test_a_single_item_s_claims_are_drawn() -> None:
    found = score([row(*atoms(GIVEN))], verdicts=True)["measures"]["right_of_four"]
    assert found["ci95"][0] < found["value"] < found["ci95"][1]


def test_a_difference_of_verdicts() -> None:
    better = [row(*atoms({"supported": ["supported"]})) for _ in range(3)]
    worse = [row(*atoms({"supported": ["not_found"]})) for _ in range(3)]
    assert difference(better, worse, "right_of_three") == {
        "value": 1.0,
        "ci95": (1.0, 1.0),
        "left_out": 0,
    }


def test_the_summary_s_table() -> None:
    scores = score([row(*atoms(GIVEN))], verdicts=True)
    text = to_markdown(
        {
            **{"bench": "sets", "command": "c", "settings": "s", "models": {}, "prompts": "p"},
            **{"data": "d", "limit": None, "seed": 0, "machine": "m"},
            **{"methods": {"fr2": scores}, "groups": {}, "differences": []},
            **{"notes": [], "pictures": []},
        }
    )
    assert (
        "| method | expected \\ given | supported | contradicted | conflicting | not found "
        "| unsupported |\n|---|---|---:|---:|---:|---:|---:|\n"
        "| fr2 | supported | 5 | 2 | 1 | 1 | 0 |\n"
        "| fr2 | contradicted | 1 | 3 | 0 | 1 | 1 |\n"
        "| fr2 | conflicting | 1 | 0 | 1 | 0 | 0 |\n"
        "| fr2 | not found | 1 | 0 | 1 | 1 | 0 |\n"
    ) in text
    assert "| method | right of three classes | balanced, of three |" in text


def test_the_summary_says_what_a_difference_leaves_out() -> None:
    """In a column of its own, where something is."""

    def table(**left_out: int) -> str:
        told = {"ours": "fr2", "theirs": "other", "measure": "f1", "value": 0.1, "ci95": None}
        return to_markdown(
            {
                **{"bench": "sets", "command": "c", "settings": "s", "models": {}, "prompts": "p"},
                **{"data": "d", "limit": None, "seed": 0, "machine": "m", "methods": {}},
                **{"groups": {}, "differences": [{**told, **left_out}], "notes": []},
                **{"pictures": []},
            }
        )

    assert "| fr2 less other | F1 | +0.100 | 6 |\n" in table(left_out=6)
    for text in (table(left_out=0), table()):
        assert "| fr2 less other | F1 | +0.100 |\n" in text
