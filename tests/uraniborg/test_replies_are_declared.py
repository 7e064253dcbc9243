"""Every operation of the product returns a reply that is declared once, and the console publishes that declaration."""

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from functools import cache
from inspect import unwrap
from pathlib import Path
from typing import Any, Final, get_args

import pytest
from fastapi.routing import APIRoute, APIRouter
from starlette.responses import Response
from typing_extensions import is_typeddict

import paper_library
import paper_search
import pflow
import universe
import uraniborg
from paper_library.service.export import CitedPaper
from paper_search.models import PaperCollection
from tests.reply_declarations import (
    PackageTypes,
    iter_functions,
    list_lines_with_open_dict,
    list_operations,
    list_untyped_parts,
)
from universe.domain.state import Plain, State
from uraniborg import inbox_questions, inbox_replies
from uraniborg.bundle import export, inspection, records, signatures, verification
from uraniborg.connect import command as connect_command
from uraniborg.connect import server_entries
from uraniborg.console import replies as console_replies
from uraniborg.console import routes
from uraniborg.console.event_broadcast import EventBroadcast
from uraniborg.console.workers import shelf_builds
from uraniborg.installation import command as installation_command
from uraniborg.installation import doctor, folders_and_settings
from uraniborg.kernel.http.secure_app import ReplyRoute
from uraniborg.kernel.store.change_feed import Change
from uraniborg.kernel.store.inbox import Inbox, InboxEntry
from uraniborg.story import worker
from uraniborg.story.folder import StoryFolder
from uraniborg.story.service import Story

KERNEL: Final = "uraniborg.kernel"
"""The package that all parts share, which has tests of its own."""
SERVICES: Final = (
    *(Inbox, EventBroadcast, Story, StoryFolder, inspection.Inspection),
    *(inbox_replies, inbox_questions, installation_command, folders_and_settings, shelf_builds, doctor),
    *(export, verification, signatures, worker, server_entries),
    connect_command,
)
OPAQUE: Final = {
    Plain: "the state of a universe, whose entities are open",
    State: "the state in memory",
    InboxEntry: "an entry of the inbox, which the tests of the kernel look at",
    PaperCollection: "a result in memory",
    CitedPaper: "a paper of a shelf, which the tests of the library look at",
    Change: "a line of the change feed, which the console publishes as declared changes",
}
"""Types that are not looked into, with the reason."""
FOREIGN: Final = {
    "ConsoleApi.openapi": "the document of FastAPI, whose type FastAPI declares",
    "uraniborg.console.workers.search_worker._make_scope": "a request as ASGI declares it",
}
"""Functions whose results other programs declare, with the reason."""
OF_THE_CONSOLE: Final = {
    "Health": "The console is asked whether it runs.",
    "PersonName": "People sign in to the console alone.",
    "SignedIn": "People sign in to the console alone.",
    "SignInState": "People sign in to the console alone.",
    "RunningCounts": "It counts the work of several parts.",
    "RunProgress": "The console adds whether it resumes the run, and what has resumed it.",
    "RunApprovals": "It joins a run with the questions of the inbox.",
    "BodyUse": "It joins a paper with universes.",
    "WorkflowUse": "It joins a paper with workflows.",
    "PaperUseList": "It joins the bodies of universes with workflows.",
}
"""Replies that the console declares, with the reason."""
PARTS: Final = (paper_search, paper_library, pflow, universe)
PROGRAMS: Final = ("pflow.nodes.python_child",)
"""Modules that are started as scripts."""
SAID_BY_OTHERS: Final = {
    "src/uraniborg/console/api.py": "the document of FastAPI, whose type FastAPI declares",
}
"""Files with a dictionary of anything, with the reason."""


TYPES: Final = PackageTypes(uraniborg, without=[KERNEL])


@cache
def list_service_operations() -> dict[str, Callable[..., Any]]:
    """Return the public functions of services and of modules that are services."""
    found = (one for service in SERVICES for one in iter_functions(service))
    return {name: one for name, one in found if not one.__name__.startswith("_")}


@cache
def list_routes() -> dict[str, APIRoute]:
    found = [importlib.import_module(f"{routes.__name__}.{one.name}") for one in pkgutil.iter_modules(routes.__path__)]
    routers = [one for module in found for one in vars(module).values() if isinstance(one, APIRouter)]
    every = [route for router in routers for route in router.routes]
    return {f"{route.methods} {route.path}": route for route in every if isinstance(route, APIRoute)}


