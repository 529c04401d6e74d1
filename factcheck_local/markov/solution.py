"""What a method of inference finds for a part of a network, as arrays."""

from dataclasses import dataclass

from factcheck_local.markov.factors import Table


@dataclass(frozen=True, eq=False)
class Solution:
    """Marginals of n variables.

    Attributes:
        p_true: (n,) P(true), in [0, 1].
        log_z: natural logarithm of the partition function, or what stands for it.
        method: for people to read.
        exact: whether the numbers are exact up to rounding.
        converged: False if belief propagation stopped before a fixed point.
        multimodal: whether belief propagation came to different beliefs from
            different starts.
        iterations: sweeps of an iterative method, 0 for the others.
        error: estimate of the largest error of a probability; 0 if exact, None if
            the method has none.
        width: of the elimination, where there was one.
    """

    p_true: Table
    log_z: float
    method: str
    exact: bool = True
    converged: bool = True
    multimodal: bool = False
    iterations: int = 0
    error: float | None = 0.0
    width: int = 0
