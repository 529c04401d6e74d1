"""Train an adapter that takes answers apart and corrects sentences.

    python -m training.claims.train --base model.gguf --out RUN --epochs 2

The layers below ``--first-layer`` stay as they are; what they make of an answer is kept, so
that from the second epoch on only the others are computed. The state is saved every few
minutes; the same command goes on from it. ``training.adapter.export`` turns RUN/adapter.pt
into a file for llama.cpp.
"""

from __future__ import annotations

import json
import math
import random
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, TypeVar

import click
import torch
import torch.nn.functional as F

from factcheck_local.correct.replace import ADAPTED_PROMPT as CORRECT
from factcheck_local.models.chat_format import chat_format
from factcheck_local.models.prompts import load_prompt
from training.adapter.export import taken_up
from training.adapter.model import Adapted, load
from training.claims.answers import answers, drawn
from training.claims.corrections import corrections, sequences
from training.claims.packing import Packer, Taught, taught
from training.claims.preferences import Preference, pairs
from training.resuming import arguments, check_arguments

DATA = Path(__file__).parents[1] / "data"
SAVE_SECONDS = 300
LOG_STEPS = 5
T = TypeVar("T")
#: Tokens that none of the replies has, among which the right one is to be found, too.
OTHER_TOKENS = 8000


