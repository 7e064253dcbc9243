"""Searches as people do them in a browser, while agents in other processes work and the server comes and goes."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Generator
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from paper_search.editorial_notices import EditorialNotice
from paper_search.models import (
    Author,
    ParsedIntent,
    PartOrigin,
    QueryBuilderInput,
    RawPaper,
    ScoredPaper,
    SearchStrategy,
    SourceRecord,
)
from paper_search.skills.intent_parser import IntentParser
from paper_search.skills.query_builder import QueryBuilder
from paper_search.skills.relevance_scorer import RelevanceScorer
from paper_search.sources.offline_source import read_recorded_papers
from paper_search.testing import FakeSource
from tests.paper_search.service.sessions.helpers import APPROVE, REJECT, make_moon_papers
from tests.paper_search.service.sessions.processes import GatedSource
from tests.uraniborg.console.browser.agents import Agent, store_review
from tests.uraniborg.console.browser.attack_watch import check_nothing_happened, record_fetches
from tests.uraniborg.console.browser.conftest import Visitor
from tests.uraniborg.console.browser.page_looks import Visit, check_pages, go_to
from tests.uraniborg.console.browser.payloads import PAYLOADS
from tests.uraniborg.console.processes import (
    ServerProcess,
    kill_agent_during_search,
    make_environment,
    run_server,
)
from uraniborg.kernel.errors import Unavailable
from uraniborg.kernel.language.messages import plural
from uraniborg.kernel.store.inbox import Inbox
from uraniborg.recordings import QUERY

pytestmark = pytest.mark.timeout(240)
expect.set_options(timeout=30_000)  # machines that run many tests at once are slow
HOSTILE = "tidal heating of icy moons <img src=x onerror=window.hit=1>"
RECEIVED = re.compile(r"^As \d sources? receives? it$")
NOTICE = "10.1000/notice"
PANES = ["list-pane", "detail-pane", "context-pane"]
KEY = "key-of-tycho-brahe"
READ_PAPER = """(paper) => {
  paper.querySelector('.provenance').open = true;
  return paper.innerText;
}"""
LIST_COVERED_CONTROLS = """(messages) => {
  const box = messages.getBoundingClientRect();
  return [...document.querySelectorAll('a, button, select, input, label')]
    .filter((control) => !messages.contains(control) && control.checkVisibility())
    .filter((control) => {
      const own = control.getBoundingClientRect();
      return own.left < box.right && own.right > box.left && own.top < box.bottom && own.bottom > box.top;
    })
    .map((control) => control.outerHTML);
}"""
"""The controls that are behind the messages."""
FAILURES = [f"The disk is full. {' '.join(part)}" for part in (PAYLOADS[:40], PAYLOADS[40:])]
"""Error texts with all attacks; a longer one would be cut."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def gated_source(tmp_path_factory: pytest.TempPathFactory) -> GatedSource:
    """Return a source that searches of the server do not use, because they are offline trials."""
    return GatedSource(tmp_path_factory.mktemp("site") / "packages")


@pytest.fixture(scope="module")
def hostile_id(home: Path) -> str:
    """Return a search whose every text is an attack, stored before the server starts."""
    broken = [FakeSource(f"broken{number}", error=Unavailable(text)) for number, text in enumerate(PAYLOADS)]
    papers = make_hostile_papers("alpha")
    with pytest.MonkeyPatch.context() as patch:
        write_hostile_texts(patch)
        return store_review(home, HOSTILE, papers, FakeSource("beta", make_hostile_papers("beta")), *broken)


@pytest.fixture(scope="module")
def hostile_plan_id(home: Path) -> str:
    """Return a search that waits with the plan of a second round, with such texts."""
    with pytest.MonkeyPatch.context() as patch:
        write_hostile_texts(patch)
        return store_review(home, HOSTILE, make_hostile_papers("alpha")[:3], decisions=(APPROVE, REJECT))


@pytest.fixture(scope="module")
def failed_ids(home: Path) -> list[str]:
    return [store_review(home, "a search that failed", make_moon_papers(), failure=text) for text in FAILURES]


def make_hostile_papers(source: str) -> list[RawPaper]:
    """Return a retracted paper for each attack. Papers of two sources are merged, and differ in their venues."""
    notice: dict[str, Any] = {"status": "retracted", "source": source}
    return [
        paper.model_copy(
            update={
                "source": source,
                "title": f"{paper.title} {payload}",
                "abstract": f"Tidal heating of moons. {payload}",
                "authors": [Author(name=payload), Author(name="Tycho Brahe")],
                "venue": f"{source} {payload}",
                **dict.fromkeys(("volume", "issue", "pages", "publisher", "language"), payload),
                "notices": [
                    EditorialNotice(label=payload, notice_doi=payload if number else NOTICE, date=payload, **notice)
                ],
                "records": [SourceRecord(source=source, record_id=payload, reason=payload)],
                "full_text_url": "javascript:window.hit=1",
            }
        )
        for number, (paper, payload) in enumerate(zip(make_moon_papers(len(PAYLOADS)), PAYLOADS, strict=True))
    ]


