"""The HTML report in Chromium: what a reviewer does with it, and what it must not do."""

from __future__ import annotations

import io
import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, BrowserContext, Page
from pypdf import PdfReader

from factcheck_local.cli.calibrate import _read
from factcheck_local.core.errors import InputError
from factcheck_local.core.types import Atom, Span
from factcheck_local.markov import infer
from factcheck_local.report import to_html
from factcheck_local.report.html import to_overview
from factcheck_local.report.html.whatif import page_model
from factcheck_local.report.many_answers import AnswerEntry, to_summary
from factcheck_local.report.network import network_of
from factcheck_local.report.view import percent
from tests.browser import launched, needs_chromium, serious

from .test_reports import HOSTILE
from .worlds import AGAINST, FOR, many, random_world, verified

pytestmark = needs_chromium

#: Opens an assessment in a page of its own; options are those of a browser context.
Show = Callable[..., Page]


# Not for the whole session: while it runs, no other test could start an event loop.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as found:
        yield found


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Iterator[Show]:
    """No page may ask the network for anything, complain, or open a dialog."""
    contexts: list[BrowserContext] = []
    troubles: list[str] = []

    def note(trouble: str) -> None:
        troubles.append(trouble)

    def open_page(value: dict[str, Any], *, fragment: str = "", **options: Any) -> Page:  # noqa: ANN401
        path = tmp_path / "report.html"
        path.write_text(to_html(value), encoding="utf-8")
        context = browser.new_context(**({"viewport": {"width": 1300, "height": 900}} | options))
        contexts.append(context)
        page = context.new_page()
        asked = path.as_uri()
        page.on("request", lambda r: None if _local(r.url, asked) else note(r.url))
        page.on("console", lambda message: note(message.text))
        page.on("pageerror", lambda error: note(str(error)))
        page.on("dialog", lambda dialog: note(dialog.message))
        page.goto(asked + fragment)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []


def _local(url: str, own: str) -> bool:
    return url.split("#")[0] == own or url.startswith("blob:")


def texts(page: Page, selector: str) -> list[str]:
    return [t.strip() for t in page.locator(selector).all_inner_texts()]


# -------------------------------------------------------------------- review


def test_a_click_on_a_claim_opens_its_evidence(show: Show) -> None:
    page = show(verified())
    assert page.locator("details[open]").count() == 0
    page.click("a.chip[data-claims='4']")
    claim = page.locator("details[data-claim='4']")
    assert claim.get_attribute("open") is not None
    passage = claim.locator("li.contradiction .passage")
    assert passage.inner_text() == "Days that are left expire in June."
    assert passage.locator("mark").inner_text() == "Days that are left expire in June."
    assert page.evaluate("document.activeElement.closest('details').dataset.claim") == "4"
    facts = claim.locator("li.contradiction .facts").inner_text()
    assert facts == (
        "contradiction 90.0 % · source prior 0.95, by rule rule of policies/leave.md · Leave > Rest"
    )
    page.click("details[data-claim='4'] a.back")
    assert page.evaluate("document.activeElement.dataset.claims") == "4"


def test_a_quote_is_found_behind_characters_of_two_units(show: Show) -> None:
    page = show(verified(), fragment="#claim-1")
    passage = page.locator("#evidence-1-0 .passage")
    assert passage.inner_text() == "## Leave 🌴\n\nStaff get 25 days of leave a year."
    assert passage.locator("mark").inner_text() == "Staff get 25 days of leave a year."


def test_a_sentence_of_several_claims_opens_them_all(show: Show) -> None:
    page = show(verified())
    page.locator("mark", has_text="they may take them").click()
    opened = page.locator("details[open]")
    assert [d.get_attribute("data-claim") for d in opened.all()] == ["1", "2", "3"]
    assert page.locator("mark.current").count() == 4, "both places of claim 1, and what is nested"


