"""The published descriptions and schemas of the tools are accurate."""

from json import dumps, loads
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from mcp.types import Tool
from pydantic import AnyUrl

from tests.requirements import requirement
from tests.requirements.ledger import list_quoted_names
from tests.universe.domain import samples
from tests.universe.mcp.agents import TOOLS, agent, call_failing_tool, call_tool, get_error
from tests.universe.mcp.served_universes import Served
from tests.universe.mcp.wire import Wire, initialize, message_in
from universe.domain.commands import COMMAND_CLASSES

COMMANDS = set(samples.EXAMPLES)
MALFORMED: list[dict[str, Any]] = [
    {},
    {"type": None},
    {"type": 7},
    {"type": "explode"},
    {"type": "Tick"},
    {"dt": 1},
    {"type": "tick", "dt": "5"},
    {"type": "tick", "dt": None},
    {"type": "tick", "seconds": 1},
    {"type": "addStar", "id": "x"},
    {"type": "addStar", "id": "", "payload": samples.a_payload()},
    {"type": "addStar", "id": "x", "payload": {"name": "x"}},
    {"type": "addStar", "id": "x", "payload": samples.a_payload(mass="heavy")},
    {"type": "addStar", "id": "x", "payload": samples.a_payload(bodyType="dragon")},
    {"type": "updateStar", "id": "sun", "payload": {"mass": None}},
    {"type": "moveToGroup", "childId": "sun", "childType": "planet", "targetGroupId": None},
    {"type": "setNebulae"},
    {"type": "replaceSnapshot", "snapshot": {}},
]


async def tools_of(universe_server: Served) -> dict[str, Tool]:
    async with agent(universe_server.mcp) as client:
        listed = await client.list_tools()
    assert listed.nextCursor is None
    return {tool.name: tool for tool in listed.tools}


def schema_errors(schema: dict[str, Any], command: Any) -> list[str]:
    """Return the messages of the errors that a schema finds in a command."""
    check: Any = Draft202012Validator(schema)
    return [error.message for error in check.iter_errors(command)]


async def command_schema(universe_server: Served) -> dict[str, Any]:
    """Return the schema of a command with its definitions, so that it can be used alone."""
    schema = (await tools_of(universe_server))["send_universe_command"].inputSchema
    return {**schema["properties"]["command"], "$defs": schema.get("$defs", {})}


@requirement("UN-1")
async def test_a_client_sees_three_tools_and_no_other(universe_server: Served) -> None:
    async with agent(universe_server.mcp) as client:
        listed = await client.list_tools()
    assert sorted(tool.name for tool in listed.tools) == sorted(TOOLS)
    assert listed.nextCursor is None


@requirement("UN-1", "UN-17")
async def test_the_three_tools_are_listed_to_a_plain_post(wire: Wire) -> None:
    session = await wire.begin()
    tools = (await session.ask("tools/list"))["result"]["tools"]
    assert len(tools) == 3
    assert {tool["name"] for tool in tools} == TOOLS


@requirement("UN-1")
async def test_a_tool_that_is_not_one_of_the_three_is_an_error_that_names_them(universe_server: Served, u: str) -> None:
    async with agent(universe_server.mcp) as client:
        error = await call_failing_tool(client, "delete_universe", universeId=u)
    assert error["code"] == "unknown_tool"
    assert set(error["allowed"]) == TOOLS


@requirement("UN-2")
async def test_every_tool_has_a_name_a_description_and_a_sound_input_schema(universe_server: Served) -> None:
    for name, tool in (await tools_of(universe_server)).items():
        assert tool.title
        assert tool.description, name
        assert len(tool.description) > 80, name
        assert tool.inputSchema["type"] == "object"
        Draft202012Validator.check_schema(tool.inputSchema)


ANY_VALUES: list[Any] = [
    *(None, True, False, 7, 0, -1, 1.5, 10**6, "", "x", "x" * 201, "x" * 1_001, "state"),
    *([], ["name"], [1], ["name"] * 201, ["name"] * 10_001, {}, {"name": 1}),
]
"""Values of every type, within and beyond every bound that an argument has."""


@requirement("UN-2")
@pytest.mark.parametrize("tool", sorted(TOOLS))
async def test_the_server_refuses_a_value_of_an_argument_if_and_only_if_the_schema_does(
    universe_server: Served, u: str, tool: str
) -> None:
    schema = (await tools_of(universe_server))[tool].inputSchema
    whole: dict[str, Any] = {"universeId": u}
    if tool == "send_universe_command":
        whole["command"] = samples.command("removeStar", id="none")  # refused by the universe, once it is understood
    refusals = dict.fromkeys(schema["properties"].keys() - {"command"}, 0)
    async with agent(universe_server.mcp) as client:
        for argument in refusals:
            for value in ANY_VALUES:
                result = await client.call_tool(tool, {**whole, argument: value})
                error = get_error(result) if result.isError else {}
                is_refused = error.get("code") == "invalid_argument" and error.get("argument") == argument
                is_described = not schema_errors(
                    {**schema, "$defs": schema.get("$defs", {})}, {**whole, argument: value}
                )
                assert is_refused is not is_described, (argument, str(value)[:40], error)
                refusals[argument] += is_refused
    assert all(count >= 5 for count in refusals.values()), refusals
    assert await universe_server.version(u) == 3


