"""The assessment as a Markdown page, for a pull request or a wiki."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from factcheck_local.report.view import (
    NO_QUOTE,
    SIGNS,
    chosen,
    citations,
    doubted,
    headline,
    inferred,
    one_line,
    percent,
    promise,
    remarks,
    selection,
    timing,
    uncited,
)

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~!&$])")

#: Where a host makes a link, a mention, a reference or an emoji of plain text, escaped or
#: not, since it looks at the page after Markdown was read. What follows is kept apart.
_LIVE = re.compile(
    r"""
    (?<=:)(?=//)               # https://
    | (?<=www)(?=\.)
    | (?<=@)                   # a mention, an address
    | (?<=[#!$%~&^])(?=[\w"'])  # an issue, a request, a label, a formula
    | (?<=gh)(?=-\d)
    | (?<=:)(?=[\w+-]+:)       # an emoji
    | (?<![^\W_])(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{7,40}(?![^\W_])  # a commit
    """,
    re.VERBOSE | re.IGNORECASE,
)

#: A space of no width, and how it is written so that it can be seen in the source.
_SPACE, _WRITTEN = "\u200b", "&#8203;"


def to_markdown(assessment: dict[str, Any], *, only: Collection[str] | None = None) -> str:
    """A page with the verdicts, the evidence for each, and how it was computed.

    Args:
        assessment: what ``to_dict`` gives.
        only: the verdicts to show; None for all.
    """
    return "\n".join(_lines(assessment, only)) + "\n"


def _lines(assessment: dict[str, Any], only: Collection[str] | None) -> Iterator[str]:
    answer, run = assessment["answer"], assessment["run"]
    atoms = chosen(assessment, only)
    yield f"# Fact check of {plain(answer['path'] or 'an answer')}"
    yield ""
    if answer["question"]:
        yield f"Question: {plain(answer['question'])}"
        yield ""
    yield f"**{plain(headline(assessment))}**"
    yield ""
    if said := promise(assessment):
        yield plain(said)
        yield ""
    if only is not None:
        yield selection(assessment, only)
        yield ""
    yield "| verdict | P | claim |"
    yield "|---|---:|---|"
    for atom in atoms:
        yield (f"| {_verdict(atom)} | {percent(atom['probability'])} | {plain(atom['text'])} |")
    yield ""
    yield "## Evidence"
    yield ""
    for atom in atoms:
        if atom["verdict"] == "skipped":
            continue
        yield f"### {_verdict(atom)}: {plain(atom['text'])}"
        yield ""
        if atom["original"] != atom["text"]:
            yield f"In the answer: “{plain(atom['original'])}”"
            yield ""
        if atom["verdict"] == "unscored":
            yield f"Could not be scored: {plain(atom['reason'])}"
            yield ""
            continue
        found = list(citations(assessment, atom))
        for c in found:
            yield (
                f"- {plain(c.relation)} {percent(c.probability)}, source prior {c.prior:g}, "
                f"{plain(c.place)}, {f'“{plain(c.quote)}”' if c.quote else NO_QUOTE}"
            )
        for sentence in remarks(assessment, atom):
            yield f"- {plain(sentence)}"
        yield "" if found else f"{plain(uncited(assessment, atom))}\n"
    yield "## Run"
    yield ""
    yield f"- inference: {plain(inferred(assessment))}"
    yield f"- time: {plain(timing(assessment))}"
    for note in [*doubted(assessment), *assessment["notes"]]:
        yield f"- note: {plain(note)}"
    for model in run["models"]:
        yield f"- {plain(model['role'])}: {plain(model['id'])}, sha256 {_code(model['sha256'])}"
    if (index := run["index"]) and index["chunks"] is None:
        yield f"- index: {plain(index['store'])}, of which nobody can tell what it holds"
    elif index:
        yield f"- index: {plain(str(index['chunks']))} passages, digest {_code(index['digest'])}"
    yield f"- signature: {_code(run['signature'])}"


def _verdict(atom: dict[str, Any]) -> str:
    words = str(atom["verdict"]).replace("_", " ")
    kind = f" ({plain(atom['kind'])})" if atom["verdict"] == "skipped" else ""
    return f"{SIGNS[atom['verdict']]} {words}{kind}"


def plain(text: str) -> str:
    """A text on one line in which nothing is markup, and that no host links."""
    # None of these spaces is the text's own: they are not printable.
    apart = _LIVE.sub(
        lambda found: _SPACE.join(re.findall(".{1,6}", found[0])) or _SPACE, one_line(text)
    )
    return _SPECIAL.sub(r"\\\1", apart).replace(_SPACE, _WRITTEN)


def _code(text: str) -> str:
    """A text as a code span, which no backtick of its own ends."""
    line = one_line(text)
    if "`" not in line:
        return f"`{line}`"
    fence = "`" * (1 + max(map(len, re.findall("`+", line))))
    return f"{fence} {line} {fence}"
