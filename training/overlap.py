"""Whether a training pair shares a sentence with a held-out set."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

#: Sentences shorter than this many words are common property ("See below.").
MIN_WORDS = 5


def normalised(text: str) -> str:
    """Lower-case words only, so that tokenisation and punctuation do not matter."""
    return " ".join(
        re.findall(r"[a-z0-9]+", text.lower().replace("-lrb-", " ").replace("-rrb-", " "))
    )


def sentences(text: str) -> Iterator[str]:
    """Normalised sentences of at least ``MIN_WORDS`` words."""
    for part in re.split(r"(?<=[.!?])\s+|\n", text):
        found = normalised(part)
        if found.count(" ") >= MIN_WORDS - 1:
            yield found


@dataclass(frozen=True, slots=True)
class Held:
    """The sentences of held-out premises and claims."""

    known: frozenset[str]

    @classmethod
    def of(cls, paths: Iterable[Path]) -> Self:
        """Read NLI files, and WiCE's (``claim``, ``evidence``)."""
        known: set[str] = set()
        for path in paths:
            with path.open(encoding="utf-8") as lines:
                for row in map(json.loads, lines):
                    texts = (
                        [row["claim"], *row["evidence"]]
                        if "claim" in row
                        else [row["premise"], row["hypothesis"]]
                    )
                    for text in texts:
                        known.update(sentences(text))
                        known.add(normalised(text))
        return cls(frozenset(k for k in known if k.count(" ") >= MIN_WORDS - 1))

    def shares(self, premise: str, hypothesis: str) -> bool:
        """Whether a sentence of the pair, or the whole of either text, is held out."""
        texts = {
            normalised(premise),
            normalised(hypothesis),
            *sentences(premise),
            *sentences(hypothesis),
        }
        return not texts.isdisjoint(self.known)
