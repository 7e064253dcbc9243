"""Every page while it has nothing to show, loads, gets an error, and has lost the server; and the installation's pages.

All tests share one page of one server. Those of an empty server come first.
"""

import os
import re
import shlex
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from paper_search.sources.offline_source import read_recorded_papers
from tests.installed_programs import Program
from tests.uraniborg.console.browser.agents import Agent
from tests.uraniborg.console.browser.conftest import NAME, WATCH_POLICY, Visitor, find_accessibility_problems
from tests.uraniborg.console.processes import ServerProcess, run_server
from uraniborg.recordings import QUERY

pytestmark = pytest.mark.timeout(180)
GO_TO: Final = "(path) => { history.pushState(null, '', path); dispatchEvent(new PopStateEvent('popstate')); }"
HELLO: Final = {"nodes": [{"id": "say", "type": "echo", "params": {"message": "Hello"}}]}
ERROR: Final = {"code": "disk_full", "message": "The disk is full.", "hint": "Delete files, then try again."}
NO_WEBGL: Final = """(() => {
  const real = HTMLCanvasElement.prototype.getContext;
  HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
    return kind.startsWith('webgl') ? null : real.call(this, kind, ...rest);
  };
})()"""
LOST: Final = "The server does not answer."

EMPTY: Final = {
    "/inbox": ("Nothing waits for you.", "Start a search", ""),
    "/searches": ("No searches yet.", "Start a search", "uraniborg search run --review "),
    "/library": ("There is no shelf yet.", "Searches", "uraniborg library build FOLDER -o SHELF"),
    "/workflows": ("There are no workflows yet.", "New draft", "pflow examples hello --as greet"),
    "/workflows?view=runs": ("There are no runs yet.", "Choose a workflow", "pflow run NAME"),
    "/workflows?view=schedules": ("Nothing is scheduled.", "Choose a workflow", "pflow schedule NAME --at "),
    "/universes": ("There are no universes yet.", "Create a universe", "uraniborg universe new --from trappist-1"),
    "/connections": ("No tool was called yet.", "", ""),
}
"""The title of the empty state of each list, its action, and a command for a terminal.

Agents, not people, call tools.
"""
MISSING: Final = {
    "/searches/nothing": "Searches",
    "/searches/nothing/strategy": "Searches",
    "/searches/nothing/review": "Searches",
    "/searches/nothing/progress": "Searches",
    "/library/nothing": "Library",
    "/library/nothing/nothing": "Library",
    "/library/sample-shelf/nothing": None,
    "/workflows/nothing": "Workflows",
    "/workflows/nothing/edit": "Workflows",
    "/runs/nothing": "Runs",
    "/runs/nothing/compare/other": "Runs",
    "/universes/nothing": "Universes",
}
"""Addresses of things that do not exist, and the list that the error leads to."""
FOR_PROGRAMS: Final = re.compile(r"`|/api|GET|MCP|_id|search_papers|pflow |paper-search|Session|\.json first")
"""Parts of hints for agents, scripts and terminals."""
LOADED: Final[dict[str, tuple[Any, str | re.Pattern[str]]]] = {
    "/": ("link", "sample-shelf"),
    "/inbox": ("link", re.compile("Search plan")),
    "/inbox/{question}": ("button", "Approve"),
    "/searches": ("list", "Searches"),
    "/searches/{plan}": ("button", "Approve"),
    "/searches/{plan}/strategy": ("heading", QUERY),
    "/searches/{review}/review": ("button", "Select"),
    "/searches/{review}/review/{paper}": ("radio", "Include"),
    "/searches/{review}/progress": ("heading", "Flow of records"),
    "/library": ("link", "sample-shelf"),
    "/library/sample-shelf": ("link", re.compile("Jupiter-mass companion")),
    "/library/sample-shelf/gillon2017": ("heading", re.compile("Seven temperate terrestrial planets")),
    "/workflows": ("link", "hello"),
    "/workflows/hello": ("button", "Run"),
    "/workflows/hello/edit": ("textbox", "Text of the workflow (JSON)"),
    "/workflows?view=runs": ("link", re.compile("hello")),
    "/runs/{run}": ("button", "Run again with changes"),
    "/runs/{run}/compare/{run}": ("heading", "Earlier"),
    "/universes": ("button", "Rename"),
    "/universes/t1": ("heading", "TRAPPIST-1"),
    "/story": ("heading", re.compile("Is TRAPPIST-1's chain stable")),
    "/connections": ("table", "Sources of papers"),
    "/settings": ("table", "Values"),
}
"""A part of each page that is there once its data are."""


