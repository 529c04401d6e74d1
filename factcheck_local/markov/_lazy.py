"""pgmpy, imported on first use: that takes seconds, and few commands need it."""

import importlib
import warnings
from types import ModuleType


def pgmpy(module: str) -> ModuleType:
    """A module of pgmpy, such as ``pgmpy("inference")``.

    The warnings that it gives on import are about deprecated modules of its own.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(f"pgmpy.{module}")
