"""Chat templates as data: what stands before and after a turn's content.

Kept apart from the content so that a document can never open or close a turn:
only these pieces are tokenised as markup.
"""

from __future__ import annotations

from dataclasses import dataclass

from factcheck_local.core.errors import ModelError


@dataclass(frozen=True, slots=True)
class ChatFormat:
    """``opening`` holds ``{role}``; ``closing`` ends a turn."""

    opening: str
    closing: str

    def open(self, role: str) -> str:
        """The markup in front of a turn of ``role``."""
        return self.opening.replace("{role}", role)


CHAT_FORMATS = {
    "chatml": ChatFormat("<|im_start|>{role}\n", "<|im_end|>\n"),
    "llama3": ChatFormat("<|start_header_id|>{role}<|end_header_id|>\n\n", "<|eot_id|>"),
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
