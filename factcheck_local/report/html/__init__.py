"""An assessment, and an overview of many, as HTML files that need nothing but a browser."""

from factcheck_local.report.html.build import to_html
from factcheck_local.report.html.overview import to_overview

__all__ = ["to_html", "to_overview"]
