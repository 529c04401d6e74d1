"""An assessment as one HTML file that needs nothing but a browser."""

from factcheck_local.report.html.build import to_html

__all__ = ["to_html"]
