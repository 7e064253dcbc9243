"""Plans with concepts and a ladder of queries in a browser: both sides in step, what sources did, what was removed."""

import re
from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from paper_search.models import ConceptBlock, TermSuggestion
from tests.paper_search.service.sessions.helpers import APPROVE
from tests.uraniborg.console.browser.attack_watch import check_nothing_happened, record_fetches
from tests.uraniborg.console.browser.concept_plans import DRY, QUESTION, store_concept_plan
from tests.uraniborg.console.browser.conftest import Visitor
from tests.uraniborg.console.browser.page_looks import MOST_SHIFT, Visit, check_pages
from tests.uraniborg.console.browser.payloads import PAYLOADS
from tests.uraniborg.console.processes import ServerProcess, run_server

pytestmark = pytest.mark.timeout(240)
expect.set_options(timeout=30_000)
RIGHT_TO_LEFT = "\u202eevil\u202c"
HAS_QUERY = """([term, isThere]) => {
  const texts = [...document.querySelectorAll('.queries textarea')].map((field) => field.value);
  return texts.length > 0 && texts.some((text) => text.includes(term)) === isThere;
}"""
FIELD_TOP = "(field) => field.getBoundingClientRect().top"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def plan_ids(home: Path) -> list[str]:
    """Return plans that wait, one for each test that decides or edits one."""
    return [store_concept_plan(home, offline=True) for _ in range(3)]


@pytest.fixture(scope="module")
def searched_id(home: Path) -> str:
    return store_concept_plan(home, decisions=(APPROVE,))


@pytest.fixture(scope="module")
def removed_id(home: Path) -> str:
    """Return a search whose plan removes every paper by its score."""
    return store_concept_plan(home, decisions=(APPROVE,), min_relevance=0.99)


@pytest.fixture(scope="module")
def reviewed_id(home: Path) -> str:
    """Return a search at its review, which continues with the shipped recordings."""
    return store_concept_plan(home, decisions=(APPROVE,), offline=True)


@pytest.fixture(scope="module")
def hostile_id(home: Path) -> str:
    """Return a plan whose every term and reason is an attack, one of its concepts with 500 wordings."""
    reason = " ".join(PAYLOADS)
    terms = [*PAYLOADS, RIGHT_TO_LEFT, "x" * 5_000]
    blocks = [ConceptBlock(name=term, variants=[term, "moons"], reason=reason) for term in terms]
    many = ConceptBlock(name="many", variants=["many", *(f"wording {number}" for number in range(499))])
    suggestions = [TermSuggestion(term=term, reason=reason, block=terms[0]) for term in terms]
    return store_concept_plan(home, blocks=[*blocks, many], suggestions=suggestions)


@pytest.fixture(scope="module")
def server(
    home: Path, plan_ids: list[str], searched_id: str, removed_id: str, reviewed_id: str, hostile_id: str
) -> Generator[ServerProcess]:
    with run_server(home) as running:
        yield running


def find_concept(page: Page, name: str) -> Locator:
    """Return the row of a concept."""
    return (
        page.get_by_role("list", name="Concepts").locator("> li").filter(has=page.get_by_text(name, exact=True)).first
    )


def expect_queries(page: Page, term: str, *, is_there: bool = True) -> None:
    """Wait until a query to edit has the term, or none."""
    page.wait_for_function(HAS_QUERY, arg=[term, is_there])


