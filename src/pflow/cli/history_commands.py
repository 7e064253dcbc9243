"""Commands for runs that have ended: history, show."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from pflow.cli.app import app, open_service_with_usable_home
from pflow.run_history import add_other_actors
from pflow.service import Service
from uraniborg.kernel.command_line import JsonOption, Limit, NameOrPath
from uraniborg.kernel.logging import redact
from uraniborg.kernel.terminal.streams import print_json

if TYPE_CHECKING:
    from pflow.run_replies import RunDetails, RunSummary


@app.command(name="history")
def print_run_history(
    workflow: Annotated[
        str | None, typer.Argument(metavar="NAME|FILE", parser=NameOrPath, help="Runs of this workflow only.")
    ] = None,
    limit: Limit = 20,
    json: JsonOption = False,
) -> None:
    """List the last runs, the newest first.

    Examples:
    - `pflow history report`
    """
    from pflow.cli.run_printing import print_history
    from pflow.cli.workflow_sources import make_logged_name, split_logged_source

    service = open_service_with_usable_home()
    log = service.history.open_log()
    try:
        found = log.list_runs(make_logged_name(workflow) if workflow else None, limit)
        if workflow and not found:
            _require_known_workflow(service, workflow, log.count_runs())
    finally:
        log.close()
    runs: list[RunSummary] = redact([split_logged_source(run) for run in found])
    print_json({"runs": runs}) if json else print_history(runs, workflow)


def _require_known_workflow(service: Service, workflow: str, logged_names: Iterable[str]) -> None:
    """Raise WorkflowNotFound if neither a workflow nor a run has this name, and SecurityError for an invalid name."""
    from pflow.cli.workflow_sources import find_workflow_source, is_file_path, locate_workflow_file
    from pflow.errors import InvalidWorkflow, WorkflowNotFound
    from uraniborg.kernel.suggestions import find_nearest_name

    try:
        if is_file_path(workflow):
            find_workflow_source(service, workflow)
        else:
            locate_workflow_file(service, workflow)
    except InvalidWorkflow:
        return
    except WorkflowNotFound as missing:
        if is_file_path(workflow):
            raise
        nearest = missing.ids.get("nearest") or find_nearest_name(workflow, sorted(logged_names))
        raise WorkflowNotFound(
            f"There is no workflow '{workflow[:80]}', and no run of that name.",
            hint=f"Did you mean '{nearest}'?" if nearest else "`pflow history` lists the runs of all workflows.",
            name=workflow[:80],
            nearest=nearest,
        ) from None


@app.command(name="show")
def show_run(
    run: Annotated[
        str | None,
        typer.Argument(metavar="RUN", help="The id of a run, or its first characters. Default: the last run."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show a run, node by node.

    Prints durations, inputs, outputs and errors.

    Examples:
    - `pflow show run_4f1c`
    """
    from pflow.cli.run_printing import print_run
    from pflow.cli.workflow_sources import split_logged_source
    from pflow.errors import RunNotFound

    log = open_service_with_usable_home().history.open_log()
    try:
        last = log.list_runs(limit=1) if run is None else []
        if run is None and not last:
            raise RunNotFound("There are no runs yet.", hint="pflow run NAME")
        found: RunDetails = redact(split_logged_source(add_other_actors(log, log.get_run(run or last[0]["id"]))))
    finally:
        log.close()
    print_json(found) if json else print_run(found)
