"""What the frameworks would send: switched off wherever models are loaded, and stopped anyway."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

#: Both with their switches left on; each sends in a thread of its own.
SENDING = """
import json, os, time
from factcheck_local.core import egress

egress.guard()
from langchain_core.runnables import RunnableLambda
RunnableLambda(str).invoke("secret")

from haystack import Pipeline
from haystack.telemetry import pipeline_running
pipeline_running(Pipeline())

end = time.monotonic() + 60
while len(set(egress.refusals())) < 2 and time.monotonic() < end:
    time.sleep(0.05)
print(json.dumps(sorted(set(egress.refusals()))), flush=True)
os._exit(0)  # what sends would try again
"""


def test_the_guard_stops_what_is_left_on(tmp_path: Path) -> None:
    off = ("LANGSMITH_TRACING_V2", "HAYSTACK_TELEMETRY_ENABLED", "DO_NOT_TRACK")
    left_on = {name: value for name, value in os.environ.items() if name not in off}
    traced = {"LANGSMITH_TRACING": "true", "LANGSMITH_API_KEY": "key", "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", SENDING],
        env=left_on | traced,
        capture_output=True,
        text=True,
        check=True,
    )
    stopped = json.loads(done.stdout)
    assert stopped == ["api.smith.langchain.com:443", "eu.i.posthog.com:443"]


def test_it_is_off_with_our_switches(monkeypatch: pytest.MonkeyPatch) -> None:
    from haystack.telemetry import _telemetry
    from langsmith.utils import get_env_var, tracing_is_enabled

    read: Any = get_env_var  # its cache has no type
    assert _telemetry.telemetry is None
    monkeypatch.setenv("LANGSMITH_TRACING", "true")
    read.cache_clear()
    assert not tracing_is_enabled()
    monkeypatch.delenv("LANGSMITH_TRACING_V2")
    read.cache_clear()
    assert tracing_is_enabled(), "or else it would say so in any case"
    read.cache_clear()
