"""What a bundle says that it holds.

A bundle is an uncompressed tar::

    manifest.json       first: the models' cards, and size and sha256 of all that follows
    README.txt          how the wheels are installed where there is no index
    requirements.txt    the wheels with their hashes, for pip   (with wheels)
    wheels/…            the package and all that it needs       (with wheels)
    models/NAME/…       the models' files, sizes and hashes in their cards
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import Any

from factcheck_local.core.errors import BundleError, ModelError
from factcheck_local.models.add import card_table
from factcheck_local.models.cards import ModelCard, ModelFile, card_from

SCHEMA = "factcheck.bundle/1"

MANIFEST = "manifest.json"
README = "README.txt"
REQUIREMENTS = "requirements.txt"
WHEELS = "wheels"


@dataclass(frozen=True, slots=True)
class BundleManifest:
    """The table of contents of a bundle.

    Attributes:
        version: of the package that made it.
        cards: of its models.
        others: every other member but the manifest itself, its ``path`` from the top.
    """

    version: str
    cards: tuple[ModelCard, ...]
    others: tuple[ModelFile, ...]

    def members(self) -> dict[str, ModelFile]:
        """Everything that follows the manifest, by its name in the bundle."""
        found = {file.path: file for file in self.others}
        for card in self.cards:
            found |= {member_name(card, file): file for file in card.files}
        return found

    def to_json(self) -> bytes:
        """The inverse of `parse`, the same bytes for the same contents."""
        value = {
            "schema": SCHEMA,
            "version": self.version,
            "models": [card_table(card) for card in self.cards],
            "others": [asdict(file) for file in self.others],
        }
        return json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True).encode()


def member_name(card: ModelCard, file: ModelFile) -> str:
    """A model's file in a bundle."""
    return f"models/{card.id}/{file.path}"


def digest(data: bytes) -> str:
    """What stands for a whole bundle: sha256 of its manifest, in hex."""
    return hashlib.sha256(data).hexdigest()


def parse(data: bytes, place: object) -> BundleManifest:
    """Read a manifest; nothing in it is trusted.

    Args:
        data: the file.
        place: the bundle, for messages.

    Raises:
        BundleError: if it is not one of this version, or names a file outside its folder,
            a model without files, or a model's place on the disk.
    """
    try:
        value = json.loads(data.decode())
        if value["schema"] != SCHEMA:
            raise BundleError(f"{place}: expected schema {SCHEMA}, got {value['schema']!r}")
        cards = tuple(_card(table, place) for table in value["models"])
        others = tuple(ModelFile(**entry) for entry in value["others"])
        found = BundleManifest(str(value["version"]), cards, others)
        members = list(found.members().values())
        # What cannot be written as UTF-8 cannot be a file's name either.
        found.to_json()
    except ModelError as error:
        raise BundleError(f"{place}: {error}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BundleError(f"{place}: its {MANIFEST} is malformed: {error!r}") from error
    if len(members) != len(others) + sum(len(card.files) for card in cards):
        raise BundleError(f"{place}: its {MANIFEST} names a file twice")
    for file in members:
        if not _is_safe(file.path):
            raise BundleError(f"{place}: {file.path!r} is not a path below the bundle's folder")
        if type(file.size) is not int or file.size < 0:
            raise BundleError(f"{place}: {file.path!r} has no size")
    return found


def _card(table: Mapping[str, Any], place: object) -> ModelCard:
    if not table.get("files"):
        # A card with an address would name a server that the user never named.
        raise BundleError(f"{place}: holds a model without files")
    if foreign := table.keys() & {"location", "shipped", "sources"}:
        raise BundleError(f"{place}: a model of a bundle has no {min(foreign)}")
    return card_from(table, place)


def _is_safe(path: object) -> bool:
    """Whether a path stays below a folder, on any system."""
    if not isinstance(path, str) or not path or "\\" in path or ":" in path or "\0" in path:
        return False
    parts = PurePosixPath(path).parts
    return not path.startswith("/") and ".." not in parts and "/".join(parts) == path
