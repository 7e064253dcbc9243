"""The story and the universes as people use them in a browser, while others work on the same universes."""

import re
import signal
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.shared_folders import PATIENCE_S
from tests.uraniborg.console.browser.agents import Agent
from tests.uraniborg.console.browser.attack_watch import check_nothing_happened, record_fetches
from tests.uraniborg.console.browser.conftest import COUNT_SHIFTS, Visitor, find_accessibility_problems
from tests.uraniborg.console.browser.page_looks import Visit, check_pages, go_to
from tests.uraniborg.console.browser.payloads import PAYLOADS
from tests.uraniborg.console.processes import ServerProcess, run_server

pytestmark = pytest.mark.timeout(3 * PATIENCE_S)
expect.set_options(timeout=30_000)  # machines that run many tests at once are slow
STEPS = (
    "An agent asks", "You decide on the queries", "You review the papers", "Kept papers go to a shelf",
    "A workflow looks for the masses", "You give the mass of the star", "Commands build the system",
    "Planet h gets another mass", "Both universes move", "Both runs are compared", "You try another mass",
    "You scrub back", "You export the bundle",
)  # fmt: skip


TABS = ("Log", "Command", "Jobs")
WITHOUT_WEBGL = """
const getContext = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
  return kind.startsWith('webgl') ? null : getContext.call(this, kind, ...rest);
};
"""


def make_story_home(home: Path) -> Path:
    """Make a data folder that is the one of a story, so that the pages show the data of the story."""
    (home / "uraniborg" / "data" / "story").mkdir(parents=True)
    return home


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerProcess]:
    with run_server(make_story_home(tmp_path_factory.mktemp("home"))) as running:
        yield running


def run_step(page: Page, title: str, title_when_done: str = "") -> str:
    """Run the step in view as a person does, wait for its end, and return its sentence."""
    done = title_when_done or title
    expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()
    page.locator(".story-buttons .primary").click()
    row = page.get_by_role("list", name="Steps").get_by_role("link", name=done).filter(has_text="Done")
    expect(row).to_be_visible(timeout=2_000 * PATIENCE_S)
    expect(page.get_by_role("heading", name=done, exact=True)).to_be_visible()
    return page.locator(".story-sentence").inner_text()


def go_on(page: Page) -> None:
    page.get_by_role("button", name="Next step").click()


