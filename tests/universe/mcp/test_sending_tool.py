"""Commands over MCP, with the same effects and replies as over REST."""

import asyncio
from json import dumps
from typing import Any

import pytest

from tests.requirements import requirement
from tests.universe.domain import samples
from tests.universe.domain.samples import add_star, command
from tests.universe.mcp.agents import agent, call_tool, get_error, read_state, send_command, send_refused_command
from tests.universe.mcp.served_universes import Json, Served, run_server
from tests.universe.mcp.stream_listener import open_command_stream
from universe.store.memory import MemoryStore
from universe.store.replica import rebuild_replica
from uraniborg.kernel.mcp.testing import get_json, get_text

TICK = command("tick")
LARGE = 4 * 1024
TIMED = {"timePassed", "time", "timeUnit"}
"""The keys that only a reply to a tick has."""


def padded(size: int) -> Json:
    """Return a state whose JSON, after the sun gets a mass of 1, has exactly this many bytes."""

    def bytes_of(state: Json) -> int:
        return len(dumps({**state, "time": 0}, separators=(",", ":"), ensure_ascii=False).encode())

    body = samples.a_body("sun", name="", mass=1)
    bare = bytes_of(samples.a_snapshot(stars={"sun": body}, rootIds=["sun"]))
    return samples.a_snapshot(stars={"sun": {**body, "name": "x" * (size - bare)}}, rootIds=["sun"])


SCRIPT: list[Json] = [
    TICK,
    command("tick", dt=-2.5),
    add_star("sun"),
    add_star("saturn", "sun", radius=9),
    command("updateRing", planetId="saturn", patch={"opacity": 0.3}),
    command("removeRing", planetId="saturn"),
    command("removeRing", planetId="saturn"),
    add_star("titan", "saturn", unheardOf={"kept": [1, None]}),
    command("updateStar", id="titan", payload={"mass": 0.1, "note": "kept"}),
    command("updateStar", id="nobody", payload={"mass": 0.1}),
    command("attachStar", childId="titan", parentId="sun"),
    command("attachStar", childId="sun", parentId="titan"),
    command("detachStar", childId="titan"),
    command("detachStar", childId="titan"),
    command("removeStar", id="saturn"),
    samples.add_group("g"),
    samples.add_group("h"),
    command("updateGroup", id="g", payload={"name": "Scania"}),
    command("addToGroup", groupId="g", child=samples.make_member("h")),
    command("addToGroup", groupId="g", child=samples.make_member("h")),
    command("addToGroup", groupId="h", child=samples.make_member("g")),
    command("moveToGroup", childId="sun", childType="system", targetGroupId="h"),
    command("moveToGroup", childId="g", childType="group", targetGroupId="h"),
    command("removeFromGroup", groupId="g", childId="h"),
    command("removeFromGroup", groupId="g", childId="h"),
    command("removeGroup", id="h"),
    samples.example("setSmallBodyFields"),
    samples.example("updateSmallBodyField"),
    samples.example("removeSmallBodyField"),
    samples.example("updateSmallBodyField"),
    samples.example("setProtoplanetaryDisks"),
    samples.example("addProtoplanetaryDisk"),
    samples.example("updateProtoplanetaryDisk"),
    samples.example("removeProtoplanetaryDisk"),
    samples.example("setNebulae"),
    samples.example("updateNebula"),
    samples.example("removeNebula"),
    samples.example("replaceSnapshot"),
    command("explode"),
    command("tick", dt="5"),
    command("addStar", id="x"),
    {},
]
"""Every kind of command, as it is done and as it is not."""


# The same service as REST's


@requirement("UN-8", "UN-9")
async def test_a_bare_tick_is_stored_sent_to_listeners_and_answered(u: str) -> None:
    store = MemoryStore()
    async with run_server(store) as server, agent(server.mcp) as client:
        await server.make(u)
        async with open_command_stream(server.http, u) as listener:
            printed = await send_command(client, u, TICK)
            event = await listener.next()
        kept = await rebuild_replica(store, u)
    timed = {"timePassed": 1, "time": 1, "timeUnit": "simulation seconds"}
    assert printed == {"nextState": {**samples.EMPTY_STATE, "time": 1}, "events": [], "version": 1, **timed}
    assert (event.name, event.id) == ("command", "1")
    assert event.data == {"version": 1, "command": {"type": "tick", "dt": 1}, "events": []}
    assert (kept.version, kept.state.time) == (1, 1)


