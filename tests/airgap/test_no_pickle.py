"""No weights that can run code: a pickle is refused by every backend, and the code loads none."""

from __future__ import annotations

import ast
import json
import pickle
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
import torch
from safetensors.torch import save_file

import factcheck_local
from factcheck_local.core.errors import FactcheckError
from factcheck_local.models.add import add_model
from factcheck_local.models.cards import ModelCard, ModelFile, describe_files, find_card
from factcheck_local.models.embedder import SentenceTransformerEmbedder
from factcheck_local.models.registry import load_model
from tests.models.helpers import sha256
from tests.models.tiny_bert import random_bert, save_with_tokenizer

PACKAGE = Path(factcheck_local.__path__[0])
MINILM = find_card("all-minilm-l6-v2")
#: Where it is, whatever the data directory of a test is.
MINILM_FOLDER = MINILM.folder

#: Calls that unpickle, by their last name; of numpy's, only with ``allow_pickle``.
UNPICKLING = {
    *("pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"),
    *("read_pickle", "torch.load", "load_state_dict_from_url"),
}
FORBIDDEN_ARGUMENTS = {"allow_pickle", "trust_remote_code", "weights_only"}


def unsafe(source: str) -> list[str]:
    """Every import, call or argument in some code that could load a pickle or foreign code."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or "", *(alias.name for alias in node.names)]
        elif isinstance(node, ast.Call):
            names = [ast.unparse(node.func)]
            for keyword in node.keywords:
                is_off = isinstance(keyword.value, ast.Constant) and keyword.value.value is False
                if keyword.arg in FORBIDDEN_ARGUMENTS and not is_off:
                    found.append(f"{keyword.arg}={ast.unparse(keyword.value)}")
        else:
            continue
        found += [
            name
            for name in names
            if name in UNPICKLING or {name.split(".")[0], name.split(".")[-1]} & UNPICKLING
        ]
    return found


@pytest.mark.parametrize(
    "code",
    [
        "import pickle",
        "from pickle import loads",
        "import joblib.externals",
        "torch.load(path)",
        "np.load(path, allow_pickle=True)",
        "np.load(path, allow_pickle=flag)",
        "AutoModel.from_pretrained(path, trust_remote_code=True)",
        "pd.read_pickle(path)",
    ],
)
def test_what_the_search_finds(code: str) -> None:
    assert unsafe(code)


def test_no_code_of_the_package_unpickles() -> None:
    found = {
        path.relative_to(PACKAGE).as_posix(): names
        for path in PACKAGE.rglob("*.py")
        if (names := unsafe(path.read_text(encoding="utf-8")))
    }
    assert found == {}
    assert not unsafe("np.load(path, allow_pickle=False); json.load(file)")


def test_no_weights_of_the_package_are_pickles() -> None:
    """By their suffixes, which the loaders go by."""
    formats = {".gguf", ".safetensors", ".onnx", ".npz"}
    texts = {".json", ".txt"}
    for path in (PACKAGE / "models/cards").glob("*.toml"):
        for file in find_card(path.stem).files:
            assert Path(file.path).suffix in formats | texts, file.path


# --------------------------------------------------------------- what backends do


class Bomb:
    """Unpickling it writes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[object, ...]]:
        return Path.write_text, (self.path, "boom")


@pytest.fixture
def crater(tmp_path: Path) -> Iterator[Path]:
    """What a bomb writes; it must not be there at the end."""
    path = tmp_path / "crater"
    yield path
    assert not path.exists(), "a pickle was loaded"


def test_the_bomb_is_real(tmp_path: Path) -> None:
    pickle.loads(pickle.dumps(Bomb(tmp_path / "crater")))
    assert (tmp_path / "crater").exists()


Role = Literal["embedder", "encoder", "reranker"]
BACKENDS: dict[Role, str] = {
    "embedder": "sentence_transformers",
    "encoder": "transformers",
    "reranker": "cross_encoder",
}


