"""Searches as people do them in a browser, while agents in other processes work and the server comes and goes."""

import re
import signal
import subprocess
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from paper_search.editorial_notices import EditorialNotice
from paper_search.models import Author, SourceRecord
from paper_search.testing import FakeSource
from tests.paper_search.sessions.helpers import make_moon_papers
from tests.uraniborg.console.browser.agents import Agent, store_review
from tests.uraniborg.console.browser.conftest import LOOKS, Visitor, find_accessibility_problems
from tests.uraniborg.console.browser.payloads import FOREIGN, PAYLOADS
from tests.uraniborg.console.processes import ServerProcess, make_environment, run_server
from uraniborg.kernel.errors import Unavailable
from uraniborg.kernel.inbox import Inbox
from uraniborg.recordings import QUERY

pytestmark = pytest.mark.timeout(240)
expect.set_options(timeout=30_000)  # machines that run many tests at once are slow
HOSTILE = "tidal heating of icy moons <img src=x onerror=window.hit=1>"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def hostile_id(home: Path) -> str:
    """Return a search whose every text is an attack, stored before the server starts."""
    notice: dict[str, Any] = {"status": "retracted", "source": "alpha"}
    papers = [
        paper.model_copy(
            update={
                "title": f"{paper.title} {payload}",
                "abstract": f"Tidal heating of moons. {payload}",
                "authors": [Author(name=payload), Author(name="Tycho Brahe")],
                "venue": payload,
                **dict.fromkeys(("volume", "issue", "pages", "publisher", "language"), payload),
                "notices": [EditorialNotice(label=payload, notice_doi=payload, date=payload, **notice)],
                "records": [SourceRecord(source="alpha", record_id=payload, reason=payload)],
                "full_text_url": "javascript:window.hit=1",
            }
        )
        for paper, payload in zip(make_moon_papers(len(PAYLOADS)), PAYLOADS, strict=True)
    ]
    broken = [FakeSource(f"broken{number}", error=Unavailable(text)) for number, text in enumerate(PAYLOADS)]
    return store_review(home, HOSTILE, papers, *broken)


@pytest.fixture(scope="module")
def server(home: Path, hostile_id: str) -> Generator[ServerProcess]:
    with run_server(home) as running:
        yield running


def start_review(server: ServerProcess) -> str:
    with server.make_client() as client:
        session_id = client.post("/api/searches", json={"query": QUERY}).json()["session_id"]
        client.post(f"/api/searches/{session_id}/decide", json={"action": "approve"})
    return session_id


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def get_current_title(page: Page) -> str:
    return page.locator("#paper-title").inner_text()


def test_a_person_decides_a_plan_that_an_agent_proposed(visitor: Visitor, server: ServerProcess) -> None:
    with Agent(server.env) as agent:
        page = visitor.open_page("/searches")
        asked = agent.call("search_papers", query=QUERY)
        item = page.get_by_role("listitem").filter(has=page.locator(f"a[href='/searches/{asked['session_id']}']"))
        expect(item.get_by_text("Plan waits for you")).to_be_visible()
        item.get_by_role("link", name=QUERY).click()
        expect(page.get_by_role("heading", name=QUERY)).to_be_visible()
        page.get_by_text("As 4 sources receive it").first.click()
        expect(page.get_by_text("submittedDate:[2016").first).to_be_visible()
        press(page, "e")
        query = page.get_by_role("textbox", name="Query 1")
        query.fill('("TRAPPIST-1" AND atmosphere')
        expect(page.get_by_text("This bracket is not closed.").first).to_be_visible()
        expect(page.get_by_role("button", name="Search with these edits")).to_be_disabled()
        query.fill('"TRAPPIST-1" AND atmosphere')
        expect(page.get_by_role("button", name="Search with these edits")).to_be_enabled()
        page.get_by_role("button", name="Search with these edits").click()
        expect(page.get_by_role("list", name="Papers")).to_be_visible()
        state = agent.call("get_session", session_id=asked["session_id"])
        assert state["current_checkpoint_kind"] == "result_review"


