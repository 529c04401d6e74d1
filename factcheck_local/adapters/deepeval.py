"""For DeepEval: a metric.

DeepEval 4.3 asks for click below 8.4 and rich below 15, where the rest of this project's pinned
environment has newer ones, and brings plugins into every run of pytest. So it is not among
the libraries of development: it goes into an environment of its own, where this module's test
runs, too.
"""

from __future__ import annotations

import asyncio
from typing import Any

from factcheck_local import Answer, FactChecker
from factcheck_local.adapters.score import score
from factcheck_local.core.errors import ScoringError
from factcheck_local.models.offline import go_offline
from factcheck_local.report import to_dict
from factcheck_local.report.findings import explained

go_offline()  # DeepEval reads its switch on import

from deepeval.metrics import BaseMetric  # noqa: E402
from deepeval.test_case import LLMTestCase, SingleTurnParams  # noqa: E402


class FactCheckMetric(BaseMetric):  # type: ignore[misc]
    """The share of the claims in ``actual_output`` that the documents support, in [0, 1].

    ``reason`` has each claim with its verdict and citation. No LLM is asked to judge but the
    checker's own.

    Args:
        checker: what verifies.
        threshold: from which score on a case succeeds, in [0, 1].
    """

    _required_params = (SingleTurnParams.ACTUAL_OUTPUT,)

    def __init__(self, checker: FactChecker, threshold: float = 1.0) -> None:
        # Public and named like the argument: DeepEval makes copies of a metric by these names.
        self.checker = checker
        self.threshold = threshold

    def measure(self, test_case: LLMTestCase, *_given: Any, **_named: Any) -> float:  # noqa: ANN401
        """Check one case.

        Raises:
            ScoringError: if a claim could not be scored, or there is none.
            FactcheckError: see ``FactChecker.verify``.
        """
        # Those of an earlier case, which would stand for this one where it cannot be checked.
        self.score = self.success = self.reason = self.error = None
        answer = Answer(test_case.actual_output or "", question=test_case.input)
        assessment = to_dict(self.checker.verify(answer))
        self.reason = explained(assessment)
        try:
            self.score = score(assessment)
        except ScoringError as error:
            self.error = str(error)
            raise
        self.success = self.score >= self.threshold
        return self.score

    async def a_measure(self, test_case: LLMTestCase, *_given: Any, **_named: Any) -> float:  # noqa: ANN401
        """As ``measure``, in a thread."""
        return await asyncio.to_thread(self.measure, test_case)

    @property
    def __name__(self) -> str:
        """What reports call it."""
        return "Fact check"
