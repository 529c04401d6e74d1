"""Third-party libraries of this package, imported on first use.

They take from a tenth of a second to several seconds to import, and not every
command infers; scipy and pgmpy carry no type information either.
"""

import importlib
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, TypeAlias

#: A ``scipy.sparse.csr_array``.
Graph: TypeAlias = Any

#: A ``pgmpy.models.DiscreteMarkovNetwork``.
PgmpyNetwork: TypeAlias = Any

#: A ``pgmpy.models.DiscreteBayesianNetwork``.
PgmpyBayesian: TypeAlias = Any


@contextmanager
def untouched_root_logger() -> Iterator[None]:
    """Put the root logger back as it was: its handlers and its level.

    Releases of pgmpy call ``logging.basicConfig`` on import, which would hand
    every program that uses this package a handler it did not ask for.
    """
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


def scipy_sparse() -> ModuleType:
    """The module ``scipy.sparse``."""
    return importlib.import_module("scipy.sparse")


def csgraph() -> ModuleType:
    """The module ``scipy.sparse.csgraph``."""
    return importlib.import_module("scipy.sparse.csgraph")


def pgmpy(module: str) -> ModuleType:
    """A module of pgmpy, such as ``pgmpy("inference")``, its logging and warnings contained.

    The warnings are about pgmpy's own deprecated modules, which it imports itself.
    """
    with untouched_root_logger(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(f"pgmpy.{module}")
