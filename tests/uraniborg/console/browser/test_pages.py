"""Every page: both themes and widths, axe, layout shifts, the size of the first load, and hostile texts."""

import base64
import gzip
import io
import json
import re
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import numpy as np
import pytest
import uvicorn
from PIL import Image
from playwright.sync_api import Browser, Page, Route, expect

from tests.installed_wheel import ROOT
from tests.prerequisites import find_built_console, skip_or_fail
from tests.uraniborg.console.browser.attack_watch import check_nothing_happened, record_fetches
from tests.uraniborg.console.browser.conftest import Visitor
from tests.uraniborg.console.browser.page_looks import (
    Visit,
    check_all_looks,
    check_pages,
    find_overflow,
    find_problems_of_themes,
    find_shifts,
    go_to,
)
from tests.uraniborg.console.browser.payloads import PAYLOADS
from tests.uraniborg.console.processes import ServerProcess
from tools.build_console import CONSOLE, NodeMissing, NpmUnreachable, build
from uraniborg.console.web_files import WebFiles
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.http.uvicorn_server import make_server, open_listener
from uraniborg.kernel.store.change_feed import ChangeFeed
from uraniborg.kernel.store.inbox import Inbox, InboxDecision
from uraniborg.recordings import QUERY

pytestmark = pytest.mark.timeout(600)
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
    *(".row", ".state", ".note", "input[type=checkbox]", ".text-tree", "math", ".panes", ".decision-bar", ".json"),
    *(".connection", "time", "input[readonly]"),
)
KEEP_MESSAGES = """() => {
  const start = window.setTimeout;
  window.setTimeout = (run, time, ...rest) => (time === 5000 ? 0 : start(run, time, ...rest));
}"""
SET_VISIBILITY = """([selector, value]) => {
  for (const one of document.querySelectorAll(selector)) one.style.visibility = value;
}"""


READ_CELLS = "(table) => [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent))"
ADD_ENTRY = (
    "INSERT INTO entries (id, part, kind, subject, payload, created_at, changed)"
    " VALUES (?, 'pflow', 'approval', ?, ?, ?, (SELECT max(changed) + 1 FROM entries))"
)


def fix_look(page: Page) -> None:
    """Draw all texts with a font that the console bundles, so that pictures of two machines are alike."""
    font = CONSOLE / "node_modules" / "@fontsource" / "stix-two-math" / "files" / "stix-two-math-latin-400-normal.woff2"
    source = base64.b64encode(font.read_bytes()).decode()
    page.add_style_tag(
        content=f"@font-face {{ font-family: Stored; src: url(data:font/woff2;base64,{source}) }}"
        "* { font-family: Stored !important; font-weight: 400 !important; font-style: normal !important }"
        ".prose:not(.text-tree) { max-height: 10rem; overflow: hidden }"  # one of the texts is very long
    )
    page.evaluate("async () => { await document.fonts.load('16px Stored'); await document.fonts.ready; }")


def take_picture(page: Page, *, is_whole: bool = True) -> Image.Image:
    """Return the whole page, or only the part in view, at a quarter of its size."""
    png = page.screenshot(full_page=is_whole, animations="disabled", caret="hide")
    return Image.open(io.BytesIO(png)).convert("RGB").reduce(4)


def stack_pictures(pictures: list[Image.Image]) -> Image.Image:
    """Return one picture with these below each other."""
    stacked = Image.new("RGB", (max(one.width for one in pictures), sum(one.height for one in pictures)))
    top = 0
    for picture in pictures:
        stacked.paste(picture, (0, top))
        top += picture.height
    return stacked


def count_different_pixels(picture: Image.Image, name: str, *, is_part: bool = False) -> int:
    """Return how many pixels differ visibly from the stored picture, or from its top, which is written if missing."""
    stored = Path(__file__).parent / "styleguide" / f"{name}.png"
    if not stored.exists():
        stored.parent.mkdir(exist_ok=True)
        picture.save(stored, optimize=True)
        pytest.fail(f"{stored.name} was written: look at it, and commit it.")
    reference = Image.open(stored).convert("RGB")
    if is_part:
        reference = reference.crop((0, 0, *picture.size))
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


