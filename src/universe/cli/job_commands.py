"""`universe jobs` and `job`: stored N-body runs, transits and radial velocities."""

from pathlib import Path
from typing import Annotated

import typer

from universe.cli.common import Db, app, run_with_service, run_with_universe
from uraniborg.kernel.cli import UsageError
from uraniborg.kernel.command_line import JsonOption, Limit
from uraniborg.kernel.terminal.page import Page
from uraniborg.kernel.terminal.streams import print_json

JobId = Annotated[str, typer.Argument(metavar="JOB", help="The id of a job, or its first characters.")]


@app.command()
def jobs(
    universe_id: Annotated[
        str | None, typer.Argument(metavar="ID", help="Only jobs of this universe. Default: all.")
    ] = None,
    limit: Limit = 50,
    db: Db = None,
    json: JsonOption = False,
) -> None:
    """List the jobs of servers and workflows, newest first.

    Examples:
    - `universe jobs t1`
    """
    from universe.jobs.replies import JobFacts
    from universe.jobs.service import JobService
    from universe.service.universes import UniverseService
    from universe.terminal.job_reports import print_jobs

    async def read(service: UniverseService, full_id: str | None = None) -> list[JobFacts]:
        async with JobService(service).running() as stored:
            return [one.describe() for one in await stored.list_jobs(full_id, limit=limit)]

    found = run_with_universe(db, universe_id, read) if universe_id else run_with_service(db, read)
    print_json({"jobs": found}) if json else print_jobs(found)


@app.command()
def job(
    job_id: JobId,
    cancel: Annotated[bool, typer.Option("--cancel", help="Cancel the job.")] = False,
    delete: Annotated[bool, typer.Option("--delete", help="Delete the job, which has ended, and its result.")] = False,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the chart of the result: .svg.")] = None,
    db: Db = None,
    json: JsonOption = False,
) -> None:
    """Show a job with its result, cancel it or delete it.

    With --json the whole result is printed, under `result`.

    Examples:
    - `universe job job_3f21`
    - `universe job job_3f21 --cancel`
    """
    import orjson

    from universe.jobs.replies import DeletedJob, JobWithResult
    from universe.jobs.service import JobService
    from universe.service.universes import UniverseService
    from universe.terminal.job_reports import print_job
    from uraniborg.kernel.files import check_output, display_path, write_output

    if cancel and delete:
        raise UsageError("--cancel and --delete cannot be combined.", hint="Cancel the job first, then delete it.")
    if plot is not None and plot.suffix.lower() != ".svg":
        raise UsageError(f"'{plot.name}' is not SVG.", hint="Name the file chart.svg.")
    check_output(plot)

    async def change(service: UniverseService) -> JobWithResult | DeletedJob:
        async with JobService(service).running() as stored:
            found = await stored.find(job_id)
            if cancel:
                return {**(await stored.cancel(found.universe_id, found.id)).describe()}
            if delete:
                await stored.delete(found.universe_id, found.id)
                return {"deleted": found.id}
            if plot is not None:
                write_output(plot, await stored.read_plot(found.universe_id, found.id))
            reply: JobWithResult = {**found.describe()}
            if found.state == "done":
                reply["result"] = orjson.loads(await stored.read_result(found.universe_id, found.id))
            return reply

    reply = run_with_service(db, change)
    if json:
        print_json(reply)
    elif "deleted" in reply:
        Page().write_line(f"Deleted {reply['deleted']}.")
    else:
        print_job(reply)
        if plot is not None:
            Page().write_line(f"Written: {display_path(plot)}")
