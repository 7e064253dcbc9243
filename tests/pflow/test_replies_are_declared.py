"""Every operation returns a reply whose type pflow declares, and tools and routes publish that type."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Final, get_args

import pytest
from fastapi.routing import APIRoute

import pflow
from pflow import mcp_server
from pflow.domain.ir.checker import CheckResult
from pflow.service.history import ChangeRecord, RunHistory
from pflow.service.operations import Service
from pflow.service.workflow_texts import WorkflowTexts
from pflow.store.run_log import RunLog
from tests.reply_declarations import PackageTypes, iter_functions, list_operations, list_untyped_parts
from uraniborg.console.routes import every_page, runs, workflows
from uraniborg.console.routes.every_page import RunningCounts
from uraniborg.console.routes.runs import RunApprovals, RunProgress
from uraniborg.kernel.http.secure_app import ReplyRoute
from uraniborg.kernel.store.inbox import InboxEntry

SERVICES: Final = (Service, RunHistory, WorkflowTexts, ChangeRecord, RunLog)
BUILDERS: Final = (
    *("service.approvals", "service.catalog", "service.history", "service.installed_schedules"),
    *("service.remote_mcp_servers", "service.engine.results", "service.engine.dry_run"),
    *("store.mcp_server_entries", "domain.ir.graph", "domain.mcp_tool_interfaces"),
    *("cli.draft_commands", "cli.workflow_sources"),
)
"""The modules whose public functions build replies."""
TOOLS: Final[dict[str, Any]] = {
    name: getattr(mcp_server, name)
    for name in ("browse_components", "list_library", "describe_workflow", "execute", "save_to_library")
}
OF_THE_CONSOLE: Final = {
    RunProgress: "The console adds whether it resumes the run, and what has resumed it.",
    RunApprovals: "The questions are entries of the inbox.",
    RunningCounts: "It counts searches and jobs of universes as well.",
}
OPAQUE: Final = {
    InboxEntry: "an entry of the inbox, which the tests of the kernel look at",
    CheckResult: "findings in memory, which are sent as declared diagnostics",
}
"""Types that are not looked into, with the reason."""
RAW_OUTPUTS: Final = Mapping[str, object]
"""What a node returns, of any type, before it becomes JSON."""
RUNNING_NODES: Final = (
    *("pflow.service.engine.executors", "pflow.service.engine.cluster_executor"),
    "pflow.store.node_registry",
)
"""The modules that load and call the functions of nodes."""
CHILD: Final = "pflow.nodes.python_child"
"""A program, whose report has the value that the code of a user computed."""
TYPES: Final = PackageTypes(pflow, without=[CHILD])


@cache
def list_operations_and_builders() -> dict[str, Callable[..., Any]]:
    """Return the public functions of services, those of properties too, and of the modules that build replies."""
    owners = [*SERVICES, *(TYPES.modules[f"pflow.{name}"] for name in BUILDERS)]
    functions = (one for owner in owners for one in iter_functions(owner))
    return {name: one for name, one in functions if not one.__name__.startswith("_")}


@cache
def list_routes() -> dict[str, Callable[..., Any]]:
    routers = (workflows.router, runs.router, runs.schedule_router, every_page.running_router)
    routes = [route for router in routers for route in router.routes if isinstance(route, APIRoute)]
    assert all(isinstance(route, ReplyRoute) for route in routes)
    return {f"{route.methods} {route.path}": inspect.unwrap(route.endpoint) for route in routes}


def iter_classes(kind: Any) -> Iterator[type]:
    """Yield the classes of a reply: of a list those of its items, of a union all of them."""
    if arguments := get_args(kind):
        for argument in arguments:
            yield from iter_classes(argument)
    elif isinstance(kind, type):
        yield kind


@pytest.mark.parametrize("name", list_operations_and_builders())
def test_an_operation_declares_all_of_its_reply(name: str) -> None:
    reply = TYPES.find_reply(list_operations_and_builders()[name])
    assert list(list_untyped_parts(reply, opaque=OPAQUE, known=TYPES.known_names)) == []


def test_every_operation_of_a_service_is_looked_at() -> None:
    looked_at = set(list_operations_and_builders().values())
    assert {one for service in SERVICES for one in map(inspect.unwrap, list_operations(service))} <= looked_at


@pytest.mark.parametrize("name", TYPES.modules)
def test_no_function_returns_an_untyped_dictionary(name: str) -> None:
    assert TYPES.list_untyped_replies(name, opaque=[RAW_OUTPUTS] if name in RUNNING_NODES else []) == []


@pytest.mark.parametrize("name", TYPES.modules)
def test_no_typed_dictionary_has_an_untyped_one_inside(name: str) -> None:
    assert TYPES.list_untyped_fields(name, opaque=[RAW_OUTPUTS] if name in RUNNING_NODES else []) == []


@pytest.mark.parametrize("name", [*TOOLS, *list_routes()])
def test_a_tool_or_route_publishes_a_type_that_pflow_declares(name: str) -> None:
    reply = TYPES.find_reply((TOOLS | list_routes())[name])
    assert list(list_untyped_parts(reply, known=TYPES.known_names)) == []
    foreign = [one for one in iter_classes(reply) if one.__module__.startswith("uraniborg.console")]
    assert [one for one in foreign if one not in OF_THE_CONSOLE] == []


def test_all_routes_of_the_console_about_workflows_and_runs_are_looked_at() -> None:
    assert len(list_routes()) == 26
    published = {one for function in list_routes().values() for one in iter_classes(TYPES.find_reply(function))}
    assert published >= OF_THE_CONSOLE.keys()
