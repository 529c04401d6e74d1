"""The page: templates filled from the assessment, style and script within it.

Nothing is fetched, and a Content-Security-Policy says so: only the style and the script
with the hashes of those that are written here run, and the page talks to nobody. What
others wrote, answer and documents, reaches the page through autoescape and ``visible``,
and its script as JSON; the script builds elements from text, never from markup.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from itertools import accumulate
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, UndefinedError
from markupsafe import Markup

from factcheck_local.report.html.answer import stretches
from factcheck_local.report.html.claims import URGENCY, VERBS, Claim, claims_of
from factcheck_local.report.html.data import data_of, passages_of
from factcheck_local.report.html.layout import CLAIM_RIGHT, PASSAGE_LEFT, PASSAGE_RIGHT, lay_out
from factcheck_local.report.html.numbers import IN_DRAWING, IN_TEXT, numbers
from factcheck_local.report.html.safe import json_block, packed, visible
from factcheck_local.report.html.whatif import page_model
from factcheck_local.report.view import (
    NO_QUOTE,
    SIGNS,
    bound,
    doubted,
    percent,
    promise,
    timing,
    unmeasured,
)

#: Sources that the view of conflicts compares at most, over all claims.
MAX_COMPARED = 600

#: In the order in which they are read.
SCRIPTS = ("inference.js", "review.js", "sources.js", "page.js")


def to_html(assessment: dict[str, Any]) -> str:
    """One file with the answer, the verdicts, their evidence, and what they rest on.

    Args:
        assessment: what ``to_dict`` gives.

    Raises:
        KeyError: if something is missing from it.
    """
    claims = claims_of(assessment)
    model, why_fixed = page_model(assessment)
    style, script = page_file("style.css"), "\n".join(map(page_file, SCRIPTS))
    parts = stretches(assessment["answer"]["text"], [c.places for c in claims])
    at: dict[int, int] = {}
    for number, part in enumerate(parts, start=1):
        for claim in part.ends:
            at.setdefault(claim, number)
    disputed = sorted((c for c in claims if c.disputed), key=lambda c: c.verdict != "conflicting")
    page = environment().get_template("page.html.j2")
    values: dict[str, Any] = {
        "policy": policy(style, script),
        "style": Markup(style),
        "script": Markup(script),
        "data": Markup(json_block(data_of(assessment, claims, model))),
        "passages": packed(passages_of(assessment, claims)),
        "number": numbers(assessment, IN_TEXT),
        "drawn": numbers(assessment, IN_DRAWING),
        "assessment": assessment,
        "claims": claims,
        "disputed": disputed,
        "compared": _that_fit(disputed),
        "stretches": parts,
        "at": at,
        "leading": lambda own: min(
            (claims[c] for c in own), key=lambda c: URGENCY.index(c.verdict)
        ),
        "bars": bars(assessment["summary"]["counts"]),
        "sources": _sources(assessment, model),
        "model": model,
        "why_fixed": why_fixed,
        "drawing": lay_out(assessment, claims),
        "doubted": doubted(assessment),
        "timing": timing(assessment),
        "promise": promise(assessment),
        "least_certainty": {v: bound(assessment, v) for v in ("supported", "contradicted")},
    }
    try:
        return page.render(values) + "\n"
    except UndefinedError as error:
        raise KeyError(str(error)) from error


@cache
def environment() -> Environment:
    """The templates, with escaping that none of them can forget."""
    made = Environment(
        loader=PackageLoader("factcheck_local.report.html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda v: v if isinstance(v, Markup) or not isinstance(v, str) else visible(v),
    )
    made.globals |= {
        "signs": SIGNS,
        "verbs": VERBS,
        "urgency": URGENCY,
        "no_quote": NO_QUOTE,
        "unmeasured": unmeasured,
        "x_claim": CLAIM_RIGHT,
        "x_passage": PASSAGE_LEFT,
        "x_end": PASSAGE_RIGHT,
    }
    made.filters["percent"] = percent
    return made


def page_file(name: str) -> str:
    """A style or script of the page."""
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def policy(style: str, script: str | None = None) -> str:
    """The hash of the style, that of the script if there is one, and nothing else is allowed."""

    def digest(text: str) -> str:
        return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

    allowed = f"style-src 'sha256-{digest(style)}'"
    if script is not None:
        allowed += f"; script-src 'sha256-{digest(script)}'"
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"


def _that_fit(disputed: Sequence[Claim]) -> list[Claim]:
    """The first of the disputed claims, with at most ``MAX_COMPARED`` sources together."""
    totals = accumulate(len(c.sources) for c in disputed)
    return [c for c, total in zip(disputed, totals, strict=True) if total <= MAX_COMPARED]


def bars(counts: Mapping[str, int]) -> list[tuple[str, float, float]]:
    """Verdict, start and width of each part of a bar of width 100."""
    verdicts = [v for v in reversed(URGENCY) if counts[v]]
    total = sum(counts[v] for v in verdicts)
    found, start = [], 0.0
    for verdict in verdicts:
        width = 100 * counts[verdict] / total
        found.append((verdict, round(start, 3), round(width, 3)))
        start += width
    return found


def _sources(
    assessment: Mapping[str, Any], model: Mapping[str, Any] | None
) -> list[dict[str, Any]]:
    """The sources of the passages, with the positions of these.

    ``priors`` has one passage for each prior, ``slider`` the position of a source in the
    model if its prior matters there.
    """
    matters = set()
    if model is not None:
        matters = {s for v in model["variables"] for s, _ in v.get("passages", ())}
    contexts = assessment["contexts"]
    passages: dict[str, list[int]] = {}
    for i, context in enumerate(contexts):
        passages.setdefault(context["source"], []).append(i)
    posteriors = {s["source"]: i for i, s in enumerate(assessment.get("sources", ()))}
    return [
        {
            "name": name,
            "passages": own,
            "priors": list({contexts[i]["prior"]: i for i in reversed(own)}.values())[::-1],
            "rules": list(dict.fromkeys(contexts[i]["prior_rule"] for i in own)),
            "first_prior": contexts[own[0]]["prior"],
            "posterior": posteriors.get(name),
            # The model's sources are in the order of the passages, too.
            "slider": position if position in matters else None,
            "fixed": position not in matters,
        }
        for position, (name, own) in enumerate(passages.items())
    ]
