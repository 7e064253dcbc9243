"""The library as a person uses it: find a passage, read it, cite it; and papers whose every text is an attack."""

import json
import re
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from paper_library.service.build.builder import build_shelf
from paper_library.store.layout import MANIFEST
from tests.uraniborg.console.browser.attack_watch import check_nothing_happened, record_fetches
from tests.uraniborg.console.browser.conftest import Visitor, find_accessibility_problems
from tests.uraniborg.console.browser.page_looks import Visit, check_pages, go_to
from tests.uraniborg.console.browser.payloads import PAYLOADS
from tests.uraniborg.console.processes import ServerProcess, run_server
from uraniborg.recordings import QUERY

pytestmark = pytest.mark.timeout(240)
expect.set_options(timeout=30_000)
FORMULAS = (
    r"\href{javascript:window.hit=1}{x}",
    r"\url{javascript:window.hit=1}",
    r"\includegraphics{https://attacker.invalid/p.png}",
    r"\class{app}{x}",
    r"\id{app}{x}",
    r"\style{position:fixed}{x}",
    r"\text{<img src=x onerror=window.hit=1>}",
    r"\begin{align}x \label{app}\end{align}",
    r"\def\a{\a\a}\a",
    r"\frac{",
    r"E = m c^2",
)
URLS = (
    "javascript:window.hit=1",
    "java\tscript:window.hit=1",
    " javascript:window.hit=1",
    "data:text/html,<script>parent.hit=1</script>",
    "vbscript:window.hit=1",
    "file:///etc/passwd",
    "blob:null/1",
    "ftp://attacker.invalid/x",
    "//attacker.invalid/x",
)
PAPERS = 20
"""The number of hostile papers, which share the attacks: one page of a list shows them all."""
ADDRESS = "/library/sample-shelf?q=planet&sort=year_asc&author=Michel+Mayor&year=1990..2005"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerProcess]:
    """Run a server with a shelf of hostile papers beside the sample shelf."""
    home = tmp_path_factory.mktemp("home")
    inputs = home / "inputs"
    inputs.mkdir()
    papers = [make_hostile_paper(number, PAYLOADS[number::PAPERS]) for number in range(PAPERS)]
    retracted = {"title": "A retracted paper", "retraction": {"status": "retracted", "notice_doi": "10.1000/notice"}}
    (inputs / "papers.json").write_text(json.dumps([*papers, retracted]), encoding="utf-8")
    text = "\n\n".join([*PAYLOADS, *(f"## {payload}\n\n| {payload} |\n|---|\n| x |" for payload in PAYLOADS[:20])])
    formulas = "\n\n".join(f"$${formula}$$\n\nand ${formula}$ in a line" for formula in FORMULAS)
    (inputs / "text.md").write_text(
        f"---\ntitle: The whole text\nbibkey: whole\n---\n\n{formulas}\n\n{text}\n", encoding="utf-8"
    )
    shelves = home / "uraniborg" / "data" / "library" / "shelves"
    shelves.mkdir(parents=True)
    build_shelf([inputs], shelves / "hostile")
    with run_server(home) as running:
        with running.make_client() as client:
            client.post("/api/universes", json={"name": PAYLOADS[0], "from": "trappist-1"}).raise_for_status()
        yield running


def make_hostile_paper(number: int, payloads: Sequence[str]) -> dict[str, Any]:
    """Return a paper with all of these attacks in each of its texts."""
    text = " ".join(payloads)
    status = text if number else "__proto__"
    return {
        "title": f"Hostile {number} {text}",
        "authors": [*payloads, "Tycho Brahe"],
        "abstract": f"A moon. {text}",
        "venue": text,
        "keywords": [*payloads],
        "year": 1990 + number,
        "url": URLS[number % len(URLS)],
        "retraction": {"status": status, "label": text, "source": text, "notice_doi": text},
    }


