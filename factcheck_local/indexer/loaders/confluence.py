"""Confluence's space export, the file entities.xml: the current pages. `wiki` parses it.

A page's storage format is XHTML with macros; it is read by the HTML loader after their
text, which is in CDATA sections, and the titles that links name are made plain.
"""

from __future__ import annotations

import html as entities
import re

from lxml import etree

from factcheck_local.indexer.loaders import html
from factcheck_local.indexer.loaders.layout import Layout

# No pattern looks beyond the next tag: in broken markup that would take quadratic time.
_CDATA, _CDATA_END = "<![CDATA[", re.compile(r"\]\] ?>")
_PARAMETER = re.compile(r"<ac:parameter\b(?![^<>]*ac:name=\"title\")[^<>]*>[^<]*</ac:parameter>")
_SAYING = (  # elements that say something in an attribute
    re.compile(r"<ri:page\b[^<>]*?ri:content-title=\"([^\"<>]*)\"[^<>]*/>"),
    re.compile(r"<time\b[^<>]*?datetime=\"([^\"<>]*)\"[^<>]*/>"),
)
_EMOTICON = re.compile(r"<ac:emoticon\b([^<>]*)/>")
_ATTRIBUTE = re.compile(r"ac:([\w-]+)=\"([^\"<>]*)\"")
_ANSWERS = {"tick": "yes", "cross": "no"}
_TASKS = (  # of a list of tasks, and what they are in HTML
    (re.compile(r"<ac:task-(?:id|uuid)>[^<]*</ac:task-(?:id|uuid)>"), ""),
    (re.compile(r"<ac:task-status>([^<]*)</ac:task-status>"), r"\1: "),
    (re.compile(r"<(/?)ac:task-list\b[^<>]*>"), r"<\1ul>"),
    (re.compile(r"<(/?)ac:task>"), r"<\1li>"),
)
_EMPTY = re.compile(r"<((?:ac|ri):[\w-]+)([^<>]*)/>")  # HTML knows no empty element of these
_KINDS = ("Page", "BlogPost")


def lay_out(root: etree._Element, layout: Layout) -> tuple[str | None, str | None]:
    """Write each current page under its title; drafts and earlier versions are left out.

    Returns:
        The name of the space, and the day of the last change if there is one page.
    """
    bodies = {
        _reference(entry, "content"): _property(entry, "body")
        for entry in root.iterfind("object[@class='BodyContent']")
    }
    pages = [
        entry
        for entry in root.iterfind("object")
        if entry.get("class") in _KINDS
        and (_property(entry, "contentStatus") or "current") == "current"
        and not _reference(entry, "originalVersion")
    ]
    for page in pages:
        layout.heading(1, _property(page, "title") or "(without a title)")
        body = bodies.get((page.findtext("id") or "").strip(), "")
        layout.embed(*html.extract(_plain(body)), below=1)
    space = root.find("object[@class='Space']")
    day = _property(pages[0], "lastModificationDate")[:10] if len(pages) == 1 else None
    return _property(space, "name") if space is not None else None, day


def _property(entry: etree._Element, name: str) -> str:
    """A property's text, "" without it."""
    return (entry.findtext(f"property[@name='{name}']") or "").strip()


def _reference(entry: etree._Element, name: str) -> str:
    """The id that a property refers to, "" without it."""
    return (entry.findtext(f"property[@name='{name}']/id") or "").strip()


def _plain(body: str) -> str:
    """Storage format as HTML."""
    markup, *sections = body.split(_CDATA)
    parts = [_html(markup)]
    for section in sections:
        said, *markup_after = _CDATA_END.split(section, maxsplit=1)
        parts += [f"<pre>{entities.escape(said)}</pre>", *map(_html, markup_after)]
    return "".join(parts)


def _html(markup: str) -> str:
    """Markup between CDATA sections, without what only Confluence understands."""
    markup = _PARAMETER.sub("", markup)
    for pattern in _SAYING:
        markup = pattern.sub(r"<span>\1</span>", markup)
    markup = _EMOTICON.sub(_emoticon, markup)
    for pattern, replacement in _TASKS:
        markup = pattern.sub(replacement, markup)
    return _EMPTY.sub(r"<\1\2></\1>", markup)


def _emoticon(emoticon: re.Match[str]) -> str:
    """What an emoticon says: a tick and a cross answer a question, the others are their names."""
    stated = dict(_ATTRIBUTE.findall(emoticon[1]))
    name = stated.get("name", "")
    said = _ANSWERS.get(name) or stated.get("emoji-shortname", "").strip(":") or name
    return f"<span>{said}</span>"
