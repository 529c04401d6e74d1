"""The examples of docs/integrations.md, run on a real store and real models, and their edges."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncGenerator, Iterator
from typing import Any

import pytest

from factcheck_local import FactChecker, Settings
from factcheck_local.core.errors import InputError, ScoringError, StoreError
from factcheck_local.models.fake import FakeChatModel
from factcheck_local.pipeline import settings as all_settings
from tests.docs.pages import ROOT, blocks

FIRST, LANGCHAIN, LLAMA_INDEX, HAYSTACK, DEEPEVAL = blocks("docs/integrations.md", "python")

#: What the handbook says of it is eight weeks.
WRONG, RIGHT = "Notice after probation is six weeks.", "Notice after probation is eight weeks."

QUESTION = "How long is notice after probation?"

Names = dict[str, Any]


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Names]:
    """What the page's first example defines, with a small encoder."""
    folder = tmp_path_factory.mktemp("integrations")
    (folder / "docs").mkdir()
    shutil.copy(ROOT / "corpora/handbook/policies/employment-terms.md", folder / "docs")

    def small() -> Settings:
        return Settings(llm="smollm2-135m", relation="encoder")

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(all_settings, "Settings", small)
        defined = run(FIRST, {})
        # SmolLM2 makes up claims. This one takes each sentence as it is.
        split = FakeChatModel(lambda turns: turns[-1].content.rsplit("Sentence: ", 1)[-1])
        defined["checker"] = FactChecker(small(), defined["store"], llm=split)
        yield defined
        defined["store"].close()


@pytest.fixture(scope="module")
def failing(names: Names) -> FactChecker:
    """One whose LLM fails."""
    checker: FactChecker = names["checker"]

    def fail(_turns: object) -> str:
        raise ScoringError("no reply")

    return FactChecker(checker.settings, checker.store, llm=FakeChatModel(fail), shared=checker)


def run(code: str, names: Names) -> Names:
    """What an example defines, after the first one."""
    exec(compile(code, "docs/integrations.md", "exec"), names)
    return names


def check_refuted(found: dict[str, Any]) -> None:
    """The claim is contradicted, and its citation is where the handbook says so."""
    (claim,) = found["claims"]
    cited = claim["citations"][0]
    assert (claim["verdict"], cited["relation"]) == ("contradicted", "contradiction")
    assert WRONG[claim["span"]["start"] : claim["span"]["end"]] == WRONG
    assert (cited["source"], cited["line"]) == ("employment-terms.md", 18)
    assert "8 weeks" in cited["quote"]
    assert 0 < cited["prior"] < 1
    assert found["summary"]["precision"] == 0


def test_langchain(names: Names) -> None:
    told = run(LANGCHAIN, dict(names))
    assert told["checked"]["answer"].content == WRONG
    check_refuted(told["checked"]["factcheck"])
    found = told["StoreRetriever"](checker=names["checker"], k=2).invoke("probation")
    assert len(found) == 2
    assert found[0].metadata["source"] == "employment-terms.md"
    assert 0 < found[0].metadata["prior"] < 1
    fact_check = told["FactCheck"](names["checker"])
    given = {"answer": WRONG, "question": QUESTION, "user": 7}
    checked = asyncio.run(fact_check.ainvoke(given))
    check_refuted(checked.pop("factcheck"))
    assert checked == given
    assert fact_check.invoke(told["AIMessage"](""))["factcheck"]["claims"] == []
    with pytest.raises(InputError, match="expected a text or a message, got NoneType"):
        fact_check.invoke({"question": QUESTION})


def test_llama_index(names: Names, failing: FactChecker) -> None:
    told = run(LLAMA_INDEX, dict(names))
    evaluated = told["evaluated"]
    assert (evaluated.passing, evaluated.score, evaluated.invalid_result) == (False, 0.0, False)
    assert "employment-terms.md:18, contradiction" in evaluated.feedback
    check_refuted(told["response"].metadata["factcheck"])
    assert str(told["response"]) == WRONG
    engine = told["CheckedQueryEngine"](told["Engine"](), names["checker"])
    check_refuted(asyncio.run(engine.aquery(QUESTION)).metadata["factcheck"])

    from llama_index.core.base.response.schema import AsyncStreamingResponse, StreamingResponse

    async def coming() -> AsyncGenerator[str, None]:
        yield WRONG

    parts = (part for part in WRONG.partition(" "))
    streamed = StreamingResponse(parts, metadata={"kept": 1})
    response = engine.postprocess(streamed, QUESTION)
    assert (response.response, response.metadata["kept"]) == (WRONG, 1)
    check_refuted(response.metadata["factcheck"])
    with pytest.raises(InputError, match="await its get_response"):
        engine.postprocess(AsyncStreamingResponse(coming()))

    evaluator = told["FactCheckEvaluator"]
    right = evaluator(names["checker"]).evaluate(QUESTION, RIGHT, ["unread"])
    assert (right.passing, right.score, right.contexts) == (True, 1.0, ["unread"])
    for checker, text, why in (
        (names["checker"], "", "no claim to check"),
        (failing, RIGHT, "1 claims could not be scored: no reply"),
    ):
        invalid = evaluator(checker).evaluate(QUESTION, text)
        assert (invalid.passing, invalid.score, invalid.invalid_result) == (None, None, True)
        assert why in invalid.invalid_reason


def test_haystack(names: Names) -> None:
    told = run(HAYSTACK, dict(names))
    answer = told["answer"]
    assert answer.data == WRONG
    check_refuted(answer.meta["factcheck"])
    assert {d.meta["source"] for d in answer.documents} == {"employment-terms.md"}
    assert any("4 months" in d.content for d in answer.documents)
    assert answer.documents[0].meta["prior"] > 0

    from haystack.dataclasses import ChatMessage

    replies = [ChatMessage.from_assistant(WRONG), ChatMessage.from_assistant("")]
    component = told["FactCheckComponent"](names["checker"])
    first, second = component.run(replies, QUESTION)["answers"]
    check_refuted(first.meta["factcheck"])
    assert (first.query, second.data, second.documents) == (QUESTION, "", [])


def test_deepeval(names: Names, failing: FactChecker) -> None:
    """In an environment of its own, see ``factcheck_local/adapters/deepeval.py``."""
    pytest.importorskip("deepeval")
    told = run(DEEPEVAL, dict(names))
    metric, right = told["metric"], told["LLMTestCase"](input=QUESTION, actual_output=RIGHT)
    assert (metric.score, metric.is_successful()) == (0.0, False)
    assert "employment-terms.md:18, contradiction" in metric.reason

    from deepeval import evaluate
    from deepeval.evaluate import AsyncConfig, DisplayConfig

    for parallel in (True, False):
        (result,) = evaluate(
            [right],
            [metric],
            async_config=AsyncConfig(run_async=parallel),
            display_config=DisplayConfig(print_results=False, show_indicator=False),
        ).test_results
        assert result.success
        assert [m.score for m in result.metrics_data] == [1.0]
    broken = told["FactCheckMetric"](failing)
    with pytest.raises(ScoringError, match="1 claims could not be scored"):
        broken.measure(right)
    assert (broken.score, broken.is_successful()) == (None, False)

    class Gone:
        def verify(self, _answer: object) -> None:
            raise StoreError("the store is gone")

    assert metric.measure(right) == 1.0
    metric.checker = Gone()
    with pytest.raises(StoreError):
        metric.measure(right)
    assert (metric.score, metric.success, metric.reason) == (None, None, None), "not those before"
    assert not metric.is_successful()
