"""A request id is free again once its answer was sent, and not before."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from tests.uraniborg.kernel.mcp.asgi_client import SESSION, TYPES, client_of
from tests.uraniborg.kernel.mcp.raw_messages import INITIALIZE, INITIALIZED, call, request
from tests.uraniborg.kernel.mcp.sample_server import sample_server
from uraniborg.kernel.mcp import Server, make_server, make_stateful_app, make_stateless_app, tool
from uraniborg.kernel.mcp.testing import serve_app

BATCHES = {"mcp-protocol-version": "2025-03-26"}
APPS: dict[str, Callable[[Server], Starlette]] = {
    "events": make_stateful_app,
    "json": lambda server: make_stateful_app(server, json_answers=True),
    "stateless": make_stateless_app,
}
apps = pytest.mark.parametrize("make_app", APPS.values(), ids=APPS)


async def ask_on_a_fresh_connection(url: str, message: Any, headers: dict[str, str]) -> str:
    """Return what came as soon as the answer is there, before the response has ended."""
    host, port = url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    body = json.dumps(message).encode()
    lines = [f"{name}: {value}" for name, value in {**TYPES, **headers, "host": host}.items()]
    head = "\r\n".join(["POST /mcp HTTP/1.1", *lines, f"content-length: {len(body)}", "", ""])
    writer.write(head.encode() + body)
    received = b""
    async with asyncio.timeout(20):
        while b'"result"' not in received and b'"error"' not in received:
            part = await reader.read(1 << 16)
            assert part
            received += part
    writer.close()
    return received.decode()


async def session_headers(url: str) -> dict[str, str]:
    async with httpx.AsyncClient(headers=TYPES) as client:
        begun = await client.post(f"{url}/mcp", json=INITIALIZE)
        headers = {SESSION: begun.headers[SESSION]} if SESSION in begun.headers else {}
        assert (await client.post(f"{url}/mcp", json=INITIALIZED, headers=headers)).status_code == 202
    return headers


@apps
async def test_forty_requests_with_the_same_id_one_after_the_other_are_all_answered(
    make_app: Callable[[Server], Starlette],
) -> None:
    async with serve_app(make_app(sample_server())) as url:
        headers = await session_headers(url)
        for number in range(40):
            answer = await ask_on_a_fresh_connection(url, call("say", {"text": f"number {number}."}), headers)
            assert f"number {number}." in answer


@apps
async def test_batches_with_the_same_ids_one_after_the_other_are_all_answered(
    make_app: Callable[[Server], Starlette],
) -> None:
    async with serve_app(make_app(sample_server())) as url:
        headers = {**await session_headers(url), **BATCHES}
        for number in range(40):
            batch = [call("say", {"text": f"number {number}."}), request("ping", id=2)]
            answer = await ask_on_a_fresh_connection(url, batch, headers)
            assert f"number {number}." in answer
            assert "id_in_use" not in answer


async def test_an_id_is_free_the_moment_its_answer_was_sent() -> None:
    async with client_of(make_stateful_app(sample_server())) as client:
        session = await client.begin()
        for number in range(40):
            sent = client.send("POST", call("say", {"text": str(number)}), session)
            assert (await sent.next())["status"] == 200
            assert (await sent.next_event())["result"]["content"][0]["text"] == str(number)


@pytest.mark.parametrize("json_answers", [False, True])
async def test_of_many_requests_with_one_id_at_once_one_is_answered_and_the_others_are_refused(
    json_answers: bool,
) -> None:
    server, going = _server_that_waits()
    async with client_of(make_stateful_app(server, json_answers=json_answers)) as client:
        session = await client.begin()
        sent = [client.send("POST", call("wait", {}), session) for _ in range(10)]
        answers = asyncio.gather(*(one.answer() for one in sent))
        await asyncio.sleep(0.05)
        going.set()
        statuses = sorted(answer.status for answer in await answers)
        assert statuses == [200] + [400] * 9
        assert (await client.post(call("wait", {}), session)).messages[-1]["result"]


async def test_the_id_of_a_call_whose_caller_has_left_is_in_use_until_the_call_has_ended() -> None:
    server, going = _server_that_waits()
    async with client_of(make_stateful_app(server)) as client:
        session = await client.begin()
        left = client.send("POST", call("wait", {}), session)
        await left.next()
        await left.leave()
        assert (await client.post(request("ping"), session)).error["code"] == "id_in_use"
        going.set()
        async with asyncio.timeout(20):
            # There is nobody to tell that the call has ended.
            while (answer := await client.post(request("ping"), session)).status != 200:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert answer.messages == [{"jsonrpc": "2.0", "id": 1, "result": {}}], "and not the answer to the first"


@pytest.mark.parametrize("accept", ["text/html", "application/xml"])
async def test_the_id_of_a_request_that_the_transport_refused_is_free(accept: str) -> None:
    async with client_of(make_stateful_app(sample_server())) as client:
        session = await client.begin()
        for _ in range(3):
            assert (await client.post(request("ping"), session, accept=accept)).status == 406
        assert (await client.post(request("ping"), session)).status == 200


def _server_that_waits() -> tuple[Server, asyncio.Event]:
    server, going = make_server("waiting", version="1", instructions=""), asyncio.Event()

    @tool(server, title="Wait", read_only=True)
    async def wait() -> str:
        """Wait until it is let go."""
        await going.wait()
        return "gone"

    return server, going
