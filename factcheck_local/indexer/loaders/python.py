"""Python source: the docstrings of module, classes and functions, under their names.

Offsets are offsets in the file. It is parsed and never imported. A signature is the
heading of its docstring, as it is written.
"""

from __future__ import annotations

import ast
import hashlib
import io
import re
import tokenize
import warnings
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from factcheck_local.core.errors import DocumentError
from factcheck_local.core.types import Block, Document, Span
from factcheck_local.indexer.loaders import UnsupportedFormatError
from factcheck_local.indexer.loaders.text import decode, paragraphs, shortened

_Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_Documented = ast.Module | _Definition

_LINE_END = re.compile(r"\r\n?|\n")
_REMARKS = re.compile(r"(?:\s*\n\s*#[^\n]*)*\s*\Z")  # between a signature and its docstring
_OPENING = re.compile(r"[A-Za-z]{0,2}(\"\"\"|'''|\"|')")


def load(data: bytes, source: str) -> Document:
    """Read the docstrings of a Python file.

    Raises:
        UnsupportedFormatError: if there are none.
        DocumentError: if the bytes are not text in the encoding that the file
            declares, or are not Python.
    """
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError as error:
        raise DocumentError(f"{source}: is not Python: {error.msg}") from error
    text = decode(data, source, encoding.removesuffix("-sig"))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes in the file's own strings
            tree = ast.parse(text)
    except SyntaxError as error:
        where = f", line {error.lineno}" if error.lineno else ""
        raise DocumentError(f"{source}: is not valid Python{where}: {error.msg}") from error
    except (MemoryError, RecursionError) as error:  # the parser's stack, not the machine's
        raise DocumentError(f"{source}: is nested too deeply") from error
    blocks = tuple(_blocks(text, tree))
    if not blocks:
        raise UnsupportedFormatError(f"{source}: holds no docstring")
    return Document(
        source=source,
        text=text,
        title=PurePosixPath(source).name,
        blocks=blocks,
        sha256=hashlib.sha256(data).hexdigest(),
    )


def _blocks(text: str, tree: ast.Module) -> Iterator[Block]:
    """Signatures as headings and the paragraphs of docstrings, in the file's order."""
    offset = _Offsets(text)
    for node, path in _documented(tree):
        if isinstance(node.body[0], ast.Expr) and ast.get_docstring(node, clean=False):
            inside = _inside(text, offset.span(node.body[0].value))
            if not isinstance(node, ast.Module):
                start = offset.start(node)
                signature = _REMARKS.sub("", text[start : offset.start(node.body[0])])
                yield Block(Span(start, start + len(signature)), path, is_heading=True)
            yield from paragraphs(text, inside.start, inside.end, path)


def _documented(tree: ast.Module) -> Iterator[tuple[_Documented, tuple[str, ...]]]:
    """Module, classes and functions in order, with the qualified names down to them."""
    stack: list[tuple[ast.AST, tuple[str, ...]]] = [(tree, ())]
    while stack:  # not recursive: a chain of elifs is as deep as it is long
        node, path = stack.pop()
        if isinstance(node, _Definition):
            name = f"{path[-1]}.{node.name}" if path else node.name
            path = (*path, shortened(name))
        if isinstance(node, _Documented) and node.body:
            yield node, path
        inner = [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr)]
        stack += [(child, path) for child in reversed(inner)]


class _Offsets:
    """From the parser's places, lines and bytes of UTF-8, to characters of the text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines: Sequence[int] = [0, *(match.end() for match in _LINE_END.finditer(text))]

    def start(self, node: ast.stmt | ast.expr) -> int:
        """Where a node begins; a definition after its decorators."""
        return self._at(node.lineno, node.col_offset)

    def span(self, node: ast.expr) -> Span:
        """Where an expression stands."""
        end = self._at(node.end_lineno or node.lineno, node.end_col_offset or 0)
        return Span(self.start(node), end)

    def _at(self, line: int, column: int) -> int:
        begin = self._lines[line - 1]
        stretch = self._text[begin : begin + column]
        return begin + len(stretch.encode()[:column].decode("utf-8", "ignore"))


def _inside(text: str, literal: Span) -> Span:
    """What stands between the quotes; of joined literals, all of them as written."""
    tokens = tokenize.generate_tokens(io.StringIO(f"({literal.of(text)})").readline)
    strings = sum(token.type == tokenize.STRING for token in tokens)
    opening = _OPENING.match(text, literal.start)
    if opening is None or strings > 1:
        return literal
    return Span(opening.end(), literal.end - len(opening[1]))
