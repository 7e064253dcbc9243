"""Read, count and compare the runs of a pflow home, with the log open for one operation at a time."""

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from uraniborg.kernel.errors import UraniborgError

if TYPE_CHECKING:
    from pflow.engine.runlog import RunLog
    from pflow.run_replies import (
        NodeDifference,
        NodeEnding,
        RunComparison,
        RunDetails,
        RunGraph,
        RunItemPage,
        RunNode,
        RunSummary,
        ValueDifference,
        WatchedProgress,
    )
    from uraniborg.kernel.json_values import Json, JsonObject

T = TypeVar("T")


@dataclass(frozen=True)
class RunHistory:
    """The runs of one pflow home. `describe_graph` returns the present graph of a workflow, or None."""

    home: Path
    describe_graph: "Callable[[str], RunGraph | None]"

    def open_log(self) -> "RunLog":
        """Return the log of runs. The caller closes it."""
        from pflow.engine.runlog import RunLog

        return RunLog(self.home / "runs.db")

    def list_runs(
        self, workflow: str | None = None, limit: int = 50, *, status: str | None = None, before: str | None = None
    ) -> "list[RunSummary]":
        """Return runs of one workflow or of all, the latest first. Raise RunNotFound for an unknown `before`."""
        return self._read(lambda log: log.list_runs(workflow, limit, status=status, before=before))

    def get_run(self, run_id: str) -> "RunDetails":
        """Return a run with its nodes. Raise RunNotFound."""
        return self._read(lambda log: add_other_actors(log, log.get_run(run_id)))

    def count_runs(self) -> dict[str, int]:
        """Return the number of runs of each workflow; nothing if the log cannot be read."""
        try:
            return self._read(lambda log: log.count_runs())
        except UraniborgError:
            return {}

    def compare_runs(self, first_id: str, second_id: str) -> "RunComparison":
        """Return the differences of two runs. Raise RunNotFound."""
        return self._read(lambda log: _compare_runs(log.get_run(first_id), log.get_run(second_id)))

    def list_lineage(self, run_id: str) -> list[str]:
        """Return the id of the run, of the run that it resumed, and so on. Raise RunNotFound."""
        from pflow.run_progress import list_run_lineage

        return self._read(lambda log: list_run_lineage(log, run_id))

    def find_later_run(self, run_id: str) -> str | None:
        """Return the id of the last run that resumed a run which did not succeed, or None."""
        return self._read(lambda log: log.find_later_run(run_id))

    def read_progress(self, run_id: str, after: int = 0, limit: int = 1_000) -> "WatchedProgress":
        """Return a run, its graph, the nodes that ended after the one with this `seq`, and those that are active.

        See `pflow.run_progress.read_run_progress`. Raise RunNotFound.
        """
        from pflow.run_progress import read_run_progress

        return self._read(lambda log: read_run_progress(log, run_id, after, limit, self.describe_graph))

    def read_node(self, run_id: str, seq: int) -> "RunNode":
        """Return a node of a run with its inputs, outputs and messages. Raise RunNotFound."""
        return self._read(lambda log: log.get_node(run_id, seq))

    def list_items(
        self, run_id: str, node: str, status: str | None = None, after: int = -1, limit: int = 100
    ) -> "RunItemPage":
        """Return items of a batch of a run after the item with this index, all or those that ended so.

        Raise RunNotFound.
        """
        return self._read(lambda log: log.list_items(run_id, node, status=status, after=after, limit=limit))

    def list_messages(self, run_id: str, node: str) -> list[str]:
        """Return the last messages of a node that runs. Raise RunNotFound."""
        return self._read(lambda log: log.list_messages(run_id, node))

    def read_inputs_to_resume(self, run_id: str, changed: "Mapping[str, Json] | None") -> "tuple[str, JsonObject]":
        """Return the workflow and the inputs of a run, with changed inputs. Raise RunNotFound or InvalidInputs."""
        from pflow.run_progress import read_inputs_to_resume

        return self._read(lambda log: read_inputs_to_resume(log, run_id, changed))

    def _read(self, read: "Callable[[RunLog], T]") -> T:
        with closing(self.open_log()) as log:
            return read(log)


def add_other_actors(log: "RunLog", run: "RunDetails") -> "RunDetails":
    """Add to a run who cancelled it and whose decision resumed it, if somebody did: `cancelled_by`, `resumed_by`."""
    found: RunDetails = {**run}
    if run["status"] == "cancelled" and (canceller := log.find_change_actor("cancel", run["id"])):
        found["cancelled_by"] = canceller.model_dump()
    if run["resumed_from"] and (resumer := log.find_change_actor("resume", run["resumed_from"])):
        found["resumed_by"] = resumer.model_dump()
    return found


def _compare_runs(first: "RunDetails", second: "RunDetails") -> "RunComparison":
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
