"""Learning rates over a run."""

from __future__ import annotations


def falling(progress: float, peak: float) -> float:
    """3 % warm-up, constant for a third, then linear to a fiftieth.

    Args:
        progress: of the run, 0 to 1.
        peak: the constant.
    """
    return peak * min(1.0, progress / 0.03) * max(0.02, min(1.0, (1.0 - progress) / 0.65))
