"""Collect workflows and runs for a bundle: documents, and every node with its inputs and outputs."""

import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, cast

from pflow.config import load_settings
from pflow.errors import WorkflowNotFound
from pflow.run_replies import RunDetails
from pflow.service import Service
from uraniborg.bundle.pieces import Chosen, Piece, make_json_file, make_names
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.settings import data_dir
from uraniborg.kernel.text import plural

DATA = "DATA"
"""Stands in runs for the data folder, whose path names a person's account."""


def collect_workflows(workflows: Sequence[Chosen], runs: Sequence[Chosen], folder: Path) -> list[Piece]:
    """Return the pieces of workflows and runs; the workflow of a run is exported with it.

    Raise WorkflowNotFound or RunNotFound.
    """
    if not workflows and not runs:
        return []
    service = Service(load_settings(), folder)
    with closing(service.history.open_log()) as log:
        found = [log.get_run(one.id) for one in runs]
    pieces = [make_run_piece(_hide_data_folder(run), name) for run, name in zip(found, make_names(runs), strict=True)]
    named = {one.id for one in workflows}
    more = [Chosen(name) for name in dict.fromkeys(str(run["workflow"]) for run in found) if name not in named]
    every = [*workflows, *more]
    for one, name in zip(every, make_names(every), strict=True):
        try:
            document = service.find_workflow(one.id).stored.ir
        except WorkflowNotFound:
            if one.id in named:
                raise
            continue  # deleted since it ran; the run has its nodes
        pieces.append(make_workflow_piece(document, name))
    return pieces


def make_workflow_piece(document: Any, name: str) -> Piece:
    description = f"the workflow {name}, to run with `pflow run`"
    return Piece([make_json_file(f"workflows/{name}.json", description, document)])


def _hide_data_folder(run: RunDetails) -> RunDetails:
    public: JsonObject = json.loads(json.dumps(run).replace(json.dumps(str(data_dir()))[1:-1], DATA))
    public.pop("pid", None)
    return cast("RunDetails", public)


def make_run_piece(run: RunDetails, name: str) -> Piece:
    nodes = run["nodes"]
    reused = sum(node["status"] == "reused" for node in nodes)
    ended = f"ended with {run['status']}" + (f" at the node {run['failed_node']}" if run["failed_node"] else "")
    resumed = f" resumed the run {run['resumed_from']}," if run["resumed_from"] else ""
    return Piece(
        [make_json_file(f"runs/{name}.json", f"a run of {run['workflow']}: its nodes with inputs and outputs", run)],
        [
            f"The workflow {run['workflow']} (run {run['id']}){resumed} used {plural(len(nodes), 'node')}, of which "
            f"{reused} {'was' if reused == 1 else 'were'} reused, and {ended}."
        ],
        [str(run["ended_at"] or run["started_at"])],
    )