@requirement("UN-8", "UN-9", "UN-12")
async def test_the_same_commands_over_mcp_and_rest_give_equal_universes_and_replies(
    universe_server: Served, u: str
) -> None:
    assert {one["type"] for one in SCRIPT if "type" in one} == samples.EXAMPLES.keys() | {"explode"}
    await universe_server.make(f"{u}-rest")
    await universe_server.make(f"{u}-mcp")
    refusals = 0
    async with agent(universe_server.mcp) as client:
        for each in SCRIPT:
            printed = await universe_server.http.post(f"/universes/{u}-rest/commands", json=each)
            requests = {"universeId": f"{u}-mcp", "command": each, "return": "state"}
            result = await client.call_tool("send_universe_command", requests)
            assert result.isError is (printed.status_code != 200), each
            reply = get_error(result) if result.isError else get_json(result)
            expected = printed.json()["error"] if result.isError else printed.json()
            refusals += result.isError
            assert reply.pop("request_id", "") != expected.pop("request_id", None)
            more = TIMED if each.get("type") == "tick" else {"warnings"}
            assert {key: reply[key] for key in reply.keys() - more} == _of_the_twin(expected, u), each
        state = await read_state(client, f"{u}-mcp")
        assert state.pop("version") == await universe_server.version(f"{u}-rest")
        assert state == await universe_server.state(f"{u}-rest")
    assert refusals == 13
    for twin in ("rest", "mcp"):
        assert await universe_server.version(f"{u}-{twin}") == len(SCRIPT) - refusals


def _of_the_twin(reply: Json, u: str) -> Json:
    return {**reply, "universeId": f"{u}-mcp"} if reply.get("universeId") == f"{u}-rest" else reply


@requirement("UN-8")
async def test_listeners_receive_commands_of_both_ways_in_one_order(universe_server: Served, u: str) -> None:
    async with agent(universe_server.mcp) as client, open_command_stream(universe_server.http, u) as listener:
        for number in range(10):
            if number % 2:
                await send_command(client, u, command("tick", dt=number))
            else:
                await universe_server.send(u, command("tick", dt=number))
        received = await listener.take(10)
    assert [event.data["command"]["dt"] for event in received] == list(range(10))
    assert [event.data["version"] for event in received] == list(range(4, 14))


@requirement("UN-8")
async def test_an_idempotency_key_used_over_rest_is_known_over_mcp_and_vice_versa(
    universe_server: Served, u: str
) -> None:
    async with agent(universe_server.mcp) as client:
        await universe_server.send(u, TICK, idempotency_key="first")
        again = await send_command(client, u, TICK, idempotencyKey="first")
        await send_command(client, u, TICK, idempotencyKey="second")
        twice = await universe_server.send(u, TICK, idempotency_key="second")
    assert (again["version"], again["nextState"]["time"]) == (4, 1)
    assert (twice["version"], twice["nextState"]["time"]) == (5, 2)
    assert await universe_server.version(u) == 5


@requirement("UN-8")
async def test_a_command_sent_over_mcp_can_be_undone_over_rest_and_is_in_the_history(
    universe_server: Served, u: str
) -> None:
    async with agent(universe_server.mcp) as client:
        await send_command(client, u, command("removeStar", id="earth"))
        history = (await universe_server.http.get(f"/universes/{u}/history", params={"after": 3})).json()["entries"]
        undone = await universe_server.http.post(f"/universes/{u}/undo")
        assert undone.status_code == 200
        assert (await read_state(client, u))["stars"].keys() == {"sun", "earth", "moon"}
    assert [(entry["kind"], entry["command"]) for entry in history] == [("command", command("removeStar", id="earth"))]
    assert history[0]["events"] == [{"type": "starRemoved", "id": "earth", "removedIds": ["earth", "moon"]}]


# What is answered


