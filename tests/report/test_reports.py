"""Reports: the documented JSON, and pages and tables in which an answer is only text."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from html import escape, unescape
from typing import Any

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from factcheck_local.core.types import (
    AtomAssessment,
    Evidence,
    EvidenceLink,
    Relation,
    ScoredPair,
    Sensitivity,
    SourceReliability,
    Span,
    Verdict,
)
from factcheck_local.markov import infer, network_from_graph
from factcheck_local.metrics import binary_entropy, entropy, hallucination_score
from factcheck_local.pipeline.settings import Settings
from factcheck_local.report import SCHEMA, to_dict, to_fact_graph, to_markdown, to_text
from factcheck_local.report.html import to_html
from factcheck_local.report.text import made_with
from factcheck_local.report.view import SIGNS, citations, headline, one_line, percent, place

from .helpers import (
    ALL,
    CONTEXTS,
    CONTRADICTION,
    ENTAILMENT,
    PASSAGE,
    TEXT,
    assessment,
    atom,
    quote,
    run,
)


@pytest.fixture
def whole() -> dict[str, Any]:
    return to_dict(run(assessment(*ALL)))


def text_of(value: dict[str, Any], width: int = 200) -> str:
    return to_text(value, width=width, colour=False)


def rendered(markdown: str) -> str:
    return str(MarkdownIt("commonmark").enable("table").render(markdown))


# ----------------------------------------------------------------------- JSON


def test_keys_are_the_documented_ones(whole: dict[str, Any]) -> None:
    """Those of architecture.md; what is added to them is marked."""
    assert set(whole) == {
        *("schema", "run", "answer", "summary", "atoms", "contexts", "relations", "inference"),
        *("notes", "sources"),  # added
    }
    assert whole["schema"] == SCHEMA == "factcheck.assessment/1"
    assert set(whole["run"]) == {
        *("version", "settings", "models", "index", "started", "seconds"),
        *("signature", "prompts", "answer", "environment", "risk"),  # added
    }
    assert set(whole["run"]["answer"]) == {"sha256", "given"}
    assert set(whole["run"]["prompts"][0]) == {"id", "sha256"}
    assert set(whole["run"]["models"][0]) == {"role", "id", "sha256"}
    assert set(whole["run"]["index"]) == {"store", "collection", "chunks", "digest"}
    assert set(whole["answer"]) == {"path", "text", "question"}
    assert set(whole["summary"]) == {
        *("precision", "entropy", "binary_entropy", "hallucination_score", "counts"),
        *("precision_interval", "coverage"),  # added
    }
    assert set(whole["summary"]["counts"]) == {
        *("supported", "contradicted", "conflicting", "not_found", "unscored", "skipped"),
        *("unsupported", "undecided"),  # added, of judges with two labels, of thresholds
    }
    always = {"id", "text", "original", "kind", "span", "verdict", "probability", "evidence"}
    always |= {"certainty"}  # added
    extra = {"a0": {"repeats"}, "a2": {"label"}, "a4": {"reason"}}  # repeats, label: added
    for found in whole["atoms"]:
        assert set(found) == always | extra.get(found["id"], set())
        for evidence in found["evidence"]:
            assert set(evidence) == {"context", "relation", "probability", "quote"}
            assert evidence["quote"] is None or set(evidence["quote"]) == {"text", "start", "end"}
    documented = {"id", "source", "title", "text", "prior", "prior_rule"}  # prior_rule: added
    placed = documented | {"start", "end", "line"}
    assert [set(c) for c in whole["contexts"]] == [
        placed,
        placed | {"page"},
        documented | {"link"},
    ]
    assert [set(r) for r in whole["relations"]] == [
        {"from", "to", "relation", "entailment", "contradiction", "neutral"}
    ]
    assert set(whole["inference"]) == {
        *("method", "exact", "log_z", "converged"),
        *("multimodal", "error"),  # added
    }


def test_the_interval_resamples_sentences() -> None:
    """Atoms of one sentence go together: of two sentences one wholly right, one wholly wrong."""
    sentences = {0: (0.9, 0.8, 0.7), 1: (0.1,)}
    found = [
        AtomAssessment(
            replace(atom(i), id=f"a{i}{k}"),
            Verdict.SUPPORTED if p > 0.5 else Verdict.CONTRADICTED,
            p,
        )
        for i, own in sentences.items()
        for k, p in enumerate(own)
    ]
    summary = to_dict(run(assessment(*found)))["summary"]
    assert summary["precision"] == 3 / 4
    # Drawn are the first twice, the second twice, or each once: 1 and 0 have a quarter each.
    assert summary["precision_interval"] == [0.0, 1.0]
    one = to_dict(run(assessment(*found[:3])))["summary"]
    # One sentence says nothing of others.
    assert (one["precision"], one["precision_interval"]) == (1.0, None)
    none = to_dict(run(assessment(*ALL[5:])))["summary"]
    assert none["precision_interval"] is None


def test_values(whole: dict[str, Any]) -> None:
    assert json.loads(json.dumps(whole, allow_nan=False)) == whole
    counts = dict.fromkeys(whole["summary"]["counts"], 1) | {"unsupported": 0, "undecided": 0}
    assert whole["summary"]["counts"] == counts
    scored = [0.97, 0.25, 0.04, 0.5]
    assert whole["summary"]["precision"] == 1 / 4
    assert whole["summary"]["entropy"] == entropy(scored)
    assert whole["summary"]["binary_entropy"] == binary_entropy(scored)
    # One is contradicted; a conflict and what is not found are undecided.
    assert whole["summary"]["hallucination_score"] == hallucination_score(1, 2, 4, alpha=0.5)
    assert whole["summary"]["coverage"] == 2 / 4
    for found in whole["atoms"]:
        assert TEXT[found["span"]["start"] : found["span"]["end"]] == found["original"]
    assert whole["atoms"][0]["repeats"] == [{"start": 18, "end": 20}]
    assert whole["relations"][0] | {"neutral": 0} == {
        **{"from": "c1", "to": "a0", "relation": "entailment"},
        **{"entailment": 0.9, "contradiction": 0.02, "neutral": 0},
    }
    assert whole["run"]["seconds"] == {"atomize": 1.23, "relate": 0.5}


def test_quotes_are_verbatim(whole: dict[str, Any]) -> None:
    contexts = {c["id"]: c for c in whole["contexts"]}
    checked = 0
    for evidence in (e for a in whole["atoms"] for e in a["evidence"] if e["quote"]):
        context, quote = contexts[evidence["context"]], evidence["quote"]
        start = context.get("start", 0)
        assert context["text"][quote["start"] - start : quote["end"] - start] == quote["text"]
        checked += 1
    assert checked == 5


@pytest.mark.parametrize("atoms", [(), ALL[4:], ALL[5:]])
def test_nothing_to_measure_is_none_and_not_nan(atoms: tuple[AtomAssessment, ...]) -> None:
    found = to_dict(run(replace(assessment(*atoms), pairs=())))
    json.dumps(found, allow_nan=False)
    counts = found["summary"].pop("counts")
    assert set(found["summary"].values()) == {None}
    assert sum(counts.values()) == len(atoms)
    said = "no claim could be scored" if counts["unscored"] else "nothing to verify"
    whole = found | {"summary": found["summary"] | {"counts": counts}}
    assert headline(whole).startswith(said)
    assert said in to_html(whole)


def test_a_share_of_all_but_one_is_not_all() -> None:
    one = AtomAssessment(atom(0), Verdict.SUPPORTED, 0.9)
    right = [replace(one, atom=replace(one.atom, id=f"b{i}")) for i in range(299)]
    wrong = AtomAssessment(atom(1), Verdict.CONTRADICTED, 0.1)
    found = to_dict(run(replace(assessment(*right, wrong), pairs=())))
    assert headline(found).startswith("factual precision 0.99, coverage 1.00: 299 supported")
    assert 'data-json="/summary/precision">0.99<' in to_html(found)


def test_what_did_not_converge_says_so(whole: dict[str, Any]) -> None:
    whole["inference"] |= {"converged": False, "exact": False, "error": 0.0123}
    said = ", error of a probability about 0.012, which did not converge"
    assert said in text_of(whole)
    assert said in to_markdown(whole)
    assert "which did not converge" in to_html(whole)


def test_a_retriever_has_no_count_and_no_digest(whole: dict[str, Any]) -> None:
    whole["run"]["index"] = {"store": "our wiki", "collection": "", "chunks": None, "digest": ""}
    assert ", index our wiki;" in made_with(whole["run"])
    assert "- index: our wiki, of which nobody can tell what it holds" in to_markdown(whole)
    assert "<dd>our wiki, of which nobody can tell what it holds</dd>" in to_html(whole)


def test_a_passage_without_a_sentence_is_not_quoted_as_nothing(whole: dict[str, Any]) -> None:
    whole["atoms"][2]["evidence"][0]["quote"] = None
    for shown in (text_of(whole), to_markdown(whole)):
        assert "“”" not in shown
        assert "no sentence of it is quoted" in " ".join(shown.split())


def test_a_judge_that_is_not_installed_here_is_one(whole: dict[str, Any]) -> None:
    """A report of its run says the same on a machine without the plugin."""
    whole["run"]["settings"]["assessor"] = "somebody's judge"
    assert "Judged without passages." in text_of(whole)
    assert "a judge&#39;s own" in to_html(whole)


# ----------------------------------------------------------------------- view


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "–"),
        (0.0, "0.0 %"),
        (1.0, "100.0 %"),
        (0.5, "50.0 %"),
        (0.9994, "99.9 %"),
        (0.99999999, "99.9 %"),
        (1e-12, "0.1 %"),
        (0.0015, "0.1 %"),
        (0.123456, "12.3 %"),
        # a claim at ½ has no verdict, so nothing else is shown like it
        (0.5004, "50.1 %"),
        (0.49999, "49.9 %"),
        (0.5 - 6e-17, "50.0 %"),
    ],
)
def test_percent(value: float | None, shown: str) -> None:
    assert percent(value) == shown


@given(st.floats(0, 1))
def test_percent_is_near_and_never_certain(value: float) -> None:
    shown = float(percent(value).removesuffix(" %")) / 100
    assert math.isclose(shown, value, abs_tol=0.0011)
    assert (shown in (0, 1)) == (value in (0, 1))


def test_place_is_that_of_the_quote(whole: dict[str, Any]) -> None:
    first, paged, linked = whole["contexts"]
    document = "x\n" * 6 + "y" * 88 + PASSAGE
    assert document.index(PASSAGE) == first["start"]
    assert document[: first["start"]].count("\n") + 1 == first["line"] == 7
    for text, line in {"# Leave": 7, "Staff get 25 days.": 9, "Leave is 25 days a": 10}.items():
        start = document.index(text)
        quote = {"text": text, "start": start, "end": start + len(text)}
        assert document[:start].count("\n") + 1 == line
        assert place(first, quote) == f"leave.md:{line}"
    assert place(first, None) == "leave.md:7"
    assert place(paged, None) == "old.pdf, p. 3"
    assert place(linked, None) == "http://x"
    # What a retriever of one's own finds may have a line, and no place in a file.
    own = {"source": "terms.md", "text": "Term: 1 year.\nFee: 5.", "line": 3}
    assert place(own, {"text": "Fee: 5.", "start": 14, "end": 21}) == "terms.md:4"


def test_the_deciding_piece_comes_first(whole: dict[str, Any]) -> None:
    supported = list(citations(whole, whole["atoms"][0]))
    assert [c.relation for c in supported] == ["entailment", "contradiction"]
    assert supported[0].place == "leave.md:10"
    assert supported[1].quote == ""


def test_a_conflict_shows_the_strongest_of_each_side(whole: dict[str, Any]) -> None:
    found = list(citations(whole, whole["atoms"][1]))
    assert [(c.relation, c.place, c.prior) for c in found] == [
        ("contradiction", "leave.md:9", 0.98),
        ("entailment", "old.pdf, p. 3", 0.6),
    ]
    for shown in (text_of(whole), to_markdown(whole)):
        assert "Staff get 25 days." in shown
        assert "“Leave is 30 days.”" in shown


def test_headline(whole: dict[str, Any]) -> None:
    assert headline(whole) == (
        "factual precision 0.25, coverage 0.50: 1 supported, 1 contradicted, 1 conflicting, "
        "1 not found, 1 unscored, 1 skipped"
    )


# -------------------------------------------------------------- text, Markdown


def test_text_ends_with_what_the_run_was_made_with(whole: dict[str, Any]) -> None:
    """Settings that are no defaults; the JSON has all of them."""
    run = {**whole["run"], "settings": {**Settings().as_dict(), "k": 7}}
    models = [f"{m['id']} {m['sha256'][:8]}" for m in run["models"]]
    line = made_with(run)
    assert line.startswith(f"made with: factcheck-local {run['version']}, ")
    assert all(model in line for model in models)
    assert line.endswith("; settings: k=7")
    assert made_with({**run, "settings": Settings().as_dict()}).endswith("; settings: defaults")
    assert "made with: factcheck-local" in text_of(whole)


def test_text(whole: dict[str, Any]) -> None:
    shown = text_of(whole)
    for verdict, sign in SIGNS.items():
        if whole["summary"]["counts"][verdict] and verdict != "skipped":
            assert f"{sign} {verdict.replace('_', ' ')}" in shown
    assert "leave.md:10 (entailment 95.0 %, source 0.98)" in shown
    assert "the passage does not fit" in shown
    assert "Nothing in the documents relates to it." in shown
    assert "not check-worthy, so not verified:\n  other: Hi!" in shown
    assert "note: rewordings not trusted: 2" in shown
    assert "made with: factcheck-local" in shown
    assert "\x1b" not in shown
    assert "\x1b[" in to_text(whole, width=100, colour=True)
    assert max(map(len, text_of(whole, width=80).splitlines())) <= 80


def test_markdown(whole: dict[str, Any]) -> None:
    page = to_markdown(whole)
    assert "| ✓ supported | 97.0 % | Leave is 25 days. |" in page
    assert "| - skipped (other) | – | Hi\\! |" in page
    assert "- entailment 95.0 %, source prior 0.98, leave.md:10, “Leave is 25 days a year.”" in page
    assert "Could not be scored: the passage does not fit" in page
    assert "Nothing in the documents relates to it." in page
    assert "Question: How much leave?" in page
    html = rendered(page)
    assert html.count("<tr>") == 1 + len(ALL)
    assert "leave.md:10" in html


@pytest.mark.parametrize("atoms", [(), ALL[5:]])
def test_nothing_check_worthy(atoms: tuple[AtomAssessment, ...]) -> None:
    found = to_dict(run(assessment(*atoms)))
    assert "nothing to verify" in text_of(found)
    assert "nothing to verify" in to_markdown(found)
    assert ("Hi!" in text_of(found)) == bool(atoms)


HOSTILE = (
    "a | b || c\n| x | y |\r\n\n# Head `code` ``` <script>alert(1)</script> <b>&amp; "
    "[link](http://evil) ![i](x) *em* __strong__ ~~no~~ \\ \\| [red]markup[/red] [/] :smile: "
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x9b2J \x00 \u202egnp.exe \u2028 \x85 \t end\\"
)


def hostile() -> dict[str, Any]:
    """Everything that comes from an answer or a document says something nasty."""
    span = Span(0, len(HOSTILE))
    contexts = tuple(replace(c, source=HOSTILE, title=HOSTILE, text=HOSTILE) for c in CONTEXTS)
    atoms = tuple(
        replace(
            a,
            atom=replace(a.atom, text=HOSTILE, original="In the answer: " + HOSTILE, span=span),
            reason=HOSTILE if a.reason else None,
            evidence=tuple(
                replace(e, quotes=tuple(replace(q, text=HOSTILE) for q in e.quotes))
                for e in a.evidence
            ),
        )
        for a in ALL
    )
    found = assessment(*atoms, text=HOSTILE)
    answer = replace(found.answer, path=HOSTILE, question=HOSTILE)
    return to_dict(run(replace(found, answer=answer, contexts=contexts, notes=(HOSTILE,))))


def test_markdown_is_not_taken_over() -> None:
    page = to_markdown(hostile())
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e]", page)
    harmless = to_markdown(to_dict(run(assessment(*ALL))))
    # Without what keeps a host from making links.
    html = rendered(page).replace("\u200b", "")
    # "In the answer" lines come on top; beyond them, the page has the same structure.
    extra = (len(ALL) - 1) * ["p", "/p"]
    tags = sorted(re.findall(r"<(/?\w+)", html))
    assert tags == sorted(re.findall(r"<(/?\w+)", rendered(harmless)) + extra)
    assert not {"script", "a", "img", "em", "b"} & set(tags)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "&amp;amp;" in html
    assert "[link](http://evil)" in html


def test_what_a_stored_run_says_of_itself_takes_nothing_over() -> None:
    """A file may say anything, also where the package writes words of its own."""
    harmless = to_dict(run(assessment(*ALL)))
    value = json.loads(json.dumps(harmless))
    value["run"] |= {"signature": HOSTILE, "started": HOSTILE, "seconds": {HOSTILE: 1.0}}
    value["run"]["models"] = [{"role": HOSTILE, "id": HOSTILE, "sha256": HOSTILE}]
    value["run"]["index"] |= {"chunks": HOSTILE, "digest": HOSTILE}
    value["inference"]["method"] = value["atoms"][5]["kind"] = HOSTILE
    value["summary"]["counts"][HOSTILE] = 1
    for evidence in (e for a in value["atoms"] for e in a["evidence"]):
        evidence["relation"] = HOSTILE
    text, page = to_text(value, width=2000, colour=False), to_markdown(value)
    for shown in (text, page):
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e]", shown)
    html = rendered(page).replace("\u200b", "")
    tags = sorted(re.findall(r"<(/?\w+)", rendered(to_markdown(harmless))))
    # Of the two sides of the conflict one is left, of the same relation.
    assert sorted([*re.findall(r"<(/?\w+)", html), "li", "/li"]) == tags
    assert html.count(f"<code>{escape(one_line(HOSTILE), quote=False)}</code>") == 3


LIVE = (
    "See https://evil.example/x?a=1, http://evil.example, ftp://evil.example and www.evil.example, "
    "write to me@evil.example or mailto:me@evil.example; @octocat and @org/team say #12, GH-12, "
    "org/repo#12, !34, $56, %78, %release, ~bug, &9, org@0123abc, "
    "9fceb02d0ae598e95dc970b74767f19372d61af8, 9fceb02 :tada: :+1: $x^2$ C#minor @"
)

#: What GitHub and GitLab make links, pictures or formulas of once Markdown was read.
HOSTS = (
    r"(https?|ftp):",
    r"www\.",
    r"@[\w/]",
    r"[#!$%~&]\w",
    r"\bGH-\d",
    r":[\w+-]+:",
    r"\b(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{7,40}\b",
)


def test_markdown_gives_a_host_nothing_to_link() -> None:
    value = to_dict(run(assessment(*ALL)))
    for named in (*value["atoms"], *value["contexts"]):
        named["text"] = LIVE
    for evidence in (e for a in value["atoms"] for e in a["evidence"] if e["quote"]):
        evidence["quote"]["text"] = LIVE
    value["answer"] |= {"path": LIVE, "question": LIVE}
    value["notes"] = [LIVE]
    page = to_markdown(value)
    # By the host's own parser, with its autolinks.
    html = cmarkgfm.github_flavored_markdown_to_html(page, options=Options.CMARK_OPT_UNSAFE)
    assert "<a" not in html
    read = unescape(re.sub(r"<[^>]*>", "\n", html))
    mine = [line for line in read.splitlines() if "evil" in line]
    assert len(mine) == 6 + 5 + 4 + 3
    for line in mine:
        for pattern in HOSTS[2:]:
            assert not re.search(pattern, line, re.IGNORECASE), pattern
        for pattern in HOSTS[:2]:
            assert not re.search(pattern + r"(//|\w)", line)
        # Nothing but the space of no width was added.
        assert LIVE in line.replace("\u200b", "")
    links = cmarkgfm.github_flavored_markdown_to_html(LIVE)
    assert links.count("<a ") == 6, "the parser does link what is not kept apart"


PIECES = (
    "http:// https:// ftp:// www. mailto: xmpp: a@b.c @ # a b1 0a1b2c3 GH- gh-1 : smile +1 $ x^2 "
    "! % ~ & amp; \\ / _ - . * ` é 1 34"
).split()


@given(st.lists(st.sampled_from([*PIECES, " "]), max_size=8).map("".join))
def test_whatever_is_said_a_host_links_nothing_and_shows_it(text: str) -> None:
    value = to_dict(run(assessment()))
    value["answer"]["question"] = text = f"x {text}"
    html = cmarkgfm.github_flavored_markdown_to_html(to_markdown(value))
    assert "<a" not in html
    (line,) = re.findall("Question: (.*)</p>", html)
    read = unescape(re.sub("<[^>]*>", "", line))
    assert read.replace("\u200b", "").strip() == one_line(text)
    assert not any(re.search(pattern, read, re.IGNORECASE) for pattern in HOSTS[2:])


def test_only(whole: dict[str, Any]) -> None:
    only = {"contradicted", "skipped"}
    shown = to_text(whole, width=200, colour=False, only=only)
    assert "✗ contradicted" in shown
    assert "other: Hi!" in shown
    assert "Shown: contradicted, skipped; 2 of 6 claims." in shown
    page = to_markdown(whole, only=only)
    assert "Shown: contradicted, skipped; 2 of 6 claims." in page
    for text in (shown, page):
        assert headline(whole) in text, "the counts stay those of the answer"
        assert not re.search("[✓≠?!] (supported|conflicting|not found|unscored)", text)
        assert "Lunch is free" not in text
    assert len(re.findall("^### ", page, re.MULTILINE)) == 1
    none = to_text(whole, width=200, colour=False, only={"unscored"})
    assert "the passage does not fit" in none
    assert "not check-worthy" not in none


def test_the_bar_is_as_long_as_the_claim_is_probable(whole: dict[str, Any]) -> None:
    """Ten columns in halves: 0.97 has 19 halves, 0.25 five, 0.04 none, 0.5 ten."""
    rows = [line for line in text_of(whole, width=120).splitlines() if re.search(r"\d %  *│", line)]
    bars = [row.split("│")[3] for row in rows]
    assert [b for b in bars if not b.strip(" ━╸")] == [
        f" {b:<10} " for b in ("━━━━━━━━━╸", "━━╸", "", "━━━━━")
    ]
    narrow = text_of(whole, width=99)
    assert not re.search("│ *━", narrow), "no bar where there is no room"
    assert max(map(len, narrow.splitlines())) <= 99


def test_text_for_an_encoding_without_signs(whole: dict[str, Any]) -> None:
    shown = to_text(whole, width=120, colour=False, encoding="ascii")
    assert shown.isascii()
    assert re.search(r"\| contradicted +\|  4\.0 % \|", shown)
    assert re.search(r"\| not found +\| 50\.0 % \| -----  ", shown)
    latin = to_text(whole, width=120, colour=False, encoding="latin-1")
    assert latin.encode("latin-1")


def test_text_is_not_taken_over() -> None:
    shown = to_text(hostile(), width=2000, colour=False)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e]", shown)
    rows = [line for line in shown.splitlines() if line.startswith("│")]
    assert len(rows) == 2 + 4 + 2 + 1 + 1, "two lines for a piece of evidence, one for none"
    assert "[red]markup[/red] [/] :smile:" in shown
    assert shown.count("[red]markup[/red] [/] :smile:") >= 5 + 2
    (skipped,) = [line for line in shown.splitlines() if line.startswith("  other: ")]
    assert ":smile:" in skipped
    (note,) = [line for line in shown.splitlines() if line.startswith("note: ")]
    assert note == f"note: {one_line(HOSTILE)}".rstrip()
    coloured = to_text(hostile(), width=2000, colour=True)
    codes = set(re.findall(r"\x1b\[([0-9;]*)m", coloured))
    assert coloured.count("\x1b") == len(re.findall(r"\x1b\[[0-9;]*m", coloured)), "our own only"
    assert codes


@given(st.text())
def test_one_line(text: str) -> None:
    found = one_line(text)
    assert found.replace("\u200c", "").replace("\u200d", "").isprintable()
    assert len(found.splitlines()) <= 1
    if text.isprintable() and "  " not in text:
        assert found == text.strip()


def test_words_stay_whole_on_a_line() -> None:
    assert one_line("infor\u00admation") == "information"
    for text in ("👩\u200d💻 team", "می\u200cخواهم"):  # noqa: RUF001
        assert one_line(text) == text
    assert one_line("a\u202eb\x1bc") == "a b c"


@given(st.text(min_size=1))
def test_any_claim_stays_one_cell(text: str) -> None:
    one = AtomAssessment(replace(atom(0), text=text, original=text), Verdict.NOT_FOUND, 0.5)
    html = rendered(to_markdown(to_dict(run(assessment(one)))))
    assert html.count("<tr>") == 2
    assert html.count("<td") == 3
    assert html.count("<h3>") == 1


# --------------------------------------------------- what a verdict rests on


def test_what_a_verdict_turns_on_and_doubted_sources_are_shown() -> None:
    found = assessment(
        AtomAssessment(
            atom(0),
            Verdict.SUPPORTED,
            0.97,
            evidence=(Evidence("c1", ENTAILMENT, 0.95, (quote("Leave is 25 days a year."),)),),
            sensitivity=Sensitivity(
                {"leave.md": 0.5},
                0.6,
                0.98,
                EvidenceLink("c1", "a0", ENTAILMENT, 0.95, 0.97),
                {"leave.md": 0.97},
            ),
        ),
        AtomAssessment(
            atom(1),
            Verdict.SUPPORTED,
            0.8,
            evidence=(Evidence("c2", ENTAILMENT, 0.9),),
            sensitivity=Sensitivity(
                {"old.pdf": 0.7}, 0.6, 0.9, EvidenceLink("c1", "c2", CONTRADICTION, 0.95, 0.97)
            ),
        ),
        AtomAssessment(atom(2), Verdict.NOT_FOUND, 0.5, sensitivity=Sensitivity({}, 0.5, 0.5)),
    )
    sources = (SourceReliability("old.pdf", 0.9, 0.04), SourceReliability("leave.md", 0.9, 0.95))
    value = to_dict(run(replace(found, sources=sources)))
    assert value["atoms"][0]["sensitivity"] == {
        "without": {"leave.md": 0.5},
        "alone": {"leave.md": 0.97},
        "low": 0.6,
        "high": 0.98,
        "pivotal": {"from": "c1", "to": "a0", "relation": "entailment"},
    }
    assert value["atoms"][2]["sensitivity"]["pivotal"] is None
    assert value["sources"][0] == {"source": "old.pdf", "prior": 0.9, "posterior": 0.04}
    text = to_text(value, width=400, colour=False)
    assert "without leave.md:7, P would reach or cross 50 %" in text
    assert "without leave.md:7 (contradiction of old.pdf, p. 3), P would" in text
    assert text.count("without leave.md") == 2
    for report in (text, to_markdown(value).replace("\\", "")):
        assert "old.pdf is probably not reliable: 4.0 %, before the evidence 90.0 %" in report
        assert "leave.md is probably" not in report
        assert "without leave.md:7, P would reach or cross 50 %" in report
    value["atoms"][0]["probability"] = 0.5
    assert "without leave.md:7, P would leave 50 %" in to_text(value, width=400, colour=False)


def test_the_fact_graph_gives_the_posteriors_again() -> None:
    value = to_dict(run(assessment(*ALL)))
    graph = json.loads(json.dumps(to_fact_graph(value)))
    assert [n["id"] for n in graph["nodes"]] == ["a0", "a1", "a2", "a3", "c1", "c2", "c3"]
    assert graph["nodes"][4] == {"id": "c1", "type": "context", "probability": 0.98}
    (edge,) = graph["edges"]
    assert (edge["from"], edge["to"], edge["link"]) == ("c1", "a0", "context_atom")
    assert edge["probability"] == pytest.approx(0.9 + 0.5 * 0.08)
    found = infer(network_from_graph(graph)).p_true
    assert found["a0"] == pytest.approx(0.98 * 0.94 + 0.02 * 0.5)
    assert found["a3"] == pytest.approx(0.5)


def test_the_fact_graph_keeps_a_claim_that_was_related_and_not_scored() -> None:
    """Its two passages depend on each other through it."""
    pairs = tuple(
        ScoredPair(c, a, Relation(*p))
        for c, a, p in (
            ("c1", "a4", (0.9, 0.05, 0.05)),
            ("c2", "a4", (0.05, 0.9, 0.05)),
            ("c1", "a0", (0.8, 0.1, 0.1)),
        )
    )
    graph = to_fact_graph(to_dict(run(replace(assessment(*ALL), pairs=pairs))))
    assert {e["to"] for e in graph["edges"]} == {"a0", "a4"}
    # c1 and ¬c2 go together: f(c1, c2) = Σ over a4. Each of the two relations would have 0.925
    # alone; together their log odds are divided by 1 + ½.
    s = 1 / (1 + (0.925 / 0.075) ** (-1 / 1.5))
    both, one, none = 2 * s * (1 - s), 0.5, 0.5
    weight_c1 = 0.98 * (0.6 * both + 0.4 * one)
    weight_not = 0.02 * (0.6 * one + 0.4 * none)
    p_c1 = weight_c1 / (weight_c1 + weight_not)
    found = infer(network_from_graph(graph)).p_true
    assert found["a0"] == pytest.approx(p_c1 * (0.8 + 0.1 / 2) + (1 - p_c1) / 2)


def test_several_deciding_sentences_are_quoted_in_the_order_of_the_passage() -> None:
    second, first = quote("Leave is 25 days a year."), quote("Staff get 25 days.")
    found = assessment(
        AtomAssessment(
            atom(0),
            Verdict.SUPPORTED,
            0.97,
            evidence=(Evidence("c1", ENTAILMENT, 0.95, (second, first)),),
        )
    )
    value = to_dict(run(found))
    (evidence,) = value["atoms"][0]["evidence"]
    assert evidence["quote"]["text"] == "Leave is 25 days a year."
    assert [q["text"] for q in evidence["more_quotes"]] == ["Staff get 25 days."]
    (shown,) = citations(value, value["atoms"][0])
    assert shown.quote == "Staff get 25 days. … Leave is 25 days a year."
    # The place is that of the sentence that says most.
    assert shown.place == "leave.md:10"