class Requests:
    """The requests of a page for data: they pass, are held, or get an error."""

    def __init__(self, page: Page) -> None:
        self._answer: Callable[[Route], Any] = Route.continue_
        self._held: list[Route] = []
        page.route(re.compile(r"/api/(?!events|sign-in)"), self._receive)

    def hold(self) -> None:
        self._answer = self._held.append

    def fail(self) -> None:
        """Answer the requests that are held, and those that follow, with an error."""
        self._answer = lambda route: route.fulfill(status=500, json={"error": ERROR})
        while self._held:
            self._answer(self._held.pop())

    def release(self) -> None:
        self._answer = Route.continue_

    def _receive(self, route: Route) -> None:
        self._answer(route)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerProcess]:
    """Run a server with one key, and one client that is installed and not connected."""
    home = tmp_path_factory.mktemp("home")
    (home / ".cursor").mkdir()
    with run_server(home, SEMANTIC_SCHOLAR_API_KEY="k-4711") as running:
        yield running


@pytest.fixture(scope="module")
def visitor(browser: Browser, server: ServerProcess) -> Generator[Visitor]:
    key = server.sign_in(NAME)
    looks: Any = {"viewport": {"width": 1440, "height": 900}, "reduced_motion": "reduce"}
    with browser.new_context(**looks, storage_state=server.make_storage(key)) as context:
        context.set_default_timeout(30_000)
        context.add_init_script(WATCH_POLICY)
        context.add_init_script(NO_WEBGL)  # drawn in software, it would take longer than all pages together
        visitor = Visitor(context, server.url, key, expected=("404", "409", "422", "500", "net::ERR_", "WebGL"))
        yield visitor
        assert visitor.messages == []


@pytest.fixture(scope="module")
def page(visitor: Visitor) -> Page:
    return visitor.open_page("/settings")


@pytest.fixture(autouse=True)
def stay_online(visitor: Visitor) -> Generator[None]:
    """Let a test that fails leave the page to the next one."""
    yield
    visitor.context.set_offline(False)


@pytest.fixture(scope="module")
def requests(page: Page) -> Requests:
    return Requests(page)


@pytest.fixture(scope="module")
def ids(server: ServerProcess) -> dict[str, str]:
    """Make one thing of each kind, and return the ids."""
    with server.make_client() as client:
        plan, review = (client.post("/api/searches", json={"query": QUERY}).json() for _ in range(2))
        client.post(f"/api/searches/{review['session_id']}/decide", json={"action": "approve"})
        papers = client.get(f"/api/searches/{review['session_id']}/papers").json()["papers"]
        client.put("/api/drafts/hello", json={"document": HELLO})
        run = client.post("/api/runs", json={"name": "hello"}).json()
        client.post("/api/universes", json={"id": "t1", "name": "TRAPPIST-1", "from": "trappist-1"})
    return {
        "plan": plan["session_id"],
        "question": plan["checkpoint_id"],
        "review": review["session_id"],
        "paper": papers[0]["id"],
        "run": run["run_id"],
    }


def find_state(page: Page) -> Locator:
    return page.get_by_role("main").locator(".state")


