"""The official inspector lists, calls and reads the tools and resources of the real server."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.paper_library.conformance.node_tools import run
from tests.paper_library.mcp import inputs
from tests.paper_library.mcp.server_process import ServerProcess
from tests.requirements import requirement

SCRIPT = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
FAILED_CALL = 5

pytestmark = pytest.mark.timeout(120)


def run_inspector(process: ServerProcess, home: Path, *arguments: str, status: int = 0) -> Any:
    result = run(SCRIPT, "--cli", process.announced["mcp"], "--transport", "http", *arguments, home=home)
    assert result.returncode == status, result.stdout + result.stderr
    return json.loads(result.stdout)


@requirement("PL-6")
def test_the_inspector_lists_the_tools(process: ServerProcess, tmp_path: Path) -> None:
    tools = run_inspector(process, tmp_path, "--method", "tools/list")["tools"]
    assert len(tools) == 8
    assert all(tool["title"] and tool["description"] for tool in tools)


@requirement("PL-8")
def test_the_inspector_searches(process: ServerProcess, tmp_path: Path) -> None:
    arguments = ["--tool-name", "search_papers", "--tool-arg", "query=rain radar", "limit=1"]
    result = run_inspector(process, tmp_path, "--method", "tools/call", *arguments)
    (row,) = result["structuredContent"]["results"]
    assert row["title"].startswith("Attention for Weather")
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]


@requirement("PL-15")
def test_the_inspector_reads_a_piece_of_a_text(process: ServerProcess, tmp_path: Path) -> None:
    arguments = ["--tool-name", "get_paper_source", "--tool-arg", f"paper_id={inputs.LONG}", "max_chars=100"]
    (block,) = run_inspector(process, tmp_path, "--method", "tools/call", *arguments)["content"]
    assert block["text"].startswith(inputs.make_long_text()[:100] + "\n\n[truncated: ")


@requirement("PL-16")
def test_the_inspector_reports_a_failed_call_as_failed(process: ServerProcess, tmp_path: Path) -> None:
    arguments = ["--tool-name", "get_paper_source", "--tool-arg", "paper_id=nobody"]
    result = run_inspector(process, tmp_path, "--method", "tools/call", *arguments, status=FAILED_CALL)
    assert json.loads(result["content"][0]["text"])["error"]["code"] == "paper_not_found"


@requirement("PL-14")
def test_the_inspector_lists_and_reads_resources(process: ServerProcess, tmp_path: Path) -> None:
    templates = run_inspector(process, tmp_path, "--method", "resources/templates/list")["resourceTemplates"]
    assert len(templates) == 5
    uri = "paper://oztuerk2021attention/summary/deep_read"
    (content,) = run_inspector(process, tmp_path, "--method", "resources/read", "--uri", uri)["contents"]
    assert json.loads(content["text"]) == inputs.DEEP_READ
    (rest,) = run_inspector(process, tmp_path, "--method", "resources/read", "--uri", f"{uri}?offset=9")["contents"]
    assert rest["text"] == content["text"][9:]
    listed = run_inspector(process, tmp_path, "--method", "resources/list")["resources"]
    assert any(one["name"].startswith("Attention for Weather") for one in listed)