def write_hostile_texts(patch: pytest.MonkeyPatch) -> None:
    """Let the steps that a language model can do write attacks: notes, and reasons of queries, sources and ranks."""
    parse, build, score = IntentParser.parse, QueryBuilder.build, RelevanceScorer.score

    async def parse_question(self: IntentParser, text: str) -> ParsedIntent:
        return (await parse(self, text)).model_copy(update={"notes": list(PAYLOADS)})

    async def build_strategy(self: QueryBuilder, given: QueryBuilderInput) -> SearchStrategy:
        reason = " ".join(PAYLOADS)
        origins = [
            PartOrigin(part=part, value="", inherited=False, reason=reason)
            for part in ("queries[0]", "sources", "max_results")
        ]
        notes = [f"note {text}" for text in PAYLOADS]
        return (await build(self, given)).model_copy(update={"origins": origins, "notes": notes})

    async def score_papers(self: RelevanceScorer, papers: list[RawPaper], *given: Any) -> list[ScoredPaper]:
        scored = await score(self, papers, *given)
        texts = cycle(PAYLOADS)
        return [one.model_copy(update={"relevance_reason": next(texts)}) for one in scored]

    patch.setattr(IntentParser, "parse", parse_question)
    patch.setattr(QueryBuilder, "build", build_strategy)
    patch.setattr(RelevanceScorer, "score", score_papers)


@pytest.fixture(scope="module")
def server(
    home: Path, hostile_id: str, hostile_plan_id: str, failed_ids: list[str], gated_source: GatedSource
) -> Generator[ServerProcess]:
    with run_server(home, PYTHONPATH=gated_source.env["PYTHONPATH"], OPENALEX_API_KEY=KEY) as running:
        yield running


def start_review(server: ServerProcess) -> str:
    with server.make_client() as client:
        session_id = client.post("/api/searches", json={"query": QUERY}).json()["session_id"]
        client.post(f"/api/searches/{session_id}/decide", json={"action": "approve"})
    return session_id


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def tab_to(page: Page, target: Locator, key: str = "Tab") -> None:
    """Press Tab, or another key, until the control has the focus: it must be reachable by keyboard alone."""
    expect(target).to_be_visible()
    for _ in range(120):
        if target.evaluate("(control) => control === document.activeElement"):
            return
        press(page, key)
    raise AssertionError(f"{target} cannot be reached by Tab")


def type_into(page: Page, field: Locator, text: str, key: str = "Tab") -> None:
    """Replace the text of a field by keyboard alone."""
    tab_to(page, field, key)
    press(page, "Control+a")
    page.keyboard.type(text)


def find_item(page: Page, session_id: str) -> Locator:
    """Return the entry of a search in the list of searches."""
    return page.get_by_role("listitem").filter(has=page.locator(f"a[href='/searches/{session_id}']"))


def get_current_title(page: Page) -> str:
    return page.locator("#paper-title").inner_text()


def test_a_person_decides_a_plan_that_an_agent_proposed_by_keyboard_alone(
    visitor: Visitor, server: ServerProcess
) -> None:
    with Agent(server.env) as agent:
        page = visitor.open_page("/searches")
        asked = agent.call("search_papers", query=QUERY)
        session_id = asked["session_id"]
        item = find_item(page, session_id)
        expect(item.get_by_text("Plan waits for you")).to_be_visible()
        press(page, "/")
        expect(page.get_by_role("searchbox", name="Words of the question")).to_be_focused()
        page.keyboard.type(session_id)
        expect(page.locator(".search-item")).to_have_count(1)
        press(page, "Escape", "ArrowDown")
        expect(item.get_by_role("link", name=QUERY)).to_be_focused()
        press(page, "Enter")
        expect(page.get_by_role("heading", name=QUERY)).to_be_visible()
        openalex = page.get_by_role("table", name="Where and how much").get_by_role("row").filter(has_text="OpenAlex")
        held = len(read_recorded_papers()["openalex"])
        expect(openalex).to_contain_text(f"{held} papers in the shipped recording")
        tab_to(page, page.get_by_text(RECEIVED).first)
        press(page, "Enter")
        expect(page.get_by_text("submittedDate:[2016").first).to_be_visible()
        press(page, "e")
        count = len(asked["checkpoint"]["payload"]["strategy"]["queries"])
        query = page.get_by_role("textbox", name="Query 1", exact=True)
        type_into(page, query, '("TRAPPIST-1" AND atmosphere')
        expect(page.get_by_text("This bracket is not closed.").first).to_be_visible()
        expect(page.get_by_role("button", name="Search with these edits")).to_be_disabled()
        type_into(page, query, '"TRAPPIST-1" AND atmosphere')
        first = page.locator(".queries > li").first
        tab_to(page, first.get_by_text(RECEIVED))
        press(page, "Enter")
        arxiv = first.locator("dl > div").filter(has_text="arXiv").locator("dd")
        expect(arxiv).to_contain_text('(all:"TRAPPIST-1" AND all:atmosphere) AND submittedDate:[2016')
        press(page, "Shift+Tab", "End")
        page.keyboard.type(" AND water")
        expect(arxiv).to_contain_text('(all:"TRAPPIST-1" AND all:atmosphere AND all:water)')
        type_into(page, query, '"TRAPPIST-1" AND atmosphere')
        tab_to(page, page.get_by_role("button", name="Add a query"))
        press(page, "Enter")
        added = page.get_by_role("textbox", name=f"Query {count + 1}", exact=True)
        type_into(page, added, '"TRAPPIST-1" AND flares', "Shift+Tab")
        removed = page.get_by_role("textbox", name="Query 3", exact=True).input_value()
        tab_to(page, page.get_by_role("button", name="Remove query 3"), "Shift+Tab")
        press(page, "Enter")
        moved = page.get_by_role("textbox", name=f"Query {count}", exact=True)
        expect(moved).to_have_value('"TRAPPIST-1" AND flares')
        expect(added).to_have_count(0)
        expect(page.get_by_role("checkbox", name="flares")).to_be_checked()  # the concepts follow
        tab_to(page, page.get_by_role("checkbox", name="Europe PMC"))
        press(page, "Space")
        most = page.get_by_label("Papers at most")
        proposed, edge = most.input_value(), most.evaluate("(field) => getComputedStyle(field).borderTopColor")
        type_into(page, most, "abc")
        expect(most).to_have_accessible_description("Papers at most must be a number from 1 to 20,000.")
        expect(most).not_to_have_css("border-top-color", edge)
        expect(page.get_by_role("status").get_by_text("Correct the errors first.")).to_be_visible()
        type_into(page, most, proposed)
        type_into(page, page.get_by_label("From year"), "2018", "Shift+Tab")
        edits = page.locator(".card").filter(has=page.get_by_role("heading", name="Your edits"))
        expect(edits.get_by_role("listitem").filter(has_text="From year").locator("del")).to_have_text("2016")
        expect(edits.get_by_role("listitem").filter(has_text="From year").locator("ins")).to_have_text("2018")
        tab_to(page, page.get_by_role("button", name="Search with these edits"))
        expect(page.get_by_role("button", name="Search with these edits")).to_be_enabled()
        press(page, "Enter")
        expect(page.get_by_role("list", name="Papers")).to_be_visible()
        state = agent.call("get_session", session_id=session_id)
        assert state["current_checkpoint_kind"] == "result_review"
        press(page, "r")
        expect(page.get_by_label("What is missing?")).to_be_focused()
        page.keyboard.type("also papers about stellar flares since 2017")
        press(page, "Control+Enter")
        changes = page.locator(".card").filter(has=page.get_by_role("heading", name="Changed since the last round"))
        expect(changes.get_by_role("listitem").filter(has_text="From year").locator("del")).to_have_text("2018")
        expect(changes.get_by_role("listitem").filter(has_text="From year").locator("ins")).to_have_text("2017")
        expect(changes.get_by_role("listitem").filter(has_text="stellar flares").first).to_contain_text("added")
        inherited = page.get_by_role("table", name="Kept from earlier rounds")
        for part, value, reason in (
            ("Query", '"TRAPPIST-1" AND flares', "set by a person in round 1"),
            ("Sources", "OpenAlex, Crossref, arXiv", "set by a person in round 1"),
            ("Removed query", removed, "removed by a person in round 1"),
        ):
            cells = inherited.get_by_role("row").filter(has_text=value).first.get_by_role("cell")
            expect(cells).to_have_text([part, value, reason])