def test_a_person_clicks_through_the_story_and_other_words_follow_from_other_choices(
    make_visitor: Callable[..., Visitor], plain_browser: Browser
) -> None:
    visitor = make_visitor(using=plain_browser)
    page = visitor.open_page("/story")
    watcher = make_visitor(name="Grace", using=plain_browser).open_page("/story/ask")
    expect(page.get_by_role("heading", name="Is TRAPPIST-1's chain stable")).to_be_visible()
    assert "its question is pending in the inbox" in run_step(page, STEPS[0])
    expect(watcher.get_by_text("its question is pending in the inbox")).to_be_visible()
    watcher.close()
    page.get_by_role("link", name="the question").click()
    expect(page.get_by_role("heading", name="TRAPPIST-1 planet masses")).to_be_visible()
    page.go_back()
    go_on(page)
    page.locator(".story-queries input").nth(1).check()
    assert "You struck query 2 and approved the rest" in run_step(page, STEPS[1])
    go_on(page)
    counts = page.get_by_text(re.compile(r"\d+ of \d+ papers kept"))
    kept, found = map(int, re.findall(r"\d+", counts.inner_text().partition(":")[2]))
    assert found > kept > 1
    page.get_by_label("Your verdict on A seven-planet resonant chain").select_option("exclude")
    page.get_by_label("Why: A seven-planet resonant chain").fill("not needed here")
    expect(page.get_by_text(f"{kept - 1} of {found} papers kept")).to_be_visible()
    expect(page.get_by_role("link", name="the review")).to_be_visible()
    done = run_step(page, STEPS[2])
    assert f"You approved the review, which keeps {kept - 1} of {found} papers." in done
    assert f"You judged 1 of them: the search log says that a program judged the other {found - 1}." in done
    go_on(page)
    assert f"The shelf has {kept - 1} papers" in run_step(page, STEPS[3])
    go_on(page)
    assert "stopped at the node star" in run_step(page, STEPS[4])
    go_on(page)
    assert "You gave 0.0898 solar masses" in run_step(page, STEPS[5])
    page.close()
    page = visitor.open_page("/story")  # left, and resumed in another tab
    assert "1 unverified claim, 7 supported" in run_step(page, STEPS[6])
    masses = page.get_by_role("list", name="The masses and where they come from")
    expect(masses.get_by_role("listitem").filter(has_text="TRAPPIST-1 h")).to_contain_text("row “h | 0.326 ± 0.020")
    expect(masses.get_by_text("unverified claim")).to_be_visible()
    go_on(page)
    expect(page.get_by_role("heading", name="if planet h is twice as heavy?")).to_be_visible()
    assert "twice as much" in run_step(page, STEPS[7], "Planet h becomes twice as heavy")
    page.get_by_text("50 times", exact=True).click()
    page.get_by_role("button", name="Run it again").click()
    expect(page.get_by_text("50 times as much")).to_be_visible()
    expect(page.get_by_role("heading", name="Planet h becomes 50 times as heavy")).to_be_visible()
    expect(page.get_by_role("heading", name="if planet h is 50 times as heavy?")).to_be_visible()
    visitor.expected = ("422",)
    page.get_by_role("textbox", name="Times as heavy").fill("-1")
    page.keyboard.press("Enter")
    expect(page.get_by_text("factor must be a number from 0.01 to 1000")).to_be_visible()


def show(page: Page, tab: str) -> None:
    page.locator(".panel-tabs label", has_text=tab).click()


def test_two_browsers_and_two_agents_change_one_universe_and_see_the_same_version(
    make_visitor: Callable[..., Visitor], server: ServerProcess
) -> None:
    page = make_visitor(width=1000, height=600).open_page("/universes")
    page.get_by_role("button", name="Create a universe").first.click()
    page.get_by_label("System", exact=True).select_option("trappist-1")
    page.get_by_role("textbox", name="Name").fill("Shared")
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page.get_by_role("heading", name="Shared")).to_be_visible()
    universe = page.url.split("/universes/")[1].split("?")[0]
    other = make_visitor(name="Grace", width=1000, height=600).open_page(f"/universes/{universe}?body=trappist-1-h")
    expect(other.get_by_text("8 bodies, version 1")).to_be_visible()
    page.get_by_label("Choose a body").select_option("trappist-1-h")
    page.get_by_role("button", name="where Radius comes from").click()
    expect(page.get_by_role("dialog").get_by_text("Refining the Transit-timing")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Find or do anything").fill("set mass of trappist-1 h")
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="mass", exact=True)).to_be_focused()
    page.get_by_role("textbox", name="mass", exact=True).fill("heavy")
    page.get_by_role("textbox", name="id (required)").fill("")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_text("This must be a number.")).to_be_visible()
    expect(page.get_by_text("This value is required.")).to_be_visible()
    page.get_by_role("textbox", name="id (required)").fill("trappist-1-h")
    page.get_by_role("textbox", name="mass", exact=True).fill("0.5")
    expect(page.get_by_text("heavier than TRAPPIST-1, which it orbits (0.0898 solar masses)")).to_be_visible()
    page.get_by_role("textbox", name="mass", exact=True).fill("2e-6")
    expect(page.get_by_text("This is 0.666 Earth masses.")).to_be_visible()
    page.get_by_role("button", name="Send").click()
    expect(other.get_by_text("8 bodies, version 2")).to_be_visible()
    expect(other.get_by_text("set by Sophie Brahe in version 2").first).to_be_visible()
    expect(other.get_by_text("0.666 Earth masses")).to_be_visible()
    show(other, "Log")
    bridge = ("uraniborg", "bridge", "--server", "universe", f"{server.parts['universe']['url']}/mcp")
    with Agent(server.env, *bridge) as agent, Agent(server.env, *bridge) as second:
        command = {"type": "updateStar", "id": "trappist-1-g", "payload": {"color": "#ff0000"}}
        calls = [
            (one, one.start("send_universe_command", universeId=universe, command=command)) for one in (agent, second)
        ]
        assert {one.finish(call)["version"] for one, call in calls} == {3, 4}
        expect(other.get_by_text("8 bodies, version 4")).to_be_visible()
        expect(page.get_by_text("8 bodies, version 4")).to_be_visible()
        refused = {"type": "updateStar", "id": "nowhere", "payload": {"mass": 1}}
        agent.call("send_universe_command", universeId="elsewhere", command=refused)
        agent.call("send_universe_command", universeId=universe, command=refused)
    expect(other.get_by_role("list", name="Log").get_by_role("listitem").first).to_contain_text("updateStar")
    expect(other.get_by_text("Commands of agents that were refused")).to_be_visible()
    expect(other.locator(".log-list .tag.no")).to_have_count(1)
    expect(other.get_by_text("nowhere")).to_be_visible()
    other.get_by_role("button", name="Undo the last change").click()
    expect(page.get_by_text("8 bodies, version 5")).to_be_visible()
    other.get_by_role("slider", name="Version 5 of 5").fill("1")
    expect(other.get_by_text("version 1 of 5", exact=False).first).to_be_visible()
    other.get_by_role("button", name="Branch at version 1").click()
    expect(other.get_by_text("8 bodies, version 1")).to_be_visible()


