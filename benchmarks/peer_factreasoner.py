"""Our relation model against FactReasoner's NLI extractor, on the same model and pairs.

In an environment of its own (torch first, or its dependencies bring a CUDA build):

    python3.11 -m venv PEER
    PEER/bin/pip install torch==2.13.0
    PEER/bin/pip install fact-reasoner==0.8.0 'llama-cpp-python[server]==0.3.36'
    python -m benchmarks.peer_factreasoner --peer-python PEER/bin/python

The pairs are the first 40 of atom and context in FactReasoner's own sample record,
in the file's order; with ``--assessment FILE`` those that a run compared, of an answer
that ``factcheck verify --format json`` judged, passage by passage: there a passage serves
several claims, and there is no gold. FactReasoner asks an OpenAI-compatible server on loopback,
``llama_cpp.server`` with the GGUF, context length, chat format and threads that we
use ourselves, one pair after the other: the server reads one prompt at a time, and a
queue of forty would run into the client's timeout. It generates its reasoning before
the label, and asks up to three times until there is one, as it was made to; so the
temperature is left to the server, whose seed is fixed, unless ``--temperature`` says
otherwise. Nothing is warmed up on either side.

An atom counts as supported if more of its pairs are entailment than contradiction.
Gold is known of atoms only (S or NS), so of a pair it says that it should be
entailment or should not: a context may well not speak of a supported atom.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.nli.pairs import LABELS
from benchmarks.peer_server import serve
from factcheck_local.core.errors import InputError
from factcheck_local.evaluate.machine import machine
from factcheck_local.metrics import balanced_accuracy, confusion_matrix
from factcheck_local.models.cards import ModelCard, find_card, sha256_of
from factcheck_local.models.offline import go_offline
from factcheck_local.models.registry import DEFAULT_LLM
from factcheck_local.pipeline.relation import Premise, load_relation_model
from factcheck_local.pipeline.settings import Settings

ROOT = Path(__file__).parent.parent
DRIVER = Path(__file__).parent / "peer_driver.py"
RECORD = Path("factreasoner") / "flaherty_wikipedia.json"

#: What is shown of a summary.
TITLES = {
    "seconds": "seconds",
    "pairs_per_second": "pairs a second",
    "failed": "pairs without an answer",
    "pair_accuracy": "accuracy on pairs",
    "pair_balanced_accuracy": "balanced accuracy on pairs",
    "atom_accuracy": "accuracy on atoms",
    "atom_balanced_accuracy": "balanced accuracy on atoms",
}
#: What the accuracies rest on.
GOLD = (
    " Gold is known of atoms only: a pair counts as right if it is called entailment where "
    "its atom is supported, and is not where it is not."
)


@dataclass(frozen=True, slots=True)
class GoldPair:
    """An atom with one of its contexts; ``supported`` is the atom's own label, if it has one."""

    atom: str
    context: str
    premise: str
    hypothesis: str
    supported: bool | None


def main() -> None:
    """Run both, print them side by side, write the results."""
    go_offline()
    options = _options()
    card = find_card(options.model, "llm")
    given = options.assessment or options.data / RECORD
    read = read_compared if options.assessment else read_pairs
    pairs = read(given)[: options.limit]
    ours = run_ours(card.id, pairs)
    peer = run_peer(card, pairs, options)
    labels = {
        "ours": [r["label"] for r in ours["rows"]],
        "peer": [r["label"] for r in peer["rows"]],
    }
    matrix = confusion_matrix(labels["ours"], labels["peer"], LABELS)
    result = {
        "signature": f"{Settings(relation='llm').line()}|model:{card.id}@{card.sha256[:12]}"
        f"|fact-reasoner:{peer['version']}|pairs:{len(pairs)}|temperature:{options.temperature}"
        f"|data@{sha256_of(given)[:12]}|machine:{machine()}",
        "model": {"id": card.id, "sha256": card.sha256},
        "data_sha256": sha256_of(given),
        "ours": _summary(pairs, ours),
        "peer": _summary(pairs, peer),
        "agreement": float(matrix.trace() / len(pairs)),
        "confusion": {"labels": LABELS, "rows_ours_columns_peer": matrix.tolist()},
        "pairs": [
            {"atom": p.atom, "context": p.context, "supported": p.supported, "ours": a, "peer": b}
            for p, a, b in zip(pairs, ours["rows"], peer["rows"], strict=True)
        ],
    }
    options.output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    text = to_markdown(result)
    options.output.with_suffix(".md").write_text(text, encoding="utf-8")
    print(text)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="our relation model against FactReasoner's")
    parser.add_argument("--peer-python", required=True, help="interpreter with FactReasoner")
    parser.add_argument("--model", default=DEFAULT_LLM)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--assessment", type=Path, help="of a run whose pairs are taken")
    parser.add_argument("--limit", type=int, default=40, help="pairs")
    parser.add_argument("--temperature", type=float, help="of FactReasoner's requests")
    parser.add_argument(
        "--output",
        type=Path,
        default=Path(__file__).parent / "results" / "peer-factreasoner.json",
    )
    return parser.parse_args()


