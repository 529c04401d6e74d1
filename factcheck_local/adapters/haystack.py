"""For Haystack: a component behind a generator."""

from __future__ import annotations

from typing import Any

from factcheck_local import Answer, FactChecker
from factcheck_local.models.offline import go_offline
from factcheck_local.report import findings, to_dict

go_offline()  # Haystack reads its switch on import

from haystack import Document, component  # noqa: E402
from haystack.dataclasses import ChatMessage, GeneratedAnswer  # noqa: E402


@component
class FactCheck:
    """Makes answers of a generator's replies, with verdicts and citations.

    An answer's ``meta["factcheck"]`` is as `report.findings` makes it, and ``documents`` are the
    passages that its verdicts rest on. A pipeline with this component cannot be written as YAML:
    it holds open models and an open store.

    Args:
        checker: what verifies.
    """

    def __init__(self, checker: FactChecker) -> None:
        self._checker = checker

    @component.output_types(answers=list[GeneratedAnswer])
    def run(
        self, replies: list[str] | list[ChatMessage], query: str | None = None
    ) -> dict[str, Any]:
        """Check each reply; errors are those of ``FactChecker.verify``.

        Args:
            replies: what a generator gave.
            query: what they reply to.
        """
        return {"answers": [self._answer(reply, query) for reply in replies]}

    def _answer(self, reply: str | ChatMessage, query: str | None) -> GeneratedAnswer:
        text = reply if isinstance(reply, str) else "\n".join(reply.texts)
        assessment = to_dict(self._checker.verify(Answer(text, question=query)))
        found = findings(assessment)
        cited = {c["passage"] for claim in found["claims"] for c in claim["citations"]}
        documents = []
        for context in assessment["contexts"]:
            if context["id"] in cited:
                meta = {name: v for name, v in context.items() if name not in ("id", "text")}
                documents.append(Document(id=context["id"], content=context["text"], meta=meta))
        return GeneratedAnswer(text, query or "", documents, {"factcheck": found})
