"""Several answers at once: what their claims ask of one passage is read together."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from factcheck_local.core.progress import StageProgress
from factcheck_local.core.types import Atom
from factcheck_local.pipeline.claims.records import Record
from factcheck_local.pipeline.relation import Premise, RelationModel, relate
from factcheck_local.pipeline.retrieval.search import Retrieved
from factcheck_local.pipeline.work import Work


@dataclass(frozen=True, slots=True)
class Begun:
    """A run up to the pairs that are to be read.

    Attributes:
        record: the answer, with what was known of it.
        work: what the run gathers.
        started: when it began, ISO 8601.
        atoms: all claims.
        checked: those of them that are judged.
        retrieved: their passages; None for an assessor that asks the LLM.
        pairs: (premise id, hypothesis id), of passages and claims.
        alike: id of a passage -> id of the one that stands for it, see ``relate``.
    """

    record: Record
    work: Work
    started: str
    atoms: tuple[Atom, ...]
    checked: tuple[Atom, ...]
    retrieved: Retrieved | None = None
    pairs: Sequence[tuple[str, str]] = ()
    alike: Mapping[str, str] = field(default_factory=dict)

    @property
    def premises(self) -> dict[str, Premise]:
        """The passages as premises, by id; those that came with a record are no store's."""
        given = self.record.contexts is not None
        found = self.retrieved.contexts if self.retrieved else ()
        return {c.id: Premise(c.title, c.text, "" if given else c.source) for c in found}


def read_ahead(begun: Sequence[Begun], model: RelationModel, progress: StageProgress) -> None:
    """Have the model read each passage once for all claims, so that it has their scores at hand.

    What it says is asked for again by each run. Pairs of two passages are left to the runs, where
    one direction may settle the other; so is what cannot be scored, which the run then reports.
    The time is shared out evenly.

    Args:
        begun: runs over one store, at least one.
        model: keeps its scores, and what it says of a pair does not depend on others.
        progress: told how far the stage ``relate`` is.
    """
    since = time.perf_counter()
    premises: dict[str, Premise] = {}
    named: dict[Premise, str] = {}
    claims: dict[str, str] = {}
    pairs: dict[tuple[str, str], None] = {}
    for number, run in enumerate(begun):
        texts = {a.id: a.text for a in run.checked}
        passages = run.premises
        for premise, claim in run.pairs:
            if claim in texts:
                text = passages[run.alike.get(premise, premise)]
                id_ = named.setdefault(text, f"passage {len(named)}")
                premises[id_] = text
                claims[f"{number} {claim}"] = texts[claim]
                pairs[id_, f"{number} {claim}"] = None
    relate(list(pairs), premises, claims, model, partial(progress, "relate"))
    taken = (time.perf_counter() - since) / len(begun)
    for run in begun:
        run.work.seconds["relate"] = run.work.seconds.get("relate", 0.0) + taken
