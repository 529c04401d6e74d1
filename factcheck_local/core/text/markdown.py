"""How Markdown is read, in documents and in answers alike."""

from __future__ import annotations

from markdown_it import MarkdownIt

#: Blocks within blocks that the parser goes into, with two calls on the stack for each. Below its
#: own limit of 20 text would be passed over without a word.
MAX_NESTING = 100


def markdown_parser(*without: str, inline_definitions: bool = False) -> MarkdownIt:
    """A parser of CommonMark with tables.

    Args:
        without: rules that are left out.
        inline_definitions: whether what defines a link has a token.
    """
    options = {"maxNesting": MAX_NESTING, "inline_definitions": inline_definitions}
    return MarkdownIt("commonmark", options).enable("table").disable(list(without))