@requirement("UN-9", "UN-12")
async def test_a_command_is_answered_with_the_new_state_its_events_and_the_version(
    universe_server: Served, u: str
) -> None:
    async with agent(universe_server.mcp) as client:
        printed = await send_command(client, u, add_star("mars", "sun"))
    assert printed.keys() == {"nextState", "events", "version"}
    assert printed["events"] == [{"type": "starAdded", "id": "mars"}]
    assert printed["version"] == 4
    assert printed["nextState"] == await universe_server.state(u)
    assert printed["nextState"]["stars"]["sun"]["children"] == ["earth", "mars"]


@requirement("UN-9")
async def test_a_reply_for_a_large_universe_has_the_changes_and_a_hint_for_the_rest(
    universe_server: Served, u: str
) -> None:
    large = f"{u}-large"
    await universe_server.make(large, state=padded(LARGE + 10_000))
    async with agent(universe_server.mcp) as client:
        printed = await send_command(client, large, add_star("mars", "sun"))
        size = len(get_text(await client.call_tool("get_universe_state", {"universeId": large})))
        state = await read_state(client, large)
        gone = await send_command(client, large, command("removeStar", id="mars"))
    assert printed.keys() >= {"events", "version", "changed", "removed", "stateBytes", "hint"}
    assert "nextState" not in printed
    assert (printed["events"], printed["version"]) == ([{"type": "starAdded", "id": "mars"}], 2)
    assert printed["changed"]["stars"] == {key: state["stars"][key] for key in ("mars", "sun")}
    assert printed["stateBytes"] == pytest.approx(size, rel=0.01)
    assert "get_universe_state" in printed["hint"]
    assert gone["removed"]["stars"] == ["mars"]
    assert gone["changed"]["stars"].keys() == {"sun"}


@requirement("UN-9")
async def test_a_universe_that_grows_beyond_4_kib_is_answered_with_its_state_until_then(
    universe_server: Served, u: str
) -> None:
    await universe_server.make(f"{u}-below", state=padded(LARGE))
    await universe_server.make(f"{u}-above", state=padded(LARGE + 1))
    async with agent(universe_server.mcp) as client:
        light = command("updateStar", id="sun", payload={"mass": 1})
        assert "nextState" in await send_command(client, f"{u}-below", light)
        assert "changed" in await send_command(client, f"{u}-above", light)


@requirement("UN-9")
async def test_a_universe_of_roots_with_long_ids_is_large_when_it_is(universe_server: Served, u: str) -> None:
    ids = [f"{number:03}{'x' * 240}" for number in range(100)]
    state = samples.a_snapshot(stars={key: samples.a_body(key) for key in ids}, rootIds=ids)
    await universe_server.make(f"{u}-long", state=state)
    async with agent(universe_server.mcp) as client:
        size = len(get_text(await client.call_tool("get_universe_state", {"universeId": f"{u}-long"})))
        assert size > 1.25 * LARGE
        assert "changed" in await send_command(client, f"{u}-long", TICK)


@requirement("UN-9")
@pytest.mark.parametrize("size", [2_000, LARGE + 10_000])
async def test_the_sender_can_choose_the_reply_for_any_size(universe_server: Served, u: str, size: int) -> None:
    await universe_server.make(f"{u}-chosen", state=padded(size))
    async with agent(universe_server.mcp) as client:
        whole = await send_command(client, f"{u}-chosen", TICK, **{"return": "state"})
        part = await send_command(client, f"{u}-chosen", TICK, **{"return": "changes"})
        light = await send_command(client, f"{u}-chosen", TICK, **{"return": "events"})
        state = await read_state(client, f"{u}-chosen")
    assert state.pop("version") == 4
    assert whole.keys() == {"nextState", "events", "version"} | TIMED
    assert whole["nextState"] == {**state, "time": 1}
    assert (whole["events"], whole["version"]) == ([], 2)
    assert (part["changed"], part["removed"], part["events"], part["version"]) == ({}, {}, [], 3)
    assert part["time"] == 2
    assert light.keys() == {"events", "version"} | TIMED
    assert (light["events"], light["version"], light["timePassed"], light["time"]) == ([], 4, 1, 3)


