"""The protocol: tools, arguments, shapes of replies and errors, resources and instructions."""

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from mcp.types import TextResourceContents
from pydantic import AnyUrl

from pflow import mcp_server
from pflow.config import Settings
from pflow.service.operations import Service
from pflow.store.node_registry import Registry
from pflow.store.workflow_library import WorkflowManager
from tests.pflow.mcp.agents import agent, call_failing_tool, call_tool, execute_workflow, parse_result
from tests.pflow.mcp.raw_server import raw_server
from tests.pflow.mcp.sample_workflows import HELLO, chain, count_runs, counting_node, read_history, shell_node
from tests.pflow.store.homes import read_all_files, write_draft, write_raw_draft, write_saved, write_workflow_file
from tests.requirements import requirement
from tests.uraniborg.kernel.mcp.raw_messages import INITIALIZE
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.mcp.testing import McpError, get_text

ARGUMENTS: dict[str, dict[str, Any]] = {
    "browse_components": {"query": "", "include_workflows": True},
    "list_library": {"pattern": None},
    "describe_workflow": {"name": ...},
    "execute": {"name": ..., "inputs": None},
    "save_to_library": {"draft_name": ..., "final_name": ..., "description": ...},
}
"""The arguments of each tool, with the defaults of the optional ones."""
KINDS = {"include_workflows": "boolean", "inputs": "object"}
RUN_KEYS = {
    *("success", "outputs", "error", "checkpoint", "reused_nodes", "run_id", "duration_ms", "warnings"),
}
SAVING = {"draft_name": "hello", "final_name": "kept", "description": "Greets."}


@requirement("PF-R1", "PF-O1")
def test_the_tools_are_listed_in_less_than_six_kilobytes_with_the_arguments_of_the_specification(home: Path) -> None:
    with raw_server(home) as server:
        server.send({"id": 1, "method": "tools/list"})
        answer = server.receive()
    listed = answer["result"]["tools"]
    schemas = [tool.pop("outputSchema") for tool in listed]
    assert len(json.dumps(answer, separators=(",", ":"))) < 6_000, "without the schemas that only clients read"
    assert len(json.dumps(schemas, separators=(",", ":"))) < 14_000
    tools = {tool["name"]: tool["inputSchema"] for tool in answer["result"]["tools"]}
    assert tools.keys() == ARGUMENTS.keys()
    for name, schema in tools.items():
        assert list(schema["properties"]) == list(ARGUMENTS[name])
        required = [argument for argument, default in ARGUMENTS[name].items() if default is ...]
        assert schema.get("required", []) == required
        assert schema["additionalProperties"] is False
        for argument, default in ARGUMENTS[name].items():
            its = schema["properties"][argument]
            assert default is ... or its["default"] == default
            kinds = {one.get("type") for one in its.get("anyOf", [its])} - {"null"}
            assert kinds == {KINDS.get(argument, "string")}


