"""The reading tools: the state, whole and in parts, and the listing of commands."""

from json import dumps
from pathlib import Path
from typing import Any

import pytest

from tests.requirements import requirement
from tests.universe.domain import samples
from tests.universe.domain.samples import add_star
from tests.universe.mcp.agents import (
    TOOLS,
    agent,
    call_failing_tool,
    call_tool,
    parse_strict_json,
    read_state,
    send_command,
)
from tests.universe.mcp.served_universes import Served, run_server
from universe.service.universes import UniverseService
from universe.store.sqlite import SqliteStore
from uraniborg.kernel.mcp.testing import get_text

KEYS = set(samples.EMPTY_STATE)
ENTITIES = KEYS - {"rootIds", "rootGroupIds", "time"}
CATEGORIES = {
    "Simulation": ["tick"],
    "Star CRUD": ["addStar", "updateStar", "removeStar"],
    "Star hierarchy": ["attachStar", "detachStar"],
    "Group CRUD": ["addGroup", "updateGroup", "removeGroup"],
    "Group hierarchy": ["addToGroup", "removeFromGroup", "moveToGroup"],
    "Small body fields": ["setSmallBodyFields", "updateSmallBodyField", "removeSmallBodyField"],
    "Protoplanetary disks": [
        "setProtoplanetaryDisks",
        "addProtoplanetaryDisk",
        "updateProtoplanetaryDisk",
        "removeProtoplanetaryDisk",
    ],
    "Nebulae": ["setNebulae", "updateNebula", "removeNebula"],
    "Rings": ["updateRing", "removeRing"],
    "Snapshot": ["replaceSnapshot"],
}
"""The ten categories as the specification words them."""


def crowd(count: int, name: str = "Tyge") -> dict[str, Any]:
    """Return a state with this many bodies around a sun."""
    below = [f"b{number}" for number in range(count)]
    stars = {"sun": samples.a_body("sun", None, below, name="Sun")}
    stars |= {key: samples.a_body(key, "sun", name=name) for key in below}
    return samples.a_snapshot(stars=stars, rootIds=["sun"])


# The state


@requirement("UN-6", "UN-12")
async def test_the_state_is_the_one_that_rest_has(universe_server: Served, u: str) -> None:
    async with agent(universe_server.mcp) as client:
        reply = await read_state(client, u)
    assert reply == {**await universe_server.state(u), "version": 3}
    assert reply.keys() == KEYS | {"version"}


@requirement("UN-6")
async def test_the_state_of_a_universe_with_three_bodies_has_the_three(universe_server: Served, u: str) -> None:
    async with agent(universe_server.mcp) as client:
        stars = (await read_state(client, u))["stars"]
    assert stars.keys() == {"sun", "earth", "moon"}
    assert stars["moon"] == samples.a_body("moon", "earth")
    assert stars["earth"]["children"] == ["moon"]


@requirement("UN-6")
async def test_entries_written_by_another_client_are_read(tmp_path: Path) -> None:
    file = tmp_path / "universes.db"
    async with run_server(SqliteStore(file)) as server, agent(server.mcp) as client:
        await server.make("u")
        assert (await read_state(client, "u"))["time"] == 0
        async with UniverseService(SqliteStore(file)).running() as other:
            await other.send("u", samples.command("tick", dt=41))
        assert (await read_state(client, "u"))["time"] == 41


@requirement("UN-6", "UN-12")
async def test_an_empty_universe_has_the_empty_state(universe_server: Served, u: str) -> None:
    await universe_server.make(f"{u}-empty")
    async with agent(universe_server.mcp) as client:
        assert await read_state(client, f"{u}-empty") == {**samples.EMPTY_STATE, "version": 0}


@requirement("UN-6", "UN-12")
async def test_ten_thousand_bodies_come_whole_where_no_limit_is_set(universe_server: Served, u: str) -> None:
    await universe_server.make(f"{u}-large", state=crowd(10_000))
    async with agent(universe_server.mcp) as client:
        reply = await read_state(client, f"{u}-large")
    assert len(reply["stars"]) == 10_001
    assert reply == {**await universe_server.state(f"{u}-large"), "version": 1}


