"""Many answers, many passages: what grouping gains, what workers cost, and a plan from both.

    python -m benchmarks.scale grouping --out benchmarks/results
    python -m benchmarks.scale workers --out benchmarks/results
    python -m benchmarks.scale index --out benchmarks/results
    python -m benchmarks.scale plan --out benchmarks/results

``grouping``: made-up answers of two claims, each read against three passages of the handbook by the
LLM's scorer: answer by answer, the same with the passages' states kept on disk, and all claims of a
passage together. Answer by answer each pair costs the same however many there are, so there the
first ``--timed`` answers stand for all. ``workers``: records with claims over a store of the
handbook, the encoder, in one process, by Ray on this machine, and on two nodes, of which one dies
on the way in a run of its own; the reports have to be the same. ``index``: short notes, a passage
each, embedded by two nodes and written by one process, in four steps. ``plan`` feeds the seconds of
``workers`` to a simulation.
Each writes ``scale-NAME.json``. The machine has to be quiet.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

from benchmarks.ray_nodes import Nodes, two_nodes
from factcheck_local import __version__
from factcheck_local.evaluate.machine import machine
from factcheck_local.models.cards import find_card
from factcheck_local.models.registry import load_model
from factcheck_local.pipeline.relation.llm import LlmPairScorer
from factcheck_local.pipeline.relation.scorer import Premise

POLICIES = Path(__file__).resolve().parents[1] / "corpora/handbook/policies"
MOST, K, WORDS = 16, 3, 150

#: Notes of the index: words of each, files of a folder, folders that are added at a time.
NOTE_WORDS, FILES, STEPS = 25, 1_000, 4


def words() -> list[str]:
    """The handbook's."""
    texts = (path.read_text(encoding="utf-8") for path in sorted(POLICIES.glob("*.md")))
    return " ".join(texts).split()


def passages() -> list[str]:
    """Stretches of the handbook of about ``WORDS`` words."""
    said = words()
    cut = [" ".join(said[at : at + WORDS]) for at in range(0, len(said), WORDS)]
    return cut[:MOST]


def claims(number: int) -> list[str]:
    """Eight claims that no other answer makes."""
    return [
        f"Staff get {number} days of leave.",
        f"Leave lapses after {number} weeks.",
        f"Room {number} can be booked for a whole day.",
        f"Travel of more than {number} kilometres is by train.",
        f"Invoices are paid within {number} days.",
        f"A laptop is replaced after {number} months.",
        f"The office opens at {number} minutes past seven.",
        f"Every team has {number} people on call.",
    ]


# ------------------------------------------------------------------- grouping


def grouping(answers: int, timed: int, llm: str, most: int) -> dict[str, Any]:
    """Pairs a second of the processor's time, which others on the machine take nothing of."""
    draw = random.Random(0)
    texts = passages()[:most]
    pairs = [(p, c) for n in range(answers) for p in draw.sample(texts, K) for c in [claims(n)[:2]]]
    together: dict[str, list[str]] = {}
    for passage, said in pairs:
        together.setdefault(passage, []).extend(said)
    first = pairs[: timed * K]
    model, card = load_model(llm, "llm"), find_card(llm, "llm")
    rates = {}
    with tempfile.TemporaryDirectory() as states:
        ways: dict[str, tuple[Path | None, list[tuple[str, list[str]]]]] = {
            "answer by answer": (None, first),
            "answer by answer, states kept": (Path(states), first),
            "by passage": (None, list(together.items())),
        }
        for name, (folder, work) in ways.items():
            scorer = LlmPairScorer.of_card(card, model, folder)
            scorer.score(Premise("", texts[-1]), ["Warm."])
            begun = time.process_time()
            for passage, said in work:
                scorer.score(Premise("", passage), said)
            rates[name] = sum(len(said) for _, said in work) / (time.process_time() - begun)
    model.close()
    return {
        "llm": llm,
        "answers": answers,
        "timed_answer_by_answer": min(timed, answers),
        "passages": most,
        "pairs": 2 * len(pairs),
        "pairs_per_second": rates,
    }


# -------------------------------------------------------------------- workers


def record(number: int) -> dict[str, Any]:
    """An answer with its claims."""
    said = claims(number)
    atoms = [{"id": f"a{place}", "text": claim} for place, claim in enumerate(said)]
    return {"output": " ".join(said), "atoms": atoms}