def get_hits(page: Page) -> list[str]:
    return page.locator(".hit-title").all_inner_texts()


def test_a_person_finds_a_passage_reads_it_and_cites_it(visitor: Visitor) -> None:
    visitor.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = visitor.open_page("/inbox")
    expect(page.get_by_text("Live")).to_be_visible()
    page.keyboard.press("g")
    page.keyboard.press("l")
    page.get_by_role("link", name="sample-shelf").click()
    expect(page.get_by_text("37 papers")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("plannet")
    page.get_by_role("button", name="planet", exact=True).click()
    expect(page).to_have_url(re.compile(r"q=planet$"))
    page.get_by_label("Find in this shelf").fill("masses of a near-resonant chain")
    hit = page.locator(".hit").filter(has_text="Seven temperate terrestrial planets")
    expect(hit.locator("mark", has_text="chain").first).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    expect(page.locator(".hit-title a").first).to_be_focused()
    hit.get_by_role("link", name="Seven temperate").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("^Seven temperate"))
    expect(page.locator(".text-tree math mfrac").first).to_be_visible()
    page.get_by_role("link", name="What came of it").click()
    expect(page.locator(".found")).to_have_text("What came of it")
    expect(page.locator(".found")).to_be_in_viewport()
    page.keyboard.press("c")
    dialog = page.get_by_role("dialog", name="Cite this paper")
    expect(dialog.get_by_text("@article{gillon2017")).to_be_visible()
    dialog.get_by_text("RIS").click()
    dialog.get_by_role("button", name="Copy").click()
    # Above the dialog, in the top layer of the browser
    expect(page.locator(".toasts:popover-open").get_by_text("The citation is on the clipboard.")).to_be_visible()
    assert "DO  - 10.1038/nature21360" in page.evaluate("() => navigator.clipboard.readText()")
    with page.expect_download() as download:
        dialog.get_by_role("link", name="Download").click()
    assert download.value.suggested_filename == "gillon2017.ris"
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Add a note").click()
    page.get_by_label("What you think of it").fill("Compare with Agol, table 2.")
    page.get_by_label("Collections").fill("to read, moons")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Compare with Agol, table 2.")).to_be_visible()
    page.get_by_role("link", name="to read", exact=True).click()
    noted = page.get_by_role("list", name="to read")
    expect(noted.get_by_text("Compare with Agol, table 2.")).to_be_visible()
    expect(page.get_by_role("link", name="All notes (1)")).to_be_visible()
    page.go_back()
    page.get_by_role("link", name="Summary: brief").click()
    expect(page.get_by_role("region", name="Summary: brief")).to_be_visible()
    page.reload()
    expect(page.get_by_role("region", name="Summary: brief")).to_be_visible()
    expect(page.locator(".found")).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(page.get_by_label("Find in this shelf")).to_have_value("masses of a near-resonant chain")


def test_an_address_restores_a_search_and_older_requests_are_aborted(visitor: Visitor) -> None:
    page = visitor.open_page(ADDRESS)
    expect(page.get_by_role("button", name="Remove the filter Author Michel Mayor")).to_be_visible()
    expect(page.get_by_label("From year")).to_have_value("1990")
    expect(page.get_by_label("Sort")).to_have_value("year_asc")
    shown = get_hits(page)
    assert shown
    page.reload()
    expect(page.locator(".hit-title")).to_have_text(shown)
    page.get_by_label("To year").fill("1996")
    expect(page.locator(".hit-title")).to_have_count(1)
    page.go_back()
    expect(page.locator(".hit-title")).to_have_text(shown)

    def ignore_request(_: Route) -> None:
        """Leave the request without a reply."""

    held: list[Route] = []

    def hold_request(route: Route) -> None:
        held.append(route)

    page.route(re.compile(r"/search\?q=neural&"), ignore_request)
    page.route(re.compile(r"/notes(\?|$)"), hold_request)
    page.goto(f"{visitor.url}/library/sample-shelf")
    expect(page.locator(".hit").first).to_be_visible()
    expect(page.locator(".facet")).to_have_count(0)  # it would move when the collections above it arrive
    held.pop().continue_()
    expect(page.locator(".facet").first).to_be_visible()
    page.get_by_label("Find in this shelf").fill("neural")
    with page.expect_event("requestfailed", lambda request: "q=neural" in request.url):
        page.get_by_label("Find in this shelf").fill("solar cell")
    expect(page.locator(".hit").first).to_contain_text("olar")
    box = page.locator(".year-bars").bounding_box()
    assert box
    page.mouse.move(box["x"] + 2, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 20)
    page.mouse.up()
    expect(page.get_by_role("button", name="Remove the filter Year 19")).to_be_visible()
    page.get_by_label("Find in this shelf").fill("qwertyuiop")
    expect(page.get_by_text("No paper matches.")).to_be_visible()
    page.get_by_role("button", name="Clear all").click()
    expect(page.get_by_text("37 papers")).to_be_visible()