@requirement("UN-9")
async def test_another_kind_of_answer_is_refused_with_those_there_are(universe_server: Served, u: str) -> None:
    async with agent(universe_server.mcp) as client:
        error = await send_refused_command(client, u, TICK, **{"return": "everything"})
    assert error["argument"] == "return"
    assert error["allowed"] == ["state", "changes", "events"]
    assert await universe_server.version(u) == 3


# How often, and on what condition


@requirement("UN-8")
async def test_a_command_with_the_version_that_is_there_is_done(universe_server: Served, u: str) -> None:
    async with agent(universe_server.mcp) as client:
        assert (await send_command(client, u, TICK, expectedVersion=3))["version"] == 4


@requirement("UN-8", "UN-16")
async def test_a_command_with_another_version_is_refused_with_the_one_that_is_there(
    universe_server: Served, u: str
) -> None:
    async with agent(universe_server.mcp) as client:
        error = await send_refused_command(client, u, TICK, expectedVersion=2)
    assert error["code"] == "version_conflict"
    assert (error["universeId"], error["expectedVersion"], error["version"]) == (u, 2, 3)
    assert await universe_server.version(u) == 3


@requirement("UN-8")
async def test_of_many_callers_that_expect_the_same_version_one_succeeds(universe_server: Served, u: str) -> None:
    async def tick(client: Any) -> Any:
        arguments = {"universeId": u, "command": TICK, "expectedVersion": 3}
        return await client.call_tool("send_universe_command", arguments)

    async with agent(universe_server.mcp) as one, agent(universe_server.mcp) as other:
        results = await asyncio.gather(*(tick(client) for client in (one, other) for _ in range(5)))
    won = [result for result in results if not result.isError]
    assert len(won) == 1
    assert get_json(won[0])["version"] == 4
    assert {get_error(result)["code"] for result in results if result.isError} == {"version_conflict"}
    assert await universe_server.version(u) == 4


@requirement("UN-8", "UN-9")
async def test_a_repeated_key_gives_the_first_answer_and_does_nothing(universe_server: Served, u: str) -> None:
    async with agent(universe_server.mcp) as client:
        first = await send_command(client, u, add_star("mars", "sun"), idempotencyKey="once")
        await send_command(client, u, TICK)
        again = await send_command(client, u, add_star("mars", "sun"), idempotencyKey="once")
    assert again == first
    assert await universe_server.version(u) == 5


@requirement("UN-9")
async def test_a_repeated_key_reports_the_same_changes_again(universe_server: Served, u: str) -> None:
    async with agent(universe_server.mcp) as client:
        mars = add_star("mars", "sun")
        first = await send_command(client, u, mars, idempotencyKey="once", **{"return": "changes"})
        again = await send_command(client, u, mars, idempotencyKey="once", **{"return": "changes"})
    assert again == first


@requirement("UN-16")
async def test_a_key_that_belongs_to_another_command_is_refused(universe_server: Served, u: str) -> None:
    async with agent(universe_server.mcp) as client:
        await send_command(client, u, TICK, idempotencyKey="once")
        error = await send_refused_command(client, u, command("tick", dt=2), idempotencyKey="once")
    assert error["code"] == "idempotency_key_reused"
    assert error["universeId"] == u
    assert await universe_server.version(u) == 4


@requirement("UN-2")
@pytest.mark.parametrize(
    ("argument", "given"),
    [
        ("expectedVersion", -1),
        ("expectedVersion", "three"),
        ("expectedVersion", True),
        ("idempotencyKey", ""),
        ("idempotencyKey", "k" * 10_000),
        ("idempotencyKey", 7),
    ],
)
async def test_an_option_of_the_wrong_kind_is_refused_and_nothing_is_done(
    universe_server: Served, u: str, argument: str, given: Any
) -> None:
    async with agent(universe_server.mcp) as client:
        error = await send_refused_command(client, u, TICK, **{argument: given})
    assert error["argument"] == argument
    assert await universe_server.version(u) == 3


@requirement("UN-5")
async def test_a_command_that_comes_as_a_string_of_json_is_understood(universe_server: Served, u: str) -> None:
    async with agent(universe_server.mcp) as client:
        printed = await call_tool(client, "send_universe_command", universeId=u, command='{"type": "tick", "dt": 7}')
    assert (printed["version"], printed["nextState"]["time"]) == (4, 7)


