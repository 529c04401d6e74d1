"""Broken, odd and hostile files, each with what a run has to say of it."""

from __future__ import annotations

from collections.abc import Iterator

from ..samples import SAMPLES
from . import archives, pdfs, texts
from .case import NOISE, Case, failed, skipped

_PICTURE = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + NOISE


def every() -> Iterator[Case]:
    """All cases but those that are odd by their names."""
    yield from _any_format()
    yield from texts.cases()
    yield from pdfs.cases()
    yield from archives.cases()


def _any_format() -> Iterator[Case]:
    for extension in SAMPLES:
        if extension == ".py":
            yield skipped("empty.py", b"", "holds no docstring$")
            yield skipped("space.py", b" \n\n", "holds no docstring$")
        else:
            yield failed(f"empty{extension}", b"", "empty file$")
            yield failed(f"space{extension}", b" \n\t\r\n" * 9, "holds no text$|is not a ")
        yield failed(f"noise{extension}", NOISE, "looks binary|is not ")
        yield failed(f"picture{extension}", _PICTURE, "looks binary|is not ")