@dataclass(frozen=True)
class Questions:
    """The ids of questions that wait: about a plan, the papers of a search, and a workflow."""

    plan: str
    review: str
    approval: str


@pytest.fixture
def questions(server: ServerProcess, inbox: Inbox) -> Generator[Questions]:
    with server.make_client() as client:
        found = client.post("/api/searches", json={"query": QUERY}).json()
        client.post(f"/api/searches/{found['session_id']}/decide", json={"action": "approve"}).raise_for_status()
        waiting = client.get("/api/inbox?state=pending").json()["entries"]
        inbox.put(
            "approval", "pflow", "approval", "approval", make_payload("Publish?") | {"details": {"notes": [14, "x"]}}
        )
        yield Questions(
            next(entry["id"] for entry in waiting if entry["subject"] != found["session_id"]),
            next(entry["id"] for entry in waiting if entry["subject"] == found["session_id"]),
            "approval",
        )
        inbox.withdraw("approval")
        client.delete(f"/api/searches/{found['session_id']}").raise_for_status()


def test_pages_are_accessible_and_still(visitor: Visitor, questions: Questions) -> None:
    visitor.expected = ("404 (Not Found)",)  # of the question that does not exist
    page = visitor.open_page()
    expect(page.get_by_text("Live")).to_be_visible()
    check_pages(
        page,
        [
            *(Visit(path, "h1") for path in ("/", "/inbox", "/settings", "/connections", "/nothing/here")),
            Visit("/inbox/nothing", ".state-title"),
            *(
                Visit(f"/inbox/{quote(entry)}", "h1.detail-title")
                for entry in (questions.plan, questions.review, questions.approval)
            ),
            Visit(f"/inbox/{quote(questions.plan)}", ".decision-bar", "r"),
            Visit(f"/inbox/{quote(questions.plan)}", ".decision-bar", "e"),
            Visit("/inbox/approval", ".decision-bar", "r"),
        ],
    )


@pytest.mark.parametrize("width", [390, 1440])
def test_an_edited_plan_stays_still_when_its_check_arrives_late(
    make_visitor: Callable[..., Visitor], questions: Questions, width: int
) -> None:
    page = make_visitor(width=width).open_page(f"/inbox/{quote(questions.plan)}")
    page.get_by_role("button", name="Edit plan").click()
    page.get_by_role("button", name="Add a query").click()
    page.get_by_label(re.compile(r"^Query \d")).last.fill("TRAPPIST-1 AND albedo")
    held: list[Route] = []
    page.route("**/strategy/check", lambda route: held.append(route))  # noqa: PLW0108 - a method of a list has no attributes
    page.reload()
    bar = page.get_by_role("status").filter(has_text="Checking")
    expect(bar).to_be_visible()
    while not held:
        page.wait_for_timeout(10)
    held[0].continue_()
    expect(bar).to_have_count(0)
    expect(page.get_by_role("heading", name="Your edits")).to_be_attached()
    assert find_shifts(page) == []


def test_all_pages_are_reachable_from_the_bar_of_a_phone(make_visitor: Callable[..., Visitor]) -> None:
    page = make_visitor(width=390).open_page("/universes")
    for name in ("Story", "Connections", "Settings"):
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        page.locator(".more-menu summary").click()
        if name == "Story":
            assert find_problems_of_themes(page) + find_overflow(page) == []
        page.get_by_role("navigation").get_by_role("link", name=name).click()
        expect(page).to_have_url(re.compile(f"/{name.lower()}"))
        expect(page.locator(".more-menu ul")).to_be_hidden()
    page.locator(".more-menu summary").click()
    page.keyboard.press("Escape")
    expect(page.locator(".more-menu ul")).to_be_hidden()


