"""Every page: both themes and widths, axe, layout shifts, the size of the first load, and hostile texts."""

import base64
import gzip
import io
import json
import re
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import uvicorn
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from tests.installed_wheel import ROOT
from tests.uraniborg.console.browser.conftest import LOOKS, Visitor, find_accessibility_problems, skip_or_fail
from tests.uraniborg.console.browser.payloads import PAYLOADS
from tests.uraniborg.console.processes import ServerProcess
from tools.build_console import CONSOLE, NpmUnreachable, build
from uraniborg.console.web_files import WebFiles, find_web_folder
from uraniborg.kernel.change_feed import ChangeFeed
from uraniborg.kernel.http_server import make_server, open_listener
from uraniborg.kernel.inbox import Decision, Inbox
from uraniborg.recordings import QUERY

pytestmark = pytest.mark.timeout(600)
PATHS = ("/inbox", "/settings", "/connections", "/nothing/here")
PICTURE_WIDTH = 1000
MOST_DIFFERENT_PIXELS = 12
"""Of a picture at a quarter of its size: browsers of other versions smooth edges in other ways."""
COMPONENTS = (
    *(
        "h1",
        ".card > header",
        ".button.primary",
        ".button.danger",
        ".icon",
        ".key",
        ".tag",
        ".dot",
        "textarea",
        "select",
    ),
    *(".field label", ".field .problem", ".copy-line", ".verdicts", ".chips", ".table", ".facts", ".foreign", "mark"),
    *(".row", ".state", ".note", "input[type=checkbox]"),
)
SET_VISIBILITY = """([selector, value]) => {
  for (const one of document.querySelectorAll(selector)) one.style.visibility = value;
}"""


GO_TO = "(path) => { history.pushState(null, '', path); dispatchEvent(new PopStateEvent('popstate')); }"
ADD_ENTRY = (
    "INSERT INTO entries (id, part, kind, subject, payload, created_at) VALUES (?, 'pflow', 'approval', ?, ?, ?)"
)


def fix_look(page: Page) -> None:
    """Draw all texts with a font that the console bundles, so that pictures of two machines are alike."""
    font = CONSOLE / "node_modules" / "@fontsource" / "stix-two-math" / "files" / "stix-two-math-latin-400-normal.woff2"
    source = base64.b64encode(font.read_bytes()).decode()
    page.add_style_tag(
        content=f"@font-face {{ font-family: Stored; src: url(data:font/woff2;base64,{source}) }}"
        "* { font-family: Stored !important; font-weight: 400 !important; font-style: normal !important }"
        ".prose { max-height: 10rem; overflow: hidden }"  # one of the texts is very long
    )
    page.evaluate("async () => { await document.fonts.load('16px Stored'); await document.fonts.ready; }")


def take_picture(page: Page) -> Image.Image:
    """Return the whole page at a quarter of its size."""
    png = page.screenshot(full_page=True, animations="disabled", caret="hide")
    return Image.open(io.BytesIO(png)).convert("RGB").reduce(4)


def count_different_pixels(picture: Image.Image, name: str) -> int:
    """Return how many pixels differ visibly from the stored picture, which is written if there is none."""
    stored = Path(__file__).parent / "styleguide" / f"{name}.png"
    if not stored.exists():
        stored.parent.mkdir(exist_ok=True)
        picture.save(stored, optimize=True)
        pytest.fail(f"{stored.name} was written: look at it, and commit it.")
    reference = Image.open(stored).convert("RGB")
    if picture.size != reference.size:
        return picture.width * picture.height
    difference = np.abs(np.asarray(picture, dtype=np.int16) - np.asarray(reference, dtype=np.int16))
    return int((difference.max(axis=2) > 40).sum())


@pytest.fixture(scope="module")
def inbox(server: ServerProcess) -> Generator[Inbox]:
    opened = Inbox(Path(server.env["URANIBORG_HOME"]) / "data" / "inbox.db")
    yield opened
    opened.close()


def make_payload(text: str) -> dict[str, Any]:
    return {"question": text, "workflow": text, "node": text, "lineage": text, "actions": [text]}


@pytest.fixture(scope="module", autouse=True)
def a_question(server: ServerProcess) -> None:
    with server.make_client() as client:
        client.post("/api/searches", json={"query": QUERY})


@pytest.mark.parametrize(("theme", "width"), LOOKS)
def test_pages_are_accessible_and_still(make_visitor: Callable[..., Visitor], theme: str, width: int) -> None:
    visitor = make_visitor(theme=theme, width=width)
    page = visitor.open_page(PATHS[0])
    for path in PATHS:
        page.goto(f"{visitor.url}{path}")
        expect(page.get_by_role("heading", level=1).first).to_be_visible()
        expect(page.locator(".connection .dot.yes")).to_be_attached()
        expect(page.get_by_text("Loading")).to_have_count(0)
        assert find_accessibility_problems(page) == [], path
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width, path
        assert page.evaluate("() => window.shifts") < 0.01, path


