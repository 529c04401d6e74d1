"""The sentence of a passage that decides, verbatim in the source document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from factcheck_local.models.contracts import Embedder
from factcheck_local.sentences import sentence_spans
from factcheck_local.types import Context, Quote, Span


def sentences_of(text: str) -> list[Span]:
    """What can be quoted of a passage: its sentences, list items and table rows.

    A table's head row says what its cells are about and decides nothing.
    """
    spans = []
    start = 0
    lines = text.splitlines(keepends=True)
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if not _is_table_rule(below):
            spans += sentence_spans(text, start, start + len(line))
        start += len(line)
    # Rules of a table and lone bullets hold no words.
    return [s for s in spans if any(c.isalnum() for c in s.of(text))]


def _is_table_rule(line: str) -> bool:
    """Whether a line is the rule under a Markdown table's head, as ``|---|:--|``."""
    return "|" in line and "-" in line and not set(line) - set("|-: \t\r\n")


def pick_quotes(
    pairs: Sequence[tuple[str, str]],
    contexts: Mapping[str, Context],
    claims: Mapping[str, str],
    embedder: Embedder,
) -> dict[tuple[str, str], Quote]:
    """The sentence most similar to each claim, by cosine of the embeddings.

    Args:
        pairs: (context id, claim id).
        contexts: by id; those without a span are quoted by offsets in their text.
        claims: texts by id.
        embedder: compares sentences with claims.

    Returns:
        A quote for every pair whose context has a sentence.
    """
    used = list(dict.fromkeys(c for c, _ in pairs))
    spans = {c: sentences_of(contexts[c].text) for c in used}
    texts = [s.of(contexts[c].text) for c in used for s in spans[c]]
    asked = list(dict.fromkeys(a for _, a in pairs))
    vectors = np.split(
        embedder.embed(texts), np.cumsum([len(spans[c]) for c in used])[:-1].tolist()
    )
    sentence_vectors = dict(zip(used, vectors, strict=True)) if used else {}
    claim_vectors = dict(zip(asked, embedder.embed([claims[a] for a in asked]), strict=True))
    quotes = {}
    for context_id, claim_id in pairs:
        if not spans[context_id]:
            continue
        best = int(np.argmax(sentence_vectors[context_id] @ claim_vectors[claim_id]))
        context, span = contexts[context_id], spans[context_id][best]
        offset = context.span.start if context.span else 0
        quotes[context_id, claim_id] = Quote(
            span.of(context.text), Span(offset + span.start, offset + span.end)
        )
    return quotes
