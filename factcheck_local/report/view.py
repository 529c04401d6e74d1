"""What the readable reports show of an assessment, in the order they show it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from factcheck_local.pipeline.verdicts.decide import side_of_half
from factcheck_local.report.stored import is_judged

#: Shown beside a verdict, so that it can be told without colour.
SIGNS = {
    "supported": "✓",
    "contradicted": "✗",
    "unsupported": "∅",
    "conflicting": "≠",
    "undecided": "~",
    "not_found": "?",
    "unscored": "!",
    "skipped": "-",
}

#: The relation whose evidence explains a verdict.
DECIDES = {"supported": "entailment", "contradicted": "contradiction"}


#: In the place of a quote where a passage has no sentence.
NO_QUOTE = "no sentence of it is quoted"


@dataclass(frozen=True, slots=True)
class Citation:
    """One piece of evidence as a person reads it.

    ``context`` is the passage in the assessment; ``line`` is that of the quote, None
    where there are no lines.
    """

    relation: str
    probability: float
    prior: float
    place: str
    quote: str
    context: dict[str, Any]
    line: int | None


def citations(assessment: dict[str, Any], atom: dict[str, Any]) -> Iterator[Citation]:
    """The evidence that explains an atom's verdict, the deciding piece first.

    A conflict shows the strongest piece of each side.
    """
    contexts = {c["id"]: c for c in assessment["contexts"]}
    wanted = DECIDES.get(atom["verdict"])
    found = [
        Citation(
            e["relation"],
            e["probability"],
            contexts[e["context"]]["prior"],
            place(contexts[e["context"]], e["quote"]),
            quoted(e),
            contexts[e["context"]],
            quote_line(contexts[e["context"]], e["quote"]),
        )
        for e in atom["evidence"]
    ]
    if atom["verdict"] == "conflicting":
        sides = dict.fromkeys(c.relation for c in found)
        yield from (next(c for c in found if c.relation == side) for side in sides)
    else:
        yield from sorted(found, key=lambda c: c.relation != wanted)


def uncited(assessment: dict[str, Any], atom: dict[str, Any]) -> str:
    """What there is to say of a verdict without evidence: a judge's words and what it read."""
    contexts = {c["id"]: c for c in assessment["contexts"]}
    said = [f"“{one_line(atom['reason'])}”"] if atom.get("reason") else []
    if read := atom.get("read"):
        said.append("Judged from " + ", ".join(place(contexts[id_], None) for id_ in read) + ".")
    elif is_judged(assessment):
        said.append("Judged without passages.")
    return " ".join(said) or "Nothing in the documents relates to it."


def described(citation: Citation) -> str:
    """A piece of evidence as a sentence: where, how much it weighs, and its words."""
    said = f": “{citation.quote}”" if citation.quote else ""
    return (
        f"{citation.place}, {citation.relation} {percent(citation.probability)}, "
        f"source prior {citation.prior:g}{said}"
    )


def quoted(evidence: dict[str, Any]) -> str:
    """The sentences that decide, in the order of the passage, on one line."""
    if not evidence["quote"]:
        return ""
    found = [evidence["quote"], *evidence.get("more_quotes", ())]
    found.sort(key=lambda quote: quote["start"])
    return " … ".join(" ".join(quote["text"].split()) for quote in found)


def place(context: dict[str, Any], quote: dict[str, Any] | None) -> str:
    """Where a quote stands: source, then page, or line of the quote itself."""
    if "page" in context:
        return f"{context['source']}, p. {context['page']}"
    line = quote_line(context, quote)
    return str(context["source"]) if line is None else f"{context['source']}:{line}"


def quote_line(context: dict[str, Any], quote: dict[str, Any] | None) -> int | None:
    """The line of a quote, or of its passage without one; None where pages or nothing count."""
    if "page" in context or "line" not in context:
        return None
    line = int(context["line"])
    if quote is not None:
        before = context["text"][: quote["start"] - context.get("start", 0)]
        line += before.count("\n")
    return line


def chosen(assessment: dict[str, Any], only: Collection[str] | None) -> list[dict[str, Any]]:
    """The atoms with one of these verdicts; all of them for None."""
    return [a for a in assessment["atoms"] if only is None or a["verdict"] in only]


def selection(assessment: dict[str, Any], only: Collection[str]) -> str:
    """A sentence that says that not all claims are shown."""
    shown, count = len(chosen(assessment, only)), len(assessment["atoms"])
    names = ", ".join(v.replace("_", " ") for v in SIGNS if v in only)
    return f"Shown: {names}; {shown} of {count} claims."


def turns_on(assessment: dict[str, Any], atom: dict[str, Any]) -> str:
    """A sentence on the one relation that keeps P on its side of ½, or at it; empty for none."""
    found = (atom.get("sensitivity") or {}).get("pivotal")
    if not found:
        return ""
    contexts = {c["id"]: c for c in assessment["contexts"]}
    where = place(contexts[found["from"]], None)
    if found["to"] != atom["id"]:
        other = contexts.get(found["to"])
        bears_on = place(other, None) if other else "another claim"
        where += f" ({found['relation']} of {bears_on})"
    moves = "reach or cross" if side_of_half(atom["probability"]) else "leave"
    return f"without {where}, P would {moves} 50 %"


