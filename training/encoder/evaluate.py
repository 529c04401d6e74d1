"""How well an encoder tells the three labels apart, on what no run has read.

    python -m training.encoder.evaluate RUN/model --public DATA/nli \
        --dev DATA/nli/factcheckbench-dev.jsonl --dev DATA/nli/fever-symmetric-dev.jsonl

Prints a table: held-out authored passages and sets, held-out passages of public files, and the
dev files. The folder is a checkpoint, or an export with ``model.onnx``. Passages are read as in
use, tables written out; probabilities are the encoder's own, uncalibrated. Passages, not pairs,
are drawn for the intervals, those that share a claim together, as all of a set do.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
import numpy.typing as npt
import torch

from factcheck_local.metrics import auroc, balanced_accuracy, bootstrap_ci
from factcheck_local.models.contracts import PairClassifier
from factcheck_local.models.encoder import NliEncoder
from factcheck_local.models.offline import go_offline
from factcheck_local.models.onnx_encoder import MODEL_FILE, OnnxNliEncoder
from factcheck_local.pipeline.relation.encoder import EncoderPairScorer
from factcheck_local.pipeline.relation.scorer import PairScorer, Premise
from factcheck_local.pipeline.relation.tables import stated
from training.adapter.groups import LABELS, Claim, Group, authored, linked, pairs, sets
from training.encoder.train import DATA
from training.mixture import public_file

#: Public files whose held-out passages are measured.
PUBLIC = ("check-covid", "scifact", "train-fool-me-twice")
RESAMPLES = 500


@dataclass(frozen=True, slots=True)
class Judged:
    """The claims of a passage, or of passages that share claims, as an encoder reads them.

    Attributes:
        gold: their labels, n of ``LABELS``.
        p: probabilities of ``LABELS``, shape (n, 3).
    """

    gold: tuple[str, ...]
    p: npt.NDArray[np.float64]


def label_auroc(read: Sequence[Judged], label: str) -> float | None:
    """AUROC of p(label) for the claims with that label against the others; None without both."""
    gold, p = _together(read)
    column: list[float] = p[:, LABELS.index(label)].tolist()
    return auroc(column, [g == label for g in gold])


def accuracy(read: Sequence[Judged], labels: Sequence[str]) -> float | None:
    """Balanced accuracy, the most probable of ``labels`` being the answer."""
    gold, p = _together(read)
    top = p[:, [LABELS.index(label) for label in labels]].argmax(axis=1)
    return balanced_accuracy(gold, [labels[i] for i in top.tolist()])


def false_denials(read: Sequence[Judged]) -> float | None:
    """Share of the neutral pairs that are called a contradiction; None without any."""
    gold, p = _together(read)
    top = [LABELS[i] for i in p.argmax(axis=1).tolist()]
    called = [t == "contradiction" for g, t in zip(gold, top, strict=True) if g == "neutral"]
    return sum(called) / len(called) if called else None


def read_groups(scorer: PairScorer, groups: Sequence[Group]) -> list[Judged]:
    """What a model says of all claims of the groups, those that share a claim as one."""
    read: list[tuple[str, str]] = []
    gold: list[str] = []
    rows = [np.empty((0, 3))]
    for group in groups:
        texts = [claim.text for claim in group.claims]
        rows.append(np.exp(scorer.score(Premise(group.title, stated(group.passage)), texts)))
        gold += [claim.label for claim in group.claims]
        read += [(group.passage, text) for text in texts]
    p = np.concatenate(rows)
    return [Judged(tuple(gold[i] for i in own), p[own]) for own in linked(read)]


def dev_groups(path: Path) -> list[Group]:
    """All rows ``{"premise", "hypothesis", "label"}`` of a file, those of one premise together."""
    by_premise: dict[str, list[Claim]] = {}
    with path.open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            claim = Claim(row["hypothesis"], row["label"])
            by_premise.setdefault(row["premise"], []).append(claim)
    return [Group(path.stem, "", premise, tuple(c)) for premise, c in by_premise.items()]


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--public", type=click.Path(exists=True, path_type=Path))
@click.option("--own", type=click.Path(exists=True, path_type=Path), default=DATA)
@click.option("--dev", type=click.Path(exists=True, path_type=Path), multiple=True)
@click.option("--max-tokens", type=int, default=384, show_default=True, help="Of a pair.")
@click.option("--device", default="cpu", show_default=True)
@click.option("--threads", type=int, default=2, show_default=True)
def main(
    folder: Path,
    public: Path | None,
    own: Path,
    dev: tuple[Path, ...],
    max_tokens: int,
    device: str,
    threads: int,
) -> None:
    """Measure the encoder in FOLDER."""
    go_offline()
    torch.set_num_threads(threads)
    # All are read before the first is scored: a wrong path shows at once, not after minutes.
    files = sorted((own / "authored" / "sets").glob("*.jsonl"))
    held = [group for path in files for group in sets(path, held_out=True)]
    further = {n: pairs(public_file(public, n), held_out=True) for n in PUBLIC} if public else {}
    further |= {path.stem: dev_groups(path) for path in dev}
    scorer = EncoderPairScorer(_classifier(folder, max_tokens, device, threads))
    click.echo("| | pairs | AUROC entailment | contradiction | balanced accuracy | false denials |")
    click.echo("|---|---|---|---|---|---|")
    together: list[Judged] = []
    for path in sorted((own / "authored").glob("*.jsonl")):
        read = read_groups(scorer, authored(path, held_out=True))
        _row(path.stem, read)
        together += read
    targets = [_row("authored, all", together)]
    _row("sets", read_groups(scorer, held))
    rows = {name: _row(name, read_groups(scorer, groups)) for name, groups in further.items()}
    targets += [rows[path.stem] for path in dev]
    known = [[v for v in column if v is not None] for column in zip(*targets, strict=True)]
    means = " | ".join(f"{sum(v) / len(v):.3f}" if v else "–" for v in known)
    click.echo(f"| mean of authored and dev | | {means} | |")


def _classifier(folder: Path, max_tokens: int, device: str, threads: int) -> PairClassifier:
    if (folder / MODEL_FILE).exists():
        return OnnxNliEncoder("encoder", "", folder, max_tokens=max_tokens, n_threads=threads)
    return NliEncoder("encoder", "", folder, max_tokens=max_tokens, device=device)


def _row(name: str, read: Sequence[Judged]) -> tuple[float | None, ...]:
    """Print a set's measures with 95 % intervals; the first three of them."""
    gold, _ = _together(read)
    labels: Sequence[str] = [label for label in LABELS if label in gold] or LABELS
    statistics: list[Callable[[Sequence[Judged]], float | None]] = [
        lambda some: label_auroc(some, LABELS[0]),
        lambda some: label_auroc(some, LABELS[1]),
        lambda some: accuracy(some, labels),
        false_denials,
    ]
    shown = (_with_interval(read, statistic) for statistic in statistics)
    click.echo(f"| {name} | {len(gold)} | " + " | ".join(shown) + " |")
    return tuple(statistic(read) for statistic in statistics[:3])


def _with_interval(
    read: Sequence[Judged], statistic: Callable[[Sequence[Judged]], float | None]
) -> str:
    value = statistic(read)
    if value is None:
        return "–"
    interval = bootstrap_ci(read, statistic, resamples=RESAMPLES)
    return f"{value:.3f}" + (f" [{interval[0]:.3f}, {interval[1]:.3f}]" if interval else "")


def _together(read: Sequence[Judged]) -> tuple[list[str], npt.NDArray[np.float64]]:
    """Labels and probabilities of all claims, shapes (n,) and (n, 3)."""
    gold = [label for judged in read for label in judged.gold]
    return gold, np.concatenate([np.empty((0, 3)), *(judged.p for judged in read)])


if __name__ == "__main__":
    main()
