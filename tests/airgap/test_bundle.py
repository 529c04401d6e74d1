"""Bundles: there and back, every way in which one may be broken or hostile, and the wheels."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections import namedtuple
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from factcheck_local.cli.models import EXTRAS
from factcheck_local.core.errors import BundleError, ChecksumError, FactcheckError
from factcheck_local.core.installed import Dependency
from factcheck_local.models.add import add_model, add_server
from factcheck_local.models.bundle import export_bundle, import_bundle, unpack, wheels
from factcheck_local.models.bundle.manifest import MANIFEST, README, SCHEMA
from factcheck_local.models.cards import ModelCard, data_directory, find_card, load_cards
from tests.cli.helpers import SMALL, factcheck, refused
from tests.models.helpers import sha256

pytestmark = pytest.mark.long

GGUF = b"GGUF" + bytes(range(256)) * 20


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModelCard:
    """A model of the user's own, in a data directory that is empty otherwise."""
    monkeypatch.setenv("FACTCHECK_HOME", str(tmp_path / "home"))
    (tmp_path / "own.gguf").write_bytes(GGUF)
    return add_model(
        "own", tmp_path / "own.gguf", "llm", chat_format_name="chatml", context_length=2048
    )


@pytest.fixture
def folder(tmp_path: Path, own: ModelCard) -> ModelCard:
    """A model of several files, in folders."""
    files = {"model.safetensors": b"w" * 3000, "config.json": b"{}", "1_Pooling/config.json": b"[]"}
    for name, data in files.items():
        path = tmp_path / "emb" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    assert own.id == "own"
    return add_model("emb", tmp_path / "emb", "embedder")


@pytest.fixture
def bundle(tmp_path: Path, own: ModelCard, folder: ModelCard) -> Path:
    export_bundle([own, folder], tmp_path / "b.tar")
    return tmp_path / "b.tar"


@pytest.fixture
def elsewhere(tmp_path: Path, bundle: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Another machine's data directory, empty."""
    assert bundle.exists()
    monkeypatch.setenv("FACTCHECK_HOME", str(tmp_path / "elsewhere"))
    return tmp_path / "elsewhere"


def members(bundle: Path) -> dict[str, bytes]:
    with tarfile.open(bundle) as tar:
        return {m.name: tar.extractfile(m).read() for m in tar}  # type: ignore[union-attr]


def written(folder: Path) -> dict[Path, tuple[int, int]]:
    """Of every file and folder which it is, and when it was last written to."""
    return {p: (p.stat().st_ino, p.stat().st_mtime_ns) for p in folder.rglob("*")}


def files_below(folder: Path) -> set[str]:
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}


# ---------------------------------------------------------------- there and back


def test_there_and_back(own: ModelCard, folder: ModelCard, bundle: Path, elsewhere: Path) -> None:
    assert "own" not in load_cards()
    cards, digest = import_bundle(bundle)
    assert [card.id for card in cards] == ["own", "emb"]
    for made in (own, folder):
        found = find_card(made.id, made.role)
        found.check()
        assert found.folder == elsewhere / "models" / made.id
        assert (found.sha256, found.options, found.backend) == (
            *(made.sha256, made.options, made.backend),
        )
    assert digest == sha256(members(bundle)[MANIFEST])
    before = written(elsewhere)
    assert import_bundle(bundle) == (tuple(map(find_card, ("own", "emb"))), digest)
    assert written(elsewhere) == before


def test_a_bundle_tells_nothing_of_the_machine_and_is_the_same_again(
    own: ModelCard, bundle: Path, tmp_path: Path
) -> None:
    with tarfile.open(bundle) as tar:
        assert {(m.mtime, m.uid, m.uname, m.mode) for m in tar} == {(0, 0, "", 0o644)}
    assert str(tmp_path).encode() not in bundle.read_bytes()
    first = export_bundle([own], tmp_path / "one.tar")
    assert export_bundle([own], tmp_path / "one.tar") == first