def test_all_pages_are_reachable_from_the_bar_of_a_phone(make_visitor: Callable[..., Visitor]) -> None:
    page = make_visitor(width=390).open_page("/universes")
    for name in ("Story", "Connections", "Settings"):
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        page.locator(".more-menu summary").click()
        assert find_accessibility_problems(page) == []
        page.get_by_role("navigation").get_by_role("link", name=name).click()
        expect(page).to_have_url(re.compile(f"/{name.lower()}"))
        expect(page.locator(".more-menu ul")).to_be_hidden()
    page.locator(".more-menu summary").click()
    page.keyboard.press("Escape")
    expect(page.locator(".more-menu ul")).to_be_hidden()


def test_help_and_palette_are_accessible_and_closed_by_escape(page: Page) -> None:
    expect(page.get_by_text("Live")).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    assert find_accessibility_problems(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").fill("sett")
    assert find_accessibility_problems(page) == []
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Settings", exact=True)).to_be_visible()
    page.keyboard.press("g")
    page.keyboard.press("i")
    expect(page.get_by_role("heading", name="Waiting for you")).to_be_visible()


def test_a_chosen_theme_and_switched_off_letters_last(page: Page, visitor: Visitor) -> None:
    page.goto(f"{visitor.url}/settings")
    page.get_by_text("Dark", exact=True).click()
    page.get_by_label("Single letters are commands").uncheck()
    page.reload()
    assert page.evaluate("() => getComputedStyle(document.documentElement).backgroundColor") == "rgb(16, 19, 22)"
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_the_first_load_is_smaller_than_120_kilobytes_compressed() -> None:
    folder = find_web_folder()
    if folder is None:
        skip_or_fail("The console is not built: run `make console`.")
        return
    html = (folder / "index.html").read_text(encoding="utf-8")
    files = [folder / name.lstrip("/") for name in re.findall(r'(?:src|href)="(/[^"]+)"', html)]
    assert any(file.suffix == ".js" for file in files)
    size = sum(len(gzip.compress(file.read_bytes())) for file in [folder / "index.html", *files])
    assert size < 120_000


@pytest.mark.soak
def test_ten_thousand_questions_scroll_and_are_counted(page: Page, inbox: Inbox) -> None:
    with inbox._use_connection() as connection:  # pyright: ignore[reportPrivateUsage] - one transaction, not ten thousand
        connection.executemany(
            ADD_ENTRY,
            [
                (
                    f"many-{number}",
                    f"many-{number}",
                    json.dumps(make_payload(f"Question {number}?")),
                    f"2020-01-01T00:00:00.{number:06d}+00:00",
                )
                for number in range(10_000)
            ],
        )
        connection.commit()
    page.reload()
    expect(page.get_by_role("heading", name="Waiting for you")).to_contain_text("10,0")
    for _ in range(3):
        page.locator(".virtual-list").evaluate("(list) => { list.scrollTop = list.scrollHeight; }")
        expect(page.locator(".virtual-list li").first).to_be_visible()
    assert page.locator(".virtual-list li").count() < 40
    with inbox._use_connection() as connection:  # pyright: ignore[reportPrivateUsage]
        connection.execute("DELETE FROM entries WHERE id LIKE 'many-%'")
        connection.commit()


def test_hostile_texts_of_questions_and_decisions_are_shown_and_do_nothing(visitor: Visitor, inbox: Inbox) -> None:
    assert len(set(PAYLOADS)) >= 60
    requests: list[str] = []
    page = visitor.open_page()
    page.on("request", lambda request: requests.append(request.url))
    page.on("dialog", lambda dialog: visitor.messages.append(f"dialog: {dialog.message}"))
    for number, text in enumerate(PAYLOADS):
        details = {"text": text, text: [text]} if number % 2 else text
        inbox.put(f"hostile-{number}", "pflow", "approval", text, make_payload(text) | {"details": details})
    expect(page.get_by_role("heading", name="Waiting for you")).to_contain_text(str(len(PAYLOADS) + 1))
    for number, text in enumerate(PAYLOADS):
        inbox.decide(f"hostile-{number}", Decision(action="reject", note=text), door="terminal", by=text)
    for number, text in enumerate(PAYLOADS):
        page.evaluate(GO_TO, f"/inbox/hostile-{number}")
        expect(page.locator("h1.detail-title")).to_have_text(text)
        expect(page.locator(".note-box")).to_contain_text(f"“{' '.join(text.split())}”")
    page.keyboard.press("Escape")
    expect(page.locator(".row").nth(3)).to_be_visible()
    check_nothing_happened(page, visitor, requests)


def test_hostile_names_of_clients_and_tools_are_shown_and_do_nothing(visitor: Visitor, server: ServerProcess) -> None:
    requests: list[str] = []
    calls = ChangeFeed(Path(server.env["URANIBORG_HOME"]) / "data" / "calls")
    page = visitor.open_page("/connections")
    page.on("request", lambda request: requests.append(request.url))
    expect(page.get_by_role("heading", name="Last calls of tools")).to_be_visible()
    for texts in (PAYLOADS[:45], PAYLOADS[45:]):
        facts = [{"tool": text, "client": text, "error": text, "duration_ms": 1.0, "reply_bytes": 1} for text in texts]
        calls.publish_all([("call", text, one) for text, one in zip(texts, facts, strict=True)])
        page.reload()
        rows = page.get_by_role("table", name="Last calls of tools").get_by_role("row")
        for row, text in zip(range(len(texts), 0, -1), texts, strict=True):
            expect(rows.nth(row).get_by_role("cell").nth(2)).to_have_text(text)
    check_nothing_happened(page, visitor, requests)


def check_nothing_happened(page: Page, visitor: Visitor, requests: list[str]) -> None:
    """Assert that no text became an element, ran, or fetched a foreign address."""
    assert page.evaluate("() => window.hit") is None
    assert page.locator("main script, main iframe, main img, main svg:not(.icon), main object, main style").count() == 0
    assert {url for url in requests if not url.startswith((visitor.url, "data:"))} == set()


def test_offline_is_shown_and_the_typed_decision_goes_through_afterwards(visitor: Visitor) -> None:
    visitor.expected = ("ERR_", "Failed to load")
    page = visitor.open_page()
    page.get_by_role("button", name="Reject with a hint").click()
    page.get_by_role("textbox").fill("half a sentence")
    visitor.context.set_offline(True)
    page.get_by_role("button", name="Reject", exact=True).click()
    expect(page.get_by_text("The server does not answer.").first).to_be_visible()
    visitor.context.set_offline(False)
    expect(page.get_by_role("textbox")).to_have_value("half a sentence")
    page.get_by_role("button", name="Reject", exact=True).click()
    expect(page.get_by_role("link").filter(has_text="by you, in the console: half a sentence")).to_be_visible()


@pytest.fixture(scope="module")
def styleguide() -> Generator[str]:
    """Serve a development build, and return its address."""
    target = CONSOLE / "dist-development"
    try:
        build(target, mode="development", with_tests=True)
    except NpmUnreachable as problem:
        skip_or_fail(str(problem))
    with open_listener("127.0.0.1", 0) as listener:
        running = make_server(WebFiles(target))
        thread = threading.Thread(target=uvicorn.Server.run, args=(running, [listener]))
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/styleguide"
        running.should_exit = True
        thread.join(30)


@contextmanager
def open_styleguide(browser: Browser, address: str, theme: str, width: int) -> Generator[Page]:
    """Yield the page; fail if it raises an error."""
    scheme = "dark" if theme == "dark" else "light"
    with browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme) as context:
        page = context.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(address)
        expect(page.get_by_role("heading", name="Style guide")).to_be_visible()
        yield page
        assert errors == []


