"""The official conformance suite: its releases, the versions of the protocol that it knows, and expected failures."""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from tests.paper_library.conformance.node_tools import MODULES, run
from tests.paper_library.conformance.stdio_bridge import bridge

RELEASED: Final = "@modelcontextprotocol/conformance/dist/index.js"
NEXT: Final = "conformance-next/dist/index.js"
RELEASED_VERSION: Final = "2025-11-25"
"""The newest version of the protocol that the last release knows, and that it uses."""
NEXT_VERSIONS: Final = ("2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
RUNS: Final = [(RELEASED, RELEASED_VERSION), *((NEXT, version) for version in NEXT_VERSIONS)]
RUN_NAMES: Final = [f"{'next' if suite == NEXT else 'released'}-{version}" for suite, version in RUNS]
STDIO_RUNS: Final = [(suite, version) for suite, version in RUNS if version != "2026-07-28"]
"""The runs against servers over stdio, which refuse the newest version."""
STDIO_RUN_NAMES: Final = [name for name in RUN_NAMES if not name.endswith("2026-07-28")]
FOR_ANY_STDIO_SERVER: Final = {"server-initialize", "ping", "tools-list", "resources-list", "prompts-list"}
"""The scenarios from version 2025-06-18 on that need neither HTTP nor anything of the suite's own test server."""
EXPECTED_FAILURES: Final = MODULES.parent / "expected_failures.json"

_LISTED: Final = re.compile(r"^ +- (\S+) \[([\w,-]+)\]$", re.MULTILINE)


class Outcome(NamedTuple):
    """The results of the checks of one scenario: the ids of failed checks, and all statuses."""

    failed: set[str]
    statuses: set[str]


def run_suite(suite: str, version: str, url: str, folder: Path) -> dict[str, Outcome]:
    """Return the outcome of each scenario of this version against the server at `url`."""
    results = folder / "results"
    options = ["--spec-version", version] if suite == NEXT else []
    printed = run(suite, "server", "--url", url, "--suite", "all", *options, "-o", str(results), home=folder)
    outcomes = read_outcomes(results)
    assert outcomes, printed.stdout + printed.stderr
    return outcomes


async def check_stdio_server(
    part: str, suite: str, version: str, command: Sequence[str], env: Mapping[str, str], folder: Path
) -> None:
    """Run the suite against the server that `command` starts in `folder`; compare with the expected failures."""
    async with bridge(command, env=env, cwd=folder) as url:
        outcomes = await asyncio.to_thread(run_suite, suite, version, url, folder)
    for scenario in FOR_ANY_STDIO_SERVER if version > "2025-03-26" else ():
        assert outcomes[scenario].statuses == {"SUCCESS"}, scenario
    assert find_surprises(part, version, outcomes) == []


def read_outcomes(results: Path) -> dict[str, Outcome]:
    """Return the outcome of each scenario in a folder of results."""
    outcomes: dict[str, Outcome] = {}
    for path in results.glob("server-*/checks.json"):
        scenario = path.parent.name.removeprefix("server-").rsplit("-", 6)[0]
        checks = json.loads(path.read_text(encoding="utf-8"))
        failed = {check["id"] for check in checks if check["status"] == "FAILURE"}
        outcomes[scenario] = Outcome(failed, {check["status"] for check in checks})
    return outcomes


@cache
def list_scenarios(suite: str) -> dict[str, set[str]]:
    """Return the scenarios of the suite, each with the versions of the protocol to which it applies."""
    printed = run(suite, "list", "--server", home=MODULES).stdout
    return {scenario: set(versions.split(",")) for scenario, versions in _LISTED.findall(printed)}


def read_expected_failures(server: str) -> list[dict[str, Any]]:
    """Return the expected failures of a server, each with its reason.

    An entry holds for its `versions`, or for all. It names the failed `checks` of its scenarios if others succeed.
    """
    return cast("dict[str, Any]", json.loads(EXPECTED_FAILURES.read_text(encoding="utf-8")))[server]


def find_surprises(server: str, version: str, outcomes: dict[str, Outcome]) -> list[str]:
    """Return the scenarios that fail without a reason in the file, and those that the file expects to fail but pass."""
    surprises: list[str] = []
    for scenario, outcome in sorted(outcomes.items()):
        entry = _find_entry(server, version, scenario)
        if entry is None and outcome.failed:
            surprises.append(f"{scenario} fails: {sorted(outcome.failed)}")
        elif entry is not None and not outcome.failed:
            surprises.append(f"{scenario} passes; remove it from {EXPECTED_FAILURES.name}")
        elif entry is not None and "checks" in entry and set(entry["checks"]) != outcome.failed:
            surprises.append(f"{scenario} fails in {sorted(outcome.failed)}, expected {entry['checks']}")
    return surprises


def _find_entry(server: str, version: str, scenario: str) -> dict[str, Any] | None:
    for entry in read_expected_failures(server):
        if version in entry.get("versions", [version]) and (
            scenario in entry["scenarios"] or entry["scenarios"] == ["*"]
        ):
            return entry
    return None
