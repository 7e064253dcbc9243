import asyncio
import json
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from tests.uraniborg.kernel.mcp.raw_messages import INITIALIZE, INITIALIZED, call, request
from tests.uraniborg.kernel.mcp.sample_server import sample_server
from uraniborg.kernel.mcp import LOOPBACK, make_stateful_app, make_stateless_app
from uraniborg.kernel.mcp.testing import connect_http_client, get_json, get_text, serve_app

ORIGIN = "http://localhost:5173"
SESSION = "mcp-session-id"


@asynccontextmanager
async def client_of(app: Starlette) -> AsyncGenerator[httpx.AsyncClient]:
    async with serve_app(app) as url, httpx.AsyncClient(base_url=url, timeout=20) as client:
        yield client


def error_in(response: httpx.Response) -> dict[str, Any]:
    assert response.headers["content-type"] == "application/json"
    assert response.json().keys() == {"error"}
    assert SESSION not in response.headers
    return response.json()["error"]


async def start_session(client: httpx.AsyncClient, **headers: str) -> str:
    response = await client.post("/mcp", json=INITIALIZE, headers=headers)
    assert response.status_code == 200
    session = response.headers[SESSION]
    accepted = await client.post("/mcp", json=INITIALIZED, headers={SESSION: session})
    assert accepted.status_code == 202
    return session


@pytest.mark.parametrize("make_app", [make_stateless_app, make_stateful_app])
async def test_the_official_client_can_do_everything_over_http(make_app: Any) -> None:
    async with (
        serve_app(make_app(sample_server())) as url,
        connect_http_client(f"{url}/mcp") as client,
        asyncio.timeout(40),
    ):
        assert get_json(await client.call_tool("echo", {"text": "量", "times": 2}))["text"] == "量量"
        assert (await client.call_tool("lose", {"paper_id": "x"})).isError
        texts = [str(number) for number in range(20)]
        results = await asyncio.gather(*(client.call_tool("say", {"text": text}) for text in texts))
        assert [get_text(result) for result in results] == texts
        assert len(get_text(await client.call_tool("large", {"size": 2_000_000}))) > 2_000_000
        assert len((await client.list_resource_templates()).resourceTemplates) == 4


async def test_sessions_refuse_an_unknown_version_on_initialize_too() -> None:
    async with client_of(make_stateful_app(sample_server())) as client:
        response = await client.post("/mcp", json=INITIALIZE, headers={"mcp-protocol-version": "1999-01-01"})
    assert response.status_code == 400
    assert error_in(response)["code"] == "unsupported_protocol_version"


@pytest.mark.parametrize("make_app", [make_stateless_app, make_stateful_app])
async def test_origins_are_checked_before_anything_else(make_app: Any) -> None:
    async with client_of(make_app(sample_server(), origins=[ORIGIN])) as client:
        refused = await client.post("/mcp", content=b"no json", headers={"origin": "http://evil.example", SESSION: "x"})
        allowed = await client.post("/mcp", json=INITIALIZE, headers={"origin": ORIGIN})
    assert refused.status_code == 403
    assert error_in(refused)["code"] == "origin_not_allowed"
    assert allowed.status_code == 200


@pytest.mark.parametrize(
    ("content", "headers", "status", "code"),
    [
        (b"{", {}, 400, "invalid_json"),
        (b"[]", {}, 400, "invalid_request"),
        (json.dumps([request("ping")]).encode(), {}, 400, "invalid_request"),
        (b'{"sk-secret": 1}', {}, 400, "invalid_request"),
        (b"{}", {"content-type": "text/plain"}, 415, "unsupported_media_type"),
        (b"{}", {"accept": "text/html"}, 406, "not_acceptable"),
        (b" " * 2_001, {}, 413, "body_too_large"),
    ],
)
async def test_refusals_of_the_transport_have_our_shape(
    content: bytes, headers: dict[str, str], status: int, code: str
) -> None:
    async with client_of(make_stateful_app(sample_server(), body_limit=2_000)) as client:
        response = await client.post("/mcp", content=content, headers={"content-type": "application/json", **headers})
    assert response.status_code == status
    assert error_in(response)["code"] == code
    assert "sk-secret" not in response.text


@pytest.mark.parametrize("make_app", [make_stateless_app, make_stateful_app])
async def test_both_spellings_of_the_path_work_without_a_redirect(make_app: Any) -> None:
    async with client_of(make_app(sample_server(), path="/tools")) as client:
        for path in ("/tools", "/tools/"):
            assert (await client.post(path, json=INITIALIZE)).status_code == 200
        assert (await client.post("/mcp", json=INITIALIZE)).status_code == 404


async def test_every_initialize_starts_a_session_of_its_own() -> None:
    async with client_of(make_stateful_app(sample_server())) as client:
        first = await start_session(client)
        second = await start_session(client)
        third = await start_session(client, **{SESSION: "long-expired"})
        fourth = await start_session(client, **{SESSION: first})
    assert len({first, second, third, fourth, "long-expired"}) == 5


async def test_a_deleted_session_is_gone_and_a_new_one_can_follow() -> None:
    async with client_of(make_stateful_app(sample_server())) as client:
        session = await start_session(client)
        assert (await client.delete("/mcp", headers={SESSION: session})).status_code == 200
        for method in ("GET", "DELETE"):
            gone = await client.request(method, "/mcp", headers={SESSION: session, "accept": "text/event-stream"})
            assert gone.status_code == 404
            assert error_in(gone)["code"] == "session_not_found"
        gone = await client.post("/mcp", json=request("tools/list"), headers={SESSION: session})
        assert gone.status_code == 404
        assert await start_session(client, **{SESSION: session}) != session


