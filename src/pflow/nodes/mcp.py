"""Nodes that call tools of MCP servers. A run connects to each server once, and again only if it was lost."""

import asyncio
import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from pflow.errors import NodeFailed
from pflow.ir.diagnostics import nearest
from pflow.mcp_servers import connected
from pflow.node import Context
from pflow.nodes.excerpts import beginning, masked
from uraniborg.kernel.errors import InvalidInput, UraniborgError
from uraniborg.kernel.logging import printable

if TYPE_CHECKING:
    from pathlib import Path

    from uraniborg.kernel.mcp.client import RemoteServer, ToolReply

TARGET: Final = "__target__"
"""The parameter in which the engine says which tool a type such as `mcp-github-create_issue` stands for."""
_PATIENCE_S: Final = 300.0
_SHOWN: Final = 500
_LISTED: Final = 50
_LISTING_S: Final = 5.0
_UNKNOWN: Final = re.compile(
    r"\b(unknown|no such|no tool|not found|not exist|not available|invalid tool)\b", re.IGNORECASE
)


async def call(params: dict[str, Any], context: Context) -> Mapping[str, Any]:
    return await _called(context, params["server"], params["tool"], params.get("arguments") or {})


async def call_tool(params: dict[str, Any], context: Context) -> Mapping[str, Any]:
    """The tool has its own defaults: what nobody gave is not sent."""
    server, _, tool = params[TARGET].partition("/")
    arguments = {key: value for key, value in params.items() if key != TARGET and value is not None}
    return await _called(context, server, tool, arguments)


class _Line:
    """The connection to one server for as long as a run lasts."""

    def __init__(self, home: "Path", server: str) -> None:
        self._home = home
        self._server = server
        self._connection: RemoteServer | None = None
        self._connecting = asyncio.Lock()

    async def connection(self) -> "RemoteServer":
        async with self._connecting:
            if self._connection is None or not self._connection.is_open:
                await self.close()
                self._connection = await connected(self._home, self._server)
            return self._connection

    async def close(self) -> None:
        if self._connection is not None:
            await self._connection.close()


async def _called(context: Context, server: str, tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    async def make() -> _Line:
        return _Line(context.home, server)

    line = await make() if context.keeper is None else await context.keeper.keep(f"mcp server {server}", make)
    try:
        connection = await line.connection()
        # The engine gives up first, and says so in its own words.
        patience = _PATIENCE_S if context.timeout is None else context.timeout + 1
        try:
            reply = await connection.call_tool(tool, arguments, patience)
        except InvalidInput as refusal:
            await _check_known(connection, tool, refusal.message)
            raise
        if reply.is_error and _UNKNOWN.search(message := _message(_result(reply), context)):
            await _check_known(connection, tool, message)
    finally:
        if context.keeper is None:
            await line.close()
    outputs = {"result": _result(reply), "is_error": reply.is_error}
    if reply.is_error:
        raise NodeFailed(
            f"The tool {tool} of MCP server '{server}' failed: {_message(outputs['result'], context)}",
            hint="Check its arguments; the server says what was wrong.",
            outputs=outputs,
            server=server,
            tool=tool,
        )
    return outputs


async def _check_known(connection: "RemoteServer", tool: str, message: str) -> None:
    """Raises NodeFailed, with what the server said, if it has no such tool: each tells that in another way."""
    try:
        known = [str(one["name"]) for one in await connection.list_tools(_LISTING_S)]
    except UraniborgError:
        return
    if tool in known:
        return
    meant = nearest(tool, known)
    raise NodeFailed(
        f"MCP server '{connection.name}' lists no tool '{printable(tool[:80])}', and says: {message}",
        hint=f"Did you mean {meant}?" if meant else f"It has: {', '.join(known[:_LISTED])}.",
        server=connection.name,
        tool=tool,
        available=known[:_LISTED],
    )


def _result(reply: "ToolReply") -> Any:
    """The structured content, out of the object that servers wrap around what is none; else what the blocks say."""
    if reply.structured is not None:
        return reply.structured["result"] if list(reply.structured) == ["result"] else reply.structured
    said = [_said(block) for block in reply.content]
    return said[0] if len(said) == 1 else said


def _said(block: Mapping[str, Any]) -> Any:
    text = block.get("text")
    if block.get("type") != "text" or not isinstance(text, str):
        return dict(block)
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _message(result: Any, context: Context) -> str:
    """What a tool says of its failure, in the shapes that are usual."""
    for key in ("error", "message"):
        if isinstance(result, dict) and key in result:
            result = cast("dict[str, Any]", result)[key]
    text = result if isinstance(result, str) else json.dumps(masked(result, context))
    return beginning(text, _SHOWN, context) or "it did not say why"