def find_published_type(name: str) -> Any:
    """Return the type of the reply, or the declared one of a stream or a file."""
    route = list_routes()[name]
    declared = route.responses.get(200, {}).get("model")
    return declared or TYPES.find_reply(route.endpoint)


def iter_classes(kind: Any) -> Iterator[type]:
    """Yield the classes of a reply: of a list those of its items, of a union all of them."""
    if arguments := get_args(kind):
        for argument in arguments:
            yield from iter_classes(argument)
    elif isinstance(kind, type):
        yield kind


@pytest.mark.parametrize("name", TYPES.modules)
def test_no_function_returns_an_untyped_dictionary(name: str) -> None:
    assert [one for one in TYPES.list_untyped_replies(name) if one.partition(":")[0] not in FOREIGN] == []


@pytest.mark.parametrize("name", TYPES.modules)
def test_no_typed_dictionary_has_an_untyped_part(name: str) -> None:
    assert TYPES.list_untyped_fields(name, opaque=list(OPAQUE)) == []


@pytest.mark.parametrize("name", list_service_operations())
def test_an_operation_of_a_service_declares_all_of_its_reply(name: str) -> None:
    reply = TYPES.find_reply(list_service_operations()[name])
    assert list(list_untyped_parts(reply, opaque=list(OPAQUE), known=TYPES.known_names)) == []


def test_every_operation_of_a_service_is_looked_at() -> None:
    looked_at = set(list_service_operations().values())
    classes = [one for one in SERVICES if isinstance(one, type)]
    assert {unwrap(one) for service in classes for one in list_operations(service)} <= looked_at


def test_no_file_of_the_product_names_a_dictionary_of_anything() -> None:
    root = Path(uraniborg.__path__[0])
    found = {
        f"src/uraniborg/{path.relative_to(root).as_posix()}"
        for path in root.rglob("*.py")
        if "kernel" not in path.relative_to(root).parts and list_lines_with_open_dict(path.read_text(encoding="utf-8"))
    }
    assert found == set(SAID_BY_OTHERS)


def is_of_the_console(reply: type) -> bool:
    """Return True if the console declares a reply, and not a service that its processes run."""
    return reply.__module__.startswith("uraniborg.console") and reply.__module__ != shelf_builds.__name__


@pytest.mark.parametrize("name", list_routes())
def test_a_route_of_the_console_publishes_a_declared_reply(name: str) -> None:
    reply = find_published_type(name)
    assert isinstance(list_routes()[name], ReplyRoute)
    if reply is type(None) or (isinstance(reply, type) and issubclass(reply, Response)):  # no body, texts and files
        return
    options: Any = {"opaque": list(OPAQUE), "known": TYPES.known_names}
    assert list(list_untyped_parts(reply, **options)) == []
    own = [one.__name__ for one in iter_classes(reply) if is_of_the_console(one)]
    assert set(own) <= set(OF_THE_CONSOLE)


def test_the_routes_of_all_pages_are_looked_at() -> None:
    assert len(list_routes()) > 90


def test_the_console_declares_no_replies_but_those_that_join_parts() -> None:
    declared = {
        one.__name__: name
        for name in TYPES.modules
        if name.startswith("uraniborg.console.routes") or name == console_replies.__name__
        for one in TYPES.list_typed_dictionaries(name)
    }
    assert declared == dict.fromkeys(OF_THE_CONSOLE, console_replies.__name__)


def test_the_console_repeats_no_reply_of_a_service() -> None:
    own = {name: set(getattr(console_replies, name).__annotations__) for name in OF_THE_CONSOLE}
    modules = {name: module for part in PARTS for name, module in PackageTypes(part, without=PROGRAMS).modules.items()}
    modules |= TYPES.modules | {records.__name__: records}
    repeated = [
        (name, f"{module.__name__}.{one.__name__}")
        for module in modules.values()
        if not module.__name__.startswith("uraniborg.console")
        for one in vars(module).values()
        if is_typeddict(one) and one.__module__ == module.__name__
        for name, fields in own.items()
        if len(fields) > 1 and fields == set(one.__annotations__)
    ]
    assert repeated == []