def test_the_keyboard_is_enough(show: Show) -> None:
    page = show(verified())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "claims"
    page.focus("a.chip[data-claims='6']")
    page.keyboard.press("Enter")
    assert page.locator("details[data-claim='6']").get_attribute("open") is not None
    page.locator("#evidence-6-0 .passage").wait_for()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "passage"
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.value") == "entailment"
    page.focus("nav a[href='#graph']")
    page.keyboard.press("Enter")
    page.focus("svg.graph a.claim")
    assert page.locator("svg .edge.lit").count() > 0
    page.keyboard.press("Enter")
    assert page.locator("#review").is_visible()


def test_filters(show: Show) -> None:
    page = show(verified())
    verdicts = {
        v: page.locator(f"details.{v}").count()
        for v in ("contradicted", "conflicting", "not_found", "unscored", "supported")
    }
    assert verdicts == dict(zip(verdicts, (3, 1, 1, 1, 1), strict=True))
    for verdict, count in verdicts.items():
        page.click(f"button[data-verdict={verdict}]")
        visible = page.locator("details.claim:visible")
        assert visible.count() == page.locator(f"details.{verdict}:visible").count() == count
        assert page.inner_text("#shown") == f"{count} of 7 shown"
        page.click(f"button[data-verdict={verdict}]")
    page.click("button[data-verdict=contradicted]")
    page.click("button[data-verdict=unscored]")
    assert page.locator("details.claim:visible").count() == 4
    assert page.locator(".written a.chip:not(.faded)").count() == 4 - 1, "one has no place"
    page.click("a.chip[data-claims='1']")
    assert page.locator("details[data-claim='1']").is_visible(), "asked for, so shown"


def test_views(show: Show) -> None:
    page = show(verified())
    for name in ("conflicts", "sources", "graph", "run", "review"):
        page.click(f"nav a[href='#{name}']")
        assert page.locator(".view:visible").count() == 1
        assert page.locator(f"#{name}").is_visible()
        assert page.locator("nav a[aria-current]").get_attribute("href") == f"#{name}"
    page.go_back()
    page.locator("#run").wait_for()
    assert not page.locator("#review").is_visible()


# ------------------------------------------------------------------- what if


@pytest.mark.parametrize("assessor", ["fr2", "fr3", "fr4"])
def test_a_slider_gives_what_the_engine_computes(show: Show, assessor: str) -> None:
    value = verified(assessor=assessor)
    page = show(value, fragment="#sources")
    assert page.inner_text("#crossings") == "nothing is changed"
    moved = {"policies/leave.md": 0.2, "wiki/draft.md": 0.9, "mirror/draft.md": 0.3}
    for source, prior in moved.items():
        slider = page.get_by_role("slider", name=source, exact=True)
        slider.fill(str(prior))
    expected = infer(network_of(value, moved).network).p_true
    for position, atom in enumerate(value["atoms"]):
        item = page.locator(f"li[data-atom='{position}']")
        if item.count():
            now = float(item.locator("output").get_attribute("data-value") or "nan")
            assert now == pytest.approx(expected[atom["id"]], abs=1e-9), atom["id"]
            assert item.locator("output").text_content() == percent(expected[atom["id"]])
            assert item.locator("data").inner_text() == percent(atom["probability"])
    page.click("#reset")
    assert page.locator("li.moved").count() == 0


def test_a_slider_by_hand(show: Show) -> None:
    """One passage that supports with strength s: P = π s + (1 - π) / 2."""
    relations = [("p2", "a4", FOR, 0.8)]
    page = show(verified(relations, failures={}), fragment="#sources")
    page.get_by_role("slider", name="policies/leave.md").fill("0.3")
    assert page.locator("#sources input").count() == 1, "the others bear on nothing"
    output = page.locator("li[data-atom='3'] output")
    strength = 0.8 + 0.5 * 0.1
    assert float(output.get_attribute("data-value") or "nan") == pytest.approx(
        0.3 * strength + 0.7 * 0.5, abs=1e-9
    )
    assert output.inner_text() == percent(0.3 * strength + 0.35)