def test_a_plan_shows_the_state_and_the_key_of_each_source(visitor: Visitor, server: ServerProcess) -> None:
    with server.make_client() as client:
        plan = client.post("/api/searches", json={"query": QUERY, "offline": False}).json()
    page = visitor.open_page(f"/searches/{plan['session_id']}/strategy")
    page.get_by_text("sources not used").click()
    rows = page.get_by_role("table", name="Where and how much").get_by_role("row")
    for name, state in (
        ("OpenAlex", "ready, with your key"),
        ("Crossref", "ready"),
        ("Google Scholar (SerpAPI)", "off: no key. Set SERPAPI_API_KEY"),
    ):
        expect(rows.filter(has_text=name).get_by_role("cell")).to_have_text([name, state])
    assert KEY not in page.content()


def test_papers_are_reviewed_by_keyboard_alone_beside_an_agent_in_two_rounds_and_exported(
    visitor: Visitor, server: ServerProcess
) -> None:
    with Agent(server.env) as agent:
        page = visitor.open_page("/searches")
        review_two_rounds(page, agent)


def review_two_rounds(page: Page, agent: Agent) -> None:
    """Review, search another round, finish and export, while an agent searches, decides and reads the result."""
    expect(page.get_by_role("button", name="Start a search").first).to_be_visible()
    press(page, "n")
    expect(page.get_by_label("What are you looking for?")).to_be_focused()
    page.keyboard.type(QUERY)
    press(page, "Control+Enter")
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
    waiting = page.get_by_role("navigation").get_by_role("link", name="Inbox").locator(".count > [aria-hidden]")
    before = int(waiting.inner_text())
    other_id = agent.call("search_papers", query=QUERY)["session_id"]
    expect(waiting).to_have_text(str(before + 1))
    session_id = page.url.split("/")[4]
    working = agent.start("decide", session_id=other_id, action="approve")
    press(page, "r")
    expect(page.get_by_label("What is missing?")).to_be_focused()
    page.keyboard.type("also papers about stellar flares")
    press(page, "Control+Enter")
    expect(page.get_by_text("Changed since the last round")).to_be_visible()
    press(page, "a")
    expect(page.get_by_text("Wrong object").first).to_be_visible()
    press(page, "a")
    expect(page.get_by_role("heading", name="Finish the review?")).to_be_visible()
    press(page, "Enter")
    expect(page.get_by_text("This search is complete.")).to_be_visible()
    assert agent.finish(working)["current_checkpoint_kind"] == "result_review"
    assert agent.call("get_session", session_id=session_id)["is_complete"]
    assert download(page, "PRISMA figure").startswith("<svg")
    check_exports(page, first)