@requirement("UN-2")
async def test_each_tool_has_a_name_and_a_description_of_its_own_that_a_person_can_read(
    universe_server: Served,
) -> None:
    tools = await tools_of(universe_server)
    assert tools.keys() == TOOLS
    first = {name: (tool.description or "").split(".")[0] for name, tool in tools.items()}
    assert first["get_universe_state"].startswith("Return the state of a universe")
    assert first["list_universe_commands"].startswith("List the commands that change a universe")
    assert first["send_universe_command"].startswith("Change a universe by one command")
    for name, tool in tools.items():
        assert set(tool.inputSchema["required"]) <= tool.inputSchema["properties"].keys(), name
        assert all(len(word) < 40 for word in (tool.description or "").split()), name


@requirement("UN-2")
async def test_every_argument_is_described_and_others_are_shut_out(universe_server: Served) -> None:
    for name, tool in (await tools_of(universe_server)).items():
        assert tool.inputSchema["additionalProperties"] is False
        for argument, schema in tool.inputSchema["properties"].items():
            assert schema.get("description"), (name, argument)


@requirement("UN-2")
@pytest.mark.parametrize("tool", sorted(TOOLS))
async def test_an_argument_that_a_tool_does_not_have_is_refused_with_those_it_has(
    universe_server: Served, u: str, tool: str
) -> None:
    given: dict[str, Any] = {"universeId": u, "universe_id": u}
    if tool == "send_universe_command":
        given["command"] = samples.command("tick")
    async with agent(universe_server.mcp) as client:
        error = await call_failing_tool(client, tool, **given)
    assert error["argument"] == "universe_id"
    assert "universeId" in error["allowed"]
    assert await universe_server.version(u) == 3


@requirement("UN-3")
async def test_the_state_needs_a_universe_and_nothing_else(universe_server: Served) -> None:
    schema = (await tools_of(universe_server))["get_universe_state"].inputSchema
    assert schema["required"] == ["universeId"]
    assert schema["properties"]["universeId"]["type"] == "string"
    assert schema["properties"].keys() == {"universeId", "ids", "fields", "version", "maxBytes"}
    assert schema["properties"].keys() - {"universeId"} in list_quoted_names("UN-3")
    assert schema["properties"]["maxBytes"].get("default") is None


@requirement("UN-4")
async def test_the_listing_needs_a_universe_and_nothing_else(universe_server: Served) -> None:
    schema = (await tools_of(universe_server))["list_universe_commands"].inputSchema
    assert schema["required"] == ["universeId"]
    assert schema["properties"]["universeId"]["type"] == "string"
    assert schema["properties"].keys() == {"universeId", "category"}
    assert {"category"} in list_quoted_names("UN-4")


@requirement("UN-5")
async def test_a_command_needs_a_universe_and_itself(universe_server: Served) -> None:
    schema = (await tools_of(universe_server))["send_universe_command"].inputSchema
    assert sorted(schema["required"]) == ["command", "universeId"]
    assert schema["properties"]["universeId"]["type"] == "string"
    options = {"return", "expectedVersion", "idempotencyKey"}
    assert schema["properties"].keys() == {"universeId", "command"} | options
    assert options in list_quoted_names("UN-5")


@requirement("UN-5")
async def test_the_schema_of_a_command_asks_for_an_object_with_a_type(universe_server: Served) -> None:
    schema = await command_schema(universe_server)
    assert schema["type"] == "object"
    assert schema["required"] == ["type"]
    assert schema["properties"]["type"]["type"] == "string"


@requirement("UN-5")
async def test_the_schema_of_a_command_has_the_25_commands_to_choose_from_with_their_fields(
    universe_server: Served,
) -> None:
    schema = await command_schema(universe_server)
    assert set(schema["properties"]["type"]["enum"]) == COMMANDS
    choices = {choice["properties"]["type"]["const"]: choice for choice in schema["oneOf"]}
    assert choices.keys() == COMMANDS
    for name, choice in choices.items():
        assert choice["properties"].keys() == COMMAND_CLASSES[name].__annotations__.keys()
        assert set(choice["required"]) == COMMAND_CLASSES[name].__required_keys__
        assert choice["additionalProperties"] is False
    assert "one simulation second is one day" in choices["tick"]["properties"]["dt"]["description"]


