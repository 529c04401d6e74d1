"""What the backends share when a model is loaded from a folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from factcheck_local.core.errors import ModelError
from factcheck_local.models.offline import quiet_transformers

#: Suffixes of weights that are pickles, by which they can run code when they are loaded.
PICKLES = {".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt"}


@contextmanager
def reading(place: Path, kind: str) -> Iterator[None]:
    """Whatever a library makes of files that are no such model, as one clear line.

    Args:
        place: where the model should be.
        kind: what it should be, with its article.

    Raises:
        ModelError: naming the place, if the library fails on what is there.
        ImportError: if the library itself is not; ``registry`` says which.
    """
    try:
        yield
    except ImportError:
        raise
    except Exception as error:  # the libraries' errors derive from nothing narrower
        raise ModelError(f"{place}: not {kind}: {' '.join(str(error).split())}") from error


@contextmanager
def loading(folder: Path, kind: str) -> Iterator[None]:
    """``reading`` a model of transformers.

    Raises:
        ModelError: if weights would be read that are not safetensors, too.
    """
    _refuse_pickles(folder, kind)
    quiet_transformers()
    with reading(folder, kind):
        yield


def _refuse_pickles(folder: Path, kind: str) -> None:
    """Refuse weights that could run code; sentence-transformers reads those of some layers.

    Beside safetensors of the same folder they are never read, and may stay.
    """
    for path in folder.rglob("*"):
        if path.suffix in PICKLES and not any(path.parent.glob("*.safetensors")):
            raise ModelError(
                f"{folder}: not {kind}: {path.relative_to(folder)} may run code when it is "
                "loaded, expected safetensors"
            )


def read_as_text(tokenizer: Any) -> None:  # noqa: ANN401
    """Have a transformers tokenizer take special tokens that are written out in a text as text.

    Content is data: "[SEP]" or "</s>" in a passage does not end it. The tokens that the
    tokenizer itself puts around texts stay.
    """
    tokenizer.split_special_tokens = True
