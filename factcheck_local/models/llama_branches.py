"""Several continuations of one prompt, decoded side by side.

Decoding is bound by reading the weights: a batch of eight continuations takes little more than
twice the time of one. Where each is read in batches of ``LEAST_ROWS`` its logits are those that it
has alone; what is written a token at a time repeats to the bit, since the order in a batch is that
of the continuations, but among fewer others may differ in its last bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from factcheck_local.models.llama_context import BRANCHES, LEAST_ROWS, LlamaContext, Row
from factcheck_local.models.token_runs import runs


def read_after(
    llama: LlamaContext, stem: Sequence[int], tails: Sequence[Sequence[int]]
) -> Iterator[npt.NDArray[np.float32]]:
    """Logits after each of several tails of a stem, a few of them in a batch.

    To the bit those that each tail has alone.

    Args:
        llama: a context whose sequence holds the stem, and still does afterwards.
        stem: its tokens.
        tails: tokens that follow it, at least one each.

    Yields:
        Of each tail in its order, shape (n_vocab,).
    """
    shortest = min(map(len, tails), default=LEAST_ROWS)
    # A tail alone has to make a full batch; what it lacks it reads of the stem again.
    begin = max(0, len(stem) - max(0, LEAST_ROWS - shortest))
    # With more rows that want logits these would be multiplied by another kernel; a GPU has none.
    most = BRANCHES if llama.on_gpu else LEAST_ROWS - 1
    for group in groups([[*stem[begin:], *tail] for tail in tails], most, llama.n_ctx - begin):
        with llama.branched(len(group), begin):
            yield from extend(llama, {b: (t, begin) for b, t in enumerate(group, start=1)})


def extend(
    llama: LlamaContext, pieces: Mapping[int, tuple[Sequence[int], int]]
) -> list[npt.NDArray[np.float32]]:
    """Append tokens to branches, within ``LlamaContext.branched``.

    Args:
        llama: the context.
        pieces: by branch its tokens, at least one, and the position of the first.

    Returns:
        For each branch the logits after its last token, shape (n_vocab,).

    Raises:
        ScoringError: if the cache has no room or the computation fails.
    """
    rows: list[Row] = [
        (branch, token, start + i, i == len(tokens) - 1)
        for branch, (tokens, start) in pieces.items()
        for i, token in enumerate(tokens)
    ]
    found: list[npt.NDArray[np.float32]] = []
    for run in runs(range(len(rows)), llama.batch_tokens):
        found += llama.decode_rows(rows[run.start : run.stop])
    return found


def groups(tails: Sequence[list[int]], most: int, room: int) -> Iterator[list[list[int]]]:
    """Tails in their order, in groups.

    Args:
        tails: of at most ``room`` tokens each.
        most: tails of a group.
        room: tokens of a group.
    """
    group: list[list[int]] = []
    taken = 0
    for tail in tails:
        if group and (len(group) == most or taken + len(tail) > room):
            yield group
            group, taken = [], 0
        group.append(tail)
        taken += len(tail)
    if group:
        yield group
