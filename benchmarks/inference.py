"""Inference on seeded fact graphs: error and time, side by side with other engines.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m benchmarks.inference --seeds 10

For every family and size of `benchmarks.fact_graphs`: our engine as it chooses
itself, weighted mini-buckets with the paper's i-bound 6, pgmpy's variable elimination,
and pyAgrum's exact inference where it is installed. The reference is exact where the
width allows, else a long annealed Gibbs run. One engine after another, on the cores
that the two variables allow; another engine gets ``--timeout`` seconds and ``--memory``
bytes a graph.
Writes ``inference.json`` and ``inference.md``.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np

from benchmarks.fact_graphs import (
    FAMILIES,
    NOISE,
    PRIOR,
    PROBABILITY,
    SHARED,
    Family,
    fact_graph,
    sparse_fact_graph,
)
from benchmarks.wmb import I_BOUND, infer_by_wmb
from factcheck_local import __version__
from factcheck_local.core.errors import InferenceError
from factcheck_local.evaluate.machine import machine
from factcheck_local.markov import Limits, Network, Parameterisation, infer
from factcheck_local.markov.arrays import compile_network
from factcheck_local.markov.bp import belief_propagation
from factcheck_local.markov.engine import find_order
from factcheck_local.markov.gibbs import annealed_gibbs
from factcheck_local.markov.order import min_degree, neighbourhoods
from factcheck_local.markov.reduce import reduce

SIZES = (5, 20, 30, 50, 200)
LARGE = (2000, 6000, 17000)

#: The long annealed Gibbs run that stands in for exact marginals.
REFERENCE = {"chains": 1500, "anneal": 300, "sweeps": 600}

Posterior = Mapping[str, float]


def ours(network: Network) -> Posterior:
    """Our engine, as it chooses."""
    return infer(network).p_true


def wmb(network: Network) -> Posterior:
    """Weighted mini-buckets, with the paper's i-bound."""
    return infer_by_wmb(network).p_true


def pgmpy(network: Network) -> Posterior:
    """Variable elimination of pgmpy, a query for each atom."""
    from pgmpy.inference import VariableElimination

    solver = VariableElimination(network.to_pgmpy())
    found = {}
    for variable in _atoms(network.variables):
        values = solver.query([variable], show_progress=False).values
        found[variable] = float(values[1] / values.sum())
    return found


def pyagrum(network: Network) -> Posterior:
    """Exact inference of pyAgrum on the Markov network."""
    import pyagrum as gum

    model = gum.MarkovRandomField()
    for variable in network.variables:
        model.add(gum.LabelizedVariable(variable, variable, 2))
    tables: dict[tuple[str, ...], Any] = {}
    for factor in network.factors:
        scope = tuple(sorted(factor.variables))
        axes = [factor.variables.index(v) for v in scope]
        table = factor.table.transpose(axes)
        tables[scope] = tables[scope] * table if scope in tables else table
    for scope, table in tables.items():
        # The first variable of a pyAgrum table changes fastest.
        model.addFactor(list(scope))
        model.factor(set(scope)).fillWith(
            _ordered(model.factor(set(scope)), scope, table).ravel().tolist()
        )
    solver = gum.ShaferShenoyMRFInference(model)
    solver.makeInference()
    return {v: float(solver.posterior(v)[1]) for v in _atoms(network.variables)}


ENGINES: dict[str, Callable[[Network], Posterior]] = {
    "factcheck-local": ours,
    "WMB i=6": wmb,
    "pgmpy VE": pgmpy,
    "pyAgrum": pyagrum,
}


def _ordered(factor: Any, scope: Sequence[str], table: np.ndarray) -> np.ndarray:  # noqa: ANN401
    """A table with its axes in the reverse of a pyAgrum factor's own order."""
    names = list(factor.names)
    found: np.ndarray = table.transpose([scope.index(v) for v in reversed(names)])
    return found


def _atoms(variables: Sequence[str]) -> list[str]:
    return [v for v in variables if v.startswith("a")]


