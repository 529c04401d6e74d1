"""One loader a file format: bytes in, a `Document` with its structure out.

A loader is a function ``load(data: bytes, source: str) -> Document`` in a
module of its own; where `Format.ocr` is true it takes ``ocr_seconds``, too. A new format
is a module and its line in `LOADERS`, or a plugin of another distribution (``core.plugins``).
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import cast

from factcheck_local.core import plugins
from factcheck_local.core.errors import DocumentError, InputError
from factcheck_local.core.types import Document
from factcheck_local.indexer.loaders.text import printable, shortened


@dataclass(frozen=True, slots=True)
class Format:
    """What reads files of an extension.

    Attributes:
        module: module of this package, imported on first use.
        title: what the format is called.
        ocr: whether OCR can give it text.
        extra: of this package, with the library that reads it; empty where that is there.
    """

    module: str
    title: str
    ocr: bool = False
    extra: str = ""


_MARKDOWN = Format("markdown", "Markdown with YAML front matter")
_TEXT = Format("plain", "plain text")
_HTML = Format("html", "HTML, its main content")
_JSON = Format("json_records", "JSON export: an object or a list of them")
_JSON_LINES = Format("json_records", "JSON lines export, one object a line")
_PYTHON = Format("python", "Python source, its docstrings")

#: File extension, lower case -> its format: the one list of what can be read.
LOADERS = {
    ".md": _MARKDOWN,
    ".markdown": _MARKDOWN,
    ".rst": Format("rst", "reStructuredText", extra="rst"),
    ".txt": _TEXT,
    ".text": _TEXT,
    ".html": _HTML,
    ".htm": _HTML,
    ".pdf": Format("pdf", "PDF, its text layer", ocr=True),
    ".docx": Format("docx", "Word document"),
    ".pptx": Format("pptx", "PowerPoint presentation, with speaker notes"),
    ".xlsx": Format("xlsx", "Excel workbook, a statement for each row"),
    ".csv": Format("table", "comma-separated table, a statement for each row"),
    ".tsv": Format("table", "tab-separated table, a statement for each row"),
    ".eml": Format("eml", "e-mail message, attachments named only"),
    ".mbox": Format("mbox", "mailbox of e-mail messages"),
    ".jsonl": _JSON_LINES,
    ".ndjson": _JSON_LINES,
    ".json": _JSON,
    ".xml": Format(
        "wiki", "wiki export: MediaWiki pages, or Confluence's entities.xml", extra="wiki"
    ),
    ".py": _PYTHON,
}


class UnsupportedFormatError(DocumentError):
    """Nothing reads such a file, or there is nothing in it to be read: nothing failed."""


def why_unsupported(name: str) -> str | None:
    """The reason why a file of this name is not read, None where one loader reads it."""
    if not _is_unicode(name):
        return "its name is not valid UTF-8"
    extension = Path(name).suffix
    if extension.lower() in LOADERS or extension.lower() in plugins.plugin_names(plugins.LOADERS):
        return None
    return f"no loader for {extension}" if extension else "no loader for files without extension"


def load(path: Path, source: str, *, ocr_seconds: float | None = None) -> Document:
    """Read a file with the loader for its extension.

    Args:
        path: the file.
        source: what citations call it: its path below the corpus root, with
            forward slashes.
        ocr_seconds: time for OCR, which reads pages of a PDF that have no text; None for no OCR.

    Returns:
        The document; at least one of its blocks holds text.

    Raises:
        UnsupportedFormatError: if no loader reads this extension, or what is in the file:
            XML that is no export, a module without docstrings; or if its path is not UTF-8.
        DocumentError: if the file cannot be read, is not what its extension
            says, or holds no text; if OCR is asked for, needed, and not installed. The
            message is ``source: reason``, the reason one printable line.
    """
    try:
        return _loaded(path, source, ocr_seconds)
    except DocumentError as error:
        reason = str(error).removeprefix(f"{source}: ")  # it may quote the file
        raise type(error)(f"{source}: {shortened(printable(reason))}") from error


def _loaded(path: Path, source: str, ocr_seconds: float | None) -> Document:
    """As `load`, with reasons as the loaders put them."""
    if reason := why_unsupported(path.name if _is_unicode(source) else source):
        raise UnsupportedFormatError(f"{source}: {reason}")
    form = LOADERS.get(path.suffix.lower())
    try:
        mode = path.stat().st_mode
        if not S_ISREG(mode) and not S_ISDIR(mode):  # a pipe would never end
            raise DocumentError(f"{source}: is not a regular file")
        data = path.read_bytes()
    except OSError as error:
        raise DocumentError(f"{source}: cannot be read: {error.strerror}") from error
    if (not data or data.isspace()) and form is not _PYTHON:  # a module may be empty
        raise DocumentError(f"{source}: {'holds no text' if data else 'empty file'}")
    try:
        # Its libraries, too, may not fit in the memory that is left.
        document = (
            _by_plugin(path.suffix.lower(), data, source)
            if form is None
            else _by_form(form, data, source, ocr_seconds)
        )
    except RecursionError as error:
        raise DocumentError(f"{source}: is nested too deeply") from error
    except (DocumentError, MemoryError):
        raise
    except Exception as error:  # a library's fault, which must not end a run over many files
        what = f"{type(error).__name__}: {error}"
        raise DocumentError(f"{source}: its reader failed: {what}") from error
    if not document.blocks:
        raise DocumentError(f"{source}: holds no text")
    return document


def _by_form(form: Format, data: bytes, source: str, ocr_seconds: float | None) -> Document:
    """Read with a loader of this package.

    Raises:
        DocumentError: if its library is an extra that is not installed; else as it does.
    """
    try:
        module = import_module(f"{__name__}.{form.module}")
        options = {"ocr_seconds": ocr_seconds} if form.ocr else {}
        read = module.load(data, source, **options)
    except ModuleNotFoundError as error:
        if not form.extra:
            raise
        raise DocumentError(
            f"{source}: needs {error.name}: pip install 'factcheck-local[{form.extra}]'"
        ) from error
    return cast(Document, read)


def _by_plugin(extension: str, data: bytes, source: str) -> Document:
    """Read with a plugin.

    Raises:
        DocumentError: if that cannot be loaded, or gives no document; else as it does.
    """
    try:
        load_it = plugins.load_plugin(plugins.LOADERS, extension)
    except InputError as error:
        raise DocumentError(f"{source}: {error}") from error
    document = load_it(data, source)
    if not isinstance(document, Document):
        what = type(document).__name__
        raise DocumentError(f"{source}: its plugin gives {what}, expected a Document")
    return document


def _is_unicode(name: str) -> bool:
    """Whether a name is text; the bytes of one that is not are halves of surrogate pairs."""
    return name.isascii() or not any("\ud800" <= character <= "\udfff" for character in name)
