"""Every operation of paper search declares its reply, and tools, the console and nodes publish that declaration."""

import inspect
from collections.abc import Callable
from typing import Any, Final, get_type_hints

import pytest
from fastapi.routing import APIRoute
from starlette.responses import Response

from paper_search import mcp_server, review_replies, search_replies, session_replies, strategy_replies, workflow_nodes
from paper_search.sessions import SessionManager
from paper_search.sessions.checkpoint_payloads import build_checkpoint_payload
from paper_search.sessions.flow_replies import build_flow_reply
from paper_search.sessions.search_options import describe_search_options
from paper_search.sessions.search_states import complete_reply
from paper_search.sessions.session_list import SessionList
from paper_search.sessions.session_review import SessionReview
from paper_search.sessions.session_update import start_another_round
from paper_search.sessions.source_reports import build_report
from paper_search.sessions.strategy_view import build_strategy_view, check_edited_strategy
from paper_search.sources.query_translation import translate_queries
from paper_search.strategies.lint import describe_query_errors
from tests.reply_declarations import list_operations, list_untyped_parts
from uraniborg.console.routes import review, searches, strategy
from uraniborg.console.workers.source_progress import SourceProgressLog
from uraniborg.kernel.reply_route import ReplyRoute

DECLARATIONS: Final = (session_replies, search_replies, review_replies, strategy_replies)
OF_OTHERS: Final = {
    "ShelfBuildReply": "uraniborg builds shelves from searches",
    "ShelfTargets": "uraniborg builds shelves from searches",
}
"""Types of the routes that paper search does not declare, with the reason."""
TOOLS: Final = (mcp_server.search_papers, mcp_server.decide, mcp_server.get_session)
RESOURCES: Final = (
    *(mcp_server.list_sessions, mcp_server.list_papers, mcp_server.list_papers_from),
    *(mcp_server.read_export, mcp_server.read_export_from),
    *(mcp_server.list_removed_papers, mcp_server.list_removed_papers_from),
    *(mcp_server.list_queries, mcp_server.list_queries_from),
)


OPERATIONS: Final = [
    *(
        one
        for service in (SessionManager, SessionReview, SessionList, SourceProgressLog)
        for one in list_operations(service)
    ),
    *(build_strategy_view, check_edited_strategy, describe_search_options, start_another_round, complete_reply),
    *(build_flow_reply, build_report, build_checkpoint_payload, translate_queries, describe_query_errors),
    *(workflow_nodes.search, *TOOLS, *RESOURCES),
]


def read_return_type(function: Callable[..., Any]) -> Any:
    """Return the resolved annotation of the function that a wrapper calls."""
    return get_type_hints(inspect.unwrap(function), include_extras=True)["return"]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.__qualname__)
def test_every_operation_declares_all_of_its_reply(operation: Callable[..., Any]) -> None:
    assert list(list_untyped_parts(read_return_type(operation))) == []


def list_routes() -> list[APIRoute]:
    routers = (searches.router, strategy.router, review.router)
    return [route for router in routers for route in router.routes if isinstance(route, APIRoute)]


def test_every_route_publishes_a_reply_that_paper_search_declares() -> None:
    published = {f"{route.methods} {route.path}": read_return_type(route.endpoint) for route in list_routes()}
    assert len(published) > 25
    for name, kind in published.items():
        if kind is Response:  # exported files, and replies without a body
            continue
        assert kind.__module__ in {one.__name__ for one in DECLARATIONS} or kind.__name__ in OF_OTHERS, name
        assert list(list_untyped_parts(kind)) == [], name


def test_no_route_validates_a_reply_again() -> None:
    assert all(isinstance(route, ReplyRoute) for route in list_routes())
    assert all(route.endpoint is not inspect.unwrap(route.endpoint) for route in list_routes())


async def test_every_tool_but_the_export_publishes_the_declared_reply() -> None:
    schemas = {tool.name: tool.outputSchema for tool in await mcp_server.mcp.list_tools()}
    assert schemas.pop("export_results") is None
    for schema in schemas.values():
        assert schema is not None
        assert schema["properties"].keys() == session_replies.SessionReply.__annotations__.keys()
        assert set(schema["required"]) == session_replies.SessionReply.__required_keys__
    assert all(read_return_type(tool) is session_replies.SessionReply for tool in TOOLS)
