"""Train an adapter that makes an instructed LLM a relation model.

    python -m training.adapter.train --base model.gguf --public DATA/nli --out RUN --claims 12000 \
        --held-out DATA/nli/factcheckbench-dev.jsonl

Reads ``--claims`` claims, the learning rate falling over the last two thirds. The state is saved
every few minutes; the same command goes on from it, with the batches that would have come
without the break. ``--device cuda`` trains on a GPU. RUN/adapter.pt is what
``training.adapter.export`` turns into a file for llama.cpp; ``--from`` begins with such a file,
with a schedule of its own.
"""

from __future__ import annotations

import itertools
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
import torch

from factcheck_local.models.chat_format import chat_format
from factcheck_local.models.prompts import load_prompt
from factcheck_local.pipeline.relation.llm import ADAPTED_PROMPT
from training.adapter.export import taken_up
from training.adapter.groups import Group, wordings
from training.adapter.mixture import batches, in_other_words, sources
from training.adapter.model import Adapted, load
from training.adapter.packing import Packer
from training.losses import loss_of
from training.mixture import without
from training.overlap import Held
from training.rates import falling
from training.resuming import arguments, check_arguments

DATA = Path(__file__).parents[1] / "data"
SAVE_SECONDS = 300
LOG_STEPS = 10
#: A step's summed loss is divided by it, so that each claim weighs the same in every step.
CLAIMS_PER_STEP = 25.0


@dataclass(slots=True)
class Progress:
    """How far a run is: steps, claims read, and seconds of training, pauses left out."""

    steps: int = 0
    claims: int = 0
    seconds: float = 0.0


@click.command()
@click.option("--base", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--public", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--own", type=click.Path(exists=True, path_type=Path), default=DATA)
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option(
    "--from",
    "begin",
    type=click.Path(exists=True, path_type=Path),
    help="An exported adapter of at most this rank, on the same layers and with the same scale.",
)
@click.option(
    "--held-out",
    type=click.Path(exists=True, path_type=Path),
    multiple=True,
    help="A set to be measured on: no sentence of it is read.",
)
@click.option("--claims", "total", type=int, default=12_000, show_default=True)
@click.option("--rank", type=int, default=16, show_default=True)
@click.option("--alpha", type=float, default=32, show_default=True)
@click.option("--first-layer", type=int, default=9, show_default=True)
@click.option("--lr", type=float, default=2e-4, show_default=True)
@click.option("--tokens", type=int, default=1200, show_default=True, help="In a step, at least.")
@click.option("--smoothing", type=float, default=0.03, show_default=True)
@click.option("--template", default="chatml", show_default=True)
@click.option("--device", default="cpu", show_default=True)
@click.option("--threads", type=int, default=2, show_default=True)
@click.option("--seed", type=int, default=1, show_default=True)
@click.option(
    "--side-by-side",
    type=click.FloatRange(0, 1, max_open=True),
    default=0.0,
    show_default=True,
    help="Share of the tokens with several passages of a set as one text.",
)
@click.option(
    "--wordings",
    "other",
    type=click.Path(exists=True, path_type=Path),
    help="A folder of claims.wordings.",
)
@click.option(
    "--worded",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.5,
    show_default=True,
    help="Share of the tokens with claims in these words.",
)
def main(
    base: Path,
    public: Path,
    own: Path,
    out: Path,
    begin: Path | None,
    held_out: tuple[Path, ...],
    total: int,
    rank: int,
    alpha: float,
    first_layer: int,
    lr: float,
    tokens: int,
    smoothing: float,
    template: str,
    device: str,
    threads: int,
    seed: int,
    side_by_side: float,
    other: Path | None,
    worded: float,
) -> None:
    """Train an adapter for the GGUF file BASE on the own and the public pairs."""
    torch.set_num_threads(threads)
    torch.manual_seed(seed)
    out.mkdir(parents=True, exist_ok=True)
    model = load(base, rank=rank, alpha=alpha, device=device, first_layer=first_layer)
    packer = Packer(model.tokenize, chat_format(template), load_prompt(ADAPTED_PROMPT))
    adapter = model.adapter
    optimizer = torch.optim.AdamW(adapter.values(), lr=lr, weight_decay=0.0, betas=(0.9, 0.98))
    state, done = out / "state.pt", Progress()
    if state.exists():
        saved = torch.load(state, weights_only=True)
        check_arguments(saved.get("arguments"))
        model.restore(saved["adapter"])
        optimizer.load_state_dict(saved["optimizer"])
        done = Progress(**saved["progress"])
        click.echo(f"goes on after {done.steps} steps, {done.seconds / 60:.0f} min", err=True)
    elif begin is not None:
        model.restore(taken_up(begin, adapter, alpha / rank))
    drawn_from = without(sources(own, public, side_by_side), Held.of(held_out))
    if other is not None:
        worded_by = wordings(other)
        if not any(c.text in worded_by for s in drawn_from for g in s.groups for c in g.claims):
            raise click.BadParameter(f"no claim of a passage in {other}", param_hint="--wordings")
        drawn_from = in_other_words(drawn_from, worded_by, worded)
    stream = itertools.islice(
        batches(drawn_from, packer, tokens=tokens, seed=seed), done.steps, None
    )
    begun, last_save = time.monotonic() - done.seconds, done.seconds
    loss_sum, count_sum = 0.0, 0
    while done.claims < total:
        for group in optimizer.param_groups:
            group["lr"] = falling(done.claims / total, lr)
        loss, count = _step(model, packer, next(stream), smoothing)
        torch.nn.utils.clip_grad_norm_(adapter.values(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        loss_sum, count_sum = loss_sum + loss, count_sum + count
        done.steps, done.claims = done.steps + 1, done.claims + count
        done.seconds = time.monotonic() - begun
        if done.steps % LOG_STEPS == 0:
            click.echo(
                f"step {done.steps}  {done.seconds / 60:.1f} min  {done.claims} claims  "
                f"loss {loss_sum / count_sum:.3f}",
                err=True,
            )
            loss_sum, count_sum = 0.0, 0
        if done.seconds - last_save > SAVE_SECONDS or done.claims >= total:
            kept = {"optimizer": optimizer.state_dict(), "progress": asdict(done)}
            kept["arguments"] = arguments()
            torch.save(_saved(model, rank, first_layer) | kept, state.with_suffix(".new"))
            state.with_suffix(".new").replace(state)
            last_save = done.seconds
    torch.save(_saved(model, rank, first_layer), out / "adapter.pt")
    record = {"base": base.name, "from": begin and begin.name, "total": total, "seed": seed}
    (out / "run.json").write_text(json.dumps(record | asdict(done)) + "\n")


def _saved(model: Adapted, rank: int, first_layer: int) -> dict[str, Any]:
    weights = {name: p.detach().float().cpu() for name, p in model.adapter.items()}
    return {"adapter": weights, "rank": rank, "alpha": model.alpha, "first_layer": first_layer}


def _step(
    model: Adapted, packer: Packer, groups: list[Group], smoothing: float
) -> tuple[float, int]:
    """Gradients of one batch; its summed loss and number of claims."""
    labels = [claim.label for group in groups for claim in group.claims]
    loss = loss_of(model.logits(packer.pack(groups)), labels, smoothing)
    (loss / CLAIMS_PER_STEP).backward()  # type: ignore[no-untyped-call]
    return loss.item(), len(labels)


if __name__ == "__main__":
    main()
