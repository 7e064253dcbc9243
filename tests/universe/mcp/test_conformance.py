"""The official conformance suite, in its last release and in its next one, against the real server."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest
from starlette.applications import Starlette

from tests.paper_library.conformance.node_tools import run
from tests.requirements import requirement
from universe.mcp_server import make_mcp_server
from universe.service.universes import UniverseService
from universe.store.memory import MemoryStore
from uraniborg.kernel.mcp import make_stateful_app, resource
from uraniborg.kernel.mcp.testing import serve_app

RELEASED: Final = "@modelcontextprotocol/conformance/dist/index.js"
NEXT: Final = "conformance-next/dist/index.js"

FOR_ANY_SERVER: Final = {
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "dns-rebinding-protection",
    "server-sse-multiple-streams",
}
FOR_SESSIONS: Final = {"server-session-lifecycle"}
"""Only the next release looks at these."""
NOT_OFFERED: Final = {"logging-set-level", "completion-complete", "prompts-list"}
"""Capabilities that the universe does not have, and says it does not."""
OF_A_TEST_SERVER: Final = (
    "tools-call-",
    "prompts-get-",
    "resources-read-",
    "resources-templates-",
    "resources-subscribe",
    "resources-unsubscribe",
    "elicitation-",
    "json-",
    "server-sse-polling",
)
"""Scenarios that call tools and use resources of a server made for the suite."""
WATCHED: Final = "test://watched-resource"

pytestmark = pytest.mark.timeout(120)


def outcomes(folder: Path) -> dict[str, list[str]]:
    """Return the results of the checks of each scenario."""
    found: dict[str, list[str]] = {}
    for path in folder.glob("server-*/checks.json"):
        scenario = path.parent.name.removeprefix("server-").rsplit("-", 6)[0]
        found[scenario] = [check["status"] for check in json.loads(path.read_text(encoding="utf-8"))]
    return found


@requirement("UN-1", "UN-2", "UN-17", "UN-18", "UN-19", "UN-20", "UN-21", "UN-22", "UN-23")
@pytest.mark.parametrize(
    ("suite", "options", "applying"),
    [
        (RELEASED, [], FOR_ANY_SERVER),
        (NEXT, ["--spec-version", "2025-11-25"], FOR_ANY_SERVER | FOR_SESSIONS),
    ],
    ids=["released", "next"],
)
def test_the_scenarios_that_apply_to_any_server_with_sessions_pass(
    real: dict[str, str], tmp_path: Path, suite: str, options: list[str], applying: set[str]
) -> None:
    results = tmp_path / "results"
    printed = run(suite, "server", "--url", real["mcp"], "--suite", "all", *options, "-o", str(results), home=tmp_path)
    found = outcomes(results)
    assert applying <= found.keys(), printed.stdout + printed.stderr
    for scenario in applying:
        assert "SUCCESS" in found[scenario], (scenario, found[scenario])
        assert "SKIPPED" not in found[scenario], scenario
    failed = {scenario for scenario, statuses in found.items() if "FAILURE" in statuses}
    unexplained = {name for name in failed - NOT_OFFERED if not name.startswith(OF_A_TEST_SERVER)}
    assert unexplained == set(), printed.stdout


@asynccontextmanager
async def watched() -> AsyncGenerator[str]:
    """Provide the address of the universe's MCP server, with an added resource that the suite subscribes to."""
    service = UniverseService(MemoryStore())
    server = make_mcp_server(service)

    @resource(server, WATCHED, title="Watched")
    async def something() -> str:  # pyright: ignore[reportUnusedFunction]
        """Return the content of the resource that the suite watches."""
        return "nothing"

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncGenerator[None]:
        async with service.running():
            yield

    async with serve_app(make_stateful_app(server, lifespan=lifespan)) as url:
        yield f"{url}/mcp"


@requirement("UN-18")
@pytest.mark.parametrize("scenario", ["resources-subscribe", "resources-unsubscribe"])
async def test_subscriptions_conform(tmp_path: Path, scenario: str) -> None:
    results = tmp_path / "results"
    async with watched() as url:
        arguments = ["server", "--url", url, "--scenario", scenario, "-o", str(results)]
        printed = await asyncio.to_thread(run, NEXT, *arguments, home=tmp_path)
    (statuses,) = outcomes(results).values()
    assert printed.returncode == 0, printed.stdout + printed.stderr
    assert set(statuses) == {"SUCCESS"}