SEND = """async ({ path, command }) => {
  const key = `Bearer ${localStorage.getItem('uraniborg.sign-in')}`;
  const headers = { 'X-Uraniborg': '1', 'Content-Type': 'application/json', Authorization: key };
  const answer = await fetch(path, { method: 'POST', headers, body: JSON.stringify(command) });
  return answer.ok;
}"""
READ_POSITIONS = """async () => {
  const { sky } = document.querySelector('.sky');
  sky.state.time.value = 100;
  sky.state.followed.value = 'trappist-1';
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  return sky.readPositions();
}"""


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("seconds", "pause_s"),
    [pytest.param(30, 2.0, id="30-s"), pytest.param(300, 0, id="300-s", marks=pytest.mark.soak)],
)
def test_two_browsers_and_two_agents_write_at_once_and_nothing_is_lost(
    make_visitor: Callable[..., Visitor], server: ServerProcess, seconds: float, pause_s: float
) -> None:
    with server.make_client() as client:
        made = client.post("/api/universes", json={"name": "Busy", "from": "trappist-1"}).json()["id"]
    pages = [
        make_visitor(name=name, width=360, height=300).open_page(f"/universes/{made}") for name in ("Ada", "Grace")
    ]
    for page in pages:
        page.wait_for_function("() => document.querySelector('.sky')?.sky?.readStatistics().frames > 0")
    path, masses = f"/api/universes/{made}/commands", {letter: list[float]() for letter in "efgh"}

    def make_command(letter: str) -> dict[str, object]:
        masses[letter].append(1e-6 + 1e-9 * len(masses[letter]))
        return {"type": "updateStar", "id": f"trappist-1-{letter}", "payload": {"mass": masses[letter][-1]}}

    bridge = ("uraniborg", "bridge", "--server", "universe", f"{server.parts['universe']['url']}/mcp")
    with Agent(server.env, *bridge) as first, Agent(server.env, *bridge) as second:
        end = time.monotonic() + seconds
        while time.monotonic() < end or len(masses["h"]) < 5:
            calls = [
                (agent, agent.start("send_universe_command", universeId=made, command=make_command(letter)))
                for agent, letter in ((first, "g"), (second, "h"))
            ]
            for page, letter in zip(pages, "ef", strict=True):
                assert page.evaluate(SEND, {"path": path, "command": make_command(letter)})
            for agent, call in calls:
                assert "version" in agent.finish(call)
            pages[0].wait_for_timeout(1_000 * pause_s)  # machines that run other tests, too, must not be kept busy
    version = 1 + sum(map(len, masses.values()))
    for page in pages:
        expect(page.get_by_text(f"8 bodies, version {version}", exact=True)).to_be_visible()
    assert pages[0].evaluate(READ_POSITIONS) == pages[1].evaluate(READ_POSITIONS)
    with server.make_client() as client:
        entries: list[Any] = []
        while page_of_log := client.get(
            f"/api/universes/{made}/history", params={"after": 1 + len(entries), "limit": 1000}
        ).json()["entries"]:
            entries += page_of_log
    assert [entry["version"] for entry in entries] == list(range(2, version + 1))
    for letter, sent in masses.items():
        body = f"trappist-1-{letter}"
        assert [one["command"]["payload"]["mass"] for one in entries if one["command"]["id"] == body] == sent


