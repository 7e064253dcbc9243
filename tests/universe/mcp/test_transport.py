"""The MCP endpoint over HTTP: methods, addresses, headers, versions, sizes and access."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import AnyUrl
from starlette.routing import Mount

from tests.requirements import requirement
from tests.universe.mcp.agents import TOOLS, agent, read_state, send_command
from tests.universe.mcp.processes import start_server
from tests.universe.mcp.served_universes import SOON_S, Served, run_server, wait_briefly
from tests.universe.mcp.wire import (
    INITIALIZED,
    NEWEST,
    SESSION,
    VERSIONS,
    Wire,
    call,
    initialize,
    message_in,
    refusal_in,
    request,
)
from universe.api.app import PAGES, make_app
from universe.config import UniverseConfig
from universe.store.memory import MemoryStore
from uraniborg.kernel.mcp.testing import serve_app

METHODS = ("POST", "GET", "DELETE")


@requirement("UN-17", "UN-20", "UN-21")
@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
async def test_initialize_is_answered_with_a_session_at_either_spelling(wire: Wire, path: str) -> None:
    requests = initialize()
    begun = await wire.send("POST", requests, path=path)
    assert begun.status_code == 200
    assert begun.headers[SESSION].strip()
    message = message_in(begun)
    assert (message["jsonrpc"], message["id"]) == ("2.0", requests["id"])
    assert message["result"]["serverInfo"]["name"] == "universe"
    assert message["result"]["instructions"].strip()


@requirement("UN-17")
@pytest.mark.parametrize(
    "path",
    ["/", "/MCP", "/mcp/mcp", "/mcp/messages", "/sse", "/messages", "/universes/mcp", "/universes", "/health", "/docs"],
)
async def test_no_other_address_serves_mcp(wire: Wire, path: str) -> None:
    refused = await wire.send("POST", initialize(), path=path)
    assert refused.status_code in (400, 404, 405)
    assert SESSION not in refused.headers
    assert "protocolVersion" not in refused.text
    session = await wire.begin()
    opened = await wire.send("GET", session=session.id, path="/universes" if path == "/" else path)
    assert not opened.headers.get("content-type", "").startswith("text/event-stream")


def addresses_of(app: Any, prefix: str = "") -> set[str]:
    """Return the path of every route of an app and of all apps inside, below their mounts."""
    found: set[str] = set()
    while not hasattr(app, "routes") and (inner := getattr(app, "app", getattr(app, "_app", None))):
        app = inner
    for route in getattr(app, "routes", ()):
        path = f"{prefix}{route.path}"
        if isinstance(route, Mount):
            found |= addresses_of(route.app, path) or {path}
        else:
            found.add(path)
    return found


@requirement("UN-17")
async def test_every_address_but_one_is_documented_or_a_page_and_does_not_serve_mcp() -> None:
    app = make_app(UniverseConfig(), MemoryStore())
    async with serve_app(app) as url, httpx.AsyncClient(base_url=url, timeout=SOON_S) as http:
        documented = (await http.get("/openapi.json")).json()["paths"].keys()
        assert addresses_of(app) == {"/mcp", "/mcp/", "/openapi.json", *documented, *PAGES}
        for path in addresses_of(app) - {"/mcp", "/mcp/"}:
            refused = await Wire(http).send("POST", initialize(), path=path)
            assert refused.status_code in (400, 404, 405), path
            assert SESSION not in refused.headers, path


@requirement("UN-17")
async def test_one_address_accepts_requests_and_streams_events(wire: Wire, universe_server: Served, u: str) -> None:
    session = await wire.begin()
    await session.ask("resources/subscribe", {"uri": f"universe://universes/{u}"})
    async with session.open_listener() as stream:
        assert str(stream.response.url) == f"{universe_server.url}/mcp"
        requests = call("send_universe_command", universeId=u, command={"type": "tick"})
        response = await session.post(requests)
        assert response.headers["content-type"].split(";")[0] in ("application/json", "text/event-stream")
        assert message_in(response)["id"] == requests["id"], "an answer comes with its request"
        event = await stream.next()
        assert event.data["method"] == "notifications/resources/updated", "and not in the stream"
        assert "id" not in event.data


@requirement("UN-17")
async def test_the_official_streamable_http_client_calls_and_is_notified(universe_server: Served, u: str) -> None:
    updated: asyncio.Queue[str] = asyncio.Queue()
    async with agent(universe_server.mcp, on_updated=updated.put_nowait) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
        await client.subscribe_resource(AnyUrl(f"universe://universes/{u}"))
        await send_command(client, u, {"type": "tick"})
        assert await wait_briefly(updated.get()) == f"universe://universes/{u}"


@requirement("UN-17")
async def test_tools_prompts_and_subscribable_resources_are_offered_and_nothing_else(wire: Wire) -> None:
    offered = message_in(await wire.post(initialize()))["result"]["capabilities"]
    assert offered.keys() == {"tools", "resources", "prompts", "completions"}
    assert offered["resources"]["subscribe"] is True


@requirement("UN-18")
async def test_a_call_in_a_session_is_answered(wire: Wire, u: str) -> None:
    session = await wire.begin()
    requests = call("get_universe_state", universeId=u)
    response = await session.post(requests)
    assert response.status_code == 200
    answer = message_in(response)
    assert answer["id"] == requests["id"]
    assert json.loads(answer["result"]["content"][0]["text"])["stars"].keys() == {"sun", "earth", "moon"}


@requirement("UN-18")
async def test_a_get_in_a_session_opens_a_stream(wire: Wire) -> None:
    session = await wire.begin()
    async with session.open_listener() as stream:
        assert stream.response.status_code == 200
        assert stream.response.headers["content-type"].startswith("text/event-stream")


@requirement("UN-18", "UN-22")
async def test_a_delete_in_a_session_ends_it(wire: Wire) -> None:
    session = await wire.begin()
    ended = await session.end()
    assert ended.is_success
    assert (await session.post(request("ping"))).status_code == 404


@requirement("UN-18")
@pytest.mark.parametrize("method", ["PUT", "PATCH", "HEAD", "OPTIONS", "TRACE"])
async def test_no_other_method_is_taken(wire: Wire, method: str) -> None:
    response = await wire.send(method)
    assert response.status_code == 405
    assert {allowed.strip() for allowed in response.headers["allow"].split(",")} == set(METHODS)


@requirement("UN-20")
async def test_the_session_is_named_on_every_answer_that_belongs_to_it(wire: Wire) -> None:
    session = await wire.begin()
    answers = [
        await session.post(request("ping")),
        await session.post(request("tools/list")),
        await session.post(call("get_universe_state", universeId="u-missing")),
        await session.post(request("no/such/method")),
        await session.post(INITIALIZED),
    ]
    assert [answer.headers.get(SESSION) for answer in answers] == [session.id] * 5
    async with session.open_listener() as stream:
        assert stream.response.headers[SESSION] == session.id


@requirement("UN-18")
async def test_a_message_that_needs_no_answer_gets_an_empty_one(wire: Wire) -> None:
    session = await wire.begin()
    response = await session.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}})
    assert (response.status_code, response.content) == (202, b"")


# Versions of the protocol


@requirement("UN-17")
@pytest.mark.parametrize("version", VERSIONS)
async def test_a_version_that_both_know_is_used(wire: Wire, u: str, version: str) -> None:
    session = await wire.begin(version, mcp_protocol_version=version)
    assert not (await session.call("get_universe_state", universeId=u)).get("isError")


@requirement("UN-17")
@pytest.mark.parametrize("version", ["2099-01-01", "1.0", ""])
async def test_a_client_that_requests_an_unknown_version_is_offered_the_newest(wire: Wire, version: str) -> None:
    assert message_in(await wire.post(initialize(version)))["result"]["protocolVersion"] == NEWEST


@requirement("UN-17")
@pytest.mark.parametrize("method", METHODS)
async def test_an_unknown_version_in_the_header_is_refused_with_those_there_are(wire: Wire, method: str) -> None:
    session = await wire.begin()
    response = await wire.send(method, request("ping"), session.id, mcp_protocol_version="1999-01-01")
    assert response.status_code == 400
    assert set(VERSIONS) <= set(refusal_in(response)["allowed"])
    assert (await session.post(request("ping"))).status_code == 200


# Who may call


@requirement("UN-17")
@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://localhost.evil.example", "http://127.0.0.1:80@evil.example"]
)
async def test_a_foreign_origin_is_refused_by_every_method(wire: Wire, origin: str) -> None:
    session = await wire.begin()
    for method in METHODS:
        refused = await wire.send(method, initialize() if method == "POST" else None, session.id, origin=origin)
        assert (refused.status_code, refusal_in(refused)["code"]) == (403, "origin_not_allowed"), method
    assert (await session.post(request("ping"))).status_code == 200


@requirement("UN-17")
@pytest.mark.parametrize("origin", ["http://localhost:5173", "http://127.0.0.1", "https://[::1]:8443"])
async def test_pages_of_this_machine_may_call_and_read_the_session(wire: Wire, origin: str) -> None:
    begun = await wire.post(initialize(), origin=origin)
    assert begun.status_code == 200
    assert begun.headers["access-control-allow-origin"] in (origin, "*")
    assert SESSION in begun.headers["access-control-expose-headers"].lower()


@requirement("UN-17")
async def test_a_browser_that_asks_first_is_let_through(wire: Wire) -> None:
    requests = {"origin": "http://localhost:5173", "access-control-request-method": "DELETE"}
    wanted = "content-type, mcp-session-id, mcp-protocol-version, last-event-id"
    requests["access-control-request-headers"] = wanted
    response = await wire.http.options("/mcp", headers=requests)
    assert response.status_code == 200
    assert "DELETE" in response.headers["access-control-allow-methods"]


@requirement("UN-17")
@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example:80", ""])
async def test_a_foreign_host_is_refused_by_every_method(wire: Wire, host: str) -> None:
    for method in METHODS:
        refused = await wire.send(method, initialize() if method == "POST" else None, host=host)
        assert (refused.status_code, refusal_in(refused)["code"]) == (421, "host_not_allowed"), method


@requirement("UN-17")
async def test_settings_let_others_in_and_ask_them_for_a_token() -> None:
    settings: dict[str, Any] = {
        "allow_origins": ["https://app.example"],
        "allow_hosts": ["sky.example"],
        "token": "sesame",
    }
    async with run_server(**settings) as server:
        wire = Wire(server.http)
        friend = {"origin": "https://app.example", "host": "sky.example"}
        assert refusal_in(await wire.post(initialize(), **friend))["code"] == "not_authorized"
        assert (await wire.post(initialize(), **friend, authorization="Bearer simsim")).status_code == 401
        assert (await wire.post(initialize(), **friend, authorization="Bearer sesame")).status_code == 200
        assert (await wire.post(initialize(), origin="https://other.example")).status_code == 403
        assert (await server.http.get("/health")).status_code == 200


# What is sent


@requirement("UN-17")
async def test_a_body_beyond_the_limit_is_refused_whether_or_not_its_length_is_declared() -> None:
    async with run_server(body_limit=1_000) as server:
        wire = Wire(server.http)
        session = await wire.begin()
        reply = await session.post(request("ping", {"padding": "x" * 1_000}))

        async def parts() -> AsyncIterator[bytes]:
            for _ in range(3):
                yield b" " * 500

        headers = {"content-type": "application/json", SESSION: session.id}
        untold = await server.http.post("/mcp", content=parts(), headers=headers)
        for refused in (reply, untold):
            assert (refused.status_code, refusal_in(refused)["code"]) == (413, "body_too_large")
        assert (await session.post(request("ping"))).status_code == 200


@requirement("UN-17")
@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", ""])
async def test_a_body_without_a_json_content_type_is_refused(wire: Wire, content_type: str) -> None:
    session = await wire.begin()
    response = await session.post(request("ping"), content_type=content_type)
    assert response.status_code in (400, 415)
    assert refusal_in(response)["code"] == "unsupported_media_type"


@requirement("UN-17")
@pytest.mark.parametrize(
    "accept", ["*/*", "application/json, text/event-stream", "text/event-stream, application/json"]
)
async def test_a_client_that_accepts_both_kinds_of_answer_gets_one(wire: Wire, accept: str) -> None:
    assert (await wire.post(initialize(), accept=accept)).status_code == 200


@requirement("UN-17")
async def test_a_client_that_accepts_no_kind_of_answer_is_answered_with_the_available_kinds(wire: Wire) -> None:
    refused = await wire.post(initialize(), accept="text/html")
    assert refused.status_code == 406
    assert refusal_in(refused)["code"] == "not_acceptable"


# The server as people start it


@requirement("UN-17", "UN-18", "UN-24")
async def test_the_command_serves_mcp_and_rest_and_stores_their_changes(tmp_path: Path) -> None:
    with start_server(tmp_path) as announced:
        assert announced["mcp"] == f"{announced['url']}/mcp"
        async with httpx.AsyncClient(base_url=announced["url"], timeout=20) as http, agent(announced["mcp"]) as client:
            assert (await http.post("/universes", json={"name": "Hven", "id": "u-1"})).status_code == 201
            assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
            assert (await send_command(client, "u-1", {"type": "tick"}))["version"] == 1
    with start_server(tmp_path) as announced:
        async with agent(announced["mcp"]) as client:
            assert (await read_state(client, "u-1"))["time"] == 1
            assert (await send_command(client, "u-1", {"type": "tick"}))["version"] == 2
