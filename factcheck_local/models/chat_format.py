"""Chat templates as data: what stands before and after a turn's content.

Kept apart from the content so that a document can never open or close a turn:
only these pieces are tokenised as markup.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from factcheck_local.core.errors import ModelError


@dataclass(frozen=True, slots=True)
class ChatFormat:
    """The markup of a chat.

    Attributes:
        opening: of a turn; holds ``{role}``.
        closing: ends a turn.
        names: what the format calls a role, where it has another word.
        openings: of roles whose turns open in a way of their own.
        closings: likewise.
        folded: whether the instructions are the beginning of the user's turn behind them,
            in formats that know no system's turn; ``closings`` has what parts the two.
    """

    opening: str
    closing: str
    names: Mapping[str, str] | None = None
    openings: Mapping[str, str] | None = None
    closings: Mapping[str, str] | None = None
    folded: bool = False

    def open(self, role: str, before: str | None = None) -> str:
        """The markup in front of a turn of ``role``.

        Args:
            role: who speaks.
            before: whose turn stands in front of it, if any.
        """
        if self.folded and before == "system":
            return ""
        own = (self.openings or {}).get(role, self.opening)
        return own.replace("{role}", (self.names or {}).get(role, role))

    def close(self, role: str) -> str:
        """The markup behind a turn of ``role``."""
        return (self.closings or {}).get(role, self.closing)

    def text(self, turns: Iterable[tuple[str, str]]) -> str:
        """A chat as one text, up to where the assistant's next turn begins.

        Args:
            turns: role and content of each.
        """
        text, before = "", None
        for role, content in turns:
            text += self.open(role, before) + content + self.close(role)
            before = role
        return text + self.open("assistant")


CHAT_FORMATS = {
    "chatml": ChatFormat("<|im_start|>{role}\n", "<|im_end|>\n"),
    "gemma": ChatFormat(
        "<start_of_turn>{role}\n",
        "<end_of_turn>\n",
        names={"assistant": "model", "system": "user"},
        closings={"system": "\n\n"},
        folded=True,
    ),
    "llama3": ChatFormat("<|start_header_id|>{role}<|end_header_id|>\n\n", "<|eot_id|>"),
    "mistral": ChatFormat(
        "[INST] ",
        "[/INST]",
        openings={"assistant": ""},
        closings={"system": "\n\n", "assistant": "</s>"},
        folded=True,
    ),
    "mistral-tekken": ChatFormat(
        "[INST]",
        "[/INST]",
        openings={"assistant": ""},
        closings={"system": "\n\n", "assistant": "</s>"},
        folded=True,
    ),
    "mistral-v7": ChatFormat(
        "[INST]",
        "[/INST]",
        openings={"system": "[SYSTEM_PROMPT]", "assistant": ""},
        closings={"system": "[/SYSTEM_PROMPT]", "assistant": "</s>"},
    ),
    "phi3": ChatFormat("<|{role}|>\n", "<|end|>\n"),
    "phi4": ChatFormat("<|im_start|>{role}<|im_sep|>", "<|im_end|>"),
    "zephyr": ChatFormat("<|{role}|>\n", "</s>\n"),
}


def chat_format(name: str) -> ChatFormat:
    """Look a format up by the name that a model card gives.

    Raises:
        ModelError: if there is no such format.
    """
    try:
        return CHAT_FORMATS[name]
    except KeyError:
        known = ", ".join(sorted(CHAT_FORMATS))
        raise ModelError(f"unknown chat format {name!r}: expected one of {known}") from None
