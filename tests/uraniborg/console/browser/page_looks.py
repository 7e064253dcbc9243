"""The looks of pages: axe, layout shifts and overflow, in both themes and at four widths, with one load."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from playwright.sync_api import Page, expect

from tests.uraniborg.console.browser.conftest import find_accessibility_problems

MOST_SHIFT = 0.01
HEIGHTS = {390: 844, 800: 900, 1440: 900, 1920: 1080}
GO_TO = """async (path) => {
  const draw = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const show = (one) => { history.pushState(null, '', one); dispatchEvent(new PopStateEvent('popstate')); };
  show('/nothing');  // so that nothing of the last page stays
  await draw();
  await draw();
  window.readShifts();
  window.shifts = 0;
  window.moved = [];
  show(path);
}"""
DELAY_REPLIES = """(step, order) => {
  const request = window.fetch;
  let count = 0;
  window.fetch = async (...given) => {
    const late = ((count++ * order) % 5) * step;
    const reply = await request(...given);
    await new Promise((done) => setTimeout(done, late));
    return reply;
  };
}"""
REPLY_DELAY_MS = int(os.environ.get("REPLY_DELAY_MS", "0"))
"""Replies arrive up to four times this late, in another order: for finding layout shifts that a fast machine hides."""
REPLY_ORDER = int(os.environ.get("REPLY_ORDER", "1"))
"""Another number, from 1 to 4, lets other replies be late."""
HAS_OVERLAP = """() => {
  const find = (selector) => document.querySelector(selector)?.getBoundingClientRect();
  const [text, context] = [find('.reader'), find('.context-pane')];
  return Boolean(text && context && context.left < text.right && context.top < text.bottom);
}"""
DRAWN_AT_WIDTH = """(width) => innerWidth === width
  && new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(true))))"""
READ_OVERFLOW = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


@dataclass(frozen=True)
class Visit:
    """A page, an element that shows that the page has arrived, and what to do then: press a key, click a text."""

    path: str
    sign: str
    key: str = ""
    click: str = ""

    def act(self, page: Page) -> None:
        """Do it."""
        if self.key:
            page.keyboard.press(self.key)
        if self.click:
            page.locator(self.click).first.click()


def go_to(page: Page, path: str) -> None:
    """Show another page without loading the console again, and count its layout shifts from zero."""
    page.evaluate(GO_TO, path)


def check_pages(page: Page, visits: Sequence[Visit]) -> None:
    """Assert that the pages have no problem in any look, and that nothing moves while they open and are read."""
    origin = page.url[: page.url.index("/", len("https://"))]
    if REPLY_DELAY_MS:
        page.add_init_script(f"({DELAY_REPLIES})({REPLY_DELAY_MS}, {REPLY_ORDER})")
    found: list[tuple[Visit, int, list[str]]] = []
    for width in change_looks(page):
        for path, sign in {visit.path: visit.sign for visit in visits}.items():
            page.goto(f"{origin}{path}")
            wait_for_page(page, sign)
            moved = find_shifts(page)
            found += [(Visit(path, sign), width, moved)] if moved else []
        for visit in visits:
            go_to(page, visit.path)
            wait_for_page(page, visit.sign)
            problems = find_problems_of_themes(page) if not visit.key and not visit.click else []
            moved = find_shifts(page)
            if visit.key or visit.click:
                visit.act(page)
                problems = find_problems_of_themes(page)
            problems += find_overflow(page) + moved
            found += [(visit, width, problems)] if problems else []
            page.evaluate("() => sessionStorage.clear()")  # an edit that the visit began does not change the next visit
    assert not found, found


def find_shifts(page: Page) -> list[str]:
    """Return what has moved since the page was opened, if that is more than allowed."""
    shift, moved = page.evaluate("() => [window.readShifts(), window.moved]")
    return moved if shift >= MOST_SHIFT else []


def wait_for_page(page: Page, sign: str) -> None:
    """Wait until a page shows its sign and nothing is loading."""
    expect(page.locator(sign).filter(visible=True).first).to_be_visible()
    expect(page.locator(".state").get_by_text("Loading", exact=True)).to_have_count(0)
    expect(page.get_by_text("Live", exact=True)).to_be_visible()


def check_all_looks(page: Page) -> None:
    """Assert that a page as it is now, for example with an open dialog, has no problem in any look."""
    for _ in change_looks(page):
        problems = find_problems_of_themes(page) + find_overflow(page)
        assert not problems, (page.url, page.viewport_size, problems)


def change_looks(page: Page) -> Iterator[int]:
    """Show a page wide and light, then narrow and dark, then as it was; yield the width."""
    before = page.viewport_size or {"width": 1440, "height": 900}
    was_dark = is_dark(page)
    for width, theme in ((1440, "light"), (390, "dark")):
        resize(page, width)
        page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
        yield width
    page.set_viewport_size(before)
    page.emulate_media(color_scheme="dark" if was_dark else "light")


def is_dark(page: Page) -> bool:
    return page.evaluate("() => matchMedia('(prefers-color-scheme: dark)').matches")


def find_problems_of_themes(page: Page) -> list[str]:
    """Return what axe finds in this theme and, as only colours differ, the contrasts that it finds in the other one."""
    problems = find_accessibility_problems(page)
    was_dark = is_dark(page)
    page.emulate_media(color_scheme="light" if was_dark else "dark")
    problems += [f"other theme: {one}" for one in find_accessibility_problems(page, "color-contrast")]
    page.emulate_media(color_scheme="dark" if was_dark else "light")
    return problems


def find_overflow(page: Page) -> list[str]:
    """Return the widths that a page does not fit into: the present one, and of a wide page the others of its layout."""
    assert page.viewport_size
    width = page.viewport_size["width"]
    problems: list[str] = []
    for other in (width, 800, 1920) if width == 1440 else (width,):
        if other != width:
            resize(page, other)
        overflow = page.evaluate(READ_OVERFLOW)
        problems += [f"{overflow} px too wide for {other} px"] if overflow > 0 else []
        problems += [f"the context covers the text at {other} px"] if page.evaluate(HAS_OVERLAP) else []
    if width == 1440:
        resize(page, width)
    return problems


def resize(page: Page, width: int) -> None:
    """Change the size of the window, and wait until the page has it: what moves by that is not a shift of the page."""
    page.set_viewport_size({"width": width, "height": HEIGHTS[width]})
    page.wait_for_function(DRAWN_AT_WIDTH, arg=width)
