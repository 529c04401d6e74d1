"""The site that MkDocs makes of the pages: every link leads somewhere, nothing is fetched."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from .pages import ROOT


def test_the_site_is_made_without_a_warning_and_fetches_nothing(tmp_path: Path) -> None:
    command = ["mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    pages = list((tmp_path / "site").rglob("*.html"))
    assert {"index.html", "ARCHITECTURE.html", "settings.html"} <= {p.name for p in pages}
    for page in pages:
        loaded = re.findall(r"<(?:script|link|img)\b[^>]*(?:src|href)=\"([^\"]+)", page.read_text())
        outside = [url for url in loaded if url.startswith(("http:", "https:", "//"))]
        assert outside == [], page.name


def test_the_first_page_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150
    assert len((ROOT / "ARCHITECTURE.md").read_text().splitlines()) <= 100
