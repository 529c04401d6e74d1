"""Debian's Chromium, and what axe finds in a page."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import axe_playwright_python
import pytest
from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = shutil.which("chromium")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed")

FLAGS = (
    "--no-sandbox --disable-gpu --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)
AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js")

#: In the dark only the colours are others.
ONLY = {"light": "", "dark": "{ runOnly: ['color-contrast'] }"}


@contextmanager
def launched() -> Iterator[Browser]:
    """The browser; while it runs, no other test can start an event loop."""
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS.split())
        yield found
        found.close()


def serious(page: Page, scheme: str = "light") -> list[tuple[str, str]]:
    """Rules that a page breaks in a serious way, each with an element that does."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate(f"axe.run({ONLY[scheme]})")
    assert "color-contrast" in {rule["id"] for rule in found["passes"]}
    return [
        (v["id"], v["nodes"][0]["html"])
        for v in found["violations"]
        if v["impact"] in ("serious", "critical")
    ]