async def test_requests_that_need_a_session_say_so() -> None:
    async with client_of(make_stateful_app(sample_server())) as client:
        response = await client.post("/mcp", json=request("tools/list"))
    assert response.status_code == 400
    assert error_in(response)["code"] == "session_required"


async def test_a_session_ends_when_nobody_uses_it() -> None:
    async with client_of(make_stateful_app(sample_server(), idle_seconds=0.01)) as client, asyncio.timeout(20):
        session = (await client.post("/mcp", json=INITIALIZE)).headers[SESSION]
        ping = request("ping")
        # The server does not announce that a session has expired, so poll for it.
        while (await client.post("/mcp", json=ping, headers={SESSION: session})).status_code != 404:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        again = await client.post("/mcp", json=INITIALIZE, headers={SESSION: session})
    assert again.status_code == 200
    assert again.headers[SESSION] != session


async def test_there_are_no_more_sessions_than_allowed() -> None:
    async with client_of(make_stateful_app(sample_server(), max_sessions=1)) as client:
        session = await start_session(client)
        async with client.stream("GET", "/mcp", headers={SESSION: session, "accept": "text/event-stream"}):
            refused = await client.post("/mcp", json=INITIALIZE)
            assert refused.status_code == 503
            assert error_in(refused)["code"] == "too_many_sessions"
            await client.delete("/mcp", headers={SESSION: session})
        second = await start_session(client)
        await start_session(client)
        gone = await client.post("/mcp", json=request("ping"), headers={SESSION: second})
        assert (gone.status_code, error_in(gone)["code"]) == (404, "session_not_found")


async def test_a_session_has_one_event_stream_and_ends_without_complaint(caplog: pytest.LogCaptureFixture) -> None:
    async with client_of(make_stateful_app(sample_server())) as client:
        session = await start_session(client)
        headers = {SESSION: session, "accept": "text/event-stream"}
        async with client.stream("GET", "/mcp", headers=headers) as stream:
            assert stream.status_code == 200
            assert stream.headers["content-type"].startswith("text/event-stream")
            second = await client.get("/mcp", headers=headers)
            assert (second.status_code, error_in(second)["code"]) == (409, "stream_already_open")
            assert (await client.delete("/mcp", headers={SESSION: session})).status_code == 200
            assert [line async for line in stream.aiter_lines() if line.startswith("data")] == []
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


async def test_answers_of_a_session_stream_progress_or_are_json() -> None:
    working = call("work", {"steps": 2}, _meta={"progressToken": 1})
    async with client_of(make_stateful_app(sample_server())) as client:
        streamed = await client.post("/mcp", json=working, headers={SESSION: await start_session(client)})
    async with client_of(make_stateful_app(sample_server(), json_answers=True)) as client:
        plain = await client.post("/mcp", json=working, headers={SESSION: await start_session(client)})
    assert streamed.text.count("notifications/progress") == 2
    assert plain.json()["result"]["content"][0]["text"] == "done"


async def hello(_request: Request) -> Response:
    return PlainTextResponse("hello")


@pytest.mark.parametrize("make_app", [make_stateless_app, make_stateful_app])
async def test_other_routes_and_their_lifespan_live_beside_it(make_app: Any) -> None:
    events: list[str] = []

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncGenerator[None]:
        events.append("up")
        yield
        events.append("down")

    app = make_app(sample_server(), routes=[Route("/hello", hello)], lifespan=lifespan)
    async with client_of(app) as client:
        assert (await client.get("/hello", headers={"origin": "http://anywhere.example"})).text == "hello"
        assert (await client.post("/mcp", json=INITIALIZE)).status_code == 200
        assert events == ["up"]
    assert events == ["up", "down"]


async def test_it_can_be_joined_to_an_app_made_elsewhere() -> None:
    endpoint = make_stateful_app(sample_server())

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncGenerator[None]:
        async with endpoint.router.lifespan_context(endpoint):
            yield

    host = Starlette(routes=[Route("/hello", hello), *endpoint.routes], lifespan=lifespan)
    async with client_of(host) as client:
        await start_session(client)
        assert (await client.get("/hello")).text == "hello"


async def test_an_app_can_be_started_again() -> None:
    app = make_stateless_app(sample_server())
    for _ in range(2):
        async with client_of(app) as client:
            assert (await client.post("/mcp", json=INITIALIZE)).status_code == 200


async def test_an_app_with_sessions_whose_lifespan_never_ran_says_so_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    transport = httpx.ASGITransport(make_stateful_app(sample_server()))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        response = await client.post("/mcp", json=INITIALIZE)
    assert response.status_code == 500
    assert error_in(response)["code"] == "internal_error"
    assert "lifespan" in caplog.text


async def test_an_app_without_sessions_needs_no_lifespan() -> None:
    transport = httpx.ASGITransport(make_stateless_app(sample_server()))
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        assert (await client.post("/mcp", json=INITIALIZE)).status_code == 200


@pytest.mark.parametrize("make_app", [make_stateless_app, make_stateful_app])
async def test_any_loopback_origin_and_host_can_be_allowed_at_once(make_app: Any) -> None:
    async with client_of(make_app(sample_server(), origins=[LOOPBACK], hosts=[LOOPBACK])) as client:
        answers = [
            (await client.post("/mcp", json=INITIALIZE, headers=headers)).status_code
            for headers in (
                {"origin": "http://localhost:3000"},
                {"origin": "http://localhost:9.evil.example"},
                {"host": "localhost:3000"},
                {"host": "evil.example"},
            )
        ]
    assert answers == [200, 403, 200, 421]
