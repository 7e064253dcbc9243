"""The official TypeScript client, which supports both eras of the protocol, uses the four real servers."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.paper_library.conformance.node_tools import MODULES, run
from tests.paper_library.mcp.server_process import ServerProcess
from tests.prerequisites import skip_or_fail
from tests.requirements import requirement

SCRIPT = "../use_server.mjs"
CLIENT = MODULES / "@modelcontextprotocol" / "client" / "package.json"
BIN = Path(sys.executable).parent

pytestmark = pytest.mark.timeout(120)


def use_server(home: Path, mode: str, *target: str) -> dict[str, Any]:
    if not CLIENT.is_file():
        skip_or_fail("tools/conformance is not installed: run `npm ci` there, with access to the npm registry")
    result = run(SCRIPT, mode, *target, home=home)
    assert result.returncode == 0, result.stdout + result.stderr
    return json.loads(result.stdout)


@requirement("PL-3", "PL-5", "PL-6", "PL-7")
@pytest.mark.parametrize(
    ("mode", "version", "missing"),
    [("2026-07-28", "2026-07-28", -32602), ("auto", "2026-07-28", -32602), ("legacy", "2025-11-25", -32002)],
)
def test_the_library_answers_in_the_newest_version_of_the_client(
    process: ServerProcess, tmp_path: Path, mode: str, version: str, missing: int
) -> None:
    seen = use_server(tmp_path, mode, process.announced["mcp"])
    assert (seen["version"], seen["server"]["name"], seen["missing"]) == (version, "paper-library", missing)
    assert "search_papers" in seen["tools"]
    assert seen["prompts"] == []
    assert json.loads(seen["text"])["paper_id"]
    assert json.loads(seen["called"])["category"] == "author"


@pytest.mark.parametrize(
    ("command", "tools", "prompts"),
    [
        (["paper-search-mcp"], 4, ["start_review", "continue_searches"]),
        (["pflow", "mcp", "serve"], 5, ["run_workflow"]),
    ],
)
def test_a_client_of_both_eras_falls_back_over_stdio(
    tmp_path: Path, command: list[str], tools: int, prompts: list[str]
) -> None:
    seen = use_server(tmp_path, "auto", str(BIN / command[0]), *command[1:])
    assert (seen["version"], len(seen["tools"]), seen["prompts"]) == ("2025-11-25", tools, prompts)
