"""Internals of the server: threads, a new service for each request, and logging."""

import asyncio
import json
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from blockbuster import blockbuster_ctx

from pflow import mcp_server
from pflow.domain.run_events import NullOutput
from pflow.errors import RepairRefused
from pflow.nodes import process_runner
from pflow.service.engine import cancellation as cancelling
from pflow.service.operations import Service
from pflow.service.workflow_texts import WorkflowTexts
from pflow.store.node_registry import Registry
from pflow.store.workflow_library import WorkflowManager
from tests.pflow.mcp.agents import PATIENCE_S, agent, call_failing_tool, call_tool, execute_workflow, get_stderr_file
from tests.pflow.mcp.gates import gate, is_running
from tests.pflow.mcp.raw_server import raw_server
from tests.pflow.mcp.sample_workflows import HELLO, chain, declare_user_node, read_history
from tests.pflow.store.homes import write_draft, write_saved
from tests.requirements import requirement
from uraniborg.kernel.mcp.testing import connect_client

CALLS: dict[str, dict[str, Any]] = {
    "browse_components": {"query": "shell"},
    "list_library": {},
    "describe_workflow": {"name": "hello"},
    "execute": {"name": "hello", "inputs": {"who": "Tycho"}},
    "save_to_library": {"draft_name": "hello", "final_name": "kept", "description": "Greets."},
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PFLOW_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "uraniborg"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


@requirement("PF-R18", "PF-N5")
async def test_every_tool_does_its_work_in_the_default_pool_of_its_default_size(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_draft(home, "hello", HELLO)
    server = mcp_server.build_server()
    threads: list[str] = []
    make_service: Callable[..., Service] = mcp_server._open_service  # pyright: ignore[reportPrivateUsage]

    def noting(*starter: Any) -> Service:
        threads.append(threading.current_thread().name)
        return make_service(*starter)

    monkeypatch.setattr(mcp_server, "_open_service", noting)
    async with connect_client(server) as client:
        for tool, arguments in CALLS.items():
            await call_tool(client, tool, **arguments)
            assert threads.pop().startswith("asyncio_"), tool
            assert threads == []
        pool: Any = vars(asyncio.get_running_loop())["_default_executor"]
    assert isinstance(pool, ThreadPoolExecutor)
    sizes = vars(pool)["_max_workers"], vars(ThreadPoolExecutor())["_max_workers"]
    assert sizes[0] == sizes[1] == min(32, (os.cpu_count() or 1) + 4)


@requirement("PF-R18")
async def test_no_tool_blocks_the_loop(home: Path) -> None:
    # A run has a loop of its own, in its thread, which it may block.
    without_a_run = {tool: arguments for tool, arguments in CALLS.items() if tool != "execute"}
    async with connect_client(mcp_server.build_server()) as client:
        for final_name in ("kept", "kept-too"):
            write_draft(home, "hello", HELLO)
            calls = {**without_a_run, "save_to_library": {**CALLS["save_to_library"], "final_name": final_name}}
            # What is imported late is imported the first time.
            with blockbuster_ctx() if final_name == "kept-too" else nullcontext():
                for tool, arguments in calls.items():
                    await call_tool(client, tool, **arguments)


@requirement("PF-R17")
async def test_every_request_makes_its_own_service_registry_and_managers(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []  # kept, so that no two of them can have the same place in memory

    def noting(kind: type) -> None:
        make = kind.__init__

        def init(self: object, *args: Any, **kwargs: Any) -> None:
            made.append(self)
            make(self, *args, **kwargs)

        monkeypatch.setattr(kind, "__init__", init)

    write_saved(home, "kept", ir=HELLO)
    server = mcp_server.build_server()
    for kind in (Service, Registry, WorkflowManager):
        noting(kind)
    async with connect_client(server) as client:
        for _ in range(2):
            for tool, kind in (
                ("browse_components", Registry),
                ("list_library", WorkflowManager),
                ("describe_workflow", Registry),
                ("execute", Registry),
                ("execute", WorkflowManager),
            ):
                before = len(made)
                await call_tool(client, tool, **{**CALLS[tool], **({"name": "kept"} if "name" in CALLS[tool] else {})})
                new = made[before:]
                assert sum(isinstance(one, Service) for one in new) == 1, tool
                assert any(isinstance(one, kind) for one in new), tool
    assert len({id(one) for one in made}) == len(made)


@requirement("PF-R12", "PF-R11")
async def test_a_run_is_asked_for_without_repair_and_with_an_output_that_prints_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_draft(home, "breaks", chain({"id": "one", "type": "shell", "params": {"command": "exit 1"}}))
    before = file.read_bytes()
    asked: list[dict[str, Any]] = []
    execute = Service.execute

    def noting(self: Service, *args: Any, **kwargs: Any) -> Any:
        asked.append(kwargs)
        return execute(self, *args, **kwargs)

    monkeypatch.setattr(Service, "execute", noting)
    async with connect_client(mcp_server.build_server()) as client:
        await call_failing_tool(client, "execute", name="breaks")
    (only,) = asked
    assert only["enable_repair"] is False
    assert isinstance(only["output"], NullOutput)
    assert file.read_bytes() == before
    with pytest.raises(RepairRefused):
        Service(mcp_server._open_service().settings).execute("breaks", enable_repair=True)  # pyright: ignore[reportPrivateUsage]


async def test_once_the_server_is_about_to_end_no_run_begins(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_draft(home, "hello", HELLO)
    ending = threading.Event()
    monkeypatch.setattr(mcp_server, "_ending", ending)
    async with connect_client(mcp_server.build_server()) as client:
        await execute_workflow(client, "hello", who="Tycho")
        ending.set()
        reply = await call_failing_tool(client, "execute", name="hello", inputs={"who": "Sophie"})
    assert reply["error"]["code"] == "run_cancelled"
    assert len(read_history(home, "hello")) == 1


@requirement("PF-R20")
async def test_processes_of_runs_that_do_not_end_in_time_are_ended_without_asking(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deaf(timeout_s_per_run: float) -> None:
        """Stands for runs that do not heed being taken back."""

    monkeypatch.setattr(cancelling, "cancel_all_runs_and_wait", deaf)
    monkeypatch.setattr(mcp_server, "_ending", threading.Event())
    with gate(tmp_path) as here:
        write_draft(home, "waits", chain(here.node("waits")))
        async with connect_client(mcp_server.build_server()) as client:
            running = asyncio.create_task(call_failing_tool(client, "execute", name="waits"))
            child = await asyncio.to_thread(here.wait)
            async with asyncio.timeout(PATIENCE_S):
                while child not in process_runner._live_pids:  # noqa: ASYNC110 # pyright: ignore[reportPrivateUsage]
                    await asyncio.sleep(0)
            await mcp_server._cancel_runs_and_kill_children()  # pyright: ignore[reportPrivateUsage]
            reply = await running
    assert not is_running(child)
    assert "SIGKILL" in reply["error"]["message"]


async def test_an_unexpected_error_is_reported_in_the_shape_of_other_failures(
    home: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("words of nobody")

    for operation in ("browse_components", "list_library", "describe_workflow", "execute"):
        monkeypatch.setattr(Service, operation, broken)
    monkeypatch.setattr(WorkflowTexts, "save_to_library", broken)
    async with connect_client(mcp_server.build_server()) as client:
        for number, (tool, arguments) in enumerate(CALLS.items(), 1):
            result = await client.call_tool(tool, arguments)
            reply = result.structuredContent
            assert result.isError
            assert reply is not None
            assert reply["success"] is False
            assert (reply["error"]["code"], reply["error"]["type"]) == ("internal_error", "execution_error")
            assert "nobody" not in json.dumps(reply)
            logged = [record for record in caplog.records if "RuntimeError: words of nobody" in record.getMessage()]
            assert len(logged) == number


PRINTS = """\
import os, sys, warnings

def run(params, context):
    os.write(1, b"past all of Python\\n")
    os.write(2, b"and again\\n")
    os.system("echo from a child; echo and so >&2")
    print("on stdout")
    print("on stderr", file=sys.stderr)
    sys.stdout.write("without an end")
    sys.stdout.flush()
    warnings.warn("a warning")
    return {"read": sys.stdin.read()}
"""


@requirement("PF-R11")
async def test_output_of_a_node_in_the_server_process_is_discarded(home: Path) -> None:
    declare_user_node(home, "prints", PRINTS)
    write_draft(home, "noisy", chain({"id": "one", "type": "prints"}))
    async with agent(home) as client:
        for _ in range(2):
            assert (await execute_workflow(client, "noisy"))["outputs"] == {"one": {"read": ""}}
    assert get_stderr_file(home).read_text(encoding="utf-8") == ""


BREAKS = """\
from pflow import mcp_server
from pflow.service.operations import Service
from pflow.service.workflow_texts import WorkflowTexts

def broken(self, pattern=None):
    raise RuntimeError("of the server itself")

Service.list_library = broken
mcp_server.main()
"""


def test_errors_of_the_server_itself_are_logged(home: Path) -> None:
    with raw_server(home, command=[sys.executable, "-c", BREAKS]) as server:
        server.call("list_library")
        assert server.reply()["error"]["code"] == "internal_error"
        server.stdin.close()
        assert server.exit_code() == 0
        (line,) = server.stderr.read().splitlines()
    assert "of the server itself" in json.loads(line)["exception"]
