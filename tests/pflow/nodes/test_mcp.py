"""Nodes that call tools of MCP servers, which are real processes and a real HTTP server."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, cast

import pytest

from pflow.config import Settings
from pflow.domain.node import NodeContext
from pflow.errors import NodeFailed
from pflow.nodes import mcp
from pflow.nodes.mcp import call_tool
from pflow.service.engine.executors import LocalSharedObjects
from pflow.service.operations import Service
from pflow.service.remote_mcp_servers import add_server, sync_servers
from pflow.store.mcp_server_entries import UnknownServer
from pflow.store.node_registry import Registry
from tests.pflow import tool_server
from tests.pflow.nodes.long_secrets import KEY_FILE, PIECE, TOKEN, add_secrets
from tests.pflow.run_results import get_outputs
from tests.pflow.tool_command import tool_command
from uraniborg.kernel.errors import InvalidInput, Unavailable
from uraniborg.kernel.mcp import make_stateless_app
from uraniborg.kernel.mcp.testing import serve_app

call_named_tool: Any = mcp.call_named_tool
"""Called with parameters of any shape."""

SOON = 30.0
SECOND = {"a": "${first.result.sum}"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    env = {"STARTS": str(tmp_path / "starts")}
    entry: Any = {**tool_command(), "env": env}
    add_server(home, "tools", entry)
    return home


@pytest.fixture
async def context(home: Path) -> AsyncGenerator[NodeContext]:
    shared_objects = LocalSharedObjects()
    yield NodeContext(
        "run", "workflow", "node", home, home, home / "spool", timeout=SOON, shared_objects=shared_objects
    )
    await asyncio.wait_for(shared_objects.close(), SOON)


def count_starts(home: Path) -> int:
    return len((home.parent / "starts").read_text().splitlines())


async def call_sample_tool(context: NodeContext, tool: str, **arguments: Any) -> Any:
    return await call_named_tool({"server": "tools", "tool": tool, "arguments": arguments}, context)


async def test_a_tool_gives_its_structured_content(context: NodeContext) -> None:
    outputs = await call_sample_tool(context, "add", a=1, b=2)
    assert (outputs["result"]["sum"], outputs["is_error"]) == (3, False)


async def test_a_list_or_a_text_is_returned_as_such(context: NodeContext) -> None:
    assert (await call_sample_tool(context, "count", to=3))["result"] == [0, 1, 2]
    assert (await call_sample_tool(context, "count", to=0))["result"] == []
    assert (await call_sample_tool(context, "say", text="hello"))["result"] == "hello"
    assert (await call_sample_tool(context, "say", text='{"a": [1]}'))["result"] == {"a": [1]}
    assert (await call_sample_tool(context, "say", text="{no json"))["result"] == "{no json"
    assert (await call_sample_tool(context, "say", text="123456789012345678901234"))[
        "result"
    ] == "123456789012345678901234"


async def test_a_run_connects_to_a_server_once_however_many_call_it(context: NodeContext, home: Path) -> None:
    replies = await asyncio.gather(*(call_sample_tool(context, "add", a=number) for number in range(20)))
    assert [reply["result"]["sum"] for reply in replies] == [number + 10 for number in range(20)]
    assert len({reply["result"]["process"] for reply in replies}) == 1
    assert count_starts(home) == 1


async def test_a_server_that_was_lost_is_connected_to_again(context: NodeContext, home: Path) -> None:
    with pytest.raises(Unavailable, match="MCP server 'tools' is not running"):
        await call_sample_tool(context, "leave")
    assert (await call_sample_tool(context, "add", a=1))["result"]["sum"] == 11
    assert count_starts(home) == 2


async def test_without_shared_objects_each_call_has_its_own_connection(home: Path) -> None:
    alone = NodeContext("run", "workflow", "node", home, home, home, timeout=SOON)
    first, second = await call_sample_tool(alone, "add", a=1), await call_sample_tool(alone, "add", a=1)
    assert first["result"]["process"] != second["result"]["process"]
    assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []


async def test_a_tool_that_reports_an_error_fails_the_node_with_its_message(context: NodeContext) -> None:
    with pytest.raises(NodeFailed, match="The tool lose of MCP server 'tools' failed: There is no comet") as caught:
        await call_sample_tool(context, "lose", name="comet")
    outputs: Any = caught.value.outputs
    assert outputs["is_error"] is True
    assert outputs["result"]["error"]["hint"] == "Look elsewhere."
    assert caught.value.ids == {"server": "tools", "tool": "lose"}


@pytest.mark.parametrize("secret", [TOKEN, KEY_FILE], ids=["long", "of many lines"])
async def test_no_part_of_a_secret_is_in_an_error(context: NodeContext, secret: str) -> None:
    with pytest.raises(NodeFailed, match=r"There is no \*\*\*") as caught:
        await call_sample_tool(add_secrets(context), "lose", name=secret)
    assert PIECE not in caught.value.message


async def test_an_unknown_server_is_reported_with_the_known_ones(context: NodeContext) -> None:
    with pytest.raises(UnknownServer) as caught:
        await call_named_tool({"server": "toolz", "tool": "add"}, context)
    assert caught.value.ids == {"server": "toolz", "available": ["tools"]}


@pytest.mark.parametrize(
    ("tool", "hint"), [("ad", "Did you mean add?"), ("something else", "It has: add, ")], ids=["misspelt", "unknown"]
)
async def test_an_unknown_tool_is_reported_with_the_tools_of_the_server(
    context: NodeContext, tool: str, hint: str
) -> None:
    with pytest.raises(NodeFailed, match=f"MCP server 'tools' does not list a tool '{tool}'. Its message: ") as caught:
        await call_sample_tool(context, tool)
    assert caught.value.hint.startswith(hint)
    assert {"add", "say", "lose"} <= set(caught.value.ids["available"])


SPARING = """
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    result = {"content": [{"type": "text", "text": sys.argv[1]}], "isError": True}
    if request["method"] == "initialize":
        info = {"name": "sparing", "version": "1"}
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
    if "id" in request and request["method"] != "tools/list":
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""
"""A server that never lists its tools."""


