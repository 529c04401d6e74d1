r"""Train an adapter on a GPU, with torch alone.

    python -m training.gpu.train --weights WEIGHTS --lessons relations.pt --measured measured.pt \\
        --from relate.pt --rank 13 --alpha 26 --first-layer 6 --seconds 240 --out RUN

Reads the lessons once, or as many of them as the time holds; the learning rate falls with
whichever ends sooner. RUN/adapter.pt is what ``training.adapter.export`` takes, RUN/scores.pt
what it makes of ``--measured``: log probabilities of the labels, or nats of each reply's token.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import torch
import torch.nn.functional as F
from torch import nn

from training.gpu.lessons import Lesson, Rows, batches, read, rows
from training.gpu.model import Model
from training.gpu.weights import Weights
from training.losses import label_losses
from training.rates import falling

LOG_SECONDS = 10.0
SAVE_SECONDS = 60.0
#: Weight in the loss of a reply's first token, which says the kind of a part.
FIRST_WEIGHT = 4.0


class Teacher:
    """Losses and scores of a model with an adapter.

    Args:
        model: the frozen weights.
        weights: says which ids there are.
        letters: ids of the label tokens.
    """

    def __init__(self, model: Model, weights: Weights, letters: Sequence[int]) -> None:
        self._model = model
        self._read, self._said = _places(weights.read), _places(weights.said)
        self._letters = model.said[[self._said[i] for i in letters]].float()

    def rows(self, batch: Sequence[Lesson]) -> Rows:
        """A batch on the model's device."""
        return rows(batch, self._read, self._said, self._model.device)

    def log_p(self, got: Rows, states: torch.Tensor) -> torch.Tensor:
        """Natural-log probabilities of the labels where one is asked, shape (n, 3)."""
        return (states[got.ends].float() @ self._letters.T).log_softmax(dim=1)

    def nats(self, got: Rows, states: torch.Tensor) -> torch.Tensor:
        """Cross entropy of each token of the replies among those of the file, shape (m,)."""
        said = F.linear(states[got.at], self._model.said).float()
        return F.cross_entropy(said, got.wanted, reduction="none")

    def states(self, got: Rows, adapter: dict[str, nn.Parameter], scale: float) -> torch.Tensor:
        """See ``Model.states``."""
        return self._model.states(got, adapter, scale)

    def loss(self, got: Rows, states: torch.Tensor, smoothing: float) -> torch.Tensor:
        """The mean of the labels' losses and the weighted mean of the replies' together."""
        total = states.new_zeros((), dtype=torch.float32)
        if len(got.labels):
            total = total + label_losses(self.log_p(got, states), got.labels, smoothing).mean()
        if len(got.wanted):
            weights = torch.where(got.first, FIRST_WEIGHT, 1.0)
            total = total + (self.nats(got, states) * weights).sum() / weights.sum()
        return total


