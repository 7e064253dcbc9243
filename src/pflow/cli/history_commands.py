"""Looking back at runs."""

from collections.abc import Iterable
from typing import Annotated, Any

import typer

from pflow.cli.app import Json, app, service
from pflow.cli.printing import print_json
from pflow.service import Service
from uraniborg.kernel.logging import redact


@app.command()
def history(
    workflow: Annotated[str | None, typer.Argument(metavar="NAME|FILE", help="Runs of this workflow only.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="How many to show.")] = 20,
    json: Json = False,
) -> None:
    """List the last runs, the newest first."""
    from pflow.cli.run_pages import tell_history
    from pflow.cli.sources import run_as_told, run_name

    asked = service()
    log = asked.open_log()
    try:
        found = log.list_runs(run_name(workflow) if workflow else None, limit)
        if workflow and not found:
            _check_that_there_is(asked, workflow, log.count_runs())
    finally:
        log.close()
    told: list[dict[str, Any]] = redact([run_as_told(run) for run in found])
    print_json({"runs": told}) if json else tell_history(told, workflow)


def _check_that_there_is(asked: Service, workflow: str, known: Iterable[str]) -> None:
    """Raises WorkflowNotFound for what is neither a workflow nor was one, and SecurityError for what is no name."""
    from pflow.cli.sources import names_a_file, place_of, source_of
    from pflow.errors import InvalidWorkflow, WorkflowNotFound
    from pflow.ir.diagnostics import nearest

    try:
        if names_a_file(workflow):
            source_of(asked, workflow)
        else:
            place_of(asked, workflow)
    except InvalidWorkflow:
        return
    except WorkflowNotFound as missing:
        if names_a_file(workflow):
            raise
        meant = missing.ids.get("nearest") or nearest(workflow, sorted(known))
        raise WorkflowNotFound(
            f"There is no workflow '{workflow[:80]}', and there was no run of one.",
            hint=f"Did you mean '{meant}'?" if meant else "`pflow history` lists the runs of all workflows.",
            name=workflow[:80],
            nearest=meant,
        ) from None


@app.command()
def show(
    run: Annotated[
        str | None, typer.Argument(metavar="RUN", help="The id of a run, or its beginning; the last run if left out.")
    ] = None,
    json: Json = False,
) -> None:
    """Show a run, node by node.

    With times, with what it was given and gave, and with what went wrong.
    """
    from pflow.cli.run_pages import tell_run
    from pflow.cli.sources import run_as_told
    from pflow.errors import RunNotFound

    log = service().open_log()
    try:
        last: list[dict[str, Any]] = log.list_runs(limit=1) if run is None else []
        if run is None and not last:
            raise RunNotFound("Nothing has run yet.", hint="pflow run NAME")
        found: dict[str, Any] = redact(run_as_told(log.get_run(run or last[0]["id"])))
    finally:
        log.close()
    print_json(found) if json else tell_run(found)
