"""Long passages reduced to what bears on a claim, as an option before they are related.

For each pair of a passage and a claim the model first says whether the one speaks of the
other, read from label probabilities, and then what it says. P(it does), renormalised over
the two labels, is the summary's confidence; ``verdicts.network.links_from`` says what follows
from it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from factcheck_local.core.errors import ScoringError
from factcheck_local.core.progress import Progress, silent
from factcheck_local.core.text.sentences import sentence_spans
from factcheck_local.core.text.wording import content_words, names, negated, numbers, share_within
from factcheck_local.core.types import Context, Summary
from factcheck_local.models.contracts import ChatModel
from factcheck_local.models.prompts import finished, load_prompt
from factcheck_local.models.prompts.lines import plain_lines

#: Words from which on a passage is summarised; a passage of the store has at most 180.
LONG = 120

#: First words of the prompt's replies: the passage bears on the claim, or does not.
LABELS = ("yes", "no")

#: P(yes) from which a summary is asked for. One too many costs seconds and weighs little,
#: one too few is evidence that nobody reads.
MIN_RELEVANT = 0.25

MAX_REPLY_TOKENS = 128

#: Share of a summary's content words that stand in one sentence of the passage, the
#: sentence before it and the title, and share that the one sentence has to exceed.
MIN_KNOWN, MIN_OWN = 0.9, 0.5

_LABEL = re.compile(r"^(?:(?:yes|summary|reply)\b(?:\s*[:.,–-]|$)\s*)+", re.IGNORECASE)

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Summarized:
    """What long passages come down to, by (context id, atom id).

    Attributes:
        summaries: pairs to be read as a summary; all others are read as they are, those
            in ``nothing`` not at all.
        nothing: pairs whose passage does not bear on the claim.
        refused: summaries that the passage does not bear out.
        failed: pairs on which the model failed.
    """

    summaries: Mapping[Pair, Summary]
    nothing: frozenset[Pair] = frozenset()
    refused: int = 0
    failed: int = 0


def summarize(
    pairs: Sequence[Pair],
    contexts: Sequence[Context],
    claims: Mapping[str, str],
    model: ChatModel,
    *,
    alike: Mapping[str, str] | None = None,
    progress: Progress = silent,
) -> Summarized:
    """Summarise the long passages among pairs, each for its claim.

    Args:
        pairs: (context id, claim id) that are to be related; those whose second id is no
            claim's are left alone.
        contexts: all passages.
        claims: texts by id.
        model: says what bears on a claim, and summarises.
        alike: id of a passage -> id of the one that stands for it and for its near
            duplicates, as ``retrieval.duplicates.near_duplicates`` gives them: summarised once.
        progress: called after each pair.
    """
    same, passages = alike or {}, {c.id: c for c in contexts}
    long = {c.id for c in contexts if len(c.text.split()) >= LONG}
    by_passage: dict[str, dict[str, list[Pair]]] = {}
    for context_id, claim_id in pairs:
        name = same.get(context_id, context_id)
        if name in long and claim_id in claims:
            copies = by_passage.setdefault(name, {}).setdefault(claim_id, [])
            copies.append((context_id, claim_id))

    summaries: dict[Pair, Summary] = {}
    nothing: set[Pair] = set()
    refused = failed = done = 0
    count = sum(map(len, by_passage.values()))
    for name, by_claim in by_passage.items():
        context = passages[name]
        outcomes = _of_passage(context, [claims[id_] for id_ in by_claim], model)
        for copies, outcome in zip(by_claim.values(), outcomes, strict=True):
            done += 1
            progress(done, count)
            if outcome is None:
                failed += 1
            elif outcome.confidence < MIN_RELEVANT:
                nothing.update(copies)
            elif is_borne_out(outcome.text, context):
                summaries |= dict.fromkeys(copies, outcome)
            else:
                refused += 1
    return Summarized(summaries, frozenset(nothing), refused, failed)


def _of_passage(
    context: Context, claims: Sequence[str], model: ChatModel
) -> Sequence[Summary | None]:
    """What the model makes of a passage for each claim; None where it fails."""
    prompt = load_prompt("summarize")
    opening = prompt.opening(title=context.title or "document", passage=context.text)
    endings = [prompt.close(claim=claim) for claim in claims]
    try:
        scores = np.exp(model.score_labels(opening, endings, LABELS)[:, 0])
    except ScoringError:
        return [None] * len(claims)
    outcomes: list[Summary | None] = []
    for ending, confidence in zip(endings, scores.tolist(), strict=True):
        if confidence < MIN_RELEVANT:
            outcomes.append(Summary("", confidence))
            continue
        try:
            reply = model.generate(
                finished(opening, ending),
                max_tokens=MAX_REPLY_TOKENS,
                stop=("\n\n", "\nClaim:", "\nPassage"),
                start=f"{LABELS[0]}\n",
            )
        except ScoringError:
            outcomes.append(None)
        else:
            outcomes.append(Summary(" ".join(plain_lines(reply, _LABEL)), confidence))
    return outcomes


def is_borne_out(summary: str, context: Context) -> bool:
    """Whether a passage says what a summary of it says, as far as words can tell.

    Numbers and names have to stand in the passage or its title. Each sentence has to be
    drawn from one of the passage's, names aside that stand just before it, and negate
    what that one negates: words of two sentences in a new order are a new claim.
    """
    passage = f"{context.title}. {context.text}"
    if not summary or len(summary) >= len(context.text):
        return False
    if not (numbers(summary) <= numbers(passage) and names(summary) <= content_words(passage)):
        return False
    sentences = [span.of(context.text) for span in sentence_spans(context.text)]
    return all(
        any(
            _drawn_from(span.of(summary), own, f"{context.title} {before}")
            for before, own in zip(["", *sentences], sentences, strict=False)
        )
        for span in sentence_spans(summary)
    )


def _drawn_from(said: str, source: str, around: str) -> bool:
    """Whether a sentence repeats another, with names from around it."""
    denied = negated(source)
    return (
        share_within(said, source) > MIN_OWN
        and share_within(said, source, around) >= MIN_KNOWN
        and negated(said) <= denied
        and not (denied - negated(said)) & content_words(said)
    )
