import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from tests.forked_processes import template
from tests.uraniborg.kernel.mcp import misbehaving_server, sample_server
from uraniborg.kernel.mcp import make_stateful_app, make_stateless_app
from uraniborg.kernel.mcp.remote_server import (
    CallRefused,
    HttpServer,
    RemoteServer,
    ServerTimedOut,
    ServerUnavailable,
    StdioServer,
)
from uraniborg.kernel.mcp.testing import serve_app

SAMPLE = StdioServer(sys.executable, (str(Path(sample_server.__file__)),))
SOON = 30.0


def loaded_sample() -> StdioServer:
    """Return the sample server as a process that is forked after its imports."""
    command, *arguments = template(f"{sample_server.__name__}:main").command()
    return StdioServer(command, tuple(arguments))


def odd(how: str, **more: Any) -> StdioServer:
    return StdioServer(sys.executable, (str(Path(misbehaving_server.__file__)), how), **more)


@asynccontextmanager
async def opened(server: StdioServer | HttpServer, name: str = "odd") -> AsyncGenerator[RemoteServer]:
    connection = await RemoteServer.open(server, name=name, timeout_s=SOON)
    try:
        async with asyncio.timeout(SOON):
            yield connection
    finally:
        await connection.close()


async def test_a_process_is_started_asked_and_ended() -> None:
    async with opened(SAMPLE) as connection:
        assert connection.is_open
        assert connection.server_version == "7.8.9"
        tools: dict[Any, Any] = {tool["name"]: tool for tool in await connection.list_tools()}
        assert tools["echo"]["inputSchema"]["required"] == ["text"]
        assert tools["echo"]["annotations"]["readOnlyHint"] is True
        reply = await connection.call_tool("echo", {"text": "量", "times": 2})
        assert (reply.structured, reply.is_error) == ({"text": "量量", "nothing": None}, False)
        assert reply.content[0]["type"] == "text"
    assert not connection.is_open
    await connection.close()


@pytest.mark.parametrize("make_app", [make_stateless_app, make_stateful_app])
async def test_a_server_is_reached_over_http(make_app: Any) -> None:
    async with (
        serve_app(make_app(sample_server.sample_server())) as url,
        opened(HttpServer(f"{url}/mcp")) as connection,
    ):
        assert "say" in [tool["name"] for tool in await connection.list_tools()]
        replies = await asyncio.gather(*(connection.call_tool("say", {"text": str(number)}) for number in range(20)))
        assert [reply.content[0]["text"] for reply in replies] == [str(number) for number in range(20)]


async def test_headers_go_with_every_request_and_a_refusal_names_the_status() -> None:
    seen: list[str | None] = []

    async def refuse(request: Request) -> Response:
        seen.append(request.headers.get("x-key"))
        return PlainTextResponse("no", 401)

    async with serve_app(Starlette(routes=[Route("/mcp", refuse, methods=["POST"])])) as url:
        with pytest.raises(ServerUnavailable, match="it answered 401"):
            await RemoteServer.open(HttpServer(f"{url}/mcp", {"x-key": "k"}), timeout_s=SOON)
    assert seen == ["k"]


async def test_an_error_of_a_tool_is_a_reply_and_not_an_exception() -> None:
    async with opened(loaded_sample()) as connection:
        reply = await connection.call_tool("lose", {"paper_id": "p"})
        assert reply.is_error
        assert "There is no paper p." in str(reply.content[0]["text"])


async def test_it_may_be_opened_used_and_closed_by_different_tasks() -> None:
    connection = await asyncio.create_task(RemoteServer.open(loaded_sample(), timeout_s=SOON))
    reply = await asyncio.create_task(connection.call_tool("say", {"text": "there"}))
    assert reply.content[0]["text"] == "there"
    await asyncio.wait_for(asyncio.create_task(connection.close()), SOON)
    with pytest.raises(ServerUnavailable):
        await connection.call_tool("say", {"text": "gone"})


async def test_a_close_that_is_cancelled_leaves_nothing_behind() -> None:
    connection = await RemoteServer.open(loaded_sample(), timeout_s=SOON)
    closing = asyncio.create_task(connection.close())
    await asyncio.sleep(0)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_all_pages_of_tools_are_read_and_a_page_that_follows_itself_is_the_last() -> None:
    async with opened(odd("pages")) as connection:
        assert [tool["name"] for tool in await connection.list_tools()] == ["tool0", "tool1", "tool2"]


async def test_a_server_gets_its_environment_and_folder_and_not_our_own_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OUR_OWN", "sk-ours")
    code = "import os, sys; print(os.environ.get('GIVEN'), os.environ.get('OUR_OWN'), os.getcwd(), file=sys.stderr)"
    server = StdioServer(sys.executable, ("-c", code), {"GIVEN": "given"}, str(tmp_path))
    with pytest.raises(ServerUnavailable) as caught:
        await RemoteServer.open(server, timeout_s=SOON)
    assert f"its last output: given None {tmp_path}" in caught.value.message


async def test_a_server_that_ends_at_once_is_reported_with_its_last_output() -> None:
    with pytest.raises(ServerUnavailable) as caught:
        await RemoteServer.open(odd("dies-at-once"), name="settings", timeout_s=SOON)
    assert caught.value.code == "mcp_server_unavailable"
    assert caught.value.ids == {"server": "settings"}
    assert "MCP server 'settings' is not running" in caught.value.message
    assert caught.value.message.endswith("cannot find its settings.")
    assert len(caught.value.message) < 300