def uncertain(assessment: dict[str, Any], atom: dict[str, Any]) -> str:
    """What an undecided claim lacks of a verdict, as a sentence; empty for any other claim."""
    if atom["verdict"] != "undecided" or atom.get("certainty") is None:
        return ""
    side = "supported" if atom["probability"] > 0.5 else "contradicted"
    both = atom["certainty"], bound(assessment, side)
    sure, least = map(percent, both)
    if sure == least:
        sure, least = (f"{100 * value:.9g} %" for value in both)
    return f"certainty {sure}; to be called {side} takes {least}"


def remarks(assessment: dict[str, Any], atom: dict[str, Any]) -> list[str]:
    """Sentences to stand behind a claim's evidence: what it lacks, and what its P turns on."""
    return [s for s in (uncertain(assessment, atom), turns_on(assessment, atom)) if s]


def doubted(assessment: dict[str, Any]) -> list[str]:
    """Documents that the evidence makes less likely to be reliable than not, for FR4."""
    return [
        f"{s['source']} is probably not reliable: {percent(s['posterior'])}, before the evidence "
        f"{percent(s['prior'])}"
        for s in assessment.get("sources", ())
        if s["posterior"] < 0.5 <= s["prior"]
    ]


def percent(value: float | None) -> str:
    """A probability in per cent; a dash where there is none.

    Never rounded to certainty: 99.9 % and more, short of 1, is shown as such. Nor to ½, on which a
    claim has no verdict.
    """
    if value is None:
        return "–"
    if 0 < value < 1:
        value = min(max(value, 0.001), 0.999)
    if abs(value - 0.5) < 0.001:
        value = 0.5 + 0.001 * side_of_half(value)
    return f"{100 * value:.1f} %"


def share(value: float) -> str:
    """A share of the claims with two digits; never rounded to all of them, or to none."""
    return f"{min(max(value, 0.01), 0.99) if 0 < value < 1 else value:.2f}"


def one_line(text: str) -> str:
    """A text on one line, without characters that would steer a terminal.

    A soft hyphen goes, and joiners, which are letters' own, stay.
    """
    words = " ".join(text.replace("\u00ad", "").split())
    return "".join(c if c.isprintable() or c in "\u200c\u200d" else " " for c in words)


def indented(line: str) -> str:
    """A line as `one_line` makes it, but for the spaces in front."""
    return line[: len(line) - len(line.lstrip(" "))] + one_line(line)


def headline(assessment: dict[str, Any]) -> str:
    """The counts on one line."""
    counts = assessment["summary"]["counts"]
    shown = [f"{n} {v.replace('_', ' ')}" for v, n in counts.items() if n]
    precision = assessment["summary"]["precision"]
    coverage = assessment["summary"]["coverage"]
    score = (
        unmeasured(counts)
        if precision is None
        else f"factual precision {share(precision)}, coverage {share(coverage)}"
    )
    return one_line(f"{score}: {', '.join(shown)}") if shown else score


def unmeasured(counts: dict[str, int]) -> str:
    """What is said in the place of a precision where no claim has a probability."""
    return "no claim could be scored" if counts["unscored"] else "nothing to verify"


def inferred(assessment: dict[str, Any]) -> str:
    """How the probabilities were computed, and how far that may be off, on one line."""
    found = assessment["inference"]
    error = f", error of a probability about {found['error']:.3f}" if found.get("error") else ""
    # Without a log Z there was nothing that could converge.
    stuck = found["log_z"] is not None and not found["converged"]
    return one_line(f"{found['method']}{error}{', which did not converge' if stuck else ''}")


def bound(assessment: dict[str, Any], verdict: str) -> float:
    """The least certainty of ``supported`` or ``contradicted``, 0 where there is no threshold."""
    return float((assessment["run"].get("risk") or {}).get(verdict, 0.0))


def promise(assessment: dict[str, Any]) -> str:
    """What the run's thresholds promise, and on what condition; empty where nothing is."""
    risk = assessment["run"].get("risk")
    if not risk:
        return ""
    sides = [
        f"{verdict} (certainty ≥ {percent(risk[verdict])})"
        for verdict in ("supported", "contradicted")
        if bound(assessment, verdict)
    ]
    each = " each" if len(sides) > 1 else ""
    return (
        f"Promise: of the claims called {' and '.join(sides)} at most "
        f"{100 * risk['alpha']:g} %{each} are not, on average, if {risk['assumption']} that the "
        f"thresholds are fitted on ({risk['claims']}, {risk['data']})."
    )


def timing(assessment: dict[str, Any]) -> str:
    """Seconds per stage on one line."""
    seconds = assessment["run"]["seconds"]
    stages = ", ".join(f"{name} {value:.1f}" for name, value in seconds.items())
    return one_line(f"{sum(seconds.values()):.1f} s ({stages})")
