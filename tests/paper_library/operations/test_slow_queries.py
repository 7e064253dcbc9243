"""Slow queries are stopped with a clear error and delay no other client."""

import asyncio
import json
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from blockbuster import blockbuster_ctx

from paper_library.api.app import make_app
from paper_library.config import LibraryConfig
from paper_library.service.hits import ResultPage
from paper_library.service.library import Library
from paper_library.service.live_shelf import LiveShelf
from paper_library.service.search import search_shelf
from paper_library.store.assets import AssetReader
from paper_library.store.shelf import Shelf
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.mcp.testing import connect_http_client, get_text, serve_app

FOREVER = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


def run_endless_statement(shelf: Shelf) -> Any:
    return shelf.get_connection().execute(FOREVER).fetchone()


@pytest.fixture
def release() -> Generator[threading.Event]:
    """Provide an event that ends slow work, and set it when the test ends."""
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def slow_searches(monkeypatch: pytest.MonkeyPatch, release: threading.Event) -> None:
    """Block each search for `slow` until `release` is set."""

    def search_shelf_slowly(shelf: Shelf, query: str, **options: Any) -> ResultPage:
        if query == "slow":
            release.wait(30)
        return search_shelf(shelf, query, **options)

    monkeypatch.setattr("paper_library.service.library.search_shelf", search_shelf_slowly)


@asynccontextmanager
async def serve_shelf(shelf: Path, **settings: Any) -> AsyncGenerator[httpx.AsyncClient]:
    config = LibraryConfig(shelf=shelf, query_timeout_s=0.2, asset_timeout_s=0.2, **settings)
    async with serve_app(make_app(config)) as url, httpx.AsyncClient(base_url=url, timeout=20) as client:
        yield client


async def call(client: httpx.AsyncClient, tool: str, **arguments: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    answer = await client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    return json.loads(answer.json()["result"]["content"][0]["text"])


def test_an_endless_sql_statement_is_stopped(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Shelf, "count_contents", run_endless_statement)
    library = Library(LiveShelf(shelf), AssetReader(), timeout_s=0.1)
    with pytest.raises(UraniborgError) as caught:
        library.stats()
    assert caught.value.code == "query_too_slow"
    assert caught.value.hint
    assert library.search("star")["total"] == 1
    library.close()


async def test_an_endless_sql_statement_gives_503(shelf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Shelf, "count_contents", run_endless_statement)
    async with serve_shelf(shelf) as client:
        slow, quick = await asyncio.gather(client.get("/api/v1/stats"), client.get("/api/v1/search?q=star"))
    assert (slow.status_code, slow.json()["error"]["code"]) == (503, "query_too_slow")
    assert quick.json()["total"] == 1


@pytest.mark.usefixtures("slow_searches")
async def test_a_slow_search_over_mcp_is_stopped_while_others_are_answered(shelf: Path) -> None:
    async with serve_shelf(shelf) as client:
        slow = asyncio.create_task(call(client, "search_papers", query="slow"))
        assert (await call(client, "search_papers", query="star"))["total"] == 1
        assert (await client.get("/api/v1/search?q=star")).json()["total"] == 1
        assert not slow.done()
        error = (await slow)["error"]
        assert error["code"] == "query_too_slow"
        assert error["hint"]


@pytest.mark.usefixtures("slow_searches")
async def test_slow_searches_over_rest_and_pages_delay_no_other_caller(shelf: Path) -> None:
    async with serve_shelf(shelf) as client:
        slow = [asyncio.create_task(client.get(path)) for path in ("/api/v1/search?q=slow", "/?q=slow")]
        assert (await client.get("/api/v1/search?q=star")).json()["total"] == 1
        assert (await client.get("/healthz")).status_code == 200
        for task in slow:
            task.cancel()


@pytest.mark.parametrize("path", ["/api/v1/search?q=slow", "/?q=slow"])
@pytest.mark.usefixtures("slow_searches")
async def test_a_slow_search_over_rest_is_stopped(shelf: Path, path: str) -> None:
    async with serve_shelf(shelf) as client, asyncio.timeout(2):
        answer = await client.get(path)
        assert answer.status_code == 503


@pytest.mark.usefixtures("slow_searches")
async def test_more_slow_searches_than_threads_leave_health_and_metadata_answered(shelf: Path) -> None:
    async with serve_shelf(shelf, threads=2) as client:
        paper = (await client.get("/api/v1/search?q=star")).json()["results"][0]["paper_id"]
        slow = [asyncio.create_task(call(client, "search_papers", query="slow")) for _ in range(10)]
        assert (await call(client, "get_paper_metadata", paper_id=paper))["title"] == "On the new star"
        assert (await client.get("/healthz")).json()["status"] == "ok"
        assert {result["error"]["code"] for result in await asyncio.gather(*slow)} == {"query_too_slow"}


TOOLS: dict[str, dict[str, Any]] = {
    "search_papers": {"query": "star comets"},
    "search_papers_by_keyword": {"keyword": "star"},
    "list_top_facets": {"category": "author"},
    "get_paper_summary": {"paper_id": "PAPER"},
    "get_paper_source": {"paper_id": "PAPER"},
}
"""All but get_paper_metadata, whose one look-up by key costs less than a thread and is done on the loop."""


@pytest.mark.parametrize("tool", TOOLS)
async def test_no_tool_that_reads_or_searches_blocks_the_loop(shelf: Path, tool: str) -> None:
    library = Library.open(shelf)
    (paper,) = library.find_ids_by_title("On comets")
    library.close()
    arguments = {name: paper if value == "PAPER" else value for name, value in TOOLS[tool].items()}
    async with serve_app(make_app(LibraryConfig(shelf=shelf))) as url, connect_http_client(f"{url}/mcp") as client:
        with blockbuster_ctx("paper_library"):
            result = await client.call_tool(tool, arguments)
        assert not result.isError, get_text(result)
