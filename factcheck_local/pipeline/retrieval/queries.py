"""Queries beside the atom's own words: its unit, its headings, the question, or by the LLM.

The LLM's are refined against what they find, as in VERIFY (Bayat et al. 2024,
"FactBench"): it sees the best passages and either leaves it at that or writes another.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from factcheck_local.core.errors import ScoringError
from factcheck_local.core.progress import Progress, silent
from factcheck_local.core.text.wording import content_words, normalised, numbers
from factcheck_local.core.types import Atom, Context, Segment, Span, titled
from factcheck_local.models.contracts import TextGenerator
from factcheck_local.models.prompts import load_prompt
from factcheck_local.models.prompts.lines import plain_lines
from factcheck_local.pipeline.claims.split import segment

#: Queries that the model writes at first, at most; each round adds one more.
FIRST = 2

#: Passages that the model sees in a round, and words of each.
SHOWN, WORDS = 3, 30

MAX_REPLY_TOKENS = 64

#: Gives the `SHOWN` best passages for an atom and further queries, best first.
Look = Callable[[Atom, Sequence[str]], Sequence[Context]]

#: A label ends in a colon, or in a stop or dash that is not inside a word.
_LABEL = re.compile(
    r"^[\[(*_]*(?:(?:not|nothing|none) found|(?:new |next |other |better |search )*quer(?:y|ies)"
    r"|search|reply)(?: ?#?\d{1,2})?[\])*_]*(?:\s*[:|][*_]*\s*|\s*\.\s+|\s+[–-]\s+|\s*\.?$)",
    re.IGNORECASE,
)
_FOUND = re.compile(r"^found(?:\W*$|\s*[.:,;–-]|\s+(?:in|by|it)\b)", re.IGNORECASE)
_QUOTES = "\"'“”„’«»"


@dataclass(frozen=True, slots=True)
class Written:
    """What the model wants to have looked for.

    Attributes:
        by_atom: atom id -> queries, beside the atom's own text; none for some.
        refused: queries that share no word with their atom or the question.
        failed: atoms on which the model failed, or wrote nothing that can be read; they
            keep the queries that they had.
    """

    by_atom: Mapping[str, tuple[str, ...]]
    refused: int
    failed: int


def with_headings(atoms: Sequence[Atom], text: str) -> dict[str, tuple[str, ...]]:
    """What stands above each atom in the answer, in the form in which passages are embedded.

    An answer's heading often names what its sentences are about and do not repeat, as a
    document's does.

    Args:
        atoms: those to verify; one that is of no unit of the answer has no query.
        text: the answer.

    Returns:
        The heading path, a line end and the atom, by atom id; none where nothing stands above.
    """
    above = {s.span: s.headings for s in segment(text)}
    return {
        a.id: (titled(" > ".join(above[a.span]), a.text),)
        for a in atoms
        if a.span is not None and above.get(a.span)
    }


def with_units(atoms: Sequence[Atom], text: str) -> dict[str, tuple[str, ...]]:
    """The unit of the answer that each atom is from, below its headings.

    An atom is worded to stand alone: it names the organisation, which its pages seldom do, and
    may have lost a word that they have. The unit has the words of whoever read them.

    Args:
        atoms: those to verify; one that is of no unit of the answer has no query.
        text: the answer.

    Returns:
        The heading path, a line end and the unit, by atom id; none where that is the atom itself.
    """
    units = segment(text)
    starts = [unit.span.start for unit in units]

    def unit_of(span: Span) -> Segment | None:
        # The one that begins last before the span, or the next, where the span begins early.
        at = max(0, bisect_right(starts, span.start) - 1)
        near = [unit for unit in units[at : at + 2] if unit.span.overlaps(span)]
        return max(near, key=lambda unit: _common(unit.span, span), default=None)

    found: dict[str, tuple[str, ...]] = {}
    for atom in atoms:
        unit = unit_of(atom.span) if atom.span else None
        if unit is not None:
            query = titled(" > ".join(unit.headings), unit.text)
            if query != atom.text:
                found[atom.id] = (query,)
    return found


def _common(one: Span, other: Span) -> int:
    """Characters that two overlapping spans share."""
    return min(one.end, other.end) - max(one.start, other.start)


def with_question(atoms: Sequence[Atom], question: str | None) -> dict[str, tuple[str, ...]]:
    """The question in front of each atom, by atom id; none without a question."""
    if not question or not question.strip():
        return {}
    return {a.id: (f"{question.strip()} {a.text}",) for a in atoms}


def write_queries(
    atoms: Sequence[Atom],
    generator: TextGenerator,
    look: Look,
    *,
    question: str | None = None,
    rounds: int = 1,
    progress: Progress = silent,
) -> Written:
    """Let a model write queries for atoms, and more of them for those that find nothing.

    All atoms take a round together, so that the model reads a prompt's instructions
    once a round. A query that shares no word with its atom or the question is refused.

    Args:
        atoms: those to verify.
        generator: the model that writes.
        look: retrieves, so that the model sees what its queries find.
        question: what the answer replies to, if known.
        rounds: how often the model may look and write another query, at least 0.
        progress: called after each atom of a round.
    """
    queries: dict[str, list[str]] = {a.id: [] for a in atoms}
    refused = 0
    failed = set()
    open_: Sequence[Atom] = atoms
    for turn in range(rounds + 1):
        if not open_:
            break
        going_on = []
        for done, atom in enumerate(open_, start=1):
            own = queries[atom.id]
            written: list[str] | None
            try:
                if turn == 0:
                    written = _first(atom, generator, question)
                else:
                    written = _another(atom, own, look(atom, own), generator, question)
            except ScoringError:
                written = []
            if written is not None:
                if not written:
                    failed.add(atom.id)
                usable = [q for q in written if _shares_words(q, atom, question)]
                refused += len(written) - len(usable)
                known = {normalised(q) for q in (atom.text, *own)}
                new = [q for q in usable if normalised(q) not in known]
                own += new
                # Asked again about the same state, the model would say the same.
                if new or (written and turn == 0):
                    going_on.append(atom)
            progress(done, len(open_))
        open_ = going_on
    return Written({id_: tuple(own) for id_, own in queries.items() if own}, refused, len(failed))


def parse_queries(reply: str) -> list[str]:
    """The queries of a reply, one a line, in order, each once.

    Bullets, numbering, quotes, emphasis and a label in front of a query are forgiven;
    lines without a word, and lines that only announce others, are passed over.

    Returns:
        Texts; none if nothing can be made of the reply.
    """
    lines = (line.strip(f"{_QUOTES},; ") for line in plain_lines(reply, _LABEL))
    return list(dict.fromkeys(line for line in lines if line and not line.endswith(":")))


def says_found(reply: str) -> bool:
    """Whether a reply says, in its first line, that what was looked for is found."""
    lines = parse_queries(reply)
    return bool(lines) and _FOUND.match(lines[0]) is not None


def _first(atom: Atom, generator: TextGenerator, question: str | None) -> list[str]:
    """What to look for, before anything has been; nothing if the reply cannot be read."""
    messages = load_prompt("query").opening(question=question, claim=atom.text)
    reply = generator.generate(messages, max_tokens=MAX_REPLY_TOKENS, stop=("\n\n", "\nClaim:"))
    return parse_queries(reply)[:FIRST]


def _another(
    atom: Atom,
    tried: Sequence[str],
    passages: Sequence[Context],
    generator: TextGenerator,
    question: str | None,
) -> list[str] | None:
    """One more query in view of what was found, or None if that will do."""
    messages = load_prompt("requery").opening(
        question=question,
        claim=atom.text,
        tried=tried,
        passages=[_beginning(c) for c in passages[:SHOWN]],
    )
    reply = generator.generate(messages, max_tokens=MAX_REPLY_TOKENS, stop=("\n\n", "\nClaim:"))
    return None if says_found(reply) else parse_queries(reply)[:1]


def _beginning(context: Context) -> str:
    """Title and first words of a passage, on one line."""
    words = context.text.split()
    cut = " …" if len(words) > WORDS else ""
    text = " ".join(words[:WORDS]) + cut
    return f"{context.title}: {text}" if context.title else text


def _shares_words(query: str, atom: Atom, question: str | None) -> bool:
    """Whether a query is about what the atom, or the question, is about."""
    known = f"{atom.text} {question or ''}"
    return bool(content_words(query) & content_words(known) or numbers(query) & numbers(known))
