"""The HTML report: every number from the JSON, the answer as written, content never markup."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import unicodedata
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from html import escape
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html as lxml_html

from factcheck_local.core.types import AtomAssessment, Verdict
from factcheck_local.markov import infer
from factcheck_local.report import to_dict, to_html
from factcheck_local.report.html.answer import stretches
from factcheck_local.report.html.claims import claims_of
from factcheck_local.report.html.layout import MAX_NODES, fit, lay_out
from factcheck_local.report.html.safe import json_block, packed, visible
from factcheck_local.report.html.whatif import page_model
from factcheck_local.report.network import network_of
from factcheck_local.report.view import percent

from .helpers import ALL, assessment, atom, run
from .test_reports import hostile
from .worlds import ATOMS, PASSAGES, RELATIONS, TEXT, many, verified

Element = Any


@pytest.fixture(scope="module")
def value() -> dict[str, Any]:
    return verified()


@pytest.fixture(scope="module")
def page(value: dict[str, Any]) -> Element:
    return parsed(to_html(value))


def parsed(text: str) -> Element:
    return lxml_html.document_fromstring(text)


def text_of(element: Element) -> str:
    return str(element.text_content())


def pointed(value: Any, pointer: str) -> Any:  # noqa: ANN401
    """What a JSON pointer (RFC 6901) points at."""
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value


# --------------------------------------------------------------- the numbers

SHOWN: dict[str, Callable[[Any], str]] = {
    "prior": lambda v: f"{v:g}",
    "precision": lambda v: f"{v:.2f}",
    "coverage": lambda v: f"{v:.2f}",
    "precision_interval": lambda v: f"{v:.2f}",
    "entropy": lambda v: f"{v:.3f}",
    "binary_entropy": lambda v: f"{v:.3f}",
    "hallucination_score": lambda v: f"{v:.3f}",
}


@pytest.mark.parametrize("assessor", ["fr2", "fr4"])
def test_every_number_is_the_jsons(assessor: str) -> None:
    value = verified(assessor=assessor)
    numbers = parsed(to_html(value)).xpath("//*[@data-json]")
    seen = set()
    for element in numbers:
        pointer = element.get("data-json")
        exact = element.get("value" if element.tag == "data" else "data-value")
        found = pointed(value, pointer)
        assert json.loads(exact) == found, pointer
        keys = [k for k in pointer.split("/") if not k.isdecimal()]
        style = SHOWN.get(keys[-1], percent if isinstance(found, float) else str)
        assert text_of(element) == style(found), pointer
        seen.add(pointer)
    for i, a in enumerate(value["atoms"]):
        if a["probability"] is not None:
            assert f"/atoms/{i}/probability" in seen
            assert {f"/atoms/{i}/evidence/{k}/probability" for k in range(len(a["evidence"]))} <= (
                seen
            )
    low, high = "/summary/precision_interval/0", "/summary/precision_interval/1"
    assert {"/summary/precision", low, high, "/summary/entropy"} <= seen
    assert {f"/summary/counts/{v}" for v, n in value["summary"]["counts"].items() if n} <= seen
    assert ("/sources/0/posterior" in seen) == (assessor == "fr4")


def test_conflicts_compare_each_source(value: dict[str, Any], page: Element) -> None:
    """a1 is supported by policies and contradicted by three others, a4 the other way round."""
    known = value["atoms"][0]["sensitivity"]
    articles = page.xpath("//article")
    assert [text_of(a.find("h3")) for a in articles] == [
        "1 Staff get 25 days.",
        "4 Unused days expire in March.",
    ]
    for source in ("policies/leave.md", "archive/leave-2021.md", "wiki/draft.md"):
        (row,) = articles[0].xpath(f".//li[.//strong[.='{source}']]")
        said = text_of(row)
        assert f"alone {percent(known['alone'][source])}" in said
        assert f"without {percent(known['without'][source])}" in said
        verb = "supports" if source.startswith("policies") else "contradicts"
        assert f"{verb} " in said
    # What the engine says of a run that had this source only.
    own = [r for r in RELATIONS if r[0] == "p3" and r[1] not in PASSAGES]
    alone = verified(own, passages={"p3": PASSAGES["p3"]})
    assert known["alone"]["archive/leave-2021.md"] == alone["atoms"][0]["probability"]


# ---------------------------------------------------------------- the answer


def test_the_answer_stands_as_written(value: dict[str, Any]) -> None:
    page = parsed(to_html(value))
    (written,) = page.xpath("//div[@class='written']")
    chips = {c.get("data-claims"): text_of(c) for c in written.xpath(".//a[@data-claims]")}
    # a7 is skipped, a8 has no span.
    assert list(chips) == ["3", "1", "2", "4", "5", "6"]
    assert chips["1"] == f"claim 1 ≠conflicting {percent(value['atoms'][0]['probability'])}"
    assert chips["5"] == "claim 5 !unscored –"
    for chip in written.xpath(".//span[@class='chips']"):
        chip.drop_tree()
    assert text_of(written) == TEXT
    marked = Counter[str]()
    for mark in written.xpath(".//mark"):
        for number in mark.get("data-claims").split():
            marked[number] += len(text_of(mark))
    first = TEXT[ATOMS[0].span.start : ATOMS[0].span.end] if ATOMS[0].span else ""
    assert marked["1"] == len(first) + len("Once more: 25 days.")
    assert marked["3"] == len("they may take them when they like")
    # The nested stretch belongs to three claims.
    (nested,) = [m for m in page.xpath("//mark") if "they may take" in text_of(m)]
    assert nested.get("data-claims").split() == ["1", "2", "3"]


spans = st.tuples(st.integers(0, 25), st.integers(0, 25)).map(
    lambda pair: {"start": min(pair), "end": max(pair)}
)


@given(st.text(max_size=20), st.lists(st.lists(spans, max_size=3), max_size=5))
def test_stretches(text: str, places: list[list[dict[str, int]]]) -> None:
    found = stretches(text, places)
    assert "".join(s.text for s in found) == text
    at = 0
    for s in found:
        inside = [i for i, own in enumerate(places) if covers(own, at, at + len(s.text))]
        assert list(s.claims) == (inside if s.text else [])
        at += len(s.text)
    ends = Counter(c for s in found for c in s.ends)
    for claim, own in enumerate(places):
        assert bool(own) == (ends[claim] > 0)
        assert ends[claim] <= len(own)


def covers(places: list[dict[str, int]], start: int, end: int) -> bool:
    return any(p["start"] <= start < end <= p["end"] for p in places)


def test_a_claim_without_a_place_says_so(page: Element) -> None:
    body = text_of(page.xpath("//div[@id='claim-7']")[0])
    assert "“The office is in Kiel.”, which does not stand in the answer word for word" in body
    assert "Could not be scored: the model gave no answer" in text_of(
        page.xpath("//div[@id='claim-5']")[0]
    )


def test_without_script_the_evidence_is_in_details(page: Element) -> None:
    (details,) = page.xpath("//details[@data-claim='1']")
    said = text_of(details)
    assert "supports policies/leave.md:9" in said
    assert "Staff get 25 days of leave a year." in said
    assert "source prior 0.95, by rule rule of policies/leave.md" in said
    assert "contradicts archive/leave-2021.md:8" in said
    for target in page.xpath("//a[starts-with(@href, '#')]/@href"):
        assert page.xpath(f"//*[@id='{target[1:]}']"), target


# ------------------------------------------------------------------- content


def test_only_its_own_style_and_script_are_allowed() -> None:
    text = to_html(verified())
    page = parsed(text)
    (policy,) = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    rules = dict(part.split(" ", 1) for part in policy.split("; "))
    assert rules.keys() == {"default-src", "style-src", "script-src", "base-uri", "form-action"}
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    for tag in ("style", "script"):
        (inline,) = re.findall(f"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
        assert rules[f"{tag}-src"] == f"'sha256-{digest}'"
    assert text.index("Content-Security-Policy") < text.index("<style>")
    assert not page.xpath("//*[@style or @src or @srcset or @action or @background]")
    assert not [a for e in page.iter() for a in e.attrib if a.startswith("on")]
    assert all(h.startswith("#") for h in page.xpath("//@href"))
    assert not re.search(r"url\(|@import|https?://", text)


def elements(text: str) -> Counter[str]:
    return Counter(e.tag for e in parsed(text).iter() if isinstance(e.tag, str))


def test_a_hostile_corpus_is_shown_and_adds_no_element() -> None:
    plain = elements(to_html(to_dict_of_all()))
    text = to_html(hostile())
    more = elements(text) - plain
    # What the hostile claims have and the plain ones have not: the sentence that they differ from.
    assert set(more) <= {"a", "p", "mark", "span", "data"}
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]", text)
    shown = text_of(parsed(text).xpath("//div[@class='written']")[0])
    assert "<script>alert(1)</script> <b>&amp;" in shown
    assert "␛[31mred␛[0m ␛]0;title␇ [U+009B]2J ␀ [U+202E]gnp.exe [U+2028] [U+0085]" in shown
    assert "[link](http://evil) ![i](x) *em* __strong__" in shown
    assert escape("<script>alert(1)") in text


def to_dict_of_all() -> dict[str, Any]:
    return to_dict(run(assessment(*ALL)))


def test_a_number_that_is_none_stays_text() -> None:
    """A stored assessment may be anything."""
    value = verified()
    value["run"]["index"]["chunks"] = "<img src=x>"
    assert elements(to_html(value)) == elements(to_html(verified()))


HIDING = st.text(st.sampled_from("<>&\"'`/!-{}%\\\x00\x1b\x85\u202e\u2028\u200b\ud800a script"))


@settings(max_examples=15, deadline=None)
@given(HIDING)
def test_any_claim_stays_text(text: str) -> None:
    def one(said: str) -> str:
        own = AtomAssessment(replace(atom(0), text=said, original=said), Verdict.NOT_FOUND, 0.5)
        return to_html(to_dict(run(assessment(own))))

    page = one(text)
    assert elements(page) == elements(one("x"))
    page.encode()
    (claim,) = parsed(page).xpath("//summary/span[@class='text']")
    assert text_of(claim) == visible(text)


def test_any_line_end_is_one() -> None:
    assert visible("plan: Pro\rprice: 49\r\n\rText.") == "plan: Pro\nprice: 49\n\nText."


@given(st.text())
def test_visible_text_neither_steers_nor_hides(text: str) -> None:
    shown = visible(text)
    left = [c for c in shown if not c.isprintable() and c not in "\n\t\u200c\u200d"]
    # What is unassigned, or for private use, has no effect.
    assert not {"Cc", "Cf", "Cs", "Zl", "Zp"} & {category(c) for c in left}
    if text.isprintable():
        assert shown == text


def category(character: str) -> str:
    return unicodedata.category(character)


@given(st.recursive(st.text() | st.floats(allow_nan=False, allow_infinity=False), st.lists))
def test_data_survives_the_page(data: Any) -> None:  # noqa: ANN401
    block = json_block(data)
    assert json.loads(block) == data
    assert not re.search("[<>&\u2028\u2029\x7f-\x9f]", block)
    block.encode()
    assert json.loads(zlib.decompress(base64.b64decode(packed(data)))) == data


# ------------------------------------------------------------- the fact graph


def test_the_graph_has_every_claim_that_something_bears_on(value: dict[str, Any]) -> None:
    drawing = lay_out(value, claims_of(value))
    assert [n.claim.atom["id"] for n in drawing.claims if n.claim] == [
        "a1", "a2", "a4", "a6", "a8",
    ]  # fmt: skip
    assert [s for s, _ in drawing.sources].count("policies/leave.md") == 1
    assert Counter(e.relation for e in drawing.edges) == {"entailment": 3, "contradiction": 6}
    assert drawing.left_out == 0
    for nodes in (drawing.claims, drawing.passages):
        ys = sorted(n.y for n in nodes)
        assert all(14 <= y <= drawing.height - 14 for y in ys)
        assert all(b - a >= 28 for a, b in pairwise(ys)), "none overlap"
    between = lay_out(v := verified(assessor="fr3"), claims_of(v))
    assert between.width > drawing.width
    assert Counter(e.relation for e in between.edges)["equivalence"] == 1


def test_a_large_graph_leaves_out_the_plainly_supported_first() -> None:
    value = many(claims=200, passages=2)
    drawing = lay_out(value, claims_of(value))
    assert len(drawing.claims) + len(drawing.passages) <= MAX_NODES
    assert drawing.left_out == 200 - len(drawing.claims)
    verdicts = Counter(n.claim.verdict for n in drawing.claims if n.claim)
    # Every tenth is contradicted, and all of these are there.
    assert verdicts["contradicted"] == 20
    shown = text_of(parsed(to_html(value)).xpath("//section[@id='graph']/p")[0])
    assert f"{drawing.left_out} of its claims are not drawn" in shown


@given(st.text(), st.integers(1, 30))
def test_a_label_fits(text: str, columns: int) -> None:
    found = fit(text, columns)
    assert len(found) <= columns + 1
    assert "\n" not in found


# --------------------------------------------------------- what is recomputed


@pytest.mark.parametrize("assessor", ["fr1", "fr2", "fr3", "fr4"])
def test_the_network_is_built_again(assessor: str) -> None:
    value = verified(assessor=assessor)
    found = infer(network_of(value).network).p_true
    for a in value["atoms"]:
        if a["probability"] is not None:
            assert found[a["id"]] == pytest.approx(a["probability"], abs=1e-12)
    model, why = page_model(value)
    assert why == ""
    assert model is not None
    assert model["sources"] == list(dict.fromkeys(p[0] for p in PASSAGES.values()))


def test_a_claim_that_failed_still_ties_its_passages() -> None:
    """a4 was related with p2 before another of its pairs failed: it stays in the network."""
    value = verified(failures={"a4": "a pair failed"}, assessor="fr3")
    assert value["atoms"][3]["probability"] is None
    assert "a4" in network_of(value).network.variables
    assert page_model(value)[0] is not None


def test_without_a_model_the_page_says_why() -> None:
    unrelated = verified([])
    approximate = verified() | {"inference": {**verified()["inference"], "exact": False}}
    changed = verified()
    changed["atoms"][0]["probability"] += 0.01
    failed = to_dict_of_all()
    for a in failed["atoms"]:
        a["probability"] = None
    for value, expected in (
        (unrelated, "No passage bears on a claim."),
        (approximate, "approximate"),
        (changed, "other probabilities"),
        (failed, "No claim has a probability."),
        (many(claims=300, passages=2), "too large for a page"),
    ):
        model, why = page_model(value)
        assert model is None
        assert expected in why
        page = parsed(to_html(value))
        assert why in text_of(page.xpath("//section[@id='sources']")[0])
        assert not page.xpath("//input[@type='range']")


def test_no_claims_at_all() -> None:
    page = parsed(to_html(verified([], text="Hi!", atoms=(), passages={}, failures={})))
    said = text_of(page)
    assert "nothing to verify" in said
    assert "The answer states nothing that could be verified." in said
    assert "so there is nothing to draw" in said


def paths_of(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:  # noqa: ANN401
    """Every key of an object, and of the first two entries of a list."""
    if isinstance(value, dict):
        for key in value:
            yield (*path, key)
            yield from paths_of(value[key], (*path, key))
    elif isinstance(value, list):
        for i, entry in enumerate(value[:2]):
            yield from paths_of(entry, (*path, i))


def test_what_is_missing_is_a_key_error_or_not_needed() -> None:
    value = json.dumps(verified(assessor="fr4"))
    failed = 0
    for *path, key in paths_of(json.loads(value)):
        changed = inner = json.loads(value)
        for step in path:
            inner = inner[step]
        del inner[key]
        try:
            to_html(changed)
        except KeyError:
            failed += 1
    assert failed > 20


# ------------------------------------------------------------------- the size


def test_a_large_report_stays_small() -> None:
    """500 claims and 5,000 passages, of 750 characters each."""
    text = to_html(many(claims=500, passages=10))
    assert len(text.encode()) < 10_000_000
    assert text.count('<details class="claim') == 500
    assert text.count('class="node') <= MAX_NODES
