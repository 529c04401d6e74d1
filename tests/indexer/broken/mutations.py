"""Samples with a few bytes cut off, changed, doubled or moved."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Iterator

from ..samples import SAMPLES
from .archives import OFFICE, zipped

SPLINTERS = (b"\x00", b"\xff\xfe", b"-1", b"99999999999", b"<", b'"', b"\n\n", b"&", b"[[", b"(")


def mutated(data: bytes, draw: random.Random) -> bytes:
    """The bytes with a few of them cut off, changed, doubled or moved."""
    changed = bytearray(data)
    for _ in range(draw.randint(1, 4)):
        if not changed:
            break
        start = draw.randrange(len(changed))
        end = min(len(changed), start + draw.choice((1, 8, 100, 2000)))
        piece = changed[start:end]
        kind = draw.randrange(6)
        if kind == 0:
            del changed[start:]
        elif kind == 1:
            changed[start] = draw.randrange(256)
        elif kind == 2:
            changed[start:start] = piece * draw.randint(1, 3)
        elif kind == 3:
            del changed[start:end]
        elif kind == 4:
            at = draw.randrange(len(changed))
            changed[at:at] = piece
        else:
            changed[start:start] = draw.choice(
                (
                    b"\x00",
                    b"\xff\xfe",
                    b"-1",
                    b"99999999999",
                    b"<",
                    b'"',
                    b"\n\n",
                    b"&",
                    b"[[",
                    b"(",
                )
            )
    return bytes(changed)


def mutations(extension: str, seed: str, count: int) -> Iterator[bytes]:
    """Damaged samples of a format; of an archive, whole ones with a damaged member, too."""
    draw = random.Random(seed)
    whole = SAMPLES[extension]
    for number in range(count):
        if extension in OFFICE and number % 3:
            with zipfile.ZipFile(io.BytesIO(whole)) as archive:
                parts = {name: archive.read(name) for name in archive.namelist()}
            part = draw.choice(list(parts))
            yield zipped({**parts, part: mutated(parts[part], draw)})
        else:
            yield mutated(whole, draw)
