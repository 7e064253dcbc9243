"""Every structured reply fits the schema that its tool publishes, whatever its outcome."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from pflow import mcp_server
from pflow.service.engine.results import MAX_OUTPUT_BYTES
from tests.dialogs import CANCEL, Person
from tests.pflow.mcp.agents import agent
from tests.pflow.mcp.sample_workflows import HELLO, chain, shell_node
from tests.pflow.store.homes import write_draft, write_saved
from uraniborg.kernel.mcp.testing import ClientSession, connect_client, get_text

SECRET = {"inputs": {"key": {"type": "string", "secret": True, "default": "k-123456789"}}}
BROKEN = {"nodes": [{"id": "a", "type": "no-such-type"}], "edges": [{"from": "a", "to": "b"}]}


class Tools:
    """The tools of a server; each call is checked against the schema of the tool."""

    def __init__(self, client: ClientSession, schemas: dict[str, dict[str, Any]]) -> None:
        self.client = client
        self.schemas = schemas

    async def call(self, tool: str, *, fails: bool = False, **arguments: Any) -> Any:
        result = await self.client.call_tool(tool, arguments)  # which checks replies that are not errors as well
        assert result.isError == fails, get_text(result)
        text = get_text(result)
        reply: Any = json.loads(text)
        assert result.structuredContent == (reply if text.startswith("{") else {"result": reply})
        if not fails or tool == "execute":
            check_value(self.schemas[tool], result.structuredContent)
        return reply


def check_value(schema: dict[str, Any], value: Any) -> None:
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(value)  # pyright: ignore[reportUnknownMemberType]


@asynccontextmanager
async def open_tools(home: Path, **options: Any) -> AsyncGenerator[Tools]:
    async with agent(home, **options) as client:
        yield Tools(client, {one.name: one.outputSchema or {} for one in (await client.list_tools()).tools})


async def test_every_tool_publishes_a_schema_that_refuses_an_empty_reply() -> None:
    async with connect_client(mcp_server.build_server()) as client:
        for tool in (await client.list_tools()).tools:
            assert tool.outputSchema is not None
            with pytest.raises(jsonschema.ValidationError):
                check_value(tool.outputSchema, {})


async def test_components_fit_their_schema_in_full_in_brief_and_empty(home: Path) -> None:
    write_draft(home, "hello", HELLO)
    async with open_tools(home) as tools:
        for query in ("", "run a shell command", "hello", "every monday", "xyzzy qqq"):
            await tools.call("browse_components", query=query)
        assert "workflows" not in await tools.call("browse_components", query="git", include_workflows=False)
        await tools.call("browse_components", query=7, fails=True)


async def test_saved_and_described_workflows_fit_their_schemas(home: Path) -> None:
    many = chain(*(shell_node(f"n{index}", "true") for index in range(150)))
    fails = chain(shell_node("one", "false"))
    drafts = {
        "hello": HELLO,
        "keyed": chain(shell_node("one", "true"), **SECRET),
        "broken": BROKEN,
        "many": many,
        "fails": fails,
    }
    for name, document in drafts.items():
        write_draft(home, name, document)
    write_saved(home, "kept", ir=HELLO)
    async with open_tools(home) as tools:
        assert [one["name"] for one in await tools.call("list_library")] == ["kept"]
        assert await tools.call("list_library", pattern="nothing") == []
        await tools.call("list_library", pattern="x" * 501, fails=True)
        for name in (*drafts, "kept"):
            await tools.call("describe_workflow", name=name)
        await tools.call("execute", name="fails", fails=True)
        assert (await tools.call("describe_workflow", name="fails"))["last_failure"]["failed_node"] == "one"
        assert (await tools.call("describe_workflow", name="many"))["truncated"]
        await tools.call("describe_workflow", name="no-such-workflow", fails=True)
        (home / "runs.db").unlink(missing_ok=True)
        (home / "runs.db").mkdir()
        assert "log_problem" in await tools.call("describe_workflow", name="hello")


async def test_runs_fit_their_schema_however_they_end(home: Path, tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    breaks = chain(shell_node("one", "echo 1"), shell_node("two", f"test -e '{flag}'"))
    long = {"outputs": {"text": {"source": "${one.result}"}}}
    code = {"id": "one", "type": "python", "params": {"code": f"result = 'x' * {MAX_OUTPUT_BYTES * 2}"}}
    for name, document in {"hello": HELLO, "breaks": breaks, "broken": BROKEN, "long": chain(code, **long)}.items():
        write_draft(home, name, document)
    async with open_tools(home) as tools:
        greeted = await tools.call("execute", name="hello", inputs={"who": "Tycho"})
        assert greeted["outputs"] == {"greeting": "Hello Tycho"}
        assert greeted["checkpoint"] is None
        broken = await tools.call("execute", name="breaks", fails=True)
        assert broken["checkpoint"]["completed_nodes"] == ["one"]
        flag.touch()
        resumed = await tools.call("execute", name="breaks")
        assert resumed["reused_nodes"] == ["one"]
        assert resumed["resumed_from"] == broken["run_id"]
        cut = await tools.call("execute", name="long")
        assert cut["outputs"]["text"]["truncated"]
        for name in ("broken", "no-such-workflow", "../passwd"):
            refused = await tools.call("execute", name=name, fails=True)
            assert refused["run_id"] is None
        await tools.call("execute", name="hello", inputs=[1], fails=True)


async def test_a_run_that_waits_for_a_person_fits_the_schema(home: Path) -> None:
    write_draft(home, "asks", chain({"id": "ask", "type": "approval", "params": {"question": "Send it?"}}))
    async with open_tools(home) as tools:
        waiting = await tools.call("execute", name="asks", fails=True)
        assert waiting["error"]["approval_id"]
    async with open_tools(home, on_dialog=Person(CANCEL)) as tools:
        asked = await tools.call("execute", name="asks", fails=True)
        assert asked["dialog"]["state"] == "cancelled"


async def test_a_saved_draft_fits_the_schema_with_and_without_warnings(home: Path) -> None:
    write_draft(home, "hello", HELLO)
    async with open_tools(home) as tools:
        saving: dict[str, Any] = {"draft_name": "hello", "final_name": "kept", "description": "Greets."}
        saved = await tools.call("save_to_library", **saving)
        assert saved["warnings"] != []
        await tools.call("save_to_library", **saving, fails=True)