def test_the_palette_finds_everything_and_runs_commands(visitor: Visitor, server: ServerProcess) -> None:
    hello = {"nodes": [{"id": "say", "type": "echo", "params": {"message": "Hello"}}]}
    with server.make_client() as client:
        client.post("/api/searches", json={"query": QUERY}).raise_for_status()
        client.post("/api/universes", json={"name": "Copy of TRAPPIST-1"}).raise_for_status()
        client.put("/api/drafts/trappist-digest", json={"document": hello}).raise_for_status()
        client.post("/api/runs", json={"name": "trappist-digest"}).raise_for_status()
    page = visitor.open_page("/settings")
    expect(page.get_by_text("Live")).to_be_visible()
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Find or do anything")).to_be_focused()
    page.keyboard.type("trappist")
    for group in ("Searches", "Papers", "Workflows", "Runs", "Universes"):
        expect(page.get_by_role("group", name=group).get_by_role("option").first).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Find or do anything")).to_be_focused()
    page.keyboard.type("detailed balance limit")
    option = page.get_by_role("group", name="Papers").get_by_role("option").first
    expect(option).to_contain_text("Detailed Balance Limit")
    assert find_accessibility_problems(page) == []
    option.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("^Detailed Balance Limit"))
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Find or do anything")).to_be_focused()
    page.keyboard.type("cite")
    expect(page.get_by_role("option").first).to_contain_text("Cite")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Cite this paper")).to_be_visible()
    page.keyboard.press("Escape")
    run_palette_entry(page, "sample-shelf", "Shelves")
    expect(page.get_by_text("37 papers")).to_be_visible()
    run_palette_entry(page, "go to runs", "Go to")
    expect(page.get_by_role("link", name="trappist-digest").first).to_be_visible()
    run_palette_entry(page, "new draft", "Everywhere")
    expect(page.get_by_role("dialog", name="New draft")).to_be_visible()


def run_palette_entry(page: Page, words: str, group: str) -> None:
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Find or do anything")).to_be_focused()
    page.keyboard.type(words)
    page.get_by_role("group", name=group).get_by_role("option").first.click()


def write_shelves_with_hostile_names(server: ServerProcess) -> list[str]:
    """Write shelves that cannot be read, and return their names, which are the payloads that a folder can have."""
    names = [text for text in PAYLOADS if "/" not in text and text.isprintable() and len(text.encode()) < 200]
    for name in names:
        folder = Path(server.env["URANIBORG_HOME"], "data", "library", "shelves", name)
        folder.mkdir()
        (folder / MANIFEST).write_text("{", encoding="utf-8")
    return names


