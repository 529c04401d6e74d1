"""The web page in Chromium: from an answer that is pasted to a review by two, and what it asks."""

from __future__ import annotations

import shutil
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from playwright.sync_api import Browser, BrowserContext, Page, expect

from factcheck_local import Store, sync
from factcheck_local.serve.app import create_app
from factcheck_local.serve.requests import CheckRequest, settings_of
from factcheck_local.serve.routes_web import PAGES, offered
from factcheck_local.serve.service import Config, Service
from factcheck_local.serve.worker import Worker
from tests.browser import launched, needs_chromium, serious

from .conftest import SETTINGS, asked
from .test_app import LEAVE
from .test_server import until

pytestmark = [needs_chromium, pytest.mark.long]

HOSTILE = '<img src=x onerror="window.owned=1"> \u202eThe car park opens at seven.'

#: Milliseconds for a check; its models are loaded with the first.
PATIENCE = 120_000


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as found:
        yield found


@dataclass
class Site:
    """A server that runs, and keys for it."""

    address: str
    service: Service
    keys: dict[str, str]


@pytest.fixture(scope="module")
def site(indexed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server that asks for keys, with a thread that does its checks by real models."""
    folder = tmp_path_factory.mktemp("web")
    shutil.copytree(indexed, folder / "at")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config = Config(folder / "at" / ".factcheck", folder / "data", SETTINGS, needs_key=True)
    app = create_app(config, worker=False)
    service: Service = app.state.service
    scopes = {"owner": ["check", "search"], "ann": ["review"], "bob": ["review"]}
    scopes |= {"cy": ["check", "review"], "chief": ["admin"]}
    keys = {name: service.keys.add(name, own, None) for name, own in scopes.items()}
    server = uvicorn.Server(uvicorn.Config(app, port=port, http="h11", log_level="warning"))
    worker = Worker(service.jobs, config.store, config.settings)
    over = threading.Event()

    def work() -> None:
        while not over.wait(0.05):
            worker.do_next()

    threads = [threading.Thread(target=server.run), threading.Thread(target=work)]
    for thread in threads:
        thread.start()
    yield Site(f"http://127.0.0.1:{port}", service, keys)
    over.set()
    server.should_exit = True
    for thread in threads:
        thread.join()


#: Opens a path for somebody with a key; ``refused`` is the status of what the server may refuse.
#: Other options are those of a browser context.
Visit = Callable[..., Page]


@pytest.fixture
def visit(browser: Browser, site: Site) -> Iterator[Visit]:
    """No page may ask any other address, complain, or open a dialog."""
    contexts: list[BrowserContext] = []
    troubles: list[str] = []

    def note(trouble: str) -> None:
        troubles.append(trouble)

    def own(url: str) -> bool:
        return url.startswith((f"{site.address}/", f"blob:{site.address}/", "data:,"))

    def open_page(path: str, who: str | None, *, refused: int = 0, **options: Any) -> Page:  # noqa: ANN401
        context = browser.new_context(**({"viewport": {"width": 1300, "height": 900}} | options))
        contexts.append(context)
        if who is not None:
            key = site.keys[who]
            context.add_init_script(f"sessionStorage.setItem('factcheck.key', '{key}')")
        page = context.new_page()
        page.on("request", lambda r: None if own(r.url) else note(r.url))
        # The browser itself says what the server refuses.
        told = f"Failed to load resource: the server responded with a status of {refused}"
        page.on("console", lambda m: None if m.text.startswith(told) else note(m.text))
        page.on("pageerror", lambda error: note(str(error)))
        page.on("dialog", lambda dialog: note(dialog.message))
        page.goto(site.address + path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []


@pytest.fixture(scope="module")
def checked(site: Site) -> str:
    """The path of a check that is done; its answer tries to be more than text."""
    owner = site.service.keys.caller(site.keys["owner"])
    assert owner is not None
    body = asked(LEAVE, HOSTILE, name="<b>hr</b>.md", question="How much LEAVE is it?")
    check, _ = site.service.submit(CheckRequest.model_validate(body).model_dump(), owner)
    until(lambda: site.service.jobs.find(check.id).state == "done")
    return f"/checks/{check.id}"


def judge(page: Page, claim: int, verdict: str, note: str = "") -> None:
    page.evaluate(f"location.hash = '#claim-{claim}'")
    form = page.locator(f"#claim-{claim} > .judge")
    if note:
        form.locator("textarea").fill(note)
    with page.expect_response(lambda r: r.url.endswith("/reviews")):
        form.get_by_label(verdict, exact=True).check()
    expect(page.locator("#kept")).to_contain_text("kept on the server at")


def test_from_a_pasted_answer_to_a_review_of_two(visit: Visit, site: Site) -> None:
    page = visit("/", None, refused=401)
    # Without a key nothing is to be had, and a wrong one is called wrong.
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Key").fill("fck_guess")
    page.keyboard.press("Enter")
    dialog.get_by_text("does not take this key").wait_for()
    # What no header could carry is not taken at all.
    dialog.get_by_label("Key").fill("fck_\u2026 and more")
    page.keyboard.press("Enter")
    assert not dialog.get_by_label("Key").evaluate("field => field.checkValidity()")
    expect(dialog).to_be_visible()
    assert page.evaluate("sessionStorage.getItem('factcheck.key')") == "fck_guess"
    dialog.get_by_label("Key").fill(site.keys["owner"])
    page.keyboard.press("Enter")
    page.get_by_text("Forget the key").wait_for()
    assert page.locator(".site nav a").all_inner_texts() == [
        *("Check", "Past checks", "Search", "Sources", "API")
    ]
    page.context.add_init_script(
        "new MutationObserver(() => document.querySelector('#claims .badge') &&"
        " sessionStorage.setItem('came', '1')).observe(document, {childList: true, subtree: true})"
    )
    page.fill("#answer", f"{LEAVE} The board meets in Lisbon in June.")
    page.get_by_text("Settings").click()
    page.get_by_label("Passages per claim").fill("2")
    assert page.inner_text("#changed") == "changed: k"
    page.get_by_role("button", name="Check it").click()
    # Verdicts come while it runs, then the report takes their place.
    page.locator(".tools").wait_for(timeout=PATIENCE)
    path = page.evaluate("location.pathname")
    result = site.service.jobs.result(path.split("/")[2])
    assert result is not None
    assert result["run"]["settings"]["k"] == 2
    assert page.evaluate("sessionStorage.getItem('came')") == "1"
    assert page.locator("details.claim").count() == len(result["atoms"])
    assert page.locator("#agreement").count() == 0, "the owner's key is for no reviews"

    ann, bob = visit("/reviews", "ann"), visit(path, "bob")
    ann.get_by_role("link", name=LEAVE).first.click()
    ann.locator("details.claim[open]").wait_for()
    judge(ann, 1, "supported", "As it stands there.")
    with ann.expect_response(lambda r: r.url.endswith("/reviews")):
        ann.locator("#evidence-1-0").get_by_label("supports the claim").check()
    judge(ann, 2, "contradicted")
    bob.locator(".tools").wait_for()
    judge(bob, 1, "supported")
    judge(bob, 2, "not in the documents")
    for claim, said in ((1, "you: supported · 1 other, agreed"), (2, "1 other, disputed")):
        head = bob.locator(f"details[data-claim='{claim}'] .judged")
        expect(head).to_contain_text(said)
    assert "Reviewers agree on 1 of 2 claims." in bob.inner_text("#agreement")

    ann.reload()
    ann.locator(".tools").wait_for()
    assert ann.inner_text("#progress").startswith("2 of ")
    ann.evaluate("location.hash = '#claim-1'")
    assert ann.input_value("#claim-1 textarea") == "As it stands there."
    assert ann.locator("#evidence-1-0").get_by_label("supports the claim").is_checked()
    ann.locator("#claim-1 .others summary").click()
    assert ann.inner_text("#claim-1 .others li").startswith("bob supported")
    latest = {(r.claim, r.reviewer): r for r in site.service.reviews.latest(path.split("/")[2])}
    first, second = (atom["id"] for atom in result["atoms"][:2])
    assert {who: review.verdict for who, review in latest.items()} == {
        (first, "ann"): "supported",
        (first, "bob"): "supported",
        (second, "ann"): "contradicted",
        (second, "bob"): "not_found",
    }
    own = latest[first, "ann"]
    assert (own.reason, list(own.evidence.values())) == ("As it stands there.", ["entailment"])
    assert site.keys["owner"] not in page.content()


def test_past_checks_are_found_and_say_what_changed(visit: Visit, site: Site, checked: str) -> None:
    owner = site.service.keys.caller(site.keys["owner"])
    assert owner is not None
    asked = CheckRequest.model_validate({"answer": "Withdrawn."}).model_dump()
    gone, _ = site.service.submit(asked, owner)
    site.service.cancel(gone.id, owner)
    page = visit("/checks", "owner")
    expect(page.locator(f"#list a[href='/checks/{gone.id}']")).to_have_text("answer")
    page.get_by_label("Search in answers").fill("how MUCH leave")
    page.keyboard.press("Enter")
    row = page.locator("#list > li")
    expect(row).to_have_count(1)
    assert "<b>hr</b>.md" in row.inner_text()
    row.get_by_role("button").click()
    expect(page.locator("#found")).to_contain_text("has changed since")
    store = site.service.config.store
    (store.parent / "docs" / "leave.md").write_text("# Leave\n\nStaff get 30 days of paid leave.\n")
    with Store.open(store) as opened:
        sync([store.parent / "docs"], opened)
    row.get_by_role("button").click()
    changes = page.locator(".changes")
    changes.wait_for(timeout=PATIENCE)
    assert page.evaluate("location.pathname") != checked
    assert "The index is another one." in changes.inner_text()
    assert changes.get_by_role("link", name="the earlier check").get_attribute("href") == checked
    assert "1 of 2 claims got another verdict." in changes.inner_text()
    assert "leave.md" in changes.inner_text()
    assert serious(page) == []


def test_only_whose_check_it_is_may_check_again(visit: Visit, checked: str) -> None:
    for who, may in (("owner", 1), ("chief", 1), ("cy", 0)):
        page = visit(checked, who)
        page.locator(".tools").wait_for()
        assert page.get_by_role("button", name="What changed since?").count() == may, who


def test_the_corpus_can_be_searched_and_its_sources_looked_at(visit: Visit) -> None:
    page = visit("/search", "owner")
    page.get_by_label("Query").fill("when does the car park open")
    page.get_by_label("Passages", exact=True).fill("1")
    page.keyboard.press("Enter")
    assert "opens at seven" in page.inner_text("#list .passage")
    assert page.inner_text("#list strong") == "parking.md:1"
    page.get_by_label("Only sources with").fill("source = leave.md ; prior>0.5;")
    page.keyboard.press("Enter")
    expect(page.locator("#list strong")).to_have_text("leave.md:1")
    page.get_by_role("link", name="Sources").click()
    page.get_by_label("Name has").fill("BOARD")
    expect(page.locator("#list > li")).to_have_count(1)
    assert "prior 0." in page.inner_text("#list .facts")


def test_a_file_is_dropped_and_a_record_taken(visit: Visit, tmp_path: Path) -> None:
    page = visit("/", "owner")
    page.evaluate(
        """() => {
          const data = new DataTransfer();
          data.items.add(new File(["Dropped."], "dropped.md"));
          find("#ask").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true }));
        }"""
    )
    expect(page.locator("#answer")).to_have_value("Dropped.")
    assert page.input_value("#name") == "dropped.md"
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    page.locator("#file").set_input_files(broken)
    expect(page.locator("#chosen")).to_contain_text("broken.json cannot be read")
    record = tmp_path / "record.json"
    record.write_text('{"output": "Given.", "atoms": [{"id": "a", "text": "", "original": ""}]}')
    page.locator("#file").set_input_files(record)
    expect(page.locator("#answer")).to_have_value("Given.")


def test_what_is_refused_is_said(visit: Visit) -> None:
    page = visit("/", "owner", refused=422)
    page.fill("#answer", LEAVE)
    page.get_by_text("Settings").click()
    page.get_by_label("Only these sources").fill("nonsense")
    page.get_by_role("button", name="Check it").click()
    expect(page.get_by_role("alert")).to_contain_text("expected a condition")
    assert page.evaluate("location.pathname") == "/"


def test_a_review_that_cannot_be_kept_says_so(visit: Visit, site: Site, checked: str) -> None:
    page = visit(checked, "bob", refused=503)
    page.locator(".tools").wait_for()
    audit = site.service.config.folder / "audit.jsonl"
    audit.rename(audit.with_suffix(".away"))
    audit.mkdir()
    page.evaluate("location.hash = '#claim-1'")
    page.locator("#claim-1 > .judge").get_by_label("supported", exact=True).check()
    expect(page.locator("#kept")).to_contain_text("NOT kept")
    audit.rmdir()
    audit.with_suffix(".away").rename(audit)
    assert site.service.reviews.all(checked.split("/")[2]) == []


# The check's page is tried in light with its changes, above.
@pytest.mark.parametrize(
    ("scheme", "paths"),
    [("light", [p for p in PAGES if "{" not in p]), ("dark", ["/", "/checks/{check_id}"])],
)
def test_axe_finds_nothing_serious_and_a_phone_is_wide_enough(
    visit: Visit, site: Site, checked: str, scheme: str, paths: Sequence[str]
) -> None:
    page = visit("/docs", "chief", color_scheme=scheme, viewport={"width": 360, "height": 740})
    filled = {"/": "#answer", "/docs": ".route", "/checks/{check_id}": ".tools"}
    for path in paths:
        page.goto(site.address + (checked if "{" in path else path))
        if path == "/search":
            page.get_by_label("Query").fill("leave")
            page.keyboard.press("Enter")
        page.locator(filled.get(path, "#list > li")).first.wait_for()
        page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
        assert serious(page, scheme) == [], path
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path


def test_the_keyboard_is_enough(visit: Visit, checked: str) -> None:
    page = visit("/", "owner")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "answer"
    page.goto(page.url.split("#")[0].rstrip("/") + checked)
    page.locator(".tools").wait_for()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.innerText") == "Skip to the claims"


def test_what_others_wrote_is_text(visit: Visit, checked: str) -> None:
    page = visit(checked, "ann")
    page.locator(".tools").wait_for()
    assert '<img src=x onerror="window.owned=1"> [U+202E]The car' in page.inner_text(".written")
    page.goto(page.url.replace(checked, "/reviews"))
    page.locator("#list > li").first.wait_for()
    assert page.evaluate("[window.owned, document.images.length]") == [None, 0]


def test_without_script_the_page_says_so(visit: Visit) -> None:
    page = visit("/", None, java_script_enabled=False)
    assert "needs JavaScript" in page.inner_text("noscript")
    page.get_by_role("link", name="API").last.click()
    assert "/v1/checks/{check_id}/changes" in page.inner_text("main")
    assert "CheckRequest" in page.inner_text("main")


def test_every_choice_that_the_form_offers_is_taken(site: Site) -> None:
    base = site.service.config.settings
    given = {row["name"]: row["choices"] or (row["value"],) for row in offered(base)}
    for name, choices in given.items():
        for choice in choices:
            assert settings_of({name: choice}, base, None).as_dict()[name] == choice
