"""MCP beside REST: the routes are unchanged, and the streams are separate."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, cast

import httpx
from starlette.applications import Starlette
from starlette.routing import Mount

from tests.requirements import requirement
from tests.universe.domain.samples import add_star, command
from tests.universe.mcp.agents import agent, send_command
from tests.universe.mcp.served_universes import SOON_S, Served, run_server
from tests.universe.mcp.stream_listener import Event, Listener, open_command_stream
from tests.universe.mcp.wire import Session, Wire, request
from universe.api.event_stream import EventStreams
from universe.api.rest import make_rest_app
from universe.service.jobs.job_service import JobService
from universe.service.state_views import BodyPositions
from universe.service.universes import UniverseService
from universe.store.memory import MemoryStore
from uraniborg.kernel.http.secure_app import add_error_handlers
from uraniborg.kernel.mcp.testing import serve_app

TICK = command("tick")
UPDATED = "notifications/resources/updated"


def uri_of(universe_id: str) -> str:
    return f"universe://universes/{universe_id}"


async def subscribed(wire: Wire, *universe_ids: str) -> Session:
    session = await wire.begin()
    for universe_id in universe_ids:
        assert (await session.ask("resources/subscribe", {"uri": uri_of(universe_id)}))["result"] == {}
    return session


async def updates(stream: Listener, last: str) -> list[Event]:
    """Return the events of an MCP stream up to the one about the last universe. All must be update notifications."""
    events = await stream.until(lambda event: event.data.get("params", {}).get("uri") == uri_of(last))
    for event in events:
        assert event.data.keys() == {"jsonrpc", "method", "params"}
        assert event.data["method"] == UPDATED
    return events


def assert_commands(events: list[Event], versions: range) -> None:
    """Assert that these events are exactly the commands of these versions."""
    assert [event.id for event in events] == [str(version) for version in versions]
    for event in events:
        assert event.name == "command"
        assert event.data.keys() == {"version", "command", "events"}


# The routes


async def rest_tour(http: httpx.AsyncClient, universe_id: str) -> list[tuple[str, int, Any, Any]]:
    """Every route a client of REST used before there was MCP, and all it answered, apart from times."""
    here = f"/universes/{universe_id}"
    requests: list[tuple[str, str, Any]] = [
        ("POST", "/universes", {"name": "Hven", "id": universe_id}),
        ("POST", "/universes", {"name": "Hven", "id": universe_id}),
        ("POST", "/universes", {"name": ""}),
        ("GET", "/health", None),
        ("GET", "/universes?limit=1", None),
        ("GET", here, None),
        ("POST", f"{here}/commands", add_star("sun")),
        ("POST", f"{here}/commands", [add_star("earth", "sun"), TICK]),
        ("POST", f"{here}/commands?return=changes", TICK),
        ("POST", f"{here}/commands?return=events", TICK),
        ("POST", f"{here}/commands", command("removeStar", id="none")),
        ("POST", f"{here}/commands", {}),
        ("POST", f"{here}/commands?expectedVersion=1", TICK),
        ("PUT", here, {"name": "Uraniborg"}),
        ("GET", f"{here}/history", None),
        ("GET", f"{here}/positions", None),
        ("POST", f"{here}/undo", None),
        ("POST", f"{here}/restore", {"version": 1}),
        ("GET", f"{here}?version=2", None),
        ("GET", "/universes/u-missing", None),
        ("POST", "/universes/u-missing/commands", TICK),
        ("PATCH", here, {}),
        ("GET", "/openapi.json", None),
    ]
    seen: list[tuple[str, int, Any, Any]] = []
    for method, path, body in requests:
        printed = await http.request(method, path, json=body)
        headers = {name: printed.headers.get(name) for name in ("content-type", "etag", "location", "allow")}
        seen.append((f"{method} {path}", printed.status_code, headers, _timeless(printed.json())))
    async with open_command_stream(http, universe_id, last_event_id="2") as stream:
        streamed = await stream.take(5)
        assert (await http.delete(here)).status_code == 204
        streamed += await stream.rest()
    seen.append(("the command stream", 200, stream.response.headers["content-type"], streamed))
    seen.append(("gone", (await http.get(here)).status_code, None, None))
    return seen


def _timeless(value: Any) -> Any:
    """Return the same JSON without times and without values that other clients influence."""
    if isinstance(value, list):
        return [_timeless(one) for one in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    volatile = ("createdAt", "updatedAt", "at", "uptime", "listeners", "known", "next", "nearest", "request_id")
    return {key: _timeless(one) for key, one in cast("dict[str, Any]", value).items() if key not in volatile}


@asynccontextmanager
async def rest_alone() -> AsyncGenerator[httpx.AsyncClient]:
    """REST as it is served without MCP."""
    service = UniverseService(MemoryStore())
    streams, jobs = EventStreams(service, heartbeat_s=15, stall_s=30), JobService(service)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncGenerator[None]:
        async with service.running(), jobs.running():
            yield

    api = make_rest_app(service, streams, BodyPositions(), jobs, body_limit=10_000_000, heartbeat_s=15, stall_s=30)
    app = Starlette(routes=[Mount("/", api)], lifespan=lifespan)
    add_error_handlers(app)
    async with serve_app(app) as url, httpx.AsyncClient(base_url=url, timeout=SOON_S) as http:
        yield http


@requirement("UN-24")
async def test_rest_and_its_stream_answer_the_same_without_mcp_beside_it_and_after_it(u: str) -> None:
    async with rest_alone() as http:
        alone = await rest_tour(http, "tour")
    async with run_server() as server:
        wire = Wire(server.http)
        before = await rest_tour(server.http, "tour")
        session = await wire.begin()
        async with session.open_listener(), agent(server.mcp):
            beside = await rest_tour(server.http, "tour")
        await session.end()
        after = await rest_tour(server.http, "tour")
    for with_mcp in (before, beside, after):
        for one, other in zip(alone, with_mcp, strict=True):
            assert one == other
    assert [status for _, status, _, _ in alone[:12]] == [201, 409, 400, 200, 200, 200, 200, 200, 200, 200, 422, 400]
    answers = {requests: body for requests, _, _, body in before}
    assert answers["GET /health"] == {"ok": True}
    actors = {"createdBy": {"kind": "software", "name": "", "authenticated": "none"}, "renamedBy": None}
    assert answers["GET /universes?limit=1"] == {"universes": [{"id": "tour", "name": "Hven", "version": 0, **actors}]}
    assert answers["GET /universes/tour"].keys() == {"id", "name", "state", "version", *actors}
    changed = ["POST /universes/tour/commands"] * 2 + ["POST /universes/tour/undo", "POST /universes/tour/restore"]
    replies = [(requests, body.keys()) for requests, status, _, body in before if requests in changed and status == 200]
    assert replies == [(requests, {"nextState", "events", "version"}) for requests in changed]
    assert answers["POST /universes/tour/commands?return=events"] == {"events": [], "version": 5}
    assert [event.name for event in alone[-2][3]][-1] == "deleted"


@requirement("UN-24")
async def test_health_universes_and_commands_answer_as_ever(universe_server: Served, wire: Wire, u: str) -> None:
    async with (await wire.begin()).open_listener():
        health = (await universe_server.http.get("/health")).json()
        listed = (await universe_server.http.get("/universes")).json()
        done = await universe_server.send(u, TICK)
    assert health["ok"] is True
    assert isinstance(health["uptime"], int)
    assert u in {record["id"] for record in listed["universes"]}
    assert all("state" not in record for record in listed["universes"])
    assert done.keys() == {"nextState", "events", "version"}


@requirement("UN-24")
async def test_rest_answers_with_the_whole_state_by_default_where_mcp_answers_with_the_changes(
    universe_server: Served, u: str
) -> None:
    await universe_server.send(u, [add_star(f"star-{number}") for number in range(50)])
    here = f"/universes/{u}"
    async with agent(universe_server.mcp) as client:
        assert "nextState" not in await send_command(client, u, TICK)
    for path, body in (("commands", TICK), ("commands", [TICK, TICK]), ("undo", None), ("restore", {"version": 2})):
        reply = (await universe_server.http.post(f"{here}/{path}", json=body)).json()
        record = await universe_server.read_record(u)
        assert reply.keys() == {"nextState", "events", "version"}, path
        assert (reply["nextState"], reply["version"]) == (record["state"], record["version"]), path


@requirement("UN-24")
async def test_a_universe_may_be_called_like_the_endpoint(universe_server: Served, wire: Wire) -> None:
    await universe_server.make("mcp", add_star("sun"))
    session = await wire.begin()
    assert not (await session.call("send_universe_command", universeId="mcp", command=TICK)).get("isError")
    assert (await universe_server.read_record("mcp"))["version"] == 2
    await universe_server.delete("mcp")


@requirement("UN-24")
async def test_the_addresses_of_rest_know_nothing_of_sessions(universe_server: Served, wire: Wire, u: str) -> None:
    session = await wire.begin()
    for path in ("/health", "/universes", f"/universes/{u}"):
        printed = await universe_server.http.get(path, headers={"mcp-session-id": session.id})
        assert printed.status_code == 200
        assert "mcp-session-id" not in printed.headers


# Both streams at once


@requirement("UN-25", "UN-24")
async def test_both_streams_carry_their_own_messages_and_none_of_the_other(
    universe_server: Served, wire: Wire, u: str
) -> None:
    await universe_server.make(f"{u}-other")
    session = await subscribed(wire, u, f"{u}-other")
    async with (
        session.open_listener() as mcp,
        open_command_stream(universe_server.http, u) as rest,
        agent(universe_server.mcp) as client,
    ):
        await universe_server.send(u, TICK)
        await send_command(client, u, add_star("mars", "sun"))
        await session.call("send_universe_command", universeId=u, command=command("removeStar", id="mars"))
        await session.ask("tools/list")
        await universe_server.send(f"{u}-other", TICK)
        await universe_server.send(u, TICK)
        received = await updates(mcp, f"{u}-other")
        collected = await rest.take(4)
    assert {event.data["params"]["uri"] for event in received} == {uri_of(u), uri_of(f"{u}-other")}
    assert_commands(collected, range(4, 8))
    assert [event.data["command"]["type"] for event in collected] == ["tick", "addStar", "removeStar", "tick"]


@requirement("UN-25")
async def test_the_command_stream_continues_when_the_mcp_stream_is_closed_or_its_session_ends(
    universe_server: Served, wire: Wire, u: str
) -> None:
    session = await subscribed(wire, u)
    async with open_command_stream(universe_server.http, u) as rest:
        async with session.open_listener() as mcp:
            await universe_server.send(u, TICK)
            await updates(mcp, u)
        await universe_server.send(u, TICK)
        async with session.listening_again() as mcp:
            await updates(mcp, u)
            await session.end()
            assert await mcp.rest() == []
        await universe_server.send(u, TICK)
        assert_commands(await rest.take(3), range(4, 7))


@requirement("UN-25")
async def test_the_mcp_stream_continues_when_the_command_stream_is_closed(
    universe_server: Served, wire: Wire, u: str
) -> None:
    session = await subscribed(wire, u)
    async with session.open_listener() as mcp:
        async with open_command_stream(universe_server.http, u) as rest:
            await universe_server.send(u, TICK)
            assert_commands(await rest.take(1), range(4, 5))
            await updates(mcp, u)
        await universe_server.send(u, TICK)
        await updates(mcp, u)
        assert (await session.ask("ping"))["result"] == {}


@requirement("UN-25")
async def test_a_universe_deleted_under_both_streams_ends_the_one_that_was_about_it(
    universe_server: Served, wire: Wire, u: str
) -> None:
    await universe_server.make(f"{u}-other")
    session = await subscribed(wire, u, f"{u}-other")
    async with session.open_listener() as mcp, open_command_stream(universe_server.http, u) as rest:
        await universe_server.send(u, TICK)
        await universe_server.delete(u)
        events = await rest.rest()
        await universe_server.send(f"{u}-other", TICK)
        await updates(mcp, f"{u}-other")
    assert [event.name for event in events] == ["command", "deleted"]


@requirement("UN-25")
async def test_an_mcp_stream_carries_no_commands_and_the_command_stream_carries_no_mcp(
    universe_server: Served, wire: Wire, u: str
) -> None:
    session = await wire.begin()
    async with (
        session.open_listener() as mcp,
        open_command_stream(universe_server.http, u, mcp_session_id=session.id) as rest,
    ):
        assert (await wire.send("GET", session=session.id)).status_code == 409
        await universe_server.send(u, TICK)
        assert_commands(await rest.take(1), range(4, 5))
        assert (await universe_server.http.post(f"/universes/{u}/events", json=request("ping"))).status_code == 405
        await session.end()
        assert await mcp.rest() == [], "a client without a subscription receives nothing"


@requirement("UN-25")
async def test_missed_messages_are_replayed_only_to_their_stream(universe_server: Served, wire: Wire, u: str) -> None:
    session = await subscribed(wire, u)
    async with session.open_listener() as mcp:
        await universe_server.send(u, TICK)
        await updates(mcp, u)
        async with open_command_stream(universe_server.http, u, last_event_id="1") as rest:
            assert_commands(await rest.take(3), range(2, 5))
        await session.end()
        assert await mcp.rest() == []


@requirement("UN-24", "UN-25")
async def test_both_streams_of_the_real_server_are_independent(real: dict[str, str]) -> None:
    async with httpx.AsyncClient(base_url=real["url"], timeout=SOON_S) as http:
        for universe_id in ("streamed", "other"):
            assert (await http.post("/universes", json={"name": "Hven", "id": universe_id})).status_code == 201
        session = await subscribed(Wire(http), "streamed", "other")
        async with session.open_listener() as mcp, open_command_stream(http, "streamed") as rest:
            for _ in range(3):
                assert (await http.post("/universes/streamed/commands", json=TICK)).status_code == 200
            await session.call("send_universe_command", universeId="streamed", command=TICK)
            await session.call("send_universe_command", universeId="other", command=TICK)
            await updates(mcp, "other")
            assert_commands(await rest.take(4), range(1, 5))
