"""For LangChain: an answer gets verdicts and citations, and the store is a retriever."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from factcheck_local import Answer, FactChecker
from factcheck_local.core.errors import InputError
from factcheck_local.models.offline import go_offline
from factcheck_local.report import findings, to_dict
from factcheck_local.report.schema import context_to_dict

go_offline()  # LangSmith reads its switch once

from langchain_core.callbacks import CallbackManagerForRetrieverRun  # noqa: E402
from langchain_core.documents import Document  # noqa: E402
from langchain_core.messages import BaseMessage  # noqa: E402
from langchain_core.retrievers import BaseRetriever  # noqa: E402
from langchain_core.runnables import Runnable, RunnableConfig  # noqa: E402


class FactCheck(Runnable[str | BaseMessage | Mapping[str, Any], dict[str, Any]]):
    """Adds ``factcheck`` to an answer: its claims with verdicts and citations.

    Takes a text, a message, or a mapping with ``answer`` (one of these) and perhaps ``question``.
    Gives a dictionary of what came, ``answer`` unchanged, with ``factcheck`` as
    `report.findings` makes it.

    Args:
        checker: what verifies.
    """

    def __init__(self, checker: FactChecker) -> None:
        self._checker = checker

    def invoke(
        self,
        input: str | BaseMessage | Mapping[str, Any],
        config: RunnableConfig | None = None,
        **_named: Any,  # noqa: ANN401
    ) -> dict[str, Any]:
        """Check one answer; errors are those of ``FactChecker.verify``."""
        return self._call_with_config(self._checked, input, config, run_type="chain")

    def _checked(self, given: str | BaseMessage | Mapping[str, Any]) -> dict[str, Any]:
        known: dict[str, Any] = dict(given) if isinstance(given, Mapping) else {"answer": given}
        answer = known.get("answer")
        text = str(answer.text) if isinstance(answer, BaseMessage) else answer
        if not isinstance(text, str):
            raise InputError(f"answer: expected a text or a message, got {type(text).__name__}")
        run = self._checker.verify(Answer(text, question=known.get("question")))
        return known | {"factcheck": findings(to_dict(run))}


class StoreRetriever(BaseRetriever):
    """The passages of the checker's store that a query finds.

    Its settings count: ``retrieval``, ``where``, ``as_groups``, ``rerank``. A document's metadata
    has its place, and ``prior``, the reliability of its source in (0, 1).

    Attributes:
        checker: whose store it is.
        k: passages at most.
    """

    checker: FactChecker
    k: int = 5

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002
    ) -> list[Document]:
        found = map(context_to_dict, self.checker.search(query, self.k))
        return [Document(f.pop("text"), id=f.pop("id"), metadata=f) for f in found]