def reference(network: Network) -> tuple[Posterior, str]:
    """Marginals to measure errors against, and what they are from."""
    try:
        return infer(network, "exact").p_true, "exact"
    except InferenceError:
        arrays = compile_network(network)
        reduction = reduce(arrays)
        parts = []
        for part in reduction.parts:
            start = belief_propagation(part.arrays, starts=1).log_odds
            # Weak beliefs to start from: the run must not inherit their mistakes.
            samples = annealed_gibbs(part.arrays, np.clip(start, -3, 3), seed=1, **REFERENCE)
            parts.append(samples.p_true)
        p_true = reduction.restore(parts)
        return dict(zip(network.variables, p_true.tolist(), strict=True)), "annealed Gibbs"


def _timed(engine: str, network: Network, repeat: int) -> tuple[Posterior, float]:
    """The posteriors and the median seconds of ``repeat`` runs after a first one."""
    found = ENGINES[engine](network)
    seconds = []
    for _ in range(repeat):
        begun = time.perf_counter()
        ENGINES[engine](network)
        seconds.append(time.perf_counter() - begun)
    return found, median(seconds)


def _apart(
    engine: str, network: Network, options: argparse.Namespace
) -> tuple[Posterior, float] | str:
    """The same in a process of its own that may run out of time or memory."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)

    def run() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (options.memory, options.memory))
        try:
            sender.send(_timed(engine, network, 1))
        except ImportError:
            sender.send("not installed")
        except MemoryError:
            sender.send("out of memory")
        except Exception as error:  # another library's, whatever it is: part of the result
            sender.send(f"{type(error).__name__}")

    process = context.Process(target=run)
    process.start()
    answer: tuple[Posterior, float] | str = "timeout"
    if receiver.poll(options.timeout):
        try:
            answer = receiver.recv()
        except EOFError:
            answer = "died"
    process.kill()
    process.join()
    return answer


def measure(family: Family, atoms: int, options: argparse.Namespace) -> dict[str, Any]:
    """All engines on ``--seeds`` graphs of one family and size."""
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in ENGINES}
    widths, relations, kinds, exact = [], [], set(), 0
    for seed in range(options.seeds):
        network = fact_graph(family, atoms, seed, options.factors)
        expected, kind = reference(network)
        kinds.add(kind)
        widths.append(_width(network))
        relations.append(sum(len(f.variables) == 2 for f in network.factors))
        exact += infer(network).exact
        for name in ENGINES:
            own = name in ("factcheck-local", "WMB i=6")
            if own:
                answer: Any = _timed(name, network, options.repeat)
            elif seed < options.peer_seeds and not _hopeless(rows[name]):
                answer = _apart(name, network, options)
            else:
                continue
            rows[name].append(_row(answer, expected))
    return {
        "family": family.name,
        "atoms": atoms,
        "width": median(widths),
        "relations": median(relations),
        "exact": exact,
        "graphs": options.seeds,
        "reference": "/".join(sorted(kinds)),
        "engines": {name: _summary(found) for name, found in rows.items()},
    }


def _hopeless(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether an engine has failed on a graph of this size already."""
    return any("failed" in row for row in rows)


def _row(answer: tuple[Posterior, float] | str, expected: Posterior) -> dict[str, Any]:
    if isinstance(answer, str):
        return {"failed": answer}
    found, seconds = answer
    errors = [abs(found[a] - expected[a]) for a in _atoms(list(expected))]
    wrong = [(found[a] > 0.5) != (expected[a] > 0.5) for a in _atoms(list(expected))]
    return {"seconds": seconds, "mean": fmean(errors), "worst": max(errors), "wrong": fmean(wrong)}


