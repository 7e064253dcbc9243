"""Comparison of two runs: their inputs, outputs and nodes."""

from collections.abc import Mapping
from typing import Any, Final, cast

_MISSING: Final = object()


def compare_runs(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values and nodes that differ between two runs of the log, and the summaries of both."""
    return {
        "first": _summarize_run(first),
        "second": _summarize_run(second),
        "inputs": _compare_values(first["inputs"], second["inputs"]),
        "outputs": _compare_values(first["outputs"], second["outputs"]),
        "nodes": _compare_nodes(first["nodes"], second["nodes"]),
    }


def _summarize_run(run: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in run.items() if key != "nodes"}


def _compare_values(first: Any, second: Any) -> list[dict[str, Any]]:
    """Return the names whose values differ; a run without the value does not have its key."""
    left = cast("dict[str, Any]", first) if isinstance(first, dict) else {}
    right = cast("dict[str, Any]", second) if isinstance(second, dict) else {}
    found: list[dict[str, Any]] = []
    for name in dict.fromkeys([*left, *right]):
        values = {"first": left.get(name, _MISSING), "second": right.get(name, _MISSING)}
        if values["first"] != values["second"]:
            given = {side: value for side, value in values.items() if value is not _MISSING}
            found.append({"name": name, **given})
    return found


def _compare_nodes(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> list[dict[str, Any]]:
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


def _summarize_end(node: dict[str, Any] | None) -> dict[str, Any] | None:
    return node and {key: node[key] for key in ("status", "action", "duration_ms")}


def _get_effect(node: dict[str, Any] | None) -> Any:
    """Return what a node did: a reused result is the same as a new one."""
    if node is None:
        return None
    status = "completed" if node["status"] == "reused" else node["status"]
    error: dict[str, Any] = node["error"] or {}
    return status, node["action"], node.get("outputs"), error.get("code")