@pytest.mark.soak
def test_a_job_is_started_read_and_deleted(visitor: Visitor, server: ServerProcess) -> None:
    with server.make_client() as client:
        made = client.post("/api/universes", json={"name": "For jobs", "from": "trappist-1"}).json()
    page = visitor.open_page(f"/universes/{made['id']}")
    show(page, "Jobs")
    page.get_by_role("textbox", name="Days").fill("20")
    page.get_by_role("button", name="Start").click()
    page.get_by_role("button", name="Read the answer").click(timeout=1_000 * PATIENCE_S)
    answer = page.get_by_role("dialog")
    expect(answer.get_by_text("trustworthy")).to_be_visible()
    expect(answer.get_by_role("table", name="Resonances")).to_be_visible()
    expect(answer.get_by_role("table", name="eccentricity")).to_be_visible()
    assert find_accessibility_problems(page) == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Play it").click()
    expect(page.get_by_text("N-body run, error at most")).to_be_visible()
    page.get_by_role("button", name="Stop playing").click()
    expect(page.get_by_text("N-body run, error at most")).to_be_hidden()
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog", name="Delete this job?").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("Nothing was computed yet.")).to_be_visible()


def test_hostile_names_and_reasons_of_universes_stay_text(
    make_visitor: Callable[..., Visitor], server: ServerProcess, plain_browser: Browser
) -> None:
    body = {"mass": 1, "radius": 0.01, "color": "#ffffff", "orbitalSpeed": 0.1}
    names = [text[:100] for text in PAYLOADS]
    with server.make_client() as client:
        made = client.post("/api/universes", json={"name": names[0]}).json()["id"]
        commands = [
            {
                "type": "addStar",
                "id": f"body-{number}",
                "payload": {**body, **place, "name": text},
                "reason": text[:200],
            }
            for number, text in enumerate(PAYLOADS)
            for place in [{"parentId": "body-0" if number else None, "orbitalDistance": number}]
        ]
        client.post(f"/api/universes/{made}/commands", json=commands).raise_for_status()
        client.post(f"/api/universes/{made}/branch", json={"name": names[9]}).raise_for_status()
    visitor = make_visitor(using=plain_browser)
    visitor.context.add_init_script(WITHOUT_WEBGL)  # a table has the names of all bodies
    fetched = record_fetches(visitor)
    page = visitor.open_page("/universes")
    expect(page.get_by_text(names[9]).first).to_be_visible()
    check_nothing_happened(page, visitor, fetched)
    go_to(page, f"/universes/{made}?body=body-9")
    expect(page.get_by_role("heading", name=names[0])).to_be_visible()
    expect(page.get_by_role("heading", name=PAYLOADS[9])).to_be_visible()
    table = page.get_by_role("table", name="Positions")
    expect(table.get_by_role("row")).to_have_count(len(PAYLOADS) + 1)
    bodies = table.evaluate("(one) => [...one.tBodies[0].rows].map((row) => row.cells[0].textContent)")
    assert sorted(bodies) == sorted(PAYLOADS)
    check_nothing_happened(page, visitor, fetched)
    show(page, "Log")
    expect(page.get_by_role("list", name="Log")).to_be_visible()
    check_nothing_happened(page, visitor, fetched)
    show(page, "Command")
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    check_nothing_happened(page, visitor, fetched)


