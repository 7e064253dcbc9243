"""Calls of the official MCP client, with checks of every reply."""

import json
from typing import Any, NoReturn

from mcp.types import CallToolResult

from uraniborg.kernel.mcp.testing import ClientSession, connect_http_client, get_text

agent = connect_http_client

TOOLS = {"get_universe_state", "list_universe_commands", "send_universe_command"}


def parse_strict_json(text: str) -> Any:
    """Parse JSON and fail on NaN and infinities."""

    def refuse(constant: str) -> NoReturn:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


async def call_tool(client: ClientSession, tool: str, /, **arguments: Any) -> Any:
    """Call a tool that must succeed, and return the JSON of its one text block."""
    result = await client.call_tool(tool, arguments)
    assert not result.isError, get_text(result)
    return parse_strict_json(get_text(result))


async def call_failing_tool(client: ClientSession, tool: str, /, **arguments: Any) -> dict[str, Any]:
    """Call a tool that must fail, and return its error."""
    return get_error(await client.call_tool(tool, arguments))


def get_error(result: CallToolResult) -> dict[str, Any]:
    """Return the error of a failed result, which is one text block in the common error shape."""
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
