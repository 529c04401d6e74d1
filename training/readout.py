"""Fit what reads an LLM's hidden state, and write it beside the model's card.

    python -m training.readout --out factcheck_local/models/readouts/NAME.npz \
        --states states.npz pairs/plain.jsonl:600 pairs/docs.jsonl:450 pairs/facts.jsonl:450

FILE:N takes up to N pairs of a file, equally many of each label. The states cost
about a second a pair; they are kept in ``--states``, so that the run can be
stopped and goes on. The strength of the penalty is the one under which a
readout fitted on all sources but one does best on that one, averaged over the
sources: what counts is a source that it has not seen.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression

from factcheck_local.models.offline import go_offline
from factcheck_local.models.registry import DEFAULT_LLM, load_model
from factcheck_local.relate import Premise
from factcheck_local.relate.llm import LlmPairScorer
from factcheck_local.relate.readout import Readout
from training.adapter.groups import LABELS

SAVE_EVERY = 50
PENALTIES = (1e-5, 1e-4, 3e-4, 1e-3, 1e-2)
#: The label tokens' log probabilities are three features beside a thousand: scaled
#: up, they are hardly penalised, so that the readout starts from what they say.
LABEL_SCALE = 10.0

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Samples:
    """Labelled pairs with what the LLM says of them.

    Attributes:
        log_p: shape (n, 3), of the label tokens.
        states: shape (n, d).
        labels: shape (n,), indices of ``LABELS``.
        sources: shape (n,).
    """

    log_p: Floats
    states: Floats
    labels: npt.NDArray[np.int64]
    sources: npt.NDArray[np.str_]


def sample(spec: str, seed: int) -> list[dict[str, str]]:
    """Up to N pairs of FILE:N, equally many of each label, each source in turn."""
    path, _, count = spec.partition(":")
    with Path(path).open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    random.Random(seed).shuffle(rows)
    sources = sorted({r["source"] for r in rows})
    share = max(1, int(count or len(rows)) // (len(LABELS) * len(sources)))
    return [
        row
        for source in sources
        for label in LABELS
        for row in [r for r in rows if r["label"] == label and r["source"] == source][:share]
    ]


def key(row: dict[str, str]) -> str:
    """Names a pair in the file of states."""
    return hashlib.sha256(f"{row['premise']}\n{row['hypothesis']}".encode()).hexdigest()[:24]


def kept(path: Path) -> dict[str, tuple[Floats, Floats]]:
    """Log probabilities and state by key."""
    if not path.exists():
        return {}
    with np.load(path, allow_pickle=False) as found:
        return {
            str(k): (p, s)
            for k, p, s in zip(found["keys"], found["log_p"], found["states"], strict=True)
        }


def keep(path: Path, known: dict[str, tuple[Floats, Floats]]) -> None:
    """Write the states, replacing the file in one step."""
    draft = path.with_suffix(".part.npz")
    np.savez(
        draft,
        keys=np.array(list(known)),
        log_p=np.array([p for p, _ in known.values()]),
        states=np.array([s for _, s in known.values()], dtype=np.float16),
    )
    draft.replace(path)


def gather(rows: Sequence[dict[str, str]], path: Path, llm: str) -> Samples:
    """The states of all rows, from the file where it has them."""
    known = kept(path)
    missing = [r for r in rows if key(r) not in known]
    if missing:
        scorer = LlmPairScorer(load_model(llm, "llm"))
        for done, row in enumerate(missing, start=1):
            log_p, states = scorer.states(Premise("", row["premise"]), [row["hypothesis"]])
            known[key(row)] = (log_p[0], states[0].astype(np.float64))
            if done % SAVE_EVERY == 0 or done == len(missing):
                keep(path, known)
                click.echo(f"{done} of {len(missing)} pairs read", err=True)
    return Samples(
        np.array([known[key(r)][0] for r in rows], dtype=np.float64),
        np.array([known[key(r)][1] for r in rows], dtype=np.float64),
        np.array([LABELS.index(r["label"]) for r in rows]),
        # The synthetic pairs of one file are of one kind, whatever text they were made from.
        np.array([r["group"] if "/" in r["source"] else r["source"] for r in rows]),
    )


def fit(data: Samples, penalty: float) -> Readout:
    """Multinomial logistic regression; ``penalty`` is scikit-learn's C."""
    mean, spread = data.states.mean(axis=0), data.states.std(axis=0) + 1e-6
    inputs = np.hstack([(data.states - mean) / spread, LABEL_SCALE * data.log_p])
    model = LogisticRegression(C=penalty, max_iter=5000, tol=1e-3).fit(inputs, data.labels)
    states = model.coef_[:, :-3] / spread
    return Readout(
        states.astype(np.float32),
        (model.coef_[:, -3:] * LABEL_SCALE).astype(np.float32),
        (model.intercept_ - states @ mean).astype(np.float32),
    )


def loss(readout: Readout, data: Samples) -> float:
    """Mean -ln p(label), every label weighing the same."""
    log_q = readout.apply(data.log_p, data.states.astype(np.float32))
    own = log_q[np.arange(len(data.labels)), data.labels]
    return -float(np.mean([own[data.labels == i].mean() for i in np.unique(data.labels)]))


def part(data: Samples, chosen: npt.NDArray[np.bool_]) -> Samples:
    """The rows that are chosen."""
    return Samples(*(getattr(data, f)[chosen] for f in ("log_p", "states", "labels", "sources")))


def left_out(data: Samples, penalty: float) -> Iterator[tuple[str, float]]:
    """Loss on each source of a readout fitted on the others."""
    for source in np.unique(data.sources):
        own = data.sources == source
        yield str(source), loss(fit(part(data, ~own), penalty), part(data, own))


@click.command()
@click.argument("data", nargs=-1, required=True)
@click.option("--llm", default=DEFAULT_LLM, show_default=True)
@click.option("--states", type=click.Path(path_type=Path), required=True)
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--seed", type=int, default=1, show_default=True)
def main(data: tuple[str, ...], llm: str, states: Path, out: Path, seed: int) -> None:
    """Fit on DATA, files of labelled pairs with a number of pairs: FILE:N."""
    go_offline()
    rows: list[dict[str, Any]] = []
    for spec in data:
        group = Path(spec.partition(":")[0]).stem
        rows += [r | {"group": group} for r in sample(spec, seed)]
    random.Random(seed).shuffle(rows)
    samples = gather(rows, states, llm)
    means = {}
    for penalty in PENALTIES:
        found = dict(left_out(samples, penalty))
        means[penalty] = float(np.mean(list(found.values())))
        each = "  ".join(f"{source} {value:.3f}" for source, value in found.items())
        click.echo(f"C={penalty:g}  mean loss {means[penalty]:.4f}  {each}", err=True)
    best = min(means, key=lambda p: means[p])
    out.parent.mkdir(parents=True, exist_ok=True)
    sha256 = fit(samples, best).save(out)
    click.echo(f"# fitted on {len(rows)} pairs, C={best:g}")
    click.echo(f'[readouts.relate-v1]\nfile = "{out.name}"\nsha256 = "{sha256}"')


if __name__ == "__main__":
    main()
