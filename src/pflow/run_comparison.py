"""Compare two runs: their inputs, outputs and nodes."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pflow.run_replies import (
        NodeDifference,
        NodeEnding,
        RunComparison,
        RunDetails,
        RunNode,
        RunSummary,
        ValueDifference,
    )
    from uraniborg.kernel.json_values import JsonObject


def compare_runs(first: "RunDetails", second: "RunDetails") -> "RunComparison":
    """Return the values and nodes that differ between two runs of the log, and the summaries of both."""
    return {
        "first": _summarize_run(first),
        "second": _summarize_run(second),
        "inputs": _compare_values(first["inputs"], second["inputs"]),
        "outputs": _compare_values(first["outputs"], second["outputs"]),
        "nodes": _compare_nodes(first["nodes"], second["nodes"]),
    }


def _summarize_run(run: "RunDetails") -> "RunSummary":
    summary: Any = {key: value for key, value in run.items() if key != "nodes"}
    return summary


def _compare_values(first: "JsonObject | None", second: "JsonObject | None") -> "list[ValueDifference]":
    """Return the names whose values differ; a run without the value does not have its key."""
    left, right = first or {}, second or {}
    found: list[ValueDifference] = []
    for name in dict.fromkeys([*left, *right]):
        difference: ValueDifference = {"name": name}
        if name in left:
            difference["first"] = left[name]
        if name in right:
            difference["second"] = right[name]
        if (name in left) != (name in right) or left.get(name) != right.get(name):
            found.append(difference)
    return found


def _compare_nodes(first: "list[RunNode]", second: "list[RunNode]") -> "list[NodeDifference]":
    """Return all nodes of both runs, each with its ends, and whether they differ in more than their durations."""
    left = {node["node"]: node for node in first}
    right = {node["node"]: node for node in second}
    return [
        {
            "node": name,
            "type": (left.get(name) or right[name])["type"],
            "first": _summarize_end(left.get(name)),
            "second": _summarize_end(right.get(name)),
            "differs": _get_effect(left.get(name)) != _get_effect(right.get(name)),
        }
        for name in dict.fromkeys([*left, *right])
    ]


def _summarize_end(node: "RunNode | None") -> "NodeEnding | None":
    return node and {"status": node["status"], "action": node["action"], "duration_ms": node["duration_ms"]}


def _get_effect(node: "RunNode | None") -> Any:
    """Return what a node did: a reused result is the same as a new one."""
    if node is None:
        return None
    status = "completed" if node["status"] == "reused" else node["status"]
    return status, node["action"], node.get("outputs"), node["error"] and node["error"].get("code")
