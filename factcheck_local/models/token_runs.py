"""Positions cut into runs that one batch each can hold."""

from __future__ import annotations

from collections.abc import Iterator


def runs(positions: range, most: int) -> Iterator[range]:
    """Cut positions into runs of nearly equal length, of at most so many each."""
    count = -(-len(positions) // most)
    for k in range(count):
        yield positions[len(positions) * k // count : len(positions) * (k + 1) // count]
