"""A large report in a browser: its size, and how long until it can be worked with.

    python -m benchmarks.report_page

500 claims with 5,000 passages of 750 characters, opened in headless Chromium from a file, each
time in a new page: until the load event has ended, and until the list of claims is there
(the first of which is all that a reader waits for). Writes ``report_page.json`` and ``.md``.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from statistics import median

from factcheck_local import __version__
from factcheck_local.evaluate.machine import machine
from factcheck_local.report.html import to_html
from tests.browser import launched
from tests.report.worlds import many

CLAIMS, PASSAGES_A_CLAIM = 500, 10
ROUNDS = 7


def main() -> None:
    """Measure, write, print."""
    parser = argparse.ArgumentParser(description="a large report in a browser")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    options = parser.parse_args()
    begun = time.perf_counter()
    text = to_html(many(claims=CLAIMS, passages=PASSAGES_A_CLAIM))
    built = time.perf_counter() - begun
    seconds = []
    with tempfile.TemporaryDirectory() as folder, launched() as browser:
        file = Path(folder) / "report.html"
        file.write_text(text, encoding="utf-8")
        for _ in range(ROUNDS):
            page = browser.new_page()
            begun = time.perf_counter()
            page.goto(file.as_uri())
            page.wait_for_selector("details.claim")
            seconds.append(time.perf_counter() - begun)
            page.close()
    result = {
        "claims": CLAIMS,
        "passages": CLAIMS * PASSAGES_A_CLAIM,
        "megabytes": len(text.encode()) / 1e6,
        "built_seconds": built,
        "load_seconds_median": median(seconds),
        "load_seconds_max": max(seconds),
        "rounds": ROUNDS,
        "signature": f"factcheck-local:{__version__}|machine:{machine()}",
    }
    (options.out / "report_page.json").write_text(json.dumps(result, indent=1) + "\n")
    table = (
        "# A large report in a browser\n\n"
        f"{CLAIMS} claims, {CLAIMS * PASSAGES_A_CLAIM:,} passages: "
        f"{result['megabytes']:.1f} MB, made in {built:.1f} s; "
        f"loaded in {median(seconds):.2f} s (median of {ROUNDS}), at most {max(seconds):.2f} s.\n\n"
        f"signature: `{result['signature']}`\n"
    )
    (options.out / "report_page.md").write_text(table, encoding="utf-8")
    print(table)


if __name__ == "__main__":
    main()