def test_home_leads_to_what_waits_and_what_was_used_last_by_keyboard_alone(
    visitor: Visitor, questions: Questions
) -> None:
    page = visitor.open_page("/")
    expect(page.get_by_role("heading", name="What do you want to do?")).to_be_visible()
    question = page.get_by_role("list", name="Decide").get_by_role("link").first  # other tests ask, too
    expect(question).to_be_visible()
    page.keyboard.press("n")
    expect(page.get_by_role("dialog", name="Start a search")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("h")
    expect(page).to_have_url(f"{visitor.url}/")
    expect(page.get_by_role("list", name="Search")).to_be_visible()
    page.keyboard.press("j")
    first = page.get_by_role("list", name="Search").get_by_role("link").first
    expect(first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Approve")).to_be_visible()
    page.get_by_role("link", name="Uraniborg: home").click()
    page.get_by_role("link", name="Continue the review").click()
    expect(page.get_by_role("button", name="Select", exact=True)).to_be_visible()
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Find or do anything").fill("go to home")
    page.keyboard.press("Enter")
    question.click()
    expect(page).to_have_url(re.compile(rf"{visitor.url}/inbox/\w+"))
    expect(page.get_by_role("heading", name="Waiting for you")).to_be_visible()


def test_help_and_palette_are_accessible_and_closed_by_escape(page: Page) -> None:
    expect(page.get_by_text("Live")).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    check_all_looks(page)
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").fill("sett")
    check_all_looks(page)
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
    folder = find_built_console()
    html = (folder / "index.html").read_text(encoding="utf-8")
    files = [folder / name.lstrip("/") for name in re.findall(r'(?:src|href)="(/[^"]+)"', html)]
    assert any(file.suffix == ".js" for file in files)
    size = sum(len(gzip.compress(file.read_bytes())) for file in [folder / "index.html", *files])
    assert size < 120_000


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
    rows = page.locator(".virtual-list li")
    for _ in range(3):  # a page of 100 questions each time
        loaded = rows.first.get_attribute("aria-setsize")
        page.locator(".virtual-list").evaluate("(list) => { list.scrollTop = list.scrollHeight; }")
        expect(rows.first).not_to_have_attribute("aria-setsize", loaded or "")
    assert int(rows.first.get_attribute("aria-setsize") or 0) > 300
    assert rows.count() < 40
    with inbox._use_connection() as connection:  # pyright: ignore[reportPrivateUsage]
        connection.execute("DELETE FROM entries WHERE id LIKE 'many-%'")
        connection.commit()


def test_hostile_texts_of_questions_and_decisions_are_shown_and_do_nothing(visitor: Visitor, inbox: Inbox) -> None:
    assert len(set(PAYLOADS)) >= 60
    fetched = record_fetches(visitor)
    page = visitor.open_page()
    for number, text in enumerate(PAYLOADS):
        details = {"text": text, text: [text]} if number % 2 else text
        inbox.put(f"hostile-{number}", "pflow", "approval", text, make_payload(text) | {"details": details})
    expect(page.get_by_role("heading", name="Waiting for you")).to_contain_text(str(len(PAYLOADS) + 1))
    for number, text in enumerate(PAYLOADS):
        inbox.decide(
            f"hostile-{number}",
            InboxDecision(action="reject", note=text),
            door="terminal",
            actor=Actor(kind="person", name=text, authenticated="account"),
        )
    for number, text in enumerate(PAYLOADS):
        go_to(page, f"/inbox/hostile-{number}")
        expect(page.locator("h1.detail-title")).to_have_text(text)
        expect(page.locator(".note-box")).to_contain_text(f"“{' '.join(text.split())}”")
    page.keyboard.press("Escape")
    expect(page.locator(".row").nth(3)).to_be_visible()
    check_nothing_happened(page, visitor, fetched)


def test_hostile_names_of_clients_and_tools_are_shown_and_do_nothing(visitor: Visitor, server: ServerProcess) -> None:
    fetched = record_fetches(visitor)
    calls = ChangeFeed(Path(server.env["URANIBORG_HOME"]) / "data" / "calls")
    page = visitor.open_page("/connections")
    expect(page.get_by_role("heading", name="Last calls of tools")).to_be_visible()
    for texts in (PAYLOADS[:45], PAYLOADS[45:]):
        facts = [{"tool": text, "client": text, "error": text, "duration_ms": 1.0, "reply_bytes": 1} for text in texts]
        calls.publish_all([("call", text, one) for text, one in zip(texts, facts, strict=True)])
        page.reload()
        table = page.get_by_role("table", name="Last calls of tools")
        expect(table.get_by_role("row").nth(1).get_by_role("cell").first).to_have_text(texts[-1])
        rows = table.evaluate(READ_CELLS)[: len(texts)]
        assert [[row[place] for place in (0, 1, 2, 6)] for row in rows] == [[text] * 4 for text in reversed(texts)]
        check_nothing_happened(page, visitor, fetched)


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
    except (NodeMissing, NpmUnreachable) as problem:
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
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        page = context.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(address)
        expect(page.get_by_role("heading", name="Style guide")).to_be_visible()
        expect(page.locator("math").nth(2)).to_be_visible()
        yield page
        assert errors == []


def open_overlays(page: Page) -> Iterator[str]:
    """Open each dialog of the style guide and its messages, one after the other, and yield their names."""
    page.evaluate(KEEP_MESSAGES)
    buttons = page.locator(".overlays button")
    for name in buttons.all_inner_texts():
        buttons.get_by_text(name, exact=True).click()
        expect(page.locator("dialog" if name != "Messages" else ".toasts:popover-open")).to_be_visible()
        yield name
        if name != "Messages":
            page.keyboard.press("Escape")
            expect(page.locator("dialog")).to_have_count(0)


def test_every_component_is_drawn_without_a_problem(browser: Browser, styleguide: str) -> None:
    with open_styleguide(browser, styleguide, "light", 1440) as page:
        check_all_looks(page)
        first, second = page.screenshot(), page.screenshot()
        assert first == second, "nothing may move"
        assert len([check_all_looks(page) for _ in open_overlays(page)]) == 5


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_components_look_like_their_stored_pictures(drawing_browser: Browser, styleguide: str, theme: str) -> None:
    with open_styleguide(drawing_browser, styleguide, theme, PICTURE_WIDTH) as page:
        fix_look(page)
        page.evaluate("() => { window.setTimeout = () => 0; }")  # so that the word "Copied" and messages stay
        page.get_by_role("button", name="a command that was copied").click()
        expect(page.get_by_role("button", name="Copied: a command")).to_be_visible()
        page.keyboard.press("Tab")  # the focus is visible
        pictures = [take_picture(page), *(take_picture(page, is_whole=False) for _ in open_overlays(page))]
        assert count_different_pixels(stack_pictures(pictures), theme) <= MOST_DIFFERENT_PIXELS


@pytest.mark.soak
def test_a_component_that_disappears_differs_from_the_stored_picture(drawing_browser: Browser, styleguide: str) -> None:
    with open_styleguide(drawing_browser, styleguide, "light", PICTURE_WIDTH) as page:
        fix_look(page)
        page.evaluate("() => { window.setTimeout = () => 0; }")  # so that the word "Copied" and messages stay
        page.get_by_role("button", name="a command that was copied").click()
        expect(page.get_by_role("button", name="Copied: a command")).to_be_visible()
        page.keyboard.press("Tab")
        focused = page.evaluate_handle("() => document.activeElement")
        counts: dict[str, int] = {}
        for selector in COMPONENTS:
            assert page.locator(selector).count(), selector
            page.evaluate(SET_VISIBILITY, [selector, "hidden"])
            counts[selector] = count_different_pixels(take_picture(page), "light", is_part=True)
            page.evaluate(SET_VISIBILITY, [selector, ""])
            focused.evaluate("(one) => one.focus()")  # an element that is hidden loses the focus
        assert count_different_pixels(take_picture(page), "light", is_part=True) <= MOST_DIFFERENT_PIXELS
        assert {name: count for name, count in counts.items() if count <= MOST_DIFFERENT_PIXELS} == {}


def test_the_built_console_has_no_style_guide(page: Page, visitor: Visitor) -> None:
    page.goto(f"{visitor.url}/styleguide")
    expect(page.get_by_role("heading", name="There is no such page.")).to_be_visible()
    assert httpx.get(f"{visitor.url}/third-party-notices.md").text.count("preact") > 1
    assert (ROOT / "console" / "src" / "styleguide").is_dir()
