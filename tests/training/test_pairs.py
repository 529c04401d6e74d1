"""The synthetic pairs: labels that hold, all three of them, and nothing held out."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest

from factcheck_local.relate.quantities import compare_quantities
from training import facts, synthesize
from training.overlap import Held, normalised

DATA = Path(__file__).parents[3] / "shared" / "data"
PAGES = [
    {
        "package": "example-doc",
        "title": "Limits",
        "sentences": [
            "However, the server keeps three copies of every log, which are checked daily.",
            "If the disk is full, the service stops within 10 minutes.",
            "Kestrel, a small gateway, is started by the operator before the first login.",
            "Uploads are allowed for all users of Nordel and must not exceed 2 GB.",
        ],
    }
]


def test_pairs_from_passages_have_all_labels_and_follow_the_seed() -> None:
    made = list(synthesize.docs(PAGES, 200, ["Oslo", "Kestrel"], random.Random(1)))
    again = list(synthesize.docs(PAGES, 200, ["Oslo", "Kestrel"], random.Random(1)))
    assert made == again
    counts = Counter(row["label"] for row in made)
    assert min(counts.values()) > 30
    assert set(counts) == {"entailment", "contradiction", "neutral"}


def test_an_entailed_fact_has_its_value_in_the_passage() -> None:
    rows = list(synthesize.invented(400, random.Random(2)))
    entailed = [r for r in rows if r["label"] == "entailment"]
    wrong = [r for r in entailed if compare_quantities(r["premise"], r["hypothesis"]).n_mismatched]
    # The guard is right more often than not, but knows neither tables nor conditions.
    assert len(wrong) <= 0.02 * len(entailed)


def test_a_changed_fact_differs_in_every_notation() -> None:
    rng = random.Random(3)
    for _ in range(300):
        fact = facts.draw(rng)
        assert not set(fact.values) & set(fact.but(rng).values)
        assert fact.of_other(rng).subject != fact.subject


def test_a_shared_sentence_is_found_whatever_its_punctuation(tmp_path: Path) -> None:
    rows = [
        {"premise": "Penn -LRB- born 1960 -RRB- is an American actor .", "hypothesis": "A b."},
        {"claim": "The bridge was opened in May 1998.", "evidence": ["It cost nine million."]},
    ]
    path = tmp_path / "held.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in rows))
    held = Held.of([path])
    assert held.shares("Before. Penn (born 1960) is an American actor. After.", "Something else.")
    assert held.shares("Something else.", "the bridge was opened in may 1998")
    assert not held.shares("A b.", "Penn is an actor.")
    assert normalised("A-B, c!") == "a b c"


@pytest.mark.skipif(not DATA.is_dir(), reason="the development data is not here")
def test_no_held_out_sentence_is_in_the_training_data(tmp_path: Path) -> None:
    nli = DATA / "nli"
    passages = tmp_path / "passages.jsonl"
    passages.write_text("".join(json.dumps(p) + "\n" for p in PAGES))
    held_out = [nli / "factcheckbench-dev.jsonl", nli / "fever-symmetric-dev.jsonl"]
    held_out.append(DATA / "wice" / "dev.jsonl")
    arguments = ["--passages", passages, "--nli", nli, "--out", tmp_path / "out", "--count", 300]
    for path in held_out:
        arguments += ["--held-out", path]
    synthesize.main([str(a) for a in arguments], standalone_mode=False)
    held = Held.of(held_out)
    count = 0
    for path in sorted((tmp_path / "out").glob("*.jsonl")):
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            assert not held.shares(row["premise"], row["hypothesis"])
            count += 1
    assert count > 20_000