@pytest.mark.parametrize("role", BACKENDS)
@pytest.mark.parametrize("form", ["zip", "raw", "state"])
def test_a_folder_with_pickled_weights(
    role: Role,
    form: str,
    crater: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neither registered nor, by a card written by hand, loaded."""
    monkeypatch.setenv("FACTCHECK_HOME", str(tmp_path / "home"))
    folder = tmp_path / "model"
    if role == "embedder":
        shutil.copytree(MINILM_FOLDER, folder)
    else:
        save_with_tokenizer(random_bert(3 if role == "encoder" else 1), folder)
    (folder / "model.safetensors").unlink()
    weights = folder / "pytorch_model.bin"
    if form == "raw":
        weights.write_bytes(pickle.dumps(Bomb(crater)))
    elif form == "zip":
        torch.save(Bomb(crater), weights)
    else:
        torch.save({"embeddings.weight": torch.zeros(1)}, weights)  # harmless, and refused too
    with pytest.raises(FactcheckError, match="safetensors"):
        add_model("evil", folder, role)
    files = describe_files(folder, [p for p in folder.rglob("*") if p.is_file()])
    card = ModelCard(
        id="evil",
        title="",
        role=role,
        licence="",
        backend=BACKENDS[role],
        files=files,
        options={"max_tokens": 64},
        location=folder,
    )
    monkeypatch.setattr("factcheck_local.models.registry.find_card", lambda *_names: card)
    with pytest.raises(FactcheckError, match="may run code when it is loaded"):
        load_model("evil", role)


def test_a_layer_with_pickled_weights(crater: Path, tmp_path: Path) -> None:
    """sentence-transformers would read that of a dense layer, which has no safetensors."""
    folder = tmp_path / "model"
    shutil.copytree(MINILM_FOLDER, folder)
    modules = json.loads((folder / "modules.json").read_text())
    kind = "sentence_transformers.models.Dense"
    modules.append({"idx": len(modules), "name": "9", "path": "9_Dense", "type": kind})
    (folder / "modules.json").write_text(json.dumps(modules))
    dense = folder / "9_Dense"
    dense.mkdir()
    config = {"in_features": 384, "out_features": 4, "bias": True}
    activation = {"activation_function": "torch.nn.modules.linear.Identity"}
    (dense / "config.json").write_text(json.dumps(config | activation))
    torch.save(Bomb(crater), dense / "pytorch_model.bin")
    card = replace(MINILM, location=folder)
    with pytest.raises(FactcheckError, match=r"9_Dense/pytorch_model\.bin may run code"):
        SentenceTransformerEmbedder.from_card(card)
    layer = torch.nn.Linear(384, 4)
    named = {f"linear.{name}": values for name, values in layer.state_dict().items()}
    save_file(named, dense / "model.safetensors")
    assert SentenceTransformerEmbedder.from_card(card).dimension == 4
    (dense / "pytorch_model.bin").unlink()


@pytest.mark.parametrize("name", ["model.gguf", "model.onnx"])
def test_a_pickle_under_another_name(
    name: str, crater: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = pickle.dumps(Bomb(crater))
    (tmp_path / name).write_bytes(data)
    (tmp_path / "tokenizer.json").write_text(json.dumps({}))
    card = ModelCard(
        id="evil",
        title="",
        role="llm" if name.endswith("gguf") else "encoder",
        licence="",
        backend="llama_cpp" if name.endswith("gguf") else "onnx",
        files=(ModelFile(name, len(data), sha256(data)),),
        options={"context_length": 512, "chat_format": "chatml"},
        location=tmp_path,
    )
    monkeypatch.setattr("factcheck_local.models.registry.find_card", lambda *_names: card)
    with pytest.raises(FactcheckError):
        load_model("evil")


#: What was looked up by an unpickler while `_watched` was on, by an audit hook.
_found: list[str] = []
_watched: list[bool] = []


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "pickle.find_class" and _watched:
        _found.append(f"{arguments[0]}.{arguments[1]}")


sys.addaudithook(_watch)


def test_loading_the_models_unpickles_nothing() -> None:
    _watched.append(True)
    try:
        for name in ("all-minilm-l6-v2", "mpnet-l6-nli", "smollm2-135m"):
            load_model(name)
    finally:
        _watched.clear()
    assert _found == []
    _watched.append(True)
    pickle.loads(pickle.dumps(Path("x")))
    _watched.clear()
    assert _found, "the hook hears nothing"