@pytest.mark.parametrize("message", ["the quota is used up", "unknown tool"])
async def test_the_message_of_a_tool_is_shown_even_if_the_server_lists_no_tools(
    home: Path, context: NodeContext, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pflow.nodes.mcp._LISTING_S", 0.2)
    add_server(home, "sparing", {"command": sys.executable, "args": ["-c", SPARING, message]})
    with pytest.raises(NodeFailed, match=f"The tool hidden of MCP server 'sparing' failed: {message}"):
        await call_named_tool({"server": "sparing", "tool": "hidden"}, context)


async def test_arguments_that_are_not_json_are_refused(context: NodeContext) -> None:
    with pytest.raises(InvalidInput, match="The arguments for 'say' of MCP server 'tools' are not JSON"):
        await call_sample_tool(context, "say", text=b"bytes")


async def test_a_call_that_is_cancelled_while_it_connects_leaves_nothing_behind(home: Path) -> None:
    hasty = NodeContext("run", "workflow", "node", home, home, home, timeout=SOON)
    calling = asyncio.create_task(call_sample_tool(hasty, "add", a=1))
    while not (home.parent / "starts").exists():  # noqa: ASYNC110 - the server is another process
        await asyncio.sleep(0.001)
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []


async def test_a_synced_tool_is_a_node_type_with_its_own_defaults(context: NodeContext, home: Path) -> None:
    await sync_servers(home)
    registry = Registry(home)
    interface = registry.get("mcp-tools-add")
    assert interface is not None
    assert (interface.params["a"].required, interface.params["b"].default, interface.effect) == (True, 10, "pure")
    assert registry.search("add two numbers")[0].type == "mcp-tools-add"
    call: Any = registry.load_function(interface)
    params = {"a": 1, "b": None, "__target__": interface.file}
    assert (await call(params, context))["result"]["sum"] == 11


async def test_the_names_of_server_and_tool_may_have_any_signs(context: NodeContext) -> None:
    with pytest.raises(UnknownServer) as caught:
        await call_tool({"__target__": "my-web.2/a/b-c"}, context)
    assert caught.value.ids["server"] == "my-web.2"


async def test_a_server_over_http_is_called_in_the_same_way(home: Path, context: NodeContext) -> None:
    async with serve_app(make_stateless_app(tool_server.tool_server())) as url:
        add_server(home, "web", {"type": "http", "url": f"{url}/mcp"})
        outputs = await call_named_tool({"server": "web", "tool": "add", "arguments": {"a": 5}}, context)
        assert outputs["result"]["sum"] == 15
        await cast("LocalSharedObjects", context.shared_objects).close()


async def test_variables_of_the_environment_reach_the_server_and_no_others(
    home: Path, context: NodeContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "sk-variable-1")
    monkeypatch.setenv("UNTOLD", "sk-variable-2")
    env = {"TOKEN": "${MY_TOKEN}", "PLACE": "${NO_SUCH_VARIABLE:-here}"}
    add_server(home, "env", {"command": sys.executable, "args": [tool_server.__file__], "env": env})

    async def report(variable: str) -> Any:
        arguments = {"variable": variable}
        return (await call_named_tool({"server": "env", "tool": "show_variable", "arguments": arguments}, context))[
            "result"
        ]

    assert [await report(name) for name in ("TOKEN", "PLACE", "UNTOLD")] == ["sk-variable-1", "here", ""]
    assert "sk-variable" not in json.dumps(json.loads((home / "mcp-servers.json").read_text()))


async def test_a_workflow_of_both_kinds_of_node_starts_the_server_once_and_ends_it(home: Path) -> None:
    await sync_servers(home)
    (home.parent / "starts").unlink()
    nodes = [
        {"id": "first", "type": "mcp-tools-add", "params": {"a": 1}},
        {"id": "second", "type": "mcp", "params": {"server": "tools", "tool": "add", "arguments": SECOND}},
    ]
    outputs = {"sum": {"source": "${second.result.sum}"}, "process": {"source": "${first.result.process}"}}
    plain = {"nodes": nodes, "edges": [{"from": "first", "to": "second"}], "outputs": outputs}
    (home / "workflows" / "drafts").mkdir(parents=True)
    (home / "workflows" / "drafts" / "sums.json").write_text(json.dumps(plain))
    done = await asyncio.to_thread(Service(Settings(home=home)).execute, "sums")
    assert (done.success, done.outputs["sum"]) == (True, 21)
    assert count_starts(home) == 1
    with pytest.raises(ProcessLookupError):
        os.kill(get_outputs(done)["process"], 0)
