"""The official conformance suite, in its last release and in its next one, against the real server."""

from pathlib import Path
from typing import Final

import pytest

from tests.paper_library.conformance.suite import (
    NEXT,
    NEXT_VERSIONS,
    RELEASED,
    RELEASED_VERSION,
    RUN_NAMES,
    RUNS,
    find_surprises,
    list_scenarios,
    read_expected_failures,
    run_suite,
)
from tests.paper_library.mcp.server_process import ServerProcess
from tests.requirements import requirement

_LISTS: Final = {"tools-list", "resources-list"}
_HANDSHAKE: Final = {"server-initialize", "ping", *_LISTS}
FOR_ANY_SERVER: Final[dict[str, set[str]]] = {
    "2025-03-26": set(),
    "2025-06-18": _HANDSHAKE,
    "2025-11-25": {*_HANDSHAKE, "dns-rebinding-protection"},
    "2026-07-28": {
        *_LISTS,
        "server-stateless",
        "caching",
        "http-header-validation",
        "sep-2164-resource-not-found",
        "server-sse-multiple-streams",
        "dns-rebinding-protection",
    },
}
"""The scenarios of each version that need nothing of the suite's own test server."""

pytestmark = pytest.mark.timeout(120)


@requirement("PL-1", "PL-2", "PL-4", "PL-5", "PL-6", "PL-7")
@pytest.mark.parametrize(("suite", "version"), RUNS, ids=RUN_NAMES)
def test_every_scenario_passes_or_fails_for_a_known_reason(
    process: ServerProcess, tmp_path: Path, suite: str, version: str
) -> None:
    outcomes = run_suite(suite, version, process.announced["mcp"], tmp_path)
    assert FOR_ANY_SERVER[version] <= outcomes.keys()
    for scenario in FOR_ANY_SERVER[version]:
        assert "SUCCESS" in outcomes[scenario].statuses, scenario
    assert find_surprises("library", version, outcomes) == []


def test_the_suite_runs_for_every_version_that_it_knows() -> None:
    for suite, versions in ((RELEASED, {"2025-06-18", RELEASED_VERSION}), (NEXT, {*NEXT_VERSIONS, "extension"})):
        assert set().union(*list_scenarios(suite).values()) == versions


@pytest.mark.parametrize("server", ["library", "universe", "search", "pflow"])
def test_every_expected_failure_has_a_reason_and_exists(server: str) -> None:
    known = {*list_scenarios(RELEASED), *list_scenarios(NEXT), "*"}
    entries = read_expected_failures(server)
    named = [scenario for entry in entries for scenario in entry["scenarios"]]
    assert len(named) == len(set(named))
    assert set(named) <= known
    assert all(entry["reason"].endswith(".") for entry in entries)
