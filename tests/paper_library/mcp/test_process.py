"""`paper-library serve` as a process, with its options."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.paper_library.mcp import inputs
from tests.paper_library.mcp.http_client import Caller, make_initialize_request, make_request
from tests.paper_library.mcp.server_process import COMMAND, ServerProcess, make_environment, start_server
from tests.paper_library.mcp.static_server import respond_with_status, serve_files, start_static_server
from tests.requirements import requirement
from uraniborg.kernel.mcp.testing import connect_http_client, get_json, get_text

PING = make_request("ping")


@pytest.fixture(scope="module")
def process(rich_shelf: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with start_server(
        rich_shelf, tmp_path_factory.mktemp("home"), "--allow-origin", "https://app.example.org"
    ) as process:
        yield process


@requirement("PL-1")
def test_the_printed_address_is_the_one_that_replies(process: ServerProcess) -> None:
    announced = process.announced
    assert announced["mcp"] == f"{announced['url']}/mcp"
    assert process.caller.http.get("/healthz").json()["papers"] == announced["papers"]
    assert process.caller.post(make_initialize_request()).json()["result"]["capabilities"].keys() == {
        "tools",
        "resources",
    }


@requirement("PL-1", "PL-8", "PL-10", "PL-11", "PL-12")
async def test_the_official_client_goes_from_search_to_source(process: ServerProcess) -> None:
    async with connect_http_client(process.announced["mcp"]) as client:
        found = get_json(await client.call_tool("search_papers", {"query": "rain radar"}))
        paper_id = found["results"][0]["paper_id"]
        metadata = get_json(await client.call_tool("get_paper_metadata", {"paper_id": paper_id}))
        summary = await client.call_tool("get_paper_summary", {"paper_id": paper_id, "template": "deep_read"})
        source = await client.call_tool("get_paper_source", {"paper_id": paper_id})
    assert metadata["source_chars"] == len(get_text(source))
    assert json.loads(get_text(summary)) == inputs.DEEP_READ


@requirement("PL-2", "PL-3", "PL-4")
def test_the_server_process_applies_the_rules_of_the_endpoint(process: ServerProcess) -> None:
    got = process.caller.http.get("/mcp", headers={"accept": "text/event-stream"})
    assert (got.status_code, got.headers["allow"]) == (405, "POST")
    assert process.caller.post(PING, mcp_protocol_version="1999-01-01").status_code == 400
    assert len(process.caller.post([PING, PING]).json()) == 2
    assert process.caller.post([PING], mcp_protocol_version="2025-11-25").status_code == 400


@requirement("PL-7")
def test_origins_are_allowed_by_option(process: ServerProcess) -> None:
    assert process.caller.post(PING, origin="https://app.example.org").status_code == 200
    assert process.caller.post(PING, origin="https://other.example.org").status_code == 403
    assert process.caller.post(PING, host="rebound.example").status_code == 421


@requirement("PL-16")
def test_the_base_of_static_files_is_an_option(rich_shelf: Path, shelf_copy: Path, tmp_path: Path) -> None:
    for path in (shelf_copy / "static").rglob("*.*"):
        path.unlink()
    with (
        start_static_server(serve_files(rich_shelf / "static")) as server,
        start_server(shelf_copy, tmp_path, "--static-base-url", server.base) as process,
    ):
        assert (
            process.caller.call_text("get_paper_source", paper_id=inputs.LONG, max_chars=1_000_000)
            == inputs.make_long_text()
        )
        server.answer = respond_with_status(404)
        assert process.caller.call_error("get_paper_source", paper_id=inputs.LONG)["code"] == "asset_fetch_failed"


@requirement("PL-4")
def test_several_workers_give_the_same_replies(rich_shelf: Path, tmp_path: Path, library: Caller) -> None:
    with start_server(rich_shelf, tmp_path, "--workers", "2") as process:
        for query in ("rain radar", "gravel", "天气") * 3:
            with_a_new_connection = Caller(process.caller.url)
            page = with_a_new_connection.call_structured("search_papers", query=query)
            with_a_new_connection.http.close()
            assert page == library.call_structured("search_papers", query=query)


@pytest.mark.parametrize(
    ("damage", "code"),
    [("missing", "shelf_not_found"), ("half-written", "shelf_damaged"), ("too new", "shelf_too_new")],
)
def test_a_shelf_that_cannot_be_served_is_refused_before_listening(
    shelf_copy: Path, tmp_path: Path, damage: str, code: str
) -> None:
    manifest = shelf_copy / "manifest.json"
    if damage == "missing":
        shelf_copy = tmp_path / "nowhere"
    elif damage == "half-written":
        (shelf_copy / "shelf.db").write_bytes((shelf_copy / "shelf.db").read_bytes()[:5_000])
    else:
        manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "schema_version": 999}))
    command = [COMMAND, "serve", str(shelf_copy), "--port", "0", "--json"]
    ended = subprocess.run(
        command, capture_output=True, text=True, timeout=50, check=False, cwd=tmp_path, env=make_environment(tmp_path)
    )
    assert ended.returncode != 0
    assert json.loads(ended.stdout)["error"]["code"] == code
    assert "Traceback" not in ended.stderr