# Warnings and times in replies


@requirement("UN-9")
async def test_a_tick_of_a_real_system_reports_how_much_time_passed_and_the_date(
    universe_server: Served, u: str
) -> None:
    sol = f"{u}-sol"
    requests = {"id": sol, "name": "Sol", "from": "solar-system"}
    assert (await universe_server.http.post("/universes", json=requests)).status_code == 201
    async with agent(universe_server.mcp) as client:
        year = await send_command(client, sol, command("tick", dt=365.25))
        slip = await send_command(client, sol, command("tick", dt=86400))
        far = await send_command(client, sol, command("tick", dt=1e300))
    assert (year["timePassed"], year["time"], year["timeUnit"]) == (365.25, 365.25, "days")
    assert year["date"] == "2000-12-31T17:59Z"
    assert "warnings" not in year
    assert slip["warnings"] == ["dt is in days here: 86,400 days are 236.6 years. One day is dt 1, a year dt 365.25."]
    assert far["warnings"] == ["dt is in days here: 1e+300 days are 2.7e+297 years. One day is dt 1, a year dt 365.25."]
    assert far["julianDate"] > 1e299
    assert "date" not in far


WARNED: list[tuple[Json, str]] = [
    (add_star("mars", "snu"), "payload.parentId names 'snu', which is not in stars. Did you mean 'sun'?"),
    (add_star("mars", ""), "payload.parentId is empty, so the entity is neither a root nor a child."),
    (add_star("earth", "sun"), "'earth' existed already and was replaced."),
    (add_star("mars", "sun", radius=-1), "payload.radius is negative."),
    (add_star("mars", "sun", eccentricity=1), "payload.eccentricity must be from 0 to below 1"),
    (command("updateStar", id="moon", payload={"colour": "red"}), "payload.colour is not a known field"),
    (command("updateStar", id="earth", payload={"mas": 7}), "payload.mas is not a known field; it was stored "
        "unchanged. Did you mean 'mass'?"),
    (command("updateStar", id="earth", payload={"parentId": "sum"}), "payload.parentId names 'sum'"),
    (command("updateStar", id="moon", payload={"parentId": "sun"}), "attachStar and detachStar do."),
    (samples.add_group("g", "nowhere"), "payload.parentGroupId names 'nowhere', which is not in groups."),
    (command("removeNebula", id="veil"), "id names 'veil', which is not in nebulae."),
    (command("moveToGroup", childId="son", childType="system", targetGroupId=None), "childId names 'son'"),
]  # fmt: skip


@requirement("UN-9")
@pytest.mark.parametrize(("given", "warning"), WARNED, ids=[warning[:40] for _, warning in WARNED])
async def test_a_command_that_is_probably_not_meant_so_is_done_with_a_warning(
    universe_server: Served, u: str, given: Json, warning: str
) -> None:
    async with agent(universe_server.mcp) as client:
        printed = await send_command(client, u, given)
    assert printed["version"] == 4, "it is done"
    assert any(warning in one for one in printed["warnings"]), printed["warnings"]


@requirement("UN-9")
async def test_commands_that_are_meant_so_carry_no_warning(universe_server: Served, u: str) -> None:
    meant = [
        add_star("mars", "sun", note="mine", physical={}),
        add_star("rogue"),
        command("updateStar", id="mars", payload={"mass": 7, "note": "still mine"}),
        command("attachStar", childId="moon", parentId="mars"),
        samples.add_group("g"),
        command("addToGroup", groupId="g", child=samples.make_member("sun", "system")),
        command("removeStar", id="mars"),
        TICK,
    ]
    async with agent(universe_server.mcp) as client:
        for given in meant:
            assert "warnings" not in await send_command(client, u, given), given


