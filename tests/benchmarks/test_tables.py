"""What the benchmark of tables makes of scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.tables import compared, read_both, sampled, to_markdown, with_tables
from factcheck_local.core.errors import ScoringError
from factcheck_local.pipeline.relation import Calibration, Premise
from factcheck_local.pipeline.relation.scorer import LogProbabilities
from training.adapter.groups import Claim, Group

TABLE = "| Plan | Seats |\n|---|---|\n| Solo | one |\n| Team | many |"
CLAIMS = (
    Claim("Solo has one.", "entailment"),
    Claim("Solo has many.", "contradiction"),
    Claim("Solo is old.", "neutral"),
)


class ReadsStatements:
    """A scorer that is right about statements and takes all of a raw table for a denial.

    Of a claim it reads all but its last word.
    """

    id, sha256 = "fake", "0" * 64

    def score(self, premise: Premise, hypotheses: Sequence[str]) -> LogProbabilities:
        if "unreadable" in premise.text:
            raise ScoringError("too long")
        right = {c.text: i for i, c in enumerate(CLAIMS)}
        top = [1 if "|" in premise.text else right[h.rpartition(" ")[0]] for h in hypotheses]
        p = np.full((len(top), 3), 0.05)
        p[np.arange(len(top)), top] = 0.9
        found: LogProbabilities = np.log(p)
        return found


def group(number: int, table: str = TABLE, *, claims: int | None = None) -> Group:
    """A passage with claims of its own, or with those of another one."""
    own = number if claims is None else claims
    told = tuple(replace(claim, text=f"{claim.text} {own}") for claim in CLAIMS)
    return Group("made", f"Plans {number}", f"{table}\n\n{number}", told)


def test_both_readings_and_their_difference() -> None:
    groups = [*map(group, range(4)), group(4, TABLE.replace("old", "unreadable") + "\nunreadable")]
    scored, unscored = read_both(groups, ReadsStatements())
    assert list(unscored.values()) == ["too long"]
    found = compared(scored, Calibration(), seed=1)
    assert found["pairs"] == 4 * len(CLAIMS)
    assert found["raw"]["true_called_contradicted"]["value"] == 1.0
    assert found["stated"]["true_called_contradicted"]["value"] == 0.0
    assert found["stated"]["balanced_accuracy"] == {"value": 1.0, "ci95": (1.0, 1.0)}
    assert found["raw"]["balanced_accuracy"]["value"] == pytest.approx(1 / 3)
    assert found["raw"]["auroc_entailment"]["value"] == 0.5
    gained = found["difference"]["balanced_accuracy"]
    assert gained["value"] == pytest.approx(2 / 3)
    assert gained["ci95"] == pytest.approx((2 / 3, 2 / 3))
    whole = {"passages": 5, "unscored": unscored, "gold": {"entailment": 4}, **found}
    text = "\n".join(to_markdown({"sets": {"made": whole}, "signature": "s"}))
    assert "+0.667 [+0.667, +0.667]" in text
    assert "1 passages unscored" in text


def test_passages_of_one_set_are_drawn_together() -> None:
    """All of its claims are read against each of its passages."""
    groups = [group(0), group(1, claims=0), group(2, claims=0), group(3)]
    scored, _ = read_both(groups, ReadsStatements())
    assert [len(cluster) for cluster in scored["raw"].clusters] == [9, 3]


def test_only_passages_with_a_table_and_whole_ones() -> None:
    plain = Group("made", "", "Plans | seats", CLAIMS)
    assert with_tables([plain, group(1)]) == [group(1)]
    groups = [group(n) for n in range(10)]
    drawn = sampled(groups, 4, seed=1)
    assert len(drawn) == 2
    assert drawn == sampled(groups, 4, seed=1)
    assert {g.title for g in drawn} <= {g.title for g in groups}
