"""The official inspector's command line lists, calls and reads what the real server has."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.paper_library.conformance.node_tools import run
from tests.requirements import requirement
from tests.universe.domain.samples import add_star
from tests.universe.mcp.agents import TOOLS

SCRIPT = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
FAILED_CALL = 5

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def mcp(real: dict[str, str]) -> Iterator[str]:
    """Provide the endpoint of a server that has, during the test, a universe `u-1` with one body."""
    with httpx.Client(base_url=real["url"], timeout=20) as http:
        assert http.post("/universes", json={"name": "Hven", "id": "u-1"}).status_code == 201
        assert http.post("/universes/u-1/commands", json=add_star("sun")).status_code == 200
        yield real["mcp"]
        assert http.delete("/universes/u-1").status_code == 204


def inspect(mcp: str, home: Path, *arguments: str, status: int = 0) -> Any:
    printed = run(SCRIPT, "--cli", mcp, "--transport", "http", *arguments, home=home)
    assert printed.returncode == status, printed.stdout + printed.stderr
    return json.loads(printed.stdout)


@requirement("UN-1", "UN-2", "UN-3", "UN-4", "UN-5")
def test_it_lists_the_three_tools(mcp: str, tmp_path: Path) -> None:
    tools = {tool["name"]: tool for tool in inspect(mcp, tmp_path, "--method", "tools/list")["tools"]}
    assert tools.keys() == TOOLS
    for tool in tools.values():
        assert tool["description"]
        assert "universeId" in tool["inputSchema"]["required"]


@requirement("UN-8", "UN-9", "UN-10")
def test_it_sends_a_command_and_reads_the_state(mcp: str, tmp_path: Path) -> None:
    requests = ["--tool-name", "send_universe_command", "--tool-arg", "universeId=u-1", 'command={"type":"tick"}']
    (block,) = inspect(mcp, tmp_path, "--method", "tools/call", *requests)["content"]
    printed = json.loads(block["text"])
    assert (printed["version"], printed["nextState"]["time"]) == (2, 1)
    requests = ["--tool-name", "get_universe_state", "--tool-arg", "universeId=u-1"]
    (block,) = inspect(mcp, tmp_path, "--method", "tools/call", *requests)["content"]
    assert json.loads(block["text"]) == {**printed["nextState"], "version": 2}


@requirement("UN-14", "UN-16")
def test_it_sees_a_failed_call_as_failed(mcp: str, tmp_path: Path) -> None:
    requests = ["--tool-name", "get_universe_state", "--tool-arg", "universeId=u-missing"]
    result = inspect(mcp, tmp_path, "--method", "tools/call", *requests, status=FAILED_CALL)
    assert json.loads(result["content"][0]["text"])["error"]["universeId"] == "u-missing"


def test_it_lists_and_reads_resources(mcp: str, tmp_path: Path) -> None:
    listed = {one["uri"] for one in inspect(mcp, tmp_path, "--method", "resources/list")["resources"]}
    assert "universe://universes/u-1" in listed
    requests = ["--method", "resources/read", "--uri", "universe://universes/u-1"]
    (content,) = inspect(mcp, tmp_path, *requests)["contents"]
    assert json.loads(content["text"])["counts"]["stars"] == 1