def test_papers_are_reviewed_by_keyboard_alone_in_two_rounds_and_exported(visitor: Visitor) -> None:
    page = visitor.open_page("/searches")
    expect(page.get_by_role("button", name="Start a search").first).to_be_visible()
    press(page, "n")
    expect(page.get_by_label("What are you looking for?")).to_be_focused()
    page.keyboard.type(QUERY)
    press(page, "Tab", "Tab", "Enter")
    expect(page.get_by_role("button", name="Approve")).to_be_visible()
    press(page, "a")
    expect(page.get_by_text("Choose a paper.")).to_be_visible()
    press(page, "j")
    first = get_current_title(page)
    press(page, "i", "Enter")
    expect(page.locator("#paper-title")).not_to_have_text(first)
    press(page, "x", "2", "Enter", "m", "Enter")
    expect(page.get_by_text("3 decided")).to_be_visible()
    press(page, "u")
    expect(page.get_by_text("2 decided")).to_be_visible()
    press(page, "m", "Enter")
    expect(page.get_by_role("img", name="1 excluded")).to_be_visible()
    press(page, "r")
    expect(page.get_by_label("What is missing?")).to_be_focused()
    page.keyboard.type("also papers about stellar flares")
    press(page, "Tab", "Enter")
    expect(page.get_by_text("Changed since the last round")).to_be_visible()
    press(page, "a")
    expect(page.get_by_text("Wrong object").first).to_be_visible()
    press(page, "a")
    expect(page.get_by_role("heading", name="Finish the review?")).to_be_visible()
    press(page, "Enter")
    expect(page.get_by_text("This search is complete.")).to_be_visible()
    assert download(page, "PRISMA figure").startswith("<svg")
    assert "@" in download(page, "BibTeX")


def download(page: Page, name: str) -> str:
    """Return the file of a link that is followed by keyboard."""
    with page.expect_download() as started:
        page.get_by_role("link", name=name).focus()
        press(page, "Enter")
    return Path(started.value.path()).read_text(encoding="utf-8").lstrip("\ufeff")


def test_the_second_of_two_deciders_is_told_who_was_first(
    make_visitor: Callable[..., Visitor], server: ServerProcess
) -> None:
    with server.make_client() as client:
        session_id = client.post("/api/searches", json={"query": QUERY}).json()["session_id"]
    ada, grace, watcher = make_visitor(name="Ada"), make_visitor(name="Grace"), make_visitor(name="Mary")
    grace.context.route("**/api/events", lambda route: route.abort())
    grace.expected = ("ERR_FAILED", "Failed to load resource")
    pages = [one.open_page(f"/searches/{session_id}/strategy") for one in (ada, grace, watcher)]
    for page in pages:
        expect(page.get_by_role("button", name="Approve")).to_be_visible()
    expect(pages[2].get_by_text("Live")).to_be_visible()
    press(pages[0], "a")
    expect(pages[2].get_by_text("Ada decided this in the console: approved.")).to_be_visible()
    expect(pages[2].get_by_role("button", name="Approve")).to_have_count(0)
    press(pages[1], "r")
    pages[1].get_by_label("What is missing or wrong?").fill("no")
    pages[1].get_by_role("button", name="Reject", exact=True).click()
    expect(pages[1].get_by_role("alert").get_by_text("NOT APPLIED")).to_contain_text("Ada")


def test_a_second_reviewer_is_blind_until_the_own_verdict(
    make_visitor: Callable[..., Visitor], server: ServerProcess
) -> None:
    session_id = start_review(server)
    ada, grace = make_visitor(name="Ada"), make_visitor(name="Grace")
    page = ada.open_page(f"/searches/{session_id}/review")
    expect(page.get_by_role("list", name="Papers")).to_be_visible()
    press(page, "j", "x")
    expect(page.get_by_text("Wrong question").first).to_be_visible()
    press(page, "1", "Enter")
    expect(page.get_by_text("1 decided")).to_be_visible()
    second = grace.open_page(f"/searches/{session_id}/review")
    expect(second.get_by_role("list", name="Papers")).to_be_visible()
    press(second, "j")
    expect(second.get_by_text("1 other reviewer decided. You see it after your own verdict.")).to_be_visible()
    assert "Wrong question" not in second.locator(".list-pane").inner_text()
    press(second, "i", "Enter", "k")
    expect(second.get_by_text("Ada: Exclude (Wrong question)")).to_be_visible()
    expect(second.get_by_text("You differ.").first).to_be_visible()


