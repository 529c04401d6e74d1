"""The commands over a store on a server: real Chroma, MiniLM and the package's own encoder."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import uuid
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from factcheck_local.indexer.address import WRITER, ServerAddress
from factcheck_local.indexer.chroma import ChromaServer
from factcheck_local.indexer.server import machine_folder
from factcheck_local.models.cards import data_directory

from .helpers import SMALL, factcheck, refused

if TYPE_CHECKING:
    from tests.conftest import RunningChroma


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/leave.md").write_text("# Leave\n\nStaff get 25 days of leave a year.")
    (tmp_path / "docs/office.txt").write_text("The office in Kiel opens at nine on weekdays.")
    return tmp_path / "docs"


@pytest.fixture
def url(chroma: RunningChroma, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of a store that is not there yet, on a machine that has the models alone."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home/models").symlink_to(data_directory() / "models")
    monkeypatch.setenv("FACTCHECK_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return f"{chroma.url}/{uuid.uuid4().hex[:12]}"


def lock(url: str) -> None:
    """Leave the lock of a run that has died on another machine."""
    address = ServerAddress.parse(url)
    with closing(ChromaServer(address)) as chroma:
        chroma.make(
            address.name + WRITER,
            {"machine": "x", "run": "y", "host": "box", "process": 7, "since": "2024-05-01"},
        )


def test_from_documents_to_a_report(url: str, docs: Path, tmp_path: Path) -> None:
    at = ("--store", url)
    done = factcheck("index", docs, *at)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[-1] == (
        f"2 indexed, 0 unchanged, 0 removed, 0 skipped, 0 failed; 2 passages in {url}"
    )
    again = json.loads(factcheck("index", docs, *at, "--json").out)
    assert (len(again["unchanged"]), again["store"]) == (2, url)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["docs", "home"]

    status = json.loads(factcheck("status", *at, "--json").out)
    assert (status["store"], status["passages"]) == (url, 2)
    assert [known["source"] for known in status["sources"]] == ["leave.md", "office.txt"]

    for retrieval in ("dense", "lexical", "fused"):
        done = factcheck("search", "leave", "-k", 1, "--retrieval", retrieval, *at, "--json")
        assert [hit["source"] for hit in json.loads(done.out)] == ["leave.md"], done.err

    # With its atoms given, no LLM is loaded.
    record = tmp_path / "record.json"
    record.write_text(
        json.dumps(
            {"output": "Leave is 25 days.", "atoms": [{"id": "a1", "text": "Leave is 25 days."}]}
        )
    )
    encoder = ("--relation", "encoder")
    verified = factcheck("verify", record, *at, *encoder, "--llm", SMALL, "--format", "json")
    assert (verified.code, verified.err) == (0, "")
    run = json.loads(verified.out)
    assert run["run"]["index"] == {
        "store": url,
        "collection": url.rpartition("/")[2],
        "chunks": 2,
        "digest": status["digest"],
    }
    assert [model["role"] for model in run["run"]["models"]] == ["relation", "embedder"]
    ((link, *_),) = [atom["evidence"] for atom in run["atoms"]]
    assert link["quote"]["text"] == "Staff get 25 days of leave a year."

    folder = machine_folder(ServerAddress.parse(url))
    assert folder.is_relative_to(tmp_path / "home")
    assert (folder / "pair-scores.sqlite").is_file()
    reset = json.loads(factcheck("calibrate", "--reset", *encoder, *at, "--json").out)
    assert reset["removed"] is False
    pair = json.dumps({"premise": "Leave is 25 days.", "hypothesis": "Leave is 25 days."})
    assert factcheck("relate", "-", *encoder, *at, stdin=pair.encode()).code == 0


def test_a_calibration_stays_on_its_machine(url: str, docs: Path) -> None:
    factcheck("index", docs, "--store", url)
    labels = [
        {"premise": "Leave is 25 days.", "hypothesis": f"Leave is {n} days.", "label": label}
        for n, label in [(25, "entailment"), (12, "contradiction")] * 15
    ]
    data = "\n".join(map(json.dumps, labels)).encode()
    at = ("--relation", "encoder", "--store", url)
    done = factcheck("calibrate", "-", *at, stdin=data)
    kept = machine_folder(ServerAddress.parse(url)) / "calibration.json"
    assert done.out.splitlines()[-1].endswith(f" in {kept}"), done.err
    assert "calibration of mpnet-l6-nli: 30 labels" in factcheck("status", "--store", url).out
    factcheck("index", docs, "--store", url, "--rebuild")
    assert kept.is_file()


def test_rebuild(url: str, docs: Path) -> None:
    factcheck("index", docs, "--store", url)
    (docs / "office.txt").unlink()
    done = factcheck("index", docs, "--store", url, "--rebuild")
    assert done.out.startswith("1 indexed, 0 unchanged, 0 removed"), done.err


def test_a_lock_that_was_left(url: str, docs: Path) -> None:
    factcheck("index", docs, "--store", url)
    lock(url)
    holder = "process 7 on box, since 2024-05-01"
    said = f"{url}: another run is writing to it: {holder} (try: factcheck index --unlock PATH..."
    assert refused("index", docs, "--store", url).startswith(said)
    assert refused("index", docs, "--store", url, "--rebuild").startswith(said)
    assert factcheck("status", "--store", url).code == 0
    done = factcheck("index", docs, "--store", url, "--unlock")
    assert (done.code, done.err) == (0, f"factcheck: unlocked, it was held by {holder}\n")
    done = factcheck("index", docs, "--store", url, "--unlock")
    assert (done.code, done.err) == (0, "")
    assert "--unlock is for a store on a server" in refused(
        "index", docs, "--store", docs.parent / "s", "--unlock"
    )


@pytest.mark.parametrize(
    "text", ["ftp://box:8000", "http://box", "box:8000", "http://a:secret@box:8000", "http:/box"]
)
@pytest.mark.parametrize(
    "command", [("index", "."), ("status",), ("search", "x"), ("verify", "-"), ("relate", "-")]
)
def test_what_is_no_address_is_a_wrong_usage(command: tuple[str, ...], text: str) -> None:
    line = refused(*command, "--store", text)
    assert line.startswith("Invalid value for '--store': expected an address such as http://")
    assert "secret" not in line


def test_a_server_that_does_not_answer(docs: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        for command in (
            ("index", docs),
            ("status",),
            ("search", "x"),
            ("verify", docs / "leave.md"),
        ):
            assert refused(*command, "--store", url).startswith(f"{url}: does not answer: ")


def test_no_command_needs_chroma_to_say_what_it_does() -> None:
    code = "import sys; from factcheck_local.cli import index, status; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "chromadb" not in done.stdout.split()
