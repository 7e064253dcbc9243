"""The bridge: a real MCP client over stdio talks to the real servers over HTTP."""

import asyncio
import io
import json
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.installed_programs import find_program
from tests.universe.mcp.processes import start_server
from tests.uraniborg.kernel.mcp.enveloped_messages import make_message
from tests.uraniborg.kernel.mcp.sample_server import sample_server
from uraniborg.connect.stdio_bridge import Bridge, run_bridge
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.mcp import make_stateless_app

INITIALIZE: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}
INITIALIZED: dict[str, Any] = {"jsonrpc": "2.0", "method": "notifications/initialized"}


async def test_a_stdio_client_lists_and_calls_the_tools_of_a_server_at_an_address(tmp_path: Path) -> None:
    with start_server(tmp_path) as announced:
        server = StdioServerParameters(command=find_program("uraniborg"), args=["bridge", f"{announced['url']}/mcp"])
        async with stdio_client(server) as (reading, writing), ClientSession(reading, writing) as client:
            await client.initialize()
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert len(names) == 3
            reply = await client.call_tool("list_universe_commands", {"universeId": "any"})
            assert not reply.isError


def test_requests_are_answered_after_the_input_has_ended(tmp_path: Path) -> None:
    lines = [INITIALIZE, INITIALIZED, {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}]
    with start_server(tmp_path) as announced:
        done = subprocess.run(
            [find_program("uraniborg"), "bridge", f"{announced['url']}/mcp"],
            input="".join(json.dumps(line) + "\n" for line in lines),
            capture_output=True,
            text=True,
            timeout=50,
            check=True,
        )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == [1, 2]
    assert len(answers[1]["result"]["tools"]) == 3
    assert done.stderr == ""


def test_a_server_that_does_not_run_is_named_in_the_answer() -> None:
    answers = forward_messages([INITIALIZE], url="http://127.0.0.1:9/mcp")
    assert answers[0]["id"] == 1
    assert "http://127.0.0.1:9/mcp did not answer" in answers[0]["error"]["message"]


def test_a_line_that_is_not_json_is_answered_with_a_parse_error() -> None:
    assert forward_messages(["{broken"], url="http://127.0.0.1:9/mcp")[0]["error"]["code"] == -32700


def test_a_session_that_the_server_lost_is_opened_again() -> None:
    sessions: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        message = json.loads(request.content or b"{}")
        if request.method != "POST":
            return httpx.Response(405)
        if message["method"] == "initialize":
            sessions.append(f"s{len(sessions)}")
            result = {"protocolVersion": "2025-06-18"}
            return httpx.Response(
                200, json={"jsonrpc": "2.0", "id": 1, "result": result}, headers={"Mcp-Session-Id": sessions[-1]}
            )
        if request.headers["Mcp-Session-Id"] == "s0" and message["method"] == "tools/list":
            return httpx.Response(404, json={"error": "session not found"})
        assert request.headers["MCP-Protocol-Version"] == "2025-06-18"
        if "id" not in message:
            return httpx.Response(202)
        return httpx.Response(200, json={"jsonrpc": "2.0", "id": message["id"], "result": {"tools": []}})

    list_tools = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    answers = forward_messages([INITIALIZE, INITIALIZED, list_tools], transport=httpx.MockTransport(answer))
    assert answers == [
        {"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": "2025-06-18"}},
        {"jsonrpc": "2.0", "id": 2, "result": {"tools": []}},
    ]
    assert sessions == ["s0", "s1"]


def test_a_refusal_of_the_server_reaches_the_client_under_its_id() -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(403, text="foreign host"))
    (answer,) = forward_messages([{"jsonrpc": "2.0", "id": "x", "method": "ping"}], transport=transport)
    assert answer["id"] == "x"
    assert answer["error"]["message"] == "The server answered with status 403: foreign host"


def test_requests_of_the_newest_version_reach_a_server_without_sessions_with_their_headers() -> None:
    requests = [
        make_message("server/discover", id=1),
        make_message("tools/call", {"name": "say", "arguments": {"text": "a"}}, id=2),
        make_message("resources/read", {"uri": "sample://Ü%20量/text"}, id=3),
        make_message("resources/read", {"uri": "other://nowhere"}, id=4),
    ]
    transport = httpx.ASGITransport(make_stateless_app(sample_server()))
    answers = {answer["id"]: answer for answer in forward_messages(requests, transport=transport)}
    assert "2026-07-28" in answers[1]["result"]["supportedVersions"]
    assert answers[2]["result"]["content"][0]["text"] == "a"
    assert answers[3]["result"]["contents"][0]["text"] == "Ü 量"
    assert answers[4]["error"]["code"] == -32602


@pytest.mark.parametrize("url", ["", "localhost", "ftp://127.0.0.1/mcp", "http://"])
def test_something_that_is_not_an_address_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput, match="is not an address"):
        run_bridge(url, incoming=io.StringIO(), outgoing=io.StringIO())


def forward_messages(
    lines: list[Any], *, url: str = "http://127.0.0.1/mcp", transport: httpx.AsyncBaseTransport | None = None
) -> list[dict[str, Any]]:
    """Return the answers to these lines."""
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    outgoing = io.StringIO()

    async def forward_all() -> None:
        await Bridge(url, outgoing, transport).forward_messages(io.StringIO(text))

    asyncio.run(forward_all())
    return [json.loads(line) for line in outgoing.getvalue().splitlines()]