@requirement("PF-E11")
async def test_unknown_and_wrong_arguments_are_refused_and_nothing_runs(home: Path, tmp_path: Path) -> None:
    write_draft(home, "counts", chain(counting_node("one", tmp_path / "tally")))
    write_draft(home, "hello", HELLO)
    before = read_all_files(home)
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("execute", {}),
        ("execute", {"name": None}),
        ("execute", {"name": 7}),
        ("execute", {"name": ["counts"]}),
        ("execute", {"name": "counts", "inputs": "text"}),
        ("execute", {"name": "counts", "inputs": [1]}),
        ("execute", {"name": "counts", "enable_repair": True}),
        ("execute", {"name": "counts", "Inputs": {}}),
        ("describe_workflow", {}),
        ("describe_workflow", {"name": "counts", "verbose": True}),
        ("browse_components", {"query": 7}),
        ("browse_components", {"query": "x", "include_workflows": "perhaps"}),
        ("browse_components", {"query": "x", "limit": 5}),
        ("list_library", {"pattern": {"name": "x"}}),
        ("list_library", {"query": "x"}),
        ("save_to_library", {"draft_name": "hello", "final_name": "kept"}),
        ("save_to_library", {**SAVING, "overwrite": True}),
        ("save_to_library", {**SAVING, "description": None}),
    ]
    async with agent(home) as client:
        for tool, arguments in wrong:
            result = await client.call_tool(tool, arguments)
            reply = json.loads(get_text(result))
            error = reply["error"]
            assert result.isError, (tool, arguments)
            assert result.structuredContent == reply
            assert reply["success"] is False
            assert reply.get("checkpoint", {}) is not None
            assert ("checkpoint" in reply) is (tool == "execute")
            assert (error["code"], error["type"]) == ("invalid_argument", "validation_error"), (tool, arguments)
            assert error["argument"] in {*arguments, *ARGUMENTS[tool]}
            assert tool in error["hint"]
        unknown = await client.call_tool("plan_workflow", {})
        reply = json.loads(get_text(unknown))
        assert reply["error"]["request_id"]
        assert unknown.isError
        assert unknown.structuredContent == reply
        assert reply["success"] is False
        assert (reply["error"]["code"], reply["error"]["type"]) == ("unknown_tool", "validation_error")
        assert set(reply["error"]["allowed"]) == set(ARGUMENTS)
    assert count_runs(tmp_path / "tally") == 0
    assert read_history(home, "counts") == []
    assert read_all_files(home) == before


@requirement("PF-N6")
async def test_every_reply_of_a_run_has_the_same_keys_and_success_decides_about_is_error(home: Path) -> None:
    write_draft(home, "hello", HELLO)
    write_draft(home, "fails", chain(shell_node("one", "exit 1")))
    write_draft(home, "unsound", {"nodes": []})
    write_draft(home, "no-json", "{")
    calls: list[tuple[dict[str, Any], str | None]] = [
        ({"name": "hello", "inputs": {"who": "Tycho"}}, None),
        ({"name": "fails"}, "execution_error"),
        ({"name": "hello"}, "template_error"),
        ({"name": "hello", "inputs": {}}, "template_error"),
        ({"name": "hello", "inputs": None}, "template_error"),
        ({"name": "unsound"}, "validation_error"),
        ({"name": "no-json"}, "validation_error"),
        ({"name": "absent"}, "FileNotFoundError"),
        ({"name": "../absent"}, "SecurityError"),
    ]
    async with agent(home) as client:
        for arguments, kind in calls:
            result = await client.call_tool("execute", arguments)
            reply = parse_result(result)
            assert reply.keys() >= RUN_KEYS
            assert reply["success"] is (kind is None)
            assert result.isError is (kind is not None)
            if kind is None:
                assert (reply["error"], reply["checkpoint"]) == (None, None)
                continue
            assert reply["error"]["type"] == kind
            assert reply["error"].keys() >= {"type", "code", "message", "hint", "node"}
            assert reply["checkpoint"].keys() >= {"run_id", "completed_nodes", "failed_node", "resumable"}


async def test_errors_of_every_tool_have_success_a_type_and_a_code(home: Path) -> None:
    write_draft(home, "no-json", "{")
    async with agent(home) as client:
        for tool, arguments in (
            ("describe_workflow", {"name": "absent"}),
            ("describe_workflow", {"name": "no-json"}),
            ("save_to_library", {**SAVING, "draft_name": "absent"}),
            ("save_to_library", {**SAVING, "draft_name": "no-json"}),
        ):
            await call_failing_tool(client, tool, **arguments)


async def test_invalid_settings_are_reported_in_the_same_shape(home: Path) -> None:
    async with agent(home, PFLOW_TIMEOUT="soon") as client:
        for tool, arguments in (("execute", {"name": "x"}), ("list_library", {}), ("browse_components", {})):
            reply = await call_failing_tool(client, tool, **arguments)
            assert reply["error"]["code"] == "invalid_config"
            assert "PFLOW_TIMEOUT" in reply["error"]["message"]


