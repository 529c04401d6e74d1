"""The UAI format for Markov networks, which other solvers read and write.

A text of numbers: ``MARKOV``, the number of variables, their cardinalities, the
number of factors, the scope of each, then the table of each, the rightmost
variable changing fastest. Variables have numbers, no names.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from factcheck_local.core.errors import RecordError
from factcheck_local.markov.factors import Factor
from factcheck_local.markov.network import Network

#: Variables of one factor at most: its table would have 2^n entries.
_MAX_SCOPE = 24


def network_to_uai(network: Network) -> str:
    """The network in UAI format; variable i is ``network.variables[i]``."""
    position = network.positions
    lines = ["MARKOV", str(len(position)), " ".join("2" for _ in position)]
    lines.append(str(len(network.factors)))
    for factor in network.factors:
        scope = [str(position[v]) for v in factor.variables]
        lines.append(" ".join([str(len(scope)), *scope]))
    for factor in network.factors:
        # repr is the shortest text that reads back as the same number.
        values = " ".join(repr(v) for v in factor.table.ravel().tolist())
        lines.append(f"\n{factor.table.size}\n{values}")
    return "\n".join(lines) + "\n"


def network_from_uai(text: str) -> Network:
    """A Markov network of binary variables from the UAI format.

    Args:
        text: the file's content. An empty scope is taken as a constant, which has no
            place in a network, and refused.

    Returns:
        Over variables ``x0``, ``x1`` …

    Raises:
        RecordError: if it is malformed, not a Markov network or not binary, saying what
            was expected where.
    """
    tokens = _Tokens(text)
    kind = tokens.word("the type of network")
    if kind != "MARKOV":
        raise RecordError(f"UAI: expected a network of type MARKOV, got {kind[:20]!r}")
    count = tokens.count("the number of variables")
    cards = [tokens.count(f"the cardinality of variable {i}") for i in range(count)]
    for i, card in enumerate(cards):
        if card != 2:
            raise RecordError(f"UAI: variable {i} has {card} values; only binary ones are taken")
    variables = tuple(f"x{i}" for i in range(count))
    scopes = [_scope(tokens, i, count) for i in range(tokens.count("the number of factors"))]
    factors = []
    for i, scope in enumerate(scopes):
        size = tokens.count(f"the size of table {i}")
        if size != 2 ** len(scope):
            raise RecordError(f"UAI: table {i} has {size} entries, expected {2 ** len(scope)}")
        values = [tokens.weight(f"entry {j} of table {i}") for j in range(size)]
        table = np.array(values).reshape((2,) * len(scope))
        factors.append(Factor([variables[v] for v in scope], table))
    tokens.end()
    return Network(variables, tuple(factors))


def _scope(tokens: _Tokens, index: int, count: int) -> list[int]:
    where = f"factor {index}"
    size = tokens.count(f"the size of the scope of {where}")
    if not 1 <= size <= min(count, _MAX_SCOPE):
        raise RecordError(
            f"UAI: {where} is over {size} variables, expected 1 to {min(count, _MAX_SCOPE)}"
        )
    scope = [tokens.count(f"a variable of {where}") for _ in range(size)]
    if max(scope) >= count or len(set(scope)) < size:
        raise RecordError(f"UAI: {where}: expected {size} different variables below {count}")
    return scope


class _Tokens:
    """The words of the file, in order."""

    def __init__(self, text: str) -> None:
        self._words: Iterator[str] = iter(text.split())

    def word(self, what: str) -> str:
        found = next(self._words, None)
        if found is None:
            raise RecordError(f"UAI: ends before {what}")
        return found

    def count(self, what: str) -> int:
        word = self.word(what)
        # Digits of other scripts would be taken by int, too.
        if not (word.isascii() and word.isdigit() and len(word) < 10):
            raise RecordError(f"UAI: expected {what}, got {word[:20]!r}")
        return int(word)

    def weight(self, what: str) -> float:
        word = self.word(what)
        try:
            value = float(word)
        except ValueError:
            value = math.nan
        if not (math.isfinite(value) and value >= 0):
            raise RecordError(f"UAI: {what}: expected a number >= 0, got {word[:20]!r}")
        return value

    def end(self) -> None:
        extra = next(self._words, None)
        if extra is not None:
            raise RecordError(f"UAI: expected the end, got {extra[:20]!r}")