def test_several_papers_get_one_verdict_and_one_undo(visitor: Visitor, server: ServerProcess) -> None:
    session_id = start_review(server)
    page = visitor.open_page(f"/searches/{session_id}/review")
    expect(page.get_by_role("list", name="Papers")).to_be_visible()
    press(page, "b")
    page.get_by_role("button", name="Select all").click()
    press(page, "m")
    page.get_by_role("button", name="Save for 12").click()
    expect(page.get_by_text("12 maybe")).to_be_visible()
    press(page, "u")
    expect(page.get_by_text("Undone: 12 papers.")).to_be_visible()
    expect(page.get_by_text("0 maybe")).to_be_visible()


def test_leaving_and_returning_restores_filter_and_paper(visitor: Visitor, server: ServerProcess) -> None:
    session_id = start_review(server)
    page = visitor.open_page(f"/searches/{session_id}/review")
    expect(page.get_by_role("list", name="Papers")).to_be_visible()
    page.get_by_label("Sort").select_option("title")
    page.get_by_role("list", name="Papers").get_by_role("link").nth(3).click()
    expect(page.locator("#paper-title")).to_be_visible()
    press(page, "x")
    page.get_by_label("Another reason").fill("not about atmospheres")
    address = page.url
    page.get_by_role("link", name="Searches").first.click()
    expect(page.get_by_role("heading", name="Searches")).to_be_visible()
    page.locator(f"a[href='/searches/{session_id}']").click()
    expect(page).to_have_url(address)
    expect(page.get_by_label("Another reason")).to_have_value("not about atmospheres")
    page.reload()
    expect(page.get_by_label("Another reason")).to_have_value("not about atmospheres")


def test_papers_are_put_on_a_shelf(visitor: Visitor, server: ServerProcess) -> None:
    session_id = start_review(server)
    page = visitor.open_page(f"/searches/{session_id}/review")
    expect(page.get_by_role("list", name="Papers")).to_be_visible()
    press(page, "j", "i", "Enter", "i", "Enter")
    expect(page.get_by_text("2 include")).to_be_visible()
    page.get_by_role("button", name="Put on a shelf").click()
    page.get_by_label("Name of the shelf").fill("planets")
    page.get_by_role("button", name="Put on the shelf").click()
    expect(page.get_by_text("The shelf planets has 2 papers, 2 new.")).to_be_visible(timeout=60_000)


def test_a_search_is_deleted_after_a_question(visitor: Visitor, server: ServerProcess) -> None:
    session_id = start_review(server)
    page = visitor.open_page("/searches")
    item = page.get_by_role("listitem").filter(has=page.locator(f"a[href='/searches/{session_id}']"))
    item.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("This cannot be undone.")).to_be_visible()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.locator(f"a[href='/searches/{session_id}']")).to_have_count(0)


def mark_as_other_reviewers(server: ServerProcess, session_id: str, papers: list[str]) -> None:
    """Exclude the papers as other people, whose names and reasons are attacks."""
    names = [text for text in PAYLOADS if text.isprintable() and len(text) <= 80][::8]
    reasons = dict(zip(papers, PAYLOADS, strict=True))
    for number, name in enumerate(names):
        marks = {paper: {"status": "exclude", "reason": reasons[paper]} for paper in papers[number :: len(names)]}
        with httpx.Client(base_url=server.url, headers={"X-Uraniborg": "1"}, timeout=60) as other:
            other.post("/api/sign-in", json={"token": server.token, "name": name}).raise_for_status()
            other.put(f"/api/searches/{session_id}/marks", json={"decisions": marks}).raise_for_status()