def check_exports(page: Page, included: str) -> None:
    """Download every export by keyboard, then the papers again without those that are not included."""
    files = {name: download(page, name) for name in ("BibTeX", "RIS", "CSL-JSON", "Table", "JSON", "Search log")}
    titles = [paper["title"] for paper in json.loads(files["JSON"])["papers"]]
    assert included in titles
    assert len(titles) > 1
    assert all(title in files["Table"] for title in titles)
    counts = files["BibTeX"].count("\n}"), files["RIS"].count("TY  - "), len(json.loads(files["CSL-JSON"]))
    assert counts == (len(titles),) * 3
    assert "Records screened" in files["Search log"]
    tab_to(page, page.get_by_label("Only included papers"))
    press(page, "Space")
    links = page.locator(".export-links a")
    addresses = [links.nth(number).get_attribute("href") or "" for number in range(links.count())]
    assert ["status=include" in address for address in addresses] == [True] * 5 + [False]
    tab_to(page, page.get_by_role("link", name="BibTeX"), "Shift+Tab")
    assert download(page, "BibTeX").count("\n}") == 1  # Chromium refuses more than ten downloads in a row
    assert [paper["title"] for paper in json.loads(download(page, "JSON"))["papers"]] == [included]


def download(page: Page, name: str) -> str:
    """Return the file of a link that is followed by keyboard."""
    with page.expect_download() as started:
        tab_to(page, page.get_by_role("link", name=name, exact=True))
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
    expect(pages[2].get_by_text("Approved by Ada, in the console.")).to_be_visible()
    expect(pages[2].get_by_role("button", name="Approve")).to_have_count(0)
    press(pages[1], "r")
    pages[1].get_by_label("What is missing or wrong?").fill("no")
    pages[1].get_by_role("button", name="Reject", exact=True).click()
    expect(pages[1].get_by_role("alert").get_by_text("NOT APPLIED")).to_contain_text("Ada")
    expect(pages[1].get_by_text("Your words were not sent: Ada decided first, in the console.")).to_be_visible()


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
    expect(second.get_by_text("Live")).to_be_visible()
    press(second, "j")
    expect(second.locator("#paper-title")).to_have_text(get_current_title(page))
    expect(second.locator(".paper .prose")).to_be_visible()
    expect(second.get_by_text("1 other reviewer decided.")).to_have_count(0)
    press(page, "i", "Enter")
    expect(second.get_by_text("1 other reviewer decided. You see it after your own verdict.")).to_be_visible()
    press(second, "k", "i", "Enter", "k")
    expect(second.get_by_text("Ada: Exclude (Wrong question)")).to_be_visible()
    expect(second.get_by_text("You differ.").first).to_be_visible()


def test_several_papers_get_one_verdict_and_one_undo(visitor: Visitor, server: ServerProcess) -> None:
    session_id = start_review(server)
    page = visitor.open_page(f"/searches/{session_id}/review")
    expect(page.get_by_role("list", name="Papers")).to_be_visible()
    press(page, "b")
    page.get_by_role("button", name="Select all").click()
    press(page, "m")
    count = count_papers(server, session_id)
    page.get_by_role("button", name=f"Save for {count}").click()
    expect(page.get_by_text(f"{count} maybe")).to_be_visible()
    press(page, "u")
    expect(page.get_by_text(f"Undone: {count} papers.")).to_be_visible()
    expect(page.get_by_text("0 maybe")).to_be_visible()
    page.get_by_role("button", name="Filter").click()
    press(page, "j", "i", "Enter")  # saves, and does not press the button that was clicked
    expect(page.get_by_text("1 decided")).to_be_visible()
    expect(page.get_by_role("button", name="Filter")).to_have_attribute("aria-expanded", "true")


def test_leaving_and_returning_restores_filter_place_and_paper(visitor: Visitor, server: ServerProcess) -> None:
    session_id = start_review(server)
    page = visitor.open_page(f"/searches/{session_id}/review")
    expect(page.get_by_role("list", name="Papers")).to_be_visible()
    check_filters_by_keyboard(page, server, session_id)
    check_orders(page, server, session_id)
    page.get_by_label("Sort").select_option("title")
    with server.make_client() as client:
        listed = client.get(f"/api/searches/{session_id}/papers", params={"sort": "title"}).json()["papers"]
    page.locator(".virtual-list").evaluate("(list) => { list.scrollTop = 0; }")
    page.locator(f".list-pane a[href*='{listed[3]['id']}']").click()
    expect(page.locator("#paper-title")).to_be_visible()
    scrolled = page.locator(".virtual-list").evaluate("(list) => { list.scrollTop = 150; return list.scrollTop; }")
    assert scrolled == 150
    press(page, "x")
    page.get_by_label("Another reason").fill("not about atmospheres")
    address = page.url
    page.get_by_role("link", name="Searches").first.click()
    expect(page.get_by_role("heading", name="Searches")).to_be_visible()
    page.locator(f"a[href='/searches/{session_id}']").click()
    expect(page).to_have_url(address)
    expect(page.get_by_label("Sort")).to_have_value("title")
    assert page.locator(".virtual-list").evaluate("(list) => list.scrollTop") == scrolled
    expect(page.get_by_label("Another reason")).to_have_value("not about atmospheres")
    page.reload()
    expect(page.get_by_label("Another reason")).to_have_value("not about atmospheres")


def count_papers(server: ServerProcess, session_id: str, **filters: str) -> int:
    with server.make_client() as client:
        return client.get(f"/api/searches/{session_id}/papers", params={"limit": "1", **filters}).json()["total"]


