"""A client of the MCP server in this process."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from pydantic_core import to_json

from paper_search import mcp_server
from paper_search.service.sessions import SessionManager
from tests.paper_search.service.sessions.helpers import DataFolder
from uraniborg.kernel.mcp.testing import ClientSession, connect_client, get_text

MAX_BYTES = 25_000


@asynccontextmanager
async def open_manager(data_folder: DataFolder) -> AsyncGenerator[SessionManager]:
    """Use the data folder for the sessions of the server until the block ends."""
    with pytest.MonkeyPatch.context() as patch:
        async with data_folder.open_manager() as manager:
            patch.setattr(mcp_server, "_session_manager", manager)
            yield manager


@asynccontextmanager
async def open_client(data_folder: DataFolder) -> AsyncGenerator[ClientSession]:
    """Yield a client of a new server on this data folder."""
    async with open_manager(data_folder), connect_client(mcp_server.mcp) as client:
        yield client


async def call_tool(client: ClientSession, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool that must not fail; return its reply."""
    result = await client.call_tool(tool, arguments)
    assert not result.isError, get_text(result)
    text = get_text(result)
    assert len(text.encode()) <= MAX_BYTES
    reply = json.loads(text)
    assert text == to_json(reply).decode(), "it is not indented"  # small numbers differ from those of json.dumps
    structured = None if tool == "export_results" else reply  # an export is a text, whatever its format
    assert result.structuredContent == structured, "it has the published schema: the client has checked it"
    return reply


async def export_papers(client: ClientSession, session_id: str, format_name: str) -> str:
    """Return the papers of a complete session in this format."""
    result = await client.call_tool("export_results", {"session_id": session_id, "format": format_name})
    assert not result.isError, get_text(result)
    return get_text(result)