async def test_instructions_and_tools_cost_an_agent_at_most_3500_tokens(wire: Wire) -> None:
    session = await wire.begin()
    tools = (await session.ask("tools/list"))["result"]
    greeting = message_in(await wire.post(initialize()))["result"]
    assert len(dumps(tools, ensure_ascii=False)) + len(greeting["instructions"]) < 4 * 3_500


async def test_the_instructions_list_tasks_outside_mcp_and_their_interfaces(wire: Wire) -> None:
    instructions = message_in(await wire.post(initialize()))["result"]["instructions"]
    lacking = instructions.split("Not over MCP:")[1]
    for word in ("create", "undo", "branch", "N-body", "REST", "command line", "POST /universes", "universe new"):
        assert word in lacking, word
    assert "dt 365.25 is a year" in instructions


async def test_the_whole_schema_of_commands_is_a_resource(universe_server: Served) -> None:
    async with agent(universe_server.mcp) as client:
        read = await client.read_resource(AnyUrl("universe://reference/command-schema"))
    whole = loads(read.contents[0].text)  # type: ignore[union-attr]
    Draft202012Validator.check_schema(whole)
    for kind in COMMANDS:
        assert schema_errors(whole, samples.example(kind)) == []
    for command in MALFORMED:
        assert schema_errors(whole, command) != [], command


@requirement("UN-5", "UN-7")
async def test_the_schema_takes_every_example_that_the_listing_gives(universe_server: Served, u: str) -> None:
    schema = await command_schema(universe_server)
    async with agent(universe_server.mcp) as client:
        listed = await call_tool(client, "list_universe_commands", universeId=u)
    examples = [command["example"] for category in listed["categories"] for command in category["commands"]]
    assert {example["type"] for example in examples} == COMMANDS
    for example in examples:
        assert schema_errors(schema, example) == [], example["type"]


@requirement("UN-5")
async def test_the_schema_takes_a_command_of_each_kind(universe_server: Served) -> None:
    schema = await command_schema(universe_server)
    for kind in COMMANDS:
        assert schema_errors(schema, samples.example(kind)) == [], kind


@requirement("UN-2", "UN-5")
async def test_the_server_refuses_commands_that_the_schema_refuses(universe_server: Served, u: str) -> None:
    schema = await command_schema(universe_server)
    inside = [command for command in MALFORMED if schema_errors(schema, command) == []]
    assert len(inside) == 6, "what is wrong inside a payload the tool's schema does not see, and the resource's does"
    async with agent(universe_server.mcp) as client:
        for command in MALFORMED:
            error = await call_failing_tool(client, "send_universe_command", universeId=u, command=command)
            assert error["code"] in {"malformed_command", "unknown_command"}, command
    assert await universe_server.version(u) == 3


@requirement("UN-3", "UN-4", "UN-5")
@pytest.mark.parametrize("tool", sorted(TOOLS))
async def test_a_universe_is_named_by_text_alone(universe_server: Served, u: str, tool: str) -> None:
    command = {"command": samples.command("tick")} if tool == "send_universe_command" else {}
    given: list[dict[str, Any]] = [{"universeId": one} for one in (None, 1, 1.5, True, [], [u], {}, {"id": u})]
    async with agent(universe_server.mcp) as client:
        for universe in ({}, *given):
            error = await call_failing_tool(client, tool, **universe, **command)
            assert error["argument"] == "universeId", universe
            assert "universeId" in error["message"]
            assert "universeId" in error["hint"]


@requirement("UN-5")
async def test_a_call_without_a_command_is_refused(universe_server: Served, u: str) -> None:
    async with agent(universe_server.mcp) as client:
        error = await call_failing_tool(client, "send_universe_command", universeId=u)
    assert error["argument"] == "command"


async def test_reading_tools_declare_that_they_only_read_and_the_sending_one_that_it_changes(
    universe_server: Served,
) -> None:
    tools = await tools_of(universe_server)
    for name, tool in tools.items():
        reply = tool.annotations
        assert reply is not None
        reads = name != "send_universe_command"
        assert (reply.readOnlyHint, reply.idempotentHint, reply.destructiveHint) == (reads, reads, not reads), name
        assert reply.openWorldHint is False


async def test_the_descriptions_lead_from_one_tool_to_the_next(universe_server: Served) -> None:
    tools = await tools_of(universe_server)
    assert "send_universe_command" in (tools["list_universe_commands"].description or "")
    command = tools["send_universe_command"].inputSchema["properties"]["command"]
    assert "list_universe_commands" in command["description"]