@pytest.mark.parametrize(("theme", "width"), LOOKS)
def test_every_component_is_drawn_without_a_problem(browser: Browser, styleguide: str, theme: str, width: int) -> None:
    with open_styleguide(browser, styleguide, theme, width) as page:
        page.get_by_role("button", name="Toast", exact=True).click()
        page.get_by_role("button", name="Error toast").click()
        assert page.locator("section.card").count() == 8
        assert find_accessibility_problems(page) == []
        first, second = page.screenshot(), page.screenshot()
        assert first == second, "nothing may move"
        page.get_by_role("button", name="Ask").click()
        expect(page.get_by_role("dialog")).to_be_visible()
        assert find_accessibility_problems(page) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_components_look_like_their_stored_pictures(browser: Browser, styleguide: str, theme: str) -> None:
    with open_styleguide(browser, styleguide, theme, PICTURE_WIDTH) as page:
        fix_look(page)
        assert count_different_pixels(take_picture(page), theme) <= MOST_DIFFERENT_PIXELS


@pytest.mark.soak
def test_a_component_that_disappears_differs_from_the_stored_picture(browser: Browser, styleguide: str) -> None:
    with open_styleguide(browser, styleguide, "light", PICTURE_WIDTH) as page:
        fix_look(page)
        counts: dict[str, int] = {}
        for selector in COMPONENTS:
            assert page.locator(selector).count(), selector
            page.evaluate(SET_VISIBILITY, [selector, "hidden"])
            counts[selector] = count_different_pixels(take_picture(page), "light")
            page.evaluate(SET_VISIBILITY, [selector, ""])
        assert count_different_pixels(take_picture(page), "light") <= MOST_DIFFERENT_PIXELS
        assert {name: count for name, count in counts.items() if count <= MOST_DIFFERENT_PIXELS} == {}


def test_the_built_console_has_no_style_guide(page: Page, visitor: Visitor) -> None:
    page.goto(f"{visitor.url}/styleguide")
    expect(page.get_by_role("heading", name="There is no such page.")).to_be_visible()
    assert httpx.get(f"{visitor.url}/third-party-notices.md").text.count("preact") > 1
    assert (ROOT / "console" / "src" / "styleguide").is_dir()