@pytest.mark.parametrize("path", EMPTY)
def test_an_empty_list_says_what_will_be_there_and_offers_one_action(page: Page, path: str) -> None:
    title, action, command = EMPTY[path]
    if path == "/library":  # an installation comes with a shelf
        page.route("**/api/shelves", lambda route: route.fulfill(json={"shelves": [], "build_command": command}))
    page.evaluate(GO_TO, path)
    state = find_state(page).filter(has_text=title)
    expect(state).to_be_visible()
    expect(state.locator("p.quiet")).not_to_be_empty()
    actions = state.locator(".button:not(.copy-line .button)")
    assert [one.strip() for one in actions.all_inner_texts()] == ([action] if action else [])
    commands = state.locator(".copy-line code").all_inner_texts()
    assert [command in one for one in commands] == ([True] if command else [])
    page.unroute_all()


def test_the_review_of_a_search_that_has_not_begun_says_when_papers_appear(page: Page, ids: dict[str, str]) -> None:
    page.evaluate(GO_TO, f"/searches/{ids['plan']}/review")
    state = find_state(page).filter(has_text="No papers yet.")
    expect(state).to_contain_text("They appear here as soon as the sources have answered.")


def test_a_thing_that_does_not_exist_gets_one_error_that_says_so(page: Page) -> None:
    for path, link in MISSING.items():
        page.evaluate(GO_TO, path)
        alert = page.get_by_role("main").get_by_role("alert")
        expect(alert).to_contain_text("_not_found")
        expect(alert).to_have_count(1)
        assert FOR_PROGRAMS.findall(alert.inner_text()) == [], path
        assert alert.get_by_role("link").all_inner_texts() == ([link] if link else [])
    page.evaluate(GO_TO, "/inbox/nothing")
    expect(find_state(page)).to_contain_text("This question is no longer here.")


@pytest.mark.parametrize("path", LOADED)
def test_a_page_shows_that_it_loads_and_why_it_cannot_and_survives_a_lost_server(
    page: Page, visitor: Visitor, requests: Requests, ids: dict[str, str], path: str
) -> None:
    address = path.format_map(ids)
    role, name = LOADED[path]
    main = page.get_by_role("main")
    loaded = main.get_by_role(role, name=name).first
    loading = main.get_by_role("status").filter(has_text="Loading").first
    alert = main.get_by_role("alert")
    titles = main.locator(".state-title")
    lost = main.get_by_role("status").filter(has_text=LOST)

    requests.hold()
    if path == "/inbox":  # the frame has read it already
        page.goto(f"{visitor.url}{address}")
    else:
        page.evaluate(GO_TO, "/nothing/here")
        page.evaluate(GO_TO, address)
    expect(loading).to_be_visible()
    expect(loaded).to_have_count(0)
    expect(titles).to_have_count(0)  # nothing says that there is nothing
    requests.fail()
    alerts = 2 if path == "/inbox/{question}" else 1  # the list and the question
    expect(alert).to_have_count(alerts)
    expect(titles).to_have_count(1)
    for text in ERROR.values():
        expect(alert.last).to_contain_text(text)
    requests.release()
    for left in range(alerts - 1, -1, -1):
        alert.first.get_by_role("button", name="Try again").click()
        expect(alert).to_have_count(left)
    expect(loaded).to_be_visible()
    data = page.get_by_role("link", name="This page as JSON").get_attribute("href")
    reply = visitor.context.request.get(f"{visitor.url}{data}", headers=visitor.headers)
    assert (reply.ok, reply.headers["content-type"]) == (True, "application/json"), data

    visitor.context.set_offline(True)
    page.evaluate("window.stop()")  # ends the event stream
    expect(lost).to_be_visible()
    expect(page.get_by_text("Reconnecting")).to_be_visible()
    expect(loaded).to_be_visible()
    page.evaluate(GO_TO, "/nothing/here")
    page.evaluate(GO_TO, address)
    expect(loaded if path == "/inbox" else loading).to_be_visible()
    expect(alert).to_have_count(0)
    visitor.context.set_offline(False)
    expect(loaded).to_be_visible()
    expect(lost).to_have_count(0)


