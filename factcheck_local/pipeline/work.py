"""What one run gathers on its way through the stages, and what it tells of that."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from factcheck_local.core.progress import Progress, StageProgress, silent
from factcheck_local.core.types import AtomAssessment, Context
from factcheck_local.pipeline.events import ClaimReached, OnEvent, StageAdvanced, StageBegun
from factcheck_local.pipeline.sources import Sources

logger = logging.getLogger(__name__)


@dataclass
class Work:
    """What one run gathers on its way through the stages.

    Attributes:
        advanced: told how far each stage is.
        on_event: told that and more; None where nobody listens, and then nothing is made for it.
        asked_llm: whether the run has asked for the LLM.
        sources: what of the store it may use; None until that is looked up.
    """

    advanced: StageProgress = silent
    on_event: OnEvent | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    asked_llm: bool = False
    sources: Sources | None = None
    _stage: str = ""
    _reached: set[str] = field(default_factory=set)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a stage; what it takes adds up over several visits."""
        if self.on_event is not None and name != self._stage:
            self._stage = name
            self.on_event(StageBegun(name))
        begun = time.perf_counter()
        yield
        taken = time.perf_counter() - begun
        self.seconds[name] = self.seconds.get(name, 0.0) + taken
        logger.info("%s: %.2f s", name, taken)

    def progress(self, stage: str) -> Progress:
        """What a stage is to call with its units done and all of them."""
        return partial(self._advance, stage)

    def _advance(self, stage: str, done: int, count: int) -> None:
        self.advanced(stage, done, count)
        if self.on_event is not None:
            self.on_event(StageAdvanced(stage, done, count))

    def reach(
        self, claim: AtomAssessment, contexts: Mapping[str, Context], checked: Collection[str]
    ) -> None:
        """Tell a claim's provisional verdict; once, whatever a plugin says again.

        Args:
            claim: with its verdict so far.
            contexts: by id.
            checked: ids of all claims that will be told.
        """
        id_ = claim.atom.id
        if self.on_event is None or id_ in self._reached or id_ not in checked:
            return
        self._reached.add(id_)
        named = dict.fromkeys([*(e.context_id for e in claim.evidence), *claim.read])
        passages = tuple(contexts[name] for name in named if name in contexts)
        self.on_event(ClaimReached(claim, passages, len(self._reached), len(checked)))

    def note(self, count: int, what: str) -> None:
        """Report a count of something, unless it is 0."""
        if count:
            self.notes.append(f"{what}: {count}")
