"""Make atoms understandable on their own: names for pronouns, units for bare numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from factcheck_local.core.errors import ScoringError
from factcheck_local.core.progress import Progress, silent
from factcheck_local.core.text.sentences import sentence_spans
from factcheck_local.core.text.wording import (
    content_words,
    is_elliptical,
    is_vague,
    negations,
    numbers,
    share_within,
)
from factcheck_local.core.types import Atom, Segment, Span
from factcheck_local.models.contracts import TextGenerator
from factcheck_local.models.prompts import load_prompt

#: Sentences in front of the atom's own that the model sees.
BEFORE = 4
MAX_REPLY_TOKENS = 96

Which = Literal["vague", "all"]


#: Share of the old words that the new text has to keep, and of the new words
#: that have to stand somewhere in the answer or the question.
MIN_KEPT, MIN_KNOWN = 0.5, 0.9

#: Content words that names take to write; with more, another claim has come in.
MAX_ADDED = 6


@dataclass(frozen=True, slots=True)
class Revised:
    """Atoms after revision, and how many rewordings were not trusted.

    ``failures`` maps an atom's id to why it could not be revised.
    """

    atoms: tuple[Atom, ...]
    failures: Mapping[str, str]
    refused: int


def revise(
    atoms: Sequence[Atom],
    segments: Sequence[Segment],
    generator: TextGenerator,
    *,
    question: str | None = None,
    which: Which = "vague",
    progress: Progress = silent,
) -> Revised:
    """Reword the check-worthy atoms that lean on their surroundings.

    A rewording counts only if it keeps the atom's numbers, negations and most
    of its words, takes what it adds from the answer or the question, and adds
    no sentence and no more than a few words; otherwise the atom stays as it was.

    Args:
        atoms: as the atomizer made them; those without a span stay as they are.
        segments: the answer's units.
        generator: the model that rewords.
        question: what the answer replies to, if known.
        which: ``vague``: the model is asked about atoms that a look at their words finds
            vague or elliptical; ``all``: about every one, as in VERIFY's decontextualization.
        progress: called after each atom.
    """
    whole = " ".join((question or "", *(s.text for s in segments)))
    place: dict[Span | None, int] = {s.span: i for i, s in enumerate(segments)}
    revised = list(atoms)
    failures: dict[str, str] = {}
    refused = 0
    needed = {
        i: prompt
        for i, atom in enumerate(atoms)
        if atom.kind.check_worthy and atom.span in place and (prompt := _prompt(atom.text, which))
    }
    # One prompt after the other: its instructions and examples are then read once.
    for done, i in enumerate(sorted(needed, key=lambda i: (needed[i], i)), start=1):
        atom = atoms[i]
        at = place[atom.span]
        try:
            text = _ask(atom, segments, at, generator, question, needed[i])
        except ScoringError as error:
            failures[atom.id] = str(error)
        else:
            if _trusted(text, atom.text, whole):
                revised[i] = replace(atom, text=text)
            else:
                refused += 1
        progress(done, len(needed))
    return Revised(tuple(revised), failures, refused)


def _prompt(text: str, which: Which) -> str | None:
    """The prompt that an atom needs, if any.

    Shown how to complete what is left out, the default model takes the clause before into
    claims with a pronoun, too; so only those that leave something out get to see it.
    """
    if which == "all":
        return "decontextualize"  # most are to stay as they are
    if is_elliptical(text):
        return "complete"
    return "revise" if is_vague(text) else None


def _ask(
    atom: Atom,
    segments: Sequence[Segment],
    at: int,
    generator: TextGenerator,
    question: str | None,
    prompt: str,
) -> str:
    window = [s.text for s in segments[max(0, at - BEFORE) : at + 1]]
    headings = [f"{heading.rstrip('.:')}." for heading in segments[at].headings[-1:]]
    messages = load_prompt(prompt).opening(
        question=question,
        text=" ".join(" ".join((*headings, *window)).split()),
        claim=atom.text,
    )
    reply = generator.generate(messages, max_tokens=MAX_REPLY_TOKENS, stop=("\n",))
    return reply.strip().removeprefix("Claim:").removeprefix("Unit:").strip()


def _trusted(text: str, old: str, whole: str) -> bool:
    return (
        bool(text)
        and numbers(old) <= numbers(text) <= numbers(whole)
        and negations(text) == negations(old)
        and share_within(old, text) >= MIN_KEPT
        and share_within(text, whole, old) >= MIN_KNOWN
        and len(text) <= 3 * len(old) + 60
        and len(content_words(text) - content_words(old)) <= MAX_ADDED
        and len(sentence_spans(text)) <= max(1, len(sentence_spans(old)))
    )
