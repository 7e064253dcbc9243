"""Results beyond the largest offset: every interface reports them and how to narrow the search."""

from collections.abc import Generator
from pathlib import Path

import pytest

from paper_library.config import LibraryConfig
from tests.paper_library.mcp.http_client import Caller, serve_library
from tests.paper_library.operations.command_runs import call_command
from tests.paper_library.operations.shelves import build_titled_shelf

WAY_OUT = "year:2019..2023"
TITLES = [f"Comet {number}" for number in range(130)]


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    shelf = tmp_path_factory.mktemp("many") / "shelf"
    build_titled_shelf(shelf, *TITLES, keywords="comets")
    return shelf


@pytest.fixture
def caller(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Caller]:
    """Provide a caller of a server whose largest offset is 4."""
    monkeypatch.setattr("paper_library.domain.limits.OFFSET", 4)
    with serve_library(LibraryConfig(shelf=shelf)) as caller:
        yield caller


@pytest.mark.parametrize(
    ("tool", "arguments"), [("search_papers", {"query": "comet"}), ("search_papers_by_keyword", {"keyword": "comets"})]
)
def test_the_last_page_of_a_tool_reports_how_many_more_there_are(
    caller: Caller, tool: str, arguments: dict[str, str]
) -> None:
    page = caller.call_structured(tool, **arguments, offset=4, limit=10)
    assert (len(page["results"]), page["total"], page["next_offset"]) == (10, 130, None)
    assert "116 further papers" in page["more"]
    assert WAY_OUT in page["more"]
    before = caller.call_structured(tool, **arguments, offset=0, limit=4)
    assert before["next_offset"] == 4
    assert "more" not in before


def test_a_search_that_shows_everything_mentions_no_more(caller: Caller) -> None:
    page = caller.call_structured("search_papers", query="title:17", limit=10)
    assert (page["next_offset"], page.get("more")) == (None, None)


def test_rest_gives_the_same_message(caller: Caller) -> None:
    found = caller.http.get("/api/v1/search", params={"q": "comet", "offset": 4, "limit": 10}).json()
    assert found["more"] == caller.call_structured("search_papers", query="comet", offset=4, limit=10)["more"]
    values = caller.http.get("/api/v1/facets/year", params={"offset": 4, "limit": 10}).json()
    assert "116 further values" in values["more"]
    beyond = caller.http.get("/api/v1/search", params={"q": "comet", "offset": 5})
    assert beyond.status_code == 422
    assert WAY_OUT in beyond.json()["error"]["hint"]


def test_the_pages_report_further_results_and_link_no_refused_offset(caller: Caller) -> None:
    page = caller.http.get("/", params={"q": "comet", "offset": 4}).text
    assert "116 further papers" in page
    assert ">More</a>" not in page
    values = caller.http.get("/browse/year", params={"offset": 4}).text
    assert "26 further values" in values
    assert ">More</a>" not in values
    beyond = caller.http.get("/", params={"q": "comet", "offset": 5})
    assert beyond.status_code == 422
    assert WAY_OUT in beyond.text


def test_the_command_reports_further_results(
    shelf: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paper_library.domain.limits.OFFSET", 4)
    result = " ".join(call_command(capsys, "search", shelf, "comet", "--offset", "4").out.split())
    assert "116 further papers" in result
    assert "None" not in result
