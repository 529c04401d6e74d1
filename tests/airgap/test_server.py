"""The server where there is no network but loopback, and nothing but its data may be written."""

from __future__ import annotations

import json
import re
import shlex
import signal
import sys
from pathlib import Path

import pytest

from tests.cli.helpers import SMALL, factcheck

from .test_no_network import isolated, needs_namespaces, tracing

pytestmark = pytest.mark.long

#: Brings loopback up, starts the server, asks for a check and a search, ends it.
ASK = """
import fcntl, json, socket, struct, subprocess, sys, time
import httpx

with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
    up = struct.pack("16sh14x", b"lo", 1)  # IFF_UP
    fcntl.ioctl(any_socket, 0x8914, up)  # SIOCSIFFLAGS
server = subprocess.Popen(sys.argv[1:])
with httpx.Client(base_url="http://127.0.0.1:8765", trust_env=False, timeout=150) as client:
    while server.poll() is None:
        try:
            client.get("/healthz")
            break
        except httpx.TransportError:
            time.sleep(0.1)
    text = "Staff get 25 days of leave a year."
    record = {"output": text, "atoms": [{"id": "a", "text": text, "original": text}]}
    check = client.post("/v1/checks", params={"wait": 120}, json={"record": record}).json()
    found = client.post("/v1/search", json={"query": "days of leave", "k": 1}).json()
# onnxruntime would report on itself ten seconds after its import.
time.sleep(12)
server.terminate()
print(json.dumps({"check": check, "found": found, "code": server.wait()}))
"""

#: Of the file system only the data may be written to, with a scratch folder.
READ_ONLY = """
mount --bind {data} /mnt
mount -o remount,bind,ro /
mkdir -p /mnt/tmp
export TMPDIR=/mnt/tmp
"""


@needs_namespaces
def test_the_server_checks_and_searches_over_loopback_alone(tmp_path: Path) -> None:
    (tmp_path / "leave.md").write_text("# Leave\n\nStaff get 25 days of leave a year.\n")
    data = tmp_path / "data"
    data.mkdir()
    assert factcheck("index", str(tmp_path / "leave.md"), "--store", str(data / "s")).code == 0
    server = [sys.executable, "-m", "factcheck_local", "serve", "--store", "/mnt/s"]
    server += ["--set", f"llm={SMALL}", "--set", "relation=encoder"]
    line = shlex.join([sys.executable, "-c", ASK, *server])
    log = data / "calls"
    tracer = shlex.join(tracing(log)).replace(str(data), "/mnt")
    done = isolated(
        f"{READ_ONLY.format(data=shlex.quote(str(data)))}\n{tracer} {line}", mounts=True
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["check"]["state"] == "done"
    assert said["check"]["result"]["atoms"][0]["verdict"] == "supported"
    assert "25 days" in said["found"]["passages"][0]["text"]
    assert said["code"] == -signal.SIGTERM
    assert "refused" not in done.stderr
    if tracer:
        assert set(re.findall(r'inet_addr\("([^"]+)"\)', log.read_text())) == {"127.0.0.1"}
        assert "AF_INET6" not in log.read_text()


@needs_namespaces
def test_the_rest_of_the_file_system_is_read_only(tmp_path: Path) -> None:
    """Else the test above shows nothing."""
    script = READ_ONLY.format(data=shlex.quote(str(tmp_path)))
    beside = shlex.quote(str(Path(__file__).parent / "written"))
    assert "Read-only" in isolated(f"{script}\ntouch {beside}", mounts=True).stderr
    assert isolated(f"{script}\ntouch /mnt/written", mounts=True).returncode == 0
    assert (tmp_path / "written").exists()