@click.command()
@click.option("--weights", "folder", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--lessons", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--measured", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--asked",
    type=click.Path(exists=True, path_type=Path),
    help="Pairs without labels: what the trained adapter makes of them, for the encoder.",
)
@click.option("--from", "begin", type=click.Path(exists=True, path_type=Path))
@click.option("--letters", type=int, multiple=True, help="Ids of the label tokens.")
@click.option("--rank", type=int, default=16, show_default=True)
@click.option("--alpha", type=float, default=32, show_default=True)
@click.option("--first-layer", type=int, default=6, show_default=True)
@click.option("--lr", type=float, default=2e-4, show_default=True)
@click.option("--tokens", type=int, default=16384, show_default=True, help="In a step, at most.")
@click.option("--smoothing", type=float, default=0.03, show_default=True)
@click.option("--seconds", type=float, default=240, show_default=True)
@click.option("--device", default="cuda", show_default=True)
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), required=True)
def main(
    folder: Path,
    lessons: Path,
    measured: Path | None,
    asked: Path | None,
    begin: Path | None,
    letters: tuple[int, ...],
    rank: int,
    alpha: float,
    first_layer: int,
    lr: float,
    tokens: int,
    smoothing: float,
    seconds: float,
    device: str,
    seed: int,
    out: Path,
) -> None:
    """Train an adapter on LESSONS."""
    torch.manual_seed(seed)
    out.mkdir(parents=True, exist_ok=True)
    here = time.monotonic()
    weights = Weights(folder)
    model = Model(weights, device)
    read_ones = read(lessons)
    teacher = Teacher(model, weights, letters)
    adapter = model.fresh(rank, first_layer)
    scale = alpha / rank
    if begin is not None:
        _restore(adapter, begin, scale)
    click.echo(f"loaded in {time.monotonic() - here:.1f} s, {len(read_ones)} lessons", err=True)
    about = {"rank": rank, "alpha": alpha, "first_layer": first_layer}
    kept = read(measured) if measured else []
    if kept:
        torch.save(_scores(teacher, kept, adapter, scale, tokens), out / "scores-before.pt")
        click.echo(f"measured after {time.monotonic() - here:.1f} s", err=True)
    optimizer = torch.optim.AdamW(adapter.values(), lr=lr, weight_decay=0.0, betas=(0.9, 0.98))
    begun = logged = saved = time.monotonic()
    done, step, seen, losses = 0, 0, 0, []
    for batch in batches(read_ones, tokens, seed):
        passed = time.monotonic() - begun
        progress = max(passed / seconds, done / len(read_ones))
        if progress >= 1.0:
            break
        for group in optimizer.param_groups:
            group["lr"] = falling(max(progress, 1e-3), lr)  # the first step at more than 0
        got = teacher.rows(batch)
        loss = teacher.loss(got, teacher.states(got, adapter, scale), smoothing)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(adapter.values(), 1.0, error_if_nonfinite=True)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.detach())
        done, step, seen = done + len(batch), step + 1, seen + sum(map(len, batch))
        if time.monotonic() - logged > LOG_SECONDS:
            mean = torch.stack(losses).mean().item()
            logged, losses = time.monotonic(), []
            pace = seen / (logged - begun)
            click.echo(
                f"step {step}  {logged - begun:.0f} s  {done} lessons  {seen} tokens  "
                f"{pace:.0f} a second  loss {mean:.4f}",
                err=True,
            )
        if time.monotonic() - saved > SAVE_SECONDS:
            saved = time.monotonic()
            _save(adapter, about, out / "adapter-so-far.pt")
    if device == "cuda":
        torch.cuda.synchronize()
    passed = time.monotonic() - begun
    _save(adapter, about, out / "adapter.pt")
    if kept:
        torch.save(_scores(teacher, kept, adapter, scale, tokens), out / "scores.pt")
    if asked is not None:
        found = _scores(teacher, read(asked), adapter, scale, tokens)
        torch.save(found, out / "answers.pt")
    record = {"steps": step, "lessons": done, "tokens": seen, "seconds": passed, "lr": lr}
    record |= {"of_lessons": len(read_ones), "seed": seed, "tokens_a_step": tokens}
    (out / "run.json").write_text(json.dumps(record | about) + "\n")
    click.echo(json.dumps(record), err=True)


def _places(vocabulary: Sequence[int]) -> list[int]:
    found = [-1] * (max(vocabulary) + 1)
    for new, old in enumerate(vocabulary):
        found[old] = new
    return found


def _restore(adapter: dict[str, nn.Parameter], path: Path, scale: float) -> None:
    """Put a run's weights in their places; of a lower rank, beside fresh ones. Others stay fresh.

    Raises:
        click.BadParameter: if they stand for other maps here: by their scale, their rank or layer.
    """
    saved = torch.load(path, weights_only=True)
    own = saved["alpha"] / saved["rank"]
    if not math.isclose(own, scale, rel_tol=1e-6):
        raise click.BadParameter(
            f"{path} has alpha / rank {own:g}, this run {scale:g}", param_hint="--from"
        )
    theirs = saved["adapter"]
    if saved["rank"] > len(next(iter(adapter.values()))) or theirs.keys() - adapter.keys():
        raise click.BadParameter(
            f"{path} has rank {saved['rank']} from layer {saved['first_layer']} on: --rank, "
            "--first-layer",
            param_hint="--from",
        )
    with torch.no_grad():
        for name, values in theirs.items():
            adapter[name][: values.shape[0], : values.shape[1]] = values.to(adapter[name])


def _save(adapter: dict[str, nn.Parameter], about: dict[str, Any], path: Path) -> None:
    weights = {name: p.detach().half().cpu() for name, p in adapter.items()}
    torch.save({"adapter": weights} | about, path.with_suffix(".new"))
    path.with_suffix(".new").replace(path)


def _scores(
    teacher: Teacher,
    lessons: Sequence[Lesson],
    adapter: dict[str, nn.Parameter],
    scale: float,
    tokens: int,
) -> dict[str, torch.Tensor]:
    """Log probabilities of the parts' labels in the lessons' order, and nats of the replies."""
    number = {id(lesson): i for i, lesson in enumerate(lessons)}
    labelled: dict[int, torch.Tensor] = {}
    nats, firsts = [], []
    with torch.no_grad():
        for batch in batches(lessons, 2 * tokens, None):
            got = teacher.rows(batch)
            states = teacher.states(got, adapter, scale)
            found = teacher.log_p(got, states).cpu()
            at = 0
            for lesson in batch:
                count = sum(label >= 0 for label in lesson.labels)
                labelled[number[id(lesson)]] = found[at : at + count]
                at += count
            if len(got.wanted):
                nats.append(teacher.nats(got, states).cpu())
                firsts.append(got.first.cpu())
    empty = torch.zeros(0)
    return {
        "log_p": torch.cat([labelled[i] for i in range(len(lessons))]),
        "nats": torch.cat(nats) if nats else empty,
        "first": torch.cat(firsts) if firsts else empty.bool(),
    }


if __name__ == "__main__":
    main()
