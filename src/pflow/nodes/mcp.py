"""Nodes that call tools of MCP servers. A run connects to each server once, and again only if it was lost."""

import asyncio
import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, TypedDict, cast

from pflow.domain.node import NodeContext
from pflow.domain.redaction import cut_masked_start, mask_secrets
from pflow.errors import NodeFailed
from pflow.service.remote_mcp_servers import connect_to_server
from uraniborg.kernel.boundary import parse_lenient_json
from uraniborg.kernel.errors import InvalidInput, UraniborgError
from uraniborg.kernel.language.messages import find_nearest_name
from uraniborg.kernel.logging import make_printable

if TYPE_CHECKING:
    from pathlib import Path

    from uraniborg.kernel.json_values import Json, JsonObject
    from uraniborg.kernel.mcp.remote_server import RemoteServer, ToolReply

TARGET: Final = "__target__"
"""The parameter with the tool of a type such as `mcp-github-create_issue`; the engine sets it."""
_PATIENCE_S: Final = 300.0
_SHOWN: Final = 500
_LISTED: Final = 50
_LISTING_S: Final = 5.0
_UNKNOWN: Final = re.compile(
    r"\b(unknown|no such|no tool|not found|not exist|not available|invalid tool)\b", re.IGNORECASE
)


class ToolOutputs(TypedDict):
    result: "Json"
    is_error: bool


async def call_named_tool(params: "JsonObject", context: NodeContext) -> ToolOutputs:
    arguments = cast("JsonObject", params.get("arguments") or {})
    return await _call_server_tool(context, str(params["server"]), str(params["tool"]), arguments)


async def call_tool(params: "JsonObject", context: NodeContext) -> ToolOutputs:
    """Call the tool of a node type. Parameters that were not given are not sent, so the tool's defaults apply."""
    server, _, tool = str(params[TARGET]).partition("/")
    arguments = {key: value for key, value in params.items() if key != TARGET and value is not None}
    return await _call_server_tool(context, server, tool, arguments)


class _ServerConnection:
    """The connection to one server for as long as a run lasts."""

    def __init__(self, home: "Path", server: str) -> None:
        self._home = home
        self._server = server
        self._connection: RemoteServer | None = None
        self._connecting = asyncio.Lock()

    async def connect_if_needed(self) -> "RemoteServer":
        async with self._connecting:
            if self._connection is None or not self._connection.is_open:
                await self.close()
                self._connection = await connect_to_server(self._home, self._server)
            return self._connection

    async def close(self) -> None:
        if self._connection is not None:
            await self._connection.close()


async def _call_server_tool(
    context: NodeContext, server: str, tool: str, arguments: "Mapping[str, Json]"
) -> ToolOutputs:
    async def make() -> _ServerConnection:
        return _ServerConnection(context.home, server)

    shared = (
        await make()
        if context.shared_objects is None
        else await context.shared_objects.get_or_create(f"mcp server {server}", make)
    )
    try:
        connection = await shared.connect_if_needed()
        # The timeout of the engine comes first, with a better message.
        patience = _PATIENCE_S if context.timeout is None else context.timeout + 1
        try:
            reply = await connection.call_tool(tool, arguments, patience)
        except InvalidInput as refusal:
            await _require_known_tool(connection, tool, refusal.message)
            raise
        if reply.is_error and _UNKNOWN.search(message := _extract_error_message(_extract_result(reply), context)):
            await _require_known_tool(connection, tool, message)
    finally:
        if context.shared_objects is None:
            await shared.close()
    outputs: ToolOutputs = {"result": _extract_result(reply), "is_error": reply.is_error}
    if reply.is_error:
        raise NodeFailed(
            f"The tool {tool} of MCP server '{server}' failed: {_extract_error_message(outputs['result'], context)}",
            hint="Check its arguments; the error of the server has the reason.",
            outputs=outputs,
            server=server,
            tool=tool,
        )
    return outputs


async def _require_known_tool(connection: "RemoteServer", tool: str, message: str) -> None:
    """Raise NodeFailed, with the message of the server, if the server does not list the tool."""
    try:
        known = [str(one["name"]) for one in await connection.list_tools(_LISTING_S)]
    except UraniborgError:
        return
    if tool in known:
        return
    nearest = find_nearest_name(tool, known)
    raise NodeFailed(
        f"MCP server '{connection.name}' does not list a tool '{make_printable(tool[:80])}'. Its message: {message}",
        hint=f"Did you mean {nearest}?" if nearest else f"It has: {', '.join(known[:_LISTED])}.",
        server=connection.name,
        tool=tool,
        available=known[:_LISTED],
    )


def _extract_result(reply: "ToolReply") -> "Json":
    """Return the structured content, unwrapped from a `result` key; else the content blocks."""
    if reply.structured is not None:
        return reply.structured["result"] if list(reply.structured) == ["result"] else reply.structured
    blocks = [_convert_content_block(block) for block in reply.content]
    return blocks[0] if len(blocks) == 1 else blocks


def _convert_content_block(block: "Mapping[str, Json]") -> "Json":
    text = block.get("text")
    if block.get("type") != "text" or not isinstance(text, str):
        return dict(block)
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return parse_lenient_json(text)
    except ValueError:
        return text


def _extract_error_message(result: "Json", context: NodeContext) -> str:
    """Return the error message of a tool from the usual shapes of replies."""
    for key in ("error", "message"):
        if isinstance(result, dict) and key in result:
            result = result[key]
    text = result if isinstance(result, str) else json.dumps(mask_secrets(result, context))
    return cut_masked_start(text, _SHOWN, context) or "no reason given"
