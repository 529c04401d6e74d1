"""The labelled claims of the sample handbook against the verdicts.

    python benchmarks/handbook.py                      the labelled claims as atoms
    python benchmarks/handbook.py --claims pipeline    the pipeline's own atoms
    python benchmarks/handbook.py --corpus DIR         other documents and answers to them

Verdicts and labels are sorted into supported, contradicted, and not found or
conflicting. In the second form a labelled claim takes the verdict of the atom
most similar to it among those of the same unit of the answer; one without such
an atom counts as missed, which is wrong. Which claims such an atom covers, by the
similarity from which atoms count as the same (``evaluate.atoms``), is said beside it.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from dataclasses import replace
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from factcheck_local.core.types import Atom, AtomAssessment, Span, Verdict
from factcheck_local.evaluate.atoms import THRESHOLD
from factcheck_local.evaluate.collection import Item
from factcheck_local.evaluate.data import handbook
from factcheck_local.indexer.fingerprint import Fingerprint
from factcheck_local.indexer.store import Store
from factcheck_local.indexer.sync import sync
from factcheck_local.markov import Parameterisation
from factcheck_local.metrics import balanced_accuracy, bootstrap_ci, confusion_matrix
from factcheck_local.models.contracts import Embedder
from factcheck_local.models.offline import go_offline
from factcheck_local.models.registry import load_model
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.claims.records import Record
from factcheck_local.pipeline.run import Run
from factcheck_local.pipeline.settings import Settings
from factcheck_local.report import to_dict

CORPUS = Path(__file__).parent.parent / "corpora" / "handbook"
_OTHER: dict[str, Parameterisation] = {"conditional": "table1", "table1": "conditional"}
CLASSES = ("supported", "contradicted", "not found or conflicting", "missed")


class Match(NamedTuple):
    """The atom that stands for a labelled claim, and how similar it is, a cosine."""

    found: AtomAssessment
    similarity: float


def main() -> None:
    """Run the benchmark, print the matrix, write the results as JSON."""
    go_offline()
    options = _options()
    settings = Settings(
        assessor=options.assessor,
        relation=options.relation,
        quantities=options.quantities,
        k=options.k,
        retrieval=options.retrieval,
        queries=options.queries,
        rerank=options.rerank,
        factors=options.factors,
        atomizer=options.atomizer,
    )
    embedder: Embedder = load_model(settings.embedder, "embedder")
    rows: list[dict[str, Any]] = []
    seconds: dict[str, float] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        Store.create(options.store or Path(folder) / "store", Fingerprint.of(embedder)) as store,
    ):
        refuse_others(store, options.corpus)
        sync([options.corpus], store, embedder, exclude=["answers/**"])
        checker = FactChecker(settings, store, embedder=embedder)
        # The store keeps what the relation model said, so the second one reads nothing again.
        other = FactChecker(
            replace(settings, factors=_OTHER[settings.factors]),
            store,
            embedder=embedder,
        )
        changes: list[dict[str, Any]] = []
        for item in handbook.load(options.corpus).items:
            begun = time.perf_counter()
            own, run = _answer(item, checker, embedder, gold=options.claims == "gold")
            rows += own
            _keep(run, item.id, options.assessments)
            seconds[item.id] = round(time.perf_counter() - begun, 1)
            if options.compare_factors:
                changes += _changes(own, _answer(item, other, embedder, gold=True)[0])
        digest = store.digest()
        models = {checker.relation_model.id: checker.relation_model.sha256}
    result = summary_of(rows) | {
        "claims": options.claims,
        "signature": settings.line(),
        "models": models,
        "index": digest,
        "seconds": seconds,
        "rows": rows,
    }
    if options.compare_factors:
        result["factors_compared"] = changes
    _show(result)
    if options.compare_factors:
        _show_changes(changes, settings.factors)
    if options.output:
        options.output.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")


def refuse_others(store: Store, corpus: Path) -> None:
    """End the run if the store has documents of another folder.

    A second checkout's corpus, above all, would be found as a copy of every page.

    Raises:
        SystemExit: with both folders.
    """
    beside = store.path.resolve().parent
    others = [
        path for path in store.roots().values() if (beside / path).resolve() != corpus.resolve()
    ]
    if others:
        sys.exit(f"{store.path}: holds {others[0]}, too, beside {corpus}; take another --store")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument(
        "--corpus", type=Path, default=CORPUS, help="documents, with answers/*.labels.json"
    )
    parser.add_argument("--claims", choices=["gold", "pipeline"], default="gold")
    parser.add_argument("--assessor", default="fr2")
    parser.add_argument("--relation", default=Settings().relation)
    parser.add_argument("--atomizer", default=Settings().atomizer, help="for pipeline claims")
    parser.add_argument("--factors", default="conditional")
    parser.add_argument(
        "--compare-factors",
        action="store_true",
        help="say what the other parameterisation would change, for gold claims",
    )
    parser.add_argument("--no-quantities", dest="quantities", action="store_false")
    parser.add_argument("-k", type=int, default=Settings().k)
    parser.add_argument("--retrieval", default=Settings().retrieval)
    parser.add_argument("--queries", default=Settings().queries)
    parser.add_argument("--rerank", help="encoder, or a model's name")
    parser.add_argument(
        "--store", type=Path, help="keep the store here, with all that models said of its pairs"
    )
    parser.add_argument("--output", type=Path, help="results as JSON")
    parser.add_argument("--assessments", type=Path, help="folder for the full assessments")
    return parser.parse_args()


def _answer(
    item: Item, checker: FactChecker, embedder: Embedder, *, gold: bool
) -> tuple[list[dict[str, Any]], Run]:
    """One row per labelled claim of an answer."""
    atoms = item.record.atoms or ()
    if gold:
        run = checker.verify(item.record)
        found: dict[str, Match] = {a.atom.id: Match(a, 1.0) for a in run.assessment.atoms}
    else:
        run = checker.verify(Record(replace(item.record.answer, question=None)))
        found = _matched(atoms, run, embedder)
    print(f"{item.id}: {run.seconds}", file=sys.stderr)
    rows = [
        {
            "item": item.id,
            "id": atom.id,
            "claim": atom.text,
            "label": _class(Verdict(str(atom.label))),
            "verdict": _class(match.found.verdict) if match else "missed",
            "exact_label": atom.label,
            "exact_verdict": match.found.verdict.value if match else None,
            "probability": match.found.probability if match else None,
            "atom": match.found.atom.text if match else None,
            "similarity": match.similarity if match else None,
            "covered": match is not None and match.similarity >= THRESHOLD,
        }
        for atom in atoms
        for match in [found.get(atom.id)]
    ]
    return rows, run


def _changes(rows: list[dict[str, Any]], other: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Label, verdict and P of every claim under both parameterisations."""
    return [
        {
            "id": row["id"],
            "label": row["exact_label"],
            "verdicts": [row["exact_verdict"], twin["exact_verdict"]],
            "probabilities": [row["probability"], twin["probability"]],
        }
        for row, twin in zip(rows, other, strict=True)
    ]


