"""What FR4 gets right that FR3 does not, on a small corpus made for it.

    python -m benchmarks.sources

Three documents of equal standing. The two that were kept up to date agree wherever they
speak of the same; the third is old and wrong about whatever the others speak of. On
some questions only the old one speaks, on others it stands against one of the two,
and for one of these its text was copied into a second place. Relations are as certain
as a good relation model's.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean

from factcheck_local.core.types import Atom, Context, Relation, ScoredPair
from factcheck_local.pipeline.settings import Settings
from factcheck_local.pipeline.verdicts.factreasoner import reason

ENTAILS = Relation(0.92, 0.03, 0.05)
CONTRADICTS = Relation(0.03, 0.92, 0.05)
PRIOR = 0.9


@dataclass(frozen=True, slots=True)
class ClaimGroup:
    """Claims of the old document, by who else speaks of them.

    Attributes:
        name: for the table.
        topics: one claim each.
        against: documents that say otherwise.
        copied: whether a fourth document holds a copy of what the old one says.
    """

    name: str
    topics: tuple[str, ...]
    against: tuple[str, ...] = ()
    copied: bool = False


KINDS = (
    ClaimGroup("wrong, both others against it", ("a", "b", "c", "d"), ("first", "second")),
    ClaimGroup("wrong, one other against it", ("e", "f"), ("first",)),
    ClaimGroup("wrong, one other against it, and copied", ("g",), ("first",), copied=True),
    ClaimGroup("said by the old document alone", ("h",)),
)


def corpus() -> tuple[list[Atom], list[Context], list[ScoredPair]]:
    """Atoms that the old document states, the passages, and their relations."""
    atoms, contexts, pairs = [], [], []

    def passage(source: str, topic: str, text: str) -> str:
        contexts.append(Context(f"{source}/{topic}", f"{source}.md", topic, text, prior=PRIOR))
        return f"{source}/{topic}"

    for kind in KINDS:
        for topic in kind.topics:
            atoms.append(Atom(topic, f"Claim on {topic}.", f"Claim on {topic}."))
            said = [passage("old", topic, f"The old text on {topic} as it was written.")]
            if kind.copied:
                said.append(passage("copy", topic, f"The old text on {topic} as it was written."))
            against = [passage(s, topic, f"What {s} says on {topic} now.") for s in kind.against]
            pairs += [ScoredPair(p, topic, ENTAILS) for p in said]
            pairs += [ScoredPair(p, topic, CONTRADICTS) for p in against]
            pairs += [ScoredPair(p, q, CONTRADICTS) for p in said for q in against]
            if len(against) == 2:
                x, y = against
                pairs += [ScoredPair(x, y, ENTAILS), ScoredPair(y, x, ENTAILS)]
    return atoms, contexts, pairs


def posteriors(assessor: str, **settings: float) -> dict[str, float]:
    """P(claim) by its topic, under settings that are no default."""
    atoms, contexts, pairs = corpus()
    chosen = Settings(assessor=assessor, **settings)  # type: ignore[arg-type]
    marginals = reason(atoms, contexts, pairs, chosen).marginals
    if marginals is None:
        raise RuntimeError("the corpus cannot be solved")
    return {atom.id: marginals.p_true[atom.id] for atom in atoms}


def main() -> None:
    """Print a Markdown table."""
    found = {assessor: posteriors(assessor) for assessor in ("fr3", "fr4")}
    print("| the claim is | FR3 | FR4 |\n|---|---:|---:|")
    for kind in KINDS:
        shown = [f"{fmean(found[a][t] for t in kind.topics):.2f}" for a in ("fr3", "fr4")]
        print(f"| {kind.name} | {' | '.join(shown)} |")
    print(f"\nsignature: `{Settings(assessor='fr4').line()}`")


if __name__ == "__main__":
    main()