@requirement("PF-R4", "PF-E9", "PF-O1")
async def test_lists_are_one_text_and_structured_content_also_when_they_are_empty(home: Path) -> None:
    async with agent(home) as client:
        nothing = await client.call_tool("list_library", {})
        write_saved(home, "hello", ir=HELLO)
        write_saved(home, "other", ir=HELLO)
        both = await client.call_tool("list_library", {})
        none_fit = await client.call_tool("browse_components", {"query": "zzqqxxvv"})
    assert get_text(nothing) == "[]"
    assert nothing.structuredContent == {"result": []}
    assert [one["name"] for one in parse_result(both)] == ["hello", "other"]
    assert both.structuredContent == {"result": json.loads(get_text(both))}
    found = parse_result(none_fit)
    assert (found["nodes"], found["workflows"], found["total"], found["truncated"]) == ([], [], 0, False)
    assert not none_fit.isError


@requirement("PF-E3")
async def test_a_missing_workflow_is_reported_with_the_available_ones_and_the_searched_folders(home: Path) -> None:
    write_saved(home, "weekly-report")
    write_draft(home, "daily-report")
    async with agent(home) as client:
        for tool in ("execute", "describe_workflow"):
            error = (await call_failing_tool(client, tool, name="dayly-report"))["error"]
            assert error["type"] == "FileNotFoundError"
            assert error["available"] == ["daily-report", "weekly-report"], "the nearest first"
            assert "daily-report" in error["hint"]
            assert "workflows/drafts/dayly-report.json" in error["message"]
            assert str(home) not in json.dumps(error)


@requirement("PF-E5")
async def test_a_name_that_is_taken_is_refused_and_nothing_is_overwritten(home: Path) -> None:
    write_saved(home, "kept", "The first.")
    write_draft(home, "hello", HELLO)
    before = read_all_files(home)
    async with agent(home) as client:
        error = (await call_failing_tool(client, "save_to_library", **SAVING))["error"]
    assert error["type"] == error["code"] == "already_exists"
    assert "kept" in error["message"]
    assert read_all_files(home) == before


async def test_a_raw_file_among_the_saved_ones_is_a_draft_and_can_be_saved_under_its_own_name(home: Path) -> None:
    path = write_raw_draft(home, "hello", HELLO)
    async with agent(home) as client:
        assert await call_tool(client, "list_library") == []
        assert (await call_tool(client, "describe_workflow", name="hello"))["source"] == "draft"
        await call_tool(client, "save_to_library", **SAVING | {"final_name": "hello"})
        assert [one["name"] for one in await call_tool(client, "list_library")] == ["hello"]
        assert (await call_tool(client, "describe_workflow", name="hello"))["source"] == "library"
    assert json.loads(path.read_text(encoding="utf-8"))["ir"]["nodes"] == HELLO["nodes"]


@requirement("PF-E8")
async def test_a_file_without_a_workflow_is_a_validation_error_and_stays_unchanged(home: Path) -> None:
    contents = ["{", "", "[]", "null", '"text"', b"\xff\xfe\x00", "{" * 5_000, '{"nodes": NaN}', '{"ir": 7}']
    for number, content in enumerate(contents):
        write_draft(home, f"broken-{number}", content)
    write_raw_draft(home, "broken", "{")
    before = read_all_files(home)
    async with agent(home) as client:
        for name in ["broken", *(f"broken-{number}" for number in range(len(contents)))]:
            reply = await call_failing_tool(client, "execute", name=name)
            assert reply["error"]["type"] == "validation_error", name
            reply = await call_failing_tool(client, "save_to_library", **SAVING | {"draft_name": name})
            assert reply["error"]["type"] == "validation_error", name
        assert await call_tool(client, "list_library") == []
        assert (await call_tool(client, "browse_components", query="shell"))["nodes"]
    assert read_all_files(home) == before


