"""Workflows and nodes for the tests of the server."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

from pflow.service.run_replies import RunDetails
from pflow.store.run_log import RunLog
from tests.pflow.store.homes import write_workflow_file

HELLO: dict[str, Any] = {
    "inputs": {"who": {"type": "string", "description": "Whom to greet."}},
    "nodes": [{"id": "greet", "type": "echo", "params": {"message": "Hello ${who}"}}],
    "outputs": {"greeting": {"source": "${greet.echo}", "description": "A greeting."}},
}


def shell_node(node_id: str, command: str, **more: Any) -> dict[str, Any]:
    return {"id": node_id, "type": "shell", "params": {"command": command}, **more}


def chain(*nodes: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a workflow of these nodes, one after the other."""
    ids = [node["id"] for node in nodes]
    edges = [{"from": one, "to": other} for one, other in pairwise(ids)]
    return {"nodes": list(nodes), "edges": edges, **more}


def counting_node(node_id: str, tally: Path) -> dict[str, Any]:
    """Return a node that adds a line to a file each time it runs."""
    return shell_node(node_id, f"echo ran >> '{tally}'; echo {node_id}")


def count_runs(tally: Path) -> int:
    """Return how often a counting node ran."""
    return len(tally.read_text(encoding="utf-8").splitlines()) if tally.exists() else 0


def declare_user_node(home: Path, kind: str, code: str, **interface: Any) -> None:
    """Declare a node type of the user: a function `run` in a file beside its declaration."""
    stem = kind.replace("-", "_")
    declared = {"type": kind, "description": f"The node {kind}.", "run": f"{stem}.py:run", **interface}
    write_workflow_file(home, f"nodes/{stem}.py", code)
    write_workflow_file(home, f"nodes/{stem}.json", {"nodes": [declared]})


def read_history(home: Path, name: str) -> list[RunDetails]:
    """Return the logged runs of a workflow, the last first, each with its nodes."""
    log = RunLog(home / "runs.db")
    try:
        return [log.get_run(run["id"]) for run in log.list_runs(name)]
    finally:
        log.close()


def read_checkpoint(home: Path, name: str) -> dict[str, Any]:
    return json.loads((home / "checkpoints" / f"{name}.json").read_text(encoding="utf-8"))
