"""Runs that end by a signal, a disconnect or a cancelled call."""

import asyncio
import json
import os
import select
import signal
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.pflow.mcp.agents import PATIENCE_S, agent, call_tool, execute_workflow
from tests.pflow.mcp.gates import Gate, gate, is_running
from tests.pflow.mcp.raw_server import RawServer, raw_server
from tests.pflow.mcp.sample_workflows import (
    HELLO,
    chain,
    count_runs,
    counting_node,
    read_checkpoint,
    read_history,
    shell_node,
)
from tests.pflow.store.homes import write_draft, write_saved
from tests.requirements import requirement

AT_ONCE_S = 3.0
"""Less than the seconds that any cleanup is waited for, and more than a busy machine needs."""


def has_ended(pid: int) -> bool:
    """Return True if a process has ended or ends soon."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], PATIENCE_S)[0])
    finally:
        os.close(descriptor)


def interrupt_server(server: RawServer, number: int = signal.SIGINT) -> tuple[int, float]:
    """Send a signal to the server, and return its exit code and the seconds it took to end."""
    began = time.monotonic()
    server.process.send_signal(number)
    return server.exit_code(), time.monotonic() - began


def waiting_workflow(home: Path, tmp_path: Path, here: Gate, before: str = "") -> Path:
    """Write a workflow that counts, waits at the gate, and counts again. Return the folder of the counts."""
    nodes = [
        counting_node("first", tmp_path / "first"),
        here.node("waits", before),
        counting_node("last", tmp_path / "last"),
    ]
    write_draft(home, "waits", chain(*nodes))
    return tmp_path


@requirement("PF-R20")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_during_a_run_ends_the_server_at_once_and_the_process_of_the_node(
    home: Path, tmp_path: Path, number: int, code: int
) -> None:
    with gate(tmp_path) as here:
        waiting_workflow(home, tmp_path, here)
        with raw_server(home) as server:
            server.call("execute", name="waits")
            child = here.wait()
            ended, took = interrupt_server(server, number)
            assert (ended, is_running(child)) == (code, False)
            assert took < AT_ONCE_S
            assert server.stderr.read() == b""
            for line in server.stdout.read().splitlines():  # there is no more than the answer, if there was time for it
                assert json.loads(line)["result"]["structuredContent"]["error"]["code"] == "run_cancelled"


@requirement("PF-R20", "PF-E10")
async def test_an_interrupted_run_is_resumed_by_the_next_server(home: Path, tmp_path: Path) -> None:
    with gate(tmp_path) as here:
        waiting_workflow(home, tmp_path, here)
        with raw_server(home) as server:
            server.call("execute", name="waits")
            here.wait()
            assert interrupt_server(server)[0] == 130
        kept = read_checkpoint(home, "waits")
        assert [result["finished"][0] for result in kept["results"]] == ["first"]
        (run,) = read_history(home, "waits")
        assert run["status"] == "cancelled"
        here.open("again")
        async with agent(home) as client:
            reply = await execute_workflow(client, "waits")
    assert reply["reused_nodes"] == ["first"]
    assert (count_runs(tmp_path / "first"), count_runs(tmp_path / "last")) == (1, 1)
    assert any("'waits' was interrupted" in warning for warning in reply["warnings"]), "it may have had its effect"


@requirement("PF-R20")
def test_an_interrupt_ends_more_runs_than_there_are_threads_for(home: Path, tmp_path: Path) -> None:
    threads = min(32, (os.cpu_count() or 1) + 4)
    with gate(tmp_path) as here:
        waiting_workflow(home, tmp_path, here)
        with raw_server(home) as server:
            for number in range(threads + 2):
                server.call("execute", id=number, name="waits")
            children = [here.wait() for _ in range(threads)]
            ended, took = interrupt_server(server)
            assert ended == 130
            assert took < AT_ONCE_S
            assert [is_running(child) for child in children] == [False] * threads
        assert not here.has_more(), "what waited for a thread was not begun"


@requirement("PF-R20")
def test_a_node_that_ignores_being_asked_to_end_is_ended_all_the_same(home: Path, tmp_path: Path) -> None:
    with gate(tmp_path) as here:
        waiting_workflow(home, tmp_path, here, "trap '' TERM INT; ")
        with raw_server(home) as server:
            server.call("execute", name="waits")
            child = here.wait()
            assert interrupt_server(server)[0] == 130
            assert has_ended(child)


TELLS_WHEN_ITS_CLIENT_HAS_LEFT = """\
import asyncio, os, sys
from pflow.mcp_server import main