@requirement("UN-9")
async def test_a_new_orbit_of_a_body_with_a_kepler_block_needs_the_block(universe_server: Served, u: str) -> None:
    requests = {"id": f"{u}-sol", "name": "Sol", "from": "solar-system"}
    assert (await universe_server.http.post("/universes", json=requests)).status_code == 201
    async with agent(universe_server.mcp) as client:
        moved = await send_command(client, f"{u}-sol", command("updateStar", id="earth", payload={"semiMajorAxis": 2}))
        added = await send_command(client, f"{u}-sol", add_star("vulcan", "sun"))
    assert "moves by its kepler block, so semiMajorAxis did not move it" in moved["warnings"][0]
    assert "Other bodies here move by kepler blocks" in added["warnings"][0]
    assert any(
        "semiMajorAxis no longer cites 'standish2013', which gave another value" in one for one in moved["warnings"]
    )
    titles = [source["title"] for source in moved["changed"]["stars"]["earth"]["sources"]]
    assert len(titles) == len(set(titles)), "citations of one body stay with it"


@requirement("UN-9")
async def test_a_block_with_fewer_fields_is_reported_with_the_removed_ones(universe_server: Served, u: str) -> None:
    orbit = {"semiMajorAxis": 1, "eccentricity": 0.2, "period": 9}
    await universe_server.send(u, command("updateStar", id="earth", payload={"kepler": orbit}))
    async with agent(universe_server.mcp) as client:
        less = {"semiMajorAxis": 2, "period": 9}
        printed = await send_command(client, u, command("updateStar", id="earth", payload={"kepler": less}))
    assert printed["warnings"] == ["payload.kepler replaced the whole block; it no longer has eccentricity."]


@requirement("UN-16")
async def test_errors_name_the_interfaces_for_other_tasks(universe_server: Served, u: str) -> None:
    async with agent(universe_server.mcp) as client:
        for word in ("undo", "branchUniverse", "createUniverse", "restore", "nbody"):
            assert (
                "universe new, undo, restore, branch, nbody"
                in (await send_refused_command(client, u, {"type": word}))["hint"]
            )
        assert "universe new, undo" not in (await send_refused_command(client, u, {"type": "addMoon"}))["hint"]


@requirement("UN-16")
@pytest.mark.parametrize("text", ['{"type": "tick", "dt": NaN}', "tick", '{"type": "tick"'])
async def test_text_that_is_not_json_is_not_a_command_and_reports_where_it_stops(
    universe_server: Served, u: str, text: str
) -> None:
    async with agent(universe_server.mcp) as client:
        error = await send_refused_command(client, u, text)
    assert (error["code"], error["universeId"]) == ("malformed_command", u)
    assert "is text that is not JSON" in error["message"]
    assert error["example"] == {"type": "tick", "dt": 1}


@requirement("UN-14")
async def test_a_misspelled_universe_is_answered_with_the_nearest_ids_and_names() -> None:
    async with run_server() as server, agent(server.mcp) as client:
        await server.make("uraniborg-1")
        error = await send_refused_command(client, "uranibor-1", TICK)
        named = await send_refused_command(client, "hven", TICK)
    assert error["nearest"] == named["nearest"] == ["uraniborg-1"]
    assert error["hint"].startswith("Did you mean 'uraniborg-1'? ")


@requirement("UN-9")
async def test_a_command_has_its_client_as_author_and_its_reply_names_the_source_it_withdrew(
    universe_server: Served, u: str
) -> None:
    requests = {"id": f"{u}-t", "name": "T", "from": "trappist-1"}
    assert (await universe_server.http.post("/universes", json=requests)).status_code == 201
    async with agent(universe_server.mcp) as client:
        payload = {"mass": 3e-6}
        printed = await send_command(
            client, f"{u}-t", command("updateStar", id="trappist-1-e", payload=payload, reason="to see")
        )
    assert printed["warnings"][0] == "'trappist-1-e': mass no longer cites 'agol2021', which gave another value."
    entries = (await universe_server.http.get(f"/universes/{u}-t/history")).json()["entries"]
    author = entries[-1]["author"]
    assert author.endswith(" (agent)")
    assert author != "MCP client"
    actor = entries[-1]["actor"]
    assert (actor["kind"], f"{actor['name']} (agent)", actor["authenticated"]) == ("agent", author, "none")
    record = printed["changed"]["stars"]["trappist-1-e"]["setBy"]["mass"]
    assert record == {"version": 2, "by": author, "reason": "to see"}