def read_pairs(path: Path) -> list[GoldPair]:
    """Atoms with their contexts, in the order of a record in FactReasoner's format.

    Raises:
        InputError: if the file cannot be read or is no such record.
    """
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        texts = {context["id"]: context["text"] for context in record["contexts"]}
        return [
            GoldPair(atom["id"], context, texts[context], atom["text"], atom["label"] == "S")
            for atom in record["atoms"]
            for context in atom["contexts"]
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: not a labelled record of FactReasoner: {error!r}") from error


def read_compared(path: Path) -> list[GoldPair]:
    """The pairs of claim and passage that a run compared, those of a passage together.

    Raises:
        InputError: if the file cannot be read or is no assessment.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        texts = {context["id"]: context["text"] for context in found["contexts"]}
        atoms = {atom["id"]: atom["text"] for atom in found["atoms"]}
        pairs = [
            GoldPair(r["to"], r["from"], texts[r["from"]], atoms[r["to"]], None)
            for r in found["relations"]
            if r["to"] in atoms
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: not an assessment: {error!r}") from error
    place = {context: i for i, context in enumerate(texts)}
    return sorted(pairs, key=lambda pair: place[pair.context])


def run_ours(model_id: str, pairs: Sequence[GoldPair]) -> dict[str, Any]:
    """Relate the pairs as a run does: a premise is read once for all of its claims."""
    model = load_relation_model(model_id, default_llm=model_id)
    by_premise: dict[str, list[int]] = {}
    for i, pair in enumerate(pairs):
        by_premise.setdefault(pair.premise, []).append(i)
    rows: list[dict[str, Any]] = [{} for _ in pairs]
    begun = time.perf_counter()
    for premise, own in by_premise.items():
        # Without a title: FactReasoner shows its model none either.
        found = model.relate(Premise("", premise), [pairs[i].hypothesis for i in own])
        for i, relation in zip(own, found, strict=True):
            p = (relation.entailment, relation.contradiction, relation.neutral)
            rows[i] = {"label": LABELS[p.index(max(p))], "probability": max(p), "failed": False}
    return {"seconds": time.perf_counter() - begun, "rows": rows}


def run_peer(
    card: ModelCard, pairs: Sequence[GoldPair], options: argparse.Namespace
) -> dict[str, Any]:
    """Let FactReasoner score the pairs, against a server that lives as long as this takes.

    Raises:
        CalledProcessError: if FactReasoner failed as a whole.
    """
    with tempfile.TemporaryDirectory() as folder, serve(options.peer_python, card) as base_url:
        asked, answered = Path(folder) / "task.json", Path(folder) / "result.json"
        task = {
            "base_url": base_url,
            "model": card.id,
            "temperature": options.temperature,
            "pairs": [[p.premise, p.hypothesis] for p in pairs],
        }
        asked.write_text(json.dumps(task), encoding="utf-8")
        subprocess.run(
            [options.peer_python, str(DRIVER), str(asked), str(answered)],
            check=True,
            # go_offline() has set the switches; loopback is never asked of a proxy.
            env={**os.environ, "NO_PROXY": "127.0.0.1"},
            stdout=sys.stderr,
        )
        result: dict[str, Any] = json.loads(answered.read_text(encoding="utf-8"))
    result["seconds"] = sum(row["seconds"] for row in result["rows"])
    return result


def _summary(pairs: Sequence[GoldPair], found: dict[str, Any]) -> dict[str, Any]:
    labels = [row["label"] for row in found["rows"]]
    return {
        "seconds": found["seconds"],
        "pairs_per_second": len(pairs) / found["seconds"],
        "failed": sum(row["failed"] for row in found["rows"]),
        "labels": {label: labels.count(label) for label in LABELS},
        **gold_accuracy(pairs, labels),
    }


def gold_accuracy(pairs: Sequence[GoldPair], labels: Sequence[str]) -> dict[str, float | None]:
    """How well predicted labels tell supported atoms from others, by pair and by atom.

    Each is None where atoms have no label.
    """
    supported = [pair.supported for pair in pairs if pair.supported is not None]
    if len(supported) < len(pairs):
        return dict.fromkeys(name for name in TITLES if "accuracy" in name)
    votes: dict[str, int] = {}
    gold: dict[str, bool] = {}
    for pair, label in zip(pairs, labels, strict=True):
        gold[pair.atom] = bool(pair.supported)
        vote = {"entailment": 1, "contradiction": -1}.get(label, 0)
        votes[pair.atom] = votes.get(pair.atom, 0) + vote
    hits = [(votes[atom] > 0) == supported for atom, supported in gold.items()]
    entailed = [label == "entailment" for label in labels]
    return {
        "atom_accuracy": sum(hits) / len(hits),
        "atom_balanced_accuracy": balanced_accuracy(
            list(gold.values()), [votes[atom] > 0 for atom in gold]
        ),
        "pair_accuracy": sum(a == b for a, b in zip(entailed, supported, strict=True)) / len(pairs),
        "pair_balanced_accuracy": balanced_accuracy(supported, entailed),
    }


def to_markdown(result: dict[str, Any]) -> str:
    """Both side by side, what they agree on, and the signature."""
    ours, peer = result["ours"], result["peer"]
    ratio = ours["pairs_per_second"] / peer["pairs_per_second"]
    lines = ["# FactReasoner's relation extractor, same model and pairs", ""]
    lines += ["| | ours | FactReasoner |", "|---|---:|---:|"]
    for key, title in TITLES.items():
        lines.append(f"| {title} | {_cell(ours[key])} | {_cell(peer[key])} |")
    for label in LABELS:
        lines.append(f"| {label} | {ours['labels'][label]} | {peer['labels'][label]} |")
    lines += [
        "",
        f"{ratio:.1f} times the pairs a second; the same label for {result['agreement']:.3f} of "
        f"{len(result['pairs'])} pairs." + ("" if ours["pair_accuracy"] is None else GOLD),
        "",
        f"signature: `{result['signature']}`",
    ]
    return "\n".join(lines) + "\n"


def _cell(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value}" if isinstance(value, int) else f"{value:.3f}"


if __name__ == "__main__":
    main()
