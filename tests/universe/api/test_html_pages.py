"""The HTML pages need no scripts and no external content, and escape all texts."""

from collections.abc import Generator
from html.parser import HTMLParser
from urllib.parse import quote

import httpx
import pytest

from tests.universe.api.rest.rest_server import create_universe, get_error, run_server, send_command

HOSTILE = "\"><script>alert(1)</script><img src=x onerror=alert(2)>'&amp;"
ODD_ID = "a?b#c%d🪐"


class Page(HTMLParser):
    """The links and the text of a page, and its elements that run code or load other files."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: dict[str, str] = {}
        self.acting: list[str] = []
        self.text = ""
        self._link = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        printed = {name: value or "" for name, value in attrs}
        if tag in {"script", "iframe", "object", "embed", "svg", "img", "link", "form"}:
            self.acting.append(tag)
        self.acting += [f"{tag} {name}" for name in printed if name.startswith("on")]
        self.acting += [value for value in printed.values() if ":" in value.split("/")[0]]
        self._link = printed.get("href", "") if tag == "a" else ""

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._link:
            self.links[data] = self._link
            self._link = ""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Generator[httpx.Client]:
    with run_server(tmp_path_factory.mktemp("pages")) as client:
        yield client


def page(site: httpx.Client, path: str) -> Page:
    answer = site.get(path)
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert "script-src" not in answer.headers["Content-Security-Policy"]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    found = Page(answer.text)
    assert found.acting == []
    return found


def test_a_server_without_universes_reports_how_to_make_one(tmp_path_factory: pytest.TempPathFactory) -> None:
    with run_server(tmp_path_factory.mktemp("empty")) as site:
        front = page(site, "/")
        assert "universe new" in front.text
        assert "/mcp" in front.text


def test_the_front_page_shows_every_universe_and_leads_to_it(site: httpx.Client) -> None:
    universe = create_universe(site, name="Stjerneborg")
    send_command(site, universe, [{"type": "tick"}] * 3)
    front = page(site, "/")
    assert universe in front.text
    assert site.get(front.links["Stjerneborg"]).json()["version"] == 3


def test_the_docs_show_every_address_with_its_parameters(site: httpx.Client) -> None:
    docs = page(site, "/docs")
    document = site.get(docs.links["openapi.json"]).json()
    for path, operations in document["paths"].items():
        assert path in docs.text
        for operation in operations.values():
            assert operation["summary"] in docs.text
            for parameter in operation.get("parameters", []):
                assert parameter["name"] in docs.text


def test_names_and_ids_with_any_content_are_printed_as_text(site: httpx.Client) -> None:
    universe = create_universe(site, name=HOSTILE)
    front = page(site, "/")
    assert HOSTILE in front.text
    assert site.get(front.links[HOSTILE]).json()["id"] == universe


def test_a_universe_with_an_odd_id_is_linked_to_rightly(site: httpx.Client) -> None:
    site.post("/universes", json={"name": "Odd", "id": ODD_ID})
    front = page(site, "/")
    assert front.links["Odd"] == f"/universes/{quote(ODD_ID, safe='')}"
    assert site.get(front.links["Odd"]).json()["id"] == ODD_ID


def test_a_page_there_is_not_is_an_error_like_any_other(site: httpx.Client) -> None:
    get_error(site.get("/page", headers={"Accept": "text/html"}), 404, "no_such_address")
