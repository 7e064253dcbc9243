"""Rows that a run writes to the log: every node, its status and reuse, and no secret."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pflow.errors import RunNotFound
from pflow.service.engine.results import RunResult
from pflow.service.history import read_node_states
from pflow.service.run_replies import NodeResult
from pflow.store.run_log import RunLog
from tests.pflow.service.engine.counting_home import Home, build_graph, chain, node, until
from tests.requirements import requirement
from uraniborg.kernel.store.change_feed import create_feed, find_feed_folder


@pytest.fixture
def logged(home: Home) -> Callable[[RunResult], dict[str, Any]]:
    """Return a function that reads a logged run, with its nodes by name."""

    def read(result: RunResult) -> dict[str, Any]:
        log = RunLog(home.path / "runs.db")
        try:
            run = log.get_run(result.run_id)
        finally:
            log.close()
        return run | {"nodes": {one["node"]: one for one in run["nodes"]}}

    return read


def test_every_node_is_there_with_how_it_ended(home: Home, logged: Any) -> None:
    home.order("fail-b")
    inner = chain(node("x"), node("y"))
    ir = build_graph(
        [node("a", action="go"), node("b"), node("help", echo="${b.error}"), node("w", "workflow", workflow_ir=inner)],
        *("a>b:go", "b>help:error", "help>w"),
    )
    run = logged(home.run(ir, {"unused": 1}))
    assert run["status"] == "success"
    assert {name: one["status"] for name, one in run["nodes"].items()} == {
        "a": "completed",
        "b": "failed",
        "help": "completed",
        "w/x": "completed",
        "w/y": "completed",
        "w": "completed",
    }
    assert run["nodes"]["a"]["action"] == "go"
    assert run["nodes"]["b"]["error"]["message"] == "ordered to fail: fail-b"
    assert run["nodes"]["a"]["duration_ms"] > 0
    assert run["inputs"] == {"unused": 1}


def test_a_failed_run_and_the_run_that_resumes_it_are_logged_separately(home: Home, logged: Any) -> None:
    home.order("fail-b")
    ir = chain(node("a"), node("b"))
    first = home.run(ir)
    home.clear_orders()
    second = home.run(ir)
    failed, resumed = logged(first), logged(second)
    assert (failed["status"], failed["failed_node"], failed["error"]["code"]) == ("failed", "b", "node_failed")
    assert (resumed["status"], resumed["resumed_from"], resumed["reused"]) == ("success", first.run_id, 1)
    assert resumed["nodes"]["a"]["status"] == "reused"
    assert resumed["nodes"]["b"]["note"] == "it had not finished"


def test_a_run_that_failed_before_it_began_is_in_the_log(home: Home, logged: Any) -> None:
    run = logged(home.run(chain(node("a", v="${x}"), inputs={"x": {"type": "string"}})))
    assert run["status"] == "failed"
    assert run["nodes"] == {}


def test_a_branch_that_was_not_taken_is_there_as_skipped(home: Home, logged: Any) -> None:
    run = logged(home.run(build_graph([node("a"), node("b")], "a>b:never")))
    assert run["nodes"]["b"]["status"] == "skipped"


def test_more_nodes_than_are_written_at_once_are_all_there(home: Home, logged: Any) -> None:
    names = [f"n{at}" for at in range(1_100)]
    ir = build_graph([node("a"), *(node(name, "on-loop") for name in names)], *(f"a>{name}" for name in names))
    assert len(logged(home.run(ir))["nodes"]) == 1_101


def test_outputs_are_stored_unless_they_are_long(home: Home, logged: Any) -> None:
    ir = chain(
        node("a", echo="x" * 50_000, v=1),
        outputs={"long": {"source": "${a.echo}"}, "short": {"source": "${a.value}"}},
    )
    result = home.run(ir)
    run = logged(result)
    assert run["outputs"]["short"] == result.outputs["short"]
    assert run["outputs"]["long"] == {"bytes": 50_002}


@requirement("PF-N4")
def test_no_secret_is_in_the_log(home: Home, logged: Any) -> None:
    home.order("fail-a", text="denied: s3cr3t-value")
    result = home.run(chain(node("a", v="${api_key}")), {"api_key": "s3cr3t-value"})
    run = logged(result)
    assert run["inputs"] == {"api_key": "***"}
    assert run["error"]["message"] == run["nodes"]["a"]["error"]["message"] == "ordered to fail: denied: ***"
    assert b"s3cr3t-value" not in b"".join(path.read_bytes() for path in home.path.glob("runs.db*"))


def test_errors_without_a_json_form_are_stored_as_text(home: Home, logged: Any) -> None:
    home.record_nodes(
        "odd",
        [{"type": "odd", "description": "o", "run": "odd.py:act"}],
        "from pflow.errors import NodeFailed\n"
        "def act(params, context):\n    raise NodeFailed('half \\ud800', thing=object(), n=float('nan'))\n",
    )
    run = logged(home.run(chain(node("a", "odd"))))
    assert run["status"] == "failed"
    assert "object" in run["error"]["thing"]


def test_the_values_of_parameters_are_stored_beside_their_templates(home: Home, logged: Any) -> None:
    ir = chain(node("a", echo="${name}"), node("b", echo="Hello ${a.echo}"), inputs={"name": {"type": "string"}})
    nodes = logged(home.run(ir, {"name": "Sophie"}))["nodes"]
    assert (nodes["b"]["params"], nodes["b"]["inputs"]) == ({"echo": "Hello ${a.echo}"}, {"echo": "Hello Sophie"})
    plain = logged(home.run(chain(node("c", echo="x"))))["nodes"]["c"]
    assert "inputs" not in plain


def test_a_reused_node_has_the_values_of_its_parameters(home: Home, logged: Any) -> None:
    ir = chain(node("a", echo="${name}"), node("end"), inputs={"name": {"type": "string"}})
    home.order("fail-end")
    home.run(ir, {"name": "Sophie"})
    reused = logged(home.run(ir, {"name": "Sophie"}))["nodes"]["a"]
    assert (reused["status"], reused["inputs"]) == ("reused", {"echo": "Sophie"})


def test_a_short_secret_is_not_in_the_values_of_parameters(home: Home, logged: Any) -> None:
    ir = chain(node("a", echo="pin ${pin}"), inputs={"pin": {"type": "string", "secret": True}})
    assert logged(home.run(ir, {"pin": "42"}))["nodes"]["a"]["inputs"] == {"echo": "***"}


def test_a_node_can_be_read_while_the_next_one_runs(home: Home) -> None:
    home.order("wait-b")
    log = RunLog(home.path / "runs.db")
    running = home.process(chain(node("a"), node("b")))
    try:
        until(lambda: [one["node"] for one in _read_nodes(log)] == ["a"])
    finally:
        home.clear_orders()
        log.close()
    assert running.reply()["success"]


def _read_nodes(log: RunLog) -> list[NodeResult]:
    runs = log.list_runs(limit=1)
    return log.get_progress(runs[0]["id"])["nodes"] if runs else []


def test_progress_has_the_graph_and_the_nodes_after_a_known_one_without_values(home: Home) -> None:
    result = home.run(chain(*(node(name) for name in "abc")))
    log: Any = RunLog(home.path / "runs.db")
    first: Any = log.get_progress(result.run_id, limit=2)
    rest = log.get_progress(result.run_id, first["next"], limit=2)
    assert [one["node"] for one in first["nodes"] + rest["nodes"]] == ["a", "b", "c"]
    assert rest["next"] is None
    assert "params" not in first["nodes"][0]
    assert first["graph"]["edges"][0] == {"from": "a", "to": "b", "action": "default"}
    assert log.get_node(result.run_id, 2)["outputs"]["echo"] is None
    with pytest.raises(RunNotFound, match="no node 9"):
        log.get_node(result.run_id, 9)
    log.close()


def test_warnings_and_messages_of_nodes_are_stored(home: Home, logged: Any) -> None:
    home.record_nodes(
        "chatty",
        [{"type": "chatty", "description": "c", "run": "chatty.py:act"}],
        "def act(params, context):\n    context.say('half done')\n    return {}\n",
    )
    run = logged(home.run(chain(node("a", "chatty")), {"unused": 1}))
    assert run["nodes"]["a"]["messages"] == ["half done"]
    assert any("unused" in warning for warning in run["warnings"])


CHATTY = (
    "import time\n"
    "def act(params, context):\n"
    "    context.say('half done')\n"
    "    while (context.home.parent / 'orders' / 'wait').exists():\n"
    "        time.sleep(0.005)\n"
    "    return {}\n"
)


def test_messages_of_a_node_can_be_read_while_it_runs_and_are_announced(
    home: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "uraniborg"))
    create_feed(find_feed_folder())
    home.record_nodes("chatty", [{"type": "chatty", "description": "c", "run": "chatty.py:act"}], CHATTY)
    home.order("wait")
    log: Any = RunLog(home.path / "runs.db")
    running = home.process(chain(node("a", "chatty")))
    try:
        until(log.list_runs)
        (run,) = log.list_runs()
        until(lambda: [state.get("messages") for state in read_node_states(run["id"])] == [1])
        assert log.list_messages(run["id"], "a") == ["half done"]
        assert log.list_messages(run["id"], "b") == []
    finally:
        home.clear_orders()
    assert running.reply()["success"]
    assert log.list_messages(run["id"], "a") == []  # the node has them now
    assert log.get_node(run["id"], 1)["messages"] == ["half done"]
    log.close()


def test_items_of_a_batch_can_be_read_page_by_page_and_failed_ones_alone(home: Home) -> None:
    home.order("fail-b[1]", "fail-b[4]")
    batch: Any = {"items": [f"item {at}" for at in range(6)], "error_handling": "continue"}
    result = home.run(chain(node("b", echo="${item}", batch=batch)))
    log = RunLog(home.path / "runs.db")
    first: Any = log.list_items(result.run_id, "b", limit=4)
    rest = log.list_items(result.run_id, "b", after=first["next"], limit=4)
    failed: Any = log.list_items(result.run_id, "b", status="failed")
    (batch,) = log.get_progress(result.run_id)["nodes"]
    log.close()
    assert batch["failed_items"] == 2
    assert [one["item"] for one in first["items"] + rest["items"]] == [0, 1, 2, 3, 4, 5]
    assert (first["next"], rest["next"]) == (3, None)
    assert first["counts"] == {"completed": 4, "failed": 2}
    assert first["items"][0]["value"] == "item 0"
    assert first["items"][0]["outputs"]["echo"] == "item 0"
    assert [(one["item"], one["error"]["message"]) for one in failed["items"]] == [
        (1, "ordered to fail: fail-b[1]"),
        (4, "ordered to fail: fail-b[4]"),
    ]


@requirement("PF-N4")
def test_items_hold_no_secret_and_no_large_value(home: Home) -> None:
    items = ["of s3cr3t-value", "pin 42", "x" * 5_000, 2**70]
    inputs = {name: {"type": "string", "secret": True} for name in ("key", "pin")}
    ir = chain(node("b", echo="${item} ${key}", batch={"items": items}), inputs=inputs)
    result = home.run(ir, {"key": "s3cr3t-value", "pin": "42"})
    log = RunLog(home.path / "runs.db")
    found = log.list_items(result.run_id, "b")["items"]
    log.close()
    assert [one["value"] for one in found] == ["of ***", "***", {"bytes": 5_002}, None]
    assert b"s3cr3t-value" not in b"".join(path.read_bytes() for path in home.path.glob("runs.db*"))


def test_a_large_batch_is_stored_without_the_values_of_its_last_items(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pflow.service.engine.run_reporter._MAX_BATCH_BYTES", 100)
    result = home.run(chain(node("b", "on-loop", echo="${item}", batch={"items": ["x" * 40] * 9})))
    log = RunLog(home.path / "runs.db")
    page = log.list_items(result.run_id, "b")
    log.close()
    assert page["counts"] == {"completed": 9}
    assert page["items"][0]["value"] == "x" * 40
    assert page["items"][-1]["value"] is None


def test_warnings_of_the_checker_are_in_the_log(home: Home, logged: Any) -> None:
    ir = chain(node("a", echo="x"), outputs={}, inputs={"never_used": {"type": "string", "default": "x"}})
    result = home.run(ir)
    assert any("never_used" in warning for warning in result.warnings), result.warnings
    assert logged(result)["warnings"] == result.warnings


def test_nodes_that_the_log_has_are_not_active_however_small_the_page(
    home: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("URANIBORG_HOME", str(tmp_path / "uraniborg"))
    create_feed(find_feed_folder())
    home.order("wait-d")
    log = RunLog(home.path / "runs.db")
    running = home.process(chain(*(node(name) for name in "abcd")))
    try:
        until(lambda: len(_read_nodes(log)) == 3)
        (run,) = log.list_runs()
        progress = home.service.history.read_progress(run["id"], limit=1)
        assert [one["node"] for one in progress["nodes"]] == ["a"]
        assert [(one["node"], one["status"]) for one in progress["active"]] == [("d", "running")]
    finally:
        home.clear_orders()
        log.close()
    assert running.reply()["success"]
