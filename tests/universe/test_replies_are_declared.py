"""Every operation of the universe declares its reply, tools and routes publish that declaration, and replies fit it."""

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

import httpx
import pytest
from fastapi.routing import APIRoute
from pydantic import TypeAdapter

import universe
from tests import reply_declarations
from tests.reply_declarations import list_lines_with_open_dict
from tests.universe.api.rest.rest_server import create_universe, run_server
from universe.api import workflow_nodes
from universe.api.app import UniverseApp, make_app
from universe.config import UniverseConfig
from universe.domain.exchange.importer import ImportOptions
from universe.domain.nbody.measurement_replies import RunReply, TransitReply, VelocityReply
from universe.domain.physics.physics_report import report_physics, report_zones
from universe.domain.state import Plain, State
from universe.domain.systems import load_system
from universe.mcp_server import make_mcp_server
from universe.service import replies, state_views
from universe.service import reply_encoding as builders
from universe.service.initial_states import create_imported_universes
from universe.service.jobs import options_and_replies as job_replies
from universe.service.jobs.job_service import JobService
from universe.service.jobs.job_store import JobStore, StoredJob
from universe.service.jobs.measurement import Measurement, measure, summarise_reply
from universe.service.universes import UniverseService
from universe.service.value_origins import describe_sourced_values, trace_value_origin
from universe.store.memory import MemoryStore
from universe.store.replica import Replica
from universe.store.sqlite import SqliteStore
from uraniborg.kernel.http.secure_app import ReplyRoute
from uraniborg.kernel.mcp.testing import connect_client, get_json

OPAQUE = {
    State: "the state in memory, whose entities are typed by their commands",
    Plain: "the JSON of a state, whose entities are open",
    replies.StatePartReply: "the JSON of a state with its version",
    Replica: "the state in memory",
    Measurement: "a result with its chart for notebooks; its reply is checked below",
}
"""Types of the domain that no interface sends as they are, with the reason."""
FILES = {
    "export": "a file in one of several formats",
    "plot": "a picture",
    "plot_job": "a picture",
    "read_elements": "a binary for viewers",
    "events": "a stream of events",
    "stream_job": "a stream of events",
    "delete": "no body",
    "delete_job": "no body",
}
"""Routes without a reply as JSON, with the reason."""
OF_ANYTHING = {
    "domain/entities.py": "Entity: a body, a group or a field of a state, which may have fields of any program",
    "domain/commands.py": "the classes of commands, which no type checker can name together",
    "domain/type_validation.py": "the classes of entities, which no type checker can name together",
    "cli/nbody_command.py": "a run or a comparison, to print",
    "domain/exchange/exports.py": "the bodies of a file, which any program may have written",
    "domain/generate/generation_config.py": "settings, which the model of the generator checks",
    "api/html_pages.py": "an OpenAPI document",
    "service/jobs/measurement.py": "options of a job, which their model checks",
    "domain/plotting/charts.py": "arrays of numpy; JobChart is the reply that they become",
    "api/rest/report_routes.py": "fields of a body, which the route checks",
    "api/server.py": "options of a command line, which the settings check",
    "store/high_water_marks.py": "a line of the mark file",
    "store/postgres_database.py": "arguments of the driver of the database",
}
"""Files with a dictionary of anything, with the reason. No reply is one of these."""
TEXT_ONLY = {"get_universe_state", "send_universe_command"}
"""Tools whose replies can be as large as a state, and have no structured content."""


def list_operations(service: type) -> list[Callable[..., Any]]:
    return [one for one in reply_declarations.list_operations(service) if one.__module__.startswith("universe")]


def list_untyped_parts(kind: Any) -> list[str]:
    return list(reply_declarations.list_untyped_parts(kind, opaque=[*OPAQUE]))


def list_functions(module: Any) -> list[Callable[..., Any]]:
    members = [getattr(module, name) for name in dir(module) if not name.startswith("_")]
    return [one for one in members if inspect.isfunction(one) and one.__module__ == module.__name__]


OPERATIONS = [
    *list_operations(UniverseService),
    *list_operations(JobService),
    *list_operations(JobStore),
    *list_operations(StoredJob),
    *list_functions(builders),
    *list_functions(state_views),
    *(trace_value_origin, describe_sourced_values, report_physics, report_zones, create_imported_universes),
    *(load_system, measure, summarise_reply),
    *(workflow_nodes.command, workflow_nodes.nbody, workflow_nodes.transits, workflow_nodes.state),
]
FREE = {"keep_only_fields": "a part of an entity", "read_stars": "the bodies of a state", "to_plain": "a state"}
"""Operations whose result is entities, with the reason."""


