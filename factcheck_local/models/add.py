"""Write cards of the user's own: of a model on this machine, on a server, from a bundle."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import tomli_w

from factcheck_local.core.errors import ModelError
from factcheck_local.core.files import write_whole
from factcheck_local.models.cards import (
    MODEL_NAME,
    SERVER_BACKEND,
    ModelCard,
    data_directory,
    describe_files,
    load_cards,
)
from factcheck_local.models.chat_format import CHAT_FORMATS, chat_format
from factcheck_local.models.chat_template import format_of, template_of
from factcheck_local.models.loading import PICKLES
from factcheck_local.models.openai_server.options import ServerOptions, server_url

#: Weights that can run code when they are loaded, or are of no use here, are not hashed.
_IGNORED = PICKLES | {".h5", ".msgpack", ".onnx"}

_BACKENDS = {
    "llm": "llama_cpp",
    "embedder": "sentence_transformers",
    "encoder": "transformers",
    "reranker": "cross_encoder",
}


def add_model(
    name: str,
    path: Path,
    role: Literal["llm", "embedder", "encoder", "reranker"],
    *,
    chat_format_name: str | None = None,
    context_length: int = 4096,
) -> ModelCard:
    """Hash a model's files and write its card; the files stay where they are.

    Args:
        name: letters, digits, ``.``, ``_``, ``-``; not yet taken.
        path: the GGUF file of an LLM, the folder of a model of another role.
        role: what the model is for.
        chat_format_name: of an LLM, see ``chat_format``; None reads it off the file's template.
        context_length: of an LLM, in tokens.

    Raises:
        ModelError: if the name is taken or malformed, or the path does not
            hold such a model.
    """
    _check_name(name)
    path = path.resolve()
    options: dict[str, str | int]
    if role == "llm":
        if chat_format_name is not None:
            chat_format(chat_format_name)
        if not path.is_file() or path.open("rb").read(4) != b"GGUF":
            raise ModelError(f"{path}: expected a GGUF file")
        chat_format_name = chat_format_name or _own_format(path)
        folder, files = path.parent, describe_files(path.parent, [path])
        options = {"context_length": context_length, "chat_format": chat_format_name}
    else:
        kept = [p for p in path.rglob("*") if p.is_file() and _is_part(p.relative_to(path))]
        has_weights = any(p.suffix == ".safetensors" for p in kept)
        if not has_weights or not (path / "config.json").is_file():
            raise ModelError(f"{path}: expected a folder with config.json and safetensors weights")
        folder, files = path, describe_files(path, kept)
        options = {"max_tokens": 256 if role == "embedder" else 512}
    card = ModelCard(
        id=name,
        title=name,
        role=role,
        licence="as stated by its publisher",
        backend=_BACKENDS[role],
        files=files,
        options=options,
        location=folder,
    )
    write_card(card)
    return card


def add_server(
    name: str,
    url: str,
    *,
    model: str | None = None,
    chat_format_name: str | None = None,
    api_key_env: str | None = None,
) -> ModelCard:
    """Write the card of an LLM on a server; the server is not asked anything yet.

    Args:
        name: as for ``add_model``.
        url: where its OpenAI-compatible interface is; ``/v1`` may be left out.
        model: what the server calls the model; None takes the only one it has.
        chat_format_name: see ``chat_format``; None leaves the template to the server.
        api_key_env: environment variable that will hold the key, itself never stored.

    Raises:
        ModelError: if the name is taken or malformed, or an option is malformed.
    """
    _check_name(name)
    given = {"model": model, "chat_format": chat_format_name, "api_key_env": api_key_env}
    options = {"url": server_url(url)} | {k: v for k, v in given.items() if v is not None}
    ServerOptions.from_mapping(options)
    card = ModelCard(
        id=name,
        title=name,
        role="llm",
        licence="the server's",
        backend=SERVER_BACKEND,
        files=(),
        options=options,
    )
    write_card(card)
    return card


def _is_part(path: Path) -> bool:
    """Whether a path below a model's folder is the model's: no bookkeeping, as ``.git`` is."""
    hidden = any(part.startswith(".") for part in path.parts)
    return not hidden and path.suffix not in _IGNORED


def _own_format(path: Path) -> str:
    """The chat format of a GGUF file's template."""
    try:
        return format_of(template_of(path))
    except ModelError as error:
        names = ", ".join(sorted(CHAT_FORMATS))
        raise ModelError(f"{path}: {error}", hint=f"--chat-format, one of {names}") from error


def _check_name(name: str) -> None:
    """Refuse a name that is malformed or taken."""
    if not MODEL_NAME.fullmatch(name):
        raise ModelError(f"model name {name!r}: expected letters, digits, '.', '_' and '-'")
    if name in load_cards():
        raise ModelError(f"a model called {name!r} is known already", hint="factcheck models list")


def card_table(card: ModelCard) -> dict[str, Any]:
    """What `card_from` makes the card of again, but for where it is and comes from."""
    fields = ("id", "title", "role", "licence", "backend", "note")
    tables = ("options", "calibration", "risk")
    values = {name: getattr(card, name) for name in fields}
    values |= {name: dict(getattr(card, name)) for name in tables if getattr(card, name)}
    if card.adapters:
        values["adapters"] = {prompt: a.as_table() for prompt, a in card.adapters.items()}
    return values | {"files": [asdict(file) for file in card.files]}


def write_card(card: ModelCard) -> None:
    """Put a card among the user's own, all of it or nothing.

    Raises:
        ModelError: for a path whose bytes are not UTF-8.
    """
    table = card_table(card)
    if card.location is not None:
        table["location"] = str(card.location)
    try:
        text = tomli_w.dumps(table).encode()
    except UnicodeEncodeError as error:
        raise ModelError(f"{error.object!r}: a card can only hold a path in UTF-8") from error
    target = data_directory() / "cards" / f"{card.id}.toml"
    target.parent.mkdir(parents=True, exist_ok=True)
    write_whole(target, text)
