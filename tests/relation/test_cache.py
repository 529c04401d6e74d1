"""The verdict cache: the same bytes, no second reading, no model that is not needed."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import numpy as np
import pytest

from factcheck_local.core.errors import ModelError, ScoringError, StoreError
from factcheck_local.models.cards import find_card
from factcheck_local.models.cores import available_cores
from factcheck_local.models.llama_cpp import LlamaCppModel
from factcheck_local.models.registry import beside
from factcheck_local.pipeline.relation import PairScorer, Premise, load_relation_model, relate
from factcheck_local.pipeline.relation.calibration import Calibration
from factcheck_local.pipeline.relation.calibration_file import StoredCalibration, store_calibration
from factcheck_local.pipeline.relation.llm import LlmPairScorer
from factcheck_local.pipeline.relation.load import load_pair_scorer
from factcheck_local.pipeline.relation.score_cache import CachedPairScorer, ScoreCache
from factcheck_local.pipeline.relation.scorer import LogProbabilities, at_once

from .helpers import ScriptedScorer

PREMISE = Premise("Leave", "Staff get 27 days.")


def by_length(premise: str, hypothesis: str) -> tuple[float, float, float]:
    p = 1 / (3 + len(premise) + len(hypothesis))
    return p, p / 3, 1 - p - p / 3


def cached(scorer: PairScorer, folder: Path) -> CachedPairScorer:
    cache = ScoreCache(folder / "pair-scores.sqlite")
    return CachedPairScorer(lambda: scorer, scorer.id, scorer.sha256, cache)


def unloadable() -> PairScorer:
    raise AssertionError("the model was loaded though every score is there")


def test_a_real_models_scores_come_back_bit_for_bit(smollm: LlamaCppModel, tmp_path: Path) -> None:
    scorer = LlmPairScorer(smollm)
    claims = ["Staff get 27 days.", "Staff get 30 days."]
    fresh = scorer.score(PREMISE, claims)
    first = cached(scorer, tmp_path).score(PREMISE, claims[:1])
    both = cached(scorer, tmp_path)
    again = both.score(PREMISE, claims)
    cache = ScoreCache(tmp_path / "pair-scores.sqlite")
    stored = CachedPairScorer(unloadable, scorer.id, scorer.sha256, cache).score(PREMISE, claims)
    assert first.tobytes() == fresh[:1].tobytes()
    assert again.tobytes() == stored.tobytes() == fresh.tobytes()


def test_only_what_is_missing_is_read_and_together(tmp_path: Path) -> None:
    scorer = ScriptedScorer(by_length)
    own = cached(scorer, tmp_path)
    own.score(PREMISE, ["a", "bb"])
    found = own.score(PREMISE, ["ccc", "a", "dddd", "ccc"])
    assert [hypotheses for _, hypotheses in scorer.calls] == [("a", "bb"), ("ccc", "dddd")]
    plain = ScriptedScorer(by_length).score(PREMISE, ["ccc", "a", "dddd", "ccc"])
    assert found.tobytes() == plain.tobytes()
    assert own.score(PREMISE, []).shape == (0, 3)


def test_scores_of_another_way_of_reading_are_not_used(tmp_path: Path) -> None:
    scorer = ScriptedScorer(by_length)
    cached(scorer, tmp_path).score(PREMISE, ["a"])
    cache = ScoreCache(tmp_path / "pair-scores.sqlite")
    for _ in range(2):
        own = CachedPairScorer(lambda: scorer, scorer.id, scorer.sha256, cache, reading="windows")
        own.score(PREMISE, ["a"])
        assert len(scorer.calls) == 2


def test_everything_that_a_score_depends_on_is_in_the_key(tmp_path: Path) -> None:
    cache = ScoreCache(tmp_path / "v")
    # Texts that would be the same if they were only joined, by any single separator.
    pairs = [
        (Premise("a", "bc"), "d"),
        (Premise("ab", "c"), "d"),
        (Premise("", "abc"), "d"),
        (Premise("a", "b"), "cd"),
        (Premise('a", "b', "c"), "d"),
        (Premise("a", 'b", "c'), "d"),
        (Premise("a\0b", "c"), "d"),
        (Premise("a", "b\0c"), "d"),
    ]
    for id_, sha256 in (("m/v1", "1"), ("m/v2", "1"), ("m/v1", "2"), ("m/v", "11")):
        for premise, hypothesis in pairs:
            scorer = ScriptedScorer(by_length)
            scorer.id, scorer.sha256 = id_, sha256
            own = CachedPairScorer(lambda s=scorer: s, id_, sha256, cache)  # type: ignore[misc]
            own.score(premise, [hypothesis])
            assert len(scorer.calls) == 1


def test_a_failure_is_not_kept_and_what_came_before_it_is(tmp_path: Path) -> None:
    class Failing(ScriptedScorer):
        def score(self, premise: Premise, hypotheses: Sequence[str]) -> LogProbabilities:
            if premise.text == "bad":
                self.calls.append((premise, tuple(hypotheses)))
                raise ScoringError("does not fit")
            return super().score(premise, hypotheses)

    scorer = Failing(by_length)
    own = cached(scorer, tmp_path)
    own.score(PREMISE, ["a"])
    for _ in range(2):
        with pytest.raises(ScoringError):
            own.score(Premise("", "bad"), ["a"])
    own.score(PREMISE, ["a"])
    assert len(scorer.calls) == 3


def test_a_scorer_other_than_announced_is_refused(tmp_path: Path) -> None:
    own = CachedPairScorer(
        lambda: ScriptedScorer(by_length), "other", "0" * 64, ScoreCache(tmp_path / "v")
    )
    with pytest.raises(ModelError, match="expected the scorer other"):
        own.score(PREMISE, ["a"])


def test_threads_load_a_scorer_once(tmp_path: Path) -> None:
    scorer, loaded = ScriptedScorer(by_length), []

    def load() -> ScriptedScorer:
        loaded.append(scorer)
        time.sleep(0.05)
        return scorer

    own = CachedPairScorer(load, scorer.id, scorer.sha256, ScoreCache(tmp_path / "v"), at_once=2)
    with ThreadPoolExecutor(2) as pool:
        rows = list(pool.map(lambda text: own.score(Premise("", text), ["a"]), ["one", "two"]))
    assert len(loaded) == 1
    assert all(row.shape == (1, 3) for row in rows)


def test_an_encoder_is_asked_side_by_side_before_it_is_loaded(tmp_path: Path) -> None:
    """What is announced of the shipped one is what it says once it is there; an LLM is one."""
    announced = load_pair_scorer(find_card("mpnet-l6-nli"), cache_dir=tmp_path)
    assert isinstance(announced, CachedPairScorer)
    assert announced.at_once == at_once(announced.scorer) == available_cores()
    assert at_once(load_pair_scorer(find_card("smollm2-135m"), cache_dir=tmp_path)) == 1


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "pair-scores.sqlite"
    path.write_bytes(b"not a database, but long enough to be taken for one" * 100)
    with pytest.raises(StoreError) as error:
        ScoreCache(path)
    assert str(error.value).startswith(f"{path}: the cache of verdicts cannot be used: ")
    assert str(error.value.hint).startswith(f"rm {path}*")


def test_a_file_of_another_version_is_refused(tmp_path: Path) -> None:
    for name, script in (("new", "PRAGMA user_version = 2"), ("foreign", "CREATE TABLE t (x)")):
        db = sqlite3.connect(tmp_path / name)
        db.execute(script)
        db.close()
        with pytest.raises(StoreError, match=r"expected schema version 1, got [02]"):
            ScoreCache(tmp_path / name)


@pytest.mark.parametrize("value", [b"short", b"\0" * 24, "text", np.full(3, np.nan).tobytes()])
def test_a_damaged_score_is_an_error_not_a_verdict(tmp_path: Path, value: object) -> None:
    own = cached(ScriptedScorer(by_length), tmp_path)
    own.score(PREMISE, ["a"])
    with sqlite3.connect(tmp_path / "pair-scores.sqlite") as db:
        db.execute("UPDATE scores SET log_p = ?", (value,))
    db.close()
    with pytest.raises(StoreError, match=r"pair-scores\.sqlite: .* a score is"):
        own.score(PREMISE, ["a"])


WRITER = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
import numpy as np
from factcheck_local.pipeline.relation.score_cache import ScoreCache
row = np.log(np.array([0.5, 0.25, 0.25]))
# Both make the file, and write the same keys and some of their own.
for i in range(60):
    cache = ScoreCache(Path(sys.argv[1]))
    cache.put({b"%d" % i: row, sys.argv[2].encode() + b"%d" % i: row})
    assert len(cache.get([b"%d" % i])) == 1
"""


