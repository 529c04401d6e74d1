"""Where the time of an answer goes: by stage, and by what a token was for.

    python -m benchmarks.answer_time [--answer FILE ...] [--relation NAME] [--llm NAME] [--repeat 3]

Indexes the sample handbook, verifies one of its answers, or several one after the other, in a new
process for each repetition, and prints medians: seconds by stage as a run records them; tokens of
the LLM by stage and purpose, with their seconds; and the floor, which is each of these tokens once
at the best speed that was measured of its kind. States of prompts that an earlier run kept on disk
count as kept; ``--cold`` does without them. Nothing is known of the store's passages before;
``--kept`` keeps between answers what a run keeps by default, and ``--prepared`` has the LLM read
the passages ahead, as ``factcheck prepare`` does, which is timed apart.

Purposes: *prompt* is what is read before a reply or the label of a single question, *passage* what
is read once for all claims about it, *claim* what is read for one claim, *written* a reply's own
tokens, *kept* what came from the disk.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from factcheck_local import __version__

CORPUS = Path(__file__).parents[1] / "corpora" / "handbook"

#: From so many tokens on the speed of a batch counts for the floor.
LARGE = 64


@dataclass
class Meter:
    """What a context decoded, by stage and purpose.

    Attributes:
        tokens: (stage, purpose) -> tokens.
        seconds: (stage, purpose) -> seconds.
        best: "read" or "written" -> tokens per second at best.
    """

    stage: str = "load"
    tokens: dict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))
    seconds: dict[tuple[str, str], float] = field(default_factory=lambda: defaultdict(float))
    best: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def count(self, purpose: str, tokens: int, seconds: float) -> None:
        """Add a call."""
        self.tokens[self.stage, purpose] += tokens
        self.seconds[self.stage, purpose] += seconds
        kind = "written" if purpose == "written" else "read"
        if purpose != "kept" and (kind == "written" or tokens >= LARGE):
            self.best[kind] = max(self.best[kind], tokens / seconds)


def measured(arguments: argparse.Namespace, store: Path) -> dict[str, Any]:
    """One run in this process, as JSON can hold it."""
    begun = time.perf_counter()
    from factcheck_local.core.types import Answer
    from factcheck_local.indexer.store import Store
    from factcheck_local.models.llama_context import LlamaContext
    from factcheck_local.models.prompt_states import PromptStates
    from factcheck_local.pipeline.checker import FactChecker
    from factcheck_local.pipeline.claims.records import Record
    from factcheck_local.pipeline.settings import Settings
    from factcheck_local.pipeline.work import Work

    meter = Meter()
    decode, load, stage = LlamaContext.decode_rows, LlamaContext.load, Work.stage

    def timed(self: LlamaContext, rows: Any) -> Any:  # noqa: ANN401
        before = time.perf_counter()
        found = decode(self, rows)
        written = all(wanted for *_, wanted in rows)
        reading = ("claim" if rows[0][0] else "passage") if meter.stage == "relate" else "prompt"
        meter.count("written" if written else reading, len(rows), time.perf_counter() - before)
        return found

    def restored(self: LlamaContext, path: Path, tokens: Any) -> bool:  # noqa: ANN401
        before = time.perf_counter()
        found = load(self, path, tokens)
        meter.count("kept", len(tokens) if found else 0, time.perf_counter() - before)
        return found

    @contextmanager
    def staged(self: Work, name: str) -> Iterator[None]:
        outer, meter.stage = meter.stage, name
        with stage(self, name):
            yield
        meter.stage = outer

    LlamaContext.decode_rows, LlamaContext.load = timed, restored  # type: ignore[method-assign]
    Work.stage = staged  # type: ignore[method-assign]
    if arguments.cold:
        PromptStates.restore = lambda *_: False  # type: ignore[method-assign]
    chosen = {n: getattr(arguments, n) for n in ("relation", "llm") if getattr(arguments, n)}
    keeps = arguments.kept or arguments.prepared
    checker = FactChecker(Settings(**chosen), Store.open(store), cache=keeps)
    answers = [Answer(path.read_text(encoding="utf-8")) for path in arguments.answer]
    imported = time.perf_counter() - begun
    runs, each = [], []
    for answer in answers:
        before = time.perf_counter()
        runs.append(checker.verify(Record(answer)))
        each.append(time.perf_counter() - before)
    seconds = {name: sum(run.seconds.get(name, 0.0) for run in runs) for name in runs[0].seconds}
    return {
        "seconds": seconds | {"import": imported, "all": time.perf_counter() - begun},
        "each": each,
        "tokens": [[*key, n, meter.seconds[key]] for key, n in meter.tokens.items()],
        "best": dict(meter.best),
        "claims": sum(a.atom.kind.check_worthy for run in runs for a in run.assessment.atoms),
        "pairs": sum(len(run.assessment.pairs) for run in runs),
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "models": [f"{m['role']} {m['id']} {m['sha256'][:8]}" for m in runs[0].models],
    }


def table(runs: list[dict[str, Any]]) -> str:
    """The medians as Markdown."""
    lines = ["| stage | seconds |", "|---|---:|"]
    for name in runs[0]["seconds"]:
        lines.append(f"| {name} | {median(r['seconds'][name] for r in runs):.1f} |")
    lines += [
        "",
        "| stage | tokens for | tokens | seconds | tokens/s |",
        "|---|---|---:|---:|---:|",
    ]
    for stage, purpose, count, _ in runs[0]["tokens"]:
        took = median(
            next((s for a, b, _, s in r["tokens"] if (a, b) == (stage, purpose)), 0.0) for r in runs
        )
        lines.append(f"| {stage} | {purpose} | {count} | {took:.1f} | {count / took:.0f} |")
    best = {kind: max(r["best"].get(kind, 0.0) for r in runs) for kind in ("read", "written")}
    floor = sum(
        count / best["written" if purpose == "written" else "read"]
        for _, purpose, count, _ in runs[0]["tokens"]
        if purpose != "kept"
    )
    spent = median(sum(s for *_, s in r["tokens"]) for r in runs)
    lines += [
        "",
        f"LLM: {spent:.1f} s; floor {floor:.1f} s, each token once at the best speed measured: "
        f"{best['read']:.0f} tokens/s read, {best['written']:.0f} written. "
        f"{runs[0]['claims']} claims, {runs[0]['pairs']} pairs, "
        f"{max(r['peak'] for r in runs):.0f} MiB at most.",
    ]
    each = [median(seconds) for seconds in zip(*(r["each"] for r in runs), strict=True)]
    if len(each) > 1:
        listed = ", ".join(f"{seconds:.1f}" for seconds in each)
        lines += ["", f"Seconds of each answer, models loaded in the first: {listed}."]
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="where the time of an answer goes")
    parser.add_argument("--docs", type=Path, default=CORPUS)
    parser.add_argument(
        "--answer", type=Path, nargs="+", default=[CORPUS / "answers" / "onboarding.md"]
    )
    parser.add_argument("--relation", help="a relation model; the default one")
    parser.add_argument("--llm", help="an LLM; the default one")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--cold", action="store_true", help="without states of prompts on disk")
    parser.add_argument("--kept", action="store_true", help="keep scores and states of passages")
    parser.add_argument(
        "--prepared", action="store_true", help="the same, and passages are read ahead"
    )
    parser.add_argument("--store", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.store:
        print(json.dumps(measured(arguments, arguments.store)))
        return
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        launcher = [sys.executable, str(Path(__file__).parents[1] / "cli.py")]
        excluded = ["--exclude", "answers/**"]
        subprocess.run(
            [*launcher, "index", str(arguments.docs), *excluded, "--store", str(store)], check=True
        )
        if arguments.prepared:
            begun = time.perf_counter()
            asked = [f"--{n}={v}" for n in ("relation", "llm") if (v := getattr(arguments, n))]
            subprocess.run([*launcher, "prepare", "--store", str(store), *asked], check=True)
            print(f"prepared in {time.perf_counter() - begun:.0f} s")
        command = [sys.executable, "-m", "benchmarks.answer_time", *sys.argv[1:]]
        runs = []
        for number in range(arguments.repeat):
            fresh = Path(folder) / str(number)
            shutil.copytree(store, fresh)
            done = subprocess.run(
                [*command, "--store", str(fresh)], check=True, capture_output=True, text=True
            )
            runs.append(json.loads(done.stdout.splitlines()[-1]))
    print(table(runs))
    print(
        f"\nsignature: factcheck-local:{__version__}|{', '.join(runs[0]['models'])}|"
        f"answers:{','.join(path.name for path in arguments.answer)}|"
        f"relation:{arguments.relation or 'default'}|llm:{arguments.llm or 'default'}|"
        f"cold:{arguments.cold}|kept:{arguments.kept}|prepared:{arguments.prepared}|"
        f"repeat:{arguments.repeat}"
    )


if __name__ == "__main__":
    main()
