"""The guard on what this process may reach: every way out, what is excepted, the commands."""

from __future__ import annotations

import _socket
import asyncio
import http.client
import importlib.util
import ipaddress
import os
import re
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from factcheck_local.cli.common import read_input
from factcheck_local.core import egress
from factcheck_local.core.errors import EgressError, StoreError
from factcheck_local.indexer import chroma, reader
from factcheck_local.indexer.address import ServerAddress
from factcheck_local.indexer.chroma import ChromaServer
from factcheck_local.models.offline import go_offline
from factcheck_local.models.openai_server.client import ServerClient
from factcheck_local.models.openai_server.options import ServerOptions
from tests.cli.helpers import factcheck, refused

#: Of the blocks that are reserved for documentation: nobody has them.
FAR, FAR6, NAME = "192.0.2.7", "2001:db8::7", "box.example"


@pytest.fixture(autouse=True)
def guarded() -> None:
    egress.guard()


def udp() -> socket.socket:
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM)


def raw_connect() -> None:
    """Past the methods of ``socket.socket``: only the audit hook is left."""
    _socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect((FAR, 9))


def raw_send() -> None:
    _socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", (FAR, 9))


async def opened() -> None:
    await asyncio.open_connection(NAME, 443)


ATTEMPTS: dict[str, tuple[Callable[[], object], str]] = {
    "create_connection": (lambda: socket.create_connection((FAR, 9)), f"{FAR}:9"),
    "connect": (lambda: socket.socket().connect((FAR, 9)), f"{FAR}:9"),
    "connect to a name": (lambda: socket.socket().connect((NAME, 9)), f"{NAME}:9"),
    "connect_ex": (lambda: socket.socket().connect_ex((NAME, 9)), f"{NAME}:9"),
    "connect over IPv6": (
        lambda: socket.socket(socket.AF_INET6).connect((FAR6, 9, 0, 0)),
        f"[{FAR6}]:9",
    ),
    "connect over mapped IPv4": (
        lambda: socket.socket(socket.AF_INET6).connect((f"::ffff:{FAR}", 9)),
        f"[::ffff:{FAR}]:9",
    ),
    "connect to any": (lambda: socket.socket().connect(("0.0.0.0", 9)), "0.0.0.0:9"),
    "connect to a short form": (lambda: socket.socket().connect(("127.1", 9)), "127.1:9"),
    "sendto": (lambda: udp().sendto(b"x", (FAR, 9)), f"{FAR}:9"),
    "sendto with flags": (lambda: udp().sendto(b"x", 0, (NAME, 9)), f"{NAME}:9"),
    "sendmsg": (lambda: udp().sendmsg([b"x"], [], 0, (NAME, 9)), f"{NAME}:9"),
    "listen to all": (lambda: socket.socket().bind(("", 0)), ":0"),
    "packets": (
        lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW).bind((0, 0)),
        "AF_NETLINK",
    ),
    "getaddrinfo": (lambda: socket.getaddrinfo(NAME, 443), f"{NAME}:443"),
    "getaddrinfo of bytes": (lambda: socket.getaddrinfo(NAME.encode(), 443), f"{NAME}:443"),
    "gethostbyname": (lambda: socket.gethostbyname(NAME), NAME),
    "gethostbyname_ex": (lambda: socket.gethostbyname_ex(NAME), NAME),
    "gethostbyaddr": (lambda: socket.gethostbyaddr(FAR), FAR),
    "getnameinfo": (lambda: socket.getnameinfo((FAR, 9), 0), f"{FAR}:9"),
    "beneath the socket module, connect": (raw_connect, f"{FAR}:9"),
    "beneath the socket module, sendto": (raw_send, f"{FAR}:9"),
    "httpx": (lambda: httpx.get(f"https://{NAME}", trust_env=False), f"{NAME}:443"),
    "urllib": (lambda: urllib.request.urlopen(f"http://{NAME}"), f"{NAME}:80"),
    "http.client": (lambda: http.client.HTTPSConnection(FAR).connect(), f"{FAR}:443"),
    "asyncio": (lambda: asyncio.run(opened()), f"{NAME}:443"),
}


