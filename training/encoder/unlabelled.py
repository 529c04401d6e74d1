"""Unlabelled pairs that look like use, for a teacher to label: passages with near claims.

    python -m training.encoder.unlabelled --passages passages.jsonl --out unlabelled.jsonl

A sentence of a section is a claim about the sections that retrieval finds for it, its own left
out half of the time, so most pairs are near misses. Writes rows ``{"title", "premise",
"hypothesis"}``, those of one passage in a row.
"""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import click
import numpy as np
import numpy.typing as npt

from factcheck_local.models.registry import DEFAULT_EMBEDDER, load_model

Floats = npt.NDArray[np.float32]

#: Sections that a claim is read against.
NEAREST = 3
#: How often a claim's own section is one that may be found.
OWN = 0.5
#: How often a number of a claim is replaced, or its verb negated, where it has one.
CHANGED = 0.35

_LEAD_IN = re.compile(r"^(?:However|Also|Therefore|Thus|Moreover|Note that|In addition|Finally),? ")
_ASIDE = re.compile(r" \([^()]*\)")
_NUMBER = re.compile(r"(?<![\w.])\d{1,4}(?![\w.])")
_VERB = re.compile(r"\b(is|are|can|will|must|should|may)\b(?! not\b)")


def turned(sentence: str, rng: random.Random) -> str:
    """A sentence as a claim: without lead-in and asides, now and then made wrong."""
    text = _ASIDE.sub("", _LEAD_IN.sub("", sentence, count=1)).strip()
    text = text[:1].upper() + text[1:]
    if rng.random() >= CHANGED:
        return text
    numbers = list(_NUMBER.finditer(text))
    if numbers:
        number = rng.choice(numbers)
        other = int(number.group()) + rng.choice([-2, -1, 1, 2, 5, 10])
        return f"{text[: number.start()]}{abs(other)}{text[number.end() :]}"
    return _VERB.sub(r"\1 not", text, count=1)


def nearest(claim: Floats, passages: Floats, own: int, rng: random.Random) -> list[int]:
    """Rows of the passages that are nearest to a claim, its own among them as often as ``OWN``.

    Args:
        claim: unit vector, shape (d,).
        passages: unit vectors, shape (n, d).
        own: row of the passage that the claim is from.
        rng: decides whether that may be found.
    """
    without = rng.random() >= OWN
    order = np.argsort(-(passages @ claim), kind="stable")[: NEAREST + 1].tolist()
    return [row for row in order if not (without and row == own)][:NEAREST]


@click.command()
@click.option("--passages", type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--sections", type=int, default=3000, show_default=True, help="Sampled; all if less.")
@click.option("--claims", type=int, default=1500, show_default=True)
@click.option("--seed", type=int, default=1, show_default=True)
def main(passages: Path, out: Path, sections: int, claims: int, seed: int) -> None:
    """Write claims about the sections that ``training.corpus`` wrote."""
    rng = random.Random(seed)
    with passages.open(encoding="utf-8") as lines:
        rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    rng.shuffle(rows)
    rows = rows[:sections]
    texts = [" ".join(row["sentences"]) for row in rows]
    own = [rng.randrange(len(rows)) for _ in range(claims)]
    made = [turned(rng.choice(rows[i]["sentences"]), rng) for i in own]
    embedder = load_model(DEFAULT_EMBEDDER, "embedder")
    vectors, queries = embedder.embed(texts), embedder.embed(made)
    about: dict[int, list[str]] = {}
    for i, claim, query in zip(own, made, queries, strict=True):
        for row in nearest(query, vectors, i, rng):
            about.setdefault(row, []).append(claim)
    with out.open("w", encoding="utf-8") as written:
        for row, found in sorted(about.items()):
            for claim in dict.fromkeys(found):
                pair = {"title": rows[row]["title"], "premise": texts[row], "hypothesis": claim}
                written.write(json.dumps(pair, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
