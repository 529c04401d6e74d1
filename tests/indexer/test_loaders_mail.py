"""E-mail: headers, the part that is preferred, what is named and not read, mailboxes."""

from __future__ import annotations

from email.message import EmailMessage
from pathlib import Path

import pytest

from factcheck_local.core.errors import DocumentError

from .samples import MAILBOX, mail, outline, read

HEAD = "From: People <p@example.org>\nSubject: Leave\n"


def test_a_message_has_headers_text_and_named_attachments(corpus: Path) -> None:
    document = read(corpus, "a.eml", mail())
    head = (
        "From: People <people@example.org>\nTo: all@example.org\n"
        "Date: Fri, 01 Mar 2024 10:00:00 +0000"
    )
    assert outline(document) == [
        (("Leave policy",), "Leave policy"),
        (("Leave policy",), head),
        (("Leave policy",), "Staff get 25 days."),
        (("Leave policy",), "They ask."),
        (("Leave policy",), "Attachment, not read: rules.pdf (application/pdf)"),
    ]
    assert document.title == "Leave policy"
    assert document.metadata == {"date": "2024-03-01"}


def test_encoded_headers_are_decoded(corpus: Path) -> None:
    document = read(
        corpus, "a.eml", b"From: a@b\nSubject: =?utf-8?q?Caf=C3=A9?=\n =?utf-8?q?s?=\n\nx"
    )
    assert document.title == "Cafés"


def test_html_is_read_where_there_is_no_text(corpus: Path) -> None:
    html = "Content-Type: text/html\n\n<h1>Days</h1><p>Staff get <b>25</b>.</p><script>x</script>"
    assert outline(read(corpus, "a.eml", HEAD + html))[2:] == [
        (("Leave", "Days"), "Days"),
        (("Leave", "Days"), "Staff get 25."),
    ]


def test_an_empty_plain_alternative_gives_way(corpus: Path) -> None:
    message = EmailMessage()
    message["Subject"] = "Leave"
    message.set_content(" \n")
    message.add_alternative("<p>said in HTML</p>", subtype="html")
    message.get_payload()[1].add_related(b"\x89PNG", "image", "png", cid="<i>")  # type: ignore[union-attr, index]
    texts = [text for _, text in outline(read(corpus, "a.eml", message.as_bytes()))]
    assert texts == ["Leave", "said in HTML", "Attachment, not read: image/png"]


def test_a_message_within_is_named_by_its_subject(corpus: Path) -> None:
    inner, outer = EmailMessage(), EmailMessage()
    inner["Subject"] = "The old one"
    inner.set_content("unread")
    outer["Subject"] = "Fwd"
    outer.set_content("see below")
    outer.add_attachment(inner)
    texts = [text for _, text in outline(read(corpus, "a.eml", outer.as_bytes()))]
    assert texts[1:] == ["see below", "Attachment, not read: The old one (message/rfc822)"]


@pytest.mark.parametrize(
    ("charset", "body", "text"),
    [
        ("iso-8859-1", "café".encode("latin-1"), "café"),
        ("utf-8", "café".encode(), "café"),
        ("iso-8859-1", b"5 \x80, it\x92s", "5 €, it’s"),
        ("iso-8859-1", b"caf\xe9\x81", "café\x81"),
        ("us-ascii", b"it\x92s", "it’s"),
        ("us-ascii", "café".encode(), "café"),
        ("klingon", "café".encode(), "café"),
        ("utf-8", b"caf\xe9", "caf\ufffd"),
    ],
)
def test_charsets(corpus: Path, charset: str, body: bytes, text: str) -> None:
    head = f"{HEAD}Content-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: 8bit\n\n"
    document = read(corpus, "a.eml", head.encode() + body)
    assert outline(document)[-1][1] == text
    sound = body.decode("utf-8", "replace") == text and charset == "utf-8" and "\ufffd" not in text
    if not sound and charset not in ("iso-8859-1", "us-ascii"):
        problem = f"text that is not valid {charset.upper()} has replacements"
        assert document.metadata["left_out"] == (problem,)


def test_a_message_that_is_cut_off_says_so(corpus: Path) -> None:
    data = mail()
    document = read(corpus, "a.eml", data[: data.index(b"They ask")])
    assert "Staff get 25 days." in document.text
    assert document.metadata["left_out"]


@pytest.mark.parametrize("date", ["", "Date: yesterday\n", "Date: 99 Foo 2024 99:99\n"])
def test_without_a_date(corpus: Path, date: str) -> None:
    assert "date" not in read(corpus, "a.eml", f"{HEAD}{date}\ntext").metadata


@pytest.mark.parametrize("value", ["=?utf-8?q?=ZZ?=", "<@>", '"a', "a@b, <", ",;:<>@[]", "\x00"])
def test_broken_headers_do_not_cost_the_message(corpus: Path, value: str) -> None:
    head = "".join(f"{name}: {value}\n" for name in ("From", "To", "Subject", "Date"))
    assert "the text" in read(corpus, "a.eml", f"{head}\nthe text").text


@pytest.mark.parametrize("data", [b"plain text", b"key: value\n\ntext", b"\x89PNG\r\n\x1a\n" * 9])
def test_what_is_no_message(corpus: Path, data: bytes) -> None:
    with pytest.raises(DocumentError, match=r"^a\.eml: is not an e-mail message"):
        read(corpus, "a.eml", data)