wait_for_threads = asyncio.BaseEventLoop.shutdown_default_executor

async def telling(loop):
    with open(sys.argv[1], "w") as file:
        print(os.getpid(), file=file)
    await wait_for_threads(loop)

asyncio.BaseEventLoop.shutdown_default_executor = telling
main()
"""


@requirement("PF-R20", "PF-E7")
def test_an_interrupt_ends_the_run_of_a_client_that_has_left(home: Path, tmp_path: Path) -> None:
    with gate(tmp_path) as here, gate(tmp_path, "left") as left:
        waiting_workflow(home, tmp_path, here)
        command = [sys.executable, "-c", TELLS_WHEN_ITS_CLIENT_HAS_LEFT, str(left.came)]
        with raw_server(home, command=command) as server:
            server.call("execute", name="waits")
            child = here.wait()
            server.stdin.close()
            server.stdout.close()
            left.wait()
            ended, took = interrupt_server(server)
            is_left = is_running(child)
            if is_left:
                os.kill(child, signal.SIGKILL)
            assert (ended, is_left) == (130, False)
            assert took < AT_ONCE_S


@requirement("PF-E7")
@pytest.mark.parametrize("stops_listening", [False, True])
def test_a_run_continues_to_its_end_when_its_client_disconnects(
    home: Path, tmp_path: Path, stops_listening: bool
) -> None:
    with gate(tmp_path) as here:
        waiting_workflow(home, tmp_path, here)
        with raw_server(home) as server:
            server.call("execute", name="waits", progress=True)
            here.wait()
            server.stdin.close()
            if stops_listening:
                server.stdout.close()
            here.open()
            if not stops_listening:
                messages = [json.loads(line) for line in server.stdout.read().splitlines()]
                assert messages[-1]["result"]["structuredContent"]["success"] is True
            assert server.exit_code() == 0
            assert server.stderr.read() == b""
    assert count_runs(tmp_path / "last") == 1
    (run,) = read_history(home, "waits")
    assert run["status"] == "success"
    assert [(node["node"], node["status"]) for node in run["nodes"]] == [
        ("first", "completed"),
        ("waits", "completed"),
        ("last", "completed"),
    ]


@requirement("PF-E7", "PF-E10")
async def test_a_run_that_fails_after_its_client_left_leaves_its_checkpoint(home: Path, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    with gate(tmp_path) as here:
        nodes = [
            counting_node("first", tmp_path / "first"),
            here.node("waits"),
            shell_node("last", f"test -e '{marker}'"),
        ]
        write_draft(home, "waits", chain(*nodes))
        with raw_server(home) as server:
            server.call("execute", name="waits")
            here.wait()
            server.stdin.close()
            here.open()
            assert server.exit_code() == 0
    kept = read_checkpoint(home, "waits")
    assert [result["finished"][0] for result in kept["results"]] == ["first", "waits"]
    marker.touch()
    async with agent(home) as client:
        reply = await execute_workflow(client, "waits")
    assert reply["reused_nodes"] == ["first", "waits"]
    assert count_runs(tmp_path / "first") == 1


@requirement("PF-E10")
def test_a_client_that_takes_its_call_back_stops_the_run_at_a_checkpoint_and_is_served_on(
    home: Path, tmp_path: Path
) -> None:
    with gate(tmp_path) as here:
        waiting_workflow(home, tmp_path, here)
        with raw_server(home) as server:
            server.call("execute", id=1, name="waits")
            child = here.wait()
            server.send({"method": "notifications/cancelled", "params": {"requestId": 1, "reason": "not now"}})
            assert has_ended(child)
            answer = server.receive()
            assert answer["id"] == 1
            assert "error" in answer
            assert wait_for_statistics(server)["execution_count"] == 1
            assert count_runs(tmp_path / "last") == 0

            server.call("execute", id=3, name="waits")
            here.wait()
            here.open()
            reply = server.reply(3)
    assert reply["success"] is True
    assert reply["reused_nodes"] == ["first"]
    assert count_runs(tmp_path / "first") == 1
    assert [run["status"] for run in read_history(home, "waits")] == ["success", "cancelled"]


def wait_for_statistics(server: RawServer) -> dict[str, Any]:
    """Return the statistics of the workflow as soon as its run has ended."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        server.call("describe_workflow", id=2, name="waits")
        statistics: dict[str, Any] = server.reply(2)["statistics"]
        if statistics["last_execution_success"] is not None:
            return statistics
    raise AssertionError("the run did not end")


