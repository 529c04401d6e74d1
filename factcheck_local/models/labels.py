"""Which output of an NLI checkpoint is which label."""

from __future__ import annotations

from collections.abc import Mapping

from factcheck_local.core.errors import ModelError

#: How checkpoints call the three labels, lower case, in the order we return.
LABEL_NAMES = (
    ("entailment", "entail", "entails", "supported", "supports"),
    ("contradiction", "contradict", "contradicts", "refuted", "refutes"),
    ("neutral", "none", "not enough info", "nei"),
)


def label_columns(id2label: Mapping[int, str], *, where: str) -> list[int]:
    """Columns of entailment, contradiction and neutral in a checkpoint's output.

    Args:
        id2label: the config's own table, column to name.
        where: what to call the model in an error.

    Raises:
        ModelError: if the names are not those of a three-way NLI model. The
            order differs between checkpoints, so it is never guessed.
    """
    by_name = {name.lower().replace("_", " "): int(column) for column, name in id2label.items()}
    columns = [
        next((by_name[name] for name in names if name in by_name), None) for names in LABEL_NAMES
    ]
    known = [c for c in columns if c is not None]
    if len(by_name) != 3 or len(known) != 3:
        raise ModelError(
            f"{where}: expected the labels entailment, contradiction and neutral in its config, "
            f"got {', '.join(id2label.values())}"
        )
    return known
