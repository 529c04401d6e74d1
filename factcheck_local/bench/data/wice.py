"""WiCE (Kamoi et al. 2023): claims of Wikipedia against the web article that they cite.

A claim is supported if its label is; partially supported and not supported count as not, as
in the paper's own two-way evaluation.
"""

from __future__ import annotations

from pathlib import Path

from factcheck_local.bench.contract import Collection, Item, digest_of, field_of, json_rows
from factcheck_local.records import Record
from factcheck_local.types import Answer, Atom


def load(path: Path, *, oracle: bool) -> Collection:
    """Read ``dev.jsonl``.

    Args:
        path: the file, or the folder that it is in.
        oracle: whether only a claim's own article may be used; else all articles may.

    Raises:
        RecordError: if the file cannot be read or a row is not as expected.
    """
    path = path / "dev.jsonl" if path.is_dir() else path
    names: dict[str, str] = {}
    items = []
    for number, (where, row) in enumerate(json_rows(path)):
        article = "\n".join(map(str, field_of(row, "evidence", list, where)))
        name = names.setdefault(article, f"article{len(names):04}.txt")
        claim = field_of(row, "claim", str, where)
        label = field_of(row, "label", str, where)
        atom = Atom("a0", claim, claim, label=label)
        items.append(
            Item(
                f"claim{number:04}",
                Record(Answer(claim, where), (atom,)),
                {"a0": label == "supported"},
                where=(f"source={name}",) if oracle else (),
            )
        )
    return Collection(
        "wice-oracle" if oracle else "wice",
        digest_of([path]),
        tuple(items),
        {name: text for text, name in names.items()},
        notes=("a claim is one atom, however long; partially supported counts as not supported",),
    )
