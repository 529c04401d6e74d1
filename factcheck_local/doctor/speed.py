"""How fast the models of a run are on this machine, measured on a few made-up texts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from factcheck_local.core.errors import FactcheckError
from factcheck_local.doctor.finding import Finding
from factcheck_local.models.cards import ModelCard
from factcheck_local.models.contracts import Message
from factcheck_local.models.registry import load_model
from factcheck_local.pipeline.relation.encoder import EncoderPairScorer
from factcheck_local.pipeline.relation.llm import LlmPairScorer
from factcheck_local.pipeline.relation.scorer import PairScorer, Premise

#: Pairs that the default settings read for a claim: 97 of the 23 claims of the sample's answer.
PAIRS_PER_CLAIM = 4.2

#: Claims that share a passage; in the sample's answer 2.4.
CLAIMS_PER_PASSAGE = 3

WRITTEN_TOKENS = 24


def check_speed(cards: Iterable[ModelCard], passages: int = 6) -> Iterator[Finding]:
    """Load each model that a run would use and time it; of one on a server nothing.

    Args:
        cards: of these models.
        passages: that are read; each is another one, so nothing comes from a cache.
    """
    for card in cards:
        if card.server is not None or card.role not in _MEASURES:
            continue
        try:
            begun = time.perf_counter()
            model = load_model(card.id, card.role)
            loaded = time.perf_counter() - begun
            found = _MEASURES[card.role](card, model, passages)
        except FactcheckError as error:
            yield Finding("speed", "problem", str(error), error.hint)
        else:
            yield Finding("speed", "ok", f"{card.id}: loaded in {loaded:.1f} s, {found}")


def _embedder(_card: ModelCard, model: Any, passages: int) -> str:  # noqa: ANN401
    texts = [claim for premise in _premises(passages) for claim in _claims(premise)]
    return f"{len(texts) / _seconds(lambda: model.embed(texts)):,.0f} queries a second"


def _encoder(_card: ModelCard, model: Any, passages: int) -> str:  # noqa: ANN401
    return f"{_pairs_a_second(EncoderPairScorer(model), passages):.1f} pairs a second"


def _llm(card: ModelCard, model: Any, passages: int) -> str:  # noqa: ANN401
    pairs = _pairs_a_second(LlmPairScorer.of_card(card, model), passages)
    chat = [Message("user", "Count from one to a hundred in words.")]
    writing = _seconds(lambda: model.generate(chat, max_tokens=WRITTEN_TOKENS))
    return (
        f"{pairs:.1f} pairs a second, so a claim takes {PAIRS_PER_CLAIM / pairs:.1f} s where it "
        f"reads all of them; {WRITTEN_TOKENS / writing:.0f} tokens a second written one by one"
    )


_MEASURES: dict[str, Callable[[ModelCard, Any, int], str]] = {
    "embedder": _embedder,
    "encoder": _encoder,
    "llm": _llm,
}


def _pairs_a_second(scorer: PairScorer, passages: int) -> float:
    first, *others = _premises(passages + 1)
    scorer.score(first, _claims(first))  # what all share is read once
    taken = _seconds(lambda: [scorer.score(premise, _claims(premise)) for premise in others])
    return passages * CLAIMS_PER_PASSAGE / taken


def _seconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return max(time.perf_counter() - begun, 1e-9)


def _premises(count: int) -> list[Premise]:
    """Passages of some 80 tokens, all different from their first words on."""
    return [
        Premise(
            f"Site {number}",
            f"Building {number} opens at {6 + number % 4} in the morning and closes at "
            f"{17 + number % 5} in the evening. Visitors sign in at desk {number + 3} and wear a "
            f"badge. Deliveries come through gate {number + 11}, and parcels of more than "
            f"{20 + number} kilograms need a second person. The canteen serves lunch until two, "
            "and the rooms upstairs can be booked for at most four hours.",
        )
        for number in range(1, count + 1)
    ]


def _claims(premise: Premise) -> list[str]:
    return [
        f"{premise.title} is closed on Sundays.",
        f"Whoever visits {premise.title} has to sign in.",
        f"Rooms at {premise.title} can be booked for up to six hours at a time.",
    ]
