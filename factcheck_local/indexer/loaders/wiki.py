"""Wiki exports: MediaWiki's pages, and the pages of a Confluence space (entities.xml).

The text is extracted; each page is under its title. XML is read without document types,
entities or network.
"""

from __future__ import annotations

import io
from importlib import import_module
from pathlib import PurePosixPath

from lxml import etree

from factcheck_local.core.errors import DocumentError
from factcheck_local.core.types import Document
from factcheck_local.indexer.loaders import UnsupportedFormatError
from factcheck_local.indexer.loaders.layout import Layout

#: The root's name -> the module that reads it; MediaWiki's needs a library that is an extra.
_READERS = {"mediawiki": "mediawiki", "hibernate-generic": "confluence"}


def load(data: bytes, source: str) -> Document:
    """Read a wiki's export; one page alone gives the document its date.

    Raises:
        UnsupportedFormatError: if it is XML, but no export of these wikis.
        DocumentError: if the bytes are not well-formed XML, or declare a document type.
    """
    root = _parsed(data, source)
    name = etree.QName(root).localname
    if name not in _READERS:
        raise UnsupportedFormatError(
            f"{source}: is XML, but no MediaWiki or Confluence export (its root is <{name}>)"
        )
    layout = Layout()
    reader = import_module(f"factcheck_local.indexer.loaders.{_READERS[name]}")
    title, day = reader.lay_out(root, layout)
    return layout.document(source, data, title or PurePosixPath(source).name, {"date": day})


def _parsed(data: bytes, source: str) -> etree._Element:
    """The root element.

    Raises:
        DocumentError: as `load` does.
    """
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
    )
    try:
        tree = etree.parse(io.BytesIO(data), parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise DocumentError(f"{source}: is not well-formed XML: {_one(error)}") from error
    if tree.docinfo.doctype or tree.docinfo.internalDTD is not None:
        raise DocumentError(f"{source}: declares XML entities or a document type")
    return tree.getroot()


def _one(error: Exception) -> str:
    """An error's message on one line."""
    return " ".join(str(error).split())[:200]