@pytest.mark.parametrize("name", ATTEMPTS)
def test_every_way_out_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(variable, raising=False)
        monkeypatch.delenv(variable.upper(), raising=False)
    attempt, address = ATTEMPTS[name]
    before = len(egress.refusals())
    with pytest.raises(EgressError) as found:
        attempt()
    assert str(found.value).startswith(f"{address}{'' if name != 'packets' else ' '}")
    assert "refused, nobody named this address" in str(found.value)
    assert found.value.hint is not None
    assert egress.refusals()[before].startswith(address)


@given(st.ip_addresses(), st.integers(1, 65535))
@example(ipaddress.ip_address("::ffff:127.0.0.0"), 1)
def test_an_address_is_refused_unless_it_is_loopback(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address, port: int
) -> None:
    egress.guard()
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    # ::ffff:127.0.0.1 reaches what 127.0.0.1 does; Python 3.13 says so, too.
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        if (mapped or address).is_loopback:
            socket.getaddrinfo(str(address), port)
        else:
            with pytest.raises(EgressError, match="nobody named"):
                sock.connect((str(address), port))


# -------------------------------------------------------------------- exceptions


@pytest.fixture
def listening() -> Iterator[int]:
    """The port of a server on this machine that takes connections."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server.getsockname()[1]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", b"127.0.0.1"])
def test_this_machine_may_be_reached(listening: int, host: Any) -> None:  # noqa: ANN401
    with socket.create_connection((host, listening)) as sock:
        assert sock.getpeername()[1] == listening
    # With a point at its end it is looked up in DNS, as names below it may be.
    for name in ("localhost.", f"{NAME}.localhost"):
        with pytest.raises(EgressError):
            socket.create_connection((name, listening))


def test_unix_sockets_may_be_used(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind(str(tmp_path / "s"))
        server.listen()
        client.connect(str(tmp_path / "s"))
    one, other = socket.socketpair()
    one.sendmsg([b"x"])
    assert other.recv(1) == b"x"


#: Listens on all interfaces, which the guard of this process would refuse.
SERVER = """
import socket
with socket.socket() as server:
    server.bind(("0.0.0.0", 0))
    server.listen()
    print(server.getsockname()[1], flush=True)
    while True:
        server.accept()
"""


def own_address() -> str | None:
    """An address of this machine that is not loopback."""
    routes = Path("/proc/net/fib_trie")
    text = routes.read_text() if routes.exists() else ""
    found = re.findall(r"-- ([0-9.]+)\n +/32 host LOCAL", text)
    return next((a for a in found if not ipaddress.ip_address(a).is_loopback), None)


#: Connects in a process of its own, where every name stands for the address.
CLIENT = """
import socket, sys
address, port = sys.argv[1], int(sys.argv[2])
socket.getaddrinfo = lambda _host, port, *_rest, **_named: [
    (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))
]
from factcheck_local.core import egress
egress.guard()
def reached(host, port):
    try:
        socket.create_connection((host, port)).close()
    except egress.EgressError:
        return False
    return True
assert not reached("box.example", port)
egress.allow("BOX.example", port)
assert not reached(address, port)  # it could be anybody's
assert reached("box.example", port)
assert reached(address, port)
assert not reached("box.example", port + 1)
assert not reached("other.example", port + 2)
egress.allow(address, port + 3)
try:
    reached(address, port + 3)
except ConnectionRefusedError:
    print("well")