@requirement("UN-6")
async def test_only_the_requested_entities_are_returned(universe_server: Served, u: str) -> None:
    await universe_server.send(u, [samples.add_group("g"), samples.example("setNebulae")])
    async with agent(universe_server.mcp) as client:
        reply = await read_state(client, u, ids=["earth", "n", "g"])
    assert {kind: list(reply[kind]) for kind in ENTITIES if reply[kind]} == {
        "stars": ["earth"],
        "groups": ["g"],
        "nebulae": ["n"],
    }
    assert reply["stars"]["earth"] == (await universe_server.state(u))["stars"]["earth"]
    assert reply["notFound"] == []


@requirement("UN-6")
async def test_ids_that_do_not_exist_are_listed(universe_server: Served, u: str) -> None:
    async with agent(universe_server.mcp) as client:
        reply = await read_state(client, u, ids=["sun", "vulcan", "__proto__", "toString"])
    assert reply["stars"].keys() == {"sun"}
    assert reply["notFound"] == ["vulcan", "__proto__", "toString"]
    assert "nearest" not in reply


@requirement("UN-6")
async def test_ids_that_are_nearly_there_are_suggested_also_by_name(universe_server: Served, u: str) -> None:
    await universe_server.send(u, add_star("p3", "sun", name="Jupiter"))
    async with agent(universe_server.mcp) as client:
        reply = await read_state(client, u, ids=["Earth", "mon", "jupiter", "vulcan"])
    assert reply["notFound"] == ["Earth", "mon", "jupiter", "vulcan"]
    assert reply["nearest"] == {"Earth": ["earth"], "mon": ["moon"], "jupiter": ["p3"]}


@requirement("UN-6")
async def test_every_reply_with_a_state_has_its_version(universe_server: Served, u: str) -> None:
    async with agent(universe_server.mcp) as client:
        for options in ({}, {"ids": ["sun"]}, {"fields": ["name"]}, {"version": 3}, {"maxBytes": 1_000}):
            assert (await read_state(client, u, **options))["version"] == 3, options
        assert (await read_state(client, u, version=1))["version"] == 1
        for wanted in ("state", "changes", "events"):
            printed = await send_command(client, u, samples.command("tick"), **{"return": wanted})
            assert printed["version"] == await universe_server.version(u)


@requirement("UN-6")
async def test_a_field_that_no_entity_has_is_an_error_with_the_nearest(universe_server: Served, u: str) -> None:
    async with agent(universe_server.mcp) as client:
        error = await call_failing_tool(client, "get_universe_state", universeId=u, fields=["name", "mas", "massKg"])
        await universe_server.send(u, samples.command("updateStar", id="sun", payload={"massKg": 2e30}))
        stored = await read_state(client, u, ids=["sun"], fields=["massKg"])
    assert (error["argument"], error["universeId"]) == ("fields", u)
    assert "'mas'" in error["message"]
    assert error["nearest"]["mas"][0] == "mass"
    assert error["hint"].startswith("Did you mean 'mass'? ")
    assert "orbitalDistance" in error["allowed"]
    assert stored["stars"]["sun"] == {"massKg": 2e30}, "a field that an entity has is known"


@requirement("UN-6")
async def test_a_real_system_is_read_with_its_date_and_each_citation_once(universe_server: Served, u: str) -> None:
    requests = {"id": f"{u}-sol", "name": "Sol", "from": "trappist-1"}
    assert (await universe_server.http.post("/universes", json=requests)).status_code == 201
    whole = await universe_server.state(f"{u}-sol")
    async with agent(universe_server.mcp) as client:
        result = await client.call_tool("get_universe_state", {"universeId": f"{u}-sol"})
        alone = await read_state(client, f"{u}-sol", ids=["trappist-1-b"])
        bare = await read_state(client, f"{u}-sol", fields=["name"])
    reply = parse_strict_json(get_text(result))
    titles = {source["title"] for body in whole["stars"].values() for source in body["sources"]}
    assert {get_text(result).count(dumps(title)[1:-1]) for title in titles} == {1}
    for key, body in reply["stars"].items():
        restored = [{**reply["sources"].get(one["id"], {}), **one} for one in body["sources"]]
        assert {**body, "sources": restored} == whole["stars"][key]
    assert reply["timeUnit"] == "days"
    assert reply["date"].endswith("Z")
    assert alone["stars"]["trappist-1-b"] == whole["stars"]["trappist-1-b"], "what is cited once stays where it is"
    assert "sources" not in alone
    assert "sources" not in bare