def test_inference_in_the_page_is_the_engines(show: Show) -> None:
    """Random networks with copies, documents, equivalences and certain relations."""
    rng = np.random.default_rng(11)
    cases: list[tuple[dict[str, Any], list[tuple[int, float]]]] = []
    expected: list[Mapping[str, float]] = []
    while len(cases) < 150:
        value = random_world(rng)
        model, _ = page_model(value)
        if model is None:
            continue
        changed = {
            s: float(rng.uniform(0.01, 0.99)) for s in model["sources"] if rng.uniform() < 0.5
        }
        cases.append((model, [(model["sources"].index(s), p) for s, p in changed.items()]))
        expected.append(infer(network_of(value, changed).network).p_true)
    page = show(verified())
    found = page.evaluate(
        "(cases) => cases.map(([model, changed]) => posteriors(model, new Map(changed)))", cases
    )
    assert len(found) == len(expected)
    for (case, _), own, by_name in zip(cases, found, expected, strict=True):
        for variable, p in zip(case["variables"], own, strict=True):
            if "atom" in variable:
                assert p == pytest.approx(by_name[f"a{variable['atom']}"], abs=1e-6)


# -------------------------------------------------------------- the reviewer


def judge(page: Page, claim: int, verdict: str, *labels: str) -> None:
    page.evaluate(f"location.hash = '#claim-{claim}'")
    body = page.locator(f"#claim-{claim}")
    body.locator("> .judge").get_by_label(verdict, exact=True).check()
    for i, label in enumerate(labels):
        body.locator("li[data-evidence]").nth(i).get_by_label(label).check()


def downloaded(page: Page) -> tuple[str, list[dict[str, Any]]]:
    with page.expect_download() as info:
        page.click("#download")
    text = Path(info.value.path()).read_text(encoding="utf-8")
    return info.value.suggested_filename, [json.loads(line) for line in text.split("\n")[:-1]]


def test_a_review_is_kept_and_downloaded(show: Show) -> None:
    value = verified()
    page = show(value)
    page.fill("#reviewer", "A. Reviewer")
    judge(page, 1, "contradicted", "supports the claim", "contradicts it")
    page.fill("#claim-1 textarea", "Two sources\n<b>disagree</b>\u2028.")
    judge(page, 4, "not in the documents", "says nothing of it")
    assert page.inner_text("#progress") == "2 of 7 judged"
    page.reload()
    assert page.inner_text("#progress") == "2 of 7 judged"
    assert page.inner_text("details[data-claim='4'] .judged") == "you: not found"
    assert page.input_value("#reviewer") == "A. Reviewer"
    page.click("button[data-judged]")
    assert page.locator("details.claim:visible").count() == 5
    page.evaluate("location.hash = '#claim-1'")
    page.locator("#evidence-1-0 .passage").wait_for()
    assert page.input_value("#claim-1 textarea") == "Two sources\n<b>disagree</b>\u2028."
    assert page.locator("#evidence-1-0").get_by_label("supports the claim").is_checked()

    name, lines = downloaded(page)
    assert name == "leave.review.jsonl"
    first, *pairs, last, pair = lines
    assert {k: first[k] for k in ("kind", "claim", "reviewed", "note", "reviewer")} == {
        "kind": "verdict",
        "claim": "a1",
        "reviewed": "contradicted",
        "note": "Two sources\n<b>disagree</b>\u2028.",
        "reviewer": "A. Reviewer",
    }
    assert (first["verdict"], first["probability"]) == (
        value["atoms"][0]["verdict"],
        value["atoms"][0]["probability"],
    )
    contexts = {c["id"]: c for c in value["contexts"]}
    for line, label in zip([*pairs, pair], ("entailment", "contradiction", "neutral"), strict=True):
        context = contexts[line["context"]]
        assert (line["kind"], line["label"]) == ("relation", label)
        assert (line["premise"], line["title"]) == (context["text"], context["title"])
        assert line["hypothesis"] == value["atoms"][0 if line["claim"] == "a1" else 3]["text"]
    assert (last["claim"], last["reviewed"]) == ("a4", "not_found")
    assert len({line["run"] for line in lines}) == 1


