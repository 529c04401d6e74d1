"""A chat model on a server: llama-server, vLLM, Ollama, ``python -m llama_cpp.server``.

Where the card names a chat format the prompt is written here, by the same
template as in this process, and sent to ``/completions``; the reply's
beginning is then simply the prompt's end. Where it names none the server has
the template: the chat goes to ``/chat/completions``, and the reply's beginning as a last turn
to be continued (``continue_final_message``, which vLLM and llama-server know; Ollama
continues by itself). A server that cannot continue a turn begins its own, so
for those a format has to be named. Ollama needs the second way: it puts its template
around whatever comes to ``/completions``.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt

from factcheck_local.core.errors import ModelError, ScoringError
from factcheck_local.models.cards import ModelCard
from factcheck_local.models.chat_format import ChatFormat, chat_format
from factcheck_local.models.contracts import Message
from factcheck_local.models.openai_server.client import ServerClient
from factcheck_local.models.openai_server.options import ServerOptions
from factcheck_local.models.openai_server.prompt import as_text, as_turns
from factcheck_local.models.openai_server.replies import (
    check_labels,
    first_token,
    label_logprobs,
    reply_text,
    vote,
    vote_logprobs,
)
from factcheck_local.models.prompts import finished

#: The most that OpenAI's chat interface, vLLM and Ollama return.
TOP_LOGPROBS = 20
SAMPLE_TEMPERATURE = 0.7
#: Longest sampled reply, in tokens: a label and a little, to see that it stands alone.
SAMPLE_TOKENS = 8

#: Holds nothing of a user's.
_PROBE = (Message("user", "Is water wet? Answer with one letter: A for yes, B for no."),)

#: What a server's list says of a model that does not change from call to call.
_LASTING = ("id", "object", "owned_by", "root", "parent", "max_model_len", "meta")

Chat = Sequence[Message]
Row = npt.NDArray[np.float64]
#: First tokens with their log probabilities; see ``first_token``.
Top = list[tuple[str, float]] | None

T = TypeVar("T")
R = TypeVar("R")


class ServerModel:
    """A model that a server has loaded; implements ``ChatModel``.

    Args:
        model_id: name of the model's card.
        options: the server, and how it is asked.
        pause: seconds before a request is sent again, doubled each time.

    Attributes:
        at_once: threads that may ask at the same time, see ``relation.scorer.Concurrent``.

    Raises:
        ModelError: if the server does not answer, or the model's name is open.
    """

    def __init__(self, model_id: str, options: ServerOptions, *, pause: float = 0.5) -> None:
        self.id = model_id
        self._options = options
        template = options.chat_format
        self._format: ChatFormat | None = chat_format(template) if template else None
        self._client = ServerClient(model_id, options, pause=pause)
        try:
            listed = self._listed()
            self._model = options.model or self._only(listed)
        except BaseException:
            self._client.close()
            raise
        said = next((m for m in listed if m.get("id") == self._model), {})
        self._lasting = {key: said[key] for key in _LASTING if key in said}
        self._has_logprobs: bool | None = None
        self._probed = False
        self._deciding = threading.Lock()
        self.at_once = options.concurrency

    @classmethod
    def from_card(cls, card: ModelCard) -> Self:
        """Build from a card; see ``ServerOptions`` for what it may hold.

        Raises:
            ModelError: if an option is malformed or the server does not answer.
        """
        return cls(card.id, ServerOptions.from_mapping(card.options))

    @property
    def sha256(self) -> str:
        """Names the server and how it is asked, not weights, which nobody here can hash.

        Over the address, the model's name, what ``/v1/models`` says of it, the chat format and
        ``note``: what is kept of scores from samples is not taken for those from logprobs. If
        nothing was scored yet, the server is asked a fixed question, to see which it gives.

        Raises:
            ModelError: if the server refuses any request.
        """
        if self._has_logprobs is None and not self._probed:
            self._probed = True
            # Of a server that fails on this it stays open until it scores something.
            with suppress(ScoringError):
                self._decide(_PROBE)
        named = [self._options.url, self._model, self._lasting]
        identity = json.dumps([*named, self._options.chat_format, self.note], sort_keys=True)
        return hashlib.sha256(identity.encode()).hexdigest()

    @property
    def note(self) -> str:
        """How labels are scored, which the first scoring finds out; empty before it."""
        if self._has_logprobs is None:
            return ""
        if self._has_logprobs:
            return "label probabilities from the server's logprobs"
        return f"label probabilities from {self._options.samples} samples (no logprobs)"

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _listed(self) -> list[dict[str, Any]]:
        """What ``/v1/models`` lists; nothing if it has another shape."""
        try:
            models = self._client.get("models").get("data")
        except ScoringError as error:
            raise ModelError(str(error), hint="is the server running?") from error
        return [m for m in models if isinstance(m, dict)] if isinstance(models, list) else []

    def _only(self, listed: Sequence[dict[str, Any]]) -> str:
        names = [str(m.get("id")) for m in listed]
        if len(names) != 1:
            found = f"it lists {', '.join(names)}" if names else "it lists none"
            raise ModelError(
                f"model {self.id}: {self._options.url}: which model? {found}",
                hint="factcheck models add NAME --server URL --model MODEL",
            )
        return names[0]

    # ------------------------------------------------------------ generation

    def generate(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int,
        stop: Sequence[str] = (),
        start: str = "",
        temperature: float = 0.0,
        seed: int = 0,
    ) -> str:
        """Continue the chat; see ``TextGenerator``.

        Raises:
            ModelError: if the server refuses any request.
            ScoringError: if it fails on this one, a prompt that does not fit included.
        """
        if max_tokens < 1:
            return ""
        stops = list(stop)
        if self._format is not None:
            # In case the server does not know the token that closes a turn.
            stops.append(self._format.close("assistant").strip())
        asked: dict[str, Any] = {"temperature": temperature, "seed": seed}
        asked["max_tokens"] = max_tokens
        if stops:
            asked["stop"] = stops
        with self._named():
            text = reply_text(self._ask(messages, start, **asked))
        # Some servers give back the turn they continued, whole.
        text = text.removeprefix(start)
        cut = min((at for at in map(text.find, stops) if at >= 0), default=len(text))
        return text[:cut]

    # --------------------------------------------------------------- scoring

    def score_labels(
        self, messages: Sequence[Message], endings: Sequence[str], labels: Sequence[str]
    ) -> npt.NDArray[np.float64]:
        """Score labels after endings of one shared prompt; see ``LabelScorer``.

        From the logprobs of the reply's first token, of which the server gives the
        most probable only (``replies.label_logprobs`` says what of the others).
        From the frequencies of labels in sampled replies where it gives none, which
        is decided once, by the first reply.

        Raises:
            ModelError: if the server refuses any request, or labels look alike.
            ScoringError: if it fails on one of these, or no label is found.
        """
        check_labels(labels)
        chats = [finished(messages, ending) for ending in endings]
        with self._named():
            rows = self._rows(chats, labels)
        return np.array(rows, dtype=np.float64).reshape(len(endings), len(labels))

    def _rows(self, chats: Sequence[Chat], labels: Sequence[str]) -> list[Row]:
        first: list[Row] = []
        if chats and self._has_logprobs is None and (top := self._decide(chats[0])):
            first = [_row(top, labels)]
        if chats and self._has_logprobs and not first:
            # The first one alone: the server then has the shared prompt cached.
            first = [_row(self._top(chats[0]), labels)]
        rest = chats[len(first) :]
        if self._has_logprobs:
            return first + self._map(lambda chat: _row(self._top(chat), labels), rest)
        draws = [(chat, seed) for chat in rest for seed in range(self._options.samples)]
        votes = iter(self._map(lambda draw: self._sample(*draw, labels), draws))
        return [
            vote_logprobs([next(votes) for _ in range(self._options.samples)], len(labels))
            for _ in rest
        ]

    def _decide(self, chat: Chat) -> Top:
        """See once for all whether the server gives distributions, by its reply to a chat.

        Returns:
            The reply's; None if it has none, or another thread has seen it meanwhile.
        """
        with self._deciding:
            if self._has_logprobs is not None:
                return None
            try:
                top = self._top(chat)
            except ScoringError as error:
                said = str(error).casefold()
                # llama-cpp-python without logits_all answers so, with status 500.
                if not ("logprobs" in said and "support" in said):
                    raise
                top = None
            # An empty reply, [], tells nothing of the server: the next one decides.
            if top == []:
                raise ScoringError("the reply is empty")
            self._has_logprobs = top is not None
            return top

    def _top(self, chat: Chat) -> Top:
        return first_token(self._ask_logprobs(chat))

    def _ask_logprobs(self, chat: Chat) -> dict[str, Any]:
        wanted: dict[str, Any] = {"logprobs": TOP_LOGPROBS}
        if self._format is None:
            wanted = {"logprobs": True, "top_logprobs": TOP_LOGPROBS}
        return self._ask(chat, "", temperature=0, seed=0, max_tokens=1, **wanted)

    def _sample(self, chat: Chat, seed: int, labels: Sequence[str]) -> int | None:
        asked = {"temperature": SAMPLE_TEMPERATURE, "seed": seed, "max_tokens": SAMPLE_TOKENS}
        return vote(reply_text(self._ask(chat, "", **asked)), labels)

    # --------------------------------------------------------------- request

    def _ask(self, messages: Sequence[Message], start: str, **asked: Any) -> dict[str, Any]:  # noqa: ANN401
        body = {"model": self._model, "stream": False, **asked}
        if self._format is not None:
            text = as_text(messages, self._format, start)
            return self._client.post("completions", body | {"prompt": text})
        if start:
            # vLLM and llama-server want both; neither may be given with no start.
            body |= {"continue_final_message": True, "add_generation_prompt": False}
        return self._client.post("chat/completions", body | {"messages": as_turns(messages, start)})

    def _map(self, work: Callable[[T], R], items: Sequence[T]) -> list[R]:
        """``work`` on each item, so many at once as the card says, results in order."""
        if len(items) < 2 or self._options.concurrency == 1:
            return [work(item) for item in items]
        with ThreadPoolExecutor(min(self._options.concurrency, len(items))) as pool:
            # After a failure what has not begun is cancelled.
            return list(pool.map(work, items))

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Put the server in front of what is wrong with its reply."""
        place = f"model {self.id}: {self._options.url}"
        try:
            yield
        except ScoringError as error:
            message = str(error)
            if message.startswith(place):
                raise
            raise ScoringError(f"{place}: {message}") from error


def _row(top: Top, labels: Sequence[str]) -> Row:
    if not top:
        raise ScoringError("the reply is empty" if top is not None else "a reply without logprobs")
    return label_logprobs(top, labels)


def check_server(card: ModelCard) -> str:
    """Ask a card's server one fixed question, which holds nothing of the user's.

    Returns:
        How it scores labels, as ``ServerModel.note`` says.

    Raises:
        ModelError: if it does not answer, or refuses every request.
        ScoringError: if its answer gives no label.
    """
    model = ServerModel.from_card(card)
    try:
        model.score_labels(_PROBE, [""], ("A", "B"))
        return model.note
    finally:
        model.close()
