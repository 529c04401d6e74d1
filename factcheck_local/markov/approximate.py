"""Approximate marginals: belief propagation from several starts, checked by sampling.

Belief propagation is nearly right on most fact graphs and has no way of knowing
when it is not. Samples are unbiased and noisy. Both are computed, and each
probability is drawn from the one towards the other as far as the differences
exceed what noise explains (empirical Bayes: Morris 1983).
"""

import numpy as np

from factcheck_local.markov.arrays import Arrays
from factcheck_local.markov.bp import Beliefs, Stage, belief_propagation
from factcheck_local.markov.factors import Table, p_of_log_odds
from factcheck_local.markov.gibbs import annealed_gibbs
from factcheck_local.markov.limits import Limits
from factcheck_local.markov.solution import Solution

#: Beliefs of two starts that differ by more than this, anywhere, are two fixed points.
_DISTINCT = 0.01

#: Fixed points whose Bethe log Z is below the best by more than this do not count.
_NEGLIGIBLE = 12.0

_TOLERANCE = 1e-7
_SCHEDULE = (Stage(60), Stage(200, damping=0.5), Stage(100, 0.3, 0.5), Stage(400, 0.9))

#: Chains start from beliefs no surer than this, in log odds: they have to be able to
#: find what belief propagation has overlooked.
_START = 6.0

#: Beyond this many variables times chains there are fewer chains.
_DRAWS = 64 * 1500

NAME = "belief propagation, checked by sampling"


def approximate(arrays: Arrays, limits: Limits) -> Solution:
    """Marginals of a connected network that is too wide to eliminate.

    Raises:
        InferenceError: if there is a potential over three or more variables.
    """
    beliefs = belief_propagation(
        arrays,
        starts=limits.starts,
        seed=limits.seed,
        tolerance=_TOLERANCE,
        schedule=_SCHEDULE,
    )
    modes = fixed_points(beliefs)
    chains = max(16, min(limits.chains, _DRAWS // arrays.count))
    samples = annealed_gibbs(
        arrays,
        np.clip(beliefs.log_odds[modes], -_START, _START),
        chains=chains * len(modes),
        anneal=limits.anneal,
        sweeps=limits.sweeps,
        seed=limits.seed,
    )
    shares = np.exp(beliefs.log_z[modes] - np.logaddexp.reduce(beliefs.log_z[modes]))
    believed = shares @ p_of_log_odds(beliefs.log_odds[modes])
    p_true, error = _pooled(believed, samples.p_true, samples.error)
    best = modes[0]
    return Solution(
        p_true,
        float(beliefs.log_z[best]) if len(modes) == 1 else samples.log_z,
        NAME,
        exact=False,
        converged=bool(beliefs.converged[modes].all()),
        multimodal=len(modes) > 1,
        iterations=beliefs.iterations,
        error=error,
    )


def fixed_points(beliefs: Beliefs) -> list[int]:
    """The starts that ended in different beliefs, the best Bethe log Z first.

    Starts that did not converge count only where none did.
    """
    p = p_of_log_odds(beliefs.log_odds)
    rows = np.flatnonzero(beliefs.converged)
    ranked = sorted(
        rows.tolist() if len(rows) else range(len(p)), key=lambda i: (-beliefs.log_z[i], i)
    )
    found = [ranked[0]]
    for i in ranked[1:]:
        near = beliefs.log_z[ranked[0]] - beliefs.log_z[i] <= _NEGLIGIBLE
        if near and all(np.abs(p[i] - p[j]).max() > _DISTINCT for j in found):
            found.append(i)
    return found


def _pooled(believed: Table, sampled: Table, noise: Table) -> tuple[Table, float]:
    """Beliefs and samples as one, and an estimate of the largest error.

    The squared difference of the two is, on average, the bias of belief propagation
    plus the variance of the samples. What of it the variance does not explain is taken as
    the bias, the same for every variable. That no bias shows does not make the beliefs exact:
    the error is estimated with one that is two standard errors larger.
    """
    variance = np.maximum(noise, 1e-9) ** 2
    difference = sampled - believed
    unexplained = difference**2 - variance
    bias = max(0.0, float(unexplained.mean()))
    trust = bias / (bias + variance)
    possible = bias + 2 * float(unexplained.std()) / np.sqrt(len(unexplained))
    remaining = np.sqrt(trust**2 * variance + (1 - trust) ** 2 * possible)
    return np.clip(believed + trust * difference, 0.0, 1.0), float(remaining.max(initial=0.0))
