"""Looking back at runs."""

from typing import Annotated, Any

import typer

from pflow.cli.printing import print_json
from pflow.cli.shared import Json, app, service
from uraniborg.kernel.logging import redact


@app.command()
def history(
    workflow: Annotated[str | None, typer.Argument(metavar="[NAME|FILE]", help="Runs of this workflow only.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="How many to show.")] = 20,
    json: Json = False,
) -> None:
    """List the last runs, the newest first."""
    from pflow.cli.run_pages import tell_history
    from pflow.cli.sources import run_name

    log = service().log()
    try:
        found: list[dict[str, Any]] = redact(log.history(run_name(workflow) if workflow else None, limit))
    finally:
        log.close()
    print_json({"runs": found}) if json else tell_history(found, workflow)


@app.command()
def show(
    run: Annotated[
        str | None, typer.Argument(metavar="[RUN]", help="The id of a run, or its beginning; the last run if left out.")
    ] = None,
    json: Json = False,
) -> None:
    """Show a run, node by node.

    With times, with what it was given and gave, and with what went wrong.
    """
    from pflow.cli.run_pages import tell_run
    from pflow.errors import RunNotFound

    log = service().log()
    try:
        last: list[dict[str, Any]] = log.history(limit=1) if run is None else []
        if run is None and not last:
            raise RunNotFound("Nothing has run yet.", hint="pflow run NAME")
        found: dict[str, Any] = redact(log.run(run or last[0]["id"]))
    finally:
        log.close()
    print_json(found) if json else tell_run(found)