def check_filters_by_keyboard(page: Page, server: ServerProcess, session_id: str) -> None:
    """Choose papers by state, source, year and score, each filter alone, without a mouse."""
    heading = page.get_by_role("heading", name=re.compile(r"^\d+ papers?$"))
    everything = count_papers(server, session_id)
    expect(heading).to_have_text(plural(everything, "paper"))
    press(page, "j", "i", "Enter", "x", "1", "Enter")
    expect(page.get_by_text("2 decided")).to_be_visible()
    tab_to(page, page.get_by_role("button", name="Filter"), "Shift+Tab")
    press(page, "Enter")
    for label, choice, filters in (
        ("State", "Include", None),
        ("Source", "Europe PMC", {"source": "europepmc"}),
    ):
        found = 1 if filters is None else count_papers(server, session_id, **filters)
        assert 0 < found < everything
        tab_to(page, page.locator(".filters").get_by_label(label))
        page.keyboard.type(choice)
        expect(heading).to_have_text(plural(found, "paper"))
        clear_filters(page)
    for label, parameter, text in (
        ("From year", "year_from", "2018"),
        ("To year", "year_to", "2016"),
        ("Score at least", "score_from", "0.77"),
    ):
        found = count_papers(server, session_id, **{parameter: text})
        assert 0 < found < everything
        type_into(page, page.get_by_label(label), text)
        expect(heading).to_have_text(plural(found, "paper"))
        clear_filters(page)
    expect(heading).to_have_text(plural(everything, "paper"))
    tab_to(page, page.get_by_role("button", name="Filter"), "Shift+Tab")
    press(page, "Enter")


def clear_filters(page: Page) -> None:
    expect(page.get_by_role("button", name="Filter (1)")).to_be_visible()
    tab_to(page, page.get_by_role("button", name="Clear the filter"))
    press(page, "Enter")
    tab_to(page, page.get_by_role("button", name="Filter", exact=True), "Shift+Tab")


def check_orders(page: Page, server: ServerProcess, session_id: str) -> None:
    """Sort by everything: the list has the order of the values."""
    key = page.evaluate("() => localStorage.getItem('uraniborg.sign-in')")
    address = f"{server.url}/api/searches/{session_id}/papers?limit=500"
    rows = page.context.request.get(address, headers={"Authorization": f"Bearer {key}"}).json()["papers"]
    states = ["include", "exclude", "maybe", "undecided"]
    orders: dict[str, Callable[[Any], Any]] = {
        "Score": lambda row: -row["relevance_score"],
        "Year": lambda row: -row["year"],
        "Title": lambda row: row["title"].lower(),
        "State": lambda row: states.index(row["status"]),
        "Source": lambda row: row["sources"],
        "Rank": lambda row: row["rank"],
    }
    for label, key in orders.items():
        page.get_by_label("Sort").select_option(label)
        titles = [row["title"] for row in sorted(rows, key=key)]
        expect(page.locator(".list-pane li:nth-child(-n + 8) .row-title")).to_have_text(titles[:8])
        has_sources = page.locator(".list-pane .row-detail").first.get_by_text("arXiv, Crossref")
        expect(has_sources).to_have_count(1 if label == "Source" else 0)


def test_a_merged_paper_shows_the_matched_words_and_the_origin_of_each_field(
    visitor: Visitor, server: ServerProcess
) -> None:
    page = visitor.open_page(f"/searches/{start_review(server)}/review")
    page.get_by_role("link", name="Modeling climate diversity").click()
    expect(page.locator("#paper-title mark")).to_have_text(["TRAPPIST-1 planets"])
    expect(page.locator(".paper .prose mark").first).to_be_visible()
    tab_to(page, page.get_by_text("Where each value comes from"))
    press(page, "Enter")
    year = page.locator(".provenance dl").first.locator("div").filter(has=page.get_by_text("Year", exact=True))
    expect(year.locator("dd p")).to_have_text(["2018 OpenAlexalso Crossref", "2017 arXiv"])
    records = page.locator(".provenance dl").nth(1).locator("div")
    expect(records.locator("dt")).to_have_text(["OpenAlex", "Crossref", "arXiv"])
    expect(records.last).to_contain_text("1707.06927v1")


def test_a_record_is_separated_and_two_papers_are_merged_by_keyboard_alone(
    visitor: Visitor, server: ServerProcess
) -> None:
    session_id = start_review(server)
    with server.make_client() as client:
        listed = client.get(f"/api/searches/{session_id}/papers").json()["papers"]
    index, merged = next((index, paper) for index, paper in enumerate(listed) if len(paper["sources"]) > 2)
    pair = listed[index + 1 : index + 3]
    page = visitor.open_page(f"/searches/{session_id}/review/{merged['id']}")
    expect(page.locator(".paper .prose")).to_be_visible()
    press(page, "d")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Separate")).to_be_disabled()
    tab_to(page, dialog.get_by_role("checkbox").last)
    press(page, " ")
    tab_to(page, dialog.get_by_role("button", name="Separate"))
    press(page, "Enter")
    waiting = page.locator(".duplicate-changes li")
    expect(waiting).to_have_text(re.compile("1 record separated"))
    for paper in pair:
        press(page, "j")
        expect(page).to_have_url(re.compile(paper["id"]))
        press(page, " ")
    expect(page.get_by_text("2 selected")).to_be_visible()
    press(page, "w")
    expect(dialog.get_by_role("listitem")).to_have_text([paper["title"] for paper in pair])
    tab_to(page, dialog.get_by_role("button", name="Merge", exact=True))
    press(page, "Enter")
    expect(waiting).to_have_count(2)
    page.reload()
    expect(waiting).to_have_count(2)
    with server.make_client() as client:
        client.post(f"/api/searches/{session_id}/decide", json={"action": "approve"})
        (flow, papers) = (client.get(f"/api/searches/{session_id}/{name}").json() for name in ("flow", "papers"))
    assert flow["removed"]["duplicate_by_person"] == 1
    assert papers["total"] == len(listed)
    page.goto(f"{server.url}/searches/{session_id}/review/{pair[1]['id']}")  # a former id
    expect(page).to_have_url(re.compile(pair[0]["id"]))
    expect(waiting.first).to_contain_text("2 papers merged")


