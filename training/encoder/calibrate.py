r"""Calibration and filter of an encoder, for its card, from what no run has read.

    python -m training.encoder.calibrate FOLDER --public DATA/nli \\
        --dev DATA/nli/factcheckbench-dev.jsonl --dev DATA/nli/fever-symmetric-dev.jsonl

FOLDER is an export. Prints what ``training.adapter.measure`` prints for an adapter, on the same
pairs, premises with their tables written out as in use; then, for bounds from which a calibrated
*neutral* settles a pair in ``--relation encoder+llm``, what each would settle.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np

from factcheck_local.models.offline import go_offline
from factcheck_local.models.onnx_encoder import OnnxNliEncoder
from factcheck_local.pipeline.relation.calibration import Calibration
from factcheck_local.pipeline.relation.encoder import EncoderPairScorer
from factcheck_local.pipeline.relation.scorer import Premise
from factcheck_local.pipeline.relation.tables import stated
from training.adapter.groups import LABELS
from training.adapter.measure import held_out
from training.adapter.mixture import AUTHORED
from training.encoder.train import DATA
from training.measures import Row, calibrated, table

BOUNDS = (0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9)


def settled(rows: Sequence[Row], calibration: Calibration, bound: float) -> tuple[float, ...]:
    """What a bound settles.

    Args:
        rows: scored pairs with labels of ``LABELS``, some of them decided.
        calibration: of the scores.
        bound: from which probability of neutral a pair is settled.

    Returns:
        Three shares: of the pairs those that are settled, of these those that are not neutral
        (0 if none is settled), and of the decided pairs those that are lost so.
    """
    p = calibration.apply(np.array([r.log_p for r in rows]))[:, LABELS.index("neutral")]
    decided = np.array([r.label != "neutral" for r in rows])
    chosen = p >= bound
    lost = chosen & decided
    return (
        float(chosen.mean()),
        float(lost.sum() / max(1, chosen.sum())),
        float(lost.sum() / decided.sum()),
    )


def filters(rows: Sequence[Row], calibration: Calibration) -> str:
    """``settled`` of each bound, by kind of source, as a table."""
    kinds = {
        "authored": [r for r in rows if r.source in AUTHORED],
        "sets": [r for r in rows if r.source.startswith("sets/")],
        **{
            name: [r for r in rows if r.source == name]
            for name in dict.fromkeys(r.source for r in rows if r.source.endswith("-dev"))
        },
    }
    known = {kind: own for kind, own in kinds.items() if any(r.label != "neutral" for r in own)}
    lines = ["| bound | " + " | ".join(known) + " |", "|---" * (len(known) + 1) + "|"]
    for bound in BOUNDS:
        cells = (settled(own, calibration, bound) for own in known.values())
        shown = [", ".join(f"{share:.3f}" for share in cell) for cell in cells]
        lines.append(f"| {bound} | " + " | ".join(shown) + " |")
    return "\n".join(lines)


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--public", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--own", type=click.Path(exists=True, path_type=Path), default=DATA)
@click.option("--dev", "devs", type=click.Path(exists=True, path_type=Path), multiple=True)
@click.option("--limit", type=int, default=260, show_default=True, help="Premises of a dev file.")
@click.option("--max-tokens", type=int, default=384, show_default=True, help="Of a pair.")
@click.option("--threads", type=int, default=2, show_default=True)
def main(
    folder: Path,
    public: Path,
    own: Path,
    devs: tuple[Path, ...],
    limit: int,
    max_tokens: int,
    threads: int,
) -> None:
    """Fit and measure the encoder in FOLDER."""
    go_offline()
    classifier = OnnxNliEncoder("encoder", "", folder, max_tokens=max_tokens, n_threads=threads)
    scorer = EncoderPairScorer(classifier)
    rows = []
    for group in held_out(own, public, devs, limit):
        premise = Premise(group.title, stated(group.passage))
        scores = scorer.score(premise, [claim.text for claim in group.claims]).tolist()
        for claim, score in zip(group.claims, scores, strict=True):
            rows.append(Row("", group.source, claim.label, score))
    calibration = calibrated([r for r in rows if r.label in LABELS])
    click.echo(table(rows, calibration))
    click.echo("\nsettled; of these not neutral; of the decided lost:")
    click.echo(filters([r for r in rows if r.label in LABELS], calibration))


if __name__ == "__main__":
    main()
