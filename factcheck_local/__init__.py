"""Local, air-gapped fact checking of an LLM's answer against your own documents.

>>> from pathlib import Path
>>> from factcheck_local import Answer, FactChecker, Settings, Store
>>> with Store.open(Path(".factcheck")) as store:           # doctest: +SKIP
...     run = FactChecker(Settings(), store).verify(Answer("The sky is green."))

What stands in ``__all__`` is the public API, with what ``factcheck_local.report`` and
``factcheck_local.metrics`` name in theirs; every other module is internal and may change in
any release. Importing the package is cheap: a name is imported on first use, and models,
Chroma and torch by the modules that use them.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from factcheck_local.core.errors import FactcheckError
    from factcheck_local.core.types import Answer, Atom, Context
    from factcheck_local.indexer.store import Store
    from factcheck_local.indexer.sync import sync
    from factcheck_local.pipeline.checker import FactChecker
    from factcheck_local.pipeline.claims.records import Record
    from factcheck_local.pipeline.events import (
        ClaimReached,
        Event,
        RunFinished,
        StageAdvanced,
        StageBegun,
    )
    from factcheck_local.pipeline.retrieval.retriever import Retriever
    from factcheck_local.pipeline.run import Run
    from factcheck_local.pipeline.settings import Settings

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "Atom",
    "ClaimReached",
    "Context",
    "Event",
    "FactChecker",
    "FactcheckError",
    "Record",
    "Retriever",
    "Run",
    "RunFinished",
    "Settings",
    "StageAdvanced",
    "StageBegun",
    "Store",
    "sync",
]

#: Where each public name is, below this package.
_MODULES = {
    "Answer": "core.types",
    "Atom": "core.types",
    "ClaimReached": "pipeline.events",
    "Context": "core.types",
    "Event": "pipeline.events",
    "FactChecker": "pipeline.checker",
    "FactcheckError": "core.errors",
    "Record": "pipeline.claims.records",
    "Retriever": "pipeline.retrieval.retriever",
    "Run": "pipeline.run",
    "RunFinished": "pipeline.events",
    "Settings": "pipeline.settings",
    "StageAdvanced": "pipeline.events",
    "StageBegun": "pipeline.events",
    "Store": "indexer.store",
    "sync": "indexer.sync",
}


def __getattr__(name: str) -> object:
    """A public name, imported on use (PEP 562)."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return found


def __dir__() -> list[str]:
    """The public names, too, before they are used."""
    return sorted({*globals(), *__all__})