def test_papers_are_put_on_a_shelf_by_keyboard_alone(visitor: Visitor, server: ServerProcess) -> None:
    session_id = start_review(server)
    page = visitor.open_page(f"/searches/{session_id}/review")
    expect(page.get_by_role("list", name="Papers")).to_be_visible()
    press(page, "j", "i", "Enter", "i", "Enter")
    expect(page.get_by_text("2 include")).to_be_visible()
    tab_to(page, page.get_by_role("button", name="Put on a shelf"))
    press(page, "Enter")
    type_into(page, page.get_by_label("Name of the shelf"), "planets")
    tab_to(page, page.get_by_role("button", name="Put on the shelf"))
    press(page, "Enter")
    expect(page.get_by_text("The shelf planets has 2 papers, 2 new.")).to_be_visible(timeout=60_000)
    tab_to(page, page.get_by_role("button", name="Put on the shelf"))
    press(page, "Enter")
    expect(page.get_by_text("The shelf planets exists.")).to_be_visible()
    expect(page.get_by_text("The shelf planets has")).to_have_count(0)


def test_a_search_is_deleted_after_a_question_by_keyboard_alone(visitor: Visitor, server: ServerProcess) -> None:
    session_id = start_review(server)
    page = visitor.open_page("/searches")
    tab_to(page, find_item(page, session_id).get_by_role("button", name="Delete"))
    press(page, "Enter")
    expect(page.get_by_text("This cannot be undone.")).to_be_visible()
    tab_to(page, page.get_by_role("dialog").get_by_role("button", name="Delete"))
    press(page, "Enter")
    expect(page.locator(f"a[href='/searches/{session_id}']")).to_have_count(0)


def test_a_search_whose_agent_was_killed_is_resumed_from_the_list(
    visitor: Visitor, server: ServerProcess, gated_source: GatedSource, hostile_id: str, failed_ids: list[str]
) -> None:
    page = visitor.open_page("/searches")
    session_id = kill_agent_during_search(server, gated_source, "tidal heating of moons")
    gated_source.open()
    item = find_item(page, session_id)
    expect(item.get_by_text("Working")).to_be_visible()
    expect(item.get_by_text("round 1")).to_be_visible()
    tab_to(page, item.get_by_role("button", name="Resume"))
    press(page, "Enter")
    expect(page.get_by_text("The search continues.")).to_be_visible()
    expect(item.get_by_text("Papers wait for you")).to_be_visible()
    expect(item.get_by_text("round 1, 3 papers")).to_be_visible()
    expect(item.get_by_role("list", name="Sources").get_by_role("listitem")).to_have_text(["shelfanswered"])
    expect(item.get_by_role("button", name="Resume")).to_have_count(0)
    failed = find_item(page, failed_ids[0])
    expect(failed.get_by_text("Failed", exact=True)).to_be_visible()
    expect(failed.get_by_text("The disk is full.")).to_be_visible()
    sources = find_item(page, hostile_id).get_by_role("list", name="Sources").get_by_role("listitem")
    expect(sources.filter(has_text="broken7").first).to_contain_text("failed")
    expect(sources.filter(has_text="alpha")).to_have_text("alphaanswered")


def mark_as_other_reviewers(server: ServerProcess, session_id: str, papers: list[str]) -> None:
    """Exclude each paper as another person, whose name and reason are attacks, where the text can be a name."""
    with httpx.Client(base_url=server.url, headers={"X-Uraniborg": "1"}, timeout=60) as other:
        for paper, text in zip(papers, PAYLOADS, strict=True):
            other.headers["Authorization"] = f"Bearer {server.sign_in(text if text.isprintable() else 'Mary')}"
            marks = {paper: {"status": "exclude", "reason": text}}
            other.put(f"/api/searches/{session_id}/marks", json={"decisions": marks}).raise_for_status()