def test_no_text_of_a_search_is_executed_or_fetches_anything(
    visitor: Visitor, server: ServerProcess, hostile_id: str
) -> None:
    fetched: list[str] = []
    visitor.context.on("request", lambda request: fetched.append(request.url))
    with server.make_client() as client:
        listed = client.get(f"/api/searches/{hostile_id}/papers", params={"limit": 500}).json()["papers"]
        papers = [paper["id"] for paper in listed]
        assert len(papers) == len(PAYLOADS)
        plan = client.post("/api/searches", json={"query": " ".join(PAYLOADS[:30])[:2_000]}).json()
        note = {"action": "reject", "note": " ".join(PAYLOADS[30:])[:4_000]}
        client.post(f"/api/searches/{plan['session_id']}/decide", json=note).raise_for_status()
    mark_as_other_reviewers(server, hostile_id, papers)
    own = {paper: {"status": "exclude", "reason": text} for paper, text in zip(papers, PAYLOADS, strict=True)}
    marks = f"{server.url}/api/searches/{hostile_id}/marks"
    assert visitor.context.request.put(marks, data={"decisions": own}, headers={"X-Uraniborg": "1"}).ok
    page = visitor.open_page("/searches")
    page.on("dialog", lambda dialog: fetched.append(f"dialog {dialog.message}"))
    expect(page.get_by_text(HOSTILE)).to_be_visible()
    page.goto(f"{server.url}/searches/{plan['session_id']}/strategy")
    expect(page.get_by_text("Changed since the last round")).to_be_visible()
    page.goto(f"{server.url}/searches/{hostile_id}/strategy")
    expect(page.get_by_role("heading", name=HOSTILE)).to_be_visible()
    errors = page.locator(".detail").inner_text()
    assert [text for text in PAYLOADS if text.isprintable() and text not in errors] == []
    page.goto(f"{server.url}/searches/{hostile_id}/review")
    expect(page.get_by_role("list", name="Papers")).to_be_visible()
    for _ in PAYLOADS:
        press(page, "j")
        expect(page.locator(".paper .prose")).to_be_visible()
        expect(page.get_by_text("Other reviewers")).to_be_visible()
    page.get_by_text("Where each value comes from").click()
    expect(page.get_by_role("link", name="Open paper")).to_have_attribute(
        "href", re.compile(r"^https://doi\.org/10\.1000/alpha\.\d+$")
    )
    assert page.evaluate("() => window.hit") is None
    assert [address for address in fetched if not address.startswith(server.url)] == []
    assert not any(FOREIGN in address for address in fetched)


@pytest.mark.parametrize(("theme", "width"), LOOKS)
def test_the_pages_of_searches_are_accessible(
    make_visitor: Callable[..., Visitor], server: ServerProcess, hostile_id: str, theme: str, width: int
) -> None:
    visitor = make_visitor(theme=theme, width=width)
    with server.make_client() as client:
        plan_id = client.post("/api/searches", json={"query": QUERY}).json()["session_id"]
        review_id = start_review(server)
        paper_id = client.get(f"/api/searches/{review_id}/papers").json()["papers"][0]["id"]
    page = visitor.open_page("/searches")
    visits: list[tuple[str, str, list[str]]] = [
        ("/searches", ".search-item", []),
        ("/searches?new=1", "dialog textarea", []),
        (f"/searches/{plan_id}/strategy", ".queries", []),
        (f"/searches/{plan_id}/strategy", ".queries", ["e"]),
        (f"/searches/{review_id}/review", ".virtual-list", []),
        (f"/searches/{review_id}/review/{paper_id}", ".paper .prose", ["x"]),
        (f"/searches/{review_id}/review/{paper_id}", ".paper .prose", ["b"]),
        (f"/searches/{review_id}/progress", ".flow", []),
    ]
    for path, sign, keys in visits:
        page.goto(f"{server.url}{path}")
        expect(page.locator(sign).first).to_be_visible()
        if not path.endswith("?new=1"):  # a dialog grows when its form arrives
            assert page.evaluate("() => window.shifts") < 0.01, path
        press(page, *keys)
        assert find_accessibility_problems(page) == [], (path, keys)
        overflow = page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert overflow <= 0, path


@pytest.fixture
def own_server(tmp_path: Path) -> Generator[ServerProcess]:
    with run_server(tmp_path) as running:
        yield running


