"""A shelf is replaced under a running server: no request fails, and none is answered from two shelves at once."""

import shutil
import threading
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.paper_library.operations.command_runs import TIMEOUT_S, ServerProcess, list_titles, start_server, wait_until
from tests.paper_library.operations.shelves import build_readable_shelf, build_titled_shelf, flip_bit

OLD = ["Old comet", "Old moon", "Old star"]
NEW = ["New comet", "New moon", "New star", "New sun"]
PAPERS = {"old": OLD, "new": NEW}


def search_over_rest(client: httpx.Client) -> str:
    answer = client.get("/api/v1/search", params={"facets": "author", "sort": "title_asc"})
    assert answer.status_code == 200, answer.text
    return find_shelf_of(answer.json())


def search_over_mcp(client: httpx.Client) -> str:
    params = {"name": "search_papers", "arguments": {"query": "", "sort": "title_asc"}}
    answer = client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    assert answer.status_code == 200, answer.text
    return find_shelf_of(answer.json()["result"]["structuredContent"])


def search_on_page(client: httpx.Client) -> str:
    answer = client.get("/")
    assert answer.status_code == 200, answer.text
    seen = {name for name, papers in PAPERS.items() for title in papers if title in answer.text}
    (name,) = seen
    assert f"{len(PAPERS[name])} papers" in answer.text
    return name


def find_shelf_of(found: dict[str, Any]) -> str:
    """Return the shelf that all parts of a reply come from."""
    (name,) = {name for name, papers in PAPERS.items() if list_titles(found) == papers}
    assert found["total"] == len(PAPERS[name])
    return name


@contextmanager
def send_requests(url: str) -> Generator[list[str]]:
    """Send requests of every kind until the block ends; yield the list of replies in order."""
    metadata: list[str] = []
    enough = threading.Event()

    def call(ask: Callable[[httpx.Client], str]) -> None:
        with httpx.Client(base_url=url, timeout=TIMEOUT_S) as client:
            while not enough.is_set():
                metadata.append(ask(client))

    callers = (search_over_rest, search_over_mcp, search_on_page) * 2
    with ThreadPoolExecutor(len(callers)) as pool:
        calls = [pool.submit(call, ask) for ask in callers]
        try:
            wait_until(lambda: len(metadata) > 10 * len(callers) or any(one.done() for one in calls))
            yield metadata
        finally:
            enough.set()
        for one in calls:
            one.result(TIMEOUT_S)


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    build_titled_shelf(tmp_path / "shelf", *OLD)
    return tmp_path / "shelf"


def test_requests_without_pause_see_the_old_shelf_and_then_the_new_one(tmp_path: Path, shelf: Path) -> None:
    with start_server(tmp_path, shelf) as served, send_requests(served.url) as message:
        for papers, name in ((NEW, "new"), (OLD, "old")):
            build_titled_shelf(shelf, *papers)
            wait_until(lambda name=name: set(message[-20:]) == {name}, within=15)
    assert "Traceback" not in served.stderr


def test_the_first_reply_after_a_replacement_comes_from_one_shelf(tmp_path: Path, shelf: Path) -> None:
    with start_server(tmp_path, shelf) as served:
        build_titled_shelf(shelf, *NEW)
        assert search_over_rest(served.client) in PAPERS


def test_a_running_download_completes_with_the_old_text(tmp_path: Path) -> None:
    shelf = tmp_path / "shelf"
    text = "# Long\n\n" + "an old word " * 100_000
    build_readable_shelf(shelf, text)
    with start_server(tmp_path, shelf) as served:
        (paper,) = served.client.get("/api/v1/lookup", params={"title": "On comets"}).json()["paper_ids"]
        with served.client.stream("GET", f"/api/v1/papers/{paper}/source") as download:
            pieces = download.iter_text(65_536)
            begun = next(pieces)
            build_readable_shelf(shelf, "# Short\n\nA new word.\n")
            wait_until(lambda: "new word" in fetch_text(served, paper), within=10)
            whole = begun + "".join(pieces)
        assert whole == text.strip()


def fetch_text(served: ServerProcess, paper: str) -> str:
    answer = served.client.get(f"/api/v1/papers/{paper}/source", params={"max_chars": 100})
    assert answer.status_code == 200, answer.text
    return answer.text


def test_a_damaged_replacement_leaves_the_old_shelf_served_and_healthz_reports_it(tmp_path: Path, shelf: Path) -> None:
    other = tmp_path / "other"
    build_titled_shelf(other, *NEW)
    flip_bit(other / "shelf.db", 60_000)
    with start_server(tmp_path, shelf) as served:
        before = served.client.get("/healthz").json()
        shelf.rename(tmp_path / "aside")
        other.rename(shelf)
        wait_until(lambda: served.client.get("/healthz").json()["status"] != "ok", within=10)
        now = served.client.get("/healthz").json()
        assert now["status"] == "serving_previous_shelf"
        assert now["problem"] == "shelf_damaged"
        assert (now["build_id"], now["papers"]) == (before["build_id"], before["papers"])
        shutil.rmtree(shelf)
        build_titled_shelf(shelf, *NEW)
        wait_until(lambda: served.client.get("/healthz").json()["status"] == "ok", within=10)
        assert search_over_rest(served.client) == "new"


def test_a_removed_shelf_is_still_served(tmp_path: Path, shelf: Path) -> None:
    with start_server(tmp_path, shelf) as served:
        assert search_over_rest(served.client) == "old"
        shelf.rename(tmp_path / "aside")
        wait_until(lambda: served.client.get("/healthz").json()["status"] != "ok", within=10)
        assert served.client.get("/healthz").json()["problem"] == "shelf_not_found"
        assert search_over_rest(served.client) == "old"


def test_a_removed_shelf_is_still_served_to_many_clients(tmp_path: Path, shelf: Path) -> None:
    with start_server(tmp_path, shelf) as served:
        shelf.rename(tmp_path / "aside")
        wait_until(lambda: served.client.get("/healthz").json()["status"] != "ok", within=10)
        with ThreadPoolExecutor(20) as pool:
            assert set(pool.map(search_over_rest, [served.client] * 100)) == {"old"}


def test_all_workers_serve_the_new_shelf(tmp_path: Path, shelf: Path) -> None:
    with start_server(tmp_path, shelf, "--workers", "2", from_the_start=True) as served:
        wait_until(lambda: len(served.workers()) == 2)
        build_titled_shelf(shelf, *NEW)
        wait_until(lambda: all(fetch_titles(served.url) == NEW for _ in range(20)), within=20)


def fetch_titles(url: str) -> list[str]:
    """Return the titles that a client with a new connection receives, or None."""
    answer = httpx.get(f"{url}/api/v1/search", params={"sort": "title_asc"}, timeout=TIMEOUT_S)
    return list_titles(answer.json()) if answer.status_code == 200 else []
