"""An answer and its parts as one sequence: the answer is read once for all of them.

As in ``training.adapter.packing``, whose attention is used: a part with its reply sees the
question, the answer and itself alone, so the states are those of a prompt with this part alone.
The tokens are those that ``models.llama_cpp`` makes of the same prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from factcheck_local.models.chat_format import ChatFormat
from factcheck_local.models.prompts import Prompt
from factcheck_local.pipeline.claims.atomize.one_pass import uncited
from training.adapter.packing import Tokenize, sees
from training.claims.answers import LabelledAnswer, Part

#: Weight in the loss of the word that says the kind, beside 1 for each token of the claims.
KIND_WEIGHT = 4.0


#: Ids of a part with its reply, and where the reply begins among them.
Tail = tuple[list[int], int]

#: What is shared, and the tails of one sequence.
Sequenced = tuple[list[int], list[Tail]]


@dataclass(frozen=True, slots=True)
class Taught:
    """An answer with some of its parts and their replies, a sequence of n tokens.

    Attributes:
        tokens: ids, shape (n,).
        positions: of each token in its own prompt, shape (n,).
        segments: as in ``training.adapter.packing.Packed``; one of them.
        at: places in front of the m tokens of the replies, shape (m,).
        wanted: those tokens, shape (m,).
        weights: of each in the loss, shape (m,).
        replies: of which reply each is, from 0 on, shape (m,).
    """

    tokens: torch.Tensor
    positions: torch.Tensor
    segments: tuple[tuple[int, int, torch.Tensor], ...]
    at: torch.Tensor
    wanted: torch.Tensor
    weights: torch.Tensor
    replies: torch.Tensor


class Packer:
    """Writes answers as token sequences.

    Args:
        tokenize: text to ids, without a begin token; markup is taken as such.
        template: the model's chat format.
        prompt: with question and answer, and at its end a part.
    """

    def __init__(self, tokenize: Tokenize, template: ChatFormat, prompt: Prompt) -> None:
        self._tokenize = tokenize
        self._format = template
        self._prompt = prompt
        self._closing = tokenize(template.close("user")) + tokenize(template.open("assistant"))

    def pack(self, answer: LabelledAnswer, *, most: int, together: int = 1) -> Iterator[Taught]:
        """The answer with its parts, as many at once as ``most`` tokens hold.

        Args:
            answer: with its parts.
            most: tokens of a sequence.
            together: so many parts in a row are in one sequence in any case.
        """
        for prefix, tails in self.sequences(answer, most=most, together=together):
            yield taught(prefix, tails, first=KIND_WEIGHT)

    def sequences(
        self, answer: LabelledAnswer, *, most: int, together: int = 1
    ) -> Iterator[Sequenced]:
        """The same as ids: what all parts share, and those of each sequence."""
        tails = [self._tail(part) for part in answer.parts]
        return in_sequences(self._prefix(answer), tails, most, together=together)

    def _prefix(self, answer: LabelledAnswer) -> list[int]:
        system, user = self._prompt.opening(question=answer.asked, answer=answer.text)
        return [
            *self._tokenize(self._format.open("system")),
            *self._tokenize(system.content),
            *self._tokenize(self._format.close("system")),
            *self._tokenize(self._format.open("user", "system")),
            *self._tokenize(user.content),
        ]

    def _tail(self, part: Part) -> Tail:
        """A part with its reply, and where the reply begins."""
        headings = " > ".join(part.segment.headings)
        text = " ".join(uncited(part.segment.text).split())
        ending = self._prompt.close(headings=headings, part=text)
        front = self._tokenize(ending) + self._closing
        reply = self._tokenize(f"{part.kind}\n" if part.claims else part.kind)
        reply += self._tokenize("\n".join(part.claims)) if part.claims else []
        # The token that ends a turn, without the line break that stands behind it.
        end = self._tokenize(self._format.close("assistant").rstrip("\n"))
        return front + reply + end, len(front)


def in_sequences(
    prefix: list[int], tails: Sequence[Tail], most: int, *, together: int = 1
) -> Iterator[Sequenced]:
    """What is shared with as many tails at once as ``most`` tokens hold, ``together`` at least."""
    found: list[Tail] = []
    for at in range(0, len(tails), together):
        following = tails[at : at + together]
        if found and len(prefix) + sum(len(t) for t, _ in (*found, *following)) > most:
            yield prefix, found
            found = []
        found.extend(following)
    if found:
        yield prefix, found


def taught(prefix: Sequence[int], tails: Sequence[Tail], *, first: float = 1.0) -> Taught:
    """What is shared and what stands behind it, each with its own reply, as one sequence.

    Args:
        prefix: read by all.
        tails: ids, and where the reply begins among them.
        first: weight in the loss of a reply's first token, beside 1 for each of the others.
    """
    tokens, positions = list(prefix), list(range(len(prefix)))
    owner = [0] * len(prefix)
    at: list[int] = []
    weights: list[float] = []
    replies: list[int] = []
    for number, (tail, begin) in enumerate(tails, start=1):
        here = len(tokens)
        tokens += tail
        positions += range(len(prefix), len(prefix) + len(tail))
        owner += [number] * len(tail)
        at += range(here + begin - 1, here + len(tail) - 1)
        weights += [first] + [1.0] * (len(tail) - begin - 1)
        replies += [number - 1] * (len(tail) - begin)
    places = torch.tensor(at)
    ids = torch.tensor(tokens)
    return Taught(
        ids,
        torch.tensor(positions),
        ((0, len(tokens), sees(owner)),),
        places,
        ids[places + 1],
        torch.tensor(weights),
        torch.tensor(replies),
    )
