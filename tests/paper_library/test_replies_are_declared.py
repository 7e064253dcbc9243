"""Every operation of the library declares its reply, and tools, REST and the console publish that declaration."""

import inspect
from collections.abc import Callable
from typing import Any, cast, get_args, get_type_hints

import pytest
from fastapi.routing import APIRoute
from starlette.responses import Response

from paper_library import library, node_replies, paper_notes, replies, source_replies, text_replies, workflow_nodes
from paper_library.export import CitedPaper
from paper_library.library import Library
from paper_library.mcp_server import make_mcp_server
from paper_library.rest import make_rest_app
from paper_library.shelf_catalog import KnownShelf
from paper_library.source import ShelfSource
from paper_library.store.difference import Difference
from paper_library.store.verification import Verdict
from paper_library.worker_threads import WorkerThreads
from tests.reply_declarations import list_operations, list_untyped_parts
from uraniborg import search_shelf_replies, search_shelves
from uraniborg.console.routes import notes, paper_uses, shelves
from uraniborg.kernel.mcp import EncodedReply
from uraniborg.kernel.reply_route import ReplyRoute

DECLARATIONS = (replies, text_replies, node_replies, source_replies, search_shelf_replies)
NODES = [getattr(workflow_nodes, name) for name in ("search_shelf", "read_paper", "list_table_rows", "add_papers")]
OF_THE_CONSOLE = {"PaperUseList": "joins the bodies of universes with workflows"}
"""Types that the console declares, with the reason."""


OPERATIONS = [
    *(one for kind in (Library, paper_notes.PaperNotes, search_shelves.ShelfBuilds) for one in list_operations(kind)),
    *(ShelfSource.search_advanced, KnownShelf.describe, Verdict.as_dict, Difference.as_dict),
    *(search_shelves.list_shelf_targets, *NODES),
]


KNOWN = {name: value for module in DECLARATIONS for name, value in vars(module).items()}


def read_return_type(function: Callable[..., Any]) -> Any:
    """Return the resolved annotation; the library imports the types of its replies for type checkers only."""
    plain = inspect.unwrap(function)
    known = {name: value for module in (*DECLARATIONS, library, paper_notes) for name, value in vars(module).items()}
    own = vars(inspect.getmodule(plain))
    return get_type_hints(plain, globalns={**known, **own}, include_extras=True)["return"]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.__qualname__)
def test_every_operation_declares_all_of_its_reply(operation: Callable[..., Any]) -> None:
    assert list(list_untyped_parts(read_return_type(operation), known=KNOWN)) == []


def test_the_cited_papers_of_a_bundle_are_declared() -> None:
    assert list(list_untyped_parts(CitedPaper, known=KNOWN)) == []


def list_published_types() -> dict[str, Any]:
    """Return the published type of every tool and every route of the library, by name."""
    # No request is made, so no shelf is needed.
    opened = cast("Library", type("Shelf", (), {"name": "shelf", "build_id": ""})())
    threads = WorkerThreads(1, query_s=1, fetch_s=1)
    server = make_mcp_server(opened, threads)
    routers = (make_rest_app(opened, threads), shelves.router, notes.router, paper_uses.router)
    routes = [route for router in routers for route in router.routes if isinstance(route, APIRoute)]
    assert all(isinstance(route, ReplyRoute) for route in routes)
    functions = {f"{route.methods} {route.path}": route.endpoint for route in routes}
    functions |= {tool.name: tool.fn for tool in server._tool_manager.list_tools()}  # pyright: ignore[reportPrivateUsage]
    threads.close()
    return {name: strip_encoded(read_return_type(function)) for name, function in functions.items()}


def strip_encoded(kind: Any) -> Any:
    """Return the published part of a type: EncodedReply is the same reply as JSON."""
    published = [part for part in get_args(kind) if part is not EncodedReply]
    return published[0] if EncodedReply in get_args(kind) else kind


def test_tools_and_routes_publish_what_the_library_declares() -> None:
    published = list_published_types()
    assert len(published) > 30
    for name, kind in published.items():
        if kind in (str, Response):  # texts and files
            continue
        assert kind.__module__ in (replies.__name__, text_replies.__name__) or kind.__name__ in OF_THE_CONSOLE, name
        assert list(list_untyped_parts(kind, known=KNOWN)) == [], name


def test_a_reply_is_sent_as_the_library_returns_it() -> None:
    """No route validates a reply again."""
    threads = WorkerThreads(1, query_s=1, fetch_s=1)
    app = make_rest_app(cast("Library", type("Shelf", (), {"build_id": ""})()), threads)
    threads.close()
    routes = [route for route in app.routes if isinstance(route, APIRoute)]
    assert {inspect.unwrap(route.endpoint).__name__ for route in routes} >= {"search", "stats", "facets", "lookup"}
    assert all(route.endpoint is not inspect.unwrap(route.endpoint) for route in routes)
