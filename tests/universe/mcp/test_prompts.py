"""The prompt of the universe server."""

from tests.prompt_client import complete_argument, read_prompt
from tests.requirements import requirement
from tests.universe.mcp.agents import agent
from tests.universe.mcp.served_universes import Served
from universe.domain.systems.catalogue import list_system_names


@requirement("UN-17")
async def test_a_universe_is_explored_and_changed_only_after_the_person_agrees(universe_server: Served, u: str) -> None:
    async with agent(universe_server.mcp) as client:
        (prompt,) = (await client.list_prompts()).prompts
        assert [(argument.name, argument.required) for argument in prompt.arguments or []] == [("system", True)]
        text = await read_prompt(client, "explore_system", system=u)
        tools = {tool.name: tool.inputSchema["properties"] for tool in (await client.list_tools()).tools}
    assert text.count(f'universeId "{u}"') == 3
    assert {"universeId", "maxBytes", "ids", "fields"} <= tools["get_universe_state"].keys()
    assert {"universeId", "category"} <= tools["list_universe_commands"].keys()
    assert "I decide about every change" in text


async def test_ids_of_universes_and_names_of_real_systems_are_completed(universe_server: Served, u: str) -> None:
    async with agent(universe_server.mcp) as client:
        assert (await complete_argument(client, "explore_system", "system", u))[0] == u
        assert await complete_argument(client, "explore_system", "system", "TRAPP") == ["trappist-1"]


async def test_a_real_system_without_a_universe_is_created_by_the_person(universe_server: Served) -> None:
    async with agent(universe_server.mcp) as client:
        text = await read_prompt(client, "explore_system", system="Kepler-90")
    assert "universe new --from kepler-90 --id kepler-90\n" in text
    assert 'universeId "kepler-90"' in text


async def test_an_unknown_name_leads_to_a_choice(universe_server: Served, u: str) -> None:
    async with agent(universe_server.mcp) as client:
        text = await read_prompt(client, "explore_system", system="{id} nowhere")
    assert '"{id} nowhere"' in text
    assert f'"{u}"' in text
    assert all(name in text for name in list_system_names())
