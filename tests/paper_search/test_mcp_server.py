"""Tests of the MCP server: four tools that run a search, with one shape of replies."""

import asyncio
import inspect
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime
from importlib.metadata import entry_points, requires, version
from pathlib import Path
from typing import Any

import pytest
from blockbuster import blockbuster_ctx
from mcp.server.fastmcp import FastMCP
from packaging.requirements import Requirement
from pydantic import AnyUrl

from paper_search import mcp_server
from paper_search.config import SessionsConfig
from paper_search.domain.field_profiles import list_domains
from paper_search.errors import NonRetryableError
from paper_search.export import FORMATS, export_bibtex, export_json, export_markdown
from paper_search.models import MAX_RESULTS_CAP, Author
from paper_search.service import sessions
from paper_search.service.sessions import SessionManager
from paper_search.testing import FakeSource
from paper_search.workflow import CheckpointKind, Decision, DecisionAction
from tests.paper_search.service.sessions.helpers import (
    QUERY,
    REVIEW,
    STRATEGY,
    TIMEOUT_S,
    DataFolder,
    Engine,
    make_moon_papers,
    make_paper,
    wait_until,
)
from tests.paper_search.tool_client import MAX_BYTES, call_tool, export_papers, open_client, open_manager
from tests.requirements import requirement
from tests.uraniborg.kernel.mcp.raw_messages import INITIALIZE, call, wire_to
from uraniborg import recordings
from uraniborg.kernel.errors import Unavailable
from uraniborg.kernel.logging import register_secret
from uraniborg.kernel.mcp.testing import (
    ClientSession,
    McpError,
    connect_client,
    connect_stdio_client,
    get_json,
    get_text,
)

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ["search_papers", "decide", "export_results", "get_session"]
CJK = "潮汐加热冰卫星"
NARROWER = {"queries": [{"keywords": ["icy moons"], "boolean_query": "icy moons"}], "filters": {"max_results": 2}}

pytestmark = pytest.mark.usefixtures("home")


