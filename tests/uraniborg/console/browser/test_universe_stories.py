"""The story and the universes as people use them in a browser, while others work on the same universes."""

import signal
from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.shared_folders import PATIENCE_S
from tests.uraniborg.console.browser.conftest import Visitor, find_accessibility_problems
from tests.uraniborg.console.processes import ServerProcess, run_server

pytestmark = pytest.mark.timeout(3 * PATIENCE_S)
expect.set_options(timeout=30_000)  # machines that run many tests at once are slow
LOOKS = (("light", 1440), ("dark", 390))
STEPS = (
    "An agent asks", "You strike a query and approve", "You review the papers", "Kept papers go to a shelf",
    "A workflow reads the masses", "You give the missing mass", "Commands build the system", "Planet h becomes heavier",
    "Both universes move", "The comparison answers", "Planet h becomes much heavier", "You scrub back",
    "You export the bundle",
)  # fmt: skip


def make_story_home(home: Path) -> Path:
    """Make a data folder that is the one of a story, so that the pages show the data of the story."""
    (home / "uraniborg" / "data" / "story").mkdir(parents=True)
    return home


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerProcess]:
    with run_server(make_story_home(tmp_path_factory.mktemp("home"))) as running:
        yield running


def run_step(page: Page, title: str) -> str:
    """Run the step in view as a person does, wait for its end, and return its sentence."""
    expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()
    page.locator(".story-buttons .primary").click()
    row = page.get_by_role("list", name="Steps").get_by_role("link", name=title).filter(has_text="Done")
    expect(row).to_be_visible(timeout=2_000 * PATIENCE_S)
    expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()
    return page.locator(".story-sentence").inner_text()


def go_on(page: Page) -> None:
    page.get_by_role("button", name="Next step").click()


def test_a_person_clicks_through_the_story_and_other_words_follow_from_other_choices(
    visitor: Visitor, make_visitor: Callable[..., Visitor]
) -> None:
    page = visitor.open_page("/story")
    watcher = make_visitor(name="Grace").open_page("/story/ask")
    expect(page.get_by_role("heading", name="Is TRAPPIST-1's chain stable")).to_be_visible()
    assert "its question is pending in the inbox" in run_step(page, STEPS[0])
    expect(watcher.get_by_text("its question is pending in the inbox")).to_be_visible()
    page.get_by_role("link", name="the question").click()
    expect(page.get_by_role("heading", name="TRAPPIST-1 planet masses")).to_be_visible()
    page.go_back()
    go_on(page)
    page.locator(".story-queries input").nth(1).check()
    assert "You struck query 2 and approved the rest" in run_step(page, STEPS[1])
    go_on(page)
    expect(page.get_by_text("7 of 19 papers kept")).to_be_visible()
    page.get_by_label("Your verdict on A seven-planet resonant chain").select_option("exclude")
    page.get_by_label("Why: A seven-planet resonant chain").fill("not needed here")
    expect(page.get_by_text("6 of 19 papers kept")).to_be_visible()
    assert "You kept 6 of 19 papers" in run_step(page, STEPS[2])
    go_on(page)
    assert "The shelf has 6 papers" in run_step(page, STEPS[3])
    go_on(page)
    assert "stopped at the node star" in run_step(page, STEPS[4])
    go_on(page)
    assert "You gave 0.0898 solar masses" in run_step(page, STEPS[5])
    page = visitor.open_page("/story")  # left, and resumed in another tab
    assert "1 unverified claim, 7 supported" in run_step(page, STEPS[6])
    masses = page.get_by_role("list", name="The masses and where they come from")
    expect(masses.get_by_role("listitem").filter(has_text="TRAPPIST-1 h")).to_contain_text("row “h | 0.326 ± 0.020")
    expect(masses.get_by_text("unverified claim")).to_be_visible()
    go_on(page)
    assert "2 times as much" in run_step(page, STEPS[7])
    page.get_by_text("50 times as heavy").click()
    page.get_by_role("button", name="Run it again").click()
    expect(page.get_by_text("50 times as much")).to_be_visible()
    page.get_by_role("textbox", name="Times as heavy").fill("-1")
    visitor.expected = ("422",)
    page.get_by_role("button", name="Run it again").click()
    expect(page.get_by_text("factor must be a number from 0.01 to 1000")).to_be_visible()


@pytest.mark.parametrize(("theme", "width"), LOOKS)
def test_pages_of_the_story_and_of_universes_are_accessible(
    make_visitor: Callable[..., Visitor], theme: str, width: int
) -> None:
    visitor = make_visitor(theme=theme, width=width)
    page = visitor.open_page("/story")
    for path in ("/story", "/story/ask", "/story/build", "/story/branch"):
        page.goto(f"{visitor.url}{path}")
        expect(page.get_by_role("list", name="Steps").or_(page.locator(".story-title")).first).to_be_attached()
        expect(page.get_by_text("Loading")).to_have_count(0)
        assert find_accessibility_problems(page) == [], path
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width, path


@pytest.mark.soak
def test_the_whole_story_goes_on_after_the_server_was_killed(browser: Browser, tmp_path: Path) -> None:
    home = make_story_home(tmp_path)
    with run_server(home) as first:
        page = open_signed_in(browser, first)
        for title in STEPS[:8]:
            run_step(page, title)
            go_on(page)
        page.locator(".story-buttons .primary").click()
        expect(page.get_by_text("This step runs.")).to_be_visible()
        expect(page.locator("progress[value]")).to_be_visible(timeout=1_000 * PATIENCE_S)
        first.process.send_signal(signal.SIGKILL)
        first.process.wait(30)
    with run_server(home) as second:
        page = open_signed_in(browser, second)
        expect(page.get_by_text("Interrupted")).to_be_visible(timeout=1_000 * PATIENCE_S)
        page.goto(f"{second.url}/story/integrate")
        assert "2 universes moved for 10 years" in run_step(page, STEPS[8])
        go_on(page)
        assert "all 5 Laplace resonances hold" in run_step(page, STEPS[9])
        expect(page.locator(".story-plot img")).to_be_visible()
        go_on(page)
        assert "2 of 5 Laplace resonances break" in run_step(page, STEPS[10])
        go_on(page)
        assert "the branch is still at version 2" in run_step(page, STEPS[11])
        go_on(page)
        run_step(page, STEPS[12])
        with page.expect_download() as started:
            page.get_by_role("link", name="Download the bundle").click()
        assert Path(started.value.path()).read_bytes().startswith(b"PK")


def open_signed_in(browser: Browser, server: ServerProcess) -> Page:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    context.set_default_timeout(30_000)
    signing = {"token": server.token, "name": "Ada"}
    assert context.request.post(f"{server.url}/api/sign-in", data=signing, headers={"X-Uraniborg": "1"}).ok
    page = context.new_page()
    page.goto(f"{server.url}/story")
    return page
