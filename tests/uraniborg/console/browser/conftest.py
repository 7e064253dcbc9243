"""A browser, a server and signed-in pages for the browser tests of the console.

The browser lives as long as a module: while it runs, its event loop is the running one of the thread, and asynchronous
tests of other modules would fail. Modules in this folder therefore have no asynchronous tests.
"""

import os
import shutil
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, BrowserType, ConsoleMessage, Page, sync_playwright

from tests.prerequisites import find_built_console, skip_or_fail
from tests.uraniborg.console.processes import ServerProcess, run_server

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
HEADLESS_PROGRAMS = ("chromium-headless-shell", *PROGRAMS)
"""The headless build of Chromium needs a third less time. It draws letters differently, and WebGL with warnings."""
ARGUMENTS = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    *(["--no-sandbox"] if hasattr(os, "getuid") and os.getuid() == 0 else []),
]
WITH_WEBGL = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
WITHOUT_WEBGL = ["--disable-gpu"]
WEBGL_MODULES = ("test_sky", "test_universe_panels", "test_universe_stories")
WATCH_POLICY = """
window.addEventListener('securitypolicyviolation', (event) => {
  console.error(`CSP: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
});
"""
COUNT_SHIFTS = """
window.shifts = 0;
window.moved = [];
{
  const describe = ({ node }) => node?.className || node?.nodeName || '?';
  const add = (entries) => {
    for (const one of entries) {
      window.shifts += one.value;
      window.moved.push(`${one.value.toFixed(4)} ${one.sources.map(describe).join(', ')}`);
    }
  };
  const observer = new PerformanceObserver((list) => add(list.getEntries()));
  observer.observe({ type: 'layout-shift', buffered: true });
  window.readShifts = () => { add(observer.takeRecords()); return window.shifts; };
}
"""
NAME = "Sophie Brahe"


@pytest.fixture(scope="module")
def browser(request: pytest.FixtureRequest) -> Generator[Browser]:
    """Open Chromium. WebGL is drawn in software, which is slow: only the modules that need it get it."""
    find_built_console()
    with sync_playwright() as playwright:
        if request.path.stem in WEBGL_MODULES:
            opened = launch(playwright.chromium, WITH_WEBGL, PROGRAMS)
        else:
            opened = launch(playwright.chromium, WITHOUT_WEBGL, HEADLESS_PROGRAMS)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def plain_browser(browser: Browser) -> Generator[Browser]:
    """Open Chromium without WebGL, for the tests of a module with WebGL that need none."""
    opened = launch(browser.browser_type, WITHOUT_WEBGL, HEADLESS_PROGRAMS)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def drawing_browser(browser: Browser) -> Generator[Browser]:
    """Open Chromium as people use it, for the tests that compare pictures."""
    opened = launch(browser.browser_type, WITHOUT_WEBGL, PROGRAMS)
    yield opened
    opened.close()


def launch(chromium: BrowserType, drawing: list[str], programs: Sequence[str]) -> Browser:
    program = next((found for name in programs if (found := shutil.which(name))), None)
    if program is None:
        skip_or_fail("There is no Chromium here: run tools/chromium, or install it.")
    return chromium.launch(executable_path=program, args=[*ARGUMENTS, *drawing])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerProcess]:
    """Run `uraniborg serve` with offline trial searches."""
    with run_server(tmp_path_factory.mktemp("home")) as running:
        yield running


@dataclass
class Visitor:
    """A browser profile that is signed in, and everything that its pages complained about."""

    context: BrowserContext
    url: str
    key: str = ""
    messages: list[str] = field(default_factory=list)
    expected: tuple[str, ...] = ()
    """Texts of messages that the test causes on purpose, such as a server that is away."""

    def open_page(self, path: str = "/inbox") -> Page:
        page = self.context.new_page()
        page.on("console", self._collect_message)
        page.on("pageerror", lambda error: self.messages.append(f"{error}"))
        page.goto(f"{self.url}{path}")
        return page

    @property
    def headers(self) -> dict[str, str]:
        """The headers of a request that changes something as this person."""
        return {"X-Uraniborg": "1", "Authorization": f"Bearer {self.key}"}

    def _collect_message(self, message: ConsoleMessage) -> None:
        if not any(text in message.text for text in self.expected):
            self.messages.append(f"{message.type}: {message.text}")


@pytest.fixture
def make_visitor(browser: Browser, server: ServerProcess) -> Generator[Callable[..., Visitor]]:
    """Return a function that makes signed-in visitors; the test fails if a page of theirs printed a message."""
    visitors: list[Visitor] = []

    def make(
        *,
        name: str = NAME,
        width: int = 1440,
        height: int = 0,
        theme: str = "light",
        signed_in: bool = True,
        using: Browser = browser,
    ) -> Visitor:
        key = server.sign_in(name) if signed_in else ""
        context = using.new_context(
            storage_state=server.make_storage(key) if key else None,
            viewport={"width": width, "height": height or (900 if width > 760 else 844)},
            color_scheme="dark" if theme == "dark" else "light",
            reduced_motion="reduce",
        )
        context.set_default_timeout(30_000)
        context.add_init_script(WATCH_POLICY)
        context.add_init_script(COUNT_SHIFTS)
        visitor = Visitor(context, server.url, key)
        visitors.append(visitor)
        return visitor

    yield make
    for visitor in visitors:
        visitor.context.close()
    assert [message for visitor in visitors for message in visitor.messages] == []


@pytest.fixture
def visitor(make_visitor: Callable[..., Visitor]) -> Visitor:
    return make_visitor()


@pytest.fixture
def page(visitor: Visitor) -> Page:
    return visitor.open_page()


AXE_FILE = Path(__file__).resolve().parents[4] / "console" / "node_modules" / "axe-core" / "axe.min.js"
TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
RUN_AXE = """async (runOnly) => {
  const { violations } = await axe.run(document, { runOnly, resultTypes: ['violations'] });
  return violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.html).join(' | ').slice(0, 400)}`);
}"""


def find_accessibility_problems(page: Page, rule: str = "") -> list[str]:
    """Return what axe, or one of its rules, finds wrong with a page as it is now."""
    if not AXE_FILE.exists():
        skip_or_fail("axe-core is not installed: run `python tools/build_console.py install`.")
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(AXE_FILE.read_text(encoding="utf-8"))
    return page.evaluate(RUN_AXE, {"type": "rule" if rule else "tag", "values": [rule] if rule else list(TAGS)})
