"""Tables as a relation model reads them: as they are, and row by row as statements.

    python -m benchmarks.tables --relation encoder --public FOLDER

Passages with a Markdown table that are held out from training: of the authored files and
sets, and with ``--public`` of InfoTabs and TabFact (``infotabs.jsonl``, ``tabfact.jsonl`` there,
``--limit`` claims of each). Each passage is read in both ways, by the product's scorer with
the card's calibration and quantities weighing in. Intervals draw passages, those that share
a claim together, as all of a set do; a difference draws both readings of the same ones. A true
claim is called contradicted where that is the most probable of the three labels. Writes
``tables-RELATION.json`` and ``.md`` to ``--out``; scores are kept.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.nli.measures import RESAMPLES, Floats, Ints, Judged, Scored
from benchmarks.nli.sample import CACHE, kept_scorer
from factcheck_local.core.errors import ScoringError
from factcheck_local.evaluate.machine import machine
from factcheck_local.metrics import bootstrap_ci
from factcheck_local.models.offline import go_offline
from factcheck_local.models.registry import DEFAULT_LLM
from factcheck_local.pipeline.relation import Calibration, PairScorer, Premise
from factcheck_local.pipeline.relation.load import card_calibration, relation_card
from factcheck_local.pipeline.relation.quantities import compare_quantities
from factcheck_local.pipeline.relation.tables import written_out
from factcheck_local.pipeline.settings import Settings
from training.adapter.groups import LABELS, Group, authored, linked, pairs, sets

AUTHORED = Path(__file__).parent.parent / "training" / "data" / "authored"
PUBLIC = ("infotabs", "tabfact")

#: The two ways to read a passage.
READINGS: Mapping[str, Callable[[Premise], Premise]] = {
    "raw": lambda premise: premise,
    "stated": written_out,
}


def _called_contradicted(judged: Judged, rows: Ints) -> float | None:
    """Share of the true claims of which a contradiction is the most probable label."""
    true = rows[judged.gold[rows] == LABELS.index("entailment")]
    if not len(true):
        return None
    return float((judged.p[true].argmax(axis=1) == LABELS.index("contradiction")).mean())


MEASURES: Mapping[str, Callable[[Judged, Ints], float | None]] = {
    "auroc_entailment": lambda judged, rows: judged.auroc("entailment", rows),
    "auroc_contradiction": lambda judged, rows: judged.auroc("contradiction", rows),
    "balanced_accuracy": Judged.accuracy,
    "true_called_contradicted": _called_contradicted,
}


def main() -> None:
    """Score, write the results, print the table."""
    go_offline()
    options = _options()
    card = relation_card(options.relation, options.llm)
    scorer, calibration = kept_scorer(card, options.cache), card_calibration(card)
    found = _groups(options)
    result: dict[str, Any] = {"sets": {}, "machine": machine()}
    for name, groups in found.items():
        scored, unscored = read_both(groups, scorer)
        result["sets"][name] = {
            "passages": len(groups),
            "unscored": unscored,
            "gold": {label: _count(groups, label) for label in LABELS},
            **compared(scored, calibration, seed=options.seed),
        }
    settings = Settings(relation=options.relation, llm=options.llm)
    result["signature"] = (
        f"{settings.line()}|model:{scorer.id}@{scorer.sha256}|data:{_digest(found)}"
        f"|limit:{options.limit}|seed:{options.seed}|resamples:{RESAMPLES}|machine:{machine()}"
    )
    options.out.mkdir(parents=True, exist_ok=True)
    stem = options.out / f"tables-{options.relation}"
    text = json.dumps(result, indent=1, ensure_ascii=False) + "\n"
    stem.with_suffix(".json").write_text(text, encoding="utf-8")
    table = "\n".join(to_markdown(result)) + "\n"
    stem.with_suffix(".md").write_text(table, encoding="utf-8")
    print(table)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="tables, as they are and written out")
    parser.add_argument("--relation", default="encoder", help="llm, encoder, or a model's name")
    parser.add_argument("--llm", default=DEFAULT_LLM, help="what the model 'llm' stands for")
    parser.add_argument("--data", type=Path, default=AUTHORED, help="the authored files")
    parser.add_argument("--public", type=Path, help="folder of infotabs.jsonl and tabfact.jsonl")
    parser.add_argument("--limit", type=int, default=300, help="claims of each public set")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cache", type=Path, default=CACHE, help="folder of scores that are kept")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    return parser.parse_args()


def _groups(options: argparse.Namespace) -> dict[str, list[Group]]:
    """The held-out passages with tables, by kind of source."""
    found = {
        "authored": [
            group
            for path in sorted(options.data.glob("*.jsonl"))
            for group in authored(path, held_out=True)
        ],
        "sets": [
            group
            for path in sorted((options.data / "sets").glob("*.jsonl"))
            for group in sets(path, held_out=True)
        ],
    }
    for name in PUBLIC if options.public else ():
        groups = with_tables(pairs(options.public / f"{name}.jsonl", held_out=True))
        found[name] = sampled(groups, options.limit, options.seed)
    return {name: with_tables(groups) for name, groups in found.items()}


def with_tables(groups: Sequence[Group]) -> list[Group]:
    """The groups whose passage reads otherwise when it is written out."""
    return [group for group in groups if written_out(_premise(group)) != _premise(group)]


def sampled(groups: Sequence[Group], claims: int, seed: int) -> list[Group]:
    """Whole passages in a random order, until they have as many claims."""
    order = list(groups)
    random.Random(seed).shuffle(order)
    kept: list[Group] = []
    for group in order:
        if sum(len(g.claims) for g in kept) >= claims:
            break
        kept.append(group)
    return kept


def read_both(
    groups: Sequence[Group], scorer: PairScorer
) -> tuple[dict[str, Scored], dict[str, str]]:
    """The pairs of all passages in both readings, in the same order.

    Returns:
        The scores by reading, and by passage the reason why it has none: what cannot be
        scored in one reading is left out of both.
    """
    gold: list[int] = []
    rows: dict[str, list[Floats]] = {name: [] for name in READINGS}
    clashes: dict[str, list[bool]] = {name: [] for name in READINGS}
    read: list[tuple[str, str]] = []
    unscored: dict[str, str] = {}
    for done, group in enumerate(groups, start=1):
        claims = [claim.text for claim in group.claims]
        shown = {name: read(_premise(group)) for name, read in READINGS.items()}
        try:
            scores = {name: scorer.score(premise, claims) for name, premise in shown.items()}
        except ScoringError as error:
            unscored[group.passage[:60]] = str(error)
            continue
        read += [(group.passage, claim) for claim in claims]
        gold += [LABELS.index(claim.label) for claim in group.claims]
        for name, premise in shown.items():
            text = f"{premise.title}.\n{premise.text}" if premise.title else premise.text
            rows[name] += list(scores[name])
            clashes[name] += [compare_quantities(text, c).n_mismatched > 0 for c in claims]
        if done % 20 == 0:
            print(f"{scorer.id}: {done} of {len(groups)} passages", file=sys.stderr)
    whole = Scored(
        labels=tuple(label for label in LABELS if LABELS.index(label) in gold),
        gold=np.array(gold, dtype=np.int64),
        log_p=np.empty((0, 3)),
        clusters=linked(read),
    )
    return {
        name: replace(
            whole,
            log_p=np.array(rows[name], dtype=np.float64).reshape(-1, 3),
            clashes=np.array(clashes[name], dtype=np.bool_),
        )
        for name in READINGS
    }, unscored


def compared(
    scored: Mapping[str, Scored], calibration: Calibration, *, seed: int
) -> dict[str, Any]:
    """Each measure of both readings and of their difference, with 95 % intervals."""
    judged = {name: Judged(one, calibration) for name, one in scored.items()}
    clusters = [np.array(cluster) for cluster in scored["raw"].clusters]
    everything = np.arange(len(scored["raw"].gold))

    def both(statistic: Callable[[Ints], float | None]) -> dict[str, Any]:
        return {
            "value": statistic(everything),
            "ci95": bootstrap_ci(
                clusters,
                lambda drawn: statistic(np.concatenate(drawn)),
                resamples=RESAMPLES,
                seed=seed,
            ),
        }

    def difference(
        measure: Callable[[Judged, Ints], float | None],
    ) -> Callable[[Ints], float | None]:
        def gained(rows: Ints) -> float | None:
            raw, stated = (measure(judged[name], rows) for name in READINGS)
            return None if raw is None or stated is None else stated - raw

        return gained

    return {
        "pairs": len(everything),
        **{
            name: {key: both(lambda rows, m=m, j=j: m(j, rows)) for key, m in MEASURES.items()}  # type: ignore[misc]
            for name, j in judged.items()
        },
        "difference": {key: both(difference(m)) for key, m in MEASURES.items()},
    }


def to_markdown(result: Mapping[str, Any]) -> list[str]:
    """The lines of the tables of a result."""
    lines = ["# Tables, as they are and written out", ""]
    for name, found in result["sets"].items():
        gold = ", ".join(f"{n} {label}" for label, n in found["gold"].items())
        lines += [
            f"## {name}: {found['pairs']} pairs on {found['passages']} passages ({gold})",
            "",
            f"| | {' | '.join(key.replace('_', ' ') for key in MEASURES)} |",
            "|---" * (len(MEASURES) + 1) + "|",
        ]
        for reading in (*READINGS, "difference"):
            cells = [_cell(found[reading][key], signed=reading == "difference") for key in MEASURES]
            lines.append(f"| {reading} | {' | '.join(cells)} |")
        lines += [f"\n{len(found['unscored'])} passages unscored"] if found["unscored"] else []
        lines.append("")
    return [*lines, f"signature: `{result['signature']}`"]


def _cell(found: Mapping[str, Any], *, signed: bool) -> str:
    if found["value"] is None:
        return "–"
    form = "+.3f" if signed else ".3f"
    ci = found["ci95"]
    return f"{found['value']:{form}}" + (f" [{ci[0]:{form}}, {ci[1]:{form}}]" if ci else "")


def _premise(group: Group) -> Premise:
    return Premise(group.title, group.passage)


def _count(groups: Sequence[Group], label: str) -> int:
    return sum(claim.label == label for group in groups for claim in group.claims)


def _digest(found: Mapping[str, Sequence[Group]]) -> str:
    """Of all passages, claims and labels, in order."""
    digest = hashlib.sha256()
    for name, groups in found.items():
        for g in groups:
            values = [name, g.title, g.passage, *([c.text, c.label] for c in g.claims)]
            digest.update(json.dumps(values).encode("ascii"))
    return digest.hexdigest()[:12]


if __name__ == "__main__":
    main()