async def test_all_problems_are_reported_at_once_before_anything_runs(home: Path, tmp_path: Path) -> None:
    nodes = [
        counting_node("good", tmp_path / "tally"),
        {"id": "typo", "type": "shel"},
        shell_node("refers", "echo ${goood.x}"),
    ]
    write_draft(home, "wrong", {"nodes": [*nodes, {"id": "lonely", "type": "echo"}], "edges": chain(*nodes)["edges"]})
    async with agent(home) as client:
        error = (await call_failing_tool(client, "execute", name="wrong"))["error"]
        about = await call_tool(client, "describe_workflow", name="wrong")
    assert {one["code"] for one in error["diagnostics"]} >= {"unknown_type", "unreachable_node"}
    assert [one["path"] for one in error["diagnostics"]] == [one["path"] for one in about["diagnostics"]]
    assert all(one.keys() >= {"severity", "code", "path", "message"} for one in error["diagnostics"])
    assert count_runs(tmp_path / "tally") == 0


async def test_a_reply_stays_short_however_much_is_wrong(home: Path) -> None:
    write_draft(home, "hello", {"nodes": [{"id": f"n{number}", "type": "nope"} for number in range(10_000)]})
    async with agent(home) as client:
        replies = [
            await call_failing_tool(client, "execute", name="hello"),
            await call_failing_tool(client, "save_to_library", **SAVING),
        ]
    for reply in replies:
        assert len(json.dumps(reply)) < 100_000
        assert reply["error"]["more_diagnostics"] > 9_000


async def test_an_output_that_is_too_long_is_cut_and_complete_in_a_file(home: Path) -> None:
    long = {"id": "long", "type": "python", "params": {"code": "result = ['é' * 1000] * 500"}}
    short = {"id": "short", "type": "echo", "params": {"message": "kept"}}
    outputs = {"long": {"source": "${long.result}"}, "short": {"source": "${short.echo}"}}
    write_draft(home, "large", chain(long, short, outputs=outputs))
    async with agent(home) as client:
        reply = await execute_workflow(client, "large")
    assert len(json.dumps(reply)) < 120_000
    assert reply["outputs"]["short"] == "kept"
    cut = reply["outputs"]["long"]
    assert cut["truncated"] is True
    assert cut["preview"].startswith('["éé')
    whole = (home / cut["file"]).read_bytes()
    assert len(whole) == cut["bytes"]
    assert json.loads(whole) == ["é" * 1000] * 500
    assert any("'long'" in warning for warning in reply["warnings"])


async def test_numbers_of_any_size_come_back_as_they_were_given(home: Path) -> None:
    write_draft(home, "number", chain({"id": "say", "type": "echo", "params": {"message": "${number}"}}))
    async with agent(home) as client:
        for number in (2**70, -(2**70), 2**63, -(2**63), 0.1, 1e300, True, None):
            reply = await execute_workflow(client, "number", number=number)
            assert reply["outputs"] == {"say": {"echo": number}}


async def test_an_integer_just_below_64_bits_is_returned_unchanged(home: Path) -> None:
    write_draft(home, "number", chain({"id": "say", "type": "echo", "params": {"message": "${number}"}}))
    async with agent(home) as client:
        assert (await execute_workflow(client, "number", number=-(2**63) - 1))["outputs"] == {
            "say": {"echo": -(2**63) - 1}
        }