def read_return_type(function: Callable[..., Any]) -> Any:
    plain = inspect.unwrap(function)
    known = {name: value for module in (replies, job_replies, workflow_nodes) for name, value in vars(module).items()}
    known |= {"Plain": Plain, "Measurement": Measurement, "ImportOptions": ImportOptions}
    return get_type_hints(plain, globalns={**known, **vars(inspect.getmodule(plain))}, include_extras=True)["return"]


@pytest.mark.parametrize(
    "operation", [one for one in OPERATIONS if one.__name__ not in FREE], ids=lambda one: one.__qualname__
)
def test_every_operation_declares_all_of_its_reply(operation: Callable[..., Any]) -> None:
    assert list(list_untyped_parts(read_return_type(operation))) == []


def test_no_other_file_names_a_dictionary_of_anything() -> None:
    root = Path(universe.__path__[0])
    sources = {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in root.rglob("*.py")}
    found = {name for name, source in sources.items() if list_lines_with_open_dict(source)}
    assert found == set(OF_ANYTHING)
    assert len(list_lines_with_open_dict(sources["domain/entities.py"])) == 1


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> UniverseApp:
    return make_app(UniverseConfig(), SqliteStore(tmp_path_factory.mktemp("published") / "universes.db"))


def list_routes(app: UniverseApp) -> dict[str, APIRoute]:
    return {one.name: one for one in app.rest.router.routes if isinstance(one, APIRoute)}


def read_published_type(route: APIRoute) -> Any:
    """Return the type of a successful reply: that of the function, or the declared one of a reply sent as bytes."""
    if route.response_model is not None:
        return route.response_model
    found = [facts.get("model") for status, facts in route.responses.items() if str(status).startswith("2")]
    return found[0] if found else None


def list_modules(kind: Any) -> list[str]:
    return [one.__module__ for one in get_args(kind) or (kind,)]


def test_every_route_publishes_a_type_that_the_universe_declares(app: UniverseApp) -> None:
    published = {name: read_published_type(route) for name, route in list_routes(app).items()}

    assert {name for name, kind in published.items() if kind is None} == set(FILES)
    kinds = [kind for kind in published.values() if kind is not None]
    assert all(module.startswith("universe.") for kind in kinds for module in list_modules(kind))
    assert all(isinstance(route, ReplyRoute) for route in list_routes(app).values())
    assert [name for name, kind in published.items() if list(list_untyped_parts(kind))] == []


async def test_every_tool_publishes_the_type_that_it_returns() -> None:
    async with (
        UniverseService(MemoryStore()).running() as service,
        JobService(service).running() as jobs,
        connect_client(make_mcp_server(service, jobs)) as client,
    ):
        tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools if tool.outputSchema is None} == TEXT_ONLY
        for chosen in ({}, {"category": "simulation"}, {"category": "Star CRUD"}):
            # The client compares the reply with the published type.
            found = await client.call_tool("list_universe_commands", {"universeId": "any", **chosen})
            assert not found.isError
            assert get_json(found) == found.structuredContent


@pytest.fixture(scope="module")
def rest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with run_server(tmp_path_factory.mktemp("replies")) as client:
        create_universe(client, **{"from": "trappist-1", "id": "t1"})
        yield client


def check_fit(kind: Any, reply: Any) -> None:
    """Fail unless the reply has the type and nothing else."""
    adapter = TypeAdapter[Any](kind)
    assert adapter.dump_python(adapter.validate_python(reply), mode="json") == reply


