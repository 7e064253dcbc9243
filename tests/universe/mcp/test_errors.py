"""Errors of MCP tools: the reason, the universe and a remedy."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, NoReturn

import pytest

from tests.requirements import requirement
from tests.universe.domain import samples
from tests.universe.domain.samples import add_star, command
from tests.universe.mcp.agents import (
    agent,
    call_failing_tool,
    call_tool,
    read_state,
    send_command,
    send_refused_command,
)
from tests.universe.mcp.served_universes import Json, Served, run_server, wait_briefly
from tests.universe.mcp.stores import SECRET, BrokenStore, Where
from tests.universe.mcp.stream_listener import open_command_stream
from universe.errors import StoreUnavailable
from universe.service.batch import ChangeBatch, ChangeRequest, ChangeResult
from universe.service.live_universe import LiveUniverse
from universe.store.memory import MemoryStore

TICK = command("tick")


async def test_a_breakdown_is_logged_with_the_id_of_its_own_request(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    writing, written, queued = asyncio.Event(), asyncio.Event(), asyncio.Event()

    class SlowStore(MemoryStore):
        async def append(self, *arguments: Any, **options: Any) -> None:
            writing.set()
            await wait_briefly(written.wait())
            await super().append(*arguments, **options)

    def add(batch: ChangeBatch, ask: ChangeRequest) -> Any:
        if ask.change == [command("tick", dt=13)]:
            raise RuntimeError
        return add_to(batch, ask)

    def submit(live: LiveUniverse, ask: ChangeRequest) -> asyncio.Future[ChangeResult]:
        future = submit_to(live, ask)
        if writing.is_set():
            queued.set()
        return future

    add_to, submit_to = ChangeBatch.add_request, LiveUniverse.submit
    monkeypatch.setattr(ChangeBatch, "add_request", add)
    monkeypatch.setattr(LiveUniverse, "submit", submit)
    async with run_server(SlowStore()) as server:
        await server.make("u")
        first = asyncio.create_task(server.send("u", TICK, x_request_id="the-first-request"))
        await wait_briefly(writing.wait())
        headers = {"x-request-id": "the-second-request"}
        requests = server.http.post("/universes/u/commands", json=command("tick", dt=13), headers=headers)
        second = asyncio.create_task(requests)
        await wait_briefly(queued.wait())
        written.set()
        assert (await first)["version"] == 1
        broken = await second
    assert (broken.status_code, broken.json()["error"]["request_id"]) == (500, "the-second-request")
    logged = [line for line in caplog.messages if line.startswith("unexpected error")]
    assert logged
    assert all("request_id='the-second-request'" in line for line in logged)


# A universe that is not there


@requirement("UN-14", "UN-16")
async def test_the_state_of_an_unknown_universe_is_an_error_that_names_how_to_find_one(universe_server: Served) -> None:
    async with agent(universe_server.mcp) as client:
        error = await call_failing_tool(client, "get_universe_state", universeId="u-missing")
    assert error["code"] == "universe_not_found"
    assert "not found" in error["message"]
    assert "u-missing" in error["message"]
    assert error["universeId"] == "u-missing"
    assert all(way in error["hint"] for way in ("/universes", "resources"))


@requirement("UN-14", "UN-16")
async def test_a_command_to_an_unknown_universe_is_an_error_that_names_how_to_find_one(universe_server: Served) -> None:
    async with agent(universe_server.mcp) as client:
        error = await send_refused_command(client, "u-missing", TICK)
    assert error["code"] == "universe_not_found"
    assert "not found" in error["message"]
    assert "u-missing" in error["message"]
    assert error["universeId"] == "u-missing"
    assert all(way in error["hint"] for way in ("/universes", "resources"))
    assert (await universe_server.http.get("/universes/u-missing")).status_code == 404


@requirement("UN-14")
async def test_a_universe_that_was_deleted_is_not_found(universe_server: Served, u: str) -> None:
    async with agent(universe_server.mcp) as client:
        await send_command(client, u, TICK)
        await universe_server.delete(u)
        assert (await call_failing_tool(client, "get_universe_state", universeId=u))["code"] == "universe_not_found"
        assert (await send_refused_command(client, u, TICK))["code"] == "universe_not_found"


@requirement("UN-14")
async def test_the_interfaces_that_the_error_names_list_the_universes(universe_server: Served, u: str) -> None:
    async with agent(universe_server.mcp) as client:
        await call_failing_tool(client, "get_universe_state", universeId="u-missing")
        assert u in {listed.name for listed in (await client.list_resources()).resources}
    assert u in {record["id"] for record in (await universe_server.http.get("/universes")).json()["universes"]}


# A command that is none


@requirement("UN-16")
@pytest.mark.parametrize(
    ("wrong", "code", "path", "allowed"),
    [
        ({}, "malformed_command", "type", "addStar"),
        ({"type": None}, "malformed_command", "type", "addStar"),
        ({"type": ["tick"]}, "malformed_command", "type", "addStar"),
        ({"type": "explode"}, "unknown_command", "type", "replaceSnapshot"),
        (command("tick", dt="5"), "malformed_command", "dt", "number"),
        (command("tick", delta=5), "malformed_command", "delta", "dt"),
        (command("addStar", payload=samples.a_payload()), "malformed_command", "id", None),
        (command("addStar", id="x"), "malformed_command", "payload", None),
        (add_star("", None), "malformed_command", "id", "characters"),
        (add_star("x", radius=[1]), "malformed_command", "payload.radius", "number"),
        (add_star("x", bodyType="dragon"), "malformed_command", "payload.bodyType", "blackHole"),
        (add_star("x", ring={"color": "red"}), "malformed_command", "payload.ring.innerRadiusMultiplier", None),
        (command("updateStar", id="sun", payload=[]), "malformed_command", "payload", "object"),
        (command("addToGroup", groupId="g", child={"id": "x", "type": "moon"}), "malformed_command", "child.type", "'"),
        (command("setNebulae", nebulae={"n": {}}), "malformed_command", "nebulae.n.id", None),
        (command("replaceSnapshot", snapshot={"stars": {}}), "malformed_command", "snapshot.rootIds", None),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
async def test_a_malformed_command_is_refused_with_the_path_and_the_allowed_values(
    universe_server: Served, u: str, wrong: Json, code: str, path: str, allowed: str | None
) -> None:
    async with agent(universe_server.mcp) as client:
        error = await send_refused_command(client, u, wrong)
    assert (error["code"], error["path"], error["universeId"]) == (code, path, u)
    assert "list_universe_commands" in error["hint"]
    assert allowed is None or allowed in str(error["allowed"])
    assert await universe_server.version(u) == 3


@requirement("UN-16")
async def test_of_several_problems_of_a_command_one_is_named(universe_server: Served, u: str) -> None:
    async with agent(universe_server.mcp) as client:
        error = await send_refused_command(client, u, add_star("x", mass="heavy", radius=None, color=7))
    assert error["path"] in {"payload.mass", "payload.radius", "payload.color"}
    assert error["path"] in error["message"]


# A command that the universe does not allow


GROUPS = [samples.add_group("g"), samples.add_group("h", "g")]


@requirement("UN-15", "UN-16")
@pytest.mark.parametrize(
    ("impossible", "code", "event"),
    [
        (command("updateStar", id="x", payload={}), "star_not_found", {"type": "starNotFound", "id": "x"}),
        (command("removeStar", id="x"), "star_not_found", {"type": "starNotFound", "id": "x"}),
        (
            command("attachStar", childId="sun", parentId="moon"),
            "hierarchy_refused",
            {"type": "attachFailed", "reason": "cycle", "childId": "sun", "parentId": "moon"},
        ),
        (
            command("attachStar", childId="x", parentId="sun"),
            "star_not_found",
            {"type": "attachFailed", "reason": "notFound", "childId": "x", "parentId": "sun"},
        ),
        (
            command("detachStar", childId="sun"),
            "not_attached",
            {"type": "detachFailed", "reason": "notAttached", "childId": "sun"},
        ),
        (command("updateGroup", id="x", payload={}), "group_not_found", {"type": "groupNotFound", "id": "x"}),
        (command("removeGroup", id="x"), "group_not_found", {"type": "groupNotFound", "id": "x"}),
        (
            command("addToGroup", groupId="g", child=samples.make_member("h")),
            "child_already_in_group",
            {"type": "childAlreadyInGroup", "groupId": "g", "childId": "h"},
        ),
        (
            command("removeFromGroup", groupId="g", childId="sun"),
            "child_not_in_group",
            {"type": "childNotInGroup", "groupId": "g", "childId": "sun"},
        ),
        (
            command("moveToGroup", childId="g", childType="group", targetGroupId="h"),
            "hierarchy_refused",
            {"type": "moveToGroupFailed", "reason": "cycle", "childId": "g", "targetGroupId": "h"},
        ),
        (
            command("updateSmallBodyField", id="x", patch={}),
            "small_body_field_not_found",
            {"type": "smallBodyFieldNotFound", "id": "x"},
        ),
        (
            command("updateProtoplanetaryDisk", id="x", patch={}),
            "protoplanetary_disk_not_found",
            {"type": "protoplanetaryDiskNotFound", "id": "x"},
        ),
        (command("updateNebula", id="x", patch={}), "nebula_not_found", {"type": "nebulaNotFound", "id": "x"}),
        (command("updateRing", planetId="x", patch={}), "star_not_found", {"type": "starNotFound", "id": "x"}),
        (command("removeRing", planetId="sun"), "ring_not_found", {"type": "ringNotFound", "planetId": "sun"}),
    ],
    ids=lambda value: value if isinstance(value, str) else value.get("type"),
)
async def test_a_refused_command_is_an_error_with_the_event_and_changes_nothing(
    universe_server: Served, u: str, impossible: Json, code: str, event: Json
) -> None:
    await universe_server.send(u, GROUPS)
    before = await universe_server.read_record(u)
    async with agent(universe_server.mcp) as client, open_command_stream(universe_server.http, u) as listener:
        error = await send_refused_command(client, u, impossible)
        assert await universe_server.read_record(u) == before
        await send_command(client, u, TICK)
        received = await listener.next()
        listed = await call_tool(client, "list_universe_commands", universeId=u)
    assert (error["code"], error["universeId"], error["event"]) == (code, u, event)
    named = {str(value) for name, value in event.items() if name.lower().endswith("id")}
    assert any(name in error["message"] for name in named), "the message names the entity"
    assert (received.data["version"], received.data["command"]["type"]) == (6, "tick"), (
        "a refused command is not sent to listeners"
    )
    reply = {one["type"]: one["refusals"] for category in listed["categories"] for one in category["commands"]}
    assert any(event["type"] in refusal for refusal in reply[impossible["type"]]), "the listing names the refusal"


# What nobody expected


BREAKDOWNS: list[tuple[Where, str, Json]] = [
    ("record", "get_universe_state", {}),
    ("entries", "get_universe_state", {"version": 1}),
    ("append", "send_universe_command", {"command": TICK}),
]


@pytest.fixture
def store() -> BrokenStore:
    return BrokenStore()


@pytest.fixture
async def broken_server(store: BrokenStore) -> AsyncIterator[Served]:
    """Provide a server whose store can fail, with the universes `u-42` and `sound`."""
    async with run_server(store) as server:
        await server.make("u-42", add_star("sun"), add_star("earth", "sun"))
        await server.make("sound")
        yield server


@requirement("UN-15")
async def test_a_breakdown_inside_is_an_error_without_internals_and_the_server_continues(
    broken_server: Served, store: BrokenStore
) -> None:
    async with agent(broken_server.mcp) as client:
        for times, (where, tool, arguments) in enumerate(BREAKDOWNS, start=1):
            with store.broken(where):
                error = await call_failing_tool(client, tool, universeId="u-42", **arguments)
            assert error["code"] == "internal_error", where
            assert error["hint"]
            assert not any(part in str(error) for part in (SECRET, "hunter2", "db.internal", "Traceback"))
            assert (await send_command(client, "u-42", TICK))["version"] == 2 + times
            assert (await read_state(client, "u-42"))["time"] == times
            assert (await send_command(client, "sound", TICK))["version"] == times
    assert (await broken_server.http.get("/health")).status_code == 200


@requirement("UN-15", "UN-16")
async def test_a_breakdown_inside_names_the_universe(broken_server: Served, store: BrokenStore) -> None:
    unnamed: list[str] = []
    async with agent(broken_server.mcp) as client:
        for where, tool, arguments in BREAKDOWNS:
            with store.broken(where):
                error = await call_failing_tool(client, tool, universeId="u-42", **arguments)
            if error.get("universeId") != "u-42":
                unnamed.append(where)
    assert unnamed == []


@requirement("UN-15")
async def test_a_reducer_that_raises_is_an_error_and_the_next_command_is_done(
    broken_server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    def explode(*_: Any) -> NoReturn:
        raise ZeroDivisionError(SECRET)

    async with agent(broken_server.mcp) as client:
        with monkeypatch.context() as patched:
            patched.setattr("universe.service.batch.reduce", explode)
            error = await send_refused_command(client, "u-42", TICK)
        assert error["code"] == "internal_error"
        assert error["message"].strip()
        assert SECRET not in str(error)
        assert (await send_command(client, "u-42", TICK))["version"] == 3
        assert (await read_state(client, "u-42"))["time"] == 1


@requirement("UN-15", "UN-16")
async def test_a_store_that_is_away_is_an_error_that_reports_it_and_names_the_universe(
    broken_server: Served, store: BrokenStore
) -> None:
    away = StoreUnavailable("The database does not answer.", hint="Try again later.")
    async with agent(broken_server.mcp) as client:
        with store.broken("append", away):
            sent = await send_refused_command(client, "u-42", TICK)
        with store.broken("record", away):
            read = await call_failing_tool(client, "get_universe_state", universeId="u-42")
        assert (await send_command(client, "u-42", TICK))["version"] == 3
    for error in (sent, read):
        assert (error["code"], error["universeId"]) == ("store_unavailable", "u-42")


@requirement("UN-15")
async def test_a_store_that_gives_up_by_cancelling_does_not_take_the_session_with_it(
    broken_server: Served, store: BrokenStore
) -> None:
    async with agent(broken_server.mcp) as client:
        with store.broken("record", asyncio.CancelledError()):
            await call_failing_tool(client, "get_universe_state", universeId="u-42")
        assert (await read_state(client, "u-42"))["time"] == 0


# Every error


WRONG: dict[str, tuple[str, Json]] = {
    "not found": ("get_universe_state", {"universeId": "u-missing"}),
    "no such version": ("get_universe_state", {"version": 99}),
    "too small a limit": ("get_universe_state", {"maxBytes": 1}),
    "no such argument": ("get_universe_state", {"depth": 1}),
    "no such category": ("list_universe_commands", {"category": "none"}),
    "malformed": ("send_universe_command", {"command": {}}),
    "command is a number": ("send_universe_command", {"command": 7}),
    "command is missing": ("send_universe_command", {}),
    "refused": ("send_universe_command", {"command": command("removeStar", id="x")}),
    "conflict": ("send_universe_command", {"command": TICK, "expectedVersion": 99}),
    "unknown answer": ("send_universe_command", {"command": TICK, "return": "all"}),
}


@requirement("UN-10", "UN-16")
@pytest.mark.parametrize("why", WRONG)
async def test_every_error_names_the_universe(universe_server: Served, u: str, why: str) -> None:
    tool, arguments = WRONG[why]
    given = {"universeId": u, **arguments}
    async with agent(universe_server.mcp) as client:
        error = await call_failing_tool(client, tool, **given)
    assert error["universeId"] == given["universeId"]
