"""A running server with a new shelf, a damaged shelf, and many clients that disconnect."""

import asyncio
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from paper_library.api.app import make_app
from paper_library.config import LibraryConfig
from paper_library.service.build.builder import build_shelf
from paper_library.store.layout import read_manifest
from tests.paper_library.mcp import inputs
from tests.paper_library.mcp.http_client import Caller, make_request, serve_library
from tests.requirements import requirement
from uraniborg.kernel.errors import UraniborgError

_PATIENCE_S = 20
SEARCH = make_request("tools/call", {"name": "search_papers", "arguments": {"query": "rain radar"}})
PORTING = "Porting C++ and C# kernels to .NET: an O(n²) story"
NEWS = "@article{news2026, title = {Aardvarks Arrive}, author = {New, Comer}, year = {2026}}"


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, "it never came to hold"


def swap_folders(old: Path, new: Path) -> None:
    old.rename(old.with_name("retired"))
    new.rename(old)


@pytest.fixture
def newer(shelf_copy: Path, tmp_path: Path) -> Path:
    (tmp_path / "news.bib").write_text(NEWS)
    build_shelf([tmp_path / "news.bib"], tmp_path / "newer", update=shelf_copy)
    return tmp_path / "newer"


@requirement("PL-4", "PL-17")
def test_a_replaced_shelf_is_served_without_a_restart(shelf_copy: Path, newer: Path) -> None:
    with serve_library(LibraryConfig(shelf=shelf_copy)) as caller:
        assert caller.call_structured("search_papers", query="aardvarks arrive")["total"] == 0
        swap_folders(shelf_copy, newer)
        wait_until(lambda: caller.call_structured("search_papers", query="aardvarks arrive")["total"] == 1)
        assert caller.call_structured("get_paper_metadata", paper_id="news2026")["title"] == "Aardvarks Arrive"
        assert (
            caller.call_text("get_paper_source", paper_id=inputs.LONG, max_chars=1_000_000) == inputs.make_long_text()
        )
        assert caller.http.get("/healthz").json()["build_id"] == read_manifest(shelf_copy).build_id


def test_no_reply_mixes_the_old_and_the_new_shelf(shelf_copy: Path, newer: Path) -> None:
    with serve_library(LibraryConfig(shelf=shelf_copy)) as caller:
        swap_folders(shelf_copy, newer)
        titles = [row["title"] for row in caller.call_structured("search_papers", query="rain radar")["results"]]
    assert titles == ["Attention for Weather: Transformers on Rain Radar", PORTING]


def test_a_broken_replacement_leaves_the_old_shelf_in_use(shelf_copy: Path, newer: Path) -> None:
    with serve_library(LibraryConfig(shelf=shelf_copy)) as caller:
        (newer / "shelf.db").unlink()
        swap_folders(shelf_copy, newer)
        wait_until(lambda: caller.http.get("/healthz").json()["status"] != "ok")
        assert caller.call_structured("search_papers", query="rain radar")["total"] == 2


def flip_byte(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 0xFF
    path.write_bytes(content)


@pytest.mark.parametrize("part", [0.0, 0.3, 0.6, 0.99])
def test_a_shelf_with_a_flipped_byte_in_its_database_is_not_served(shelf_copy: Path, part: float) -> None:
    database = shelf_copy / "shelf.db"
    flip_byte(database, int(database.stat().st_size * part))
    with pytest.raises(UraniborgError) as caught:
        make_app(LibraryConfig(shelf=shelf_copy))
    assert caught.value.code == "shelf_damaged"


@pytest.mark.parametrize("lost", ["index", "shelf.db", "manifest.json"])
def test_a_shelf_without_one_of_its_parts_is_not_served(shelf_copy: Path, lost: str) -> None:
    path = shelf_copy / lost
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    with pytest.raises(UraniborgError) as caught:
        make_app(LibraryConfig(shelf=shelf_copy))
    assert caught.value.code in ("shelf_damaged", "shelf_not_found")
    assert caught.value.hint


async def test_many_clients_are_served_although_half_disconnect(library: Caller) -> None:
    body = httpx.Request("POST", library.url, json=SEARCH).content
    host, port = library.url.removeprefix("http://").split(":")
    head = f"POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    whole = f"{head}Connection: close\r\n\r\n".encode() + body

    async def visit(number: int) -> bytes:
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(whole if number % 4 < 3 else whole[: len(whole) // 2])
        await writer.drain()
        answer = await reader.read() if number % 2 == 0 else b""
        writer.close()
        return answer

    async with asyncio.timeout(_PATIENCE_S * 2):
        answers = await asyncio.gather(*(visit(number) for number in range(400)))
    stayed = [answer for number, answer in enumerate(answers) if number % 4 == 0]
    assert all(answer.startswith(b"HTTP/1.1 200") and b'"total":2' in answer for answer in stayed)
    assert library.post(make_request("ping")).status_code == 200


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="counts open files in a way of Linux")
def test_connections_and_open_files_do_not_accumulate(library: Caller) -> None:
    def opened() -> int:
        return len(os.listdir("/proc/self/fd"))

    library.call("get_paper_source", paper_id=inputs.LONG)
    before = opened()
    for _ in range(60):
        library.call("get_paper_source", paper_id=inputs.LONG)
        library.call("search_papers", query="rain")
    assert opened() <= before + 5