@requirement("UN-6")
async def test_an_empty_list_of_ids_selects_no_entities(universe_server: Served, u: str) -> None:
    async with agent(universe_server.mcp) as client:
        reply = await read_state(client, u, ids=[])
    assert (reply["stars"], reply["notFound"]) == ({}, [])


@requirement("UN-6")
async def test_only_the_requested_fields_are_returned(universe_server: Served, u: str) -> None:
    async with agent(universe_server.mcp) as client:
        reply = await read_state(client, u, fields=["name", "children", "ring"])
        both = await read_state(client, u, ids=["sun"], fields=["mass"])
    assert reply["stars"] == {
        "sun": {"name": "Tyge", "children": ["earth"]},
        "earth": {"name": "Tyge", "children": ["moon"]},
        "moon": {"name": "Tyge", "children": []},
    }
    assert both["stars"] == {"sun": {"mass": 3.5}}


@requirement("UN-6")
async def test_an_earlier_version_is_returned_unchanged(universe_server: Served, u: str) -> None:
    async with agent(universe_server.mcp) as client:
        for version, bodies in enumerate([[], ["sun"], ["sun", "earth"], ["sun", "earth", "moon"]]):
            reply = await read_state(client, u, version=version)
            assert list(reply["stars"]) == bodies
            assert reply == {**await universe_server.state(u, version=version), "version": version}
        part = await read_state(client, u, version=2, ids=["earth", "moon"])
    assert part["stars"]["earth"]["children"] == []
    assert part["notFound"] == ["moon"]


@requirement("UN-6", "UN-16")
async def test_an_unknown_version_is_an_error_with_the_known_versions(universe_server: Served, u: str) -> None:
    async with agent(universe_server.mcp) as client:
        error = await call_failing_tool(client, "get_universe_state", universeId=u, version=4)
    assert error["code"] == "version_not_found"
    assert error["universeId"] == u
    assert "0 to 3" in error["allowed"] + error["hint"]


@requirement("UN-2")
@pytest.mark.parametrize(
    ("argument", "given"),
    [
        ("version", -1),
        ("version", 1.5),
        ("version", "latest"),
        ("version", True),
        ("maxBytes", 0),
        ("maxBytes", "many"),
        ("ids", "sun"),
        ("ids", [1]),
        ("fields", {"name": True}),
    ],
)
async def test_an_option_of_the_wrong_kind_is_refused_by_name(
    universe_server: Served, u: str, argument: str, given: Any
) -> None:
    async with agent(universe_server.mcp) as client:
        error = await call_failing_tool(client, "get_universe_state", universeId=u, **{argument: given})
    assert error["argument"] == argument
    assert argument in error["message"]


# When the state is larger than wanted


@requirement("UN-6", "UN-12")
async def test_a_state_within_the_limit_comes_whole_and_one_byte_more_does_not(universe_server: Served, u: str) -> None:
    await universe_server.send(u, [add_star(f"planet {number}", "sun", name="Ærø") for number in range(20)])
    async with agent(universe_server.mcp) as client:
        size = len(get_text(await client.call_tool("get_universe_state", {"universeId": u})).encode())
        assert await read_state(client, u, maxBytes=size) == {**await universe_server.state(u), "version": 23}
        assert (await read_state(client, u, maxBytes=size - 1))["isSummary"] is True