def test_the_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A real model, which this version knows: no card is written."""
    target = tmp_path / "b.tar"
    done = factcheck("models", "export", target, SMALL, "mpnet-l6-nli")
    assert done.code == 0, done.err
    assert done.out.startswith(f"{target}: {SMALL}, 98 MB, manifest sha256 ")
    assert "mpnet-l6-nli: comes with the package, left out" in done.err
    monkeypatch.setenv("FACTCHECK_HOME", str(tmp_path / "elsewhere"))
    back = factcheck("models", "import", target)
    assert back.code == 0, back.err
    assert back.out.splitlines() == [
        f"{SMALL}: here, checked",
        f"{target}: {done.out.rpartition(', ')[2].rstrip()}",
    ]
    find_card(SMALL).check()
    assert not (tmp_path / "elsewhere/cards").exists()


# ------------------------------------------------------------------ interruptions


def test_an_interrupted_import_goes_on_where_it_stopped(bundle: Path, elsewhere: Path) -> None:
    seen = 0

    def stop(count: int) -> None:
        nonlocal seen
        seen += count
        if seen > len(GGUF) + 1000:  # within the second model
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_bundle(bundle, progress=stop)
    there = files_below(elsewhere)
    assert "models/own/own.gguf" in there
    assert not [name for name in there if name.endswith(".partial")]
    assert not (elsewhere / "cards").exists(), "a model that is not whole is not known"
    inode = (elsewhere / "models/own/own.gguf").stat().st_ino
    import_bundle(bundle)
    assert (elsewhere / "models/own/own.gguf").stat().st_ino == inode
    find_card("emb").check()


def test_an_altered_file_that_is_here_is_replaced(bundle: Path, elsewhere: Path) -> None:
    import_bundle(bundle)
    path = elsewhere / "models/own/own.gguf"
    path.write_bytes(b"X" + GGUF[1:])
    import_bundle(bundle)
    assert path.read_bytes() == GGUF


def test_a_failed_export_leaves_the_old_bundle(own: ModelCard, bundle: Path) -> None:
    before, names = bundle.read_bytes(), files_below(bundle.parent)
    (own.folder / "own.gguf").write_bytes(b"X" + GGUF[1:])
    with pytest.raises(ChecksumError):
        export_bundle([own], bundle)

    def stop(_count: int) -> None:
        raise KeyboardInterrupt

    (own.folder / "own.gguf").write_bytes(GGUF)
    with pytest.raises(KeyboardInterrupt):
        export_bundle([own], bundle, progress=stop)
    assert bundle.read_bytes() == before
    assert files_below(bundle.parent) == names


def test_what_cannot_be_exported(own: ModelCard, tmp_path: Path) -> None:
    team = add_server("team", "http://box.example:8080")
    with pytest.raises(BundleError, match="model team is on a server"):
        export_bundle([own, team], tmp_path / "b.tar")
    assert "is not here" in refused("models", "export", tmp_path / "b.tar", "qwen2.5-coder-0.5b")
    assert "cannot be written" in refused("models", "export", tmp_path / "no/b.tar", "own")
    assert not (tmp_path / "b.tar").exists()


def test_no_room(bundle: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _folder: usage(10**9, 0, 8000))
    needed = len(GGUF) + 3000 + 2 + 2
    assert needed > 8000
    with pytest.raises(BundleError, match=r"its models need 0\.0 GB"):
        import_bundle(bundle)
    monkeypatch.setattr(shutil, "disk_usage", lambda _folder: usage(10**9, 0, needed))
    import_bundle(bundle)
    monkeypatch.setattr(shutil, "disk_usage", lambda _folder: usage(10**9, 0, 8000))
    with pytest.raises(BundleError, match="are free there"):
        export_bundle([find_card("own"), find_card("emb")], elsewhere / "c.tar")


# ------------------------------------------------------------- broken and hostile


def packed(path: Path, entries: list[tuple[str, bytes] | tarfile.TarInfo]) -> Path:
    with tarfile.open(path, "w") as tar:
        for entry in entries:
            if isinstance(entry, tarfile.TarInfo):
                tar.addfile(entry)
            else:
                info = tarfile.TarInfo(entry[0])
                info.size = len(entry[1])
                tar.addfile(info, io.BytesIO(entry[1]))
    return path


def link(name: str, kind: bytes, target: str = "/etc/passwd") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def described(name: str, **headers: str) -> tarfile.TarInfo:
    """An empty file with headers in the form of PAX."""
    info = tarfile.TarInfo(name)
    info.pax_headers = {f"GNU.sparse.{key}": given for key, given in headers.items()}
    return info


def value(path: str = "m.gguf", **changes: Any) -> dict[str, Any]:  # noqa: ANN401
    """A manifest of one model with one file."""
    card = {
        "id": "tiny",
        "title": "Tiny",
        "role": "llm",
        "licence": "none",
        "backend": "llama_cpp",
        "files": [{"path": path, "size": 4, "sha256": sha256(b"GGUF")}],
        "options": {"context_length": 512, "chat_format": "chatml"},
    }
    return {"schema": SCHEMA, "version": "0", "models": [card | changes], "others": []}


def manifest(path: str = "m.gguf", **changes: Any) -> tuple[str, bytes]:  # noqa: ANN401
    return MANIFEST, json.dumps(value(path, **changes)).encode()


FILE = ("models/tiny/m.gguf", b"GGUF")
OTHER = {"path": "../x", "size": 1, "sha256": "0" * 64}
TWICE = value()["models"] * 2

HOSTILE: dict[str, list[tuple[str, bytes] | tarfile.TarInfo]] = {
    "nothing": [],
    "no manifest": [FILE],
    "the manifest last": [FILE, manifest()],
    "a manifest that is a link": [link(MANIFEST, tarfile.SYMTYPE), FILE],
    "a manifest that is not JSON": [(MANIFEST, b"{"), FILE],
    "a manifest that is not UTF-8": [(MANIFEST, b"\xff{}"), FILE],
    "a manifest that is a list": [(MANIFEST, b"[]"), FILE],
    "a manifest that is deep": [(MANIFEST, b"[" * 100_000), FILE],
    "a manifest with half a surrogate": [manifest(title="\ud800"), FILE],
    "another schema": [(MANIFEST, json.dumps(value() | {"schema": "x/2"}).encode()), FILE],
    "another file of that name": [manifest(), ("models/tiny/m.gguf", b"GGUX")],
    "a longer file": [manifest(), ("models/tiny/m.gguf", b"GGUFF")],
    "a missing file": [manifest()],
    "a file twice": [manifest(), FILE, FILE],
    "a file that nobody named": [manifest(), FILE, ("x", b"")],
    "a file above": [manifest(), ("../../x", b""), FILE],
    "an absolute file": [manifest(), ("/tmp/x", b""), FILE],
    "a folder": [manifest(), link("models/tiny", tarfile.DIRTYPE), FILE],
    "a symbolic link": [manifest(), link(FILE[0], tarfile.SYMTYPE)],
    "a hard link": [manifest(), link(FILE[0], tarfile.LNKTYPE)],
    "a pipe": [manifest(), link(FILE[0], tarfile.FIFOTYPE)],
    "a link to go through": [manifest(), link("models/tiny", tarfile.SYMTYPE, "/tmp"), FILE],
    "a card with a file above": [manifest("../../../x"), ("models/tiny/../../../x", b"GGUF")],
    "a card with an absolute file": [manifest("/tmp/x"), ("models/tiny//tmp/x", b"GGUF")],
    "a card with a drive": [manifest("C:x"), ("models/tiny/C:x", b"GGUF")],
    "a card with backslashes": [manifest("..\\x"), ("models/tiny/..\\x", b"GGUF")],
    "a card with a path spelled otherwise": [manifest("./m.gguf"), FILE],
    "an id with a path": [manifest(id="../tiny"), ("models/../tiny/m.gguf", b"GGUF")],
    "an id that is a number": [manifest(id=3), ("models/3/m.gguf", b"GGUF")],
    "a card with a place": [manifest(location="/etc"), FILE],
    "a card of the package": [manifest(shipped=True), FILE],
    "a card with sources": [manifest(sources=[]), FILE],
    "a server": [manifest(backend="openai_server", files=[], options={"url": "http://x/v1"})],
    "a licence that steers a terminal": [manifest(licence="\x1b]0;x\x07"), FILE],
    "a title that is a list": [manifest(title=["Tiny"]), FILE],
    "a note of two lines": [manifest(note="a\nb"), FILE],
    "a role that is none": [manifest(role="boss"), FILE],
    "an adapter above": [
        manifest(adapters={"relate-v2": {"file": "../../x.gguf", "sha256": "0" * 64}}),
        FILE,
    ],
    "a sparse file without numbers": [manifest(), described(FILE[0], map="a,b")],
    "a size that is none": [manifest(), described(FILE[0], size="abc")],
    "a sparse manifest without numbers": [described(MANIFEST, map="a,b"), FILE],
    "another file above": [(MANIFEST, json.dumps(value() | {"others": [OTHER]}).encode()), FILE],
    "a model twice": [(MANIFEST, json.dumps(value() | {"models": TWICE}).encode()), FILE],
    "the name of another model": [manifest(id=SMALL), (f"models/{SMALL}/m.gguf", b"GGUF")],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_bundles(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line each; nothing outside, and in the folder nothing that is not right."""
    home = tmp_path / "machine/home"
    monkeypatch.setenv("FACTCHECK_HOME", str(home))
    path = packed(tmp_path / "b.tar", HOSTILE[name])
    line = refused("models", "import", path)
    assert line.startswith(f"{path}: ")
    assert files_below(tmp_path) - {"b.tar"} <= {"machine/home/models/tiny/m.gguf"}
    good = home / "models/tiny/m.gguf"
    assert not good.exists() or good.read_bytes() == b"GGUF"
    assert "tiny" not in load_cards()


