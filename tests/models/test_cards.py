"""Cards: the shipped ones, the user's own, and that nothing is loaded against its hash."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import factcheck_local.models as package
from factcheck_local.core.errors import ChecksumError, ModelError
from factcheck_local.models.add import add_model
from factcheck_local.models.cards import (
    ROLES,
    HubSource,
    ModelCard,
    PackageSource,
    data_directory,
    find_card,
    load_cards,
    read_card,
)
from factcheck_local.models.chat_format import CHAT_FORMATS, chat_format
from factcheck_local.models.registry import BACKENDS, DEFAULT_EMBEDDER, DEFAULT_LLM, load_model
from factcheck_local.pipeline.relation.load import scorer_key

from .helpers import card, sha256, write

SHIPPED = sorted((Path(package.__path__[0]) / "cards").glob("*.toml"))

GOOD = """
id = "own"
title = "Own"
role = "llm"
licence = "none"
backend = "llama_cpp"

[options]
context_length = 512
chat_format = "chatml"

[[files]]
path = "model.gguf"
size = 4
sha256 = "{hash}"
""".format(hash=sha256(b"GGUF"))


# ------------------------------------------------------------------- shipped


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_card(path: Path) -> None:
    found = read_card(path)
    assert found.id == path.stem
    assert found.role in ROLES
    assert found.backend in BACKENDS
    # What comes with the package needs no source.
    assert bool(found.sources) != (found.location is not None)
    for file in found.files:
        assert re.fullmatch("[0-9a-f]{64}", file.sha256)
        assert file.size > 0
    if found.role == "llm":
        assert found.options["chat_format"] in CHAT_FORMATS


def test_shipped_parts_join_to_their_files() -> None:
    joined = 0
    for found in map(read_card, SHIPPED):
        for source in found.sources:
            if not isinstance(source, PackageSource):
                continue
            for file in found.files:
                parts = [part for part in source.parts if part.file == file.path]
                assert sum(part.size for part in parts) == file.size
                if len(parts) == 1:
                    assert parts[0].sha256 == file.sha256
                joined += 1
            for part in source.parts:
                assert re.fullmatch("[0-9a-f]{64}", part.sha256)
                assert re.fullmatch(r"[a-z0-9-]+==[0-9.]+", part.package), "pinned to a version"
    assert joined >= len(SHIPPED)


def test_defaults_are_shipped(home: Path) -> None:
    assert data_directory() == home
    assert find_card(DEFAULT_LLM, "llm").folder == home / "models" / DEFAULT_LLM
    assert find_card(DEFAULT_EMBEDDER, "embedder").role == "embedder"
    assert set(load_cards()) == {path.stem for path in SHIPPED}


# ------------------------------------------------------------------- reading


def test_unknown_model_names_the_known(home: Path) -> None:
    assert not list(home.iterdir())
    with pytest.raises(
        ModelError, match=r"unknown model 'gpt': known are .*smollm2-135m"
    ) as caught:
        load_model("gpt")
    assert caught.value.hint == "factcheck models list"


def test_wrong_role() -> None:
    with pytest.raises(ModelError, match="model smollm2-135m is of role llm; embedder is needed"):
        load_model("smollm2-135m", "embedder")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("licence", "licens"), "'licence'"),
        (('id = "own"', 'id = "own'), "line 2"),
        (('id = "own"', 'id = "../own"'), r"id '../own'"),
        (('id = "own"', "id = 3"), "id 3"),
        (('role = "llm"', 'role = "judge"'), "one of llm, embedder, encoder"),
        (("[[files]]", "[[filed]]"), "files or a server"),
        (("size = 4", ""), "size"),
        (("size = 4", "size = -4"), "expected its size in bytes, got -4"),
        (("size = 4", 'size = "4"'), "expected its size in bytes, got '4'"),
        (("size = 4", "size = 4\nmode = 1"), "mode"),
        (("model.gguf", "/etc/passwd"), "below the model's folder"),
        (("model.gguf", "../model.gguf"), "below the model's folder"),
        ((sha256(b"GGUF"), "abc"), "sha256 has to be 64 lower-case hex digits"),
        ((sha256(b"GGUF"), sha256(b"GGUF").upper()), "sha256 has to be"),
        (("context_length = 512", ""), "option context_length .* expected int"),
        (("context_length = 512", 'context_length = "512"'), "option context_length"),
        (('chat_format = "chatml"', ""), "option chat_format .* expected str"),
        (('licence = "none"', "licence = []"), r"licence \[\]: expected one line of text"),
        (('licence = "none"', r'licence = "\u001b[2J"'), r"licence '\\x1b\[2J': expected one line"),
        (('title = "Own"', r'title = "O\u202ewn"'), r"title 'O\\u202ewn': expected one line"),
        (('title = "Own"', 'title = "Own"\nnote = "a\\nb"'), r"note 'a\\nb': expected one line"),
        (('backend = "llama_cpp"', "backend = {}"), r"backend \{\}: expected one line of text"),
        (("[options]", "options = 3\n[other]"), "options: expected a table, got 3"),
        (('id = "own"', 'id = "own"\nadapters = 3'), "adapters: expected a table, got 3"),
        (
            ('id = "own"', 'id = "own"\ncalibration = []'),
            r"calibration: expected a table, got \[\]",
        ),
        (("[options]", "[options]\nmax_tokens = []"), "option max_tokens .* expected int"),
        (('path = "model.gguf"', "path = 3"), "file 3: expected a path"),
        (
            ("[[files]]", '[adapters]\nr = { file = "../x", sha256 = "0" }\n[[files]]'),
            r"adapter '\.\./x': expected a path below",
        ),
        (
            ("[[files]]", '[adapters]\nr = { file = "/x", sha256 = "0" }\n[[files]]'),
            "adapter '/x': expected a path below",
        ),
    ],
)
def test_malformed_card(home: Path, change: tuple[str, str], message: str) -> None:
    write(home, {"cards/own.toml": GOOD.encode()})
    assert find_card("own").size == 4
    old, new = change
    assert old in GOOD
    write(home, {"cards/own.toml": GOOD.replace(old, new).encode()})
    with pytest.raises(ModelError, match=message) as caught:
        load_cards()
    assert str(caught.value).startswith(f"{home / 'cards' / 'own.toml'}: not a model card")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ('kind = "torrent"', "torrent"),
        ('kind = "hub"\nrepository = "a/b"', "files"),
        ('kind = "hub"\nrepository = "a/b"\nfiles = {}', "'model.gguf' is not in every source"),
        ('kind = "package-index"\nparts = []', "'model.gguf' is not in every source"),
        ('kind = "package-index"\nparts = [{ package = "a" }]', "member"),
        (
            'kind = "package-index"\n[[sources.parts]]\n'
            'package = "a"\nmember = "m"\nfile = []\nsize = 1\nsha256 = "0"',
            "'model.gguf' is not in every source",
        ),
        ('kind = "hub"\nrepository = "a/b"\nfiles = 3', "sources.files: expected a table, got 3"),
    ],
)
def test_malformed_source(home: Path, source: str, message: str) -> None:
    write(home, {"cards/own.toml": f"{GOOD}\n[[sources]]\n{source}\n".encode()})
    with pytest.raises(ModelError, match=message):
        load_cards()


def test_not_utf8(home: Path) -> None:
    write(home, {"cards/own.toml": b"\xff\xfe"})
    with pytest.raises(ModelError, match=r"own\.toml: not a model card"):
        load_cards()


def test_hub_source(home: Path) -> None:
    source = '[[sources]]\nkind = "hub"\nrepository = "a/b"\nfiles = {"model.gguf" = "q4.gguf"}'
    write(home, {"cards/own.toml": f"{GOOD}\n{source}\n".encode()})
    assert find_card("own").sources == (HubSource("a/b", {"model.gguf": "q4.gguf"}, "main"),)


def test_shipped_cards_name_a_commit_of_the_hub() -> None:
    """A branch moves on, and what it then holds would be refused by its sha256."""
    shipped = [read_card(path) for path in SHIPPED]
    sources = [s for card in shipped for s in card.sources if isinstance(s, HubSource)]
    assert sources
    assert all(re.fullmatch("[0-9a-f]{40}", source.revision) for source in sources)


def test_users_card_wins(home: Path) -> None:
    text = GOOD.replace('id = "own"', 'id = "smollm2-135m"')
    write(home, {"cards/other-name.toml": text.encode()})
    assert find_card("smollm2-135m").title == "Own"


# ------------------------------------------------------------------ checking


def test_check(home: Path) -> None:
    files = {"model.gguf": b"GGUF and so on", "extra/words.txt": b"a b c"}
    found = card(files)
    assert not found.is_installed()
    with pytest.raises(
        ModelError, match=r"model tiny is not here: .*model\.gguf is missing"
    ) as missing:
        found.check()
    assert missing.value.hint == "factcheck models import BUNDLE, again"
    assert not isinstance(missing.value, ChecksumError)

    folder = home / "models" / "tiny"
    write(folder, files)
    assert found.is_installed()
    found.check()

    write(folder, {"extra/words.txt": b"a b d"})
    assert found.is_installed(), "the size is right, only the hash tells"
    with pytest.raises(ChecksumError) as wrong:
        found.check()
    assert str(wrong.value).startswith(f"{folder / 'extra/words.txt'}: sha256 is ")
    assert sha256(b"a b d")[:16] in str(wrong.value)
    assert sha256(b"a b c")[:16] in str(wrong.value)

    write(folder, {"extra/words.txt": b"a b"})
    assert not found.is_installed()


def test_what_brings_files_back(home: Path, tmp_path: Path) -> None:
    """Only a model with sources can be pulled."""
    pulled = "factcheck models pull tiny"
    added = f"delete {home / 'cards/tiny.toml'}, then: factcheck models add tiny PATH, again"
    imported = "factcheck models import BUNDLE, again"
    installed = "pip install --force-reinstall factcheck-local"
    shipped = Path(package.__path__[0]) / "weights/no-such-model"
    cases: list[tuple[dict[str, object], str, str]] = [
        ({"sources": (HubSource("a/b", {"m": "m"}),)}, pulled, f"delete it, then: {pulled}"),
        ({"location": tmp_path / "own"}, added, added),
        ({}, imported, imported),
        ({"id": "no-such-model", "location": shipped}, installed, installed),
    ]
    for changes, missing, altered in cases:
        found = card({"m": b"GGUF"}, **changes)
        with pytest.raises(ModelError, match="is missing") as caught:
            found.check()
        assert caught.value.hint == missing
        if found.is_shipped:
            continue
        write(found.folder, {"m": b"GGUX"})
        with pytest.raises(ChecksumError) as wrong:
            found.check()
        assert wrong.value.hint == altered
        (found.folder / "m").unlink()


def test_hash_of_a_model() -> None:
    one = card({"model.gguf": b"GGUF"})
    assert one.sha256 == sha256(b"GGUF")
    assert one.size == 4
    two = card({"b": b"2", "a": b"1"})
    # What `sha256sum a b | sha256sum` prints, whatever the order in the card.
    listing = f"{sha256(b'1')}  a\n{sha256(b'2')}  b\n"
    assert two.sha256 == hashlib.sha256(listing.encode()).hexdigest()
    assert two.sha256 == card({"a": b"1", "b": b"2"}).sha256
    assert two.sha256 != card({"a": b"2", "b": b"1"}).sha256


def test_nothing_is_loaded_against_its_hash(home: Path) -> None:
    write(home, {"cards/own.toml": GOOD.encode(), "models/own/model.gguf": b"GGUX"})
    with pytest.raises(ChecksumError, match=r"model\.gguf"):
        load_model("own", "llm")


def test_unknown_backend(home: Path) -> None:
    text = GOOD.replace("llama_cpp", "keras")
    write(home, {"cards/own.toml": text.encode(), "models/own/model.gguf": b"GGUF"})
    with pytest.raises(
        ModelError,
        match=r"model own: unknown backend 'keras', expected .*llama_cpp, .*openai_server, .*trans",
    ):
        load_model("own", "llm")


def test_backend_that_is_not_installed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(home, {"cards/own.toml": GOOD.encode(), "models/own/model.gguf": b"GGUF"})
    monkeypatch.setitem(BACKENDS, "llama_cpp", "no_such_library:Model")
    with pytest.raises(ModelError, match="needs a library that is not installed: no_such_library"):
        load_model("own")


@pytest.mark.parametrize(
    ("backend", "library"),
    [
        ("llama_cpp", "llama_cpp"),
        ("sentence_transformers", "sentence_transformers"),
        ("transformers", "transformers"),
        ("onnx", "onnxruntime"),
        ("cross_encoder", "sentence_transformers"),
    ],
)
def test_a_library_that_is_not_installed(
    home: Path, monkeypatch: pytest.MonkeyPatch, backend: str, library: str
) -> None:
    text = GOOD.replace('"llama_cpp"', f'"{backend}"').replace(
        "[options]", "[options]\nmax_tokens = 8"
    )
    write(home, {"cards/own.toml": text.encode(), "models/own/model.gguf": b"GGUF"})
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(
        ModelError, match=f"model own needs a library that is not installed: {library}$"
    ) as caught:
        load_model("own")
    assert caught.value.hint == "pip install factcheck-local"


def test_cards_are_read_without_the_backends() -> None:
    code = (
        "import sys; from factcheck_local.models.registry import find_card; "
        "find_card('smollm2-135m'); libraries = "
        "{'torch', 'llama_cpp', 'transformers', 'huggingface_hub'}; "
        "print(*sorted(libraries & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).resolve().parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == ""


def test_what_is_kept_of_a_model_is_of_its_chat_format() -> None:
    """The same weights read another text; those of the package keep the hash of their files."""

    def reading(name: str) -> ModelCard:
        options = {"context_length": 512, "chat_format": name}
        return card({"model.gguf": b"GGUF"}, options=options)

    assert len({reading(name).sha256 for name in CHAT_FORMATS}) == len(CHAT_FORMATS)
    assert {reading(name).weights for name in CHAT_FORMATS} == {sha256(b"GGUF")}
    assert scorer_key(reading("chatml")) != scorer_key(reading("llama3"))
    for found in map(read_card, SHIPPED):
        assert found.sha256 == found.weights


# -------------------------------------------------------------------- adding


@pytest.mark.parametrize("name", ["model.gguf", 'mödel 😀 "q" \\ \'.gguf', "del\x7f.gguf"])
def test_add_llm(home: Path, tmp_path: Path, name: str) -> None:
    path = tmp_path / "somewhere 😀" / name
    write(path.parent, {name: b"GGUF and so on", "other.bin": b"not ours"})
    added = add_model("own", path, "llm", chat_format_name="llama3", context_length=1024)
    assert find_card("own", "llm") == added, "the card says what add_model returned"
    assert [f.path for f in added.files] == [name]
    assert added.weights == sha256(b"GGUF and so on")
    assert added.options == {"context_length": 1024, "chat_format": "llama3"}
    assert added.folder == path.parent
    assert not (home / "models").exists(), "the files stay where they are"
    added.check()
    path.write_bytes(b"GGUF and so off")
    with pytest.raises(ChecksumError):
        find_card("own").check()


def test_add_encoder_folder(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "nli"
    files = {"config.json": b"{}", "model.safetensors": b"weights", "sub/vocab.txt": b"a"}
    write(folder, files | {"pytorch_model.bin": b"pickle", "onnx/model.onnx": b"graph"})
    kept_by_others = {".git/HEAD": b"main", "sub/.DS_Store": b"", ".cache/x.lock": b""}
    write(folder, kept_by_others)
    added = add_model("nli", folder, "encoder")
    assert find_card("nli", "encoder") == added
    assert {f.path: f.size for f in added.files} == {n: len(d) for n, d in files.items()}
    assert added.backend == "transformers"
    write(folder, {".git/HEAD": b"other"})
    added.check()
    embedder = add_model("emb", folder, "embedder")
    assert embedder.backend == "sentence_transformers"
    assert sorted(p.name for p in (home / "cards").iterdir()) == ["emb.toml", "nli.toml"]


@pytest.mark.parametrize("name", ["", "a b", "../up", "a/b", ".hidden", "-x", "ä", "a\n"])
def test_add_refuses_the_name(home: Path, tmp_path: Path, name: str) -> None:
    write(tmp_path, {"m.gguf": b"GGUF"})
    with pytest.raises(ModelError, match="expected letters, digits"):
        add_model(name, tmp_path / "m.gguf", "llm")
    assert not list(home.rglob("*.toml"))


def test_add_refuses_a_taken_name(home: Path, tmp_path: Path) -> None:
    write(tmp_path, {"m.gguf": b"GGUF"})
    with pytest.raises(ModelError, match="'smollm2-135m' is known already"):
        add_model("smollm2-135m", tmp_path / "m.gguf", "llm")
    add_model("own", tmp_path / "m.gguf", "llm", chat_format_name="chatml")
    with pytest.raises(ModelError, match="'own' is known already"):
        add_model("own", tmp_path / "m.gguf", "llm")
    assert len(list(home.rglob("*.toml"))) == 1


@pytest.mark.parametrize(
    ("role", "files", "path", "message"),
    [
        ("llm", {"m.gguf": b"PK\3\4"}, "m.gguf", "expected a GGUF file"),
        ("llm", {"m.gguf": b""}, "m.gguf", "expected a GGUF file"),
        ("llm", {"m.gguf": b"GGUF"}, ".", "expected a GGUF file"),
        ("llm", {}, "missing.gguf", "expected a GGUF file"),
        ("encoder", {"config.json": b"{}"}, ".", "config.json and safetensors weights"),
        ("encoder", {"model.safetensors": b""}, ".", "config.json and safetensors weights"),
        (
            "embedder",
            {"config.json": b"{}", "pytorch_model.bin": b"pickle"},
            ".",
            "config.json and safetensors weights",
        ),
    ],
)
def test_add_refuses_the_files(
    home: Path, tmp_path: Path, role: str, files: dict[str, bytes], path: str, message: str
) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    write(folder, files)
    with pytest.raises(ModelError, match=message):
        add_model("own", folder / path, role)  # type: ignore[arg-type]
    assert not list(home.rglob("*.toml"))


def test_add_refuses_an_unknown_chat_format(home: Path, tmp_path: Path) -> None:
    write(tmp_path, {"m.gguf": b"GGUF"})
    with pytest.raises(ModelError, match="'alpaca': expected one of chatml, gemma, llama3"):
        add_model("own", tmp_path / "m.gguf", "llm", chat_format_name="alpaca")
    assert not list(home.rglob("*.toml"))


@pytest.mark.parametrize("name", sorted(CHAT_FORMATS))
def test_chat_format_names_the_role(name: str) -> None:
    known = chat_format(name)
    turns = [known.open(role) + known.close(role) for role in ("system", "user", "assistant")]
    assert known.open("user")
    assert turns[1] != turns[2]
    assert "{" not in "".join(turns)