def test_no_text_of_a_search_is_executed_or_fetches_anything(
    visitor: Visitor, server: ServerProcess, hostile_id: str, hostile_plan_id: str, failed_ids: list[str]
) -> None:
    fetched = record_fetches(visitor)
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
    assert visitor.context.request.put(marks, data={"decisions": own}, headers=visitor.headers).ok
    page = visitor.open_page("/searches")

    def visit(path: str, sign: Locator) -> str:
        """Go to another page, wait for the sign of it, and return its words."""
        check_nothing_happened(page, visitor, fetched)
        page.goto(f"{server.url}{path}")
        expect(sign.first).to_be_visible()
        return page.locator("main").inner_text()

    def list_missing(words: str, prefix: str = "", suffix: str = "") -> list[str]:
        """Return the attacks that a page should show, and does not."""
        return [text for text in PAYLOADS if text.isprintable() and f"{prefix}{text}{suffix}" not in words]

    expect(page.get_by_text(HOSTILE).first).to_be_visible()
    for failed_id, failure in zip(failed_ids, FAILURES, strict=True):
        expect(find_item(page, failed_id).get_by_text(failure)).to_be_visible()
    for failed_id, failure in zip(failed_ids, FAILURES, strict=True):
        visit(f"/searches/{failed_id}", page.get_by_text(failure))
    visit(f"/searches/{plan['session_id']}/strategy", page.get_by_text("Changed since the last round"))
    heading = page.get_by_role("heading", name=HOSTILE)
    errors = visit(f"/searches/{hostile_id}/strategy", heading)
    assert list_missing(errors) == []
    assert list_missing(errors, "note ") == []
    inherited = page.get_by_role("table", name="Kept from earlier rounds")
    next_plan = visit(f"/searches/{hostile_plan_id}/strategy", inherited)
    assert " ".join(PAYLOADS[:6]) in inherited.inner_text()
    assert list_missing(next_plan, "note ") == []
    asked = visit(f"/inbox/{hostile_plan_id}:2:strategy_confirmation", heading)
    assert list_missing(asked, "note ") == []
    decided = visit(f"/inbox/{hostile_id}:0:strategy_confirmation", page.get_by_text("Where and how much"))
    assert all(f"note {text}" in decided for text in PAYLOADS[:15])  # a question has the first notes
    best = visit(f"/inbox/{hostile_id}:1:result_review", page.get_by_role("button", name="Keep all"))
    assert sum(text in best for text in PAYLOADS) >= 10  # a question has the best papers
    visit(f"/searches/{hostile_id}/review", page.get_by_role("list", name="Papers"))
    shown: list[str] = []
    for _ in PAYLOADS:
        press(page, "j")
        expect(page.locator(".paper .prose")).to_be_visible()
        expect(page.get_by_text("Other reviewers")).to_be_visible()
        shown.append(page.locator(".paper").evaluate(READ_PAPER))
        check_nothing_happened(page, visitor, fetched)
    assert list_missing("\n".join(shown), "Why this rank: ") == []
    assert list_missing("\n".join(shown), "beta ") == []
    # Behind a name that could be read as another kind of actor, the kind is stated.
    plain, stated = (list_missing("\n".join(shown), suffix=one) for one in (": Exclude (", " (person): Exclude ("))
    assert set(plain) & set(stated) == set()
    assert list_missing(page.locator(".context-pane").inner_text()) == []
    expect(page.get_by_role("link", name="Open paper")).to_have_attribute(
        "href", re.compile(r"^https://doi\.org/10\.1000/alpha\.\d+$")
    )
    (noticed,) = [paper["id"] for paper in listed if paper["retraction"]["notice_doi"] == NOTICE]
    visit(f"/searches/{hostile_id}/review/{noticed}", page.locator(".paper .retraction"))
    expect(page.locator(".list-pane [aria-current] .tag").filter(has_text="Retracted")).to_be_visible()
    expect(page.locator(".retraction strong")).to_have_text("retracted")
    expect(page.get_by_role("link", name="Notice")).to_have_attribute("href", f"https://doi.org/{NOTICE}")
    check_nothing_happened(page, visitor, fetched)


def test_the_pages_of_searches_are_accessible_and_still(visitor: Visitor, server: ServerProcess) -> None:
    with server.make_client() as client:
        plan_id = client.post("/api/searches", json={"query": QUERY}).json()["session_id"]
        review_id = start_review(server)
        paper_id = client.get(f"/api/searches/{review_id}/papers").json()["papers"][0]["id"]
    page = visitor.open_page("/searches")
    expect(page.get_by_text("Live")).to_be_visible()
    plan, review = f"/searches/{plan_id}/strategy", f"/searches/{review_id}/review"
    check_pages(
        page,
        [
            Visit("/searches", ".search-item"),
            Visit("/searches?new=1", "dialog textarea"),
            Visit("/searches", ".search-item", click=".search-item button:has-text('Delete')"),
            Visit(plan, ".queries"),
            *(Visit(plan, ".queries", key) for key in "er"),
            Visit(review, ".virtual-list"),
            *(Visit(f"{review}/{paper_id}", ".paper .prose", key) for key in ("x", "b", "a", "r")),
            Visit(f"/searches/{review_id}/progress", ".flow"),
            Visit(f"/searches/{review_id}/progress", ".flow", click="button:has-text('Put on a shelf')"),
        ],
    )
    for width, expected in ((1440, PANES), (390, PANES[1:2])):
        page.set_viewport_size({"width": width, "height": 844})
        go_to(page, f"{review}/{paper_id}")
        expect(page.locator(".paper .prose")).to_be_visible()
        assert [name for name in PANES if page.locator(f".{name}").is_visible()] == expected
        press(page, "Enter")  # no verdict is chosen
        message = page.locator(".toasts").get_by_text("Choose include, maybe or exclude first.")
        expect(message).to_be_visible()
        assert page.locator(".toasts").evaluate(LIST_COVERED_CONTROLS) == []
        press(page, "x")
        expect(page.get_by_text("Wrong question").first).to_be_visible()
        assert page.locator(".toasts").evaluate(LIST_COVERED_CONTROLS) == []
        press(page, "u")
        question = page.locator(".views-question")
        expect(question).to_be_in_viewport(ratio=1)
        expect(question).to_have_attribute("title", QUERY)
        shown = question.bounding_box()
        assert shown
        assert shown["width"] >= 300
        assert shown["height"] < 40  # one line
    go_to(page, review)
    expect(page.locator(".virtual-list")).to_be_visible()
    assert [name for name in PANES if page.locator(f".{name}").is_visible()] == PANES[:1]


