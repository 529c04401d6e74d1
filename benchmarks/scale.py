"""Many answers: what grouping by passage gains, what workers cost, and a plan from both.

    python -m benchmarks.scale grouping --out benchmarks/results
    python -m benchmarks.scale workers --out benchmarks/results
    python -m benchmarks.scale plan --out benchmarks/results

``grouping``: made-up answers of two claims, each read against three passages of the handbook by the
LLM's scorer: answer by answer, the same with the passages' states kept on disk, and all claims of a
passage together. ``workers``: records with claims over a store of the handbook, the encoder, in one
process and by Ray; the reports have to be the same. ``plan`` feeds the seconds of the latter to a
simulation. Each writes ``scale-NAME.json``. For ``workers`` the machine has to be quiet.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

from factcheck_local import __version__
from factcheck_local.evaluate.machine import machine
from factcheck_local.models.cards import find_card
from factcheck_local.models.registry import load_model
from factcheck_local.pipeline.relation.llm import LlmPairScorer
from factcheck_local.pipeline.relation.scorer import Premise

POLICIES = Path(__file__).resolve().parents[1] / "corpora/handbook/policies"
MOST, K, WORDS = 16, 3, 150


def passages() -> list[str]:
    """Stretches of the handbook of about ``WORDS`` words."""
    words = " ".join(p.read_text(encoding="utf-8") for p in sorted(POLICIES.glob("*.md"))).split()
    cut = [" ".join(words[at : at + WORDS]) for at in range(0, len(words), WORDS)]
    return cut[:MOST]


def claims(number: int) -> list[str]:
    """Two claims that no other answer makes."""
    return [f"Staff get {number} days of leave.", f"Leave lapses after {number} weeks."]


# ------------------------------------------------------------------- grouping


def grouping(answers: int, llm: str, most: int) -> dict[str, Any]:
    """Pairs a second of the processor's time, which others on the machine take nothing of."""
    draw = random.Random(0)
    texts = passages()[:most]
    pairs = [(p, c) for n in range(answers) for p in draw.sample(texts, K) for c in [claims(n)]]
    together: dict[str, list[str]] = {}
    for passage, said in pairs:
        together.setdefault(passage, []).extend(said)
    model, card = load_model(llm, "llm"), find_card(llm, "llm")
    rates = {}
    with tempfile.TemporaryDirectory() as states:
        ways: dict[str, tuple[Path | None, list[tuple[str, list[str]]]]] = {
            "answer by answer": (None, pairs),
            "answer by answer, states kept": (Path(states), pairs),
            "by passage": (None, list(together.items())),
        }
        for name, (folder, work) in ways.items():
            scorer = LlmPairScorer.of_card(card, model, folder)
            scorer.score(Premise("", texts[-1]), ["Warm."])
            begun = time.process_time()
            for passage, said in work:
                scorer.score(Premise("", passage), said)
            rates[name] = 2 * len(pairs) / (time.process_time() - begun)
    model.close()
    return {
        "llm": llm,
        "answers": answers,
        "passages": most,
        "pairs": 2 * len(pairs),
        "pairs_per_second": rates,
    }


# -------------------------------------------------------------------- workers


def workers(answers: int) -> dict[str, Any]:
    """Seconds of both ways, from start to end and by stage."""
    with tempfile.TemporaryDirectory() as folder:
        desk = Path(folder)
        rows = [
            {"output": " ".join(claims(n)), "atoms": [{"id": f"a{i}", "text": c} for i, c in own]}
            for n in range(answers)
            for own in [list(enumerate(claims(n)))]
        ]
        (desk / "a.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        _timed(desk, "index", str(POLICIES))
        common = ("verify", "a.jsonl", "--relation", "encoder", "--no-cache", "--output")
        seconds = {"one process": _timed(desk, *common, "plain")}
        seconds["ray"] = _timed(desk, *common, "ray", "--workers", "ray")
        kept = {way: dict(_without_times(desk / way)) for way in ("plain", "ray")}
        if kept["plain"] != kept["ray"]:
            raise SystemExit("the reports differ")
        each = sorted(
            sum(json.loads(p.read_text())["run"]["seconds"].values())
            for p in (desk / "plain").glob("a-*.json")
        )
    return {"answers": answers, "seconds": seconds, "seconds_each": each}


def _timed(desk: Path, *words: str) -> float:
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-m", "factcheck_local", *words], cwd=desk, check=True)
    return time.perf_counter() - begun


def _without_times(folder: Path) -> Iterator[tuple[str, Any]]:
    for path in folder.glob("a-*.json"):
        value = json.loads(path.read_text())
        del value["run"]["started"], value["run"]["seconds"]
        yield path.name, value


# ----------------------------------------------------------------------- plan


def plan(
    each: list[float], workers: int, per_day: int, *, lost_each: float = 0.0
) -> dict[str, Any]:
    """A day of answers that come at random to workers that need the seconds measured.

    Args:
        each: seconds of an answer, as measured; one is drawn for each.
        workers: how many.
        per_day: answers a day, a Poisson process.
        lost_each: chance that a worker is lost over an answer, which then is done again.

    Returns:
        Median and 95th percentile of the seconds from arrival to report, how busy workers are, and
        how many answers still wait when the hour ends that was simulated.
    """
    import simpy

    draw, world = random.Random(0), simpy.Environment()
    crew, took, busy, came = simpy.Resource(world, workers), [], [0.0], [0]

    def answer() -> Generator[Any, Any, None]:
        arrived = world.now
        with crew.request() as turn:
            yield turn
            while True:
                seconds = draw.choice(each)
                busy[0] += seconds
                yield world.timeout(seconds)
                if draw.random() >= lost_each:
                    break
        took.append(world.now - arrived)

    def day() -> Generator[Any, Any, None]:
        while True:
            yield world.timeout(draw.expovariate(per_day / 86_400))
            came[0] += 1
            world.process(answer())

    world.process(day())
    world.run(until=3_600)
    took.sort()
    return {
        "workers": workers,
        "answers_a_day": per_day,
        "median_seconds": took[len(took) // 2] if took else None,
        "p95_seconds": took[int(len(took) * 0.95)] if took else None,
        "busy": min(busy[0] / (3_600 * workers), 1.0),
        "waiting": came[0] - len(took),
    }


def _planned(out: Path) -> dict[str, Any]:
    each = json.loads((out / "scale-workers.json").read_text())["seconds_each"]
    mean = sum(each) / len(each)
    rows = []
    for per_day in (10_000, 100_000, 1_000_000):
        least = per_day * mean / 86_400
        # Full, and with room for what comes at once.
        rows += [plan(each, max(1, round(least * room)), per_day) for room in (1.0, 1.3)]
    return {"mean_seconds": mean, "rows": rows}


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["grouping", "workers", "plan"])
    parser.add_argument("--answers", type=int, default=200)
    parser.add_argument("--passages", type=int, default=MOST)
    parser.add_argument("--llm", default="smollm2-135m")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    make: dict[str, Callable[[], dict[str, Any]]] = {
        "grouping": lambda: grouping(given.answers, given.llm, given.passages),
        "workers": lambda: workers(given.answers),
        "plan": lambda: _planned(given.out),
    }
    load = os.getloadavg()[0]
    found = make[given.what]() | {
        "version": __version__,
        "machine": machine(),
        "load_before_and_after": [load, os.getloadavg()[0]],
    }
    text = json.dumps(found, indent=2) + "\n"
    (given.out / f"scale-{given.what}.json").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
