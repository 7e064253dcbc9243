"""The pages for people: they work without script, and nothing foreign in them can act."""

import json
import re
from collections.abc import Generator
from html.parser import HTMLParser
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from paper_library.build.building import build_shelf
from tests.paper_library.operations.commands import serving

HOSTILE = "\"><script>alert(1)</script><img src=x onerror=alert(2)>'&amp;"
TEXT = "# A\n\n<script>alert(3)</script> [x](javascript:alert(4)) <img src=x onerror=alert(5)>\n\nPlain words.\n"


class Page(HTMLParser):
    """What is in a page: its links, fields and words, and what could act."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: dict[str, str] = {}
        self.fields: dict[str, str] = {}
        self.acting: list[str] = []
        self.text = ""
        self._link = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        if tag in {"script", "iframe", "object", "embed", "svg"}:
            self.acting.append(tag)
        self.acting += [f"{tag} {name}" for name in said if name.startswith("on")]
        self.acting += [value for value in said.values() if value.lower().startswith(("javascript:", "data:"))]
        if tag == "a":
            self._link = said.get("href", "")
        if tag == "input":
            self.fields[said["name"]] = said.get("value", "")

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._link:
            self.links[data] = self._link
            self._link = ""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Generator[httpx.Client]:
    folder = tmp_path_factory.mktemp("pages")
    source = folder / "papers"
    source.mkdir()
    papers = [
        {"title": f"Star {HOSTILE}", "authors": [HOSTILE], "abstract": f"Shining {HOSTILE}", "venue": HOSTILE},
        *({"title": f"Moon number {n}", "abstract": "A moon.", "year": 1600 + n} for n in range(25)),
    ]
    (source / "papers.json").write_text(json.dumps(papers))
    (source / "text.md").write_text(f"---\ntitle: Comet\nauthors: [Sophie Brahe]\n---\n{TEXT}")
    (source / "text.de.md").write_text("# Komet\n")
    summaries = folder / "summaries" / "deep_read"
    summaries.mkdir(parents=True)
    build_shelf([source], folder / "shelf")
    with serving(folder, folder / "shelf") as served:
        yield served.client


def shown(answer: httpx.Response, status: int = 200) -> Page:
    """A page that keeps the rules all pages keep."""
    assert answer.status_code == status
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert "frame-ancestors 'none'" in policy
    assert "base-uri 'none'" in policy
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    page = Page(answer.text)
    assert page.acting == []
    return page


def test_a_visitor_searches_opens_a_paper_and_reads_it_without_script(pages: httpx.Client) -> None:
    start = shown(pages.get("/"))
    assert "27 papers on this shelf" in start.text
    assert start.fields == {"q": ""}
    results = shown(pages.get("/", params={"q": "comet"}))
    assert "1 paper for comet" in results.text
    assert results.fields == {"q": "comet"}
    paper = shown(pages.get(results.links["Comet"]))
    assert "Plain words." in paper.text
    assert {"JSON", "Summary: default", "Translation: de"} <= paper.links.keys()
    for name in ("JSON", "Summary: default", "Translation: de"):
        assert pages.get(paper.links[name]).status_code == 200


def test_more_and_earlier_lead_through_all_papers(pages: httpx.Client) -> None:
    seen: set[str] = set()
    page = shown(pages.get("/?q=moon"))
    for _ in range(3):
        seen |= {target for target in page.links.values() if target.startswith("/papers/")}
        if "More" not in page.links:
            break
        page = shown(pages.get(page.links["More"]))
    assert len(seen) == 25
    assert parse_qs(urlsplit(page.links["Earlier"]).query) == {"q": ["moon"], "offset": ["10"]}


def test_hostile_words_of_papers_are_shown_as_words(pages: httpx.Client) -> None:
    results = shown(pages.get("/", params={"q": "shining"}))
    link = next(target for name, target in results.links.items() if name.startswith("Star"))
    paper = shown(pages.get(link))
    for page in (results, paper):
        assert "<script>alert(1)</script>" in page.text


@pytest.mark.parametrize(
    "query", [HOSTILE, "<b>", '" onfocus="alert(1)', "&lt;script&gt;", "${7*7}", "{{7*7}}", "\x00", "\u202e"]
)
def test_a_hostile_query_is_shown_as_it_was_typed(pages: httpx.Client, query: str) -> None:
    page = shown(pages.get("/", params={"q": query}))
    assert page.fields == {"q": query.replace("\x00", "\ufffd")} or page.fields == {"q": query}


@pytest.mark.parametrize("offset", ["x", "-1", "1e3", "٣", "9" * 400, ""])
def test_an_offset_that_is_none_shows_the_beginning(pages: httpx.Client, offset: str) -> None:
    assert shown(pages.get("/", params={"q": "moon", "offset": offset})).text.count("Moon number") == 10


def test_what_cannot_be_shown_is_told_on_a_page(pages: httpx.Client) -> None:
    assert "Paper not found" in shown(pages.get("/papers/nothing"), 404).text
    assert "at most 500 characters" in shown(pages.get("/", params={"q": "x" * 501}), 422).text
    assert "offset" in shown(pages.get("/", params={"q": "moon", "offset": "10001"}), 422).text
    shown(pages.get("/papers/%3Cscript%3Ealert(1)%3C%2Fscript%3E".replace("%2F", "")), 404)


def test_nothing_is_loaded_from_elsewhere(pages: httpx.Client) -> None:
    for path in ("/", "/?q=moon"):
        assert re.findall(r"(?:src|href)=[\"']?(?:https?:)?//", pages.get(path).text) == []


def test_a_misspelt_word_leads_to_the_right_one(pages: httpx.Client) -> None:
    page = shown(pages.get("/", params={"q": "shinning"}))
    if "Did you mean" in page.text:
        assert shown(pages.get(page.links["shining"])).fields == {"q": "shining"}
    else:
        assert "1 paper" in page.text
