"""Assessments whose probabilities are the engine's: small answers over a few documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from factcheck_local.core.types import (
    Answer,
    Atom,
    Context,
    Kind,
    Quote,
    Relation,
    RelationLabel,
    ScoredPair,
    Span,
)
from factcheck_local.markov import infer
from factcheck_local.pipeline.run import Run
from factcheck_local.pipeline.settings import Settings
from factcheck_local.pipeline.verdicts.factreasoner import assess, reason
from factcheck_local.report import to_dict
from factcheck_local.report.network import network_of

#: "Emoji" counts two in UTF-16, so offsets in code points show.
TEXT = (
    "# Leave 🌴\n\nStaff get 25 days of leave, and they may take them when they like.\n"
    "Unused days expire in March.  Pay is monthly.\n\n- Dogs may come to the office.\n- Hi!\n"
    "Once more: 25 days."
)

PASSAGES = {
    "p1": ("policies/leave.md", "Leave", "## Leave 🌴\n\nStaff get 25 days of leave a year.", 0.95),
    "p2": ("policies/leave.md", "Leave > Rest", "Days that are left expire in June.", 0.95),
    "p3": ("archive/leave-2021.md", "Leave", "Staff get 20 days of leave.\nThey expire.", 0.4),
    "p4": ("wiki/draft.md", "Draft", "30 days of leave from 2026.", 0.6),
    "p5": ("mirror/draft.md", "Draft", "30 days of leave from 2026.", 0.5),
    "p6": ("site/dogs.html", "Dogs", "No dogs, cats only.", 0.9),
}


def span_of(text: str, within: str = TEXT) -> Span:
    start = within.index(text)
    return Span(start, start + len(text))


def claim(name: str, text: str, where: str | None, **fields: Any) -> Atom:  # noqa: ANN401
    """``where`` is the text of its span, None for a claim that has none."""
    return Atom(name, text, where or text, span=span_of(where) if where else None, **fields)


FIRST = "Staff get 25 days of leave, and they may take them when they like."

ATOMS = (
    claim("a1", "Staff get 25 days.", FIRST, repeats=(span_of("Once more: 25 days."),)),
    claim("a2", "They take leave when they like.", FIRST),
    claim("a3", "Leave is taken at will.", "they may take them when they like"),
    claim("a4", "Unused days expire in March.", "Unused days expire in March."),
    claim("a5", "Pay is monthly.", "Pay is monthly."),
    claim("a6", "Dogs may come.", "Dogs may come to the office."),
    claim("a7", "Hi!", "Hi!", kind=Kind.OTHER),
    claim("a8", "The office is in Kiel.", None),
)

FOR, AGAINST = RelationLabel.ENTAILMENT, RelationLabel.CONTRADICTION

RELATIONS = (
    ("p1", "a1", FOR, 0.95),
    ("p3", "a1", AGAINST, 0.9),
    ("p4", "a1", AGAINST, 0.9),
    ("p5", "a1", AGAINST, 0.8),
    ("p1", "a2", FOR, 0.5),
    ("p2", "a4", AGAINST, 0.9),
    ("p3", "a4", FOR, 0.55),
    ("p6", "a6", AGAINST, 0.97),
    ("p6", "a8", AGAINST, 0.6),
    ("p1", "p3", AGAINST, 0.9),
    ("p4", "p5", FOR, 0.9),
    ("p5", "p4", FOR, 0.9),
)


def relation(label: RelationLabel, p: float) -> Relation:
    rest = (1 - p) / 2
    return Relation(p, rest, 1 - p - rest) if label is FOR else Relation(rest, p, 1 - p - rest)


def verified(
    relations: Sequence[tuple[str, str, RelationLabel, float]] = RELATIONS,
    *,
    text: str = TEXT,
    atoms: Sequence[Atom] = ATOMS,
    passages: Mapping[str, tuple[str, str, str, float]] = PASSAGES,
    failures: Mapping[str, str] | None = None,
    **settings: Any,  # noqa: ANN401
) -> dict[str, Any]:
    """What ``verify`` writes, the relation model's word given by hand."""
    failures = {"a5": "the model gave no answer"} if failures is None else failures
    chosen = Settings(**settings)
    contexts = [
        Context(
            name, source, title, said, prior, f"rule of {source}", Span(100, 100 + len(said)), 7
        )
        for name, (source, title, said, prior) in passages.items()
    ]
    if chosen.assessor in ("fr1", "fr2"):
        relations = [r for r in relations if r[1] not in passages]
    pairs = [ScoredPair(x, y, relation(label, p)) for x, y, label, p in relations]
    posterior = reason([a for a in atoms if a.kind.check_worthy], contexts, pairs, chosen)
    quotes = {(x, y): (_quote(passages[x][2]),) for x, y, _, _ in relations}
    found = assess(
        Answer(text, "answers/leave.md", "How much leave?"),
        atoms,
        contexts,
        pairs,
        posterior,
        quotes,
        failures,
        chosen,
        ["1 atom was dropped"],
    )
    model = {"role": "llm", "id": "tiny", "sha256": "a" * 64}
    index = {"store": "/s", "collection": "passages", "chunks": 6, "digest": "d" * 64}
    return to_dict(Run(found, chosen, (model,), index, "2026-01-01T00:00:00+00:00", {"load": 1.0}))


