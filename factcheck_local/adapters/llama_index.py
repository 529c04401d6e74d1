"""For LlamaIndex: an evaluator, and a query engine whose responses are checked."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.response.schema import (
    RESPONSE_TYPE,
    AsyncStreamingResponse,
    Response,
)
from llama_index.core.evaluation import BaseEvaluator, EvaluationResult
from llama_index.core.prompts.mixin import PromptDictType
from llama_index.core.schema import QueryBundle

from factcheck_local import Answer, FactChecker
from factcheck_local.adapters.score import score
from factcheck_local.core.errors import InputError, ScoringError
from factcheck_local.report import findings, to_dict
from factcheck_local.report.findings import explained


class FactCheckEvaluator(BaseEvaluator):
    """Scores a response by the share of its claims that the documents support.

    Verdicts rest on the checker's documents; the contexts that a response came with are handed on
    unread. A response is passing from a share of ``threshold`` on. Where a claim could not be
    scored, or there is none, the result is invalid and has no score.

    Args:
        checker: what verifies.
        threshold: in [0, 1].
    """

    def __init__(self, checker: FactChecker, threshold: float = 1.0) -> None:
        self._checker = checker
        self._threshold = threshold

    def _get_prompts(self) -> PromptDictType:
        return {}

    def _update_prompts(self, prompts_dict: PromptDictType) -> None:
        """There are none."""

    async def aevaluate(
        self,
        query: str | None = None,
        response: str | None = None,
        contexts: Sequence[str] | None = None,
        **_named: Any,  # noqa: ANN401
    ) -> EvaluationResult:
        """Check one response; errors are those of ``FactChecker.verify``."""
        answer = Answer(response or "", question=query)
        assessment = to_dict(await asyncio.to_thread(self._checker.verify, answer))
        result = EvaluationResult(
            query=query, contexts=contexts, response=response, feedback=explained(assessment)
        )
        try:
            result.score = score(assessment)
        except ScoringError as error:
            result.invalid_result, result.invalid_reason = True, str(error)
        else:
            result.passing = result.score >= self._threshold
        return result


class CheckedQueryEngine(BaseQueryEngine):
    """Has each response of an engine checked: ``metadata["factcheck"]``, see `report.findings`.

    A streamed response is waited for, since a claim is checked as a whole.

    Args:
        engine: what answers.
        checker: what verifies.
    """

    def __init__(self, engine: BaseQueryEngine, checker: FactChecker) -> None:
        super().__init__(engine.callback_manager)
        self._engine = engine
        self._checker = checker

    def postprocess(self, response: RESPONSE_TYPE, query: str | None = None) -> Response:
        """The response with what was found of it; errors are those of ``FactChecker.verify``."""
        if isinstance(response, AsyncStreamingResponse):
            raise InputError("expected a response that is there: await its get_response()")
        plain = response if isinstance(response, Response) else response.get_response()
        run = self._checker.verify(Answer(plain.response or "", question=query))
        found = {"factcheck": findings(to_dict(run))}
        plain.metadata = (plain.metadata or {}) | found
        return plain

    def _get_prompt_modules(self) -> dict[str, Any]:
        return {"engine": self._engine}

    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        return self.postprocess(self._engine.query(query_bundle), query_bundle.query_str)

    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        response = await self._engine.aquery(query_bundle)
        if isinstance(response, AsyncStreamingResponse):
            response = await response.get_response()
        return await asyncio.to_thread(self.postprocess, response, query_bundle.query_str)
