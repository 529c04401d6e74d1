"""Which chat format a GGUF file's own template writes.

The template is a Jinja program that the model's publisher put into the file. It is run once, on a
chat of our own, in Jinja's sandbox, and what it writes is compared with our formats: so a model is
asked in the words that it was trained on, and content never meets a template.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from jinja2 import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from factcheck_local.core.errors import ModelError
from factcheck_local.models.chat_format import CHAT_FORMATS
from factcheck_local.models.llama_context import silence

_SYSTEM, _USER, _REPLY, _NEXT = "INSTRUCTIONS", "QUESTION", "ANSWER", "ANOTHER"
_ASKED = (("system", _SYSTEM), ("user", _USER))
_IN_TURNS = (("user", _USER), ("assistant", _REPLY), ("user", _NEXT))


@dataclass(frozen=True, slots=True)
class ChatTemplate:
    """What a GGUF file says of chats.

    Attributes:
        source: the template, in Jinja; None if the file has none.
        end: the text of the token that ends a text, which templates refer to.
    """

    source: str | None
    end: str


def template_of(path: Path) -> ChatTemplate:
    """Read the template of a GGUF file; its weights are not loaded.

    Raises:
        ModelError: if llama.cpp refuses the file.
    """
    import llama_cpp

    silence()
    params = llama_cpp.llama_model_default_params()
    params.vocab_only = True
    model = llama_cpp.llama_model_load_from_file(os.fsencode(path), params)
    if not model:
        raise ModelError(f"{path}: llama.cpp cannot load this file (truncated, or not a GGUF)")
    try:
        source = llama_cpp.llama_model_chat_template(model, None)
        vocab = llama_cpp.llama_model_get_vocab(model)
        token = llama_cpp.llama_vocab_eos(vocab)
        end = llama_cpp.llama_vocab_get_text(vocab, token) if token >= 0 else b""
        text = ctypes.string_at(source).decode("utf-8", "replace") if source else None
        return ChatTemplate(text, end.decode("utf-8", "replace"))
    finally:
        llama_cpp.llama_model_free(model)


def format_of(template: ChatTemplate) -> str:
    """The name of the chat format that a template writes.

    What it puts in front of the instructions (a date, a default) is passed over.

    Raises:
        ModelError: if it writes none of ours, or cannot be run.
    """
    if template.source is None:
        raise ModelError("the file has no chat template")
    try:
        asked = _asked(template)
        in_turns = _render(template, _IN_TURNS)
    except Exception as error:  # a program of somebody else's may fail in any way
        raise ModelError(f"the file's chat template cannot be read: {error!r}") from error
    for name, known in CHAT_FORMATS.items():
        opened = known.open("system") in asked.partition(_SYSTEM)[0]
        if (
            opened
            and _from(asked, _SYSTEM) == _from(known.text(_ASKED), _SYSTEM)
            and _from(in_turns, _USER) == _from(known.text(_IN_TURNS), _USER)
        ):
            return name
    raise ModelError("the file's chat template is none that is known here")


def _asked(template: ChatTemplate) -> str:
    """Instructions and a question; as one turn where a template knows no system's."""
    try:
        found = _render(template, _ASKED)
    except TemplateError:
        found = ""
    if _SYSTEM in found:
        return found
    return _render(template, (("user", f"{_SYSTEM}\n\n{_USER}"),))


def _render(template: ChatTemplate, chat: Sequence[tuple[str, str]]) -> str:
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.globals["raise_exception"] = _refuse
    environment.globals["strftime_now"] = lambda _format: ""
    return environment.from_string(template.source or "").render(
        messages=[{"role": role, "content": content} for role, content in chat],
        add_generation_prompt=True,
        bos_token="",
        eos_token=template.end,
    )


def _refuse(message: str) -> NoReturn:
    """What templates call where a chat is not to their liking."""
    raise TemplateError(message)


def _from(text: str, first: str) -> str:
    """What of a text comes from ``first`` on, pieces that only part turns evened out."""
    # Publishers' templates differ in spaces around a reply, which tokenisers do not see.
    return "".join(text[text.find(first) :].split(" "))