def test_calibrate_reads_the_download(show: Show, tmp_path: Path) -> None:
    """36 passages, each labelled by the reviewer, are enough to fit on."""
    page = show(many(claims=4, passages=9))
    for claim in range(1, 5):
        labels = 3 * ("contradicts it", "supports the claim", "says nothing of it")
        judge(page, claim, "supported", *labels)
    _, lines = downloaded(page)
    path = tmp_path / "review.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    rows, verdicts = _read(str(path))
    assert (len(rows), verdicts) == (36, 4)
    assert Counter(row.label for row in rows) == {0: 12, 1: 12, 2: 12}
    assert rows[0].hypothesis == "Claim 0 of many is stated here."
    path.write_text("".join(f"{json.dumps(x)}\n" for x in lines[:32]), encoding="utf-8")
    with pytest.raises(InputError, match="at least 30 pairs"):
        _read(str(path))


def test_next_goes_through_what_is_not_judged(show: Show) -> None:
    page = show(verified())
    judge(page, 2, "cannot say")
    judge(page, 1, "supported")
    page.click("#claim-1 .next")
    assert page.evaluate("location.hash") == "#claim-3"
    assert page.locator("details[data-claim='1']").get_attribute("open") is None
    page.click("button[data-verdict=unscored]")
    page.evaluate("location.hash = '#claim-7'")
    page.click("#claim-7 .next")
    assert page.evaluate("location.hash") == "#claim-5", "the only one that is shown"


def test_another_run_has_another_review(show: Show) -> None:
    page = show(verified())
    judge(page, 1, "supported")
    path = Path(page.url.split("#")[0].removeprefix("file://"))
    path.write_text(to_html(verified(failures={})), encoding="utf-8")
    page.reload()
    assert page.inner_text("#progress") == "0 of 7 judged"


def test_without_storage_the_page_says_so_and_goes_on(show: Show) -> None:
    page = show(verified())
    page.context.add_init_script(
        "Object.defineProperty(window, 'localStorage', { get() { throw new Error('no') } })"
    )
    page.reload()
    judge(page, 1, "supported", "supports the claim")
    assert "download before you leave" in page.inner_text("#kept")
    assert page.inner_text("#progress") == "1 of 7 judged"
    assert len(downloaded(page)[1]) == 2


# ------------------------------------------------------------------- content


def nasty() -> dict[str, Any]:
    """The answer, the documents and all names try to be more than text."""
    attack = (
        '<img src=x onerror="window.owned=1"></script><script>window.owned=1</script>'
        "<style>*{display:none}</style>{{ 7*7 }} javascript:alert(1) " + HOSTILE
    )
    text = f"{attack}\nSecond."
    atoms = (
        Atom("__proto__", attack, attack, span=Span(0, len(attack))),
        Atom('"><script>', "Second.", "Second.", span=Span(len(attack) + 1, len(text))),
    )
    passages = {
        "constructor": (attack, attack, f"{attack}\nLast {attack}", 0.9),
        "b": ("javascript:alert(1)", "", attack, 0.8),
    }
    relations = [("constructor", "__proto__", FOR, 0.9), ("b", "__proto__", AGAINST, 0.7)]
    return verified(relations, text=text, atoms=atoms, passages=passages, failures={})


def test_a_hostile_corpus_is_shown_and_never_runs(show: Show) -> None:
    page = show(nasty())
    for view in ("conflicts", "sources", "graph", "run", "review"):
        page.click(f"nav a[href='#{view}']")
        assert page.locator(f"#{view} h2").first.is_visible()
    judge(page, 1, "supported", "supports the claim")
    passage = page.locator("#evidence-1-0 .passage")
    assert '<img src=x onerror="window.owned=1"></script><script>' in passage.inner_text()
    assert "[U+202E]gnp.exe" in passage.inner_text()
    assert passage.locator("*").count() == passage.locator("mark").count()
    page.get_by_label("javascript:alert(1)").first.wait_for(state="attached")
    assert page.evaluate("[window.owned, document.scripts.length, document.images.length]") == [
        None,
        3,
        0,
    ]
    _, lines = downloaded(page)
    assert lines[1]["premise"] == nasty()["contexts"][0]["text"], "the download is not changed"
    assert lines[0]["claim"] == "__proto__"


