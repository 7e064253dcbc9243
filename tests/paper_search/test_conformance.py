"""The official conformance suite, in its last release and in its next one, against the real server over stdio."""

import asyncio
import os
from pathlib import Path
from typing import Final

import pytest

from paper_search import mcp_server
from tests.installed_programs import find_program
from tests.paper_library.conformance.suite import (
    RELEASED_VERSION,
    RUN_NAMES,
    RUNS,
    STDIO_RUN_NAMES,
    STDIO_RUNS,
    check_stdio_server,
    find_surprises,
    run_suite,
)
from tests.requirements import requirement
from uraniborg.kernel.http.config import HttpConfig
from uraniborg.kernel.http.secure_app import list_origins, secure_app
from uraniborg.kernel.mcp import make_stateful_app
from uraniborg.kernel.mcp.testing import serve_app

HTTP_RUNS: Final = [
    pytest.param(*run, id=name) for run, name in zip(RUNS, RUN_NAMES, strict=True) if run[1] == RELEASED_VERSION
]
ONLY_OVER_HTTP: Final = "dns-rebinding-protection"

pytestmark = pytest.mark.timeout(120)


@requirement("PS-REQ-7", "PS-C2")
@pytest.mark.parametrize(("suite", "version"), STDIO_RUNS, ids=STDIO_RUN_NAMES)
async def test_every_scenario_passes_or_fails_for_a_known_reason(tmp_path: Path, suite: str, version: str) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "URANIBORG_HOME": str(tmp_path / "home")}
    await check_stdio_server("search", suite, version, [find_program("paper-search-mcp")], env, tmp_path)


@pytest.mark.parametrize(("suite", "version"), HTTP_RUNS)
async def test_the_http_server_of_uraniborg_serve_conforms_behind_its_check_of_credentials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suite: str, version: str
) -> None:
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "home"))
    config = HttpConfig()
    app = make_stateful_app(mcp_server.mcp, origins=list_origins(config))
    # The suite sends no credential.
    async with serve_app(secure_app(app, config, is_page=lambda _: False, open_paths=())) as url:
        outcomes = await asyncio.to_thread(run_suite, suite, version, f"{url}/mcp", tmp_path)
    assert outcomes.pop(ONLY_OVER_HTTP).statuses == {"SUCCESS"}
    assert find_surprises("search", version, outcomes) == []
