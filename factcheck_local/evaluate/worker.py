"""What a worker of a benchmark does: models are loaded once, then trial follows trial."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from factcheck_local import __version__
from factcheck_local.core import egress
from factcheck_local.core.errors import FactcheckError
from factcheck_local.evaluate.runner import Models, Trial, kept_llm
from factcheck_local.indexer.store import Store
from factcheck_local.models.offline import go_offline
from factcheck_local.pipeline.run import prompts_here
from factcheck_local.pipeline.settings import Settings


@dataclass(frozen=True, slots=True)
class BenchPlan:
    """What all workers of a benchmark have in common.

    Attributes:
        settings: of each assessor, by its name.
        replies: the file that keeps what the LLM said.
        store: the store's folder, the same on each machine; None where items bring their passages.
    """

    settings: Mapping[str, Settings]
    replies: Path
    store: Path | None


class BenchWorker:
    """Makes the lines of trials in a process of its own, which reaches no address.

    What is wrong is returned, not raised: Ray would wrap it, and print the traceback.
    """

    def __init__(self, plan: BenchPlan) -> None:
        go_offline()
        egress.guard()
        self._plan = plan
        self._models: Models | None = None
        self._store: Store | None = None

    def ready(self) -> dict[str, Any] | FactcheckError:
        """Load the models; returns what has to be the same everywhere, see ``run.unlike``."""
        plan = self._plan
        try:
            llm = kept_llm(next(iter(plan.settings.values())).llm, plan.replies)
            self._models = Models.of(plan.settings, llm)
            self._store = Store.open(plan.store) if plan.store else None
            return {
                "version": __version__,
                "prompts": prompts_here(),
                "models": [{"role": r, **named} for r, named in self._models.named().items()],
                "risk": None,
                "index": {"digest": self._store.digest()} if self._store else None,
            }
        except FactcheckError as error:
            return error

    def verify(self, trial: Trial) -> dict[str, Any]:
        """The line of a trial."""
        if self._models is None:
            raise RuntimeError("a worker is asked before it is ready")
        return trial.line(self._models, self._store)