def test_parts_nested_deeply_are_one_line(corpus: Path) -> None:
    deep = "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(3000))
    with pytest.raises(DocumentError, match=r"^a\.eml: is nested too deeply$"):
        read(corpus, "a.eml", HEAD + deep)


def test_each_message_of_a_mailbox_is_under_its_subject(corpus: Path) -> None:
    document = read(corpus, "a.mbox", MAILBOX)
    headings = [block.headings for block in document.blocks if block.is_heading]
    assert headings == [("One",), ("Two",)]
    assert document.text.count("Staff get 25 days.") == 2
    assert document.title == "a.mbox"


def test_from_within_a_text_begins_no_message(corpus: Path) -> None:
    paragraphs = [
        "These are\nFrom here on",
        ">From there",
        "From January on, it is 10 days.",
        "From Monday, Mon Mar 4, on.\nSubject: as before",
    ]
    text = f"From a@b Fri Mar  1 10:00:00 2024\n{HEAD}\n" + "\n\n".join(paragraphs)
    document = read(corpus, "a.mbox", text)
    assert [said for _, said in outline(document)][2:] == paragraphs


@pytest.mark.parametrize(
    "line",
    [
        "From a@b Sat Mar  2 09:30:00 2024",
        "From - Sat Mar 02 09:30:00 2024",
        "From  Sat Mar  2 09:30:00 2024",
        "From 17@xxx Sat Mar 02 09:30:00 +0000 2024\r",
        "From jo at example.org  Sat Mar  2 09:30 CET 2024",
        "From a@b Sat, 2 Mar 2024 09:30:00 +0100",
    ],
)
def test_a_message_begins_at_an_address_and_a_date(corpus: Path, line: str) -> None:
    document = read(corpus, "a.mbox", f"From a@b\n{HEAD}\none\n\n{line}\n{HEAD}\ntwo\n")
    assert [block.is_heading for block in document.blocks].count(True) == 2


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("Subject: x\n\ntext", "is not a mailbox"),
        ("text\n\nFrom a@b\nSubject: x\n\ny", "is not a mailbox"),
        (
            f"From a@b\n{HEAD}\nx\n\nFrom a@b Fri Mar  1 10:00:00 2024\nnothing",
            "message 2 has no header fields",
        ),
    ],
)
def test_mailboxes_that_cannot_be_read(corpus: Path, data: str, reason: str) -> None:
    with pytest.raises(DocumentError, match=rf"^a\.mbox: {reason}"):
        read(corpus, "a.mbox", data)


def test_a_charset_whose_name_cannot_be_one(corpus: Path) -> None:
    data = b'Subject: x\nContent-Type: text/plain; charset="a\x00\x1bb"\n\ncaf\xc3\xa9'
    document = read(corpus, "a.eml", data)
    assert "caf\xe9" in document.text
    assert document.metadata["left_out"] == ("text that is not valid A B has replacements",)


BROKEN_OFF = [
    ("Content-Disposition", "attachment; filename*0*=utf-8''a; filename*"),
    ("Content-Type", "text/plain; charset=utf-8; name*0*=utf-8''a; name*"),
]


@pytest.mark.parametrize(("field", "value"), BROKEN_OFF)
def test_a_field_that_breaks_off_costs_no_message_of_a_mailbox(
    corpus: Path, field: str, value: str
) -> None:
    broken = f"{HEAD}{field}: {value}\n\nthe text"
    document = read(corpus, "a.eml", broken)
    assert document.metadata["left_out"] == (f"the field {field} is broken",)
    mailbox = f"From a@b\n{broken}\n\nFrom a@b Sat Mar  2 09:30:00 2024\n{HEAD}\nthe next\n"
    document = read(corpus, "a.mbox", mailbox)
    assert [block.is_heading for block in document.blocks].count(True) == 2
    assert "the next" in document.text
    assert document.metadata["left_out"] == (f"message 1: the field {field} is broken",)


def test_a_part_whose_disposition_breaks_off_is_an_attachment_still(corpus: Path) -> None:
    field, value = BROKEN_OFF[0]
    document = read(corpus, "a.eml", f"{HEAD}{field}: {value}\n\nthe text")
    assert "Attachment, not read: a (text/plain)" in document.text
    assert "the text" not in document.text


def test_parts_are_read_though_the_field_that_parts_them_breaks_off(corpus: Path) -> None:
    data = f"{HEAD}Content-Type: multipart/mixed; boundary=x; name*0*\n\n--x\n\nthe text\n--x--\n"
    document = read(corpus, "a.eml", data)
    assert outline(document)[-1][1] == "the text"
    assert document.metadata["left_out"] == ("the field Content-Type is broken",)


def test_addresses_are_shown_as_they_are_written(corpus: Path) -> None:
    head = b"From: =?utf-8?q?J=C3=B6rg?= <j@example.org>\nTo: Zo\xc3\xab <z@example.org>, a@b (A)\n"
    document = read(corpus, "a.eml", head + b"Subject: x\n\ntext")
    shown = "From: J\xf6rg <j@example.org>\nTo: Zo\xeb <z@example.org>, a@b (A)"
    assert outline(document)[1][1] == shown
