"""Calls that reach the wrong server of the project are answered with the right one."""

import pytest

from tests.test_tool_arguments import making_servers
from uraniborg.kernel.mcp import make_server
from uraniborg.kernel.mcp.server import UnknownTool
from uraniborg.kernel.mcp.testing import McpError, connect_client, get_json
from uraniborg.kernel.mcp.tool_calls import TOOLS, find_address_owner_hint, find_tool_owner_hint


async def test_the_table_has_exactly_the_tools_of_the_four_servers() -> None:
    with making_servers() as servers:
        real = {server.name: tuple([tool.name for tool in await server.list_tools()]) for server in servers.values()}
    assert real == TOOLS


async def test_every_tool_of_another_server_is_answered_with_the_name_of_that_server() -> None:
    with making_servers() as servers:
        for server in servers.values():
            own = TOOLS[server.name]
            for owner, tools in TOOLS.items():
                for tool in set(tools) - set(own):
                    error = get_json(await server.call_tool(tool, {}))["error"]
                    assert error["code"] == UnknownTool.code
                    assert error["hint"].startswith(f"{tool} is a tool of the "), error
                    assert owner in error["hint"].partition(". ")[0]


@pytest.mark.parametrize(
    ("server", "uri", "owner"),
    [
        ("paper-search", "paper://mayor1995/source", "paper-library"),
        ("paper-search", "universe://universes/u1", "universe"),
        ("paper-library", "paper-search://sessions", "paper-search"),
        ("universe", "paper://mayor1995/source", "paper-library"),
    ],
)
async def test_an_address_of_another_server_is_answered_with_the_name_of_that_server(
    server: str, uri: str, owner: str
) -> None:
    with making_servers() as servers:
        asked = next(one for one in servers.values() if one.name == server)
        async with connect_client(asked) as client:
            with pytest.raises(McpError) as caught:
                await client.read_resource(uri)  # pyright: ignore[reportArgumentType]
    assert f"The {owner} server reads addresses that begin with {uri.partition('://')[0]}://." in str(caught.value)


def test_own_names_unknown_names_and_foreign_servers_get_no_such_hint() -> None:
    assert not find_tool_owner_hint("paper-search", "search_papers").startswith(
        "search_papers is a tool of the paper-s"
    )
    assert find_tool_owner_hint("paper-search", "brew_coffee") == ""
    assert find_tool_owner_hint("somebody's", "decide") == ""
    assert find_address_owner_hint("universe", "universe://universes/x/y") == ""
    assert find_address_owner_hint("universe", "paper") == ""
    assert find_address_owner_hint(make_server("x", version="1", instructions="").name, "paper://a") == ""
