"""The official conformance suite, in its last release and in its next one, against the real server."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest
from starlette.applications import Starlette

from tests.paper_library.conformance.node_tools import run
from tests.paper_library.conformance.suite import NEXT, RUN_NAMES, RUNS, find_surprises, read_outcomes, run_suite
from tests.paper_library.conformance.test_typescript_client import use_server
from tests.requirements import requirement
from universe.mcp_server import make_mcp_server
from universe.service.universes import UniverseService
from universe.store.memory import MemoryStore
from uraniborg.kernel.mcp import make_stateful_app, resource
from uraniborg.kernel.mcp.testing import serve_app

_HANDSHAKE: Final = {"server-initialize", "ping", "tools-list", "resources-list", "prompts-list"}
_STREAMS: Final = {"dns-rebinding-protection", "server-sse-multiple-streams"}
FOR_ANY_SERVER: Final[dict[str, set[str]]] = {
    "2025-03-26": set(),
    "2025-06-18": _HANDSHAKE,
    "2025-11-25": {*_HANDSHAKE, *_STREAMS},
    "2026-07-28": set(),
}
"""The scenarios of each version that need nothing of the suite's own test server."""
FOR_SESSIONS: Final = "server-session-lifecycle"
"""Only the next release of the suite has this scenario."""
WATCHED: Final = "test://watched-resource"

pytestmark = pytest.mark.timeout(120)


@requirement("UN-1", "UN-2", "UN-17", "UN-18", "UN-19", "UN-20", "UN-21", "UN-22", "UN-23")
@pytest.mark.parametrize(("suite", "version"), RUNS, ids=RUN_NAMES)
def test_every_scenario_passes_or_fails_for_a_known_reason(
    real: dict[str, str], tmp_path: Path, suite: str, version: str
) -> None:
    outcomes = run_suite(suite, version, real["mcp"], tmp_path)
    sessions = {FOR_SESSIONS} if suite == NEXT and version != "2026-07-28" else set[str]()
    for scenario in FOR_ANY_SERVER[version] | sessions:
        assert "SUCCESS" in outcomes[scenario].statuses, scenario
        assert "SKIPPED" not in outcomes[scenario].statuses, scenario
    assert find_surprises("universe", version, outcomes) == []


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
    (outcome,) = read_outcomes(results).values()
    assert printed.returncode == 0, printed.stdout + printed.stderr
    assert outcome.statuses == {"SUCCESS"}


@requirement("UN-17")
def test_a_client_of_both_eras_falls_back_to_a_session(real: dict[str, str], tmp_path: Path) -> None:
    seen = use_server(tmp_path, "auto", real["mcp"])
    assert (seen["version"], len(seen["tools"]), seen["prompts"]) == ("2025-11-25", 3, ["explore_system"])
    assert seen["text"].startswith("# Commands")