async def call_and_get_error(client: ClientSession, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool that must fail; return its error."""
    result = await client.call_tool(tool, arguments)
    assert result.isError
    text = get_text(result)
    assert len(text.encode()) <= MAX_BYTES
    body = json.loads(text)
    assert body.keys() == {"error"}
    error = body["error"]
    assert error.keys() >= {"code", "message", "hint"}
    assert error["code"] != "internal_error"
    assert "Traceback" not in text
    return error


async def open_review(client: ClientSession, query: str = QUERY) -> dict[str, Any]:
    reply = await call_tool(client, "search_papers", query=query)
    return await call_tool(client, "decide", session_id=reply["session_id"], action="approve")


async def complete_session(client: ClientSession, query: str = QUERY) -> dict[str, Any]:
    reply = await open_review(client, query)
    return await call_tool(client, "decide", session_id=reply["session_id"], action="approve")


@requirement("PS-REQ-7", "PS-C2")
def test_the_server_is_the_official_fastmcp_by_its_name() -> None:
    assert isinstance(mcp_server.mcp, FastMCP)
    assert mcp_server.mcp.name == "paper-search"
    needed = [Requirement(text) for text in requires("uraniborg") or []]
    (sdk,) = [each for each in needed if each.name == "mcp" and each.marker and 'extra == "mcp"' in str(each.marker)]
    assert sdk.specifier.contains(version("mcp"))
    assert not sdk.specifier.contains("1.21.0")
    assert not sdk.specifier.contains("2.0.0")


@requirement("PS-REQ-7", "PS-REQ-16")
def test_the_script_runs_the_server_over_stdio() -> None:
    (script,) = entry_points(group="console_scripts", name="paper-search-mcp")
    assert script.value == "paper_search.mcp_server:main"
    code = """
from paper_search import mcp_server
from uraniborg.kernel.mcp import Server
Server.run = lambda server, **named: print(server is mcp_server.mcp, named)
mcp_server.main()
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("True {'transport': 'stdio'}\n", "")
    assert inspect.signature(FastMCP.run).parameters["transport"].default == "stdio"


def test_the_session_classes_can_be_imported_from_the_specified_module() -> None:
    assert mcp_server.SessionManager is sessions.SessionManager
    assert mcp_server.WorkflowSession is sessions.WorkflowSession
    assert mcp_server.MCPCheckpointHandler is sessions.MCPCheckpointHandler


@requirement("PS-REQ-8", "PS-REQ-9", "PS-REQ-10", "PS-REQ-11", "PS-C3")
def test_the_tools_are_coroutines_with_the_signatures_of_the_specification() -> None:
    empty = inspect.Parameter.empty
    expected: dict[Any, dict[str, Any]] = {
        mcp_server.search_papers: {"query": empty, "domain": "general", "max_results": 100},
        mcp_server.decide: {
            "session_id": empty,
            "action": empty,
            "data": None,
            "note": None,
            "checkpoint_id": None,
        },
        mcp_server.export_results: {"session_id": empty, "format": "markdown"},
        mcp_server.get_session: {"session_id": empty},
    }
    for function, parameters in expected.items():
        signature = inspect.signature(function)
        assert {name: given.default for name, given in signature.parameters.items()} == parameters
        assert list(signature.parameters) == list(parameters)
        assert signature.return_annotation is str
        assert inspect.iscoroutinefunction(function)


@requirement("PS-REQ-7", "PS-C3")
async def test_there_are_exactly_four_tools_with_descriptions(data_folder: DataFolder) -> None:
    async with open_client(data_folder) as client:
        offered = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert sorted(offered) == sorted(TOOLS)
    for tool in offered.values():
        assert tool.title
        assert tool.annotations is not None
        assert tool.inputSchema["additionalProperties"] is False
        assert len(tool.description or "") > 150, "enough for a model to choose by"
        for argument, its in tool.inputSchema["properties"].items():
            assert len(its["description"]) > 15, f"{argument} is explained"
        only_looks = tool.name in ("export_results", "get_session")
        assert tool.annotations.readOnlyHint is only_looks
        assert tool.annotations.openWorldHint is not only_looks
        assert tool.annotations.destructiveHint is False
    schema = offered["decide"].inputSchema
    assert schema["required"] == ["session_id", "action"]
    assert list(schema["properties"]) == ["session_id", "action", "data", "note", "checkpoint_id"]
    description = str(offered["decide"].description) + str(schema["properties"])
    fields = ["queries", "sources", "filters", "marked_relevant", "marked_irrelevant", "free_text_feedback"]
    kinds = [kind.value for kind in CheckpointKind]
    assert [word for word in [*fields, *kinds, *DecisionAction] if word not in description] == []


async def test_the_instructions_describe_the_loop(data_folder: DataFolder) -> None:
    async with open_manager(data_folder), wire_to(mcp_server.mcp, initialized=False) as wire:
        answer = (await wire.ask(INITIALIZE))["result"]
    assert answer["serverInfo"]["name"] == "paper-search"
    assert answer["serverInfo"]["version"] == version("uraniborg")
    for word in (*TOOLS, "checkpoint_id", "is_complete", "summary"):
        assert word in answer["instructions"]
    assert {"tools", "resources"} <= answer["capabilities"].keys()


@requirement("PS-REQ-8", "PS-REQ-9", "PS-REQ-10", "PS-REQ-11", "PS-PROP-6", "PS-PROP-9")
async def test_an_agent_gets_from_a_query_to_an_export(data_folder: DataFolder) -> None:
    async with open_client(data_folder) as client:
        first = await call_tool(client, "search_papers", query=QUERY)
        session_id = first["session_id"]
        assert first["checkpoint"]["kind"] == STRATEGY
        assert first["checkpoint"]["payload"]["strategy"]["queries"]
        assert await call_tool(client, "get_session", session_id=session_id) == first

        second = await call_tool(client, "decide", session_id=session_id, action="edit", data=NARROWER)
        assert second["checkpoint"]["kind"] == REVIEW
        assert len(second["checkpoint"]["payload"]["papers"]) == 2

        feedback = {
            "marked_relevant": [second["checkpoint"]["payload"]["papers"][0]["id"]],
            "free_text_feedback": "more about Europa",
        }
        third = await call_tool(client, "decide", session_id=session_id, action="reject", data=feedback, note="please")
        assert third["checkpoint"]["kind"] == STRATEGY

        fourth = await call_tool(
            client, "decide", session_id=session_id, action="approve", checkpoint_id=third["checkpoint_id"]
        )
        assert fourth["checkpoint"]["payload"]["accumulated_count"] == 1
        last = await call_tool(client, "decide", session_id=session_id, action="approve")
        assert [reply["iteration"] for reply in (first, second, third, fourth, last)] == [0, 1, 2, 3, 4]
        assert [reply["round"] for reply in (first, second, third, fourth, last)] == [0, 0, 1, 1, 2]
        assert last["is_complete"] is True
        assert last["result"]["paper_count"] == last["paper_count"] > 0
        assert last["result"]["summary"]

        exported = await client.call_tool("export_results", {"session_id": session_id})
        assert not exported.isError
        assert get_text(exported).startswith("| # | Title |")
        assert len(get_text(exported).splitlines()) == 2 + last["paper_count"]


@requirement("PS-REQ-10")
@pytest.mark.parametrize(
    ("format_name", "export"), [("json", export_json), ("bibtex", export_bibtex), ("markdown", export_markdown)]
)
async def test_an_export_is_the_text_itself(data_folder: DataFolder, format_name: str, export: Any) -> None:
    async with open_client(data_folder) as client:
        session_id = (await complete_session(client))["session_id"]
        result = await client.call_tool("export_results", {"session_id": session_id, "format": format_name})
        manager = mcp_server._session_manager  # pyright: ignore[reportPrivateUsage]
        assert manager is not None
        assert get_text(result) == export(await manager.get_result(session_id))
        assert not result.isError


@requirement("PS-REQ-10")
async def test_an_export_without_papers_is_as_specified(tmp_path: Path) -> None:
    data_folder = DataFolder(tmp_path / "data", FakeSource("alpha"))
    async with open_client(data_folder) as client:
        session_id = (await complete_session(client))["session_id"]
        texts = {
            name: get_text(await client.call_tool("export_results", {"session_id": session_id, "format": name}))
            for name in ("json", "bibtex", "markdown")
        }
    assert json.loads(texts["json"])["papers"] == []
    assert texts["bibtex"] == ""
    assert len(texts["markdown"].splitlines()) == 2


@requirement("PS-REQ-10")
async def test_an_exported_document_is_never_reported_as_an_error(tmp_path: Path) -> None:
    data_folder = DataFolder(
        tmp_path / "data", FakeSource("alpha", [make_paper('{"error": "Tidal heating of icy moons"}')])
    )
    async with open_client(data_folder) as client:
        session_id = (await complete_session(client))["session_id"]
        result = await client.call_tool("export_results", {"session_id": session_id, "format": "json"})
        assert not result.isError


@requirement("PS-PROP-7")
@pytest.mark.parametrize("kind", [STRATEGY, REVIEW])
@pytest.mark.parametrize("action", [action.value for action in DecisionAction])
async def test_every_action_without_data_gets_a_valid_reply_and_the_session_stays_usable(
    data_folder: DataFolder, action: str, kind: str
) -> None:
    async with open_client(data_folder) as client:
        before = await (call_tool(client, "search_papers", query=QUERY) if kind == STRATEGY else open_review(client))
        session_id = before["session_id"]
        if (kind, action) == (STRATEGY, "edit"):
            error = await call_and_get_error(client, "decide", session_id=session_id, action=action)
            assert error["code"] == "invalid_decision"
            assert await call_tool(client, "get_session", session_id=session_id) == before
            return
        reply = await call_tool(client, "decide", session_id=session_id, action=action)
        assert reply["iteration"] == before["iteration"] + 1
        assert reply["is_complete"] is ((kind, action) == (REVIEW, "approve"))


@requirement("PS-C3")
def test_the_decide_tool_mirrors_the_decision_model() -> None:
    assert set(Decision.model_fields) == {"action", "revised_data", "note"}
    taken = list(inspect.signature(mcp_server.decide).parameters)
    assert taken == ["session_id", "action", "data", "note", "checkpoint_id"]


@requirement("PS-E1", "PS-REQ-14")
@pytest.mark.parametrize(
    "arguments",
    [
        {"query": ""},
        {"query": "   "},
        {"query": "x" * 2_001},
        {"query": QUERY, "domain": "alchemy"},
        {"query": QUERY, "domain": "OPENAI_API_KEY"},
        {"query": QUERY, "max_results": 0},
        {"query": QUERY, "max_results": -5},
        {"query": QUERY, "max_results": "many"},
        {"query": QUERY, "unheard_of": 1},
        {"query": 7},
        {"query": None},
        {},
    ],
    ids=lambda arguments: str(arguments)[:40],
)
async def test_an_invalid_search_is_refused_and_opens_no_session(
    home: Path, monkeypatch: pytest.MonkeyPatch, arguments: dict[str, Any]
) -> None:
    monkeypatch.setattr(mcp_server, "_session_manager", None)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-to-be-told")
    monkeypatch.setenv("URANIBORG_PAPER_SEARCH__REPLAY_DIR", str(recordings.RECORDING))
    async with connect_client(mcp_server.mcp) as client:
        error = await call_and_get_error(client, "search_papers", **arguments)
    assert "sk-not-to-be-told" not in str(error)
    assert not list(home.rglob("*.db"))


@requirement("PS-E1")
@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("URANIBORG_PAPER_SEARCH__MAX_ROUNDS", "0"),
        ("URANIBORG_PAPER_SEARCH__SOURCES", '{"nowhere": {"enabled": true}}'),
        ("URANIBORG_PAPER_SEARCH__REPLAY_DIR", "/nonexistent/recording"),
        ("URANIBORG_PAPER_SEARCH__LLM__PROVIDER", "oracle"),
    ],
)
async def test_an_invalid_configuration_is_a_tool_error_and_opens_no_session(
    home: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setattr(mcp_server, "_session_manager", None)
    monkeypatch.setenv("URANIBORG_PAPER_SEARCH__LLM__MODEL", "m")
    monkeypatch.setenv(variable, value)
    async with connect_client(mcp_server.mcp) as client:
        error = await call_and_get_error(client, "search_papers", query=QUERY)
    assert error["hint"]
    assert not list(home.rglob("*.db"))


@requirement("PS-REQ-14", "PS-E2")
@pytest.mark.parametrize("session_id", ["0" * 32, "", "nonsense", "../../inbox", "x" * 50_000, "\u202e\x07"], ids=ascii)
async def test_an_unknown_session_is_not_found(data_folder: DataFolder, session_id: str) -> None:
    async with open_client(data_folder) as client:
        for tool, more in (("decide", {"action": "approve"}), ("get_session", {}), ("export_results", {})):
            error = await call_and_get_error(client, tool, session_id=session_id, **more)
            assert error["code"] == "session_not_found"
            assert error["message"].startswith("Session not found")
            assert len(error["message"]) < 600
            assert "session_id" in error


@requirement("PS-REQ-14", "PS-E3")
async def test_deciding_without_a_pending_checkpoint_gives_the_specified_error(data_folder: DataFolder) -> None:
    data_folder.settings = SessionsConfig(reply_within_s=0.05)
    data_folder.engine.gates["intent"] = asyncio.Event()
    async with open_client(data_folder) as client:
        reply = await call_tool(client, "search_papers", query=QUERY)
        assert not reply["has_pending_checkpoint"]
        error = await call_and_get_error(client, "decide", session_id=reply["session_id"], action="approve")
        assert error["code"] == "no_pending_checkpoint"
        assert "No pending checkpoint" in error["message"]


@requirement("PS-REQ-14", "PS-E4")
@pytest.mark.parametrize("action", [action.value for action in DecisionAction])
async def test_deciding_after_the_end_gives_the_specified_error(data_folder: DataFolder, action: str) -> None:
    async with open_client(data_folder) as client:
        reply = await complete_session(client)
        error = await call_and_get_error(client, "decide", session_id=reply["session_id"], action=action)
        assert error["code"] == "session_complete"
        assert "Session already complete" in error["message"]
        assert await call_tool(client, "get_session", session_id=reply["session_id"]) == reply


@requirement("PS-REQ-14", "PS-E5")
async def test_exporting_before_the_end_gives_the_specified_error(data_folder: DataFolder) -> None:
    async with open_client(data_folder) as client:
        for reply in (await call_tool(client, "search_papers", query=QUERY), await open_review(client)):
            error = await call_and_get_error(client, "export_results", session_id=reply["session_id"])
            assert error["code"] == "session_not_complete"
            assert "Session not complete" in error["message"]


@requirement("PS-REQ-14")
@pytest.mark.parametrize("action", ["", "Approve", "APPROVE", "approve ", "dance", "x" * 50_000, "\u202e"], ids=ascii)
async def test_an_action_that_does_not_exist_is_refused_and_the_checkpoint_stays(
    data_folder: DataFolder, action: str
) -> None:
    async with open_client(data_folder) as client:
        reply = await call_tool(client, "search_papers", query=QUERY)
        error = await call_and_get_error(client, "decide", session_id=reply["session_id"], action=action)
        assert error["code"] == "invalid_action"
        assert "Invalid action" in error["message"]
        assert error["allowed"] == ["approve", "edit", "reject"]
        assert await call_tool(client, "get_session", session_id=reply["session_id"]) == reply


@requirement("PS-REQ-10", "PS-REQ-14")
@pytest.mark.parametrize("format_name", ["", "pdf", "JSON", "x" * 50_000])
async def test_an_unknown_format_is_refused_with_the_known_ones(data_folder: DataFolder, format_name: str) -> None:
    async with open_client(data_folder) as client:
        session_id = (await complete_session(client))["session_id"]
        error = await call_and_get_error(client, "export_results", session_id=session_id, format=format_name)
        assert {"json", "bibtex", "markdown"} <= set(error["allowed"])


@requirement("PS-REQ-14", "PS-E7")
async def test_a_failed_search_is_reported_by_the_waiting_call_and_later_calls(data_folder: DataFolder) -> None:
    data_folder.engine.failures["dedup"] = Unavailable("The merger is on strike.")
    async with open_client(data_folder) as client:
        session_id = (await call_tool(client, "search_papers", query=QUERY))["session_id"]
        errors = [
            await call_and_get_error(client, "decide", session_id=session_id, action="approve"),
            await call_and_get_error(client, "decide", session_id=session_id, action="approve"),
            await call_and_get_error(client, "export_results", session_id=session_id),
        ]
        state = await call_tool(client, "get_session", session_id=session_id)
    data_folder.engine.failures.clear()
    async with open_client(data_folder) as client:
        errors.append(await call_and_get_error(client, "decide", session_id=session_id, action="reject"))
        errors.append(await call_and_get_error(client, "export_results", session_id=session_id))
        again = await call_tool(client, "get_session", session_id=session_id)
    assert {error["code"] for error in errors} == {"session_failed"}
    assert all("The merger is on strike." in error["message"] for error in errors)
    for reply in (state, again):
        assert reply["error"] == "The merger is on strike."
        assert (reply["is_complete"], reply["has_pending_checkpoint"]) == (True, False)


@requirement("PS-REQ-14", "PS-E7")
async def test_an_unexpected_exception_reaches_the_client_with_its_class_and_text(data_folder: DataFolder) -> None:
    data_folder.engine.failures["dedup"] = ValueError("row 7 is not a record")
    async with open_client(data_folder) as client:
        session_id = (await call_tool(client, "search_papers", query=QUERY))["session_id"]
        errors = [
            await call_and_get_error(client, "decide", session_id=session_id, action="approve"),
            await call_and_get_error(client, "decide", session_id=session_id, action="approve"),
            await call_and_get_error(client, "export_results", session_id=session_id),
        ]
        state = await call_tool(client, "get_session", session_id=session_id)
    assert {error["code"] for error in errors} == {"session_failed"}
    assert {error["message"] for error in errors} == {"The search failed: ValueError: row 7 is not a record"}
    assert state["error"] == "ValueError: row 7 is not a record"


@requirement("PS-REQ-14", "PS-E7")
async def test_a_search_that_fails_at_once_is_reported_by_search_papers(data_folder: DataFolder) -> None:
    data_folder.engine.failures["intent"] = Unavailable("No words. " * 10_000)
    async with open_client(data_folder) as client:
        error = await call_and_get_error(client, "search_papers", query=QUERY)
        assert error["code"] == "session_failed"
        assert "No words." in error["message"]
        state = await call_tool(client, "get_session", session_id=error["session_id"])
        assert state["error"].startswith("No words.")


@requirement("PS-REQ-14", "PS-E8")
async def test_of_two_decisions_at_once_the_second_is_refused(data_folder: DataFolder) -> None:
    gate = asyncio.Event()
    data_folder.engine.sources = [FakeSource("alpha", make_moon_papers(), gate=gate)]
    async with open_client(data_folder) as client:
        session_id = (await call_tool(client, "search_papers", query=QUERY))["session_id"]
        first = asyncio.create_task(call_tool(client, "decide", session_id=session_id, action="approve"))
        await wait_until(lambda: data_folder.engine.asked == [1])
        error = await call_and_get_error(client, "decide", session_id=session_id, action="reject")
        assert error["code"] == "checkpoint_busy"
        assert "checkpoint already being processed" in error["message"]
        gate.set()
        async with asyncio.timeout(TIMEOUT_S):
            assert (await first)["checkpoint_kind"] == REVIEW


@requirement("PS-C3", "PS-REQ-14")
@pytest.mark.parametrize(
    "arguments",
    [
        {"data": "not json"},
        {"data": [1, 2]},
        {"data": 7},
        {"data": {"unheard of": 1}},
        {"data": {"queries": [[["icy moons"]]]}},
        {"data": {"sources": ["nowhere"]}},
        {"data": NARROWER, "note": "x" * 5_000},
        {"data": NARROWER, "checkpoint_id": "x" * 50_000},
        {"data": NARROWER, "unheard_of": True},
        {"data": NARROWER, "note": 7},
    ],
    ids=lambda arguments: str(arguments)[:40],
)
async def test_invalid_data_gets_a_short_error_and_the_session_stays_usable(
    data_folder: DataFolder, arguments: dict[str, Any]
) -> None:
    async with open_client(data_folder) as client:
        reply = await call_tool(client, "search_papers", query=QUERY)
        session_id = reply["session_id"]
        await call_and_get_error(client, "decide", session_id=session_id, action="edit", **arguments)
        assert await call_tool(client, "get_session", session_id=session_id) == reply
        assert (await call_tool(client, "decide", session_id=session_id, action="approve"))["checkpoint_kind"] == REVIEW


@requirement("PS-C3", "PS-REQ-14")
@pytest.mark.parametrize("field", ["marked_relevant", "marked_irrelevant"])
async def test_feedback_about_papers_that_were_not_shown_is_refused(data_folder: DataFolder, field: str) -> None:
    async with open_client(data_folder) as client:
        reply = await open_review(client)
        error = await call_and_get_error(
            client, "decide", session_id=reply["session_id"], action="reject", data={field: ["p_x"]}
        )
        assert error["code"] == "invalid_decision"
        assert "p_x" in error["message"]
        assert await call_tool(client, "get_session", session_id=reply["session_id"]) == reply


async def test_secrets_never_reach_a_reply(data_folder: DataFolder) -> None:
    register_secret("t0p-s3cret-k3y")
    failure = NonRetryableError("GET https://source.example/?api_key=t0p-s3cret-k3y was refused.")
    data_folder.engine.sources = [FakeSource("alpha", error=failure), FakeSource("beta", make_moon_papers(1, "beta"))]
    async with open_client(data_folder) as client:
        reply = await open_review(client)
        assert reply["sources"][0]["reason"]
        assert "t0p-s3cret-k3y" not in str(reply)
        last = await call_tool(client, "decide", session_id=reply["session_id"], action="approve")
        assert "t0p-s3cret-k3y" not in str(last)
        for name in ("json", "markdown"):
            exported = await client.call_tool("export_results", {"session_id": reply["session_id"], "format": name})
            assert "t0p-s3cret-k3y" not in get_text(exported)


async def test_no_reply_exceeds_the_maximum_size(tmp_path: Path) -> None:
    long = CJK * 40
    papers = [
        found.model_copy(update={"venue": long, "abstract": long, "authors": [Author(name=long)] * 8})
        for found in make_moon_papers(1_000)
    ]
    failing = [FakeSource(f"source-{n}", error=NonRetryableError(CJK * 500)) for n in range(30)]
    data_folder = DataFolder(tmp_path / "data", FakeSource("alpha", papers), *failing)
    strategy: dict[str, Any] = {
        "queries": [{"keywords": [long], "boolean_query": "tidal AND heating"}] * 10,
        "filters": {"max_results": 1_000},
        "notes": ["潮" * 19_000],
    }
    query = ("icy moons " + CJK * 300)[:2_000]
    async with open_client(data_folder) as client:
        reply = await call_tool(client, "search_papers", query=query, max_results=1_000)
        assert reply["query"] == query
        session_id = reply["session_id"]
        reply = await call_tool(
            client, "decide", session_id=session_id, action="edit", data=strategy, note="潮" * 4_000
        )
        payload = reply["checkpoint"]["payload"]
        assert payload["total_papers"] == 1_000
        assert 0 < payload["shown"] == len(payload["papers"]) <= 20
        assert f"{1_000 - payload['shown']} more" in payload["more"]
        assert len(reply["sources"]) > 1
        reply = await call_tool(client, "decide", session_id=session_id, action="reject", note="潮" * 4_000)
        assert reply["checkpoint_kind"] == STRATEGY


async def read_page(client: ClientSession, address: str) -> dict[str, Any]:
    contents = (await client.read_resource(AnyUrl(address))).contents
    text = getattr(contents[0], "text", "")
    assert len(text.encode()) <= MAX_BYTES
    assert contents[0].mimeType == "application/json"
    return json.loads(text)


async def read_pages(client: ClientSession, address: str | None) -> list[dict[str, Any]]:
    pages: list[dict[str, Any]] = []
    while address is not None:
        pages.append(await read_page(client, address))
        address = pages[-1]["next"]
    return pages


async def test_the_papers_are_offered_as_a_paged_resource(tmp_path: Path) -> None:
    papers = [found.model_copy(update={"abstract": CJK * 60}) for found in make_moon_papers(90)]
    data_folder = DataFolder(tmp_path / "data", FakeSource("alpha", papers))
    async with open_client(data_folder) as client:
        templates = (await client.list_resource_templates()).resourceTemplates
        assert "paper-search://sessions/{session_id}/papers" in {template.uriTemplate for template in templates}
        assert all(template.title and template.description for template in templates)
        reply = await open_review(client)
        session_id = reply["session_id"]
        seen: list[str] = []
        for _ in range(2):
            seen.clear()
            address: str | None = f"paper-search://sessions/{session_id}/papers"
            while address is not None:
                page = await read_page(client, address)
                assert page["offset"] == len(seen)
                seen += [found["id"] for found in page["papers"]]
                address = page["next"]
            assert len(seen) == len(set(seen)) == 90
            shown = [found["id"] for found in reply["checkpoint"]["payload"]["papers"]]
            assert seen[: len(shown)] == shown
            named = re.search(r"paper-search://\S+/papers/\d+", reply["checkpoint"]["payload"]["more"])
            assert named is not None
            rest = await read_page(client, named[0].rstrip(".,"))
            assert rest["papers"][0]["id"] == seen[len(shown)]
            if not (await call_tool(client, "get_session", session_id=session_id))["is_complete"]:
                await call_tool(client, "decide", session_id=session_id, action="approve")
        summary = await call_tool(client, "export_results", session_id=session_id, format="json")
        exported = [paper for page in await read_pages(client, summary["resource"]) for paper in page.get("papers", [])]
        assert [found["id"] for found in exported] == seen


async def test_json_of_at_most_fifty_papers_is_the_export_itself_and_of_more_a_summary(tmp_path: Path) -> None:
    for count in (50, 51):
        data_folder = DataFolder(tmp_path / f"data-{count}", FakeSource("alpha", make_moon_papers(count)))
        async with open_client(data_folder) as client:
            session_id = (await complete_session(client))["session_id"]
            exported = json.loads(await export_papers(client, session_id, "json"))
            assert exported.get("is_summary", False) is (count > 50)
            assert len(exported["best_papers" if count > 50 else "papers"]) == (20 if count > 50 else 50)
            for name in ("markdown", "bibtex", "ris"):
                assert (await export_papers(client, session_id, name)).count("icy moons") >= count


async def test_the_summary_of_a_large_json_export_leads_to_all_of_it_in_pages(tmp_path: Path) -> None:
    papers = [found.model_copy(update={"abstract": CJK * 20}) for found in make_moon_papers(60)]
    data_folder = DataFolder(tmp_path / "data", FakeSource("alpha", papers))
    async with open_client(data_folder) as client:
        session_id = (await complete_session(client))["session_id"]
        summary = await call_tool(client, "export_results", session_id=session_id, format="json")
        assert (summary["session_id"], summary["total_papers"], summary["query"]) == (session_id, 60, QUERY)
        pages = await read_pages(client, summary["resource"])
        manager = mcp_server._session_manager  # pyright: ignore[reportPrivateUsage]
        assert manager is not None
        whole = json.loads(export_json(await manager.get_result(session_id)))
    assert len(pages) > 3
    assert [paper for page in pages for paper in page.get("papers", [])] == whole["papers"]
    assert [page["offset"] for page in pages] == sorted(page["offset"] for page in pages)
    assert pages[-1]["total_parts"] == pages[0]["total_parts"] > 60


async def test_an_unfinished_session_has_no_export_to_page_through(data_folder: DataFolder) -> None:
    async with open_client(data_folder) as client:
        session_id = (await open_review(client))["session_id"]
        with pytest.raises(McpError, match="not complete yet"):
            await client.read_resource(AnyUrl(f"paper-search://sessions/{session_id}/export"))


@requirement("PS-X6")
async def test_an_explicit_max_results_overrides_the_setting_even_if_it_equals_the_default(
    data_folder: DataFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEFAULT_MAX_RESULTS", "7")
    async with open_client(data_folder) as client:
        limits: list[int] = []
        for given in ({}, {"max_results": 100}, {"max_results": 9}):
            reply = await call_tool(client, "search_papers", query=QUERY, **given)
            limits.append(reply["checkpoint"]["payload"]["strategy"]["filters"]["max_results"])
    assert limits == [7, 100, 9]


async def test_the_review_shows_the_strategy_that_found_the_papers(data_folder: DataFolder) -> None:
    async with open_client(data_folder) as client:
        first = await call_tool(client, "search_papers", query=QUERY)
        edited = {"queries": [{"boolean_query": "moons AND tides"}], "filters": {"year_from": 1999}}
        reply = await call_tool(client, "decide", session_id=first["session_id"], action="edit", data=edited)
    strategy = reply["checkpoint"]["payload"]["strategy"]
    assert [query["boolean_query"] for query in strategy["queries"]] == ["moons AND tides"]
    assert strategy["filters"]["year_from"] == 1999
    assert strategy["sources"]


async def test_all_sessions_are_listed_as_a_resource_so_that_a_lost_id_is_found(data_folder: DataFolder) -> None:
    async with open_client(data_folder) as client:
        assert await read_page(client, "paper-search://sessions") == {"sessions": [], "total": 0}
        listed = (await client.list_resources()).resources
        assert "paper-search://sessions" in {str(resource.uri) for resource in listed}
        waiting = await call_tool(client, "search_papers", query=QUERY)
        complete = await complete_session(client)
        data_folder.engine.failures["intent"] = ValueError("row 7")
        failed = await call_and_get_error(client, "search_papers", query="q" * 1_500)
        data_folder.engine.failures.clear()
    async with open_client(data_folder) as client:
        page = await read_page(client, "paper-search://sessions")
    assert page["total"] == 3
    found = {line["session_id"]: line for line in page["sessions"]}
    line = found[waiting["session_id"]]
    assert (line["query"], line["phase"], line["checkpoint_kind"]) == (QUERY, "waiting_checkpoint", STRATEGY)
    assert line["checkpoint_id"] == waiting["checkpoint_id"]
    line = found[complete["session_id"]]
    assert (line["phase"], line["paper_count"]) == ("completed", complete["paper_count"])
    line = found[failed["session_id"]]
    assert (line["phase"], line["error"]) == ("failed", "ValueError: row 7")
    assert len(line["query"]) <= 120
    assert all(line.keys() >= {"created_at", "last_used_at"} for line in page["sessions"])


@pytest.mark.parametrize(
    ("tail", "code"),
    [("/papers", "no_papers_yet"), ("/papers/0", "no_papers_yet"), ("/papers/many", "invalid_argument")],
)
async def test_papers_that_cannot_be_read_are_a_protocol_error_with_the_same_body(
    data_folder: DataFolder, tail: str, code: str
) -> None:
    async with open_client(data_folder) as client:
        session_id = (await call_tool(client, "search_papers", query=QUERY))["session_id"]
        for subject, expected in ((session_id, code), ("nobody", "session_not_found")):
            if expected == "session_not_found" and code == "invalid_argument":
                continue
            with pytest.raises(McpError) as caught:
                await client.read_resource(AnyUrl(f"paper-search://sessions/{subject}{tail}"))
            data = caught.value.error.data
            assert data is not None
            assert data["error"]["code"] == expected
            assert data["error"].keys() >= {"code", "message", "hint"}


@pytest.mark.parametrize(
    ("offset", "first"), [("-1", 0), ("0", 0), ("2", 2), ("3", None), ("99999999999999999999", None)]
)
async def test_every_offset_gets_a_reply(data_folder: DataFolder, offset: str, first: int | None) -> None:
    async with open_client(data_folder) as client:
        reply = await open_review(client)
        page = await read_page(client, f"paper-search://sessions/{reply['session_id']}/papers/{offset}")
        ids = [found["id"] for found in reply["checkpoint"]["payload"]["papers"]]
        assert [found["id"] for found in page["papers"]] == ([] if first is None else ids[first:])


async def test_progress_is_reported_in_growing_order_while_sources_run(data_folder: DataFolder) -> None:
    gates = [asyncio.Event() for _ in range(3)]
    data_folder.engine.sources = [
        FakeSource(f"source-{n}", make_moon_papers(2, f"source-{n}"), gate=gates[n]) for n in range(3)
    ]
    reported: list[tuple[float, str]] = []

    async def report(progress: float, total: float | None, message: str | None) -> None:
        assert total is None or progress <= total
        reported.append((progress, message or ""))
        for number, gate in enumerate(gates):
            if f"{number} of 3" in (message or ""):
                gate.set()

    async with open_client(data_folder) as client:
        result = await client.call_tool("search_papers", {"query": QUERY}, progress_callback=report)
        session_id = get_json(result)["session_id"]
        reported.clear()
        result = await client.call_tool(
            "decide", {"session_id": session_id, "action": "approve"}, progress_callback=report
        )
        assert get_json(result)["checkpoint_kind"] == REVIEW
    steps = [progress for progress, _ in reported]
    assert steps == sorted(set(steps))
    messages = " / ".join(message for _, message in reported)
    for number in range(3):
        assert f"{number} of 3 sources" in messages, "one notification for each source, before all have answered"


async def test_a_client_that_cancels_ends_its_wait_and_not_the_session(data_folder: DataFolder) -> None:
    gate = asyncio.Event()
    data_folder.engine.sources = [FakeSource("alpha", make_moon_papers(), gate=gate)]
    async with open_manager(data_folder) as manager, wire_to(mcp_server.mcp) as wire:
        opening = (await wire.ask(call("search_papers", {"query": QUERY})))["result"]
        reply = json.loads(opening["content"][0]["text"])
        session_id = reply["session_id"]
        deciding = call(
            "decide", {"session_id": session_id, "action": "approve", "checkpoint_id": reply["checkpoint_id"]}
        )
        await wire.send({**deciding, "id": "slow"})
        await wait_until(lambda: data_folder.engine.asked == [1])
        cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "slow"}}
        answer = await wire.ask(cancelled)
        assert answer["id"] == "slow"
        assert "error" in answer
        session = manager.get(session_id)
        assert session is not None
        gate.set()
        await wait_until(lambda: session.pending is not None)
        again = (await wire.ask(deciding))["result"]
        outcome = json.loads(again["content"][0]["text"])
        assert (outcome["checkpoint_kind"], outcome["iteration"]) == (REVIEW, 1)
        assert outcome["already_decided"]["action"] == "approve"
    assert data_folder.engine.asked == [1]