def test_pages_of_the_story_and_of_universes_are_accessible_and_still(
    make_visitor: Callable[..., Visitor], server: ServerProcess, plain_browser: Browser
) -> None:
    with server.make_client() as client:
        made = client.post("/api/universes", json={"name": "TRAPPIST-1", "from": "trappist-1"}).json()["id"]
    visitor = make_visitor(using=plain_browser)
    visitor.context.add_init_script(WITHOUT_WEBGL)
    page = visitor.open_page("/story")
    expect(page.get_by_text("Live")).to_be_visible()
    universe = f"/universes/{made}?body=trappist-1-h"
    check_pages(
        page,
        [
            *(Visit(path, "h1, h2") for path in ("/story", "/story/ask", "/story/build", "/story/branch")),
            Visit("/universes", ".universe-cards"),
            Visit("/universes?new=1", "dialog"),
            Visit("/universes", ".universe-cards", click=".universe-cards button:has-text('Delete')"),
            Visit(universe, ".panel-tabs"),
            *(Visit(universe, ".panel-tabs", click=f".panel-tabs label:has-text('{tab}')") for tab in TABS),
        ],
    )


@pytest.mark.soak
def test_the_whole_story_goes_on_after_the_server_was_killed(plain_browser: Browser, tmp_path: Path) -> None:
    home = make_story_home(tmp_path)
    with run_server(home) as first:
        page = open_signed_in(plain_browser, first)
        for title in STEPS[:8]:
            run_step(page, title, "Planet h becomes twice as heavy" if title == STEPS[7] else "")
            go_on(page)
        page.locator(".story-buttons .primary").click()
        expect(page.get_by_text("This step runs.")).to_be_visible()
        expect(page.locator("progress[value]")).to_be_visible(timeout=1_000 * PATIENCE_S)
        first.process.send_signal(signal.SIGKILL)
        first.process.wait(30)
    with run_server(home) as second:
        page = open_signed_in(plain_browser, second)
        expect(page.get_by_text("Interrupted")).to_be_visible(timeout=1_000 * PATIENCE_S)
        page.goto(f"{second.url}/story/integrate")
        assert "2 universes moved for 10 years" in run_step(page, STEPS[8])
        go_on(page)
        assert "all 5 Laplace resonances hold" in run_step(page, STEPS[9])
        expect(page.locator(".story-plot img")).to_be_visible()
        go_on(page)
        assert "2 of 5 Laplace resonances break" in run_step(page, STEPS[10], "Planet h becomes 50 times as heavy")
        go_on(page)
        assert "the branch is still at version 2" in run_step(page, STEPS[11])
        go_on(page)
        run_step(page, STEPS[12])
        with page.expect_download() as started:
            page.get_by_role("link", name="Download the bundle").click()
        assert Path(started.value.path()).read_bytes().startswith(b"PK")
        check_pages(
            page, [Visit(f"/story/{step}", ".story-facts") for step in ("integrate", "compare", "break", "export")]
        )


def open_signed_in(browser: Browser, server: ServerProcess) -> Page:
    storage = server.make_storage(server.sign_in("Ada"))
    viewport: ViewportSize = {"width": 1440, "height": 900}
    context = browser.new_context(viewport=viewport, reduced_motion="reduce", storage_state=storage)
    context.set_default_timeout(30_000)
    context.add_init_script(COUNT_SHIFTS)
    page = context.new_page()
    page.goto(f"{server.url}/story")
    return page
