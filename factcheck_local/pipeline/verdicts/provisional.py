"""A claim's verdict before those of the others are known: from its own pairs alone.

The network is that of the claim and of the passages that were read for it, with the settings
of the whole one. It is a star, which has a closed form: a millisecond a claim. Of two ways to a
provisional P this is the one that says the same in every run: the network of all that is known
so far would depend on which passages happen to be read first, and would be solved for every claim
over all of what came before. What it leaves out comes in at the end: what other claims say of
shared passages, and with ``fr3`` and ``fr4`` what passages say of each other. For a claim
that shares no passage with others, ``fr1`` and ``fr2`` leave nothing out.

Nothing here is kept or goes back into a run, so that no final verdict depends on it.
"""

from __future__ import annotations

from collections.abc import Mapping

from factcheck_local.core.types import Atom, AtomAssessment, Context, Thresholds
from factcheck_local.pipeline.relation import Related
from factcheck_local.pipeline.settings import Settings
from factcheck_local.pipeline.verdicts.factreasoner import assess_atom, reason


def provisional(
    atom: Atom,
    related: Related,
    contexts: Mapping[str, Context],
    settings: Settings,
    thresholds: Thresholds,
) -> AtomAssessment:
    """What the passages that were read for an atom make of it, by themselves.

    Args:
        atom: a check-worthy one.
        related: all pairs of which it is the hypothesis; one that failed leaves it unscored,
            as it does in the end.
        contexts: by id, at least those of the pairs.
        settings: of the run.
        thresholds: of the run's verdicts.

    Returns:
        Its verdict, P and evidence, without quotes, for which every sentence of a passage
        is embedded, and without sensitivity, which is of the whole network.
    """
    own = [contexts[pair.premise] for pair in related.pairs]
    posterior = reason([atom], own, related.pairs, settings, explained=False)
    failures = list(related.failures.values())
    failure = failures[-1] if failures else None
    return assess_atom(atom, contexts, related.pairs, posterior, {}, failure, settings, thresholds)