@pytest.fixture
def own_server(tmp_path: Path) -> Generator[ServerProcess]:
    with run_server(tmp_path) as running:
        yield running


def test_a_server_killed_while_people_decide_loses_no_mark_and_no_typed_word(
    browser: Browser, own_server: ServerProcess, tmp_path: Path
) -> None:
    review_id = start_review(own_server)
    storage = own_server.make_storage(own_server.sign_in("Ada"))
    context = browser.new_context(viewport={"width": 1440, "height": 900}, storage_state=storage)
    context.set_default_timeout(30_000)
    with Agent(own_server.env) as agent:
        asked = agent.call("search_papers", query=QUERY)
        review, question, other = context.new_page(), context.new_page(), context.new_page()
        review.goto(f"{own_server.url}/searches/{review_id}/review")
        expect(review.get_by_role("list", name="Papers")).to_be_visible()
        press(review, "j", "i", "Enter")
        expect(review.get_by_text("1 decided")).to_be_visible()
        question.goto(f"{own_server.url}/inbox/{asked['checkpoint_id']}")
        question.get_by_role("button", name="Reject with a hint").click()
        question.keyboard.type("also papers about ")
        other.goto(f"{own_server.url}/inbox/{asked['checkpoint_id']}")
        other.get_by_role("button", name="Reject with a hint").click()
        other.keyboard.type("only dry ones")
        other.goto(f"{own_server.url}/searches/{review_id}/review")
        expect(other.get_by_text("Choose a paper.")).to_be_visible()
        own_server.process.send_signal(signal.SIGKILL)
        own_server.process.wait(30)
        question.keyboard.type("flares")
        question.get_by_role("button", name="Reject", exact=True).click()
        for page in (review, question, other):
            expect(page.get_by_text("The server does not answer.").first).to_be_visible()
        press(review, "x", "1", "Enter")
        expect(review.get_by_text("1 mark not sent yet")).to_be_visible()
        press(other, "j", "j", "j", "i", "Enter")
        for page in (review, other):
            expect(page.get_by_text("2 marks not sent yet")).to_be_visible()
        review.close()  # nobody looks at the review when the server is back
        press(other, "g", "i")
        expect(other.get_by_role("heading", name="Waiting for you")).to_be_visible()
        port = own_server.url.rpartition(":")[2]
        command = [sys.executable, "-m", "uraniborg", "serve", "--port", port, "--json"]
        env = make_environment(tmp_path)
        again = subprocess.Popen(
            command, env=env, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        try:
            expect(other.get_by_text("Live", exact=True)).to_be_visible(timeout=60_000)
            expect(question.get_by_text("Live", exact=True)).to_be_visible()
            other.wait_for_function("() => Object.keys(localStorage).every((key) => !key.includes('mark'))")
            review = context.new_page()
            review.goto(f"{own_server.url}/searches/{review_id}/review")
            expect(review.get_by_text("Wrong question").first).to_be_visible()
            expect(review.get_by_text("2 include")).to_be_visible()
            expect(review.get_by_text("1 exclude")).to_be_visible()
            question.reload()
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
    with run_server(tmp_path) as server:
        page = browser.new_page(storage_state=server.make_storage(server.sign_in("Ada")))
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


@pytest.mark.soak
def test_two_thousand_papers_draw_few_rows_and_their_place_is_restored(browser: Browser, tmp_path: Path) -> None:
    beta = FakeSource("beta", make_moon_papers(2_000, "beta")[1_000:])
    rounds = (APPROVE, REJECT, APPROVE)  # a source and a round give at most 1,000
    question = "tidal heating of icy moons"
    session_id = store_review(tmp_path, question, make_moon_papers(1_000), beta, decisions=rounds)
    with run_server(tmp_path) as server, server.make_client() as client:
        storage = server.make_storage(server.sign_in("Ada"))
        page = browser.new_page(viewport={"width": 1440, "height": 900}, storage_state=storage)
        papers = f"/api/searches/{session_id}/papers"
        last = client.get(f"{papers}?limit=1&offset=1999").json()["papers"][0]
        page.goto(f"{server.url}/searches/{session_id}/review")
        expect(page.get_by_role("heading", name="2,000 papers")).to_be_visible()
        rows = page.locator(".virtual-list li")
        assert rows.count() < 60
        page.locator(".virtual-list").evaluate("(list) => { list.scrollTop = list.scrollHeight; }")
        page.get_by_role("link", name=last["title"]).click()
        press(page, "j", "j", "i", "Enter", "k", "j", "m")
        expect(page.locator("#paper-title")).to_have_text(last["title"])
        press(page, "Enter")
        expect(page.get_by_text("1 decided")).to_be_visible()
        expect(page.locator(".tag").filter(has_text="1 maybe")).to_be_visible()
        assert rows.count() < 60
        place = page.locator(".virtual-list").evaluate("(list) => list.scrollTop")
        assert place > 200_000
        press(page, "g", "s")
        page.locator(f"a[href='/searches/{session_id}']").click()
        expect(page.locator(".virtual-list [aria-current]")).to_contain_text(last["title"])
        assert page.locator(".virtual-list").evaluate("(list) => list.scrollTop") == place
        page.reload()
        expect(page.locator(".virtual-list [aria-current]")).to_be_in_viewport()