def _quote(passage: str) -> Quote:
    """The last sentence, as offsets in a document where the passage starts at 100."""
    said = passage.split("\n")[-1]
    start = 100 + passage.rindex(said)
    return Quote(said, Span(start, start + len(said)))


def many(claims: int, passages: int) -> dict[str, Any]:
    """An assessment of many claims, each with passages of its own, all of some length."""
    value = verified(failures={})
    atom, relation, context = value["atoms"][0], value["relations"][0], value["contexts"][0]
    evidence, sentence = atom["evidence"][0], "It says the same of some other case. "
    start = evidence["quote"]["start"]
    texts = [f"Claim {i} of many is stated here." for i in range(claims)]
    value["answer"]["text"] = "\n".join(texts)
    found: dict[str, list[dict[str, Any]]] = {"atoms": [], "contexts": [], "relations": []}
    at = 0
    for i, text in enumerate(texts):
        own = [f"c{i}-{k}" for k in range(passages)]
        against = i % 10 == 0
        label = "contradiction" if against else "entailment"
        found["atoms"].append(
            atom
            | {
                "id": f"a{i}",
                "text": text,
                "original": text,
                "span": {"start": at, "end": at + len(text)},
                "repeats": [],
                "verdict": "contradicted" if against else "supported",
                "probability": 0.1 if against else 0.9,
                "sensitivity": atom["sensitivity"] | {"pivotal": None},
                "evidence": [evidence | {"context": c, "relation": label} for c in own],
            }
        )
        at += len(text) + 1
        for c in own:
            said = f"{evidence['quote']['text']} {c} {sentence * 20}"
            found["contexts"].append(context | {"id": c, "text": said, "start": start})
            p = {"entailment": 0.1, "contradiction": 0.1, "neutral": 0.1, label: 0.8}
            found["relations"].append(relation | {"from": c, "to": f"a{i}", **p})
    return value | found


def random_world(rng: np.random.Generator) -> dict[str, Any]:
    """What the network of a run needs: a few atoms and passages, related at random.

    Some passages are copies, some relations certain, some run both ways.
    """
    atoms, passages = int(rng.integers(1, 8)), int(rng.integers(1, 10))
    names = [f"a{i}" for i in range(atoms)] + [f"p{i}" for i in range(passages)]
    pairs = {
        (f"p{rng.integers(passages)}", str(rng.choice(names)))
        for _ in range(rng.integers(1, 3 * passages))
    }
    assessment: dict[str, Any] = {
        "run": {
            "settings": {
                "assessor": str(rng.choice(["fr2", "fr3", "fr4"])),
                "factors": str(rng.choice(["conditional", "table1"])),
                "source_correlation": round(float(rng.uniform()), 3),
            }
        },
        "atoms": [
            {"id": f"a{i}", "text": "x", "original": "x", "probability": 0.5} for i in range(atoms)
        ],
        "contexts": [
            {
                "id": f"p{i}",
                "source": f"s{rng.integers(4)}",
                "title": "",
                "text": f"Text {rng.integers(6)}.",
                "prior": float(rng.uniform(0.02, 0.98)),
            }
            for i in range(passages)
        ],
        "relations": [_random_relation(rng, x, y) for x, y in sorted(pairs) if x != y],
        "inference": {"exact": True},
    }
    posteriors = infer(network_of(assessment).network).p_true
    for atom in assessment["atoms"]:
        atom["probability"] = posteriors[atom["id"]]
    return assessment


def _random_relation(rng: np.random.Generator, x: str, y: str) -> dict[str, Any]:
    p = rng.dirichlet([0.5, 0.5, 0.3])
    if rng.uniform() < 0.05:
        p = rng.permutation([1.0, 0.0, 0.0])
    return {
        "from": x,
        "to": y,
        "entailment": float(p[0]),
        "contradiction": float(p[1]),
        "neutral": float(p[2]),
    }
