"""Sets of passages that are near to each other on purpose: from passages to verdicts.

A set is one organisation's passages and claims, each claim labelled against every passage
(``training/data/authored``). Its passages are documents, and all that retrieval may use for its
claims, which are atoms as they are. What is expected of a claim follows from its labels:
*supported* where passages entail it, *contradicted* where they contradict it, *conflicting* where
some do the one and some the other, *not found* where none does either.

Where retrieval goes by words, how rare a word is counts over the passages of all sets loaded.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from factcheck_local.core.errors import RecordError
from factcheck_local.core.types import Answer, Atom, Span, Verdict
from factcheck_local.evaluate.collection import Collection, Item, digest_of, field_of, json_rows
from factcheck_local.pipeline.claims.records import Record

#: One set in so many is held out from training.
HELD_OUT = 5

#: The folds by name, as ``load`` takes them: held out from training, the others, or all.
FOLDS: dict[str, bool | None] = {"held-out": True, "training": False, "all": None}

#: Deepest heading of Markdown; titles with more parts keep the rest in the last one.
LEVELS = 6
_BETWEEN = " > "

#: What a passage may be called: a part of a file's name.
_ID = re.compile(r"[A-Za-z0-9][\w-]*")


def is_held_out(name: str) -> bool:
    """Whether a set, by its name, is kept from training: whatever else is read, it stays so."""
    digest = hashlib.sha256(name.encode()).digest()
    return int.from_bytes(digest[:8], "big") % HELD_OUT == 0


def load(path: Path, *, held_out: bool | None) -> Collection:
    """Read sets.

    Args:
        path: a file of JSON lines, or a folder of such.
        held_out: only the sets that are held out from training, or only the others; None for all.

    Raises:
        RecordError: if a file cannot be read, a row is not as expected, or no set is left.
    """
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    documents: dict[str, str] = {}
    items: list[Item] = []
    folders: dict[str, str] = {}
    for file in files:
        for where, row in json_rows(file):
            name = field_of(row, "set", str, where)
            folder = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
            if not folder or folder in folders:
                raise RecordError(f"{where}: expected another name than {name!r}: {_taken(folder)}")
            folders[folder] = name
            passages = _passages(row, where)
            item = _item(row, folder, passages, where)
            if held_out is None or is_held_out(name) == held_out:
                items.append(item)
                documents |= {f"{folder}/{id_}.md": text for id_, text in passages.items()}
    if not items:
        kind = {True: " held-out", False: " training", None: ""}[held_out]
        raise RecordError(f"{path}: no{kind} set in it")
    return Collection(
        {True: "sets", False: "sets-training", None: "sets-all"}[held_out],
        digest_of(files),
        tuple(items),
        documents,
        notes=(
            {
                True: "sets held out from training",
                False: "sets that models were trained on",
                None: "all sets, those that models were trained on among them",
            }[held_out],
            "gold: supported; contradicted, conflicting and not found count as not",
        ),
        verdicts=True,
    )


def _taken(folder: str) -> str:
    return "another set is called so" if folder else "it has no letter a-z or digit"


def _passages(row: Mapping[str, Any], where: str) -> dict[str, str]:
    """The passages as Markdown, by id: the parts of a title are headings, one under the other."""
    found: dict[str, str] = {}
    for passage in field_of(row, "passages", list, where):
        id_, title, text = (field_of(passage, n, str, where) for n in ("id", "title", "text"))
        if not _ID.fullmatch(id_) or id_ in found:
            raise RecordError(f"{where}: expected every passage to have an id of its own: {id_!r}")
        if not title.strip() or not text.strip():
            raise RecordError(f"{where}: passage {id_} has no title, or no text")
        parts = [" ".join(part.split()) for part in title.split(_BETWEEN, LEVELS - 1)]
        headings = [f"{'#' * level} {part}" for level, part in enumerate(parts, start=1) if part]
        found[id_] = "\n\n".join([*headings, text.strip("\n")]) + "\n"
    return found


def _item(row: Mapping[str, Any], folder: str, passages: Mapping[str, str], where: str) -> Item:
    atoms: list[Atom] = []
    texts: list[str] = []
    at = 0
    for claim in field_of(row, "claims", list, where):
        text = field_of(claim, "text", str, where)
        if not text.strip():
            raise RecordError(f"{where}: a claim has no text")
        span = Span(at, at + len(text))
        label = _expected(claim, passages, where).value
        atoms.append(Atom(f"a{len(atoms)}", text, text, span=span, label=label))
        texts.append(text)
        at = span.end + 1
    gold = {a.id: a.label == Verdict.SUPPORTED for a in atoms}
    record = Record(Answer("\n".join(texts), where), tuple(atoms))
    return Item(folder, record, gold, where=(f"source={folder}/*",))


def _expected(claim: Mapping[str, Any], passages: Mapping[str, str], where: str) -> Verdict:
    sides = []
    for side in ("entailed_by", "contradicted_by"):
        named = field_of(claim, side, list, where)
        for id_ in named:
            if not isinstance(id_, str) or id_ not in passages:
                raise RecordError(f"{where}: {side} names {id_!r}, which is no passage of the set")
        sides.append(set(named))
    entailing, contradicting = sides
    if both := sorted(entailing & contradicting):
        raise RecordError(f"{where}: {both[0]} cannot entail and contradict one claim")
    if entailing and contradicting:
        return Verdict.CONFLICTING
    if entailing:
        return Verdict.SUPPORTED
    return Verdict.CONTRADICTED if contradicting else Verdict.NOT_FOUND
