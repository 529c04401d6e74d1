"""What it would be worth to read a claim's passages side by side as well.

    python -m benchmarks.side_by_side --base model.gguf --adapter RUN/adapter.pt --out out/beside
    python -m benchmarks.side_by_side --handbook corpora/handbook --base … --adapter … --out …

Read alone, a passage about the next role, site or year looks like a denial of what another one
states. Here the passages of neighbouring claims are read once more as one text, with an adapter
that was trained for it (``training.adapter.train --side-by-side``), and what that says of a claim
weighs in: the labels of its passages, taken as independent given their relations, make together
a support, a denial, nothing or a conflict; the first three are pooled with the joint reading as
logarithms (Genest & Zidek 1986), and the labels follow by Jeffrey's rule (Jeffrey 1965). A network
over these gives the verdicts. Nothing of it is part of a run.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.network_cases import NetworkCase, cases
from benchmarks.network_choices import SETS, collection_of
from benchmarks.network_grid import Choice, sum_of
from benchmarks.network_tables import head, line, measures_of, signature, signed, title
from factcheck_local.core.errors import FactcheckError
from factcheck_local.core.types import Relation, ScoredPair
from factcheck_local.evaluate.collection import Collection
from factcheck_local.evaluate.data import sets
from factcheck_local.evaluate.runner import corpus
from factcheck_local.evaluate.verdicts import Matrix
from factcheck_local.models.offline import go_offline
from factcheck_local.models.registry import load_model
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.relation import CalibratedRelationModel, Premise, RelationModel
from factcheck_local.pipeline.relation.guard import GuardedRelationModel
from factcheck_local.pipeline.relation.load import card_calibration, relation_card, shown
from factcheck_local.pipeline.settings import Settings
from training.adapter.groups import SEVERAL, side_by_side
from training.adapter.scorer import TorchPairScorer

#: Passages that are read side by side.
MOST = 6

#: Shares of the joint reading that are tried; 0 is what a run does.
SHARES = (0.0, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)

#: Nothing is ruled out by a model that reads.
LEAST = 1e-4

Array = npt.NDArray[np.float64]


def main() -> None:
    """Print a row for each share, and write all of it as JSON."""
    go_offline()
    options = _options()
    try:
        collection = collection_of(options)
        collection = replace(collection, items=collection.items[: options.limit])
        settings = Settings()
        model = joint_model(options.base, options.adapter, settings)
        result = _measured(collection, settings, model, options)
    except FactcheckError as error:
        sys.exit(f"side_by_side: {error}")
    (options.out / "side-by-side.json").write_text(json.dumps(result, indent=1) + "\n")
    print(to_markdown(result))


def joint_model(base: Path, adapter: Path, settings: Settings) -> RelationModel:
    """An adapter in torch as a relation model, calibrated and guarded as the one that ships."""
    card = relation_card("llm", settings.llm)
    scorer = TorchPairScorer.load(base, adapter, template=card.options["chat_format"], device="cpu")
    guarded = GuardedRelationModel(CalibratedRelationModel(scorer, card_calibration(card)))
    return shown(guarded, cut_instructions=settings.cut_instructions, tables=settings.tables)


def _measured(
    collection: Collection, settings: Settings, model: RelationModel, options: argparse.Namespace
) -> dict[str, Any]:
    counts: dict[float, list[Matrix]] = {share: [] for share in SHARES}
    embedder = load_model(settings.embedder, "embedder")
    with corpus(collection, embedder, options.out) as store:
        checker = FactChecker(settings, store, embedder=embedder)
        for case in cases(collection.items, checker, settings):
            joint = read_side_by_side(case, settings, model)
            pairs = case.related(settings).pairs
            for share, found in counts.items():
                found.append(case.counts_with(settings, reconciled(pairs, joint, share)))
        models = {"relation": checker.relation_model, "joint": model, "embedder": embedder}
    limit, seed = options.limit, options.seed
    made_with = signed("side_by_side", collection, settings, models, limit=limit, seed=seed)
    return made_with.as_dict() | {
        "items": len(collection.items),
        "claims": int(sum_of(counts[0.0]).sum()),
        "rows": [
            {"share": share, "measures": measures_of(Choice(settings, tuple(found)), seed)}
            for share, found in counts.items()
        ],
    }


def read_side_by_side(
    case: NetworkCase, settings: Settings, model: RelationModel
) -> dict[str, Relation]:
    """By claim what its passages and those of claims around it say together."""
    contexts, by_atom = case.retrieved(settings)
    known = {c.id: c for c in contexts}
    texts = {a.id: a.text for a in case.atoms}
    found: dict[str, Relation] = {}
    for passages, claims in groups(by_atom, MOST):
        text = side_by_side((known[i].title, known[i].text) for i in passages)
        relations = model.relate(Premise(SEVERAL, text), [texts[i] for i in claims])
        found |= dict(zip(claims, relations, strict=True))
    return found


def groups(by_claim: Mapping[str, Sequence[str]], most: int) -> list[tuple[list[str], list[str]]]:
    """Claims in their order, put to those with which they share most passages.

    Args:
        by_claim: of each claim its passages; one without any is left out.
        most: passages of a group, unless a claim alone has more.

    Returns:
        Of each group its passages and its claims.
    """
    found: list[tuple[list[str], list[str]]] = []
    for claim, own in by_claim.items():
        if not own:
            continue
        room = [g for g in found if len({*g[0], *own}) <= most]
        if room:
            passages, claims = max(room, key=lambda g: len({*g[0]} & {*own}))
            passages += [i for i in own if i not in passages]
            claims.append(claim)
        else:
            found.append((list(own), [claim]))
    return found


def reconciled(
    pairs: Sequence[ScoredPair], joint: Mapping[str, Relation], share: float
) -> tuple[ScoredPair, ...]:
    """The pairs, with relations that agree with the joint reading as far as its share goes.

    Args:
        pairs: what was read of each passage alone.
        joint: by claim what its passages say together.
        share: of the joint reading in the pool, 0 to 1.
    """
    new = {(p.premise, p.hypothesis): p.relation for p in pairs}
    for claim, said in joint.items():
        own = [key for key in new if key[1] == claim]
        if own and share:
            alone = np.array([_vector(new[key]) for key in own])
            for key, row in zip(own, in_the_light_of(alone, _vector(said), share), strict=True):
                new[key] = Relation(*map(float, row))
    return tuple(replace(p, relation=new[p.premise, p.hypothesis]) for p in pairs)


def in_the_light_of(alone: Array, joint: Array, share: float) -> Array:
    """Jeffrey's rule on what the labels of a claim's passages make together.

    Args:
        alone: of n passages p(entailment, contradiction, neutral), shape (n, 3), all above 0.
        joint: the same of all of them together, shape (3,).
        share: see ``reconciled``.

    Returns:
        The same of the n passages, shape (n, 3).
    """
    e, c, n = alone.T
    # Of all passages but one: that none denies, none states, that all say nothing.
    no_denial, no_support, nothing = (
        np.prod(1 - c) / (1 - c),
        np.prod(1 - e) / (1 - e),
        n.prod() / n,
    )
    before = np.array([np.prod(1 - c) - n.prod(), np.prod(1 - e) - n.prod(), n.prod()])
    target = (before / before.sum()) ** (1 - share) * joint**share
    # What share of it is a conflict stays as it is: the joint reading has no word for one.
    support, denial, neither = target / target.sum() * before.sum() / before
    found = np.stack(
        [
            e * (no_denial * support + (1 - no_denial)),
            c * (no_support * denial + (1 - no_support)),
            n
            * (
                nothing * neither
                + (no_denial - nothing) * support
                + (no_support - nothing) * denial
                + (1 - no_denial - no_support + nothing)
            ),
        ],
        axis=1,
    )
    whole: Array = found / found.sum(axis=1, keepdims=True)
    return whole


def _vector(relation: Relation) -> Array:
    found = np.clip([relation.entailment, relation.contradiction, relation.neutral], LEAST, 1.0)
    whole: Array = found / found.sum()
    return whole


def to_markdown(result: Mapping[str, Any]) -> str:
    """The rows as a table, and what they were made with."""
    rows = [line([str(row["share"])], row["measures"]) for row in result["rows"]]
    return "\n".join(
        [*title(result), "", head(["share of the joint reading"]), *rows, "", signature(result)]
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="side_by_side", description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=SETS, help="sets, a file or folder")
    parser.add_argument("--fold", choices=list(sets.FOLDS), default="held-out")
    parser.add_argument("--handbook", type=Path, help="a corpus with labelled answers instead")
    parser.add_argument("--base", type=Path, required=True, help="the model's GGUF file")
    parser.add_argument("--adapter", type=Path, required=True, help="of training.adapter.train")
    parser.add_argument("--out", type=Path, required=True, help="folder for store and results")
    parser.add_argument("--limit", type=int, help="so many items")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    main()
