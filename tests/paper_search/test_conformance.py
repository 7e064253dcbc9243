"""The official conformance suite, in its last release and in its next one, against the real server over stdio."""

import os
from pathlib import Path

import pytest

from tests.installed_programs import find_program
from tests.paper_library.conformance.suite import STDIO_RUN_NAMES, STDIO_RUNS, check_stdio_server
from tests.requirements import requirement

pytestmark = pytest.mark.timeout(120)


@requirement("PS-REQ-7", "PS-C2")
@pytest.mark.parametrize(("suite", "version"), STDIO_RUNS, ids=STDIO_RUN_NAMES)
async def test_every_scenario_passes_or_fails_for_a_known_reason(tmp_path: Path, suite: str, version: str) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "URANIBORG_HOME": str(tmp_path / "home")}
    await check_stdio_server("search", suite, version, [find_program("paper-search-mcp")], env, tmp_path)