def read(rest: httpx.Client, path: str, **query: Any) -> Any:
    answer = rest.get(path, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def compute(rest: httpx.Client, **options: Any) -> str:
    """Return the address of a job that has ended."""
    location = rest.post("/universes/t1/jobs", json=options).headers["Location"]
    with rest.stream("GET", f"{location}/events") as stream:
        for _ in stream.iter_text():
            pass
    return location


@pytest.mark.parametrize(
    ("name", "path", "query"),
    [
        ("health", "/health", {}),
        ("list_origins", "/origins", {}),
        ("list_commands", "/commands", {}),
        ("list_universes", "/universes", {}),
        ("list_universes", "/universes", {"limit": 1}),
        ("read", "/universes/t1", {}),
        ("read", "/universes/t1", {"ids": ["trappist-1-b", "nothing", "trappist-1-c"], "fields": ["name", "mass"]}),
        ("read", "/universes/t1", {"limit": 2, "format": "compact"}),
        ("history", "/universes/t1/history", {}),
        ("read_positions", "/universes/t1/positions", {}),
        ("cite", "/universes/t1/cite", {}),
        ("cite", "/universes/t1/cite", {"physics": True}),
        ("cite", "/universes/t1/cite", {"body": "trappist-1-b"}),
        ("cite", "/universes/t1/cite", {"body": "trappist-1-b", "field": "kepler.semiMajorAxis"}),
        ("cite", "/universes/t1/cite", {"body": "trappist-1-c", "field": "mass"}),
        ("physics", "/universes/t1/physics", {}),
        ("physics", "/universes/t1/physics", {"bodies": False}),
        ("differences", "/universes/t1/differences", {}),
        ("list_all_jobs", "/jobs", {}),
        ("list_jobs", "/universes/t1/jobs", {}),
    ],
)
def test_the_replies_of_a_real_system_fit_their_types(
    app: UniverseApp, rest: httpx.Client, name: str, path: str, query: dict[str, Any]
) -> None:
    check_fit(read_published_type(list_routes(app)[name]), read(rest, path, **query))


def test_the_replies_after_changes_fit_their_types(app: UniverseApp, rest: httpx.Client) -> None:
    kinds = {name: read_published_type(route) for name, route in list_routes(app).items()}
    branched = rest.post("/universes/t1/branch", json={"name": "other"})
    check_fit(kinds["branch"], branched.json())
    address = branched.headers["Location"]
    for command in (
        {"type": "tick", "dt": 5},
        [{"type": "tick", "dt": 1}, {"type": "updateStar", "id": "trappist-1-b", "payload": {"mass": 4e-6}}],
        {"type": "removeStar", "id": "trappist-1-h"},
    ):
        check_fit(kinds["send"], rest.post(f"{address}/commands", json=command).json())
    check_fit(kinds["undo"], rest.post(f"{address}/undo").json())
    check_fit(kinds["restore"], rest.post(f"{address}/restore", json={"version": 1}).json())
    check_fit(kinds["replace"], rest.put(address, json={"name": "renamed"}).json())
    rest.post(f"{address}/commands", json={"type": "updateStar", "id": "trappist-1-c", "payload": {"mass": 5e-6}})
    check_fit(kinds["history"], read(rest, f"{address}/history"))
    check_fit(kinds["differences"], read(rest, f"{address}/differences", **{"with": "t1"}))
    for field in ("mass", "physical.massKg", "kepler.semiMajorAxis"):
        check_fit(kinds["cite"], read(rest, f"{address}/cite", body="trappist-1-c", field=field))
    check_fit(kinds["create"], rest.post("/universes", json={"name": "empty"}).json())
    table = "name,mass_solar,type\nA,1,star\nB,0.1,\n"
    for dry_run in (True, False):
        imported = rest.post("/universes/import", json={"content": table, "dryRun": dry_run})
        assert imported.status_code == 201, imported.text
        check_fit(kinds["import_universes"], imported.json())


def test_the_replies_of_jobs_fit_their_types(app: UniverseApp, rest: httpx.Client) -> None:
    kinds = {name: read_published_type(route) for name, route in list_routes(app).items()}
    run, other = (compute(rest, kind="nbody", days=days) for days in (8, 9))
    transits = compute(rest, kind="transits", days=8)
    velocities = compute(rest, kind="rv", days=8, samples=20, kepler=True)
    failed = compute(rest, kind="nbody", days=36_525, maxSeconds=0.1)

    for address, kind in ((run, RunReply), (transits, TransitReply), (velocities, VelocityReply)):
        check_fit(kinds["read_job"], read(rest, address))
        check_fit(kind, read(rest, f"{address}/result"))
        check_fit(kinds["read_job_result"], read(rest, f"{address}/result"))
        check_fit(kinds["read_job_series"], read(rest, f"{address}/series"))
    assert read(rest, failed)["state"] == "failed"
    TypeAdapter[Any](kinds["read_job"]).validate_python(read(rest, failed))
    check_fit(kinds["read_job_trajectory"], read(rest, f"{run}/trajectory", limit=3))
    check_fit(kinds["compare_jobs"], read(rest, f"{run}/comparison", **{"with": other.rpartition("/")[2]}))
    started = rest.post("/universes/t1/jobs", json={"kind": "nbody", "days": 36_525})
    check_fit(kinds["start_job"], started.json())
    check_fit(kinds["cancel_job"], rest.post(f"{started.headers['Location']}/cancel").json())
    check_fit(kinds["list_all_jobs"], read(rest, "/jobs", state="done"))
