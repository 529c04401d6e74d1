"""The sentences of a passage that decide, verbatim in the source document."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from factcheck_local.core.text.hostile import unread_spans, without_invisible
from factcheck_local.core.text.sentences import sentence_spans
from factcheck_local.core.types import Context, Quote, Span
from factcheck_local.models.contracts import Embedder, FloatArray

_HEADING = re.compile(r" {0,3}#{1,6}\s")

#: What begins a block of its own: no word, a table row, a quotation, a list mark, a heading, and
#: "Fee: 5 euros; ", as rows of tables are written out.
_BLOCK = re.compile(r"\s*(?:\W*$|\||>|[-*+•–]\s|\(?\w{1,3}[.)]\s|#{1,6}\s|[^:;.!?\n]{1,60}[:;]\s)")

#: Characters of a line that was broken for its length, behind which any word may follow.
_LONG_LINE = 60

#: Sentences quoted of a passage at most.
MAX_SENTENCES = 3

#: What a further sentence has to add to the cosine of the quoted ones and the claim. On
#: 208 claims of WiCE dev, one sentence: precision 0.91, recall of the supporting ones
#: 0.66; with a gain of 0.06, 0.87 and 0.73; with any gain, 0.73 and 0.85.
MIN_GAIN = 0.06


def sentences_of(text: str) -> list[Span]:
    """What can be quoted of a passage: its sentences, list items and table rows.

    A heading, like a table's head row, says what something is about and decides
    nothing. Where there is nothing else, headings are quoted.
    """
    return _spans(text, headings=False) or _spans(text, headings=True)


def _spans(text: str, *, headings: bool) -> list[Span]:
    runs: list[Span] = []
    start, above = 0, ""
    lines = text.splitlines(keepends=True)
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        end = start + len(line)
        if _is_table_rule(below) or (_HEADING.match(line) and not headings):
            above = ""
        elif above and _goes_on(above, line):
            runs[-1] = Span(runs[-1].start, end)
            above = line
        else:
            runs.append(Span(start, end))
            above = line
        start = end
    spans = [span for run in runs for span in sentence_spans(text, run.start, run.end)]
    # Rules of a table and lone bullets hold no words.
    return [s for s in spans if any(c.isalnum() for c in s.of(text))]


def _goes_on(above: str, line: str) -> bool:
    """Whether a line is that above it gone on, which was broken for its length alone."""
    apart = _BLOCK.match(line) or _HEADING.match(above) or above.lstrip().startswith("|")
    return not apart and (line.lstrip()[0].islower() or len(above.rstrip()) >= _LONG_LINE)


def _is_table_rule(line: str) -> bool:
    """Whether a line is the rule under a Markdown table's head, as ``|---|:--|``."""
    return "|" in line and "-" in line and not set(line) - set("|-: \t\r\n")


def pick_quotes(
    pairs: Sequence[tuple[str, str]],
    contexts: Mapping[str, Context],
    claims: Mapping[str, str],
    embedder: Embedder,
    *,
    cut: bool = False,
) -> dict[tuple[str, str], tuple[Quote, ...]]:
    """The sentence most similar to each claim, and those that bring it closer still.

    Similarity is the cosine of the claim's embedding and the sum of the sentences'.

    Args:
        pairs: (context id, claim id).
        contexts: by id; those without a span are quoted by offsets in their text.
        claims: texts by id.
        embedder: compares sentences with claims.
        cut: whether the relation model was kept from what ``text.hostile`` cuts: what it did not
            read decides nothing.

    Returns:
        One to ``MAX_SENTENCES`` quotes for every pair whose context has a sentence, the
        most similar one first.
    """
    used = list(dict.fromkeys(c for c, _ in pairs))
    spans = {c: sentences_of(contexts[c].text) for c in used}
    if cut:
        spans = {c: _that_are_read(contexts[c].text, own) for c, own in spans.items()}
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
        context = contexts[context_id]
        offset = context.span.start if context.span else 0
        chosen = deciding(sentence_vectors[context_id], claim_vectors[claim_id])
        quotes[context_id, claim_id] = tuple(
            Quote(span.of(context.text), Span(offset + span.start, offset + span.end))
            for span in (spans[context_id][i] for i in chosen)
        )
    return quotes


def _that_are_read(text: str, sentences: Sequence[Span]) -> list[Span]:
    """The sentences of a text of which a model is to read some word."""
    seen = [i for i, character in enumerate(text) if without_invisible(character)]
    for span in unread_spans(without_invisible(text)):
        seen[span.start : span.end] = [-1] * (span.end - span.start)
    read = {i for i in seen if i >= 0 and text[i].isalnum()}
    return [s for s in sentences if not read.isdisjoint(range(s.start, s.end))]


def deciding(sentences: FloatArray, claim: FloatArray) -> list[int]:
    """Which sentences together are most similar to a claim, chosen greedily.

    Args:
        sentences: unit vectors, shape (n, d), n at least 1.
        claim: unit vector, shape (d,).

    Returns:
        One to ``MAX_SENTENCES`` rows, in the order of their choice.
    """
    chosen = [int(np.argmax(sentences @ claim))]
    total = sentences[chosen[0]]
    reached = float(total @ claim)
    while len(chosen) < min(MAX_SENTENCES, len(sentences)):
        sums = total + sentences
        # A vector and its opposite add up to none.
        lengths = np.maximum(np.linalg.norm(sums, axis=1), 1e-9)
        cosines = sums @ claim / lengths
        cosines[chosen] = -np.inf
        best = int(np.argmax(cosines))
        if cosines[best] < reached + MIN_GAIN:
            break
        chosen.append(best)
        total, reached = sums[best], float(cosines[best])
    return chosen
