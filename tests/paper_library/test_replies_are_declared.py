"""Every operation of the library declares its reply, and tools, REST and the console publish that declaration."""

import inspect
from typing import Any, Final, cast, get_args

import pytest
from fastapi.routing import APIRoute
from starlette.responses import Response

import paper_library
from paper_library.api.rest import make_rest_app
from paper_library.domain import replies, text_blocks
from paper_library.mcp_server import make_mcp_server
from paper_library.service.library import Library
from paper_library.service.worker_threads import WorkerThreads
from paper_library.store.paper_notes import PaperNotes
from tests.reply_declarations import PackageTypes, list_untyped_parts
from uraniborg.console.routes import shelves
from uraniborg.console.workers import shelf_builds
from uraniborg.console.workers.shelf_builds import ShelfBuilds, list_shelf_targets
from uraniborg.kernel.http.secure_app import ReplyRoute
from uraniborg.kernel.mcp import EncodedReply

OF_THE_CONSOLE: Final = {"PaperUseList": "joins the bodies of universes with workflows"}
"""Types that the console declares, with the reason."""
FILES: Final = {
    "summary": "JSON of any shape, as the owner of the paper wrote it",
    **dict.fromkeys(("source", "translation"), "a text as Markdown or HTML"),
    **dict.fromkeys(("bibtex", "citation"), "a citation in one of several formats"),
    "get_paper_original": "a PDF",
}
"""Routes whose reply is not written as JSON, with the reason."""
TEXTS: Final = {"get_paper_summary", "get_paper_source", "read_paper_section", "export_citations"}
"""Tools whose reply is a text."""
SERVICES: Final = (Library, PaperNotes, ShelfBuilds)
TYPES: Final = PackageTypes(paper_library)


@pytest.mark.parametrize("name", TYPES.modules)
def test_every_public_function_declares_all_of_its_reply(name: str) -> None:
    assert TYPES.list_undeclared_parts(name) == []


@pytest.mark.parametrize("name", TYPES.modules)
def test_no_function_returns_an_untyped_dictionary(name: str) -> None:
    assert TYPES.list_untyped_replies(name) == []


@pytest.mark.parametrize("name", TYPES.modules)
def test_no_typed_dictionary_has_an_untyped_one_inside(name: str) -> None:
    assert TYPES.list_untyped_fields(name) == []


@pytest.mark.parametrize("name", TYPES.modules)
def test_no_module_writes_or_names_an_untyped_dictionary(name: str) -> None:
    assert TYPES.list_untyped_spellings(name) == []


def test_every_operation_of_a_service_is_looked_at() -> None:
    others = [*TYPES.list_other_operations(SERVICES), list_shelf_targets]
    assert {one.__module__ for one in others} == {"uraniborg.console.workers.shelf_builds"}
    known = TYPES.known_names | vars(shelf_builds)
    assert [part for one in others for part in list_untyped_parts(TYPES.find_reply(one), known=known)] == []


def list_published_types() -> dict[str, Any]:
    """Return the published type of every tool and every route of the library, by name."""
    # No request is made, so no shelf is needed.
    opened = cast("Library", type("Shelf", (), {"name": "shelf", "build_id": ""})())
    threads = WorkerThreads(1, query_s=1, fetch_s=1)
    server = make_mcp_server(opened, threads)
    routers = (make_rest_app(opened, threads), shelves.router, shelves.router, shelves.router)
    routes = [route for router in routers for route in router.routes if isinstance(route, APIRoute)]
    assert all(isinstance(route, ReplyRoute) for route in routes)
    published = {f"{route.name} {route.path}": read_published_type(route) for route in routes}
    threads.close()
    tools = server._tool_manager.list_tools()  # pyright: ignore[reportPrivateUsage]
    return published | {tool.name: strip_encoded(TYPES.find_reply(tool.fn)) for tool in tools}


def read_published_type(route: APIRoute) -> Any:
    """Return the type of a reply: that of the function, or the declared one of JSON that the shelf stores."""
    returned = TYPES.find_reply(route.endpoint)
    return route.responses.get(200, {}).get("model", returned) if returned is Response else returned


def strip_encoded(kind: Any) -> Any:
    """Return the published part of a type: EncodedReply is the same reply as JSON."""
    published = [part for part in get_args(kind) if part is not EncodedReply]
    return published[0] if EncodedReply in get_args(kind) else kind


def test_tools_and_routes_publish_what_the_library_declares() -> None:
    published = list_published_types()
    assert len(published) == 36
    assert {name.partition(" ")[0] for name, kind in published.items() if kind is Response} == set(FILES)
    assert {name for name, kind in published.items() if kind is str} == TEXTS
    for name, kind in published.items():
        if kind in (str, Response):
            continue
        assert kind.__module__ in (replies.__name__, text_blocks.__name__) or kind.__name__ in OF_THE_CONSOLE, name
        assert list(list_untyped_parts(kind, known=TYPES.known_names)) == [], name


def test_a_reply_is_sent_as_the_library_returns_it() -> None:
    """No route validates a reply again."""
    threads = WorkerThreads(1, query_s=1, fetch_s=1)
    app = make_rest_app(cast("Library", type("Shelf", (), {"build_id": ""})()), threads)
    threads.close()
    routes = [route for route in app.routes if isinstance(route, APIRoute)]
    assert {inspect.unwrap(route.endpoint).__name__ for route in routes} >= {"search", "stats", "facets", "lookup"}
    assert all(route.endpoint is not inspect.unwrap(route.endpoint) for route in routes)
