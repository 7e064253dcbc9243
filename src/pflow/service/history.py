"""Read, count and compare the runs of a pflow home, watch those that run, and record who changed what."""

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from pflow.errors import InvalidInputs
from uraniborg.kernel.actors import Actor, get_process_actor
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.logging import MASK, get_logger
from uraniborg.kernel.store.change_feed import ChangeReader, find_feed_folder, list_segment_paths

if TYPE_CHECKING:
    from pflow.service.run_replies import (
        ActiveNode,
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
    from pflow.store.run_log import RunLog
    from pflow.store.run_log_rows import Change, StoredChange
    from uraniborg.kernel.json_values import Json, JsonObject


T = TypeVar("T")


@dataclass(frozen=True)
class RunHistory:
    """The runs of one pflow home. `describe_graph` returns the present graph of a workflow, or None."""

    home: Path
    describe_graph: "Callable[[str], RunGraph | None]"

    def open_log(self) -> "RunLog":
        """Return the log of runs. The caller closes it."""
        from pflow.store.run_log import RunLog

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
        return self._read(lambda log: list_run_lineage(log, run_id))

    def find_later_run(self, run_id: str) -> str | None:
        """Return the id of the last run that resumed a run which did not succeed, or None."""
        return self._read(lambda log: log.find_later_run(run_id))

    def read_progress(self, run_id: str, after: int = 0, limit: int = 1_000) -> "WatchedProgress":
        """Return a run, its graph, the nodes that ended after the one with this `seq`, and those that are active.

        See `pflow.service.history.read_run_progress`. Raise RunNotFound.
        """
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


_MAX_LINEAGE: Final = 100
_FACTS: Final = ("node", "status", "duration_ms", "items", "items_done", "messages", "at")
_MAX_READS: Final = 100
"""Ends the reading of a feed that grows as fast as it is read."""


def read_run_progress(
    log: "RunLog", run_id: str, after: int, limit: int, describe_graph: "Callable[[str], RunGraph | None]"
) -> "WatchedProgress":
    """Return a run, its graph, the nodes that ended after the one with this `seq`, and those that are active.

    `is_present_graph` is True if the log has no graph of the run: then the graph is the one that `describe_graph`
    returns for the workflow. Active nodes, those that run or that the log does not have yet, are only returned with
    `after` 0. Raise RunNotFound.
    """
    progress = log.get_progress(run_id, after, limit)
    run = progress["run"]
    is_present_graph = progress["graph"] is None
    if is_present_graph:
        progress["graph"] = describe_graph(run["workflow"])
    states = read_node_states(run["id"]) if run["status"] == "running" and after == 0 else []
    over = [state["node"] for state in states if state["status"] != "running"]
    logged = log.find_ended_nodes(run["id"], over) if over else set[str]()
    active = [state for state in states if state["status"] == "running" or state["node"] not in logged]
    return {**progress, "is_present_graph": is_present_graph, "active": active}


def list_run_lineage(log: "RunLog", run_id: str) -> list[str]:
    """Return the id of the run, of the run that it resumed, and so on. Raise RunNotFound."""
    ids: list[str] = [log.get_run(run_id)["id"]]
    while len(ids) < _MAX_LINEAGE and (earlier := log.find_resumed_run(ids[-1])):
        ids.append(earlier)
    return ids


def read_inputs_to_resume(log: "RunLog", run_id: str, changed: "Mapping[str, Json] | None") -> "tuple[str, JsonObject]":
    """Return the workflow and the inputs of a run, with changed inputs. Raise RunNotFound or InvalidInputs."""
    run = log.get_run(run_id)
    inputs: JsonObject = {**(run["inputs"] or {}), **(changed or {})}
    unknown = [name for name, value in inputs.items() if MASK in str(value)]
    if unknown or ("beginning" in inputs and "characters" in inputs):
        names = ", ".join(unknown) or "all"
        raise InvalidInputs(
            f"These inputs are not stored with the run: {names}.",
            hint="Secrets and long inputs are not stored. Give them again.",
            missing=unknown,
        )
    return run["workflow"], inputs


def read_node_states(run_id: str) -> "list[ActiveNode]":
    """Return the last state of each node of a run that has started. Raise OSError or Locked.

    The feed holds the last changes only: of a run that has been active for very long, nodes may be missing.
    """
    folder = find_feed_folder()
    segments = list_segment_paths(folder)
    if not segments:
        return []
    states: dict[str, JsonObject] = {}
    reader = ChangeReader(folder, f"{segments[0].stem}-0")
    for _ in range(_MAX_READS):
        if not (changes := reader.read()):
            break
        for change in changes:
            if change.kind == "node" and change.subject == run_id and {"node", "status"} <= change.facts.keys():
                node = str(change.facts["node"])
                before: JsonObject = states.get(node, {})
                is_progress = before.get("status") == change.facts["status"] == "running"  # `at` is the start
                facts = cast("JsonObject", change.facts)
                states[node] = {**facts, "at": before["at"] if is_progress else change.at}
    reader.close()
    found: Any = [{name: state[name] for name in _FACTS if name in state} for state in states.values()]
    return found


_log: Final = get_logger(__name__)


@dataclass(frozen=True)
class ChangeRecord:
    """The record of the changes in one pflow home, in the file of its runs."""

    home: Path

    def add(self, change: "Change", subject: str, actor: Actor | None, revision: str = "") -> None:
        """Record who makes a change, by default the program that runs this process.

        A record that cannot be written does not stop the change: the log of the program then states who made it.
        """
        actor = actor or get_process_actor()
        try:
            self._call(lambda log: log.record_change(change, subject, revision, actor))
        except (UraniborgError, OSError) as exc:
            who = actor.model_dump()
            _log.exception("a change is not recorded", exc=exc, change=change, subject=subject, actor=who)

    def list_all(self) -> "list[StoredChange]":
        """Return the changes that are stored, the last one last. Raise UraniborgError or OSError."""
        return self._call(lambda log: log.list_changes())

    def list_actors(self, change: "Change") -> dict[tuple[str, str], Actor | None]:
        """Return who made the last change of this kind, by subject and revision; nothing if it cannot be read."""
        try:
            return self._call(lambda log: log.list_change_actors(change))
        except (UraniborgError, OSError):
            return {}

    def find_actor(self, change: "Change", subject: str, revision: str = "") -> Actor | None:
        """Return who made the last change of this subject and revision, or None if that is not known."""
        try:
            return self._call(lambda log: log.find_change_actor(change, subject, revision))
        except (UraniborgError, OSError):
            return None

    def _call(self, use: "Callable[[RunLog], T]") -> T:
        from pflow.store.run_log import RunLog

        with closing(RunLog(self.home / "runs.db")) as log:
            return use(log)
