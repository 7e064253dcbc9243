"""Agents: the official MCP client, each with the real server in a separate process."""

import json
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp.types import CallToolResult

from tests.installed_programs import Program
from uraniborg.kernel.mcp.testing import ClientSession, OnDialog, connect_stdio_client, get_text

COMMAND = str(Path(sys.executable).with_name("pflow"))
SERVE = ("mcp", "serve")
PATIENCE_S = 40


def make_environment(home: Path, **more: str) -> dict[str, str]:
    """Return a minimal environment, without settings and workflows of the user."""
    person = home.parent / "person"
    person.mkdir(parents=True, exist_ok=True)
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(person),
        "PFLOW_HOME": str(home),
        "URANIBORG_HOME": str(person / "uraniborg"),
        **more,
    }


def make_working_folder(home: Path) -> Path:
    """Create and return the folder that the server of this home is started in."""
    folder = home.parent / "workplace"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@asynccontextmanager
async def agent(
    home: Path, *, is_silent: bool = True, from_the_start: bool = False, on_dialog: OnDialog | None = None, **env: str
) -> AsyncGenerator[ClientSession]:
    """Yield a client of a new server, which must have printed nothing to stderr at the end.

    The server begins where it has loaded what it needs, or `from_the_start` as it is installed.
    """
    command, *arguments = [COMMAND, *SERVE] if from_the_start else Program("pflow").command(*SERVE)
    log = get_stderr_file(home)
    with log.open("a", encoding="utf-8") as stderr:
        before = log.stat().st_size
        folder = str(make_working_folder(home))
        async with connect_stdio_client(
            command, arguments, make_environment(home, **env), cwd=folder, stderr=stderr, on_dialog=on_dialog
        ) as client:
            yield client
    output = log.read_bytes()[before:].decode()
    assert not is_silent or output == "", output


def get_stderr_file(home: Path) -> Path:
    """Return the file with the stderr of the servers of this home."""
    return home.parent / "stderr.txt"


async def call_tool(client: ClientSession, tool: str, **arguments: Any) -> Any:
    """Call a tool, which must succeed, and return its reply."""
    result = await client.call_tool(tool, arguments)
    assert not result.isError, get_text(result)
    return parse_result(result)


async def call_failing_tool(client: ClientSession, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool, which must fail with a specified error, and return its reply."""
    result = await client.call_tool(tool, arguments)
    assert result.isError, get_text(result)
    reply = parse_result(result)
    assert reply["success"] is False
    assert reply["error"].keys() >= {"type", "code", "message", "hint"}
    assert reply["error"]["code"] != "internal_error"
    if tool == "execute":
        assert reply["outputs"] == {}
        assert reply["checkpoint"] is not None
        assert "node" in reply["error"]
    return reply


async def execute_workflow(client: ClientSession, name: str, **inputs: Any) -> dict[str, Any]:
    """Run a workflow, which must succeed, and return the reply."""
    reply = await call_tool(client, "execute", name=name, inputs=inputs)
    assert reply["success"] is True
    assert (reply["error"], reply["checkpoint"]) == (None, None)
    return reply


def parse_result(result: CallToolResult) -> Any:
    """Return the value of a result, which must be the same as text and as structured content."""
    text = get_text(result)
    value: Any = json.loads(text)
    assert text == json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    assert result.structuredContent == ({"result": value} if text.startswith("[") else value)
    return value
