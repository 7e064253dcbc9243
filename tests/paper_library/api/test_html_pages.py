"""The HTML pages work without scripts and have no active content."""

import json
import re
from collections.abc import Generator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from paper_library.service.build.builder import build_shelf
from tests.paper_library.operations.command_runs import start_server

HOSTILE = "\"><script>alert(1)</script><img src=x onerror=alert(2)>'&amp;"
AUTHORS = [f"Ada Name{n}" for n in range(40)]
ANNALS = "\n\n".join(f"Paragraph {n} of the annals, which are long." for n in range(3_000))
TRANSIT = f"""@article{{transit, title = {{Transit of a planet}}, author = {{{" and ".join(AUTHORS)}}}, year = 2001,
  journal = {{Annals & <b>Letters</b>}}, doi = {{10.1000/a(b)<c>&d}}, eprint = {{2301.00001}},
  archiveprefix = {{arXiv}}, pmid = {{123}}, url = {{https://example.org/?a=1&b="2"}}, isbn = {{978-3}},
  abstract = {{A moon and a planet.}}, keywords = {{"quoted" & odd, moons}}}}
@misc{{acting, title = {{Acting addresses}}, url = {{javascript:alert(6)}}, year = 2002}}
"""
NOTICE = {"status": "retracted", "date": "2022-05-01", "source": "<i>", "notice_doi": '10.1000/"><script>'}
TEXT = "# A\n\n<script>alert(3)</script> [x](javascript:alert(4)) <img src=x onerror=alert(5)>\n\nPlain words.\n"


