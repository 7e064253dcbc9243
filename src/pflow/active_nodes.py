"""The nodes that an active run executes now, whichever process it is in: from the change feed."""

from typing import Any

import orjson

from uraniborg.kernel.change_feed import find_feed_folder, list_segment_paths


def find_active_nodes(run_id: str) -> list[dict[str, Any]]:
    """Return the nodes of a run that have started and not ended, each with its facts.

    The feed holds the last changes only: of a run that has been active for very long, nodes may be missing.
    """
    wanted = run_id.encode()
    states: dict[str, dict[str, Any]] = {}
    for path in list_segment_paths(find_feed_folder()):
        try:
            lines = path.read_bytes().split(b"\n")
        except OSError:  # the oldest file was deleted meanwhile
            continue
        for line in lines:
            if wanted in line and (change := _parse_node_change(line, run_id)):
                states[change["node"]] = change
    return [change for change in states.values() if change.pop("status") == "running"]


def _parse_node_change(line: bytes, run_id: str) -> dict[str, Any] | None:
    """Return the facts of a change of a node of this run; None for every other change."""
    try:
        change: dict[str, Any] = orjson.loads(line)
        is_wanted = (change["kind"], change["subject"]) == ("node", run_id) and {"node", "status"} <= change.keys()
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None
    names = ("node", "status", "at", "items", "items_done")
    return {name: change[name] for name in names if name in change} if is_wanted else None
