"""Every log line and error of a request has the request's id, in its threads too."""

import asyncio
import io
import json
import logging
import sys
import threading
from collections.abc import Generator
from pathlib import Path
from typing import Any

import httpx
import pytest

from paper_library.service.worker_threads import WorkerThreads
from tests.uraniborg.kernel.mcp import sample_server as sample
from tests.uraniborg.kernel.mcp.raw_messages import INITIALIZE, call, wire_to
from uraniborg.kernel.ids import begin_request, bind_context, get_request_id, identify_error, start_request
from uraniborg.kernel.logging import configure_logging, get_logger
from uraniborg.kernel.mcp import make_server, make_stateful_app, make_stateless_app, tool
from uraniborg.kernel.mcp.testing import connect_stdio_client, get_json, serve_app

log = get_logger("test")


@pytest.fixture
def lines() -> Generator[Any]:
    """Yield a function that returns the log lines as JSON."""
    root = logging.getLogger()
    before, level, stream = list(root.handlers), root.level, io.StringIO()
    configure_logging(stream=stream, force_json=True)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    root.handlers[:] = before
    root.setLevel(level)


def test_outside_of_a_request_there_is_no_id(lines: Any) -> None:
    log.info("started")
    assert "request_id" not in lines()[0]
    assert identify_error({"error": {"code": "x"}}) == {"error": {"code": "x"}}
    assert get_request_id() is None


def test_every_line_within_a_request_has_its_id_those_of_other_libraries_too(lines: Any) -> None:
    with start_request():
        request_id = get_request_id()
        log.bind(part="x").warning("ours", papers=1)
        logging.getLogger("foreign").warning("not %s", "ours")
    assert [(line["event"], line["request_id"]) for line in lines()] == [("ours", request_id), ("not ours", request_id)]
    assert get_request_id() is None


def test_a_line_shows_the_id_where_the_host_program_formats_it(caplog: pytest.LogCaptureFixture) -> None:
    with start_request():
        log.warning("ours")
        assert caplog.messages == [f"ours request_id={get_request_id()!r}"]


async def test_threads_of_a_request_have_its_id() -> None:
    request_id = begin_request()
    found: list[str | None] = [await asyncio.to_thread(get_request_id)]
    thread = threading.Thread(target=bind_context(lambda: found.append(get_request_id())))
    thread.start()
    await asyncio.to_thread(thread.join)
    threads = WorkerThreads(1, query_s=20, fetch_s=20)
    found += [await threads.run_query(get_request_id), await threads.run_fetch(get_request_id)]
    threads.close()
    assert found == [request_id] * 4


def test_only_errors_are_identified() -> None:
    with start_request():
        bodies: list[dict[str, Any]] = [{"papers": []}, {"error": "a text"}, {"error": None}]
        for body in bodies:
            assert identify_error(body) == body
        error: dict[str, Any] = {"error": {"code": "x"}, "more": 1}
        assert identify_error(error)["error"]["request_id"] == get_request_id()


def noting_server() -> Any:
    server = make_server("noting", version="1", instructions="")

    @tool(server, title="Note", read_only=True)
    async def note() -> dict[str, str | None]:
        """Log a line, also from a thread, and return the id of the request."""
        log.warning("noted")
        await asyncio.to_thread(log.warning, "noted in a thread")
        return {"id": get_request_id()}

    @tool(server, title="Break down", read_only=True)
    async def break_down() -> None:
        """Fails."""
        raise RuntimeError("on purpose")

    assert note
    assert break_down
    return server


async def test_each_request_of_a_session_has_an_id_of_its_own(lines: Any) -> None:
    async with wire_to(noting_server()) as wire:
        ids = [(await wire.ask(call("note", {})))["result"]["structuredContent"]["id"] for _ in range(3)]
        refused = [(await wire.ask({"jsonrpc": "2.0", "id": 7, "method": "no/such"}))["error"] for _ in range(2)]
        broken = json.loads((await wire.ask(call("break_down", {})))["result"]["content"][0]["text"])["error"]
    assert len({*ids, broken["request_id"], *(one["data"]["error"]["request_id"] for one in refused)}) == 6
    assert [line["request_id"] for line in lines()] == [*(one for one in ids for _ in range(2)), broken["request_id"]]


@pytest.mark.parametrize("make_app", [make_stateless_app, make_stateful_app])
async def test_over_http_the_id_is_that_of_the_http_request(lines: Any, make_app: Any) -> None:
    async with serve_app(make_app(noting_server())) as url, httpx.AsyncClient(base_url=url, timeout=20) as client:
        accept = {"accept": "application/json"}
        began = await client.post("/mcp", json=INITIALIZE, headers=accept)
        session = {"mcp-session-id": began.headers["mcp-session-id"]} if "mcp-session-id" in began.headers else {}
        for number in range(3):
            given = {"x-request-id": f"request-{number}"}
            answer = await client.post("/mcp", json=call("note", {}), headers={**accept, **session, **given})
            assert answer.json()["result"]["structuredContent"] == {"id": f"request-{number}"}
            assert answer.headers["x-request-id"] == f"request-{number}"
    noted = [line["request_id"] for line in lines() if line["event"].startswith("noted")]
    assert noted == ["request-0", "request-0", "request-1", "request-1", "request-2", "request-2"]


async def test_a_notification_that_is_ignored_is_logged_with_the_id_of_its_own_http_request(lines: Any) -> None:
    logging.getLogger("uraniborg").setLevel(logging.DEBUG)
    async with (
        serve_app(make_stateful_app(noting_server())) as url,
        httpx.AsyncClient(base_url=url, timeout=20) as client,
    ):
        began = await client.post("/mcp", json=INITIALIZE)
        session = {"mcp-session-id": began.headers["mcp-session-id"]}
        for number in range(2):
            given = {**session, "x-request-id": f"request-{number}"}
            odd = {"jsonrpc": "2.0", "method": "notifications/unheard_of"}
            assert (await client.post("/mcp", json=odd, headers=given)).status_code == 202
        await client.post("/mcp", json=call("note", {}), headers=session)
    logging.getLogger("uraniborg").setLevel(logging.NOTSET)
    ignored = [line["request_id"] for line in lines() if line["event"] == "notification ignored"]
    assert ignored == ["request-0", "request-1"]


async def test_over_stdio_an_error_has_an_id_too() -> None:
    async with connect_stdio_client(sys.executable, [str(Path(sample.__file__))]) as client:
        errors = [get_json(await client.call_tool("lose", {"paper_id": "p1"}))["error"] for _ in range(2)]
    assert len({error["request_id"] for error in errors}) == 2