def test_concepts_are_edited_by_keyboard_alone_and_the_ladder_follows(
    visitor: Visitor, server: ServerProcess, plan_ids: list[str]
) -> None:
    path = f"/searches/{plan_ids[0]}/strategy"
    page = visitor.open_page(path)
    row = find_concept(page, "breast cancer")
    expect(row).to_contain_text("from the question")
    expect(row).to_contain_text("≈ 1 in 200 papers")
    expect(find_concept(page, "circadian")).to_contain_text("in 14 of the 20 best papers")
    expect(page.get_by_role("heading", name="1 strict")).to_be_visible()
    row.get_by_role("textbox").focus()
    page.keyboard.type("breast tumour")
    page.keyboard.press("Enter")
    expect(row.get_by_text("breast tumour")).to_be_visible()
    expect(row.get_by_role("textbox")).to_be_focused()
    expect_queries(page, "breast tumour")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("End")
    expect(page.get_by_role("button", name="Remove breast tumour")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Delete")
    expect(page.get_by_role("button", name="Remove breast tumour")).to_be_focused()
    expect_queries(page, "mammary carcinoma", is_there=False)
    page.get_by_role("checkbox", name="circadian").focus()
    page.keyboard.press("Space")
    expect(find_concept(page, "circadian")).to_contain_text("off: no query uses it")
    page.get_by_role("button", name="Add light at night to shift work").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Add melatonin as a concept")).to_be_focused()
    edits = page.locator(".card").filter(has=page.get_by_role("heading", name="Your edits"))
    for change in ("breast cancer: breast tumour", "circadian: off", "shift work: light at night"):
        expect(edits).to_contain_text(change)
    with server.make_client() as client:
        proposed = client.get(f"/api{path}").json()["strategy"]
        assert [block["active"] for block in proposed["blocks"]] == [True, True, True]  # nothing is sent before
        page.get_by_role("button", name="Search with these edits").click()
        page.wait_for_url("**/review")
        used = client.get(f"/api{path}").json()["strategy"]
    blocks = {block["name"]: block for block in used["blocks"]}
    assert blocks["breast cancer"]["variants"] == ["breast cancer", "breast neoplasm", "breast tumour"]
    assert blocks["shift work"]["variants"][-1] == "light at night"
    assert not blocks["circadian"]["active"]
    assert not any("circadian" in f"{query['boolean_query']} {query['words']}" for query in used["queries"])
    assert [one["term"] for one in used["suggestions"]] == ["melatonin"]


def test_the_chips_follow_a_query_that_is_typed_and_the_field_stays_where_it_is(
    visitor: Visitor, plan_ids: list[str]
) -> None:
    page = visitor.open_page(f"/searches/{plan_ids[1]}/strategy")
    expect(page.get_by_role("heading", name=QUESTION)).to_be_visible()
    page.keyboard.press("e")
    query = page.get_by_role("textbox", name="Query 3", exact=True)
    query.scroll_into_view_if_needed()
    query.focus()
    page.keyboard.press("Control+Home")
    page.evaluate("() => { window.readShifts(); window.shifts = 0; }")
    before, text = query.evaluate(FIELD_TOP), query.input_value()
    page.keyboard.type('("light at night" OR "jet lag" OR "sleep loss" OR "late chronotype") AND ', delay=20)
    expect(page.get_by_role("button", name="Remove late chronotype")).to_be_visible()
    assert query.input_value() == '("light at night" OR "jet lag" OR "sleep loss" OR "late chronotype") AND ' + text
    assert query.evaluate("(field) => field.selectionStart") == len(query.input_value()) - len(text)
    expect(query).to_be_focused()
    assert abs(query.evaluate(FIELD_TOP) - before) < 2
    assert page.evaluate("() => window.readShifts()") < MOST_SHIFT
    page.get_by_role("button", name="Remove jet lag").click()
    expect(page.get_by_text("The concepts replaced queries that you had written.")).to_be_visible()
    page.get_by_role("button", name="Take your queries back").click()
    expect(query).to_have_value(re.compile('"jet lag"'))
    expect(page.get_by_role("button", name="Remove jet lag")).to_be_visible()
    page.reload()
    expect(query).to_have_value(re.compile('"jet lag"'))


def test_each_source_says_what_it_did_with_each_query_and_each_rung_why_it_ran(
    visitor: Visitor, server: ServerProcess, searched_id: str
) -> None:
    page = visitor.open_page(f"/searches/{searched_id}/strategy")
    results = page.locator(".source-results > li").filter(has_text="Semantic Scholar")
    expect(results).to_contain_text("in part, 3 records fetched, 3 new")
    results.locator("summary").first.click()
    second = results.locator("ol > li").nth(1)
    expect(second.locator("code")).to_contain_text('"shift work"')
    expect(second).to_contain_text("Rung 2: 1,204 matches, 2 fetched, 2 new; stopped: enough papers")
    expect(second).to_contain_text("partial")
    expect(page.get_by_role("heading", name="1 strict")).to_contain_text("ran: 3 new")
    expect(page.get_by_role("heading", name="3 broad")).to_contain_text(f"not run: {DRY}")
    assert "semantic_scholar" not in page.locator("main").inner_text()
    page.goto(f"{server.url}/searches/{searched_id}/review")
    page.get_by_role("button", name="What each source did").click()
    expect(page.get_by_role("dialog").get_by_text("Semantic Scholar")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_papers_that_automation_removed_are_one_click_away_and_come_back(
    visitor: Visitor, server: ServerProcess, removed_id: str
) -> None:
    page = visitor.open_page(f"/searches/{removed_id}/review")
    with server.make_client() as client:
        total = client.get(f"/api/searches/{removed_id}/flow").json()["removed_by_automation"]
        assert total
        page.get_by_role("button", name=f"Removed by automation ({total})").click()
        dialog = page.get_by_role("dialog")
        rows = dialog.get_by_role("list", name="Removed by automation").get_by_role("listitem")
        expect(rows).to_have_count(total)
        expect(rows.first).to_contain_text("is below the least relevance of the plan, 0.99")
        rows.first.get_by_role("button", name="Include: ").click()
        expect(rows.first.locator(".tag")).to_have_text("Include")
        dialog.get_by_role("button", name="Close").last.click()
        page.get_by_role("button", name=f"Removed by automation ({total})").click()
        expect(rows.filter(has=page.locator(".tag"))).to_have_count(1)
        dialog.get_by_role("button", name="Close").last.click()
        client.post(f"/api/searches/{removed_id}/decide", json={"action": "approve"}).raise_for_status()
    page.goto(f"{server.url}/searches/{removed_id}/strategy")
    expect(page.get_by_text("relevance at least 0.99")).to_be_visible()


def test_the_papers_so_far_stay_listed_while_the_plan_of_the_next_round_waits(
    visitor: Visitor, server: ServerProcess, reviewed_id: str
) -> None:
    page = visitor.open_page(f"/searches/{reviewed_id}/review")
    papers = page.get_by_role("list", name="Papers").get_by_role("listitem")
    expect(page.get_by_role("button", name="Finish the review")).to_be_visible()
    count = papers.count()
    with server.make_client() as client:
        paper = client.get(f"/api/searches/{reviewed_id}/papers").json()["papers"][0]
        data = {"decisions": {paper["id"]: {"status": "exclude", "reason": "Wrong object"}}}
        decision = {"action": "reject", "note": "more about shift workers", "data": data}
        client.post(f"/api/searches/{reviewed_id}/decide", json=decision).raise_for_status()
    expect(page.get_by_text("These are the papers so far. The plan of the next round waits.")).to_be_visible()
    expect(page.get_by_role("button", name="Finish the review")).to_have_count(0)
    expect(papers).to_have_count(count)
    expect(papers.filter(has_text="Wrong object")).to_have_count(1)
    page.get_by_role("link", name="Open the plan").click()
    expect(page.get_by_role("heading", name="Concepts")).to_be_visible()


def test_no_term_of_a_plan_is_executed_or_breaks_the_page(
    visitor: Visitor, server: ServerProcess, hostile_id: str
) -> None:
    page = visitor.open_page("/inbox")
    fetched = record_fetches(visitor)
    page.goto(f"{server.url}/searches/{hostile_id}/strategy")
    expect(page.locator(".concept").nth(len(PAYLOADS))).to_be_visible()
    shown = page.get_by_role("list", name="Concepts").inner_text()
    assert [payload for payload in PAYLOADS if " ".join(payload.split()) not in " ".join(shown.split())] == []
    page.get_by_role("button", name="488 more").click()
    expect(page.get_by_role("button", name="Remove wording 498")).to_be_attached()
    page.get_by_role("button", name="Remove wording 498").click()
    expect(page.get_by_role("button", name="Discard edits")).to_be_visible()
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    check_nothing_happened(page, visitor, fetched)


def test_plans_with_concepts_are_accessible_and_still(visitor: Visitor, plan_ids: list[str], searched_id: str) -> None:
    page = visitor.open_page("/searches")
    plan = f"/searches/{plan_ids[2]}/strategy"
    check_pages(
        page,
        [
            Visit(plan, ".concept"),
            Visit(plan, ".concept", "e"),
            Visit(plan, ".concept", click=".suggestions .button"),
            Visit(plan, ".concept", click=".queries .more > summary"),
            Visit(f"/searches/{searched_id}/strategy", ".source-results", click=".source-results summary"),
            Visit(f"/searches/{searched_id}/progress", ".flow", click="button:has-text('What each source did')"),
        ],
    )
