"""The web page: shells without content, which scripts fill by the routes that all others use.

A shell needs no key, since it holds nothing of anybody's. Style and scripts of a review are the
files that the HTML report is made of.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources
from typing import Any

from fastapi import FastAPI, Response
from jinja2 import Environment, PackageLoader, StrictUndefined

from factcheck_local.pipeline.settings import SETTINGS, Settings
from factcheck_local.report.html.build import SCRIPTS, page_file
from factcheck_local.report.view import SIGNS
from factcheck_local.serve.check import Problem
from factcheck_local.serve.service import Service

#: Only what this server sends runs, and it reaches this server alone.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

#: Paths -> their templates.
PAGES = {
    "/": "new",
    "/checks": "past",
    "/checks/{check_id}": "check",
    "/reviews": "queue",
    "/search": "search",
    "/sources": "corpus",
    "/docs": "docs",
}

#: Settings that a check's form offers -> what they are called there.
OFFERED = {
    "relation": "Who reads passages",
    "assessor": "Which relations count",
    "k": "Passages per claim",
    "retrieval": "How passages are found",
    "queries": "What is looked for",
    "rerank": "Who reads the best again",
    "summarize": "Summarize long passages",
    "where": "Only these sources",
}

_TYPES = {"css": "text/css", "js": "text/javascript"}


def add_web(app: FastAPI, service: Service) -> None:
    """Add the pages and their files."""
    made = Environment(
        loader=PackageLoader("factcheck_local.serve", "web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    values = {"offered": offered(service.config.settings), "signs": SIGNS, "api": app.openapi}
    files = {name: page_file(name) for name in ("style.css", *SCRIPTS)}
    for file in resources.files(__package__).joinpath("web").iterdir():
        if file.name.rpartition(".")[2] in _TYPES:
            files[file.name] = file.read_text(encoding="utf-8")

    def shell(name: str) -> Callable[[], Response]:
        def show() -> Response:
            text = made.get_template(f"{name}.html.j2").render(values, page=name)
            headers = {"Content-Security-Policy": POLICY, "Referrer-Policy": "no-referrer"}
            return Response(text, media_type="text/html", headers=headers | _SAFE)

        return show

    for path, name in PAGES.items():
        app.get(path, include_in_schema=False)(shell(name))

    @app.get("/web/{name}", include_in_schema=False)
    def file_of_page(name: str) -> Response:
        if name not in files:
            raise Problem(404, "no such file")
        kind = _TYPES[name.rpartition(".")[2]]
        return Response(files[name], media_type=kind, headers=_SAFE)


_SAFE = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-cache"}


def offered(settings: Settings) -> list[dict[str, Any]]:
    """What the form of a check needs of the settings that it offers.

    Args:
        settings: of the server.

    Returns:
        ``name``, what it is ``called``, ``effect``, ``value`` as the server has it, ``kind``
        (``choice``, ``flag``, ``number`` or ``texts``), and for the first the ``choices``.
    """
    own = settings.as_dict()
    readers = list(dict.fromkeys([own["relation"], "encoder", "llm"]))
    choices = {"relation": readers, "rerank": list(dict.fromkeys([own["rerank"], None, "encoder"]))}
    found = []
    for name, called in OFFERED.items():
        row = SETTINGS[name]
        kind = {bool: "flag", int: "number", tuple: "texts"}.get(row.kind, "choice")
        found.append(
            {
                "name": name,
                "called": called,
                "effect": row.effect,
                "value": own[name],
                "kind": kind,
                "choices": choices.get(name, row.choices),
            }
        )
    return found