async def test_a_client_that_disconnects_while_it_waits_finds_its_session_again(data_folder: DataFolder) -> None:
    gate = asyncio.Event()
    data_folder.engine.sources = [FakeSource("alpha", make_moon_papers(), gate=gate)]
    async with open_manager(data_folder):
        async with wire_to(mcp_server.mcp) as wire:
            opening = (await wire.ask(call("search_papers", {"query": QUERY})))["result"]
            reply = json.loads(opening["content"][0]["text"])
            session_id = reply["session_id"]
            await wire.send(call("decide", {"session_id": session_id, "action": "approve"}))
            await wait_until(lambda: data_folder.engine.asked == [1])
        gate.set()
        async with connect_client(mcp_server.mcp) as client:
            given = reply["checkpoint_id"]
            outcome = await call_tool(client, "decide", session_id=session_id, action="approve", checkpoint_id=given)
            assert outcome["checkpoint_kind"] == REVIEW
    assert data_folder.engine.asked == [1]


async def test_a_new_server_continues_the_session_of_the_old_one(data_folder: DataFolder) -> None:
    async with open_client(data_folder) as client:
        reply = await open_review(client)
    async with open_client(data_folder) as client:
        assert await call_tool(client, "get_session", session_id=reply["session_id"]) == reply
        last = await call_tool(client, "decide", session_id=reply["session_id"], action="approve")
        assert last["is_complete"]
    assert data_folder.engine.asked == [1]