async def test_a_server_that_leaves_a_child_behind_does_not_hold_us_up() -> None:
    started = time.monotonic()
    with pytest.raises(ServerUnavailable):
        await RemoteServer.open(odd("leaves-a-child"), timeout_s=SOON)
    assert time.monotonic() - started < 20


@pytest.mark.parametrize("server", [StdioServer("no-such-command-anywhere"), odd("pages", cwd="/no/such/folder")])
async def test_a_server_that_cannot_be_started_is_reported(server: StdioServer) -> None:
    with pytest.raises(ServerUnavailable, match="does not exist"):
        await RemoteServer.open(server, timeout_s=SOON)


async def test_an_address_without_a_server_is_reported() -> None:
    with pytest.raises(ServerUnavailable, match="cannot be reached"):
        await RemoteServer.open(HttpServer("http://127.0.0.1:9/mcp"), timeout_s=SOON)


async def test_a_server_that_never_gets_ready_is_given_up_on_and_ended() -> None:
    with pytest.raises(ServerTimedOut, match=r"was not ready within 0\.5 seconds"):
        await RemoteServer.open(odd("silent"), timeout_s=0.5)


async def test_a_call_that_takes_too_long_is_given_up_on_and_the_connection_stays() -> None:
    async with opened(loaded_sample()) as connection:
        with pytest.raises(ServerTimedOut, match=r"did not answer within 0\.2 seconds"):
            await connection.call_tool("wait_forever", {}, 0.2)
        assert (await connection.call_tool("say", {"text": "here"})).content[0]["text"] == "here"


async def test_a_call_that_is_cancelled_leaves_the_connection_usable() -> None:
    async with opened(loaded_sample()) as connection:
        waiting = asyncio.create_task(connection.call_tool("wait_forever", {}))
        await asyncio.wait({waiting}, timeout=0.1)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert (await connection.call_tool("say", {"text": "here"})).content[0]["text"] == "here"


async def test_opening_that_is_cancelled_ends_the_process() -> None:
    opening = asyncio.create_task(RemoteServer.open(odd("silent"), timeout_s=SOON))
    await asyncio.wait({opening}, timeout=0.3)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []


async def test_a_server_that_dies_in_a_call_is_reported_without_its_secrets_and_is_no_longer_open() -> None:
    async with opened(odd("dies-in-a-call")) as connection:
        with pytest.raises(ServerUnavailable, match="out of memory") as caught:
            await connection.call_tool("any", {})
        assert "sk-very-secret" not in caught.value.message
        assert not connection.is_open
        with pytest.raises(ServerUnavailable):
            await connection.list_tools()


async def test_an_http_server_that_goes_away_is_reported_and_not_waited_for() -> None:
    async with serve_app(make_stateless_app(sample_server.sample_server())) as url:
        connection = await RemoteServer.open(HttpServer(f"{url}/mcp"), timeout_s=SOON)
    with pytest.raises(ServerUnavailable, match="cannot be reached"):
        await connection.call_tool("say", {"text": "x"}, SOON)
    assert not connection.is_open
    await connection.close()


async def test_a_refusal_of_the_server_carries_its_code_and_no_secret() -> None:
    async with opened(odd("refuses")) as connection:
        with pytest.raises(CallRefused, match="No such tool") as caught:
            await connection.call_tool("any", {})
        assert caught.value.ids["rpc_code"] == -32602
        assert "sk-very-secret" not in caught.value.message
        assert connection.is_open


async def test_arguments_that_are_not_json_are_refused_before_they_are_sent() -> None:
    async with opened(loaded_sample()) as connection:
        with pytest.raises(CallRefused, match="are not JSON"):
            await connection.call_tool("say", {"text": object()})
        with pytest.raises(CallRefused, match="are not JSON"):
            await connection.call_tool("say", {"text": float("nan")})
        assert connection.is_open


async def test_an_answer_that_is_none_is_the_fault_of_the_server() -> None:
    async with opened(odd("answers-nonsense")) as connection:
        with pytest.raises(ServerUnavailable, match="not a valid CallToolResult"):
            await connection.call_tool("any", {})


async def test_noise_on_both_streams_of_the_server_does_no_harm() -> None:
    async with opened(odd("noisy")) as connection:
        for _ in range(3):
            assert (await connection.call_tool("any", {})).content[0]["text"] == "still here"


def test_a_server_takes_nothing_from_our_stdin_and_puts_nothing_on_our_stdout_or_stderr() -> None:
    program = f"""
import asyncio, sys
from uraniborg.kernel.mcp.remote_server import RemoteServer, StdioServer
async def main():
    server = await RemoteServer.open(StdioServer({sys.executable!r}, ({misbehaving_server.__file__!r}, "noisy")))
    await server.call_tool("any", {{}})
    await server.close()
asyncio.run(main())
print(sys.stdin.readline().strip())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], input="ours\n", capture_output=True, text=True, timeout=50, check=True
    )
    assert (done.stdout, done.stderr) == ("ours\n", "")
