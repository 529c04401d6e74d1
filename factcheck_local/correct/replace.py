"""A sentence rewritten by its source, and what is not believed of the rewriting."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import partial

from factcheck_local.core.errors import ScoringError
from factcheck_local.core.text.wording import (
    content_words,
    names,
    negations,
    normalised,
    numbers,
    share_within,
)
from factcheck_local.correct.edits import Refused
from factcheck_local.correct.form import changed_within, fitted, line_ends, markup, plain
from factcheck_local.correct.known import as_words, otherwise, words_and_values
from factcheck_local.models.contracts import Message, TextGenerator, adapted_to
from factcheck_local.models.prompts import load_prompt

#: The prompt of a model with an adapter for it, by its id.
ADAPTED_PROMPT = "correct-v2"

#: What such a model replies where the source does not say what is right.
NOTHING = "-"

#: Stands for the title of a passage that has none, as for the relation model.
UNTITLED = "document"

MAX_REPLY_TOKENS = 160

#: Replies that are looked at, the likeliest first, the others sampled.
TRIES, TEMPERATURE = 5, 0.7

#: Share of the sentence's words that the new one has to keep, and of the new one's that
#: have to stand in the sentence or the source.
MIN_KEPT, MIN_KNOWN = 0.5, 0.9

#: What a sentence begins with that holds only under a condition. Where it ends with one, as in
#: "as long as it is encrypted", what is right may well be without.
_CONDITION = re.compile(
    r"(?:as long as|if|once(?! (?:an?|every|per)\b)|provided|should|unless|when|whenever|where)\b"
    r"[^,.;]*,",
    re.IGNORECASE,
)

#: Probability of the contradiction from which on a sentence is merely denied, with no value of the
#: source in it. Of 300 contradicted verdicts on held-out sets 85 % are right from here on, 45 %
#: below.
MIN_TO_DENY = 0.7


@dataclass(frozen=True, slots=True)
class Wrong:
    """A claim that a source contradicts.

    Attributes:
        claim: the claim, understandable on its own.
        quote: what the source says.
        title: of the passage that it stands in.
        passage: the whole of it; empty for the quote alone.
        probability: of the contradiction, in [0, 1].
    """

    claim: str
    quote: str
    title: str = ""
    passage: str = ""
    probability: float = 1.0


def drafts(
    sentence: str,
    wrong: Sequence[Wrong],
    generator: TextGenerator,
    *,
    others: Sequence[str] = (),
    supported: Collection[str] = (),
    heading: str = "",
    before: str = "",
) -> Iterator[str | Refused]:
    """Replace what is wrong in a sentence, one claim after the other.

    A rewriting counts only if its numbers and names stand in the sentence or in what the model
    read, or follow as a number of the sentence did from another; it keeps the other claims, the
    links, the marks and the lines, and most of its words are known. A model with an adapter reads
    the whole passage, another one the quote, and may mend all at once.

    Args:
        sentence: of the answer, as it stands there.
        wrong: its contradicted claims, at least one.
        generator: the model that writes, with its adapter for that if it has one.
        others: its other claims; what the sentence says for their sake has to stay.
        supported: those of them that are; of these the names stay even where the wrong claim has
            them, too.
        heading: what stands above the sentence, for a model without an adapter.
        before: what stands in front of it, for a model with one.

    Yields:
        The rewritings that count, the likeliest first, which differ in what is last replaced; if
        there are none, the likeliest that does not, and why.
    """
    adapted = adapted_to(generator, ADAPTED_PROMPT)
    quotes = " ".join(dict.fromkeys(one.quote for one in wrong))

    def replaced(text: str, one: Wrong) -> Iterator[str | Refused]:
        if adapted is not None:
            messages = load_prompt(ADAPTED_PROMPT).opening(
                title=one.title or UNTITLED,
                passage=one.passage or one.quote,
                quote=one.quote,
                before=before,
                sentence=plain(text),
            )
            # What the quotes leave out may be in the passage: whose name a title goes with.
            read = f"{quotes}\n{one.title}\n{one.passage}"
        else:
            messages = load_prompt("correct").opening(
                heading=heading, source=one.quote, claim=one.claim, sentence=plain(text)
            )
            read = one.quote
        objections = partial(
            _objections,
            old=text,
            wrong=one,
            read=read,
            others=others,
            supported=supported,
            most=2 * len(text) + len(quotes),
        )
        mended = adapted is not None and text != sentence
        return _believed(messages, text, one.claim, objections, adapted or generator, mended=mended)

    text = sentence
    *earlier, last = wrong
    for one in earlier:
        draft = next(replaced(text, one))
        if isinstance(draft, Refused):
            yield draft
            return
        text = draft
    yield from replaced(text, last)


def _believed(
    messages: Sequence[Message],
    text: str,
    claim: str,
    objections: Callable[[str], Iterator[str]],
    generator: TextGenerator,
    *,
    mended: bool,
) -> Iterator[str | Refused]:
    """The rewritings against which nothing speaks; else why the likeliest is not believed.

    A small model's likeliest reply is often the sentence as it was, and a sampled one not. One
    that was ``mended`` for another claim may stay as it is. Where a reply changes more than what
    the wrong claim says, it is followed by itself without the rest: "cannot be powered over
    Ethernet and has no Wi-Fi" denies both where one is wrong.
    """
    found: set[str] = set()
    refused: Refused | None = None
    for attempt in range(TRIES):
        try:
            reply = generator.generate(
                messages,
                max_tokens=MAX_REPLY_TOKENS,
                stop=("\n",),
                temperature=TEMPERATURE if attempt else 0.0,
                seed=attempt,
            )
        except ScoringError as error:
            refused = Refused("", str(error))
            break
        whole = reply.strip().removeprefix("Sentence:").strip()
        part = changed_within(whole, text, claim)
        for written in (whole,) if part is None else (whole, part):
            new = written if written == NOTHING else fitted(written, text)
            if mended and normalised(plain(new)) == normalised(plain(text)):
                new, reason = text, None
            else:
                reason = next(objections(new), None)
            if reason is not None:
                refused = refused or Refused(written, reason)
            elif new not in found:
                found.add(new)
                yield new
    if refused is not None and not found:
        yield refused


def _objections(
    new: str,
    *,
    old: str,
    wrong: Wrong,
    read: str,
    others: Sequence[str],
    supported: Collection[str] = (),
    most: int,
) -> Iterator[str]:
    """Why a rewriting is not believed, if anything speaks against it.

    Args:
        new: the rewriting.
        old: the sentence.
        wrong: what is wrong in it.
        read: what the model read of the source.
        others: the sentence's other claims.
        supported: those of them that are.
        most: characters of it.
    """
    lost_lines = line_ends(old) != line_ends(new)
    lost, added = markup(old) - markup(new), markup(new) - markup(old)
    new, old = plain(new), plain(old)
    if new == NOTHING:
        yield "the source does not say what is right"
    elif not new or normalised(new) == normalised(old):
        yield "the model did not change the sentence"
    read = "\n".join((read, otherwise(f"{old}\n{read}")))
    unknown = numbers(new) - numbers(old) - numbers(read)
    if invented := frozenset(n for n in unknown if not _follows(n, new, old, read)):
        yield f"the rewriting has a number that nobody gave: {min(invented)}"
    if invented := names(as_words(new)) - content_words(old) - content_words(read):
        yield f"the rewriting has a name that nobody gave: {min(invented)}"
    if share_within(as_words(new), old, read) < MIN_KNOWN:
        yield "the rewriting has words of neither the sentence nor the source"
    if wrong.probability < MIN_TO_DENY and _only_denies(new, old):
        yield f"too weak a contradiction to deny the sentence by: {wrong.probability:.2f}"
    if share_within(as_words(old), new) < MIN_KEPT:
        yield "the rewriting leaves too little of the sentence"
    for other in others:
        kept = _own(other, old, wrong.claim)
        if other in supported:
            kept |= names(as_words(other)) & names(old)
        if not kept <= words_and_values(new):
            yield f"the rewriting drops another claim: {other}"
    if condition := _condition_lost(new, old):
        yield f"the rewriting drops a condition: {condition}"
    if lost:
        yield "the rewriting drops a link, a footnote or other markup"
    if added:
        yield "the rewriting adds a link, an image or other markup"
    if lost_lines:
        yield "the rewriting does not keep the lines of the sentence"
    if new.count("|") != old.count("|"):
        yield "the rewriting is another row of the table"
    if len(new) > most:
        yield "the rewriting is too long"


def _condition_lost(new: str, old: str) -> str | None:
    """What a sentence holds under, where nothing of it is left though its value alone changed.

    Another condition in its place may be what the source corrects.
    """
    found = _CONDITION.match(old)
    if found is None or _CONDITION.match(new) or negations(new) != negations(old):
        return None
    own = words_and_values(found[0])
    return found[0].rstrip(",") if own and not own & words_and_values(new) else None


def _only_denies(new: str, old: str) -> bool:
    """Whether a rewriting says the opposite, and nothing that the sentence did not say."""
    return negations(new) != negations(old) and words_and_values(new) <= words_and_values(old)


def _follows(number: str, new: str, old: str, read: str) -> bool:
    """Whether a number changes with one that the source corrects.

    Where 30 days became 25 and the sentence made them 240 hours, 200 follow: in the same or
    the opposite proportion, or by the same difference.
    """
    gone = _decimals(numbers(old) - numbers(new))
    given = _decimals((numbers(new) - numbers(old)) & numbers(read))
    return any(
        n * a == m * b or n * b == m * a or abs(n - m) == abs(b - a)
        for n in _decimals([number])
        for m in gone
        for a in gone
        for b in given
        if m != a
    )


def _decimals(texts: Iterable[str]) -> list[Decimal]:
    """What of texts is one number; "4.3.1" and "9:30" are none."""
    found = []
    for text in texts:
        try:
            found.append(Decimal(text))
        except InvalidOperation:
            continue
    return found


def _own(claim: str, sentence: str, wrong: str) -> frozenset[str]:
    """Words and numbers that a sentence has for a claim's sake, not for the wrong one's."""
    both = [words_and_values(text) for text in (claim, sentence, wrong)]
    return both[0] & both[1] - both[2]