def _summary(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    done = [row for row in rows if "failed" not in row]
    failed = [row["failed"] for row in rows if "failed" in row]
    if not done:
        return {"failed": failed[0] if failed else "not run"}
    return {
        "milliseconds": 1e3 * median(row["seconds"] for row in done),
        "mean_error": fmean(row["mean"] for row in done),
        "worst_error": max(row["worst"] for row in done),
        "wrong_side": fmean(row["wrong"] for row in done),
        "graphs": len(done),
        **({"failed": failed[0]} if failed else {}),
    }


def _width(network: Network) -> int:
    """Of the greedy elimination order of what is left after the leaves."""
    found = 0
    for part in reduce(compile_network(network)).parts:
        order = find_order(part.arrays, Limits().max_width) or min_degree(
            neighbourhoods(part.arrays), part.arrays.count
        )
        found = max(found, order.width if order else 0)
    return found


def large(seed: int = 0) -> dict[str, Any]:
    """Seconds for 2,000 atoms, 6,000 passages and 17,000 relations."""
    network = sparse_fact_graph(*LARGE, seed)
    seconds = []
    for _ in range(3):
        begun = time.perf_counter()
        found = infer(network)
        seconds.append(time.perf_counter() - begun)
    return {"seconds": median(seconds), "method": found.method, "error": found.error}


def to_markdown(result: Mapping[str, Any]) -> str:
    """One table a measure of interest: time and errors of every engine."""
    lines = [
        "# Inference on random fact graphs",
        "",
        f"{result['seeds']} graphs of each kind, {result['factors']} factors; medians of the "
        "time, means and worst of the errors over atoms. "
        f"{SHARED:.0%} of the passages shared, priors {PRIOR[0]} to {PRIOR[1]}, probabilities "
        f"{PROBABILITY[0]} to {PROBABILITY[1]}, {NOISE[0]:.0%} to {NOISE[1]:.0%} of the relations "
        "wrong.",
        "",
        "| graphs | atoms | width | relations | reference | engine | ms | mean error | worst | "
        "wrong side | of graphs |",
        "|---|---:|---:|---:|---|---|---:|---:|---:|---:|---:|",
    ]
    for row in result["rows"]:
        head = (
            f"| {row['family']} | {row['atoms']} | {row['width']:g} | {row['relations']:g} | "
            f"{row['reference']} |"
        )
        for name, found in row["engines"].items():
            if "milliseconds" not in found:
                lines.append(f"{head} {name} | {found['failed']} | – | – | – | – |")
                continue
            note = f", exact {row['exact']} of {row['graphs']}" if name == "factcheck-local" else ""
            lines.append(
                f"{head} {name}{note} | {found['milliseconds']:.1f} | {found['mean_error']:.2g} | "
                f"{found['worst_error']:.2g} | {found['wrong_side']:.2%} | {found['graphs']} |"
            )
    big = result["large"]
    lines += [
        "",
        f"{LARGE[0]:,} atoms, {LARGE[1]:,} passages, {LARGE[2]:,} relations: "
        f"{big['seconds']:.2f} s ({big['method']}).",
        "",
        f"signature: `{result['signature']}`",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, write, print."""
    options = _options()
    families = [f for f in FAMILIES if not options.family or f.name in options.family]
    rows = []
    for family in families:
        for atoms in options.sizes:
            # FR2 and FR3 over 200 atoms would have ten thousands of relations.
            if atoms > 50 and family.density:
                continue
            rows.append(measure(family, atoms, options))
            print(json.dumps(rows[-1]), flush=True)
    result = {
        "seeds": options.seeds,
        "factors": options.factors,
        "machine": machine(),
        "rows": rows,
        "large": large(),
        "signature": f"factcheck-local:{__version__}|factors:{options.factors}|"
        f"seeds:{options.seeds}|repeat:{options.repeat}|limits:{asdict(Limits())}|i-bound:{I_BOUND}|"
        f"reference:{REFERENCE}|machine:{machine()}",
    }
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "inference.json").write_text(json.dumps(result, indent=1) + "\n")
    text = to_markdown(result)
    (options.out / "inference.md").write_text(text, encoding="utf-8")
    print(text)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="inference engines on random fact graphs")
    parser.add_argument("--seeds", type=int, default=10, help="graphs of each kind")
    parser.add_argument("--peer-seeds", type=int, default=3, help="of these for other engines")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="atoms")
    parser.add_argument("--family", action="append", help="by name; repeatable")
    parser.add_argument("--repeat", type=int, default=5, help="timed runs of ours on a graph")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds for another engine")
    parser.add_argument("--memory", type=int, default=6 << 30, help="bytes for another engine")
    factors: tuple[Parameterisation, ...] = ("conditional", "table1")
    parser.add_argument("--factors", choices=factors, default="conditional")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    return parser.parse_args()


if __name__ == "__main__":
    main()