def test_a_server_killed_while_people_decide_loses_no_mark_and_no_typed_word(
    browser: Browser, own_server: ServerProcess, tmp_path: Path
) -> None:
    review_id = start_review(own_server)
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.set_default_timeout(30_000)
    signing = {"token": own_server.token, "name": "Ada"}
    assert context.request.post(f"{own_server.url}/api/sign-in", data=signing, headers={"X-Uraniborg": "1"}).ok
    with Agent(own_server.env) as agent:
        asked = agent.call("search_papers", query=QUERY)
        review, question = context.new_page(), context.new_page()
        review.goto(f"{own_server.url}/searches/{review_id}/review")
        expect(review.get_by_role("list", name="Papers")).to_be_visible()
        press(review, "j", "i", "Enter")
        expect(review.get_by_text("1 decided")).to_be_visible()
        question.goto(f"{own_server.url}/inbox/{asked['checkpoint_id']}")
        question.get_by_role("button", name="Reject with a hint").click()
        question.keyboard.type("also papers about ")
        own_server.process.send_signal(signal.SIGKILL)
        own_server.process.wait(30)
        question.keyboard.type("flares")
        question.get_by_role("button", name="Reject", exact=True).click()
        for page in (review, question):
            expect(page.get_by_text("The server does not answer.").first).to_be_visible()
        press(review, "x", "1", "Enter")
        expect(review.get_by_text("1 mark not sent yet")).to_be_visible()
        port = own_server.url.rpartition(":")[2]
        command = [sys.executable, "-m", "uraniborg", "serve", "--port", port, "--json"]
        env = make_environment(tmp_path)
        again = subprocess.Popen(
            command, env=env, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        try:
            expect(review.get_by_text("2 decided")).to_be_visible(timeout=60_000)
            expect(review.get_by_text("Live", exact=True)).to_be_visible()
            review.reload()
            expect(review.get_by_text("Wrong question").first).to_be_visible()
            expect(question.get_by_role("textbox")).to_have_value("also papers about flares")
            question.get_by_role("button", name="Reject", exact=True).click()
            decided = question.get_by_role("link").filter(has_text="by you, in the console: also papers about flares")
            expect(decided).to_be_visible()
            next_plan = question.get_by_role("link").filter(has_text="Search plan")
            expect(next_plan).to_be_visible()
            state = agent.call("get_session", session_id=asked["session_id"])
            assert state["checkpoint_id"] != asked["checkpoint_id"]
            assert "flares" in str(state)
        finally:
            context.close()
            again.send_signal(signal.SIGINT)
            again.communicate(timeout=60)


@pytest.mark.soak
def test_an_abstract_of_ten_megabytes_and_details_of_the_same_size_are_shown_in_part(
    browser: Browser, tmp_path: Path
) -> None:
    long = "A moon of ice heats. " * 500_000
    papers = make_moon_papers(3)
    papers[1] = papers[1].model_copy(update={"abstract": long})
    session_id = store_review(tmp_path, "tidal heating of icy moons", papers)
    inbox = Inbox(tmp_path / "uraniborg" / "data" / "inbox.db")
    asked = {"question": "Publish?", "workflow": "w", "node": "n", "lineage": "l", "actions": ["approve"]}
    inbox.put("long", "pflow", "approval", "long", asked | {"details": long})
    inbox.close()
    with run_server(tmp_path) as server, browser.new_context() as context:
        signing = {"token": server.token, "name": "Ada"}
        assert context.request.post(f"{server.url}/api/sign-in", data=signing, headers={"X-Uraniborg": "1"}).ok
        page = context.new_page()
        page.goto(f"{server.url}/searches/{session_id}/review")
        expect(page.get_by_role("list", name="Papers")).to_be_visible()
        shortened = page.get_by_text("The first 20,000 of 10,500,000 characters.")
        for _ in papers:
            press(page, "j")
            expect(page.locator(".paper").filter(has_text="Where each value comes from")).to_be_visible()
            if shortened.count():
                break
        expect(shortened).to_be_visible()
        press(page, "i", "Enter")
        expect(page.get_by_text("1 decided")).to_be_visible()
        page.goto(f"{server.url}/inbox/long")
        expect(page.get_by_role("heading", name="Publish?")).to_be_visible()
        assert len(page.locator(".prose").inner_text()) < 25_000
        expect(page.get_by_role("button", name="Approve")).to_be_visible()