def _show_changes(changes: list[dict[str, Any]], factors: str) -> None:
    """The claims whose verdict differs, and how far the posteriors are apart."""
    apart = [abs(c["probabilities"][0] - c["probabilities"][1]) for c in changes]
    print(f"\n{factors} against {_OTHER[factors]}: P differs by {np.mean(apart):.3f} on average, ")
    print(f"by {max(apart):.3f} at most; verdicts that differ:\n")
    print(f"| claim | label | {factors} | {_OTHER[factors]} |\n|---|---|---|---|")
    for change in changes:
        if change["verdicts"][0] != change["verdicts"][1]:
            cells = [
                f"{v} {p:.2f}"
                for v, p in zip(change["verdicts"], change["probabilities"], strict=True)
            ]
            print(f"| {change['id']} | {change['label']} | {' | '.join(cells)} |")


def _keep(run: Run, name: str, folder: Path | None) -> None:
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        target = folder / f"{name}.json"
        target.write_text(json.dumps(to_dict(run), indent=1, ensure_ascii=False) + "\n")


def _matched(claims: tuple[Atom, ...], run: Run, embedder: Embedder) -> dict[str, Match]:
    """The pipeline's atom for each labelled claim that has one in its unit of the answer."""
    found: dict[str, Match] = {}
    for claim in claims:
        same = [
            a
            for a in run.assessment.atoms
            if claim.span and a.atom.span and _overlap(a.atom.span, claim.span)
        ]
        checked = [a for a in same if a.verdict is not Verdict.SKIPPED]
        if not checked:
            continue
        vectors = embedder.embed([claim.text, *(a.atom.text for a in checked)])
        similar = vectors[1:] @ vectors[0]
        best = int(np.argmax(similar))
        found[claim.id] = Match(checked[best], round(float(similar[best]), 4))
    return found


def _overlap(a: Span, b: Span) -> bool:
    return a.start < b.end and b.start < a.end


def _class(verdict: Verdict) -> str:
    if verdict in (Verdict.SUPPORTED, Verdict.CONTRADICTED):
        return verdict.value
    return "missed" if verdict is Verdict.UNSCORED else "not found or conflicting"


def summary_of(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """What is counted of the rows of all answers."""
    by_answer: dict[str, list[bool]] = {}
    for r in rows:
        by_answer.setdefault(r["item"], []).append(r["label"] == r["verdict"])
    right = list(by_answer.values())
    labels, verdicts = [r["label"] for r in rows], [r["verdict"] for r in rows]
    return {
        "n": len(rows),
        "covered": sum(r["covered"] for r in rows),
        "accuracy": fmean(chain(*right)),
        # Whole answers are drawn, since the claims of one are not independent.
        "accuracy_ci95": bootstrap_ci(right, lambda drawn: fmean(chain(*drawn))),
        "balanced_accuracy": balanced_accuracy(labels, verdicts),
        "confusion": confusion_matrix(labels, verdicts, CLASSES).tolist(),
    }


def _show(result: dict[str, Any]) -> None:
    print(f"{'label':26}" + "".join(f"{c:>26}" for c in CLASSES))
    for name, row in zip(CLASSES[:3], result["confusion"], strict=False):
        print(f"{name:26}" + "".join(f"{n:>26}" for n in row))
    low, high = result["accuracy_ci95"]
    print(
        f"right: {result['accuracy']:.3f} [{low:.3f}, {high:.3f}] of {result['n']} claims; "
        f"balanced accuracy {result['balanced_accuracy']:.3f}"
    )
    print(f"covered by an atom: {result['covered']}; not covered:")
    for row in result["rows"]:
        if not row["covered"]:
            print(f"  {row['id']} {row['claim']} -> {row['atom'] or '(none)'}")
    print(f"seconds: {result['seconds']}")
    print(f"signature: {result['signature']}|claims:{result['claims']}|index:{result['index']}")
    for name, sha256 in result["models"].items():
        print(f"model: {name} sha256 {sha256}")


if __name__ == "__main__":
    main()
