"""Texts written behind several branches side by side: of each the likeliest, and others drawn.

A batch of many rows takes little longer than one of few. What is drawn follows the likeliest text
as far as it agrees with it, and texts that begin alike are one row until they part, so that one
that is drawn costs a fraction of one that is written alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from factcheck_local.models.llama_branches import extend
from factcheck_local.models.llama_context import LlamaContext

#: Of the texts that are drawn: the temperature, and how probable a token has to be beside the
#: likeliest.
DRAW_TEMPERATURE, DRAW_LEAST = 0.7, 0.05

#: A text that is drawn: for which branch, and which of that one's.
_Text = tuple[int, int]

#: Tokens to be read, and the position of the first.
_Piece = tuple[list[int], int]


class _Choice(NamedTuple):
    """Tokens that may be drawn next (min-p sampling, Nguyen et al. 2025), and their logits."""

    tokens: npt.NDArray[np.intp]
    logits: npt.NDArray[np.float32]

    @classmethod
    def of(cls, logits: npt.NDArray[np.float32]) -> _Choice:
        least = logits.max() + np.float32(DRAW_TEMPERATURE * np.log(DRAW_LEAST))
        likely = np.flatnonzero(logits >= least)
        return cls(likely, logits[likely])

    def among(
        self, texts: Sequence[_Text], random: Mapping[_Text, np.random.Generator]
    ) -> dict[int, list[_Text]]:
        """Texts by the token that is drawn for them."""
        found: dict[int, list[_Text]] = {}
        for text in texts:
            drawn = next_token(self.logits, DRAW_TEMPERATURE, random[text])
            found.setdefault(int(self.tokens[drawn]), []).append(text)
        return found


@dataclass(slots=True)
class Likeliest:
    """The text behind a branch that has the likeliest token in each place.

    Attributes:
        start: the position of its first token.
        tokens: those of the text.
        choices: what might have stood in the place of each, and of its end if it has one.
        ended: whether its turn ended; else it was cut.
        certainty: mean natural-log probability of its tokens and its end, at most 0.
    """

    start: int
    tokens: list[int] = field(default_factory=list)
    choices: list[_Choice] = field(default_factory=list)
    ended: bool = False
    certainty: float = 0.0

    def next(self, logits: npt.NDArray[np.float32]) -> int:
        """The next token, of which note is taken."""
        best = int(np.argmax(logits))
        said = -float(np.log(np.exp(logits - logits[best]).sum()))
        self.certainty += (said - self.certainty) / (len(self.choices) + 1)
        self.choices.append(_Choice.of(logits))
        return best


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
    sure: float,
    cells: int,
    spare: Sequence[int],
    done: Callable[[int], None],
) -> dict[int, Written]:
    """Go on with branches until the turn of each ends, and draw other texts where it is unsure.

    Args:
        llama: a context with these branches, which are empty at the end.
        pieces: by branch what it begins with and the position of that.
        max_tokens: of each text.
        draws: how many other texts are drawn, as far as there is room for them.
        sure: mean natural-log probability of a text's tokens from which on none are.
        cells: tokens that all this may take of the cache, enough for one branch.
        spare: further branches, which are empty.
        done: called with how many more of the branches are done.

    Returns:
        By branch what was written.

    Raises:
        ScoringError: if the cache has no room or the computation fails.
    """

    def is_sure(text: Likeliest) -> bool:
        return not draws or text.certainty >= sure

    found: dict[int, Written] = {}
    longest = max((len(tokens) for tokens, _ in pieces.values()), default=0) + max_tokens
    for part in _in_parts([*pieces], cells // longest):
        texts = likeliest(
            llama,
            {b: pieces[b] for b in part},
            max_tokens=max_tokens,
            told=lambda text: done(is_sure(text)),
        )
        unsure = {b: text for b, text in texts.items() if not is_sure(text)}
        llama.drop(texts.keys() - unsure.keys())
        room = cells - sum(len(pieces[b][0]) + len(t.tokens) for b, t in unsure.items())
        texts_more = min(room // max_tokens, len(spare))
        each = min(draws, texts_more)
        others: dict[int, list[list[int]]] = {}
        for some in _in_parts([*unsure], texts_more // each) if each else ():
            beside = {b: unsure[b] for b in some}
            others |= drawn(
                llama, beside, draws=each, max_tokens=max_tokens, spare=spare, done=done
            )
        llama.drop(unsure)
        for b, text in texts.items():
            said = (text_of(llama, tokens) for tokens in others.get(b, ()))
            found[b] = Written(text_of(llama, text.tokens), text.ended, tuple(said))
    return found


def _in_parts(branches: Sequence[int], most: int) -> Iterator[Sequence[int]]:
    return (branches[at : at + most] for at in range(0, len(branches), most))


def likeliest(
    llama: LlamaContext,
    pieces: Mapping[int, _Piece],
    *,
    max_tokens: int,
    told: Callable[[Likeliest], None],
) -> dict[int, Likeliest]:
    """Go on with branches, the likeliest token at a time, until the turn of each ends.

    Args:
        llama: a context with these branches.
        pieces: by branch what it begins with and the position of that.
        max_tokens: of each text.
        told: called with each text when it is complete.

    Returns:
        By branch its text, which the branch holds then.

    Raises:
        ScoringError: if the cache has no room or the computation fails.
    """
    found = {b: Likeliest(start + len(tokens)) for b, (tokens, start) in pieces.items()}
    going = dict(pieces)
    for _ in range(max_tokens):
        if not going:
            break
        following: dict[int, _Piece] = {}
        for (branch, piece), row in zip(going.items(), extend(llama, going), strict=True):
            text = found[branch]
            token = text.next(row)
            if llama.ends_turn(token):
                text.ended = True
                told(text)
            else:
                text.tokens.append(token)
                following[branch] = [token], piece[1] + len(piece[0])
        going = following
    for branch in going:
        told(found[branch])
    return found


@dataclass(frozen=True, slots=True)
class _Going:
    """What is being written in a branch.

    Attributes:
        texts: those that are it up to here.
        tokens: what they are; the branch holds all but the last.
        end: the position of the last.
    """

    texts: Sequence[_Text]
    tokens: list[int]
    end: int


def drawn(
    llama: LlamaContext,
    beside: Mapping[int, Likeliest],
    *,
    draws: int,
    max_tokens: int,
    spare: Sequence[int],
    done: Callable[[int], None],
) -> dict[int, list[list[int]]]:
    """Draw other texts in the place of the likeliest ones.

    Args:
        llama: a context whose branches hold the likeliest texts.
        beside: by branch that text.
        draws: how many texts are drawn for each.
        max_tokens: of each text.
        spare: branches that are empty, and are again at the end; ``draws`` for each of ``beside``.
        done: called with how many more of ``beside`` are done.

    Returns:
        By branch the tokens of the texts that ended.

    Raises:
        ScoringError: if the cache has no room or the computation fails.
    """
    # The same numbers again for the same branch, whichever others there are.
    random = {(b, n): np.random.default_rng((b, n)) for b in beside for n in range(draws)}
    ended: dict[_Text, list[int]] = {}
    free = [*reversed(spare)]
    going: dict[int, _Going] = {}
    waiting = set(beside)

    def part(branch: int, parted: Mapping[int, list[_Text]], before: list[int], end: int) -> None:
        """Texts that were the same up to ``end`` go on, by their next token."""
        for token, texts in parted.items():
            if llama.ends_turn(token):
                ended.update(dict.fromkeys(texts, before))
            elif len(before) + 1 < max_tokens:  # else there is no room for its end
                place = branch
                if branch in beside or branch in going:
                    place = free.pop()
                    llama.fork(branch, [place], end)
                going[place] = _Going(texts, [*before, token], end)

    try:
        for branch, text in beside.items():
            texts = [(branch, n) for n in range(draws)]
            for i, choice in enumerate(text.choices):
                parted = choice.among(texts, random)
                # They are the likeliest one up to where another token is drawn.
                texts = parted.pop(text.tokens[i], []) if i < len(text.tokens) else []
                part(branch, parted, text.tokens[:i], text.start + i)
        while going:
            rows = extend(llama, {b: ([one.tokens[-1]], one.end) for b, one in going.items()})
            for (branch, one), row in zip([*going.items()], rows, strict=True):
                del going[branch]
                part(branch, _Choice.of(row).among(one.texts, random), one.tokens, one.end + 1)
                if branch not in going:
                    llama.drop([branch])
                    free.append(branch)
            left = {b for one in going.values() for b, _ in one.texts}
            done(len(waiting - left))
            waiting = left
    finally:
        llama.drop(going)
    done(len(waiting))
    return {b: [ended[b, n] for n in range(draws) if (b, n) in ended] for b in beside}


def text_of(llama: LlamaContext, tokens: Sequence[int]) -> str:
    """What tokens say."""
    return b"".join(map(llama.piece, tokens)).decode("utf-8", "replace")


def next_token(
    logits: npt.NDArray[np.float32], temperature: float, draw: np.random.Generator
) -> int:
    """The likeliest token at temperature 0, else one drawn from the tempered softmax."""
    if temperature <= 0:
        return int(np.argmax(logits))
    # Gumbel's trick: the largest of logits / T + Gumbel noise is a draw from their softmax.
    tempered = logits.astype(np.float64) / temperature
    return int(np.argmax(tempered + draw.gumbel(size=tempered.shape)))
