"""Numbers of an assessment as the page shows them, each with where it comes from."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from markupsafe import Markup, escape

from factcheck_local.report.html.safe import visible
from factcheck_local.report.view import percent, share

#: A number of the assessment: its value in full, where it stands there, and as shown.
IN_TEXT = '<data value="%s" data-json="%s">%s</data>'
IN_DRAWING = '<tspan data-value="%s" data-json="%s">%s</tspan>'

#: How a number is shown, by name; its value stands beside it in full.
_STYLES: Mapping[str, Callable[[Any], str]] = {
    "percent": percent,
    "prior": lambda value: f"{value:g}",
    "count": str,
    "share": share,
    "three": lambda value: f"{value:.3f}",
}


def numbers(assessment: Mapping[str, Any], element: str) -> Callable[..., Markup]:
    """A function for the templates that shows a number of the assessment.

    It is named by its path, so that what is shown cannot be another; the element has the
    path as a JSON pointer (RFC 6901) and the value in full.
    """

    def number(style: str, *path: str | int) -> Markup:
        value: Any = assessment
        for key in path:
            value = value[key]
        if value is None:
            return Markup("–")
        pointer = "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in path)
        parts = json.dumps(value), visible(pointer), _STYLES[style](value)
        return Markup(element % tuple(map(escape, parts)))

    return number