class Page(HTMLParser):
    """The contents of a page: links, fields, words and active content."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: dict[str, str] = {}
        self.outside: dict[str, str] = {}
        self.downloads: dict[str, str] = {}
        self.ids: set[str] = set()
        self.fields: dict[str, str] = {}
        self.acting: list[str] = []
        self.text = ""
        self._link = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag in {"script", "iframe", "object", "embed", "svg"}:
            self.acting.append(tag)
        self.acting += [f"{tag} {name}" for name in attributes if name.startswith("on")]
        self.acting += [value for value in attributes.values() if value.lower().startswith(("javascript:", "data:"))]
        self.ids |= {attributes["id"]} if "id" in attributes else set()
        if tag == "a":
            self._link = attributes.get("href", "")
            if not self._link.startswith(("/", "#")):
                self.outside[self._link] = attributes.get("rel", "")
            if "download" in attributes:
                self.downloads[attributes["download"]] = self._link
        if tag == "input":
            self.fields[attributes["name"]] = attributes.get("value", "")

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._link:
            self.links[data] = self._link
            self._link = ""


@pytest.fixture(scope="module")
def shelf_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    make_shelf(folder)
    return folder


@pytest.fixture(scope="module")
def pages(shelf_folder: Path) -> Generator[httpx.Client]:
    with start_server(shelf_folder, shelf_folder / "shelf") as served:
        yield served.client


def make_shelf(folder: Path) -> None:
    source = folder / "papers"
    source.mkdir()
    papers = [
        {"title": f"Star {HOSTILE}", "authors": [HOSTILE], "abstract": f"Shining {HOSTILE}", "venue": HOSTILE},
        {"title": "Doubtful moons", "retraction": NOTICE},
        {"title": "Doubtful moons, continued", "retraction": {"status": "expression_of_concern", "date": "2021"}},
        *({"title": f"Moon number {n}", "abstract": "A moon.", "year": 1600 + n} for n in range(25)),
    ]
    (source / "papers.json").write_text(json.dumps(papers))
    (source / "text.md").write_text(f"---\ntitle: Comet\nauthors: [Sophie Brahe]\n---\n{TEXT}")
    (source / "text.de.md").write_text("# Komet\n")
    (source / "long.md").write_text(f"---\ntitle: Annals\nauthors: [Sophie Brahe]\n---\n{ANNALS}")
    (source / "refs.bib").write_text(TRANSIT)
    build_shelf([source], folder / "shelf")


def parse_page(answer: httpx.Response, status: int = 200) -> Page:
    """Return the parsed page, and check the rules of all pages."""
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
    start = parse_page(pages.get("/"))
    assert "32 papers on this shelf" in start.text
    assert start.fields == {"q": ""}
    results = parse_page(pages.get("/", params={"q": "comet"}))
    assert "1 paper for comet" in results.text
    assert results.fields == {"q": "comet"}
    paper = parse_page(pages.get(results.links["Comet"]))
    assert "Plain words." in paper.text
    assert {"JSON", "Summary: default", "Translation: de"} <= paper.links.keys()
    for name in ("JSON", "Summary: default", "Translation: de"):
        assert pages.get(paper.links[name]).status_code == 200


def test_more_and_earlier_lead_through_all_papers(pages: httpx.Client) -> None:
    seen: set[str] = set()
    page = parse_page(pages.get("/?q=moon"))
    for _ in range(3):
        seen |= {target for target in page.links.values() if target.startswith("/papers/")}
        if "More" not in page.links:
            break
        page = parse_page(pages.get(page.links["More"]))
    assert len(seen) == 28
    assert parse_qs(urlsplit(page.links["Earlier"]).query) == {"q": ["moon"], "offset": ["10"]}


def test_html_in_metadata_is_escaped(pages: httpx.Client) -> None:
    results = parse_page(pages.get("/", params={"q": "shining"}))
    link = next(target for name, target in results.links.items() if name.startswith("Star"))
    paper = parse_page(pages.get(link))
    for page in (results, paper):
        assert "<script>alert(1)</script>" in page.text


@pytest.mark.parametrize(
    "query", [HOSTILE, "<b>", '" onfocus="alert(1)', "&lt;script&gt;", "${7*7}", "{{7*7}}", "\x00", "\u202e"]
)
def test_html_in_a_query_is_escaped(pages: httpx.Client, query: str) -> None:
    page = parse_page(pages.get("/", params={"q": query}))
    assert page.fields == {"q": query.replace("\x00", "\ufffd")} or page.fields == {"q": query}


@pytest.mark.parametrize("offset", ["x", "-1", "1e3", "٣", "9" * 400, ""])
def test_an_invalid_offset_shows_the_beginning(pages: httpx.Client, offset: str) -> None:
    assert parse_page(pages.get("/", params={"q": "moon", "offset": offset})).text.count("Moon number") == 10


def test_errors_are_reported_on_a_page(pages: httpx.Client) -> None:
    assert "Paper not found" in parse_page(pages.get("/papers/nothing"), 404).text
    assert "at most 500 characters" in parse_page(pages.get("/", params={"q": "x" * 501}), 422).text
    assert "offset" in parse_page(pages.get("/", params={"q": "moon", "offset": "10001"}), 422).text
    parse_page(pages.get("/papers/%3Cscript%3Ealert(1)%3C%2Fscript%3E".replace("%2F", "")), 404)


def test_pages_load_no_external_resources(pages: httpx.Client) -> None:
    for path in ("/", "/?q=moon"):
        assert re.findall(r"(?:src|href)=[\"']?(?:https?:)?//", pages.get(path).text) == []


def test_a_misspelt_word_links_to_its_correction(pages: httpx.Client) -> None:
    page = parse_page(pages.get("/", params={"q": "shinning"}))
    if "Did you mean" in page.text:
        assert parse_page(pages.get(page.links["shining"])).fields == {"q": "shining"}
    else:
        assert "1 paper" in page.text


def open_paper(pages: httpx.Client, title: str) -> Page:
    (paper_id,) = pages.get("/api/v1/lookup", params={"title": title}).json()["paper_ids"]
    return parse_page(pages.get(f"/papers/{paper_id}"))


def test_identifiers_and_addresses_are_links_to_their_sites(pages: httpx.Client) -> None:
    page = open_paper(pages, "Transit of a planet")
    assert page.outside.keys() == {
        "https://doi.org/10.1000/a(b)%3Cc%3E%26d",
        "https://arxiv.org/abs/2301.00001",
        "https://pubmed.ncbi.nlm.nih.gov/123",
        'https://example.org/?a=1&b="2"',
    }
    assert all("noopener" in rel for rel in page.outside.values())
    assert "BibTeX key: transit" in page.text


def test_an_unsafe_url_is_shown_but_not_linked(pages: httpx.Client) -> None:
    page = open_paper(pages, "Acting addresses")
    assert "javascript:alert(6)" in page.text
    assert page.outside == {}


def test_all_authors_are_shown_and_lead_to_their_papers(pages: httpx.Client) -> None:
    page = open_paper(pages, "Transit of a planet")
    assert set(AUTHORS) <= page.links.keys()
    assert "and 28 more" in page.text
    found = parse_page(pages.get(page.links["Ada Name39"]))
    assert "1 paper with author Ada Name39" in found.text
    assert found.fields == {"q": "", "author": "Ada Name39"}
    assert "Transit of a planet" in found.links


@pytest.mark.parametrize(("label", "name"), [("BibTeX", "bib"), ("RIS", "ris"), ("CSL-JSON", "json")])
def test_every_citation_format_can_be_copied_and_downloaded(pages: httpx.Client, label: str, name: str) -> None:
    page = open_paper(pages, "Transit of a planet")
    answer = pages.get(page.downloads[f"transit.{name}"])
    assert answer.status_code == 200
    assert page.links[f"Download {label}"] == page.downloads[f"transit.{name}"]
    assert answer.text.strip() in page.text


def test_similar_papers_are_offered_and_contents_lead_to_what_is_there(pages: httpx.Client) -> None:
    page = open_paper(pages, "Transit of a planet")
    assert any(title.startswith("Moon number") for title in page.links)
    anchors = {target[1:] for target in page.links.values() if target.startswith("#")}
    assert anchors == {"abstract", "cite", "similar"}
    assert anchors <= page.ids


def test_a_long_text_has_links_to_the_next_and_previous_page(pages: httpx.Client) -> None:
    page = open_paper(pages, "Annals")
    assert "Paragraph 0 of" in page.text
    assert "Paragraph 2999 of" not in page.text
    assert "[truncated" not in page.text
    seen = set(re.findall(r"Paragraph (\d+) of the annals, which are long\.", page.text))
    while "Continue reading" in page.links:
        page = parse_page(pages.get(page.links["Continue reading"]))
        seen |= set(re.findall(r"Paragraph (\d+) of the annals, which are long\.", page.text))
    assert seen == {str(n) for n in range(3_000)}
    assert "Paragraph 0 of" in parse_page(pages.get(page.links["Earlier in the text"].replace("offset=", "x="))).text


@pytest.mark.parametrize("offset", ["x", "-1", "99999999", "9" * 50])
def test_an_offset_beyond_the_text_still_gives_a_page(pages: httpx.Client, offset: str) -> None:
    target = parse_page(pages.get("/?q=annals")).links["Annals"]
    assert "Annals" in parse_page(pages.get(target, params={"offset": offset})).text


def test_a_keyword_with_any_characters_links_to_its_papers(pages: httpx.Client) -> None:
    page = open_paper(pages, "Transit of a planet")
    found = parse_page(pages.get(page.links['"quoted" & odd']))
    assert "Transit of a planet" in found.links
    assert parse_page(pages.get(found.links["Search all papers"])).fields == {"q": ""}


def test_a_search_without_results_offers_parts_that_find_papers_and_values_to_browse(pages: httpx.Client) -> None:
    page = parse_page(pages.get("/", params={"q": "moon -moon year:1700 transit"}))
    assert "No matching papers" in page.text
    assert parse_page(pages.get(page.links["moon (28)"])).fields == {"q": "moon"}
    assert "Transit of a planet" in parse_page(pages.get(page.links["transit (1)"])).links
    assert "Transit of a planet" in parse_page(pages.get(page.links["moons (1)"])).links
    assert parse_page(pages.get(page.links["all papers"])).text.count("Moon number") > 0
    assert "Ada Name0 (1)" in parse_page(pages.get(page.links["authors"])).links


def test_parts_of_a_misspelt_search_are_offered_in_the_right_spelling(pages: httpx.Client) -> None:
    page = parse_page(pages.get("/", params={"q": "trensit author:nobody"}))
    assert "transit author:nobody" in page.links
    assert "Transit of a planet" in parse_page(pages.get(page.links["transit (1)"])).links


def test_a_filter_without_results_can_be_removed(pages: httpx.Client) -> None:
    page = parse_page(pages.get("/", params={"q": "moon", "author": "Nobody Known"}))
    assert "No matching papers" in page.text
    assert parse_page(pages.get(page.links["moon (28)"])).fields == {"q": "moon"}


@pytest.mark.parametrize("query", ["qqqqq", "-moon -planet", '""', "author:nobody", HOSTILE * 3, "NOT", "title:"])
def test_every_search_without_results_offers_links(pages: httpx.Client, query: str) -> None:
    page = parse_page(pages.get("/", params={"q": query}))
    if "0 papers" in page.text:
        assert {"all papers", "keywords", "authors"} <= page.links.keys()


@pytest.mark.parametrize("kind", ["keyword", "author", "venue", "year", "tag", "institution"])
def test_values_are_listed_by_kind_and_link_to_papers(pages: httpx.Client, kind: str) -> None:
    page = parse_page(pages.get(f"/browse/{kind}"))
    targets = [target for target in page.links.values() if target.startswith(f"/?{kind}=")]
    assert bool(targets) == (kind not in {"tag", "institution"})
    for target in targets[:2]:
        assert re.search(rf"\d papers? with {kind} ", parse_page(pages.get(target)).text)


def test_an_invalid_kind_and_an_invalid_value_are_reported_on_a_page(pages: httpx.Client) -> None:
    parse_page(pages.get("/browse/colour"), 422)
    parse_page(pages.get("/", params={"year": "soon"}), 422)
    parse_page(pages.get("/", params={"author": "x" * 501}), 422)
    parse_page(pages.get("/browse/author", params={"offset": "10001"}), 422)


def test_a_retracted_paper_is_marked_on_every_page(pages: httpx.Client) -> None:
    results = pages.get("/", params={"q": "title:doubtful"})
    assert results.text.count('<span class="badge">Retracted</span>') == 1
    paper = pages.get(parse_page(results).links["Doubtful moons"])
    page = parse_page(paper)
    assert '<p class="notice retracted" role="note"><b>Retracted</b>' in paper.text
    assert 'Retracted · 2022-05-01 · source: <i> · notice: 10.1000/"><script>' in page.text
    assert "https://doi.org/10.1000/%22%3E%3Cscript%3E" in page.outside
    assert page.text.count("Retracted 2022-05-01") == 3, "in every citation format"
    assert "Doubtful moonsRetracted" in open_paper(pages, "Doubtful moons, continued").text


def test_an_expression_of_concern_is_reported_and_is_not_a_retraction(pages: httpx.Client) -> None:
    answer = pages.get(parse_page(pages.get("/?q=title:doubtful")).links["Doubtful moons, continued"])
    assert '<p class="notice" role="note"><b>Expression of concern</b> · 2021</p>' in answer.text