@requirement("UN-6", "UN-12")
@pytest.mark.parametrize("limit", [1_000, 2_000, 65_536])
async def test_a_larger_state_becomes_a_summary_that_fits_and_names_the_next_step(
    universe_server: Served, u: str, limit: int
) -> None:
    large = f"{u}-large"
    await universe_server.make(large, state=crowd(600, name="Tycho Brahé 🌟"))
    whole = await universe_server.state(large)
    async with agent(universe_server.mcp) as client:
        size = len(get_text(await client.call_tool("get_universe_state", {"universeId": large})).encode())
        printed = get_text(await client.call_tool("get_universe_state", {"universeId": large, "maxBytes": limit}))
        summary = parse_strict_json(printed)
        part = await read_state(client, large, ids=[summary["roots"][0]["id"]], fields=["children"])
    assert len(printed.encode()) <= limit < size
    assert (summary["id"], summary["version"]) == (large, 1)
    assert summary["stateBytes"] == pytest.approx(size, rel=0.01)
    assert summary["counts"]["stars"] == 601
    assert summary["isSummary"] is True
    assert all(word in summary["hint"] for word in ("get_universe_state", "ids", "fields"))
    assert part["stars"] == {"sun": {"children": whole["stars"]["sun"]["children"]}}


@requirement("UN-6")
async def test_a_summary_counts_the_roots_that_do_not_fit(universe_server: Served, u: str) -> None:
    many = f"{u}-many"
    stars = {f"root {number}": samples.a_body(f"root {number}", name="R" * 50) for number in range(500)}
    await universe_server.make(many, state=samples.a_snapshot(stars=stars, rootIds=list(stars)))
    async with agent(universe_server.mcp) as client:
        for limit in (1_000, 3_000, 10_000):
            summary = await read_state(client, many, maxBytes=limit)
            assert len(summary["roots"]) + summary["rootsNotShown"] == 500, limit


@requirement("UN-6")
async def test_the_limit_holds_for_a_part_of_the_state_too(universe_server: Served, u: str) -> None:
    large = f"{u}-large"
    await universe_server.make(large, state=crowd(600))
    async with agent(universe_server.mcp) as client:
        named = await read_state(client, large, fields=["name"], maxBytes=5_000)
        few = await read_state(client, large, ids=["sun", "b1"], fields=["name"], maxBytes=5_000)
    assert named["isSummary"] is True
    assert few["stars"] == {"sun": {"name": "Sun"}, "b1": {"name": "Tyge"}}


# The listing


@requirement("UN-7", "UN-13")
async def test_the_listing_has_the_ten_categories_in_the_words_of_the_specification(
    universe_server: Served, u: str
) -> None:
    async with agent(universe_server.mcp) as client:
        result = await client.call_tool("list_universe_commands", {"universeId": u})
    listed = parse_strict_json(get_text(result))["categories"]
    assert {one["name"]: [command["type"] for command in one["commands"]] for one in listed} == CATEGORIES
    assert [one["name"] for one in listed] == list(CATEGORIES)
    assert all(name in get_text(result) for name in CATEGORIES)
    assert result.structuredContent == parse_strict_json(get_text(result))


@requirement("UN-7", "UN-13")
async def test_every_command_is_listed_with_its_fields_an_example_and_its_refusals(
    universe_server: Served, u: str
) -> None:
    async with agent(universe_server.mcp) as client:
        listed = (await call_tool(client, "list_universe_commands", universeId=u))["categories"]
    commands = {command["type"]: command for one in listed for command in one["commands"]}
    for kind, command in commands.items():
        assert command.keys() >= {"type", "fields", "example", "refusals"}
        assert command["example"]["type"] == kind
        assert command["example"].keys() - {"type"} <= command["fields"].keys(), kind
        for name, field in command["fields"].items():
            assert field["type"], (kind, name)
            assert isinstance(field["required"], bool)
            assert not field["required"] or name in command["example"], (kind, name)
    assert commands["tick"]["fields"]["dt"]["default"] == 1
    assert any("starNotFound" in refusal for refusal in commands["updateStar"]["refusals"])
    assert commands["addStar"]["fields"]["payload"]["fields"]["mass"] == {
        "type": "number",
        "minimum": 0,
        "required": True,
    }