def test_the_same_bundle_without_hostility(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FACTCHECK_HOME", str(tmp_path / "home"))
    import_bundle(packed(tmp_path / "b.tar", [manifest(), FILE]))
    find_card("tiny").check()


def test_what_is_no_tar(tmp_path: Path, bundle: Path) -> None:
    packed_small = tmp_path / "b.tar.gz"
    with tarfile.open(packed_small, "w:gz") as tar:
        tar.add(bundle, MANIFEST)
    (tmp_path / "text").write_text("text " * 500)
    (tmp_path / "empty").touch()
    for path in (packed_small, tmp_path / "text", tmp_path / "empty"):
        assert refused("models", "import", path).startswith(f"{path}: ")


def test_a_long_manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpack, "_MOST_MANIFEST", 100)
    path = packed(tmp_path / "b.tar", [manifest(), FILE])
    with pytest.raises(BundleError, match=r"manifest\.json has \d+ bytes"):
        import_bundle(path)


def test_cut_off_anywhere(bundle: Path, elsewhere: Path, tmp_path: Path) -> None:
    data = bundle.read_bytes()
    end = len(data.rstrip(b"\0"))
    cut = tmp_path / "cut.tar"
    for size in [*range(0, end, 397), end - 1]:
        cut.write_bytes(data[:size])
        with pytest.raises(FactcheckError):
            import_bundle(cut)
        assert not (elsewhere / "cards").exists()
    import_bundle(bundle)
    find_card("own").check()
    find_card("emb").check()


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_an_altered_byte_is_refused_or_harmless(
    bundle: Path, elsewhere: Path, tmp_path: Path, data: st.DataObject
) -> None:
    shutil.rmtree(elsewhere, ignore_errors=True)
    content = bytearray(bundle.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    altered = tmp_path / "altered.tar"
    altered.write_bytes(content)
    try:
        import_bundle(altered)
    except FactcheckError:
        assert not (elsewhere / "cards").exists()
        return
    # Padding, or a title: the weights are what they were.
    assert (elsewhere / "models/own/own.gguf").read_bytes() == GGUF


# ------------------------------------------------------------------------- wheels


def make_wheel(folder: Path, name: str, code: str, needs: str = "") -> None:
    """A wheel of one module."""
    info = f"{name}-1.0.dist-info"
    head = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
    contents = {
        f"{name}.py": code,
        f"{info}/METADATA": head + (f"Requires-Dist: {needs}\n" if needs else ""),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    contents[f"{info}/RECORD"] = "".join(f"{n},,\n" for n in [*contents, f"{info}/RECORD"])
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as archive:
        for path, text in contents.items():
            archive.writestr(path, text)


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels in place of an index: an application, and a library that it needs."""
    folder = tmp_path / "index"
    folder.mkdir()
    make_wheel(folder, "tiny_app", "import tiny_lib\nprint(tiny_lib.WORD)\n", "tiny_lib")
    make_wheel(folder, "tiny_lib", "WORD = 'well'\n")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    needed = (Dependency("tiny-lib", ">=1", "1.0", "tiny-app"),)
    monkeypatch.setattr(wheels, "dependencies", lambda **_: needed)
    monkeypatch.setattr(wheels, "own_requirement", lambda: "tiny-app==1.0")
    return folder


def run(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A shell script where there is no index, and only what is in the folder."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PIP_")}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["sh", "-ec", script],
        cwd=folder,
        env=environment | {"PATH": path, "PIP_CONFIG_FILE": os.devnull},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.usefixtures("index")
def test_an_empty_environment_is_filled_from_a_bundle(own: ModelCard, tmp_path: Path) -> None:
    """By the commands of its own README, without an index; an altered wheel is refused."""
    stick = tmp_path / "stick"
    stick.mkdir()
    _, digest = export_bundle([own], stick / "b.tar", with_wheels=True)
    with tarfile.open(stick / "b.tar") as tar:
        readme = tar.extractfile(README)
        assert readme is not None
        lines = readme.read().decode().splitlines()
    steps = "\n".join(
        line for line in lines if line.startswith("  ") and "factcheck models" not in line
    )
    assert "--no-index" in steps
    assert "factcheck\\Scripts\\ instead of" in "\n".join(lines)
    done = run(steps + "\nfactcheck/bin/python -m tiny_app", stick)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(f"{digest}  -\nwell\n")

    wheel = stick / "wheels/tiny_lib-1.0-py3-none-any.whl"
    make_wheel(wheel.parent, "tiny_lib", "WORD = 'not well'\n")
    install = next(line for line in steps.splitlines() if "--require-hashes" in line)
    done = run(f"factcheck/bin/pip uninstall -qy tiny_lib tiny_app\n{install}", stick)
    assert done.returncode != 0
    assert "DO NOT MATCH THE HASHES" in done.stderr


@pytest.mark.usefixtures("index")
def test_an_import_passes_over_wheels(
    own: ModelCard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export_bundle([own], tmp_path / "b.tar", with_wheels=True)
    assert {"wheels/tiny_app-1.0-py3-none-any.whl", "requirements.txt"} <= set(
        members(tmp_path / "b.tar")
    )
    monkeypatch.setenv("FACTCHECK_HOME", str(tmp_path / "elsewhere"))
    import_bundle(tmp_path / "b.tar")
    assert files_below(data_directory()) == {"cards/own.toml", "models/own/own.gguf"}


def test_a_wheel_that_cannot_be_had(own: ModelCard, index: Path, tmp_path: Path) -> None:
    (index / "tiny_lib-1.0-py3-none-any.whl").unlink()
    line = refused("models", "export", tmp_path / "b.tar", own.id, "--with-wheels")
    assert "tiny-lib==1.0" in line
    assert not (tmp_path / "b.tar").exists()


def test_what_an_extra_needs_comes_along_where_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(wheels, "pip", lambda *arguments: asked.extend(arguments))
    wheels.collect_wheels(tmp_path)
    assert not any(one.startswith(("fastapi", "starlette")) for one in asked)
    wheels.collect_wheels(tmp_path, ["serve"])
    names = {one.partition("==")[0] for one in asked}
    assert {"fastapi", "starlette", "uvicorn", "prometheus-client", "chromadb"} <= names
    assert "pytest" not in names
    assert {*EXTRAS} <= {*(metadata.metadata("factcheck-local").get_all("Provides-Extra") or ())}
    line = refused("models", "export", tmp_path / "b.tar", "--extra", "mcp")
    assert "--extra goes with --with-wheels" in line


def test_what_is_missing_here_cannot_be_carried(
    own: ModelCard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed = (Dependency("uvw", ">=1", None, "xyz"),)
    monkeypatch.setattr(wheels, "dependencies", lambda **_: needed)
    line = refused("models", "export", tmp_path / "b.tar", own.id, "--with-wheels")
    assert line == "xyz needs uvw>=1, nothing is installed (try: factcheck doctor)"


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        (lambda wheel: json.dumps({"url": wheel.as_uri(), "archive_info": {}}), "{wheel}"),
        (lambda _wheel: '{"url": "https://box.example/x.whl"}', "factcheck-local==0.1.0"),
        (lambda _wheel: None, "factcheck-local==0.1.0"),
    ],
)
def test_where_the_package_itself_is_from(
    origin: Callable[[Path], str | None],
    expected: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert wheels.own_requirement() == str(Path(__file__).resolve().parents[2])
    monkeypatch.setattr(wheels, "source_tree", lambda: None)
    wheel = tmp_path / "a b.whl"
    wheel.touch()

    class Installed:
        def read_text(self, name: str) -> str | None:
            assert name == "direct_url.json"
            return origin(wheel)

    monkeypatch.setattr("importlib.metadata.distribution", lambda _name: Installed())
    assert wheels.own_requirement() == expected.format(wheel=wheel)