def test_two_processes_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "pair-scores.sqlite"
    running = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), name], stderr=subprocess.PIPE)
        for name in ("x", "y", "z")
    ]
    for process in running:
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err.decode()
    keys = [name + b"%d" % i for name in (b"", b"x", b"y", b"z") for i in range(60)]
    assert ScoreCache(path).get(keys).keys() == set(keys)


def test_many_begin_a_file_at_once(tmp_path: Path) -> None:
    """SQLite tells one of two who make a file that it is locked, without waiting for it."""
    threads = 6
    together = Barrier(threads)

    def begin(path: Path) -> dict[bytes, LogProbabilities]:
        together.wait()
        return ScoreCache(path).get([b"a"])

    with ThreadPoolExecutor(threads) as pool:
        for number in range(40):
            path = tmp_path / f"{number}.sqlite"
            assert list(pool.map(begin, [path] * threads)) == [{}] * threads


# ----------------------------------------------------------------------- load


def test_the_stores_calibration_wins_over_the_cards(smollm: LlamaCppModel, tmp_path: Path) -> None:
    def load(*, cache: bool = True) -> list[float]:
        model = load_relation_model(
            "llm", default_llm="smollm2-135m", load=beside(smollm), store_dir=tmp_path, cache=cache
        )
        (found,) = model.relate(PREMISE, ["Staff get 27 days."])
        return [found.entailment, found.contradiction, found.neutral]

    scorer = LlmPairScorer(smollm)
    raw = scorer.score(PREMISE, ["Staff get 27 days."])
    # SmolLM2's card has no calibration.
    assert load(cache=False) == Calibration().apply(raw)[0].tolist()
    assert not (tmp_path / "pair-scores.sqlite").exists()
    own = Calibration(2.0, (-1.0, 0.5, 0.0))
    for sha256 in ("0" * 64, scorer.sha256):
        before = load()
        store_calibration(
            tmp_path, StoredCalibration(scorer.id, sha256, own, 40, 0.3, 0.1, "2026-11-22")
        )
    assert before == Calibration().apply(raw)[0].tolist(), "that one was of other weights"
    assert load() == load(cache=False) == own.apply(raw)[0].tolist()


def test_what_is_in_the_cache_needs_no_model(
    smollm: LlamaCppModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = {("p", "h"): None}, {"p": PREMISE}, {"h": "Staff get 27 days."}

    def run(loaded: LlamaCppModel | None) -> object:
        model = load_relation_model(
            "smollm2-135m",
            default_llm="-",
            load=beside(loaded) if loaded else None,
            store_dir=tmp_path,
        )
        return relate(list(arguments[0]), *arguments[1:], model)

    first = run(smollm)
    monkeypatch.setattr(
        "factcheck_local.pipeline.relation.load.load_model", lambda _name: unloadable()
    )
    assert run(None) == first
