"""Texts, tables, records, source and messages: odd encodings, deep nesting, broken syntax."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator

from ..samples import MAILBOX, MARKDOWN, MEDIAWIKI, mail
from .case import LAUGHS, NESTED, NO_TEXT, Case, failed, indexed, skipped

QUOTES = '"' * 20_000


def cases() -> Iterator[Case]:
    yield from _texts()
    yield from _markup()
    yield from _records()
    yield from _source()
    yield from _messages()


def _texts() -> Iterator[Case]:
    for encoding in ("utf-8-sig", "utf-16", "utf-32"):
        for extension, text in ((".md", MARKDOWN), (".html", "<p>Caf\xe9 &amp; tea</p>")):
            yield indexed(f"{encoding}{extension}", text.encode(encoding), "1 passage$")
    for name, mark in (("8", codecs.BOM_UTF8), ("16", codecs.BOM_UTF16_BE)):
        yield failed(f"mark{name}.txt", mark, NO_TEXT)
        yield failed(f"mark{name}.html", mark, NO_TEXT)
    yield failed("no-mark.txt", "text".encode("utf-16-le"), r"looks binary \(NUL byte at offset 1")
    yield failed("odd16.md", "text".encode("utf-16") + b"x", "is not valid UTF-16 ")
    yield failed("half16.md", codecs.BOM_UTF16_LE + b"\x00\xd8x\x00", "is not valid UTF-16 ")
    yield failed("far32.md", codecs.BOM_UTF32_LE + b"\xff" * 8, "is not valid UTF-32 ")
    yield failed("nul.txt", b"text\x00text", r"looks binary \(NUL byte at offset 4\)")
    yield failed("control.md", b"\x01\x02text\x03", "looks binary .3 control characters among 7")
    yield failed("latin.md", b"caf\xe9", r"is not valid UTF-8 \(byte 0xe9 at offset 3\)")
    yield failed("cut8.txt", "text caf\xe9".encode()[:-1], "is not valid UTF-8 ")
    yield indexed("crlf.md", MARKDOWN.replace("\n", "\r\n"))
    yield indexed("cr.txt", "One.\rStill one.\r\rTwo.\r")
    yield indexed("mixed-ends.rst", "One\r===\r\nText.\n\rMore.\r\r\nEnd.")
    arabic = "\u0645\u0631\u062d\u0628\u0627"
    yield indexed(
        "right-to-left.md", f"# {arabic}\n\n\u202e{arabic} 25.\u202c \u05e9\u05dc\u05d5\u05dd"
    )
    yield indexed("separators.txt", "a\u2028b\x85c\x0bd\x0ce\u00a0g\u200bh")
    yield indexed("one-line.txt", "x" * 2_000_000, r"112 passages$")
    yield indexed("spaces.txt", "a" + " " * 2_000_000 + "b", "1 passage$")
    yield indexed("blank-lines.txt", "a" + "\r\n" * 500_000 + "b", "1 passage$")
    yield indexed("dots.txt", "." * 200_000)
    yield indexed("long-heading.md", "# " + "word " * 20_000 + "\n\n" + "Text.\n\n# A\n\n" * 50)


def _markup() -> Iterator[Case]:
    deep = 5_000
    yield indexed("quotes.md", "> " * deep + "deep")
    yield indexed("lists.md", "- " * deep + "deep")
    yield indexed("both.md", "> 1. " * deep + "deep")
    yield indexed("steps.md", "\n".join("  " * n + "- item" for n in range(400)))
    yield indexed("emphasis.md", "*a **b " * deep + "c** d*" * deep)
    yield indexed("brackets.md", "[" * deep + "a" + "](b)" * deep)
    yield indexed("ticks.md", "".join("`" * n + "a" for n in range(300)))
    yield indexed("wide.md", "\n".join(cell * 20_000 + "|" for cell in ("|a", "|-", "|1")))
    yield indexed("fence.md", "```\nnever closed\n" * 3)
    yield failed("yaml-deep.md", f"---\na: {'[' * deep}\n---\nx", "front matter is not valid YAML")
    yield failed("yaml-tag.md", "---\na: !!int ''\n---\nx", "front matter is not valid YAML")
    yield failed("yaml-day.md", "---\ndate: 2024-06-31\n---\nx", "front matter is not valid YAML")
    yield failed(
        "yaml-laughs.md",
        "---\na: &a [x, x]\nb: &b [*a, *a, *a]\ntitle: *b\n---\nx",
        "front matter is not valid YAML, line 3: aliases are not read$",
    )
    yield failed(
        "yaml-lines.md", '---\nreliability: "a\\n\\e[31mb"\n---\nx', "front matter, line 2"
    )
    yield failed("div.html", "<div>" * 50_000 + "deep", NESTED)
    yield failed("tables.html", "<table><tr><td>" * 50_000 + "deep", NESTED)
    yield indexed("laughs.html", LAUGHS.replace("<!DOCTYPE a", "<!DOCTYPE html") + "<p>&k; text")
    yield indexed("cut.html", "<main><h1>Title</h1><p>Text <b", "1 passage$")
    yield failed("remark.html", "<!-- never closed <p>text</p>", NO_TEXT)
    yield failed("unknown.html", "<meta charset='x\x1b[1m'>y", "declares the unknown encoding 'x'$")
    yield failed("script.html", "<script>" + "x" * 1000, NO_TEXT)
    yield indexed("attributes.html", "<p " + "a=b " * 2000 + ">text</p>")
    yield indexed("articles.html", "<article>text</article>" * 2_000)
    table = "<table><tr><td>a\x01&#2;</td></tr></table>"
    yield indexed("control.html", table + "<p>Enough text for a page of one control character." * 9)
    yield indexed("spaces.html", "<p>a" + " \n" * 5_000 + "b</p>")
    yield indexed(
        "include.rst", "Text.\n\n.. include:: /etc/hostname\n\n.. raw:: html\n   :url: x\n"
    )
    yield indexed("line.rst", "*word " * 20_000)
    yield failed("steps.rst", "\n\n".join(" " * n + "a" for n in range(600)), NESTED)
    yield failed("laughs.xml", LAUGHS + "<mediawiki>&k;</mediawiki>",
                 "is not well-formed XML|declares XML entities")  # fmt: skip
    yield failed("outside.xml", '<!DOCTYPE a SYSTEM "file:///etc/hostname"><mediawiki/>',
                 "declares XML entities or a document type$")  # fmt: skip
    yield failed("cut.xml", MEDIAWIKI[:400], "is not well-formed XML: ")
    yield failed("deep.xml", "<mediawiki>" + "<a>" * 5_000, "is not well-formed XML: ")
    yield skipped("other.xml", "<svg/>", r"is XML, but no MediaWiki or Confluence export")
    revision = "<revision><text>{}</text></revision>"
    page = f"<mediawiki><page><title>T</title>{revision}</page></mediawiki>"
    yield indexed("brackets.xml", page.format("{{a|[[" * 5_000))
    yield indexed("tags.xml", page.format("&lt;a &lt;!-- " * 5_000))


def _records() -> Iterator[Case]:
    yield indexed("halves.json", '{"title": "a\\ud800", "text": "\\udfffb", "\\udead": "c"}')
    yield failed("deep.json", "[" * 100_000 + "]" * 100_000, NESTED)
    yield failed("deep.jsonl", '{"a":' * 100_000 + "1" + "}" * 100_000, NESTED)
    yield failed("cut.json", '[{"text": "a"}, {"text": "b', "is not valid JSON, line 1: ")
    yield failed("cut.ndjson", '{"text": "a"}\n{"text": ', "is not valid JSON, line 2: ")
    yield failed("two.json", '{"a": 1}{"b": 2}', "is not valid JSON, line 1: text after the end")
    yield indexed("numbers.json", "[" + "1, " * 5_000 + "1e999999999, NaN]")
    yield indexed(
        "long-key.json", json.dumps({"k" * 20_000: dict.fromkeys(map(str, range(400)), 1)})
    )
    yield failed("quote.csv", 'a,b\n1,"never closed\n' + "2,3\n" * 100,
                 "row at line 2 cannot be read: unexpected end of data$")  # fmt: skip
    yield failed(
        "cell.csv", "a,b\n1," + "x" * 200_000, "row at line 2 cannot be read: field larger"
    )
    yield indexed("wide.csv", "a," * 20_000 + "\n" + "1," * 20_000 + "\n" + "2," * 20_000)
    yield indexed("long-head.csv", "h" * 100_000 + ",b\n" + "1,2\n" * 300)
    yield indexed("one-column.tsv", "\n".join(["word"] * 5_000))
    yield failed("commas.csv", ",,,\n" * 100, NO_TEXT)
    yield failed("nul.csv", b"a,b\n1,\x00", r"looks binary")


def _source() -> Iterator[Case]:
    yield failed("syntax.py", "def f(:\n    pass", "is not valid Python, line 1: invalid syntax")
    yield failed("brackets.py", "(" * 5_000, r"is not valid Python, line 1: too many nested")
    yield failed("minus.py", "'d'\nx = " + "-" * 50_000 + "1", NESTED)
    yield failed("sum.py", "'d'\nx = " + "+".join("1" * 50_000), NESTED)
    yield failed("indent.py", "\n".join(" " * n + "if a:" for n in range(200)),
                 "is not valid Python, line 101: too many levels of indentation$")  # fmt: skip
    yield failed("codec.py", "# coding: rot13\n'd'", "is not valid ROT13$")
    yield failed("unknown.py", "# coding: klingon\n'd'", "is not Python: unknown encoding")
    yield failed("utf-16.py", "'d'".encode("utf-16"), "is not Python: |is not valid Python")
    yield failed("nul.py", b"'d\x00'", "is not Python: |looks binary")
    yield skipped("bare.py", "x = 1\n", "holds no docstring$")
    yield indexed("elifs.py", "'d'\nif a: pass\n" + "elif a: pass\n" * 2_000)
    yield indexed("halves.py", "'a docstring with \\ud800 in it'")


def _messages() -> Iterator[Case]:
    head = "From: a@b\nSubject: x\n"
    parts = f"{head}Content-Type: multipart/mixed; boundary=x\n\n"
    yield failed("text.eml", "no header at all", "is not an e-mail message")
    yield indexed("charset.eml", f"{head}Content-Type: text/plain; charset=klingon\n\ncaf\xe9",
                  r"1 passage; text that is not valid KLINGON has replacements$")  # fmt: skip
    yield indexed("bytes.eml", b"Subject: caf\xe9\n\ncaf\xe9", "1 passage; text that is not valid")
    yield indexed("base64.eml", f"{head}Content-Transfer-Encoding: base64\n\n!!! no base64 !!!",
                  r"1 passage; text that is not valid UTF-8 has replacements$")  # fmt: skip
    yield indexed("never-closed.eml", f"{parts}--x\n\ntext",
                  "1 passage; the message ends in the middle of a part$")  # fmt: skip
    yield indexed("no-boundary.eml", f"{head}Content-Type: multipart/mixed\n\ntext")
    yield failed("deep.eml", head + "".join(
        f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(1_200)
    ), NESTED)  # fmt: skip
    yield indexed("words.eml", f"From: a@b\nTo: {'=?utf-8?q?a?= ' * 3_000}\n\ntext")
    yield indexed("dots.eml", f"Subject: x\nTo: {'.' * 50_000}\n\ntext")
    yield indexed("parameters.eml", f"{head}Content-Type: text/plain; {QUOTES}\n\ntext")
    yield indexed("parentheses.eml", f"{head}To: {'(' * 20_000}\n\ntext")
    yield indexed("half.eml", mail()[: len(mail()) // 2],
                  "1 passage; the message ends in the middle of a part$")  # fmt: skip
    yield failed("no-message.mbox", "From a@b Mon\n", "message 1 has no header fields$")
    yield failed("text.mbox", "Dear all,\n\nFrom a@b Mon\n", "is not a mailbox")
    yield indexed("half.mbox", MAILBOX[: len(MAILBOX) * 3 // 4],
                  "1 passage; message 2: the message ends in the middle of a part$")  # fmt: skip
    broken = (
        "From a@b Mon Mar  4 10:00:00 2024\nSubject: x\nContent-Type: text/plain; charset={}"
        "\n\n\xff\n\n"
    )
    yield indexed("charsets.mbox", "".join(map(broken.format, ["a\x1bb", *range(40), 0])).encode(
        "latin-1"), r"\d+ passages?; message 1: .* A B .* 38 more problems$")  # fmt: skip
