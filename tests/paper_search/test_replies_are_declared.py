"""Every operation of paper search declares its reply, and tools, the console and nodes publish that declaration."""

import inspect
from typing import Final

import pytest
from fastapi.routing import APIRoute
from starlette.responses import Response

import paper_search
from paper_search import mcp_server
from paper_search.domain.screening.sparse_rows import Floats, Ints
from paper_search.models import RawPaper
from paper_search.service import search_replies, session_replies
from paper_search.service.review import review_replies
from paper_search.service.review.session_review import SessionReview
from paper_search.service.sessions import SessionManager
from paper_search.service.sessions.session_list import SessionList
from paper_search.sources.in_process_sources import CalledSourceReply
from paper_search.sources.transport.answer_cache import StoredAnswer
from paper_search.workflow.checkpoints import Decision
from paper_search.workflow.decisions import CheckedDecision
from tests.reply_declarations import PackageTypes, list_untyped_parts
from uraniborg.console.routes import review, searches
from uraniborg.console.workers.search_services import SourceProgressLog
from uraniborg.kernel.http.secure_app import ReplyRoute
from uraniborg.kernel.mcp.dialogs import Form
from uraniborg.kernel.store.inbox_entries import InboxDecision, InboxEntry

DECLARATIONS: Final = (session_replies, search_replies, review_replies, search_replies)
OF_OTHERS: Final = {
    "ShelfBuildReply": "uraniborg builds shelves from searches",
    "ShelfTargets": "uraniborg builds shelves from searches",
}
"""Types of the routes that paper search does not declare, with the reason."""
FILES: Final = {
    "export_search": "a file in one of several formats",
    "delete_search": "no body",
}
"""Routes without a reply as JSON, with the reason."""
SERVICES: Final = (SessionManager, SessionReview, SessionList, SourceProgressLog)
TOOLS: Final = (mcp_server.search_papers, mcp_server.decide, mcp_server.get_session)
OPAQUE: Final = {
    RawPaper: "raw_data has what a source sent beside the fields of a paper",
    CalledSourceReply: "papers as another program returned them, each of which is read as a RawPaper",
    StoredAnswer: "the body of an answer of any kind, which is read as that of a source",
    Form: "a form of the protocol, which the tests of the kernel look at",
    **dict.fromkeys((Floats, Ints), "arrays of numpy, whose shape has no type; no reply holds one"),
    **dict.fromkeys((InboxEntry, InboxDecision), "an entry of the inbox, which the tests of the kernel look at"),
    **dict.fromkeys((Decision, CheckedDecision), "revised_data is what a caller decided, which is checked once"),
}
"""Types in memory that are not looked into, with the reason."""
TYPES: Final = PackageTypes(paper_search)


@pytest.mark.parametrize("name", TYPES.modules)
def test_every_public_function_declares_all_of_its_reply(name: str) -> None:
    assert TYPES.list_undeclared_parts(name, opaque=OPAQUE) == []


@pytest.mark.parametrize("name", TYPES.modules)
def test_no_function_returns_an_untyped_dictionary(name: str) -> None:
    assert TYPES.list_untyped_replies(name) == []


@pytest.mark.parametrize("name", TYPES.modules)
def test_no_typed_dictionary_has_an_untyped_one_inside(name: str) -> None:
    assert TYPES.list_untyped_fields(name, opaque=OPAQUE) == []


@pytest.mark.parametrize("name", TYPES.modules)
def test_no_module_writes_or_names_an_untyped_dictionary(name: str) -> None:
    assert TYPES.list_untyped_spellings(name) == []


def test_every_operation_of_a_service_is_looked_at() -> None:
    others = TYPES.list_other_operations(SERVICES)
    assert {one.__module__ for one in others} == {"uraniborg.console.workers.search_services"}
    assert [part for one in others for part in list_untyped_parts(TYPES.find_reply(one))] == []


def list_routes() -> list[APIRoute]:
    routers = (searches.router, review.router)
    return [route for router in routers for route in router.routes if isinstance(route, APIRoute)]


def test_every_route_publishes_a_reply_that_paper_search_declares() -> None:
    published = {route.name: TYPES.find_reply(route.endpoint) for route in list_routes()}
    assert len(published) == len(list_routes()) == 28
    assert {name for name, kind in published.items() if kind is Response} == set(FILES)
    for name, kind in published.items():
        if name in FILES:
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
    assert all(TYPES.find_reply(tool) is session_replies.SessionReply for tool in TOOLS)
