"""The official conformance suite, in its last release and in its next one, against the real server over stdio."""

from pathlib import Path

import pytest

from tests.installed_programs import find_program
from tests.paper_library.conformance.suite import STDIO_RUN_NAMES, STDIO_RUNS, check_stdio_server
from tests.pflow.mcp.agents import SERVE, make_environment
from tests.requirements import requirement

pytestmark = pytest.mark.timeout(120)


@requirement("PF-R1", "PF-R19")
@pytest.mark.parametrize(("suite", "version"), STDIO_RUNS, ids=STDIO_RUN_NAMES)
async def test_every_scenario_passes_or_fails_for_a_known_reason(tmp_path: Path, suite: str, version: str) -> None:
    env = make_environment(tmp_path / "home")
    await check_stdio_server("pflow", suite, version, [find_program("pflow"), *SERVE], env, tmp_path)
