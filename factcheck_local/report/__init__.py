"""Reports: a run as JSON, and that as a page, a table, SARIF or JUnit XML."""

from factcheck_local.report.events import event_json_schema, event_to_dict
from factcheck_local.report.fact_graph import to_fact_graph
from factcheck_local.report.findings import findings
from factcheck_local.report.html import to_html
from factcheck_local.report.junit import to_junit
from factcheck_local.report.markdown import to_markdown
from factcheck_local.report.sarif import to_sarif
from factcheck_local.report.schema import SCHEMA, json_schema, to_dict
from factcheck_local.report.text import to_text

__all__ = [
    "SCHEMA",
    "event_json_schema",
    "event_to_dict",
    "findings",
    "json_schema",
    "to_dict",
    "to_fact_graph",
    "to_html",
    "to_junit",
    "to_markdown",
    "to_sarif",
    "to_text",
]
