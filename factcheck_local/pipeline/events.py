"""What a run tells on its way, to whoever listens: see ``FactChecker.verify``.

Events are frozen values; a listener is a function of one. It is called in the thread that
called ``verify``, between two steps of the work, which waits for it: one that is slow should
put the event into a queue. What it raises ends the run, as an interrupt would. A new version
may tell further kinds of events, so pass over those that you do not know.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from factcheck_local.core.types import AtomAssessment, Context
from factcheck_local.pipeline.run import Run


@dataclass(frozen=True, slots=True)
class Event:
    """Something that a run tells; one of the classes below."""


@dataclass(frozen=True, slots=True)
class StageBegun(Event):
    """A stage is begun, or gone on with after another one.

    Attributes:
        stage: its name, as in ``Run.seconds``.
    """

    stage: str


@dataclass(frozen=True, slots=True)
class StageAdvanced(Event):
    """A stage has come further; not every stage counts.

    Attributes:
        stage: what is counted, mostly the name of a stage.
        done: units of work that are done.
        count: all units, at least ``done``.
    """

    stage: str
    done: int
    count: int


@dataclass(frozen=True, slots=True)
class ClaimReached(Event):
    """All that concerns a claim alone is read, and this is its verdict so far.

    Each claim that is checked has one such event, before ``RunFinished``, which may say
    otherwise: there all claims and passages are weighed together (see
    ``verdicts.provisional``). Of a judge the verdict is final already.

    Attributes:
        claim: the claim with its provisional verdict, probability and evidence, of which the
            first piece on the verdict's side decides it; without quotes and sensitivity.
        contexts: the passages that ``claim.evidence`` or ``claim.read`` names, in that order.
        done: how many claims are reached, this one included.
        count: how many will be.
    """

    claim: AtomAssessment
    contexts: tuple[Context, ...]
    done: int
    count: int


@dataclass(frozen=True, slots=True)
class RunFinished(Event):
    """The last event of a run that came to its end.

    Attributes:
        run: what ``FactChecker.verify`` returns.
    """

    run: Run


#: What is told of a run.
OnEvent = Callable[[Event], None]
