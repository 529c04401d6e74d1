"""What a store was made with: passages of other makings cannot be mixed or compared."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from factcheck_local.core.errors import StoreError
from factcheck_local.core.files import write_whole
from factcheck_local.indexer.chunker import CHUNKER_VERSION, MAX_WORDS, TARGET_WORDS

if TYPE_CHECKING:
    from factcheck_local.models.contracts import Embedder

SCHEMA = "factcheck.store/3"

#: Marks a store that is being erased: no version opens it, `--rebuild` ends it.
ERASING = "factcheck.store/erasing"

REBUILD = "factcheck index --rebuild PATH..."


@dataclass(frozen=True, slots=True)
class EmbedderPrint:
    """The model that embeds: name, sha256 of its weights, length of its vectors."""

    id: str
    sha256: str
    dimension: int

    def check(self, embedder: Embedder, place: object) -> None:
        """Refuse an embedder of another name, or other weights, than made the store at this place.

        Raises:
            StoreError: saying which.
        """
        if embedder.id != self.id:
            raise StoreError(
                f"{place}: made with embedder {self.id}, not {embedder.id}",
                hint=f"factcheck verify --set embedder={self.id}",
            )
        if embedder.sha256 != self.sha256:
            raise StoreError(
                f"{place}: made with other weights of {self.id} than are here",
                hint=f"{REBUILD} --store {place}",
            )


@dataclass(frozen=True, slots=True)
class ChunkerPrint:
    """How documents are cut: the version of the code, and lengths in words."""

    version: int = CHUNKER_VERSION
    target_words: int = TARGET_WORDS
    max_words: int = MAX_WORDS


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Embedder and chunker of a store."""

    embedder: EmbedderPrint
    chunker: ChunkerPrint = ChunkerPrint()

    @classmethod
    def of(cls, embedder: Embedder) -> Fingerprint:
        """The fingerprint of a store filled with this embedder, as passages are cut now."""
        return cls(EmbedderPrint(embedder.id, embedder.sha256, embedder.dimension))

    def flat(self) -> dict[str, object]:
        """Every setting by its dotted name."""
        return {
            f"{part}.{key}": value
            for part, values in asdict(self).items()
            for key, value in values.items()
        }

    def check(self, wanted: Fingerprint, place: object) -> None:
        """Refuse a store, at this place, that was made otherwise than is wanted.

        Raises:
            StoreError: naming every setting that differs, with both values.
        """
        made, asked = self.flat(), wanted.flat()
        differences = [
            f"{key} is {made[key]} there, {asked[key]} now"
            for key in made
            if made[key] != asked[key]
        ]
        if differences:
            raise StoreError(
                f"{place}: was made otherwise: {'; '.join(differences)}",
                hint=f"{REBUILD} --store {place}",
            )


def read(path: Path) -> Fingerprint:
    """Read a store's ``store.json``; errors are those of `parse`."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise StoreError(f"{path}: cannot be read: {error}", hint=REBUILD) from error
    return parse(text, path)


def parse(text: str, place: object) -> Fingerprint:
    """The inverse of `to_json`; ``place`` is where the text was, for messages.

    Raises:
        StoreError: if it is not that of a store, or of another version.
    """
    try:
        values = json.loads(text)
    except ValueError as error:
        raise StoreError(f"{place}: cannot be read: {error}", hint=REBUILD) from error
    found = values.get("schema") if isinstance(values, Mapping) else None
    if found == ERASING:
        raise StoreError(f"{place}: the store's rebuilding was interrupted", hint=REBUILD)
    if found != SCHEMA:
        raise StoreError(f"{place}: expected schema {SCHEMA}, got {found}", hint=REBUILD)
    try:
        return Fingerprint(EmbedderPrint(**values["embedder"]), ChunkerPrint(**values["chunker"]))
    except (KeyError, TypeError) as error:
        raise StoreError(f"{place}: is incomplete: {error}", hint=REBUILD) from error


def to_json(fingerprint: Fingerprint | None) -> str:
    """What a store keeps of it; None marks the store as being erased."""
    values: dict[str, Any] = {"schema": ERASING if fingerprint is None else SCHEMA}
    if fingerprint is not None:
        values |= asdict(fingerprint)
    return json.dumps(values, indent=2)


def write(path: Path, fingerprint: Fingerprint | None) -> None:
    """Write ``store.json``, all of it or nothing; see `to_json`."""
    write_whole(path, to_json(fingerprint) + "\n")
