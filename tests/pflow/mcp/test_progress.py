"""Progress notifications, for agents that request them."""

from pathlib import Path

from tests.pflow.mcp.agents import agent, parse_result
from tests.pflow.mcp.gates import gate
from tests.pflow.mcp.raw_server import raw_server
from tests.pflow.mcp.sample_workflows import HELLO, chain, shell_node
from tests.pflow.store.homes import write_draft, write_saved

Report = tuple[float, float | None, str | None]


async def test_each_node_that_ends_is_reported_before_the_answer(home: Path) -> None:
    nodes = [
        shell_node("one", "true"),
        shell_node("two", "true"),
        shell_node("three", "exit 1"),
        shell_node("four", "true"),
    ]
    write_draft(home, "reports", chain(*nodes))
    reports: list[Report] = []

    async def record_progress(progress: float, total: float | None, message: str | None) -> None:
        reports.append((progress, total, message))

    async with agent(home) as client:
        await client.call_tool("execute", {"name": "reports"}, progress_callback=record_progress)
        first = list(reports)
        reports.clear()
        result = await client.call_tool("execute", {"name": "reports"}, progress_callback=record_progress)
    assert first == [(1, 4, "one: completed"), (2, 4, "two: completed"), (3, 4, "three: failed")]
    assert parse_result(result)["reused_nodes"] == ["one", "two"]
    assert reports == [(1, 4, "one: reused"), (2, 4, "two: reused"), (3, 4, "three: failed")]


async def test_many_nodes_side_by_side_are_each_reported_once_and_in_order(home: Path) -> None:
    count = 50
    start = {"id": "start", "type": "echo", "params": {"message": "go"}}
    branches = [{"id": f"b{number}", "type": "echo", "params": {"message": number}} for number in range(count)]
    edges = [{"from": "start", "to": branch["id"]} for branch in branches]
    write_draft(home, "wide", {"nodes": [start, *branches], "edges": edges})
    reports: list[Report] = []

    async def record_progress(progress: float, total: float | None, message: str | None) -> None:
        reports.append((progress, total, message))

    async with agent(home) as client:
        await client.call_tool("execute", {"name": "wide"}, progress_callback=record_progress)
    assert [report[0] for report in reports] == list(range(1, count + 2))
    assert len({report[2] for report in reports}) == count + 1


async def test_a_nested_workflow_counts_as_one_node(home: Path) -> None:
    write_saved(home, "inner", ir=HELLO)
    within = {"id": "within", "type": "workflow", "params": {"workflow_name": "inner", "inputs": {"who": "Tycho"}}}
    write_draft(home, "outer", chain(within, shell_node("after", "true")))
    reports: list[Report] = []

    async def record_progress(progress: float, total: float | None, message: str | None) -> None:
        reports.append((progress, total, message))

    async with agent(home) as client:
        await client.call_tool("execute", {"name": "outer"}, progress_callback=record_progress)
    assert reports == [(1, 2, "within: completed"), (2, 2, "after: completed")]


def test_a_notification_arrives_during_the_run_with_the_token_of_its_call(home: Path, tmp_path: Path) -> None:
    with gate(tmp_path) as here:
        write_draft(home, "waits", chain(shell_node("first", "true"), here.node("waits")))
        with raw_server(home) as server:
            server.call("execute", id=8, name="waits", progress=True)
            here.wait()
            report = server.receive()
            assert report["method"] == "notifications/progress"
            assert report["params"] == {
                "progressToken": "of 8",
                "progress": 1,
                "total": 2,
                "message": "first: completed",
            }
            here.open()
            assert server.receive()["params"]["progress"] == 2
            assert server.reply(8)["success"] is True


def test_without_a_progress_token_only_the_reply_is_sent(home: Path) -> None:
    write_draft(home, "quiet", chain(shell_node("one", "true"), shell_node("two", "true")))
    with raw_server(home) as server:
        for number in range(3):
            server.call("execute", id=number, name="quiet")
            assert server.reply(number)["success"] is True
        server.stdin.close()
        assert server.exit_code() == 0
        assert server.stdout.read() == b""
