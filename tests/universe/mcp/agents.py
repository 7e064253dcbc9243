"""Calls of the official MCP client, with checks of every reply."""

import json
from typing import Any, NoReturn

from mcp.types import CallToolResult

from uraniborg.kernel.mcp.testing import ClientSession, connect_http_client, get_text

agent = connect_http_client

TOOLS = {"get_universe_state", "list_universe_commands", "send_universe_command"}


def parse_strict_json(text: str) -> Any:
    """What JSON says that has neither NaN nor infinities."""

    def refuse(constant: str) -> NoReturn:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


async def call_tool(client: ClientSession, tool: str, /, **arguments: Any) -> Any:
    """What a call says that must succeed: one text block of JSON."""
    result = await client.call_tool(tool, arguments)
    assert not result.isError, get_text(result)
    return parse_strict_json(get_text(result))


async def call_failing_tool(client: ClientSession, tool: str, /, **arguments: Any) -> dict[str, Any]:
    """How a call fails that must fail."""
    return get_error(await client.call_tool(tool, arguments))


def get_error(result: CallToolResult) -> dict[str, Any]:
    """The error of a failed result: one text block with the one shape that errors have."""
    assert result.isError is True, get_text(result)[:1_000]
    body = parse_strict_json(get_text(result))
    assert body.keys() == {"error"}
    error = body["error"]
    assert error.keys() >= {"code", "message", "hint"}
    assert error["code"]
    assert error["message"].strip()
    return error


async def read_state(client: ClientSession, universe_id: str, **options: Any) -> dict[str, Any]:
    return await call_tool(client, "get_universe_state", universeId=universe_id, **options)


async def send_command(client: ClientSession, universe_id: str, command: Any, **options: Any) -> dict[str, Any]:
    return await call_tool(client, "send_universe_command", universeId=universe_id, command=command, **options)


async def send_refused_command(client: ClientSession, universe_id: str, command: Any, **options: Any) -> dict[str, Any]:
    return await call_failing_tool(client, "send_universe_command", universeId=universe_id, command=command, **options)