@requirement("UN-7")
async def test_every_listed_example_is_a_command_that_the_server_understands(universe_server: Served, u: str) -> None:
    async with agent(universe_server.mcp) as client:
        listed = (await call_tool(client, "list_universe_commands", universeId=u))["categories"]
        for example in (command["example"] for one in listed for command in one["commands"]):
            result = await client.call_tool("send_universe_command", {"universeId": u, "command": example})
            printed = parse_strict_json(get_text(result))
            assert not result.isError or "event" in printed["error"], printed


@requirement("UN-7")
async def test_the_listing_is_the_same_for_every_id_there_is_or_not(universe_server: Served, u: str) -> None:
    async with agent(universe_server.mcp) as client:
        texts = {
            get_text(await client.call_tool("list_universe_commands", {"universeId": each}))
            for each in (u, "u-missing", "", "__proto__", "🌌", "x" * 1_000)
        }
        await send_command(client, u, samples.example("replaceSnapshot"))
        texts.add(get_text(await client.call_tool("list_universe_commands", {"universeId": u})))
    assert len(texts) == 1


@requirement("UN-7")
async def test_one_category_is_listed_by_its_name_or_its_slug(universe_server: Served, u: str) -> None:
    async with agent(universe_server.mcp) as client:
        whole = (await call_tool(client, "list_universe_commands", universeId=u))["categories"]
        for one in whole:
            for name in (one["name"], one["slug"]):
                reply = await call_tool(client, "list_universe_commands", universeId=u, category=name)
                assert reply == {"categories": [one]}
    assert [one["slug"] for one in whole] == [name.lower().replace(" ", "-") for name in CATEGORIES]


@requirement("UN-7")
@pytest.mark.parametrize("category", ["stars", "", "Stars"])
async def test_an_unknown_category_is_an_error_with_those_there_are(
    universe_server: Served, u: str, category: str
) -> None:
    async with agent(universe_server.mcp) as client:
        error = await call_failing_tool(client, "list_universe_commands", universeId=u, category=category)
    assert len(error["allowed"]) == 10
    assert {"star-crud", "simulation", "snapshot"} < set(error["allowed"])


# Every result


@requirement("UN-10", "UN-11", "UN-12")
@pytest.mark.parametrize("tool", sorted(TOOLS))
async def test_a_success_is_text_that_is_json_and_not_marked_as_an_error(
    universe_server: Served, u: str, tool: str
) -> None:
    command = {"command": samples.command("tick")} if tool == "send_universe_command" else {}
    async with agent(universe_server.mcp) as client:
        result = await client.call_tool(tool, {"universeId": u, **command})
    assert result.isError is False
    assert [block.type for block in result.content] == ["text"]
    assert isinstance(parse_strict_json(get_text(result)), dict)
    assert "\n" not in get_text(result), "replies are not indented"


@requirement("UN-10")
async def test_a_failure_is_text_and_marked_as_an_error(universe_server: Served, u: str) -> None:
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("get_universe_state", {"universeId": "u-missing"}),
        ("get_universe_state", {}),
        ("list_universe_commands", {"universeId": u, "category": "none"}),
        ("send_universe_command", {"universeId": u, "command": {"type": "none"}}),
        ("send_universe_command", {"universeId": u, "command": samples.command("removeStar", id="none")}),
        ("no_such_tool", {}),
    ]
    async with agent(universe_server.mcp) as client:
        for tool, arguments in wrong:
            result = await client.call_tool(tool, arguments)
            assert result.isError is True
            assert [block.type for block in result.content] == ["text"]
            assert get_text(result).strip()


@requirement("UN-12")
async def test_odd_texts_come_back_as_they_were(universe_server: Served, u: str) -> None:
    odd = 'Ö "\\\u2028\u2029\x85\t\n</script> 𝒜 🌟\x00'
    async with agent(universe_server.mcp) as client:
        await send_command(client, u, add_star("odd", name=odd))
        assert (await read_state(client, u))["stars"]["odd"]["name"] == odd
