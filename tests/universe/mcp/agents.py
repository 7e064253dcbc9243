"""The official client, and what must hold for every answer it gets."""

import json
from typing import Any, NoReturn

from mcp.types import CallToolResult

from uraniborg.kernel.mcp.testing import ClientSession, http_client_for, text_of

agent = http_client_for

TOOLS = {"get_universe_state", "list_universe_commands", "send_universe_command"}


def strictly(text: str) -> Any:
    """What JSON says that has neither NaN nor infinities."""

    def refuse(constant: str) -> NoReturn:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


async def answer(client: ClientSession, tool: str, /, **arguments: Any) -> Any:
    """What a call says that must succeed: one text block of JSON."""
    result = await client.call_tool(tool, arguments)
    assert not result.isError, text_of(result)
    return strictly(text_of(result))


async def failure(client: ClientSession, tool: str, /, **arguments: Any) -> dict[str, Any]:
    """How a call fails that must fail."""
    return error_in(await client.call_tool(tool, arguments))


def error_in(result: CallToolResult) -> dict[str, Any]:
    """The error of a failed result: one text block with the one shape that errors have."""
    assert result.isError is True, text_of(result)[:1_000]
    body = strictly(text_of(result))
    assert body.keys() == {"error"}
    error = body["error"]
    assert error.keys() >= {"code", "message", "hint"}
    assert error["code"]
    assert error["message"].strip()
    return error


async def state_of(client: ClientSession, universe_id: str, **options: Any) -> dict[str, Any]:
    return await answer(client, "get_universe_state", universeId=universe_id, **options)


async def send(client: ClientSession, universe_id: str, command: Any, **options: Any) -> dict[str, Any]:
    return await answer(client, "send_universe_command", universeId=universe_id, command=command, **options)


async def refused(client: ClientSession, universe_id: str, command: Any, **options: Any) -> dict[str, Any]:
    return await failure(client, "send_universe_command", universeId=universe_id, command=command, **options)
