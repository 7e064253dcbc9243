"""The tools of the MCP server called as plain functions: errors are replies, not exceptions."""

import json
from collections.abc import AsyncGenerator, Awaitable, Callable

import pytest

from paper_search import mcp_server
from paper_search.service.sessions import SessionManager
from tests.paper_search.service.sessions.helpers import QUERY, DataFolder
from tests.paper_search.tool_client import open_manager
from tests.requirements import requirement
from uraniborg.kernel.mcp.testing import connect_client, get_text

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
async def manager(data_folder: DataFolder) -> AsyncGenerator[SessionManager]:
    async with open_manager(data_folder) as manager:
        yield manager


CALLS: dict[str, Callable[[str], Awaitable[str]]] = {
    "decide": lambda session_id: mcp_server.decide(session_id, "approve"),
    "export_results": lambda session_id: mcp_server.export_results(session_id, "bibtex"),
    "get_session": mcp_server.get_session,
}


@requirement("PS-REQ-14", "PS-E2")
@pytest.mark.parametrize("tool", CALLS)
@pytest.mark.parametrize("session_id", ["bad-id", "", "0" * 32])
async def test_an_unknown_session_id_is_answered_with_the_error_that_a_client_gets(
    manager: SessionManager, tool: str, session_id: str
) -> None:
    text = await CALLS[tool](session_id)
    assert json.loads(text)["error"]["code"] == "session_not_found"
    arguments = {"session_id": session_id, **({"action": "approve"} if tool == "decide" else {})}
    async with connect_client(mcp_server.mcp) as client:
        result = await client.call_tool(tool, arguments)
    assert result.isError
    assert json.loads(get_text(result))["error"].items() >= json.loads(text)["error"].items()


@requirement("PS-REQ-14")
async def test_other_errors_of_direct_calls_are_replies_as_well(manager: SessionManager) -> None:
    opened = json.loads(await mcp_server.search_papers(QUERY))
    session_id = opened["session_id"]
    replies = [
        await mcp_server.search_papers("  "),
        await mcp_server.search_papers(QUERY, max_results=0),
        await mcp_server.decide(session_id, "perhaps"),
        await mcp_server.export_results(session_id),
    ]
    codes = [json.loads(reply)["error"]["code"] for reply in replies]
    assert codes == ["invalid_query", "invalid_argument", "invalid_action", "session_not_complete"]
    assert json.loads(await mcp_server.get_session(session_id))["has_pending_checkpoint"]
