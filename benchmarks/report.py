"""All measurements in one file, benchmarks/REPORT.md, from what each of them left behind.

    python -m benchmarks.report

Nothing is measured here. A figure stands in the report with the command that makes it again
and its signature; to renew one, run its command and then this one.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from factcheck_local.core.files import write_whole
from factcheck_local.evaluate.summary import SUMMARY, to_markdown

HERE = Path(__file__).parent
REPORT = HERE / "REPORT.md"
RESULTS = HERE / "results"
REMARKS = HERE / "REMARKS.md"

_LINK = re.compile(r"(!\[[^\]]*\]\()(?!\w+:)")
_HEADING = re.compile(r"^#", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Measured:
    """A table that another measurement wrote, and what makes it again."""

    file: str
    command: str


MEASURED = (
    Measured("relation.md", "python -m benchmarks.relation --limit 40 --gate --quotes"),
    Measured("retrieval.md", "python -m benchmarks.retrieval"),
    Measured("indexing.md", "python -m benchmarks.indexing"),
    Measured("store_size.md", "python -m benchmarks.store_size"),
    Measured("inference.md", "python -m benchmarks.inference"),
    Measured("report_page.md", "python -m benchmarks.report_page"),
    Measured(
        "peer-factreasoner.md",
        "python -m benchmarks.peer_factreasoner --peer-python PEER/bin/python",
    ),
    Measured("injection-encoder.md", "python -m benchmarks.injection --relation encoder"),
    Measured("injection-llm.md", "python -m benchmarks.injection --relation llm"),
)


def report(results: Path = RESULTS, remarks: Path = REMARKS) -> str:
    """The whole report; what was not measured is left out."""
    parts = [
        "# Measurements\n\n"
        "Made by `python -m benchmarks.report` from `results/`. Above each table is the command "
        "that makes it again, below it what it was made with. Intervals are 95 %, by bootstrap.\n"
    ]
    if remarks.is_file():
        parts.append(_HEADING.sub("##", remarks.read_text(encoding="utf-8")))
    summaries = sorted(results.glob(f"bench/*/{SUMMARY}"))
    if summaries:
        parts.append("## Assessors side by side\n")
    for file in summaries:
        folder = file.parent.relative_to(results.parent).as_posix()
        result = json.loads(file.read_text(encoding="utf-8"))
        # Two runs of one benchmark differ in what their folder is called after.
        result["bench"] = file.parent.name
        parts.append(to_markdown(result, level=3, pictures=f"{folder}/"))
    for measured in MEASURED:
        file = results / measured.file
        if file.is_file():
            parts.append(_moved(file, results.name, measured.command))
    return "\n".join(parts)


def _moved(file: Path, folder: str, command: str) -> str:
    """A table one heading deeper, with its command, its pictures found from the report."""
    title, _, rest = file.read_text(encoding="utf-8").partition("\n")
    rest = _LINK.sub(rf"\1{folder}/", _HEADING.sub("##", rest))
    return f"#{title}\n\n    {command}\n{rest}"


def main() -> None:
    """Write the report."""
    write_whole(REPORT, report())
    print(f"written to {REPORT.name}")


if __name__ == "__main__":
    main()
