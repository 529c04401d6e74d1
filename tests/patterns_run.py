"""Runs every compiled pattern of the package over texts that make bad ones explode.

Prints the number of patterns and of searches. Whoever starts it limits its processor time: a
pattern that takes cubic or exponential time does not come to its end.
"""

from __future__ import annotations

import pkgutil
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from itertools import product

import factcheck_local

#: More than a sentence or a title has; at cubic time still some seconds a pattern.
LENGTH = 1000


def patterns() -> dict[str, re.Pattern[str]]:
    """Each pattern by the module that it is first found in."""
    found: dict[re.Pattern[str], str] = {}
    for module in pkgutil.walk_packages(factcheck_local.__path__, "factcheck_local."):
        try:
            names = vars(import_module(module.name))
        except ImportError:  # an extra that is not installed
            continue
        for name, value in names.items():
            for pattern in held(value):
                if isinstance(pattern.pattern, str):
                    found.setdefault(pattern, f"{module.name}.{name}")
    return {f"{where} {pattern.pattern[:60]}": pattern for pattern, where in found.items()}


def held(value: object) -> Iterator[re.Pattern[str]]:
    """The patterns in a value, which may be a collection of them."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from held(one)
    elif isinstance(value, list | tuple | set | frozenset):
        for one in value:
            yield from held(one)


def texts(pattern: str) -> Iterator[str]:
    """Repeats of what a pattern itself is made of, which end otherwise."""
    usual = [" ", "\t", "\n", "a", "A", "0", "-", "_", "*", "#", "<", "(", "[", ".", "\u00e9"]
    own = [c for c in dict.fromkeys(pattern) if not c.isalnum() and c not in "\\?+"]
    words = list(dict.fromkeys(re.findall(r"[a-z]{2,}", pattern)))[:6]
    for piece in [*usual, *own, *words]:
        yield piece * (LENGTH // len(piece)) + "\x00"
    for pair in product((*usual[:5], *own[:4]), (*own[:4], *words[:3])):
        piece = "".join(pair)
        yield piece * (LENGTH // len(piece)) + "\x00"


def main() -> None:
    """Search, and match, each pattern in each text."""
    found = patterns()
    searches = 0
    for name, pattern in found.items():
        # The last line says which one did not end.
        sys.stderr.write(f"{name!r}\n")
        sys.stderr.flush()
        for text in texts(pattern.pattern):
            pattern.search(text)
            pattern.match(text)
            searches += 1
    sys.stdout.write(f"{len(found)} {searches}\n")


if __name__ == "__main__":
    main()