def test_code_that_a_page_needs_is_loaded_when_the_server_is_back(page: Page, visitor: Visitor) -> None:
    page.goto(f"{visitor.url}/settings")
    expect(page.get_by_text("Live")).to_be_visible()
    page.route("**/assets/universes_page-*.js", lambda route: route.abort())
    visitor.context.set_offline(True)
    page.evaluate("window.stop()")
    lost = page.get_by_role("main").get_by_role("status").filter(has_text=LOST)
    expect(lost).to_be_visible()
    page.evaluate(GO_TO, "/universes")
    expect(page.get_by_role("main").get_by_text("Loading")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    page.unroute("**/assets/universes_page-*.js")
    visitor.context.set_offline(False)
    expect(page.get_by_role("heading", name="Universes")).to_be_visible()
    expect(lost).to_have_count(0)


def test_a_page_that_is_opened_while_the_server_is_away_opens_when_it_is_back(page: Page, visitor: Visitor) -> None:
    page.route("**/api/**", lambda route: route.abort())
    page.goto(f"{visitor.url}/searches")
    expect(page.get_by_role("alert")).to_contain_text(LOST)
    expect(page.get_by_role("alert")).to_contain_text("This page continues by itself.")
    page.unroute("**/api/**")
    expect(page.get_by_role("heading", name="Searches")).to_be_visible()
    expect(page.get_by_text("Live")).to_be_visible()


def find_row(page: Page, table: str, text: str) -> Locator:
    return page.get_by_role("table", name=table, exact=True).get_by_role("row").filter(has_text=text)


def test_a_line_is_copied_and_the_client_that_it_connects_appears_as_connected(
    page: Page, visitor: Visitor, server: ServerProcess
) -> None:
    page.goto(f"{visitor.url}/connections")
    cursor = find_row(page, "Agents", "Cursor")
    expect(cursor).to_contain_text("not connected")
    expect(find_row(page, "Agents", "Windsurf")).to_contain_text("not found on this machine")
    visitor.context.grant_permissions(["clipboard-read", "clipboard-write"])
    cursor.get_by_role("button", name="Copy: Cursor").click()
    expect(cursor.get_by_role("button", name="Copied: Cursor")).to_be_visible()
    program, *arguments = shlex.split(page.evaluate("navigator.clipboard.readText()"))
    assert Path(program).is_absolute()
    assert os.access(program, os.X_OK), program
    assert arguments == ["connect", "cursor"]
    done = Program("uraniborg").run(*arguments, "--yes", env=server.env, cwd=Path(server.env["HOME"]))
    assert done.returncode == 0, done.stderr
    expect(cursor).to_contain_text("paper-search, pflow, paper-library, universe")


def test_a_source_says_whether_it_has_a_key_and_is_tested(page: Page, visitor: Visitor) -> None:
    page.goto(f"{visitor.url}/connections")
    expect(find_row(page, "Sources of papers", "OpenAlex")).to_contain_text("not needed offline")
    page.get_by_role("button", name="Test OpenAlex").click()
    expect(find_row(page, "Sources of papers", "OpenAlex")).to_contain_text("answered, 1 paper")
    held = len(read_recorded_papers()["openalex"])
    expect(find_row(page, "Sources of papers", "OpenAlex")).to_contain_text(f"Filtered from its {held} papers")
    page.get_by_role("button", name="Test DBLP").click()
    refusal = find_row(page, "Sources of papers", "DBLP").get_by_role("alert")
    expect(refusal).to_contain_text("The shipped recording has no papers of dblp. Offline, use one of: crossref")
    assert find_accessibility_problems(page) == []

    def answer_as_if_online(route: Route) -> None:
        reply = route.fetch()
        route.fulfill(response=reply, json=reply.json() | {"offline": False})

    page.route("**/api/connections", answer_as_if_online)
    page.goto(f"{visitor.url}/connections")
    expect(find_row(page, "Sources of papers", "Semantic Scholar")).to_contain_text("present")
    expect(find_row(page, "Sources of papers", "OpenAlex")).to_contain_text("missing: set OPENALEX_API_KEY")
    expect(find_row(page, "Sources of papers", "PubMed")).to_contain_text("none; NCBI_API_KEY sets one")
    expect(find_row(page, "Sources of papers", "Crossref")).to_contain_text("not needed")
    assert "k-4711" not in page.content()
    page.unroute("**/api/connections")


def test_a_call_of_an_agent_appears_with_its_time_size_and_error(page: Page, server: ServerProcess) -> None:
    page.evaluate(GO_TO, "/connections")
    with Agent(server.env) as agent:
        agent.call("get_session", session_id="nothing")
    cells = find_row(page, "Last calls of tools", "get_session").first.get_by_role("cell")
    expect(cells.nth(0)).to_have_text("get_session")
    expect(cells.nth(1)).to_have_text("paper-search")
    expect(cells.nth(4)).to_have_text(re.compile(r"^\d+ ms$|^[\d.]+ s$"))
    expect(cells.nth(5)).to_have_text(re.compile(r"^[\d.]+ k?B$"))
    expect(cells.nth(6)).to_have_text("session_not_found")


def test_a_setting_is_changed_in_place_follows_its_file_and_is_reset(
    page: Page, visitor: Visitor, server: ServerProcess
) -> None:
    page.goto(f"{visitor.url}/settings?q=require")
    home = Path(server.env["URANIBORG_HOME"])
    data = page.get_by_role("table", name="Where everything is").get_by_role("row", name="data")
    expect(data.get_by_role("cell").nth(1)).to_have_text(str(home / "data"))
    rows = page.get_by_role("table", name="Values").get_by_role("row")
    expect(rows).to_have_count(2)
    row = rows.nth(1)
    expect(row).to_contain_text("decisions.require_person")
    expect(row).to_contain_text("default")
    row.get_by_role("button", name="Change").click()
    row.get_by_label("New value of decisions.require_person").select_option("true")
    row.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("uraniborg.toml")
    expect(row.get_by_role("cell").nth(1)).to_contain_text("true")
    file = home / "config" / "uraniborg.toml"
    file.write_text(file.read_text(encoding="utf-8").replace("true", "false"), encoding="utf-8")
    expect(row.get_by_role("cell").nth(1)).to_contain_text("false")
    row.get_by_role("button", name="Change").click()
    row.get_by_role("button", name="Reset to the default").click()
    expect(row.get_by_role("cell").nth(2)).to_have_text("default")
    assert "require_person" not in file.read_text(encoding="utf-8")

    page.get_by_label("Find a setting").fill("shelf")
    expect(page).to_have_url(f"{visitor.url}/settings?q=shelf")
    row = find_row(page, "Values", "library.shelf")
    row.get_by_role("button", name="Change").click()
    row.get_by_role("textbox").fill("relative")
    row.get_by_role("button", name="Save").click()
    expect(row.get_by_role("alert")).to_have_text("The path of a shelf must be absolute. Name the whole path.")
    expect(row.get_by_role("textbox")).to_have_value("relative")
    assert find_accessibility_problems(page) == []
    row.get_by_role("button", name="Cancel").click()
    page.get_by_label("Find a setting").fill("user")
    expect(find_row(page, "Values", "uraniborg.user")).to_contain_text("This variable has priority")
    expect(page.get_by_role("table", name="Values").get_by_role("button")).to_have_count(0)


@pytest.mark.soak
def test_the_installation_is_checked_and_the_findings_are_shown(page: Page, visitor: Visitor) -> None:
    page.goto(f"{visitor.url}/settings")
    page.get_by_role("button", name="Check the installation").click()
    expect(page.get_by_role("status").filter(has_text="checks")).to_be_visible(timeout=60_000)
    finding = find_row(page, "Check the installation", "keys: llm.api_key")
    expect(finding).to_contain_text("note")
    expect(finding).to_contain_text("If you have one, set LLM_API_KEY.")
    expect(page.get_by_role("button", name="Check again")).to_be_enabled()
    assert find_accessibility_problems(page) == []
