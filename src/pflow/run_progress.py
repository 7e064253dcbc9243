"""Reading of runs in any process, to watch or to resume them: from the log, and of active nodes from the feed."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from pflow.errors import InvalidInputs
from uraniborg.kernel.change_feed import ChangeReader, find_feed_folder, list_segment_paths
from uraniborg.kernel.logging import MASK

if TYPE_CHECKING:
    from pflow.engine.runlog import RunLog
    from pflow.run_replies import ActiveNode, RunGraph, WatchedProgress
    from uraniborg.kernel.json_values import Json, JsonObject

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
