"""A second look where a model is in doubt: at the lines of the passage nearest to the claim.

A small model that reads a long passage misses the one line that decides, or takes a line beside it
for it. Both readings are pooled. What that is worth is in ``training/EXPERIMENTS.md``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from factcheck_local.core.text.sentences import sentence_spans
from factcheck_local.core.types import Relation
from factcheck_local.pipeline.relation.cascade import pooled
from factcheck_local.pipeline.relation.quantities.context import stems
from factcheck_local.pipeline.relation.scorer import Premise, RelationModel, at_once

#: A relation that is less probable is in doubt.
DOUBT = 0.8

#: Lines that are read again.
MOST_LINES = 3

#: Share of the second reading in what both say.
WEIGHT = 0.5

#: What a heading's words count beside those of the line itself.
_HEADING_WEIGHT = 0.5

#: "## Contract", "**Contract**" or a short line of a text that was laid out: "Contract".
_HEADING = re.compile(r"\s*(?:#.*|\*\*.*\*\*|[^\W\d_](?:[^\s\d.:;!?|]*\s+){0,5}[^\s\d.:;!?|]+)\s*")


class SecondLookRelationModel:
    """A relation model that looks twice where it is in doubt; implements ``RelationModel``."""

    def __init__(self, model: RelationModel) -> None:
        self.model = model
        self.id = f"{model.id}+second_look"
        self.sha256 = model.sha256
        self.at_once = at_once(model)

    def relate(self, premise: Premise, hypotheses: Sequence[str]) -> list[Relation]:
        """The model's relations, those in doubt pooled with what it makes of the nearest lines.

        A hypothesis of several sentences, such as a passage, is read once: what is near to it
        is not in a few lines.

        Raises:
            ScoringError: if the model cannot take the premise.
        """
        found = self.model.relate(premise, hypotheses)
        again: dict[str, list[int]] = {}
        for i, (relation, hypothesis) in enumerate(zip(found, hypotheses, strict=True)):
            if relation.probability < DOUBT and len(sentence_spans(hypothesis)) == 1:
                near = nearest_lines(premise.text, hypothesis)
                if near != premise.text:
                    again.setdefault(near, []).append(i)
        for near, of_it in again.items():
            second = self.model.relate(Premise(premise.title, near), [hypotheses[i] for i in of_it])
            for i, relation in zip(of_it, second, strict=True):
                found[i] = pooled(found[i], relation, WEIGHT)
        return found


def nearest_lines(text: str, claim: str) -> str:
    """The lines and sentences of a text that share most words with a claim, below their headings.

    Returns:
        At most ``MOST_LINES`` of them in their order; the text where it has no more.
    """
    heading = ""
    lines: list[tuple[str, str]] = []  # each with the heading that it stands below
    for line in text.splitlines():
        if _HEADING.fullmatch(line):
            heading = line
        else:
            lines += [(heading, span.of(line)) for span in sentence_spans(line)]
    if len(lines) <= MOST_LINES:
        return text
    words = stems(claim)

    def near(i: int) -> float:
        above, line = lines[i]
        own = words & stems(line)
        return len(own) + _HEADING_WEIGHT * len(words & stems(above) - own)

    chosen = sorted(sorted(range(len(lines)), key=lambda i: -near(i))[:MOST_LINES])
    shown: list[str] = []
    last = ""
    for above, line in (lines[i] for i in chosen):
        shown += [above] if above != last and above else []
        shown.append(line)
        last = above
    return "\n".join(shown)