def test_taking_back_a_call_that_has_ended_or_never_was_does_nothing(home: Path) -> None:
    write_draft(home, "hello", HELLO)
    with raw_server(home) as server:
        server.call("execute", id=1, name="hello", inputs={"who": "Tycho"})
        assert server.reply(1)["success"] is True
        for request_id in (1, 99, "unheard of"):
            server.send({"method": "notifications/cancelled", "params": {"requestId": request_id}})
        server.call("execute", id=2, name="hello", inputs={"who": "Sophie"})
        assert server.reply(2)["outputs"] == {"greeting": "Hello Sophie"}


async def test_other_calls_are_answered_while_one_runs(home: Path, tmp_path: Path) -> None:
    write_saved(home, "hello", ir=HELLO)
    with gate(tmp_path) as here:
        waiting_workflow(home, tmp_path, here)
        async with agent(home) as client:
            running = asyncio.create_task(execute_workflow(client, "waits"))
            await asyncio.to_thread(here.wait)
            assert (await execute_workflow(client, "hello", who="Tycho"))["outputs"] == {"greeting": "Hello Tycho"}
            assert [one["name"] for one in await call_tool(client, "list_library")] == ["hello"]
            assert (await call_tool(client, "browse_components", query="shell"))["nodes"]
            about = await call_tool(client, "describe_workflow", name="waits")
            assert about["statistics"]["execution_count"] == 1
            assert about["statistics"]["last_execution_timestamp"] is None, "it has not ended"
            assert not running.done()
            here.open()
            assert (await running)["success"] is True


@requirement("PF-E6")
async def test_eight_concurrent_runs_are_isolated(home: Path, tmp_path: Path) -> None:
    names = [f"n{number}" for number in range(8)]
    threads = min(8, (os.cpu_count() or 1) + 4)
    keeps = {"id": "keeps", "type": "echo", "params": {"message": {"mine": "${mine}"}}}
    waits = shell_node("waits", "echo $$ > ${gate}.came; read word < ${gate}.go; echo $word")
    ends = shell_node("ends", "echo ${keeps.echo.mine} ${waits.stdout}; test ${mine} != n3")
    write_draft(home, "shared", chain(keeps, waits, ends))
    reports: dict[str, list[str]] = {name: [] for name in names}

    async def one(name: str) -> Any:
        async def record_progress(progress: float, total: float | None, message: str | None) -> None:
            reports[name].append(str(message))

        inputs = {"mine": name, "gate": str(tmp_path / name)}
        return await client.call_tool(
            "execute", {"name": "shared", "inputs": inputs}, progress_callback=record_progress
        )

    with ExitStack() as stack:
        gates = {name: stack.enter_context(gate(tmp_path, name)) for name in names}
        async with agent(home) as client:
            calls = [asyncio.create_task(one(name)) for name in names]
            await asyncio.to_thread(wait_for_some, list(gates.values()), threads)
            for name in reversed(names):
                gates[name].open(f"word-of-{name}")
            replies = [(await call).structuredContent for call in calls]
    for name, reply in zip(names, replies, strict=True):
        if name == "n3":
            assert reply["error"]["node"] == "ends"
            assert "n3 word-of-n3" in reply["error"]["message"]
            assert reply["checkpoint"]["completed_nodes"] == ["keeps", "waits"]
        else:
            assert reply["outputs"]["ends"]["stdout"] == f"{name} word-of-{name}"
    assert len({reply["run_id"] for reply in replies}) == 8
    assert all(len(received) == 3 for received in reports.values())
    assert sorted(run["status"] for run in read_history(home, "shared")) == ["failed", *["success"] * 7]


def wait_for_some(gates: list[Gate], count: int) -> None:
    """Return once nodes have come to as many of the gates."""
    come: set[Gate] = set()
    while len(come) < count:
        ready = select.select([one for one in gates if one not in come], [], [], PATIENCE_S)[0]
        assert ready, "nobody came"
        come.update(ready)
