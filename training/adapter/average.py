r"""Put two adapters of one model together, weight by weight.

    python -m training.adapter.average OLD.gguf RUN/adapter.pt --share 0.5 --out average.pt

Two runs from one start lie in one valley of the loss, and what is between them is often better
than both where the second one forgot something: Wortsman et al. 2022, "Robust fine-tuning of
zero-shot models" (WiSE-FT). It is the product of an adapter's two halves that is averaged, not the
halves, and what comes out is brought back to the second one's rank by its largest singular values.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import torch

from training.adapter.export import weights_of


def between(
    first: tuple[torch.Tensor, torch.Tensor],
    second: tuple[torch.Tensor, torch.Tensor],
    share: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The halves of (1 - share) b1 a1 + share b2 a2, as near as the second's rank allows.

    Args:
        first: ``a`` of shape (r, inputs) and ``b`` of shape (outputs, r).
        second: the same with rank R.
        share: of the second, from 0 to 1.

    Returns:
        ``a`` of shape (R, inputs) and ``b`` of shape (outputs, R), of equal weight.
    """
    rank = second[0].shape[0]
    a = torch.cat([first[0], second[0]]).float()
    b = torch.cat([first[1] * (1 - share), second[1] * share], dim=1).float()
    # Of the product only the small square in the middle is taken apart.
    left, left_rest = torch.linalg.qr(b)
    right, right_rest = torch.linalg.qr(a.T)
    u, sizes, v = torch.linalg.svd(left_rest @ right_rest.T)
    root = sizes[:rank].sqrt()
    return (v[:rank] * root[:, None]) @ right.T, (left @ u[:, :rank]) * root


@click.command()
@click.argument("first", type=click.Path(exists=True, path_type=Path))
@click.argument("second", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--share", type=click.FloatRange(0, 1), default=0.5, show_default=True, help="Of SECOND."
)
@click.option("--out", type=click.Path(path_type=Path), required=True)
def main(first: Path, second: Path, share: float, out: Path) -> None:
    """Average FIRST, an exported adapter, and SECOND, the adapter.pt of a run.

    Both have to have the same alpha / rank. Layers that SECOND lacks are left out.
    """
    saved: dict[str, Any] = torch.load(second, weights_only=True)
    one, two = weights_of(first), saved["adapter"]
    names = sorted(name.removesuffix(".a") for name in two if name.endswith(".a"))
    for name in names:
        a, b = f"{name}.a", f"{name}.b"
        two[a], two[b] = between((one[a], one[b]), (two[a], two[b]), share)
    torch.save(saved, out)
    click.echo(f"{out}: {len(names)} maps, rank {saved['rank']}", err=True)


if __name__ == "__main__":
    main()