def workers(answers: int) -> dict[str, Any]:
    """Seconds of each way, from start to end, and of each answer in one process."""
    with tempfile.TemporaryDirectory() as folder:
        desk = Path(folder)
        rows = [json.dumps(record(number)) for number in range(answers)]
        (desk / "a.jsonl").write_text("\n".join(rows), encoding="utf-8")
        _timed(desk, "index", str(POLICIES))
        common = ("verify", "a.jsonl", "--relation", "encoder", "--no-cache", "--output")
        seconds = {"one process": _timed(desk, *common, "plain")}
        seconds["ray"] = _timed(desk, *common, "ray", "--workers", "ray")
        with two_nodes() as nodes:
            by_nodes = ("--workers", nodes.address)
            seconds["two nodes"] = _timed(desk, *common, "nodes", *by_nodes)
            died = (nodes, desk / "killed", answers // 2)
            killer = threading.Thread(target=_kill, args=died, daemon=True)
            killer.start()
            seconds["two nodes, one dies"] = _timed(desk, *common, "killed", *by_nodes)
            killer.join()
        plain = dict(_without_times(desk / "plain"))
        if len(plain) != answers:
            raise SystemExit(f"{len(plain)} reports of {answers} answers")
        for way in ("ray", "nodes", "killed"):
            if dict(_without_times(desk / way)) != plain:
                raise SystemExit(f"{way}: other reports than those of one process")
        each = sorted(
            sum(json.loads(p.read_text())["run"]["seconds"].values())
            for p in (desk / "plain").glob("a-*.json")
        )
    return {
        "answers": answers,
        "claims": len(claims(0)),
        "seconds": seconds,
        "to_one_process": {way: s / seconds["one process"] for way, s in seconds.items()},
        "seconds_each": each,
    }


def _kill(nodes: Nodes, reports: Path, after: int) -> None:
    """End the second node when so many answers are done."""
    while len(list(reports.glob("a-*.json"))) < after:
        time.sleep(0.05)
    nodes.kill()


def _timed(desk: Path, *command: str) -> float:
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-m", "factcheck_local", *command], cwd=desk, check=True)
    return time.perf_counter() - begun


def _without_times(folder: Path) -> Iterator[tuple[str, Any]]:
    for path in folder.glob("a-*.json"):
        value = json.loads(path.read_text())
        del value["run"]["started"], value["run"]["seconds"]
        yield path.name, value


# ---------------------------------------------------------------------- index


def index(notes: int) -> dict[str, Any]:
    """Time, memory and disk of an index that two nodes embed for, in steps; and of a million."""
    draw, said = random.Random(0), words()
    rows: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory() as folder, two_nodes() as nodes:
        desk = Path(folder)
        for number in range(notes):
            path = desk / "notes" / str(number // FILES) / f"{number}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            begin = draw.randrange(len(said) - NOTE_WORDS)
            text = " ".join(said[begin : begin + NOTE_WORDS])
            path.write_text(f"Note {number}. {text}\n", encoding="utf-8")
        folders = sorted((desk / "notes").iterdir(), key=lambda path: int(path.name))
        for step in range(1, STEPS + 1):
            these = folders[: len(folders) * step // STEPS]
            begun = time.perf_counter()
            command = ["index", *map(str, these), "--workers", nodes.address, "--store", "store"]
            run = subprocess.Popen([sys.executable, "-m", "factcheck_local", *command], cwd=desk)
            _, status, used = os.wait4(run.pid, 0)
            if status:
                raise SystemExit(f"indexing ended with {status}")
            files = [path.stat() for path in (desk / "store").rglob("*") if path.is_file()]
            rows.append(
                {
                    "passages": min(notes, len(these) * FILES),
                    "seconds": time.perf_counter() - begun,
                    "writer_peak_mb": used.ru_maxrss / 1024,
                    "store_mb": sum(file.st_size for file in files) / 1e6,
                }
            )
            print(rows[-1], flush=True)
    return {"words_each": NOTE_WORDS, "steps": rows, "a_million": extrapolated(rows, 1_000_000)}


def extrapolated(rows: list[dict[str, float]], passages: int) -> dict[str, float]:
    """What more passages would take, in steps of the same size, if all goes on growing as it did.

    A step's own time grows as well: by what the last one took more than the one before.

    Args:
        rows: by step how many passages there were, the step's own seconds, memory and disk.
        passages: how many there are to be.
    """
    before, last = rows[-2:]
    more = (passages - last["passages"]) / (last["passages"] - before["passages"])
    grown = {
        name: last[name] + more * (last[name] - before[name])
        for name in ("writer_peak_mb", "store_mb")
    }
    slower = last["seconds"] - before["seconds"]
    seconds = sum(row["seconds"] for row in rows)
    seconds += more * last["seconds"] + slower * more * (more + 1) / 2
    return {"passages": passages, "seconds": seconds} | grown


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
        # Too few by less than one, and with room for what comes at once.
        counts = {max(1, math.floor(least)), math.ceil(least * 1.3)}
        rows += [plan(each, count, per_day) for count in sorted(counts)]
    return {"mean_seconds": mean, "rows": rows}


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["grouping", "workers", "index", "plan"])
    parser.add_argument("--answers", type=int, default=200)
    parser.add_argument("--timed", type=int, default=24)
    parser.add_argument("--passages", type=int, default=MOST)
    parser.add_argument("--notes", type=int, default=200_000)
    parser.add_argument("--llm", default="smollm2-135m")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    make: dict[str, Callable[[], dict[str, Any]]] = {
        "grouping": lambda: grouping(given.answers, given.timed, given.llm, given.passages),
        "workers": lambda: workers(given.answers),
        "index": lambda: index(given.notes),
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
