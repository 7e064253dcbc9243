"""The states of the nodes of an active run, whichever process it is in: from the change feed."""

from typing import TYPE_CHECKING, Any, Final

from uraniborg.kernel.change_feed import ChangeReader, find_feed_folder, list_segment_paths

if TYPE_CHECKING:
    from pflow.run_replies import ActiveNode

_FACTS: Final = ("node", "status", "duration_ms", "items", "items_done", "messages", "at")
_MAX_READS: Final = 100
"""Ends the reading of a feed that grows as fast as it is read."""


def read_node_states(run_id: str) -> "list[ActiveNode]":
    """Return the last state of each node of a run that has started. Raise OSError or Locked.

    The feed holds the last changes only: of a run that has been active for very long, nodes may be missing.
    """
    folder = find_feed_folder()
    segments = list_segment_paths(folder)
    if not segments:
        return []
    states: dict[str, Any] = {}
    reader = ChangeReader(folder, f"{segments[0].stem}-0")
    for _ in range(_MAX_READS):
        if not (changes := reader.read()):
            break
        for change in changes:
            if change.kind == "node" and change.subject == run_id and {"node", "status"} <= change.facts.keys():
                node = str(change.facts["node"])
                before = states.get(node, {})
                is_progress = before.get("status") == change.facts["status"] == "running"  # `at` is the start
                states[node] = {**change.facts, "at": before["at"] if is_progress else change.at}
    reader.close()
    found: Any = [{name: state[name] for name in _FACTS if name in state} for state in states.values()]
    return found
