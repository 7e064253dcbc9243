"""The command line of the official inspector lists, calls and reads the real server over stdio."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.paper_library.conformance.node_tools import run
from tests.pflow.mcp.agents import COMMAND, SERVE
from tests.pflow.mcp.sample_workflows import HELLO
from tests.pflow.store.homes import write_draft
from tests.requirements import requirement

SCRIPT = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
FAILED_CALL = 5

pytestmark = pytest.mark.timeout(120)


def inspect(folder: Path, *arguments: str, status: int = 0) -> Any:
    server = ("-e", f"PFLOW_HOME={folder / 'home'}", "--transport", "stdio", COMMAND, *SERVE)
    reply = run(SCRIPT, "--cli", *server, *arguments, home=folder)
    assert reply.returncode == status, reply.stdout + reply.stderr
    return json.loads(reply.stdout)


@requirement("PF-R1", "PF-R19")
def test_it_lists_the_five_tools_and_finds_their_schemas_good_for_every_client(tmp_path: Path) -> None:
    tools = inspect(tmp_path, "--method", "tools/list", "--strict")["tools"]
    assert len(tools) == 5
    assert all(tool["title"] and tool["description"] for tool in tools)


@requirement("PF-R9", "PF-R19")
def test_it_runs_a_draft(tmp_path: Path) -> None:
    write_draft(tmp_path / "home", "hello", HELLO)
    arguments = ["--tool-name", "execute", "--tool-arg", "name=hello", 'inputs={"who": "Tycho"}']
    result = inspect(tmp_path, "--method", "tools/call", *arguments)
    assert result["structuredContent"]["outputs"] == {"greeting": "Hello Tycho"}
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]


@requirement("PF-N6")
def test_it_sees_a_failed_run_as_failed(tmp_path: Path) -> None:
    arguments = ["--tool-name", "execute", "--tool-arg", "name=absent"]
    result = inspect(tmp_path, "--method", "tools/call", *arguments, status=FAILED_CALL)
    assert result["isError"] is True
    assert result["structuredContent"]["error"]["type"] == "FileNotFoundError"


def test_it_reads_the_guide(tmp_path: Path) -> None:
    (listed,) = inspect(tmp_path, "--method", "resources/list")["resources"]
    (content,) = inspect(tmp_path, "--method", "resources/read", "--uri", listed["uri"])["contents"]
    assert content["text"].startswith("# How workflows are written")
