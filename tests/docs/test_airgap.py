"""SECURITY.md and docs/air-gapped.md: what they show is run, or compared with the code."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest

from factcheck_local.core import egress
from factcheck_local.core.errors import EgressError
from factcheck_local.models.bundle import export

from .pages import ROOT, blocks


def test_the_example_of_a_refusal_is_what_is_said() -> None:
    egress.guard()
    with pytest.raises(EgressError) as found:
        socket.getaddrinfo("telemetry.example", 443)
    line = f"factcheck: {found.value} (try: {found.value.hint})"
    assert line in [text.strip() for text in blocks("SECURITY.md")]


def test_the_python_examples_run() -> None:
    (code,) = blocks("SECURITY.md", "python")
    check = "\nassert egress.is_on() and egress._rule.may_reach('chroma.example', 8000)"
    subprocess.run([sys.executable, "-c", code + check], check=True, cwd=ROOT)


def test_the_steps_are_those_of_the_bundles_own_text() -> None:
    names = {"bundle": "bundle.tar", "wheels": "wheels", "requirements": "requirements.txt"}
    steps = export.INSTALL.format(**names, python="", platform="")
    shown = [line.strip() for text in blocks("docs/air-gapped.md") for line in text.splitlines()]
    told = [line.strip() for line in steps.splitlines() if line.startswith("  ")]
    assert len(told) == 3
    assert set(told) <= set(shown)