# ------------------------------------------------------------- accessibility


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(show: Show, scheme: str) -> None:
    page = show(verified(assessor="fr4"), color_scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
    page.click("button[data-verdict=contradicted]")
    for view in ("review", "conflicts", "sources", "graph", "run"):
        page.click(f"nav a[href='#{view}']")
        if view == "sources":
            page.get_by_role("slider", name="policies/leave.md").fill("0.1")
        assert serious(page, scheme) == [], view


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_overview_of_many(browser: Browser, tmp_path: Path, scheme: Any) -> None:  # noqa: ANN401
    value = verified()
    entries = [AnswerEntry.of(f"x/{n}.md", f"{n}.html", f"{n}.json", value) for n in "ab"]
    (tmp_path / "index.html").write_text(to_overview(to_summary(entries, [("c", "c: empty")])))
    (tmp_path / "b.html").write_text("<title>The second</title>")
    page = browser.new_page(color_scheme=scheme, viewport={"width": 360, "height": 740})
    troubles: list[str] = []
    page.on("console", lambda message: troubles.append(message.text))
    page.goto((tmp_path / "index.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert serious(page, scheme) == []
    page.click("text=x/b.md")
    assert page.title() == "The second"
    assert troubles == []
    page.close()


def test_a_narrow_screen_needs_no_sideways_scrolling(show: Show) -> None:
    page = show(verified(), viewport={"width": 360, "height": 740})
    page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
    for view in ("review", "conflicts", "sources", "graph", "run"):
        page.click(f"nav a[href='#{view}']")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, view
    page.click("nav a[href='#review']")
    page.click("a.chip[data-claims='4']")
    summary = page.locator("details[data-claim='4'] summary").bounding_box()
    bar = page.locator(".sticky").bounding_box()
    assert summary is not None
    assert bar is not None
    assert summary["y"] >= bar["y"] + bar["height"], "not under the bar"


def test_print_has_everything(show: Show) -> None:
    value = verified()
    page = show(value)
    judge(page, 1, "supported")
    page.fill("#claim-1 textarea", "Seen by two of us.")
    page.click("button[data-verdict=unscored]")
    reader = PdfReader(io.BytesIO(page.pdf(format="A4")))
    # A font's ligatures are letters again.
    text = unicodedata.normalize("NFKC", " ".join(p.extract_text() for p in reader.pages))
    text = " ".join(text.split())
    for atom in value["atoms"]:
        assert atom["text"] in text
        for e in atom["evidence"]:
            assert " ".join(e["quote"]["text"].split()) in text
    for expected in ("you: supported", "Seen by two of us.", "Conflicts", "digest", "Fact graph"):
        assert expected in text
    assert "Download review" not in text


def test_without_script_the_report_can_be_read(show: Show) -> None:
    page = show(verified(), java_script_enabled=False)
    assert page.locator(".written").text_content() != ""
    page.click("a.chip[data-claims='4']")
    evidence = page.locator("#claim-4 blockquote")
    evidence.first.wait_for(state="visible")
    assert "Days that are left expire in June." in texts(page, "#claim-4 blockquote")
    assert page.locator("#conflicts, #sources, #graph, #run").count() == 4
    for hidden in ("#download", "input[type=range]", ".filters"):
        assert not page.locator(hidden).first.is_visible()


def test_a_large_report_can_be_used(show: Show) -> None:
    page = show(many(claims=500, passages=10))
    page.click("button[data-verdict=contradicted]")
    assert page.inner_text("#shown") == "50 of 500 shown"
    page.evaluate("location.hash = '#claim-491'")
    page.locator("#evidence-491-9 .passage mark").wait_for()
    assert page.locator("svg.graph .node").count() <= 150
    page.click("nav a[href='#sources']")
    assert "too large for a page" in page.inner_text("#sources .lead")
