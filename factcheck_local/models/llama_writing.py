"""Texts written behind several branches side by side: of each the likeliest, and others drawn.

A batch of many rows takes little longer than one of few, and texts that begin alike are one row
until they part, so that a text that is drawn costs a fraction of one that is written alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from factcheck_local.models.llama_branches import extend
from factcheck_local.models.llama_context import LlamaContext

#: Of the texts that are drawn: the temperature, and how probable a token has to be beside the
#: likeliest.
DRAW_TEMPERATURE, DRAW_LEAST = 0.7, 0.05

#: A text: of which branch, and which of that; 0 is the likeliest.
_Text = tuple[int, int]

#: Tokens to be read, and the position of the first.
_Piece = tuple[list[int], int]


class Written(NamedTuple):
    """What was written behind a branch.

    Attributes:
        text: the likeliest token at a time.
        ended: whether its turn ended; else it was cut.
        drawn: others in its place, which ended.
    """

    text: str
    ended: bool
    drawn: tuple[str, ...]


def written(
    llama: LlamaContext,
    pieces: Mapping[int, _Piece],
    *,
    max_tokens: int,
    draws: int,
    spare: range,
    left: Callable[[int], None],
) -> dict[int, Written]:
    """Go on with branches until the turn of each ends.

    Args:
        llama: a context with these branches.
        pieces: by branch what it begins with and the position of that.
        max_tokens: of each text.
        draws: how many other texts are drawn for each branch.
        spare: branches that are empty, and are again at the end; ``draws`` for each of ``pieces``.
        left: called with how many branches go on, when there are fewer.

    Returns:
        By branch what was written.

    Raises:
        ScoringError: if the cache has no room or the computation fails.
    """
    said: dict[_Text, bytes] = {(b, n): b"" for b in pieces for n in range(draws + 1)}
    # The same numbers again for the same place among the branches.
    random = {
        (b, n): np.random.default_rng((place, n - 1))
        for place, b in enumerate(pieces)
        for n in range(1, draws + 1)
    }
    going = {b: ([(b, n) for n in range(draws + 1)], piece) for b, piece in pieces.items()}
    free = [*reversed(spare)]
    try:
        for _ in range(max_tokens):
            if not going:
                break
            rows = extend(llama, {branch: piece for branch, (_, piece) in going.items()})
            following: dict[int, tuple[list[_Text], _Piece]] = {}
            for (branch, (texts, (tokens, start))), row in zip(going.items(), rows, strict=True):
                end = start + len(tokens)
                for token, alike in _by_next(row, texts, random).items():
                    if llama.ends_turn(token):
                        continue
                    for text in alike:
                        said[text] += llama.piece(token)
                    place = branch
                    if branch in following:  # by texts that go on otherwise
                        place = free.pop()
                        llama.fork(branch, [place], end)
                    following[place] = (alike, ([token], end))
                if branch not in following and branch in spare:
                    llama.drop([branch])
                    free.append(branch)
            before, now = _branches(going), _branches(following)
            if len(now) < len(before):
                left(len(now))
            going = following
    finally:
        llama.drop(set(spare) - set(free))
    cut = {text for texts, _ in going.values() for text in texts}
    decoded = {text: data.decode("utf-8", "replace") for text, data in said.items()}
    return {
        b: Written(
            decoded[b, 0],
            (b, 0) not in cut,
            tuple(decoded[b, n] for n in range(1, draws + 1) if (b, n) not in cut),
        )
        for b in pieces
    }


def _branches(going: Mapping[int, tuple[list[_Text], _Piece]]) -> set[int]:
    """Of which branches texts go on."""
    return {b for texts, _ in going.values() for b, _ in texts}


def _by_next(
    logits: npt.NDArray[np.float32],
    texts: Sequence[_Text],
    random: Mapping[_Text, np.random.Generator],
) -> dict[int, list[_Text]]:
    """Texts by their next token: the likeliest, or for those with a generator one drawn.

    What is drawn is among the likely tokens (min-p sampling, Nguyen et al. 2025).
    """
    found: dict[int, list[_Text]] = {}
    best = int(np.argmax(logits))
    least = logits[best] + np.float32(DRAW_TEMPERATURE * np.log(DRAW_LEAST))
    likely = np.flatnonzero(logits >= least)
    for text in texts:
        token = best
        if text in random:
            token = int(likely[next_token(logits[likely], DRAW_TEMPERATURE, random[text])])
        found.setdefault(token, []).append(text)
    return found


def next_token(
    logits: npt.NDArray[np.float32], temperature: float, draw: np.random.Generator
) -> int:
    """The likeliest token at temperature 0, else one drawn from the tempered softmax."""
    if temperature <= 0:
        return int(np.argmax(logits))
    # Gumbel's trick: the largest of logits / T + Gumbel noise is a draw from their softmax.
    tempered = logits.astype(np.float64) / temperature
    return int(np.argmax(tempered + draw.gumbel(size=tempered.shape)))