async def test_a_home_that_is_a_link_is_a_home(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    link = tmp_path / "link"
    link.symlink_to(home)
    write_draft(home, "hello", HELLO)
    async with agent(link) as client:
        reply = await call_tool(client, "save_to_library", **SAVING)
    assert reply["path"] == "workflows/kept.json"


def test_the_instructions_teach_the_loop(home: Path) -> None:
    with raw_server(home) as server:
        server.send(INITIALIZE)
        instructions = server.receive()["result"]["instructions"]
    places = [instructions.index(word) for word in ("browse_components", "drafts/", "execute", "checkpoint")]
    assert places == sorted(places)
    assert "save_to_library" in instructions
    assert "pflow://guide" in instructions
    assert '`pflow schedule NAME --at "mon 07:00" --install`' in instructions
    assert len(instructions) < 2_000


async def test_the_guide_is_the_only_resource(home: Path) -> None:
    async with agent(home) as client:
        (listed,) = (await client.list_resources()).resources
        assert str(listed.uri) == "pflow://guide"
        assert listed.title
        (content,) = (await client.read_resource(listed.uri)).contents
        assert isinstance(content, TextResourceContents)
        assert content.mimeType == "text/markdown"
        for word in (
            "${",
            "edges",
            "batch",
            "retry",
            "checkpoint",
            "??",
            'pflow schedule NAME KEY=VALUE --at "mon 07:00"',
        ):
            assert word in content.text
        for uri in ("pflow://nowhere", "file:///etc/passwd"):
            with pytest.raises(McpError) as refusal:
                await client.read_resource(AnyUrl(uri))
            assert refusal.value.error.code == -32002


@requirement("PF-S1")
def test_stdio_is_the_only_transport(home: Path) -> None:
    server = mcp_server.build_server()
    for transport in ("sse", "streamable-http"):
        with pytest.raises(InvalidInput, match="does not support the transport"):
            server.run(transport=transport)
    assert server.settings.auth is None
    with raw_server(home) as running:
        running.send(INITIALIZE)
        capabilities = running.receive()["result"]["capabilities"]
        assert capabilities.keys() == {"tools", "resources", "prompts", "completions"}, "nothing that plans"
        sockets = [path.readlink().as_posix() for path in Path(f"/proc/{running.process.pid}/fd").iterdir()]
        listening = {f"socket:[{inode}]" for inode in listening_inodes(running.process.pid)}
        assert listening.isdisjoint(sockets)


def listening_inodes(pid: int) -> list[str]:
    """Return the inodes of the listening sockets in the network of the process."""
    found: list[str] = []
    for table in ("tcp", "tcp6"):
        lines = Path(f"/proc/{pid}/net/{table}").read_text(encoding="utf-8").splitlines()[1:]
        found += [line.split()[9] for line in lines if line.split()[3] == "0A"]
    return found


def count_calls(work: Callable[[], object]) -> int:
    """Return the number of function calls that `work` makes in this thread; a million take about half a second."""
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


@requirement("PF-N1")
async def test_browsing_a_thousand_nodes_and_a_thousand_workflows_needs_less_than_a_million_calls(home: Path) -> None:
    nodes = [
        {"type": f"node-{number}", "description": f"Does thing {number}.", "run": "many.py:run", "params": {"x": "str"}}
        for number in range(1_000)
    ]
    write_workflow_file(home, "nodes/many.json", {"nodes": nodes})
    write_workflow_file(home, "nodes/many.py", "def run(params, context):\n    return {}\n")
    for number in range(1_000):
        write_saved(home, f"workflow-{number}", f"Does things, the {number}th.")
    service = Service(Settings(home=home), folder=home)
    assert count_calls(service.browse_components) < 1_000_000, "without a cache"
    async with agent(home) as client:
        for query in ("", "thing", "things to do"):
            assert count_calls(partial(service.browse_components, query)) < 300_000, query
            found = await call_tool(client, "browse_components", query=query)
            assert found["nodes"]
            assert found["workflows"]
            assert found["total"] > 900
            assert found["truncated"] is True


@requirement("PF-N2")
def test_the_registry_loads_with_less_than_fifty_thousand_calls(home: Path) -> None:
    Registry(home).load()  # imports
    (home / "cache" / "registry.json").unlink()
    assert count_calls(Registry(home).load) < 50_000, "without a cache"
    assert count_calls(Registry(home).load) < 2_000
    assert "shell" in Registry(home).load()


@requirement("PF-M1")
def test_the_manager_searches_and_opens_drafts(home: Path) -> None:
    write_saved(home, "test-runner", "Runs.")
    write_saved(home, "deploy", "Deploys.")
    write_draft(home, "unsaved", HELLO)
    library, drafts = WorkflowManager.for_library(home), WorkflowManager.for_drafts(home)
    assert [one.name for one in library.search("test")] == ["test-runner"]
    assert [one.name for one in library.search(None)] == ["deploy", "test-runner"]
    assert [one.name for one in drafts.search("unsaved")] == ["unsaved"]
    assert drafts.load("unsaved").ir == HELLO