async def test_two_servers_share_one_session(data_folder: DataFolder) -> None:
    async with data_folder.open_manager() as other, open_client(data_folder) as client:
        reply = await call_tool(client, "search_papers", query=QUERY)
        session_id, given = reply["session_id"], reply["checkpoint_id"]
        decided = await other.decide(session_id, Decision(action=DecisionAction.APPROVE), door="console")
        async with asyncio.timeout(20):  # the running process may briefly lag behind the stored state
            while await call_tool(client, "get_session", session_id=session_id) != decided:  # noqa: ASYNC110 - no event
                await asyncio.sleep(0)
        repeated = await call_tool(client, "decide", session_id=session_id, action="reject", checkpoint_id=given)
        assert repeated["already_decided"]["door"] == "console"


async def test_a_complete_session_never_blocks_the_event_loop(data_folder: DataFolder) -> None:
    async with open_client(data_folder) as client:
        await complete_session(client)
        with blockbuster_ctx("paper_search"):
            reply = await complete_session(client)
            await client.call_tool("export_results", {"session_id": reply["session_id"], "format": "json"})
            await call_and_get_error(client, "decide", session_id="nobody", action="approve")
            await read_page(client, f"paper-search://sessions/{reply['session_id']}/papers")


def environment(home: Path, **more: str) -> dict[str, str]:
    return {
        "URANIBORG_HOME": str(home),
        "URANIBORG_PAPER_SEARCH__REPLAY_DIR": str(recordings.RECORDING),
        "PATH": os.environ["PATH"],
        **more,
    }


