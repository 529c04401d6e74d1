"""What a server's reply says: its text, its first token's probabilities, its vote.

Three shapes of logprobs are read: OpenAI's of a chat and llama-server's of
either kind (``content``, a list), and the older one of a completion (``top_logprobs``,
a list of dicts), which vLLM and llama-cpp-python use.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from factcheck_local.core.errors import ModelError, ScoringError

#: What tokenisers write for a leading space when a server does not decode them.
_SPACES = " \t\n\u0120\u2581"

#: No label is less probable than exp of this, so that none is ruled out for good.
_FLOOR = -30.0


def reply_text(reply: dict[str, Any]) -> str:
    """The text of a completion or chat completion.

    Raises:
        ScoringError: if the reply has none.
    """
    try:
        choice = reply["choices"][0]
        text = choice["message"]["content"] if "message" in choice else choice["text"]
    except (KeyError, IndexError, TypeError) as error:
        raise ScoringError(f"the reply is no completion: {type(error).__name__} {error}") from error
    if text is None:
        return ""
    if not isinstance(text, str):
        raise ScoringError("the reply is no completion: its text is none")
    return text


def first_token(reply: dict[str, Any]) -> list[tuple[str, float]] | None:
    """The most probable first tokens with their natural-log probabilities.

    Returns:
        None if the server gives no distribution: no logprobs, or those of the
        chosen token alone. An empty list if the model wrote nothing.

    Raises:
        ScoringError: if the reply is malformed.
    """
    try:
        logprobs = reply["choices"][0].get("logprobs")
        if not logprobs:
            return None
        listed = "content" in logprobs
        places = logprobs["content"] if listed else logprobs["top_logprobs"]
        if places is None:
            return None
        if not places:
            return []
        top = places[0]["top_logprobs"] if listed else places[0]
        if not top:
            return None
        pairs = [(t["token"], t["logprob"]) for t in top] if listed else list(top.items())
        found = [(str(t), min(float(p), 0.0)) for t, p in pairs if _is_logprob(p)]
    except (KeyError, IndexError, TypeError, AttributeError, OverflowError) as error:
        raise ScoringError(
            f"the reply's logprobs are malformed: {type(error).__name__} {error}"
        ) from error
    return found if len(found) > 1 else None


def _is_logprob(value: object) -> bool:
    """Whether a server's number is one; some write -inf, null or -9999 for no probability."""
    return isinstance(value, int | float) and math.isfinite(value) and value > -1000


def label_logprobs(
    top: Sequence[tuple[str, float]], labels: Sequence[str]
) -> npt.NDArray[np.float64]:
    """Log probabilities of labels, renormalised over them, from the top first tokens.

    A token counts towards a label that it is, whatever its case and the space
    before it (their probabilities are added), or that it begins, as written, if it
    begins no other. A label without a token is given the most it can have: the smallest
    probability that was returned, and no more than what all of those leave.

    Args:
        top: (token, natural-log probability), before or after sampling: a
            common factor cancels out.
        labels: L texts.

    Returns:
        Shape (L,): natural-log probabilities.

    Raises:
        ScoringError: if no label is among the tokens.
    """
    sums = np.full(len(labels), -np.inf)
    for token, logprob in top:
        label = _label_of(token, labels)
        if label is not None:
            sums[label] = np.logaddexp(sums[label], logprob)
    if not np.isfinite(sums).any():
        seen = ", ".join(repr(token) for token, _ in top[:5])
        raise ScoringError(f"none of {list(labels)} is among the first tokens {seen}, …")
    values = np.array([logprob for _, logprob in top])
    left = max(1.0 - float(np.exp(values).sum()), 0.0)
    most = min(float(values.min()), math.log(left) if left > 0 else _FLOOR)
    sums = np.maximum(np.where(np.isfinite(sums), sums, most), _FLOOR)
    found: npt.NDArray[np.float64] = sums - np.logaddexp.reduce(sums)
    return found


def _label_of(token: str, labels: Sequence[str]) -> int | None:
    word = token.strip(_SPACES).casefold()
    if not word:
        return None
    for number, label in enumerate(labels):
        if label.casefold() == word:
            return number
    # "I" would begin an answer in prose, not "instruction": parts count as written only.
    begun = [number for number, label in enumerate(labels) if label.startswith(token)]
    return begun[0] if len(begun) == 1 else None


def vote(text: str, labels: Sequence[str]) -> int | None:
    """The label that a reply gives, or None if it gives none.

    It has to stand first and alone: "A." and "(a)" are votes for A, "A claim" is not.
    """
    said = re.sub(r"^[\W_]+", "", text)
    for number, label in sorted(enumerate(labels), key=lambda pair: -len(pair[1])):
        if re.match(rf"{re.escape(label)}[ \t]*(?:[^\w\s]|\n|$)", said, re.IGNORECASE):
            return number
    return None


def vote_logprobs(votes: Sequence[int | None], count: int) -> npt.NDArray[np.float64]:
    """Label frequencies with ½ added to each (the Krichevsky-Trofimov estimate), as logs.

    Args:
        votes: labels by number; None is a reply that gave none, and is not counted.
        count: number of labels L.

    Returns:
        Shape (L,): natural-log probabilities.

    Raises:
        ScoringError: if no reply gave a label.
    """
    given = [v for v in votes if v is not None]
    if not given:
        raise ScoringError(f"none of {len(votes)} sampled replies is one of the labels")
    counts = np.bincount(given, minlength=count) + 0.5
    found: npt.NDArray[np.float64] = np.log(counts / counts.sum())
    return found


def check_labels(labels: Sequence[str]) -> None:
    """Refuse labels that cannot be told apart by their text.

    Raises:
        ModelError: if one is empty, or two differ only in case.
    """
    if not all(label.strip() for label in labels):
        raise ModelError(f"labels {list(labels)}: an empty label has no first token")
    if len({label.casefold() for label in labels}) != len(labels):
        raise ModelError(f"labels {list(labels)} do not differ but in case")
