"""Synthetic training pairs, from passages, invented facts and human-labelled pairs.

    python -m training.synthesize --passages passages.jsonl --nli DATA/nli --out pairs/

Writes ``docs.jsonl``, ``facts.jsonl``, ``wiki.jsonl`` and ``human.jsonl``, rows
``{"premise", "hypothesis", "label", "source"}``. Every kind makes the three
labels by the same rewrites, so that no wording alone gives a label away: an
altered claim is a contradiction beside the sentence it alters, and neutral in
the same passage without that sentence.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from training import facts, rewrite
from training.overlap import Held

Row = dict[str, str]
TITLED = 0.6

#: The labelled sets, `train-NAME.jsonl`.
LABELLED = ("fool-me-twice", "cad-nli", "conjnli")


def premise_of(title: str, sentences: Sequence[str], rng: random.Random) -> str:
    """A passage as the relation model gets it: often with its heading in front."""
    text = " ".join(sentences)
    return f"{title}. {text}" if title and rng.random() < TITLED else text


def window(sentences: Sequence[str], at: int, rng: random.Random) -> tuple[list[str], int]:
    """1 to 12 sentences around one, mostly few; and where it stands among them."""
    length = rng.choices([1, 2, 3, 4, 6, 9, 12], [14, 18, 20, 18, 16, 9, 5])[0]
    start = max(0, min(at - rng.randrange(length), len(sentences) - length))
    return list(sentences[start : start + length]), at - start


def from_passage(
    title: str,
    sentences: Sequence[str],
    contrary: Sequence[rewrite.Rewrite],
    open_: Sequence[rewrite.Rewrite],
    rng: random.Random,
) -> Iterator[Row]:
    """One to three pairs of one sentence of a passage."""
    at = rng.randrange(len(sentences))
    target = sentences[at]
    around, k = window(sentences, at, rng)
    claim = rewrite.keep(target, rng, rng.choice([1, 1, 2, 2, 3]))
    altered = rewrite.first_of(contrary, claim, rng)
    rest = around[:k] + around[k + 1 :]
    options: list[tuple[str, str, list[str]]] = [("entailment", claim, around)]
    if altered:
        options.append(("contradiction", altered, around))
        # The other way round: the passage is what was altered.
        if (source := rewrite.first_of(contrary, target, rng)) and rng.random() < 0.4:
            options[-1] = ("contradiction", claim, [*around[:k], source, *around[k + 1 :]])
    if rest:
        options.append(("neutral", altered if altered and rng.random() < 0.5 else claim, rest))
    if opened := rewrite.first_of(open_, claim, rng):
        options.append(("neutral", opened, around))
    labels = [o[0] for o in options]
    for label in rng.sample(["entailment", "contradiction", "neutral"], rng.choice([1, 2])):
        if label in labels:
            _, hypothesis, premise = rng.choice([o for o in options if o[0] == label])
            yield {
                "premise": premise_of(title, premise, rng),
                "hypothesis": hypothesis,
                "label": label,
            }


def docs(
    passages: Sequence[dict[str, Any]], count: int, names: Sequence[str], rng: random.Random
) -> Iterator[Row]:
    """Pairs from passages of documentation."""
    contrary = (
        rewrite.antonym,
        rewrite.other_kind,
        rewrite.other_number,
        rewrite.negated,
        rewrite.other_name(names),
        rewrite.antonym,
        rewrite.other_number,
    )
    open_ = (
        rewrite.with_detail,
        rewrite.strengthened,
        rewrite.without_condition,
        rewrite.other_subject(names),
    )
    made = 0
    while made < count:
        passage = rng.choice(passages)
        for row in from_passage(passage["title"], passage["sentences"], contrary, open_, rng):
            yield row | {"source": f"synthetic/{passage['package']}"}
            made += 1


def wiki(
    texts: Sequence[tuple[str, str]], count: int, names: Sequence[str], rng: random.Random
) -> Iterator[Row]:
    """Pairs from the premises of the human-labelled sets, amid sentences of others."""
    contrary = (
        rewrite.antonym,
        rewrite.other_kind,
        rewrite.other_number,
        rewrite.other_name(names),
        rewrite.negated,
    )
    open_ = (rewrite.with_detail, rewrite.strengthened, rewrite.other_subject(names))
    made = 0
    while made < count:
        title, text = rng.choice(texts)
        others = [rng.choice(texts)[1] for _ in range(rng.choice([0, 0, 1, 2, 3, 5]))]
        sentences = [text, *others]
        rng.shuffle(sentences)
        at = sentences.index(text)
        # Its own window: only the chosen sentence is ever the target.
        for row in from_passage(title, sentences, contrary, open_, _Fixed(rng, at)):
            yield row | {"source": "synthetic/wiki"}
            made += 1


class _Fixed(random.Random):
    """A generator whose first ``randrange`` is given: it picks the target sentence."""

    def __init__(self, rng: random.Random, first: int) -> None:
        super().__init__(rng.random())
        self._first: int | None = first

    def randrange(self, *args: Any, **kwargs: Any) -> int:
        if self._first is not None:
            first, self._first = self._first, None
            return first
        return super().randrange(*args, **kwargs)


def invented(count: int, rng: random.Random) -> Iterator[Row]:
    """Pairs about invented facts, told as prose, list or table."""
    for _ in range(count):
        told = [facts.draw(rng) for _ in range(rng.choice([1, 2, 3, 4, 6]))]
        main = told[0]
        if rng.random() < 0.6:
            # The same topic of other subjects: what is said of one does not hold for another.
            subjects = [s for s in main.topic.subjects if s != main.subject]
            told += [
                facts.draw(rng, [main.topic], s) for s in rng.sample(subjects, rng.choice([1, 2]))
            ]
        condition = rng.choice(facts.CONDITIONS) if rng.random() < 0.15 else ""
        label = rng.choice(["entailment", "contradiction", "neutral"])
        said = main.say(rng)
        claim: str
        if label == "entailment":
            claim = main.say(rng, avoid=said)
        elif label == "contradiction":
            denial = main.denial(rng) if rng.random() < 0.25 else None
            claim = denial or main.but(rng).say(rng)
        else:
            claim = _open_claim(main, told, rng)
        if condition:
            said = (
                condition + said[0].lower() + said[1:]
                if rng.random() < 0.5 and not said[1].isupper()
                else condition + said
            )
            # Without its condition a claim is left open; with it, it is decided.
            if label == "entailment" and rng.random() < 0.5:
                label = "neutral"
            elif label != "neutral":
                claim = condition + claim
        lines = (
            [said]
            + [f.say(rng) for f in told[1:]]
            + rng.sample(facts.FILLERS, rng.choice([0, 0, 1, 2]))
        )
        if rng.random() < 0.15 and not condition and len(told) > 1:
            same = [f for f in told if f.topic is main.topic]
            lines = [f"| | {_topic_name(main)} |", *(f.row(rng) for f in same)]
            rng.shuffle(lines[1:])
            joiner = "\n"
        else:
            rng.shuffle(lines)
            joiner = rng.choice([" ", " ", " ", "\n", "\n- "])
        title = rng.choice(
            [
                "",
                "Overview",
                "Rules",
                "Reference",
                _capital(main.subject),
                "Handbook > Working at the company",
                "Service description",
            ]
        )
        text = joiner.join(lines)
        yield {
            "premise": f"{title}. {text}" if title else text,
            "hypothesis": claim,
            "label": label,
            "source": "synthetic/facts",
        }


def _open_claim(main: facts.Fact, told: Sequence[facts.Fact], rng: random.Random) -> str:
    """A claim of another subject, of another topic, or with a detail put in."""
    kind = rng.random()
    if kind < 0.45:
        while True:
            other = main.of_other(rng)
            if all(f.topic is not main.topic or f.subject != other.subject for f in told):
                return other.say(rng)
    if kind < 0.75:
        while True:
            other = facts.draw(rng)
            if all(f.topic is not other.topic for f in told):
                topics = [other.topic]
                same = main.subject if main.subject in other.topic.subjects else None
                return facts.draw(rng, topics, same).say(rng)
    return rewrite.with_detail(main.say(rng), rng) or main.say(rng)


def _topic_name(fact: facts.Fact) -> str:
    words = fact.topic.wordings[1].format(s="", S="", v="").strip(" .,:")
    return _capital(" ".join(words.split())) or "Value"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:] if text else text


def human(rows: Sequence[Row], count: int, rng: random.Random) -> Iterator[Row]:
    """Human-labelled pairs with their premise amid sentences about other things."""
    # Captions say little of whom they are about: amid others they would be ambiguous.
    rows = [r for r in rows if r["source"] != "cad-nli"]
    sentences = [r["premise"] for r in rows]
    by_title: dict[str, list[Row]] = {}
    for row in rows:
        title, mark, _ = row["premise"].partition(": ")
        if row["source"] == "fool-me-twice" and mark:
            by_title.setdefault(title, []).append(row)
    told = [rows_ for rows_ in by_title.values() if len({r["premise"] for r in rows_}) > 1]
    for _ in range(count):
        if told and rng.random() < 0.12:
            # A claim beside another passage on the same subject: seldom decided by it.
            claim, other = rng.sample(rng.choice(told), 2)
            if claim["premise"] != other["premise"]:
                yield {
                    "premise": other["premise"],
                    "hypothesis": claim["hypothesis"],
                    "label": "neutral",
                    "source": "synthetic/fool-me-twice",
                }
            continue
        row = rng.choice(rows)
        amid = [row["premise"], *(rng.choice(sentences) for _ in range(rng.choice([1, 2, 3, 4])))]
        rng.shuffle(amid)
        yield {
            "premise": " ".join(amid),
            "hypothesis": row["hypothesis"],
            "label": row["label"],
            "source": f"amid/{row['source']}",
        }


def read(path: Path) -> list[Any]:
    """The rows of a JSONL file."""
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def write(path: Path, rows: Iterator[Row], held: Held) -> None:
    """Write the rows that share nothing with the held-out sets."""
    kept = dropped = 0
    with path.open("w", encoding="utf-8") as out:
        for row in rows:
            if held.shares(row["premise"], row["hypothesis"]):
                dropped += 1
                continue
            kept += 1
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
    click.echo(f"{path}: {kept} pairs, {dropped} dropped for overlap", err=True)


def _of_source(rows: list[Row], source: str, _rng: random.Random) -> Iterator[Row]:
    return (row for row in rows if row["source"] == source)


@click.command()
@click.option("--passages", type=click.Path(exists=True, path_type=Path), required=True)
@click.option(
    "--nli",
    type=click.Path(exists=True, path_type=Path),
    required=True,
    help="Folder of the train-*.jsonl files.",
)
@click.option(
    "--held-out",
    type=click.Path(exists=True, path_type=Path),
    multiple=True,
    help="Files whose sentences must not occur.",
)
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--count", type=int, default=12000, show_default=True, help="Pairs of each kind.")
@click.option("--seed", type=int, default=1, show_default=True)
def main(
    passages: Path, nli: Path, held_out: tuple[Path, ...], out: Path, count: int, seed: int
) -> None:
    """Write the synthetic pairs."""
    out.mkdir(parents=True, exist_ok=True)
    held = Held.of(held_out)
    pages = read(passages)
    labelled = [r for name in LABELLED for r in read(nli / f"train-{name}.jsonl")]
    labelled = [r for r in labelled if not held.shares(r["premise"], r["hypothesis"])]
    texts = []
    for row in labelled:
        if row["source"] != "cad-nli":
            title, mark, rest = (
                row["premise"].partition(": ") if row["source"] == "fool-me-twice" else ("", "", "")
            )
            texts.append((title, rest) if mark else ("", row["premise"]))
    texts = [t for t in texts if 6 <= len(t[1].split()) <= 45]
    names = sorted({m[0] for _, t in texts for m in rewrite.NAME.finditer(t)})
    jobs: dict[str, Callable[[random.Random], Iterator[Row]]] = {
        "docs": lambda rng: docs(pages, count, names, rng),
        "facts": lambda rng: invented(count, rng),
        "wiki": lambda rng: wiki(texts, count, names, rng),
        "human": lambda rng: human(labelled, count, rng),
        "plain": lambda _rng: iter(labelled),
        **{f"plain-{name}": partial(_of_source, labelled, name) for name in LABELLED},
    }
    for name, job in jobs.items():
        write(out / f"{name}.jsonl", job(random.Random(seed)), held)


if __name__ == "__main__":
    main()