SCRIPT = str(Path(sys.executable).with_name("paper-search-mcp"))


@requirement("PS-REQ-7", "PS-REQ-16")
async def test_over_stdio_a_session_survives_a_kill_of_its_server(home: Path, tmp_path: Path) -> None:
    noise = tmp_path / "stderr"
    pid = tmp_path / "pid"
    starting = ["-c", f"echo $$ > {pid}; exec {SCRIPT}"]
    shell = shutil.which("sh")
    assert shell is not None
    with noise.open("w+") as stderr:
        async with connect_stdio_client(shell, starting, environment(home), cwd=str(tmp_path), stderr=stderr) as client:
            assert sorted(tool.name for tool in (await client.list_tools()).tools) == sorted(TOOLS)
            first = await call_tool(client, "search_papers", query=recordings.QUERY)
            session_id = first["session_id"]
            assert first["checkpoint_kind"] == STRATEGY
            edited = {"filters": {**first["checkpoint"]["payload"]["strategy"]["filters"], "max_results": 10}}
            second = await call_tool(client, "decide", session_id=session_id, action="edit", data=edited)
            assert second["checkpoint_kind"] == REVIEW
            os.kill(int(pid.read_text()), signal.SIGKILL)
        async with connect_stdio_client(SCRIPT, [], environment(home), cwd=str(tmp_path), stderr=stderr) as client:
            again = await call_tool(client, "get_session", session_id=session_id)
            assert {**again, "elapsed_s": 0} == {**second, "elapsed_s": 0}
            repeated = await call_tool(
                client, "decide", session_id=session_id, action="reject", checkpoint_id=first["checkpoint_id"]
            )
            assert repeated["already_decided"]["action"] == "edit"
            third = await call_tool(
                client,
                "decide",
                session_id=session_id,
                action="reject",
                data={"free_text_feedback": "only observations"},
            )
            assert (third["checkpoint_kind"], third["iteration"], third["round"]) == (STRATEGY, 2, 1)
            fourth = await call_tool(client, "decide", session_id=session_id, action="approve")
            last = await call_tool(client, "decide", session_id=session_id, action="approve")
            assert fourth["checkpoint_kind"] == REVIEW
            assert (last["is_complete"], last["iteration"]) == (True, 4)
            exported = await client.call_tool("export_results", {"session_id": session_id, "format": "bibtex"})
            assert get_text(exported).count("@") >= last["paper_count"]
            assert (await call_and_get_error(client, "decide", session_id="x", action="approve"))[
                "code"
            ] == "session_not_found"
        stderr.seek(0)
        assert "Traceback" not in stderr.read()


