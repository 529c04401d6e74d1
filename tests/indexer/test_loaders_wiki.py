"""MediaWiki and Confluence exports: pages, markup, and XML that must not be trusted."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from factcheck_local.core.errors import DocumentError

from .samples import MEDIAWIKI, outline, read


def page(wikitext: str) -> str:
    text = f"<text>{escape(wikitext)}</text>"
    return f"<mediawiki><page><title>T</title><revision>{text}</revision></page></mediawiki>"


def said(corpus: Path, wikitext: str) -> list[str]:
    return [text for _, text in outline(read(corpus, "a.xml", page(wikitext)))][1:]


def test_pages_sections_and_last_revisions(corpus: Path) -> None:
    document = read(corpus, "a.xml", MEDIAWIKI)
    assert outline(document) == [
        (("Tea",), "Tea"),
        (("Tea",), "Tea is a hot drink."),
        (("Tea", "Kinds"), "Kinds"),
        (("Tea", "Kinds"), "- green\n- black"),
        (("Tea", "Kinds"), "Year; Days"),
        (("Tea", "Kinds"), "Year: 2024; Days: 25"),
        (("Milk",), "Milk"),
        (("Milk",), "Milk is colour (white; since: 1900)."),
    ]
    assert document.title == "Our wiki"
    assert document.metadata == {}


def test_a_single_page_gives_its_date(corpus: Path) -> None:
    text = MEDIAWIKI[: MEDIAWIKI.index("<page><title>Milk")] + "</mediawiki>"
    assert read(corpus, "a.xml", text).metadata == {"date": "2024-03-01"}


@pytest.mark.parametrize(
    ("wikitext", "texts"),
    [
        ("a<ref>note</ref> b<!-- no -->&nbsp;c", ["a b\xa0c"]),
        ("'''''x''''' [http://e.org the site] http://f.org", ["x the site http://f.org"]),
        ("[[A]] [[:B]] [[C|c]]s", ["A B cs"]),
        ("[[File:x.png|thumb|100px|A '''cup''']] text", ["A cup", "text"]),
        (
            "{{Box\n| name = Tea\n| kind = [[A|b]]\n| {{x|y}} }}",
            ["Box (name: Tea; kind: b; x (y))"],
        ),
        ("{{Reflist}}text", ["text"]),
        ("# one\n## two\n: three\n; four", ["- one\n- - two\n three\n four"]),
        ("a<br/>b\n----\nc", ["a\nb", "c"]),
        ("{|\n|+ Days\n! Y !! D\n|-\n| 1 || 2\n|}", ["Days", "Y; D", "Y: 1; D: 2"]),
        (
            "{|\n! Plan !! Term !! Price\n|-\n| rowspan=2 | Basic || Monthly || 5\n|-\n"
            '| Yearly || 50\n|-\n| colspan="2" | All || 1\n|}',
            [
                "Plan; Term; Price",
                "Plan: Basic; Term: Monthly; Price: 5",
                "Plan: Basic; Term: Yearly; Price: 50",
                "Plan: All; Price: 1",
            ],
        ),
        # Headers of rows name no columns; those of columns do so up to the next ones.
        (
            "{|\n! Name\n| Acme\n|-\n! Founded\n| 1998\n|}",
            ["Name; Acme", "Founded; 1998"],
        ),
        (
            "{|\n! Land !! Capital\n|-\n| France || Paris\n|-\n! colspan=2 | People\n|-\n"
            "! Person !! Role\n|-\n| Anna || CEO\n|-\n! Total !! 1\n|}",
            [
                "Land; Capital",
                "Land: France; Capital: Paris",
                "People",
                "Person; Role",
                "Person: Anna; Role: CEO",
                "Person: Total; Role: 1",
            ],
        ),
        (
            "{|\n! rowspan=2 | Region !! colspan=2 | 2023\n|-\n! Q1 !! Q2\n|-\n"
            "| North || 1 || 2\n|}",
            ["Region; 2023", "Region; Q1; Q2", "Region: North; 2023 Q1: 1; 2023 Q2: 2"],
        ),
        ("in 1998<sup>1</sup>, 10<sup>6</sup> m<sup>2</sup>", ["in 1998¹, 10⁶ m²"]),
        ("costs <s>30</s> <del>20</del> <strike>x</strike> 25", ["costs    25"]),
        ('a <span style="text-decoration: line-through">b</span> c', ["a  c"]),
        ('a<div style="Display:none">b</div> c', ["a c"]),
        ("{{nowrap}}a{{cn}}", ["a"]),
        ("== ''One'' ==\na\n=== Two ===\n====== Six ======\nb", ["One", "a", "Two", "Six", "b"]),
        ("#REDIRECT [[Milk]]", ["- REDIRECT Milk"]),
        ("[[unclosed {{too {| '''x", ["[[unclosed {{too {| '''x"]),
    ],
)
def test_markup(corpus: Path, wikitext: str, texts: list[str]) -> None:
    assert said(corpus, wikitext) == texts


@pytest.mark.parametrize(
    ("rows", "last"),
    [
        # A template without values in a cell says its name, as it does nowhere else.
        ("| Basic || {{yes}} || {{no|none}}", "Plan: Basic; Old: yes; Now: no (none)"),
        ("| Basic || 5{{cn}} || {{tick}}<ref>{{cite}}</ref>", "Plan: Basic; Old: 5; Now: tick"),
        # What is struck out keeps its column.
        (
            '| Basic || style="text-decoration:line-through" | 4 || 5\n|- '
            'style="text-decoration:line-through"\n| Pro || 8 || 9\n|- '
            'style="display:none"\n| Max || 1 || 2',
            "Plan: Basic; Now: 5",
        ),
    ],
)
def test_cells_say_what_is_shown(corpus: Path, rows: str, last: str) -> None:
    texts = said(corpus, f"{{|\n! Plan !! Old !! Now\n|-\n{rows}\n|}}")
    assert texts[-1].splitlines()[-1] == last


@pytest.mark.parametrize("bracket", ["{{a|", "[[a|", "{|\n"])
def test_text_full_of_open_brackets_is_taken_as_written(corpus: Path, bracket: str) -> None:
    text = bracket * 5000 + "the end"
    assert said(corpus, text) == [text]


def test_broken_macros_take_linear_time(corpus: Path) -> None:
    for tag in (
        "<![CDATA[",
        "<ac:parameter ",
        "<ri:page ",
        "<ac:parameter>x",
        "<time ",
        "<ac:task-id>x",
    ):
        body = f"<property name='body'>{escape('start ' + tag * 20_000)}</property>"
        owner = "<property name='content'><id>1</id></property>"
        page = "<object class='Page'><id>1</id><property name='title'>T</property></object>"
        entry = f"<object class='BodyContent'>{body}{owner}</object>"
        export = f"<hibernate-generic>{page}{entry}</hibernate-generic>"
        begin = time.process_time()
        with suppress(DocumentError):  # nested too deeply, some of them
            read(corpus, "a.xml", export)
        assert time.process_time() - begin < 5


CONFLUENCE = """<?xml version="1.0" encoding="UTF-8"?>
<hibernate-generic datetime="2024-03-02 10:00:00">
<object class="Space" package="x"><id name="id">9</id>
<property name="name"><![CDATA[People]]></property></object>
<object class="Page" package="x"><id name="id">1</id>
<property name="title"><![CDATA[Leave]]></property>
<property name="contentStatus"><![CDATA[current]]></property>
<property name="lastModificationDate">2024-03-01 10:00:00.000</property></object>
<object class="Page" package="x"><id name="id">2</id>
<property name="title"><![CDATA[Leave]]></property>
<property name="originalVersion" class="Page"><id name="id">1</id></property></object>
<object class="Page" package="x"><id name="id">3</id>
<property name="title"><![CDATA[Draft]]></property>
<property name="contentStatus"><![CDATA[draft]]></property></object>
<object class="BodyContent" package="x"><id name="id">11</id>
<property name="body"><![CDATA[<h2>Days</h2><p>Staff get 25, see
<ac:link><ri:page ri:content-title="Rules" /></ac:link>.</p><ac:structured-macro ac:name="toc"/>
<ac:structured-macro ac:name="code"><ac:parameter ac:name="language">py</ac:parameter>
<ac:plain-text-body><![CDATA[if a < b: c()]] ></ac:plain-text-body></ac:structured-macro>
<table><tr><th>Year</th></tr><tr><td>2024</td></tr></table>]]></property>
<property name="content" class="Page"><id name="id">1</id></property></object>
<object class="BodyContent" package="x"><id name="id">12</id>
<property name="body"><![CDATA[<p>Old.</p>]]></property>
<property name="content" class="Page"><id name="id">2</id></property></object>
</hibernate-generic>"""


def test_confluence_gives_current_pages_only(corpus: Path) -> None:
    document = read(corpus, "entities.xml", CONFLUENCE)
    assert outline(document) == [
        (("Leave",), "Leave"),
        (("Leave", "Days"), "Days"),
        (("Leave", "Days"), "Staff get 25, see Rules."),
        (("Leave", "Days"), "if a < b: c()"),
        (("Leave", "Days"), "| Year |\n|---|\n| 2024 |"),
    ]
    assert document.title == "People"
    assert document.metadata == {"date": "2024-03-01"}


def body(corpus: Path, storage: str) -> str:
    """What a page of Confluence with this text says."""
    start = CONFLUENCE.index("<h2>Days")
    old = CONFLUENCE[start : CONFLUENCE.index("]]></property>", start)]
    document = read(corpus, "entities.xml", CONFLUENCE.replace(old, storage, 1))
    return "\n".join(text for _, text in outline(document)[1:])


@pytest.mark.parametrize(
    ("storage", "text"),
    [
        ('<p>Due <time datetime="2024-05-01" />.</p>', "Due 2024-05-01."),
        (
            "<table><tr><th>SSO</th><th>API</th><th>Log</th></tr><tr><td><ac:emoticon "
            'ac:name="tick" /></td><td><ac:emoticon ac:name="cross"/></td><td><ac:emoticon '
            'ac:name="blue-star" ac:emoji-shortname=":warning:" /></td></tr></table>',
            "| SSO | API | Log |\n|---|---|---|\n| yes | no | warning |",
        ),
        (
            "<ac:task-list>\n<ac:task>\n<ac:task-id>7</ac:task-id>\n<ac:task-uuid>x-1"
            "</ac:task-uuid>\n<ac:task-status>incomplete</ac:task-status>\n<ac:task-body><span>"
            "Renew contract</span></ac:task-body>\n</ac:task>\n<ac:task>\n<ac:task-id>8"
            "</ac:task-id>\n<ac:task-status>complete</ac:task-status>\n<ac:task-body>Pay 500"
            "</ac:task-body>\n</ac:task>\n</ac:task-list>",
            "* incomplete: Renew contract\n  * complete: Pay 500",
        ),
    ],
)
def test_confluence_says_what_its_elements_show(corpus: Path, storage: str, text: str) -> None:
    assert body(corpus, storage) == text


LAUGHS = (
    '<!DOCTYPE a [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">'
    + "".join(f'<!ENTITY {chr(c)} "{f"&{chr(c - 1)};" * 10}">' for c in range(ord("c"), ord("l")))
    + "]><mediawiki><page><title>&k;</title></page></mediawiki>"
)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (LAUGHS, "(declares XML entities|is not well-formed XML)"),
        ('<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname">]><mediawiki>&x;</mediawiki>',
         "declares XML entities or a document type"),
        ('<!DOCTYPE a SYSTEM "http://127.0.0.1:9/a.dtd"><mediawiki/>',
         "declares XML entities or a document type"),
        ("<mediawiki><page>", "is not well-formed XML: "),
        ("<mediawiki>&nbsp;</mediawiki>", "is not well-formed XML: "),
        ("text", "is not well-formed XML: "),
        ("<rss/>", r"is XML, but no MediaWiki or Confluence export \(its root is <rss>\)"),
        ("<mediawiki/>", "holds no text"),
        ("<mediawiki>" + "<a>" * 5000 + "</a>" * 5000 + "</mediawiki>", "is not well-formed XML"),
        ("<mediawiki><page><title>" + "x" * 11_000_000 + "</title></page></mediawiki>",
         "is not well-formed XML"),
    ],
)  # fmt: skip
def test_xml_that_is_refused(corpus: Path, text: str, reason: str) -> None:
    with pytest.raises(DocumentError, match=rf"^a\.xml: {reason}") as caught:
        read(corpus, "a.xml", text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("markup", ["{{a|", "[[a|", "{|\n|", "<b>", "* ", "=", "'''", "&lt;"])
def test_markup_nested_deeply_is_read_or_one_line(corpus: Path, markup: str) -> None:
    problem = ""
    try:
        texts = said(corpus, f"start {markup * 400} end")
    except DocumentError as error:
        texts, problem = [], str(error)
    assert texts or problem == "a.xml: is nested too deeply"
