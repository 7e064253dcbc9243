"""The reply of a run: always the same keys, always JSON, and a checkpoint after a failure."""

import json
from typing import Any

import pytest

from tests.pflow.service.engine.counting_home import Home, chain, node
from tests.requirements import requirement

KEYS = {"success", "outputs", "error", "checkpoint", "reused_nodes", "run_id", "duration_ms", "warnings"}


def test_a_successful_run_has_neither_error_nor_checkpoint(home: Home) -> None:
    reply: Any = home.run(chain(node("a", echo=7), outputs={"n": {"source": "${a.echo}"}})).reply()
    assert set(reply) == KEYS
    assert (reply["success"], reply["outputs"], reply["error"], reply["checkpoint"]) == (True, {"n": 7}, None, None)
    assert reply["run_id"].startswith("run_")
    assert reply["duration_ms"] > 0


@requirement("PF-R10", "PF-N3")
@pytest.mark.parametrize("how", ["node", "template", "input", "type"])
def test_every_failed_run_has_a_checkpoint_and_is_valid_json(home: Home, how: str) -> None:
    ir = chain(node("a"), node("b", value="${x}"), inputs={"n": {"type": "integer", "default": 1}})
    inputs: dict[str, Any] = {"x": 1}
    if how == "node":
        home.order("fail-b")
    elif how == "template":
        inputs = {}
    elif how == "input":
        ir["inputs"]["needed"] = {"type": "string"}
    else:
        inputs["n"] = "seven"
    reply: Any = home.run(ir, inputs).reply()
    assert set(reply) == KEYS
    assert reply["success"] is False
    assert reply["outputs"] == {}
    assert {"type", "code", "message", "hint", "node"} <= set(reply["error"])
    checkpoint: Any = reply["checkpoint"]
    assert checkpoint["run_id"] == reply["run_id"]
    assert checkpoint["workflow"] == "flow"
    began = how in ("node", "template")
    assert checkpoint["completed_nodes"] == (["a"] if began else [])
    assert checkpoint["failed_node"] == ("b" if began else None)
    assert checkpoint["resumable"] is began
    assert json.loads(json.dumps(reply)) == reply


def test_a_resumed_run_names_the_run_it_resumed_from(home: Home) -> None:
    home.order("fail-b")
    ir = chain(node("a"), node("b"))
    first = home.run(ir)
    second: Any = home.run(ir).reply()
    assert set(second) == KEYS | {"resumed_from", "not_reused"}
    assert second["resumed_from"] == first.run_id
    assert second["reused_nodes"] == ["a"]
    assert second["not_reused"] == {"b": "it had not finished"}
    assert second["checkpoint"]["completed_nodes"] == ["a"]


def test_hashes_of_completed_nodes_are_reported_and_stable(home: Home) -> None:
    home.order("fail-b")
    ir = chain(node("a", v=1), node("b"))
    replies: list[Any] = [home.run(one).reply() for one in (ir, ir, chain(node("a", v=2), node("b")))]
    hashes = [reply["checkpoint"]["node_hashes"] for reply in replies]
    assert hashes[0] == hashes[1] != hashes[2]
    assert set(hashes[0]) == {"a"}


def test_deeply_nested_outputs_are_unchanged(home: Home) -> None:
    value: Any = 1
    for _ in range(90):
        value = {"x": value}
    assert home.run(chain(node("a", echo=value), outputs={"it": {"source": "${a.echo}"}})).outputs == {"it": value}
