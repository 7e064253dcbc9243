"""Every operation returns a reply whose type pflow declares, and tools and routes publish that type."""

import ast
import importlib
import inspect
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Final, get_args, get_type_hints

import pytest
from fastapi.routing import APIRoute
from pydantic import BaseModel, JsonValue
from typing_extensions import TypedDict, is_typeddict

from pflow import mcp_server
from pflow.changes import ChangeRecord
from pflow.engine.runlog import RunLog
from pflow.run_history import RunHistory
from pflow.service import Service
from pflow.workflow_texts import WorkflowTexts
from uraniborg.console.routes import run_history, running, runs, schedules, workflows
from uraniborg.console.routes.run_history import RunApprovals, RunProgress
from uraniborg.console.routes.running import RunningCounts
from uraniborg.kernel.json_values import Json, JsonObject
from uraniborg.kernel.reply_route import ReplyRoute

SERVICES: Final = (Service, RunHistory, WorkflowTexts, ChangeRecord, RunLog)
MODULES: Final = (
    *("replies", "run_comparison", "run_progress", "workflow_description", "component_search", "approvals"),
    *("active_nodes", "remote_mcp_servers", "mcp_config", "engine.dry_run", "engine.results", "ir.graph"),
    *("registry.mcp_tool_interfaces", "scheduling.scheduled_workflow", "scheduling.installed_schedules"),
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
OF_OTHERS: Final = ("uraniborg.kernel", "uraniborg.console.routes.inbox_replies")
"""The modules whose own tests look at their types: actors, entries of the inbox and their replies."""
ENDS: Final = (str, int, float, bool, bytes, type(None), Path, type)


def find_untyped(kind: Any, at: str, seen: set[Any] | None = None) -> list[str]:
    """Return the positions in a type where anything may be, other than JSON values that are named so."""
    seen = set() if seen is None else seen
    if kind is Any or kind is object:
        return [at]
    if kind is JsonValue or kind in ENDS or (isinstance(kind, type) and kind in seen):
        return []
    if isinstance(kind, type) and kind.__module__.startswith(OF_OTHERS):
        return []
    if arguments := get_args(kind):
        return [one for argument in arguments for one in find_untyped(argument, at, seen)]
    if isinstance(kind, type) and (is_typeddict(kind) or issubclass(kind, BaseModel)):
        seen.add(kind)
        fields = get_type_hints(kind, localns=import_for_types(kind), include_extras=True)
        return [
            one
            for name, field in fields.items()
            if not name.startswith("_")
            for one in find_untyped(field, f"{at}.{name}", seen)
        ]
    return [at] if kind in (dict, list) else []


@cache
def import_for_types(declared: Any) -> dict[str, Any]:
    """Return what the module of a class or function imports for the checker of types only."""
    module = sys.modules[declared.__module__]
    names: dict[str, Any] = {}
    for statement in ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            exec(ast.unparse(ast.Module(statement.body, [])), names)
    return names


def find_reply(function: Callable[..., Any]) -> Any:
    """Return the type of the return value, or Any if there is none."""
    names = vars(sys.modules[function.__module__]) | import_for_types(function)
    return get_type_hints(function, names, include_extras=True).get("return", Any)


def iter_functions(owner: type | ModuleType) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the public functions of a class, also those of its properties, or of a module."""
    for name, member in vars(owner).items():
        function: Any = member.fget if isinstance(member, property) else member
        is_own = isinstance(owner, type) or getattr(function, "__module__", "") == owner.__name__
        plain = inspect.unwrap(function) if callable(function) else None
        if is_own and isinstance(plain, FunctionType) and not name.startswith("_"):
            yield f"{owner.__name__}.{name}", plain


@cache
def list_operations() -> dict[str, Callable[..., Any]]:
    owners = [*SERVICES, *(importlib.import_module(f"pflow.{name}") for name in MODULES)]
    return dict(one for owner in owners for one in iter_functions(owner))


@cache
def list_routes() -> dict[str, Callable[..., Any]]:
    routers = (module.router for module in (workflows, schedules, runs, run_history, running))
    routes = [route for router in routers for route in router.routes if isinstance(route, APIRoute)]
    assert all(isinstance(route, ReplyRoute) for route in routes)
    return {f"{route.methods} {route.path}": inspect.unwrap(route.endpoint) for route in routes}


def iter_classes(kind: Any) -> Iterator[type]:
    """Yield the classes of a reply: of a list those of its items, of a union all of them."""
    if arguments := get_args(kind):
        for argument in arguments:
            yield from iter_classes(argument)
    elif isinstance(kind, type) and kind not in ENDS:
        yield kind


@pytest.mark.parametrize("name", list_operations())
def test_an_operation_returns_a_declared_type(name: str) -> None:
    assert find_untyped(find_reply(list_operations()[name]), name) == []


@pytest.mark.parametrize("name", [*TOOLS, *list_routes()])
def test_a_tool_or_route_publishes_a_type_that_pflow_declares(name: str) -> None:
    reply = find_reply((TOOLS | list_routes())[name])
    assert find_untyped(reply, name) == []
    foreign = [one for one in iter_classes(reply) if one.__module__.startswith("uraniborg.console")]
    assert [one for one in foreign if one not in OF_THE_CONSOLE] == []


def test_all_routes_of_the_console_about_workflows_and_runs_are_looked_at() -> None:
    assert len(list_routes()) == 26
    published = {one for function in list_routes().values() for one in iter_classes(find_reply(function))}
    assert published >= OF_THE_CONSOLE.keys()


class _Untyped(TypedDict):
    rows: list[dict[str, Any]]


@pytest.mark.parametrize(
    "kind", [Any, dict[str, Any], list[dict[str, Any]], dict[str, int] | Any, dict, _Untyped, list[_Untyped] | None]
)
def test_a_reply_of_any_shape_is_found(kind: Any) -> None:
    assert find_untyped(kind, "reply") != []


@pytest.mark.parametrize("kind", [Json, JsonObject, dict[str, JsonObject], list[int] | None, None])
def test_a_value_that_is_json_by_nature_is_declared(kind: Any) -> None:
    assert find_untyped(kind, "reply") == []