class Teacher:
    """Losses of an adapted model; what the frozen layers made of a sequence is kept."""

    def __init__(self, model: Adapted, first_layer: int, vocabulary: torch.Tensor) -> None:
        self._network = model.network
        self._first = first_layer
        self._vocabulary = vocabulary
        weights = self._network.lm_head.weight
        self._device, self._dtype = weights.device, weights.dtype
        self._place = torch.full((len(weights),), -1)
        self._place[vocabulary] = torch.arange(len(vocabulary))
        self._words = weights[vocabulary.to(self._device)].float()
        self._kept: dict[int, torch.Tensor] = {}

    def loss(self, taught: Taught, key: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Cross entropy of each token of the replies and its weight, shape (m,) each, in nats.

        Both are on the model's device.

        Args:
            taught: an answer with parts and replies.
            key: the sequence's number in the run; nothing else may have it.
        """
        body = self._network.model
        positions = taught.positions[None].to(self._device)
        with torch.no_grad():
            turned = body.rotary_emb(self._network.lm_head.weight[:1], positions)
            states = self._kept.get(key)
            if states is None:
                states = body.embed_tokens(taught.tokens[None].to(self._device))
                states = self._through(body.layers[: self._first], states, taught, turned)
                self._kept[key] = states.bfloat16()
        states = states.to(self._dtype)
        states = self._through(body.layers[self._first :], states, taught, turned)
        said = body.norm(states)[0, taught.at.to(self._device)].float()
        wanted = self._place[taught.wanted].to(self._device)
        losses = F.cross_entropy(said @ self._words.T, wanted, reduction="none")
        return losses, taught.weights.to(self._device)

    def _through(
        self, layers: Sequence[Any], states: torch.Tensor, taught: Taught, turned: Any
    ) -> torch.Tensor:
        for layer in layers:
            states = layer(
                states,
                attention_mask=taught.segments,
                position_ids=taught.positions[None].to(self._device),
                position_embeddings=turned,
            )
        return states


@click.command()
@click.option("--base", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--own", type=click.Path(exists=True, path_type=Path), default=DATA)
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option(
    "--from",
    "begin",
    type=click.Path(exists=True, path_type=Path),
    help="An exported adapter of at most this rank, on the same layers and with the same scale.",
)
@click.option(
    "--sample",
    "sampled",
    type=(str, click.FloatRange(0, 1)),
    multiple=True,
    help="FILE SHARE: so much of a file of the own data; all of it where none is given.",
)
@click.option(
    "--ways",
    type=click.Path(exists=True, path_type=Path),
    help="A folder of training.claims.ways: of each pair the better way is preferred.",
)
@click.option(
    "--beta",
    type=click.FloatRange(0, min_open=True),
    default=0.2,
    show_default=True,
    help="How much a nat of preference counts; see training.claims.preferences.",
)
@click.option("--epochs", type=float, default=2, show_default=True)
@click.option("--rank", type=int, default=16, show_default=True)
@click.option("--alpha", type=float, default=32, show_default=True)
@click.option("--first-layer", type=int, default=12, show_default=True)
@click.option("--lr", type=float, default=3e-4, show_default=True)
@click.option("--tokens", type=int, default=1000, show_default=True, help="At most, at once.")
@click.option("--template", default="chatml", show_default=True)
@click.option("--device", default="cpu", show_default=True, help="cuda for a GPU.")
@click.option("--threads", type=int, default=2, show_default=True)
@click.option("--seed", type=int, default=1, show_default=True)
def main(
    base: Path,
    own: Path,
    out: Path,
    begin: Path | None,
    sampled: tuple[tuple[str, float], ...],
    ways: Path | None,
    beta: float,
    epochs: float,
    rank: int,
    alpha: float,
    first_layer: int,
    lr: float,
    tokens: int,
    template: str,
    device: str,
    threads: int,
    seed: int,
) -> None:
    """Train an adapter for the GGUF file BASE on the own answers."""
    torch.set_num_threads(threads)
    torch.manual_seed(seed)
    out.mkdir(parents=True, exist_ok=True)
    model = load(base, rank=rank, alpha=alpha, device=device, first_layer=first_layer)
    packer = Packer(model.tokenize, chat_format(template), load_prompt("claims"))
    rng, shares = random.Random(seed), dict(sampled)
    lessons = [
        taught
        for path in sorted((own / "atoms").glob("*.jsonl"))
        for answer in _part(answers(path, held_out=False), shares.pop(path.stem, 1.0), rng)
        for taught in packer.pack(drawn(answer, rng), most=tokens)
    ]
    wrong = [
        item
        for path in sorted((own / "corrections").glob("*.jsonl"))
        for item in _part(corrections(path, held_out=False), shares.pop(path.stem, 1.0), rng)
    ]
    lessons += [
        taught(prefix, tails)
        for prefix, tails in sequences(
            wrong,
            tokenize=model.tokenize,
            template=chat_format(template),
            prompt=load_prompt(CORRECT),
            most=tokens,
        )
    ]
    if shares:
        raise click.BadParameter(f"no file {', '.join(shares)} in {own}", param_hint="--sample")
    if ways is not None and begin is None:
        raise click.UsageError("--ways needs --from, the adapter whose ways these are")
    told_apart = pairs(ways) if ways is not None else []
    if ways is not None and not told_apart:
        raise click.BadParameter(f"no better and worse ways in {ways}", param_hint="--ways")
    alone = len(lessons)
    lessons += [
        taught for answer in told_apart for taught in packer.pack(answer, most=tokens, together=2)
    ]
    size = sum(len(taught.tokens) for taught in lessons)
    click.echo(f"{len(lessons)} sequences of {size} tokens", err=True)
    teacher = Teacher(model, first_layer, _vocabulary(lessons, model))
    adapter = model.adapter
    optimizer = torch.optim.AdamW(adapter.values(), lr=lr, weight_decay=0.0, betas=(0.9, 0.98))
    if begin is not None:
        model.restore(taken_up(begin, adapter, alpha / rank))
    preference = Preference(model, beta)
    state, step, seconds = out / "state.pt", 0, 0.0
    if state.exists():
        saved = torch.load(state, weights_only=True)
        check_arguments(saved.get("arguments"))
        model.restore(saved["adapter"])
        optimizer.load_state_dict(saved["optimizer"])
        step, seconds = saved["step"], saved["seconds"]
        click.echo(f"goes on after {step} steps, {seconds / 60:.0f} min", err=True)
    steps = round(epochs * len(lessons))
    begun, last_save = time.monotonic() - seconds, seconds
    kinds: list[float] = []
    words: list[float] = []
    preferred: list[float] = []
    while step < steps:
        key = _order(len(lessons), step // len(lessons), seed)[step % len(lessons)]
        for group in optimizer.param_groups:
            group["lr"] = rate(step / steps, lr)
        losses, weights = teacher.loss(lessons[key], key)
        if key < alone:
            loss = (losses * weights).sum() / weights.sum()
            kinds += losses[weights > 1].tolist()
            words += losses[weights == 1].tolist()
        else:
            with torch.no_grad(), preference.before():
                known, _ = teacher.loss(lessons[key], key)
            loss, by = preference.loss(lessons[key], losses, known)
            preferred += by.tolist()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(adapter.values(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        step, seconds = step + 1, time.monotonic() - begun
        if step % LOG_STEPS == 0 or step == steps:
            told = {
                "kind": kinds,
                "claims": words,
                "preferred": [float(by > 0) for by in preferred],
                "by": preferred,
            }
            means = "  ".join(f"{name} {fmean(some):.3f}" for name, some in told.items() if some)
            click.echo(f"step {step} of {steps}  {seconds / 60:.1f} min  {means}", err=True)
            kinds, words, preferred = [], [], []
        if seconds - last_save > SAVE_SECONDS or step == steps:
            here = {"optimizer": optimizer.state_dict(), "seconds": seconds, "step": step}
            here["arguments"] = arguments()
            torch.save(_saved(model, rank, first_layer) | here, state.with_suffix(".new"))
            state.with_suffix(".new").replace(state)
            last_save = seconds
    torch.save(_saved(model, rank, first_layer), out / "adapter.pt")
    about = {"base": base.name, "steps": step, "seconds": seconds, "tokens": size}
    (out / "run.json").write_text(json.dumps(about))


def rate(progress: float, peak: float) -> float:
    """Learning rate: 5 % warm-up, then along half a cosine to a fiftieth."""
    if progress < 0.05:
        return peak * max(0.1, progress / 0.05)
    fallen = math.cos((progress - 0.05) / 0.95 * math.pi)
    return peak * max(0.02, 0.5 + 0.5 * fallen)


def _part(items: Sequence[T], share: float, rng: random.Random) -> list[T]:
    """A share of the items, in another order."""
    return rng.sample(items, round(share * len(items)))


def _vocabulary(lessons: Sequence[Taught], model: Adapted) -> torch.Tensor:
    """All tokens of the data, and others drawn at random: a softmax over all takes long."""
    drawn = torch.randint(0, model.network.lm_head.weight.shape[0], (OTHER_TOKENS,))
    found: torch.Tensor = torch.unique(torch.cat([*(taught.tokens for taught in lessons), drawn]))
    return found


def _order(count: int, epoch: int, seed: int) -> list[int]:
    order = list(range(count))
    random.Random(f"{seed} {epoch}").shuffle(order)
    return order


def _saved(model: Adapted, rank: int, first_layer: int) -> dict[str, Any]:
    weights = {name: p.detach().float().cpu() for name, p in model.adapter.items()}
    return {"adapter": weights, "rank": rank, "alpha": model.alpha, "first_layer": first_layer}


if __name__ == "__main__":
    main()
