"""The nodes that an active run executes now, whichever process it is in: from the change feed."""

from typing import Any, Final

from uraniborg.kernel.change_feed import ChangeReader, find_feed_folder, list_segment_paths

_FACTS: Final = ("node", "items", "items_done")
_MAX_READS: Final = 100
"""Ends the reading of a feed that grows as fast as it is read."""


def find_active_nodes(run_id: str) -> list[dict[str, Any]]:
    """Return the nodes of a run that have started and not ended, each with its facts. Raise OSError or Locked.

    The feed holds the last changes only: of a run that has been active for very long, nodes may be missing.
    """
    folder = find_feed_folder()
    segments = list_segment_paths(folder)
    if not segments:
        return []
    states: dict[str, dict[str, Any]] = {}
    reader = ChangeReader(folder, f"{segments[0].stem}-0")
    for _ in range(_MAX_READS):
        if not (changes := reader.read()):
            break
        for change in changes:
            if change.kind == "node" and change.subject == run_id and "node" in change.facts:
                states[change.facts["node"]] = {**change.facts, "at": change.at}
    reader.close()
    running = (state for state in states.values() if state.get("status") == "running")
    return [{name: state[name] for name in (*_FACTS, "at") if name in state} for state in running]