"""


def test_a_host_that_is_named_is_reached_by_its_name_and_addresses_at_its_port() -> None:
    address = own_address()
    if address is None:
        pytest.skip("the machine has no address but loopback")
    with subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True) as far:
        assert far.stdout is not None
        port = far.stdout.readline().strip()
        command = [sys.executable, "-c", CLIENT, address, port]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        far.kill()
    assert (done.stdout, done.stderr) == ("well\n", "")


def test_the_servers_of_stores_and_models_are_named_by_their_addresses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[ServerAddress] = []

    def ask(address: ServerAddress, _certificates: object) -> None:
        asked.append(address)
        raise StoreError("nobody there")

    monkeypatch.setattr(chroma, "_check_version", ask)
    with pytest.raises(StoreError):
        ChromaServer(ServerAddress.parse("http://store.example:8000"))
    assert len(asked) == 1
    ServerClient("team", ServerOptions("https://llm.example/v1")).close()
    ServerClient("team", ServerOptions("http://[2001:db8::8]:8080/v1")).close()
    for host, port in (("store.example", 8000), ("llm.example", 443), ("2001:db8::8", 8080)):
        assert egress._rule.may_reach(host, port)
        assert not egress._rule.may_reach(host, port + 1)


def test_lifted_as_long_as_it_lasts_and_in_every_thread() -> None:
    found: list[object] = []
    with egress.lifted(), egress.lifted():
        thread = threading.Thread(target=lambda: found.append(socket.getaddrinfo(FAR, 443)))
        thread.start()
        thread.join()
    assert len(found) == 1
    with pytest.raises(EgressError):
        socket.getaddrinfo(FAR, 443)


# ------------------------------------------------------------- the reader's process


def in_reader(attempt: Callable[[], object]) -> object:
    found: object = reader._process(reader.ReadLimits()).submit(attempt).result()
    return found


def test_nothing_may_be_reached_while_a_file_is_read(listening: int, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        server.listen()
        path = str(tmp_path / "s")

        def near() -> None:
            import socket

            socket.create_connection(("127.0.0.1", listening))

        def unix() -> None:
            import socket

            socket.socket(socket.AF_UNIX).connect(path)

        def far() -> None:
            import socket

            from factcheck_local.core import egress

            with egress.lifted():
                socket.getaddrinfo("box.example", 443)

        for attempt, address in (
            (near, f"127.0.0.1:{listening}"),
            (unix, "AF_UNIX"),
            (far, "box.example:443"),
        ):
            with pytest.raises(EgressError, match="nothing may be reached while a file is read"):
                in_reader(attempt)
            with pytest.raises(EgressError, match=address):
                in_reader(attempt)
    assert in_reader(lambda: "alive") == "alive"


# --------------------------------------------------------------------- the commands


def test_importing_the_package_guards_nothing() -> None:
    """A program that uses the Python API decides for itself."""
    code = (
        "from factcheck_local.core import egress; from factcheck_local.pipeline import checker; "
        "assert not egress.is_on();"
        "import socket; socket.getaddrinfo('192.0.2.7', 443);"
        "egress.guard(); assert egress.is_on()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def planted(monkeypatch: pytest.MonkeyPatch, violation: Callable[[], object]) -> None:
    """Have ``factcheck infer`` do something else beside."""

    def spy(name: str) -> tuple[bytes, str]:
        violation()
        return read_input(name)

    monkeypatch.setattr("factcheck_local.cli.infer.read_input", spy)


GRAPH = b'{"nodes": [{"id": "a", "type": "atom", "probability": 0.5}], "edges": []}'


def test_a_command_that_would_reach_out_ends_with_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    assert factcheck("infer", "-", stdin=GRAPH).code == 0
    planted(monkeypatch, lambda: socket.create_connection((NAME, 443)))
    line = refused("infer", "-", stdin=GRAPH)
    assert line.startswith(f"{NAME}:443: refused, nobody named this address (try: name the server")


def test_an_attempt_that_a_library_hushes_up_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def hushed() -> None:
        try:
            socket.create_connection((NAME, 443))
        except Exception:  # as telemetry does
            return

    planted(monkeypatch, hushed)
    done = factcheck("infer", "-", stdin=GRAPH)
    assert done.code == 0
    assert done.err == f"factcheck: {NAME}:443: refused, something tried to reach it\n"


def test_onnxruntime_does_not_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its compiled code does so from its import on; the installed build knows this switch."""
    monkeypatch.delenv("ORT_DISABLE_TELEMETRY", raising=False)
    go_offline()
    assert os.environ["ORT_DISABLE_TELEMETRY"] == "1"
    found = importlib.util.find_spec("onnxruntime")
    assert found is not None
    assert found.origin is not None
    built = [path.read_bytes() for path in Path(found.origin).parent.glob("capi/*pybind11_state*")]
    reports = any(b"events.data.microsoft.com" in one for one in built)
    assert not reports or any(b"ORT_DISABLE_TELEMETRY" in one for one in built)
