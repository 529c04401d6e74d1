"""Judges that write their reasons first; the verdict is parsed from the last line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from factcheck_local.core.errors import ScoringError
from factcheck_local.core.progress import Progress
from factcheck_local.core.types import Atom, Verdict
from factcheck_local.models.contracts import Message, TextGenerator
from factcheck_local.models.prompts import finished, load_prompt
from factcheck_local.pipeline.verdicts.judges.case import WORTH, Case, Judged, Judgement
from factcheck_local.pipeline.verdicts.judges.passages import fit
from factcheck_local.pipeline.verdicts.judges.replies import last_label

#: Opens the line of the verdict.
CUE = "verdict"

MAX_REPLY_TOKENS = 256

#: Of sampling, where several replies vote (Wang et al. 2022, "Self-consistency").
TEMPERATURE = 0.7


@dataclass(frozen=True, slots=True)
class ReasoningJudge:
    """Asks for reasons and a verdict; implements ``Judge``.

    With more than one vote the replies are sampled, the seed of each is its number, and the
    most frequent verdict stands (self-consistency); a tie goes to the one that says less for
    the claim. Replies without a verdict have no vote; an atom without votes has failed.

    Attributes:
        prompt: name of the prompt.
        labels: words of the last line, lower case -> what they mean.
        votes: replies for an atom, at least 1.
        wants_contexts: see ``Judge``.
    """

    prompt: str
    labels: Mapping[str, Verdict]
    votes: int = 1
    wants_contexts: bool = True

    def judge(self, case: Case, llm: TextGenerator, progress: Progress) -> Judged:
        """Judge every atom by itself."""
        found: dict[str, Judgement] = {}
        failures: dict[str, str] = {}
        cut = 0
        prompt = load_prompt(self.prompt)
        for done, atom in enumerate(case.atoms, start=1):
            passages, shortened = fit(case.read_for(atom))
            cut += shortened
            chat = finished(prompt.opening(passages=passages), prompt.close(claim=atom.text))
            try:
                found[atom.id] = self._judgement(chat, atom, case, llm)
            except ScoringError as error:
                failures[atom.id] = str(error)
            case.reached(atom.id, found.get(atom.id) or failures[atom.id])
            progress(done, len(case.atoms))
        return Judged(found, failures, cut)

    def _judgement(
        self, messages: Sequence[Message], atom: Atom, case: Case, llm: TextGenerator
    ) -> Judgement:
        replies = sampled(llm, messages, self.votes, MAX_REPLY_TOKENS)
        voted = [(last_label(reply, CUE, self.labels), reply) for reply in replies]
        counts = Counter(label for label, _ in voted if label is not None)
        if not counts:
            raise ScoringError(f"no verdict in what the model wrote: {_shown(replies[0])}")
        verdict = max(counts, key=lambda label: (counts[label], -WORTH[label]))
        probability = sum(WORTH[v] * n for v, n in counts.items()) / counts.total()
        reason = next(reply for label, reply in voted if label is verdict)
        read = case.by_atom.get(atom.id, ())
        return Judgement(verdict, probability, reason.strip(), read)


def sampled(
    llm: TextGenerator, messages: Sequence[Message], votes: int, max_tokens: int
) -> list[str]:
    """Replies to one chat: the likeliest one if it votes alone, else one for each seed."""
    if votes == 1:
        return [llm.generate(messages, max_tokens=max_tokens)]
    return [
        llm.generate(messages, max_tokens=max_tokens, temperature=TEMPERATURE, seed=seed)
        for seed in range(votes)
    ]


def _shown(reply: str, length: int = 80) -> str:
    line = " ".join(reply.split())
    return repr(line if len(line) <= length else f"{line[:length]}…")