def test_no_text_of_a_paper_or_name_of_a_shelf_is_executed_or_fetches_anything(
    visitor: Visitor, server: ServerProcess
) -> None:
    fetched = record_fetches(visitor)
    page = visitor.open_page("/library/hostile?q=is:retracted")
    expect(page.locator(".hit").get_by_text("Retracted", exact=True)).to_be_visible()
    page.get_by_role("link", name="A retracted paper").click()
    expect(page.locator(".retraction a")).to_have_attribute("href", "https://doi.org/10.1000/notice")
    with server.make_client() as client:
        collections = [payload for payload in PAYLOADS if 0 < len(payload.strip()) < 100][:20]
        body = {"text": "\n".join(PAYLOADS)[:20_000], "collections": collections}
        client.put("/api/shelves/hostile/papers/whole/note", json=body).raise_for_status()
    go_to(page, "/library/hostile?notes=")
    expect(page.locator(".noted-papers .note-text")).to_be_visible()
    check_nothing_happened(page, visitor, fetched)
    go_to(page, "/library/hostile?q=hostile")
    expect(page.locator(".hit")).to_have_count(PAPERS)
    check_nothing_happened(page, visitor, fetched)
    links: list[str] = page.locator(".hit-title a").evaluate_all("(all) => all.map((one) => one.pathname)")
    keywords: list[str] = []
    for address in links:
        paper_id = address.rpartition("/")[2]
        paper = visitor.context.request.get(
            f"{visitor.url}/api/shelves/hostile/papers/{paper_id}", headers=visitor.headers
        ).json()
        go_to(page, address)
        expect(page.locator("#paper-title")).to_have_text(paper["title"])
        expect(page.locator(".authors a")).to_have_text(paper["authors"])
        expect(page.locator(".paper-head > .quiet")).to_have_text(f"{paper['venue']} · {paper['year']}")
        expect(page.locator(".value-links a")).to_have_text(paper["keywords"])
        expect(page.locator(".similar a").first).to_be_visible()
        expect(page.locator(".identifiers a")).to_have_count(0)
        check_nothing_happened(page, visitor, fetched)
        keywords += paper["keywords"]
    assert len(keywords) == len(PAYLOADS)
    go_to(page, "/library/sample-shelf/agol2021")
    expect(page.get_by_role("complementary").get_by_text(PAYLOADS[0])).to_be_visible()
    check_nothing_happened(page, visitor, fetched)
    go_to(page, "/library/hostile/whole")
    expect(page.locator(".text-tree math").first).to_be_visible()
    expect(page.locator(".math code").filter(has_text=r"\frac{").first).to_be_visible()
    expect(page.locator("main img")).to_have_count(0)
    check_nothing_happened(page, visitor, fetched)
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Find or do anything")).to_be_focused()
    page.keyboard.type("script")
    expect(page.get_by_role("option").nth(4)).to_be_visible()
    check_nothing_happened(page, visitor, fetched)
    page.keyboard.press("Escape")
    names = write_shelves_with_hostile_names(server)
    go_to(page, "/library")
    expect(page.get_by_text(names[-1], exact=True)).to_be_visible()
    shown = page.locator("main").inner_text()
    assert [name for name in names if name not in shown] == []
    check_nothing_happened(page, visitor, fetched)


def test_the_pages_of_the_library_are_accessible_and_still(visitor: Visitor) -> None:
    visitor.expected = ("404 (Not Found)",)  # of the shelf that does not exist
    page = visitor.open_page("/library")
    expect(page.get_by_text("Live")).to_be_visible()
    check_pages(
        page,
        [
            Visit(ADDRESS, ".hit"),
            Visit("/library/sample-shelf/gillon2017?at=2600", "math"),
            Visit("/library/sample-shelf/gillon2017?at=2600", "math", "c"),
            Visit("/library/sample-shelf/mayor1995?beside=lang:de", ".has-beside .column:last-child .text-tree"),
            Visit("/library", ".shelf-facts"),
            Visit("/library/hostile", ".hit"),
            Visit("/library/hostile?notes=", ".noted-papers, .state"),
            Visit("/library/nowhere", ".state"),
        ],
    )
