"""How much inference may take."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """What a method may spend, and the seed of its random numbers.

    Attributes:
        max_width: widest part that is eliminated; memory and time double with each. At
            20 the largest tables have 2^21 entries, 16 MB.
        starts: of belief propagation.
        chains: sampled at once, fewer on large networks.
        anneal: steps that lead the chains to the network.
        sweeps: of the chains over the network itself.
        seed: the same seed gives the same result on the same machine.
    """

    max_width: int = 20
    starts: int = 6
    chains: int = 64
    anneal: int = 12
    sweeps: int = 40
    seed: int = 0