GATED_SERVER = """
import asyncio
from paper_search import mcp_server
from paper_search.models import Author
from paper_search.service.sessions import SessionManager
from paper_search.testing import FakeSource
from tests.paper_search.service.sessions.helpers import Engine, make_moon_papers
source = FakeSource("alpha", make_moon_papers(), gate=asyncio.Event())
mcp_server._create_manager = lambda: SessionManager(build=Engine(source))
mcp_server.main()
"""


@contextmanager
def run_gated_server(home: Path) -> Generator[subprocess.Popen[str]]:
    """Run a server whose source never answers."""
    process = subprocess.Popen(
        [sys.executable, "-c", GATED_SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(home, PYTHONPATH=os.pathsep.join([*filter(None, [os.environ.get("PYTHONPATH")]), str(ROOT)])),
        cwd=ROOT,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=TIMEOUT_S)


class RawClient:
    """A client that exchanges JSON lines with a process; every line must be a message."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin
        assert process.stdout
        self._stdin, self._stdout = process.stdin, process.stdout

    def send(self, **message: Any) -> None:
        self._stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self._stdin.flush()

    def receive(self) -> dict[str, Any]:
        message = json.loads(self._stdout.readline())
        assert message["jsonrpc"] == "2.0"
        return message

    def initialize(self) -> None:
        client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        self.send(id=0, method="initialize", params=client)
        assert self.receive()["result"]["serverInfo"]["name"] == "paper-search"
        self.send(method="notifications/initialized")

    def call(self, tool: str, progress: bool = False, **arguments: Any) -> None:
        meta = {"_meta": {"progressToken": "p"}} if progress else {}
        self.send(id=1, method="tools/call", params={"name": tool, "arguments": arguments, **meta})


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_during_a_waiting_call_ends_the_server_and_loses_nothing(
    home: Path, number: signal.Signals, code: int
) -> None:
    with run_gated_server(home) as process:
        client_process = RawClient(process)
        client_process.initialize()
        client_process.call("search_papers", query=QUERY)
        reply = json.loads(client_process.receive()["result"]["content"][0]["text"])
        client_process.call("decide", progress=True, session_id=reply["session_id"], action="approve")
        while "Searching" not in (progress := client_process.receive())["params"]["message"]:
            assert progress["method"] == "notifications/progress"
        process.send_signal(number)
        assert process.wait(timeout=TIMEOUT_S) == code
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()

    outcome = decide_in_new_server(reply)
    assert outcome["already_decided"]["action"] == "approve"
    assert (outcome["checkpoint_kind"], outcome["iteration"]) == (REVIEW, 1)


def decide_in_new_server(reply: dict[str, Any]) -> dict[str, Any]:
    """Decide the checkpoint of this reply again in another server; return the reply."""

    async def decide() -> Any:
        manager = SessionManager(build=Engine())
        try:
            rejected = Decision(action=DecisionAction.REJECT)
            return await manager.decide(reply["session_id"], rejected, checkpoint_id=reply["checkpoint_id"])
        finally:
            await manager.aclose()

    return asyncio.run(decide())


def test_a_client_that_leaves_during_a_waiting_call_ends_the_server(home: Path) -> None:
    with run_gated_server(home) as process:
        client_process = RawClient(process)
        client_process.initialize()
        client_process.call("search_papers", query=QUERY)
        reply = json.loads(client_process.receive()["result"]["content"][0]["text"])
        client_process.call("decide", progress=True, session_id=reply["session_id"], action="approve")
        while "Searching" not in client_process.receive()["params"]["message"]:
            pass
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        process.stdin = None
        process.stdout.close()
        assert process.wait(timeout=TIMEOUT_S) == 0
    assert decide_in_new_server(reply)["already_decided"]["action"] == "approve"


@requirement("PS-REQ-8", "PS-REQ-9", "PS-REQ-10")
async def test_the_schemas_list_the_choices_and_describe_every_argument(data_folder: DataFolder) -> None:
    async with open_client(data_folder) as client:
        tools = {tool.name: tool.inputSchema["properties"] for tool in (await client.list_tools()).tools}
    assert tools["search_papers"]["domain"]["enum"] == list_domains()
    assert tools["decide"]["action"]["enum"] == [action.value for action in DecisionAction]
    assert sorted(tools["export_results"]["format"]["enum"]) == sorted(FORMATS)
    assert (tools["search_papers"]["max_results"]["minimum"], tools["search_papers"]["max_results"]["maximum"]) == (
        1,
        MAX_RESULTS_CAP,
    )
    for properties in tools.values():
        assert all(schema["description"] for schema in properties.values())


async def test_a_repeated_decision_that_differs_is_reported_as_not_applied(data_folder: DataFolder) -> None:
    async with open_client(data_folder) as client:
        reply = await call_tool(client, "search_papers", query=QUERY)
        given = {"session_id": reply["session_id"], "checkpoint_id": reply["checkpoint_id"]}
        await call_tool(client, "decide", **given, action="approve")
        same = await call_tool(client, "decide", **given, action="approve")
        other = await call_tool(client, "decide", **given, action="reject", note="not this")
    assert next(iter(other)) == "already_decided"
    assert (same["already_decided"]["same_as_sent"], other["already_decided"]["same_as_sent"]) == (True, False)
    decided = same["already_decided"]
    assert decided["decided_by"] == "mcp 0.1.0 (agent)"
    at = datetime.fromisoformat(decided["decided_at"])
    when = f"{at:%Y-%m-%d %H:%M:%S} UTC"
    before = f"This checkpoint was decided before: approve, through agent, by mcp 0.1.0 (agent), at {when}."
    assert other["already_decided"]["message"] == f"NOT APPLIED. {before}"
    assert same["already_decided"]["message"] == before
