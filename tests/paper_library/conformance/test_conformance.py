"""The official conformance suite, in its last release and in its next one, against the real server."""

import json
from pathlib import Path
from typing import Final

import pytest

from tests.paper_library.conformance.node_tools import run
from tests.paper_library.mcp.server_process import ServerProcess
from tests.requirements import requirement

RELEASED: Final = "@modelcontextprotocol/conformance/dist/index.js"
NEXT: Final = "conformance-next/dist/index.js"

FOR_ANY_SERVER: Final = {"server-initialize", "ping", "tools-list", "resources-list"}
FOR_NEWEST: Final = {"dns-rebinding-protection"}

NOT_OFFERED: Final = {
    "logging-set-level",
    "completion-complete",
    "resources-subscribe",
    "resources-unsubscribe",
    "prompts-list",
}
"""Capabilities that the library does not have, and says it does not."""
OF_A_TEST_SERVER: Final = (
    "tools-call-",
    "prompts-get-",
    "resources-read-",
    "resources-templates-",
    "elicitation-",
    "json-",
)
"""Scenarios that call tools and read resources of a server made for the suite."""


def read_outcomes(folder: Path) -> dict[str, list[str]]:
    """Return the results of the checks of each scenario."""
    found: dict[str, list[str]] = {}
    for path in folder.glob("server-*/checks.json"):
        scenario = path.parent.name.removeprefix("server-").rsplit("-", 6)[0]
        found[scenario] = [check["status"] for check in json.loads(path.read_text(encoding="utf-8"))]
    return found


@requirement("PL-1", "PL-2", "PL-4", "PL-5", "PL-6", "PL-7")
@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    ("suite", "options", "applying"),
    [
        (RELEASED, [], FOR_ANY_SERVER | FOR_NEWEST),
        (NEXT, ["--spec-version", "2025-11-25"], FOR_ANY_SERVER | FOR_NEWEST),
        (NEXT, ["--spec-version", "2025-06-18"], FOR_ANY_SERVER),
    ],
    ids=["released", "next-2025-11-25", "next-2025-06-18"],
)
def test_the_scenarios_that_apply_to_any_server_pass(
    process: ServerProcess, tmp_path: Path, suite: str, options: list[str], applying: set[str]
) -> None:
    results = tmp_path / "results"
    url = process.announced["mcp"]
    result = run(suite, "server", "--url", url, "--suite", "all", *options, "-o", str(results), home=tmp_path)
    found = read_outcomes(results)
    assert applying <= found.keys(), result.stdout + result.stderr
    for scenario in applying:
        assert "SUCCESS" in found[scenario], (scenario, found[scenario])
    failed = {scenario for scenario, statuses in found.items() if "FAILURE" in statuses}
    unexplained = {name for name in failed - NOT_OFFERED if not name.startswith(OF_A_TEST_SERVER)}
    assert unexplained == set(), result.stdout


@requirement("PL-5")
@pytest.mark.timeout(120)
def test_the_suite_finds_no_prompts(process: ServerProcess, tmp_path: Path) -> None:
    url = process.announced["mcp"]
    result = run(
        RELEASED, "server", "--url", url, "--scenario", "prompts-list", "-o", str(tmp_path / "r"), home=tmp_path
    )
    assert result.returncode == 1, result.stdout
    assert "FAILURE" in read_outcomes(tmp_path / "r")["prompts-list"]
