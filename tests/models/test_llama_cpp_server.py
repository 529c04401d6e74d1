"""A real server, ``python -m llama_cpp.server``, against the same file in this process.

The numbers are close and not the same: the server reads a prompt in batches of other sizes (see
``llama_context``), and its reply is read by the 20 most probable first tokens, in every spelling
of a label. Measured here, with the same kernels for attention, which it does not take by itself: at
most 0.04. Without them it is 0.03 on a processor with AVX-512 and 0.07 on one without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import numpy as np
import pytest

from factcheck_local.core.errors import ScoringError
from factcheck_local.models.contracts import Message
from factcheck_local.models.llama_context import GGML_TYPE_BF16
from factcheck_local.models.llama_cpp import LlamaCppModel
from factcheck_local.models.openai_server.model import ServerModel

from .llama_server import llama_server

TOLERANCE = 0.06
CONTEXT = 256

PASSAGE = "Staff get 25 days of leave a year. The office in Kiel opens at nine on weekdays. "
PROMPT = [
    Message("system", "Does the passage state the claim? Answer A for yes, B or C for no."),
    Message("user", f"Passage: {PASSAGE * 2}\n"),
]
ENDINGS = [
    "Claim: Staff get 25 days of leave.",
    "Claim: Staff get 30 days of leave.",
    "Claim: The office in Kiel opens at nine.",
    "Claim: Bananas are yellow.",
]
QUESTION = [
    Message("system", "You are a helpful assistant."),
    Message("user", "Name three colours of the rainbow."),
]

Start = Callable[..., str]
Connect = Callable[..., ServerModel]


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """Starts servers on loopback, given options; all are ended with the module."""
    with ExitStack() as stack:
        log = tmp_path_factory.mktemp("server")

        def start_one(*options: str) -> str:
            size = ("--n_ctx", str(CONTEXT))
            return stack.enter_context(llama_server(log, *size, *options))

        yield start_one


@pytest.fixture(scope="module")
def url(start: Start) -> str:
    """One that gives logprobs, with attention and values as in this process."""
    fused = ("--flash_attn", "true", "--type_v", str(GGML_TYPE_BF16))
    return start("--logits_all", "true", *fused)


@pytest.mark.parametrize("template", ["chatml", None])
def test_label_scores_are_those_of_this_process(
    url: str, connect: Connect, smollm: LlamaCppModel, template: str | None
) -> None:
    """With our template, and with the one that the file holds, which is the same."""
    served = connect(url, chat_format=template)
    scores = served.score_labels(PROMPT, ENDINGS, ["A", "B", "C"])
    own = smollm.score_labels(PROMPT, ENDINGS, ["A", "B", "C"])
    assert served.note == "label probabilities from the server's logprobs"
    assert np.exp(scores) == pytest.approx(np.exp(own), abs=TOLERANCE)
    assert (scores.argsort(axis=1) == own.argsort(axis=1)).all()
    assert np.exp(scores).sum(axis=1) == pytest.approx(np.ones(4))
    assert len({tuple(row) for row in scores.round(6)}) == 4, "the endings are read"


def test_other_labels_and_prompts(url: str, connect: Connect, smollm: LlamaCppModel) -> None:
    served = connect(url)
    for question in ("Is the sky blue?", "Is fire cold?", "Do fish swim?"):
        chat = [PROMPT[0], Message("user", question)]
        ending = [" Answer Yes or No.", "\nYes or No?"]
        scores = np.exp(served.score_labels(chat, ending, ["Yes", "No"]))
        own = np.exp(smollm.score_labels(chat, ending, ["Yes", "No"]))
        assert scores == pytest.approx(own, abs=TOLERANCE)
        assert (scores.argmax(axis=1) == own.argmax(axis=1)).all()


def test_scores_depend_on_nothing_but_the_prompt(url: str, connect: Connect) -> None:
    """Nor on what the server's cache holds: with fused attention, not to the last bit."""
    served = connect(url)
    forwards = np.exp(served.score_labels(PROMPT, ENDINGS, ["A", "B", "C"]))
    one = connect(url, concurrency=1)
    backwards = np.exp(one.score_labels(PROMPT, ENDINGS[::-1], ["C", "B", "A"]))
    assert forwards == pytest.approx(backwards[::-1, ::-1], abs=TOLERANCE)


def test_generation(url: str, connect: Connect, smollm: LlamaCppModel) -> None:
    """The same words, until two nearly equal logits let them part.

    That they do so between two requests to the server too is the server's cache.
    """
    served = connect(url)
    text = served.generate(QUESTION, max_tokens=16)
    own = smollm.generate(QUESTION, max_tokens=16)
    assert text.split()[:6] == own.split()[:6]
    assert served.generate(QUESTION, max_tokens=16).split()[:6] == own.split()[:6]
    short = served.generate(QUESTION, max_tokens=5)
    assert text.startswith(short)
    assert 0 < len(short) < len(text)
    stop = f" {text.split()[4]}"
    assert stop in text
    assert served.generate(QUESTION, max_tokens=16, stop=(stop,)) == text.split(stop)[0]
    words = own.split(" ")
    start = " ".join(words[:4])
    continued = served.generate(QUESTION, max_tokens=6, start=start)
    assert own[len(start) :].startswith(continued[:8])


def test_chat_generation(url: str, connect: Connect) -> None:
    ours, theirs = connect(url), connect(url, chat_format=None)
    # Both then find the prompt in the server's cache: its last words are a near tie, which goes
    # by how much of the prompt is read anew.
    theirs.generate(QUESTION, max_tokens=12)
    text = theirs.generate(QUESTION, max_tokens=12)
    assert text.strip() == ours.generate(QUESTION, max_tokens=12).strip() != ""


def test_a_prompt_that_does_not_fit(url: str, connect: Connect) -> None:
    served = connect(url)
    long = [Message("user", "word " * 600)]
    with pytest.raises(ScoringError, match=f"status 400, .*maximum context length is {CONTEXT}"):
        served.generate(long, max_tokens=5)
    with pytest.raises(ScoringError, match="maximum context length"):
        served.score_labels(long, ENDINGS, ["A", "B"])
    assert served.generate(QUESTION, max_tokens=3), "it is usable afterwards"


def test_a_server_without_logprobs(start: Start, connect: Connect) -> None:
    """Without logits_all it refuses logprobs with status 500, and replies are sampled."""
    served = connect(start("--logits_all", "false"), samples=4)
    solved = [
        (Message("user", f"Letter of {thing}?"), Message("assistant", label))
        for thing, label in (("apple", "A"), ("ball", "B"), ("ant", "A"), ("bee", "B"))
    ]
    chat = [message for pair in solved for message in pair] + [Message("user", "Letter of ")]
    scores = np.exp(served.score_labels(chat, ["apple?", "ball?"], ["A", "B"]))
    assert served.note == "label probabilities from 4 samples (no logprobs)"
    assert scores.sum(axis=1) == pytest.approx(np.ones(2))
    # At most four votes, ½ added to each label: nothing else can come out.
    possible = {(a + 0.5) / (n + 1) for n in range(1, 5) for a in range(n + 1)}
    assert all(min(abs(p - q) for q in possible) < 1e-9 for p in scores.ravel())
