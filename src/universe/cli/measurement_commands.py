"""`universe transits`, `rv`, `jobs` and `job`, and the report of `show --physics`."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from universe.cli.common import (
    Db,
    UniverseId,
    Value,
    Version,
    app,
    check_output_files,
    read_universe,
    run_with_service,
    run_with_universe,
)
from uraniborg.kernel.terminal.command_runner import UsageError
from uraniborg.kernel.terminal.output_streams import print_json
from uraniborg.kernel.terminal.page import Page
from uraniborg.kernel.terminal.progress import Progress
from uraniborg.kernel.terminal.typer_app import JsonOption, Limit, Quiet

if TYPE_CHECKING:
    from universe.domain.nbody.measurement_replies import TransitReply, VelocityReply
    from universe.domain.plotting import Chart
    from universe.domain.state import Plain
    from universe.service.replies import VersionFacts


Days = Annotated[float, typer.Option(metavar="N", help="The duration in days, from the time of the universe on.")]
Observer = Annotated[
    str | None,
    typer.Option(
        metavar="LON,LAT",
        help="The direction to the observer, in degrees of the reference frame. Default: that of the universe.",
    ),
]
Kepler = Annotated[bool, typer.Option("--kepler", help="Use fixed Kepler orbits, without mutual attraction.")]
Csv = Annotated[Path | None, typer.Option(metavar="FILE", help="Write all values as CSV.")]
Plot = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw a chart: .png or .svg.")]


@app.command()
def transits(
    universe_id: UniverseId,
    body: Annotated[
        list[str] | None,
        typer.Option(metavar="BODY", help="The id or name of a planet; repeatable. Default: all."),
    ] = None,
    days: Days = 365.25,
    observer: Observer = None,
    kepler: Kepler = False,
    csv: Csv = None,
    plot: Plot = None,
    version: Version = None,
    db: Db = None,
    json: JsonOption = False,
    quiet: Quiet = False,
) -> None:
    """Compute transit times and their deviation from a constant period (TTV).

    All bodies attract each other unless --kepler is given.

    Examples:
    - `universe transits t1 --body e --days 60`
    - `universe transits t1 --days 120 --plot ttv.png --csv ttv.csv`
    - `universe transits sol --body earth --observer 0,0 --days 400`
    """
    from universe.cli.measurement_tables import print_transits, render_transits_csv
    from universe.domain.names_and_numbers import find_body_ids
    from universe.domain.nbody.run_charts import make_transit_chart
    from universe.domain.nbody.transits import measure_transit_times

    check_output_files([] if plot is None else [plot], [csv])
    full_id, name, at, plain = read_universe(universe_id, version, db)
    chosen = find_body_ids(plain["stars"], body) if body else None
    direction = _parse_direction(observer)
    with Progress(full_id, is_quiet=quiet, as_json=json) as progress:
        found = measure_transit_times(
            plain, chosen, days=days, observer=direction, use_kepler_orbits=kepler, notify=progress.report_fraction
        )
    reply: TransitReply = {"id": full_id, "version": at, **found}
    _write_csv_and_chart(reply, csv, render_transits_csv, plot, lambda one: make_transit_chart(one, title=name))
    print_json(reply) if json else print_transits(reply)


@app.command()
def rv(
    universe_id: UniverseId,
    days: Days = 365.25,
    samples: Annotated[int, typer.Option(metavar="N", help="The number of evenly spaced times.")] = 400,
    star: Annotated[str | None, typer.Option(metavar="BODY", help="The star. Default: the heaviest body.")] = None,
    observer: Observer = None,
    kepler: Kepler = False,
    csv: Csv = None,
    plot: Plot = None,
    version: Version = None,
    db: Db = None,
    json: JsonOption = False,
    quiet: Quiet = False,
) -> None:
    """Compute the radial velocity of a star, and the semi-amplitude of each planet.

    Velocities away from us are positive.

    Examples:
    - `universe rv t1 --days 20 --plot rv.png`
    - `universe rv sol --observer 0,0 --days 4333 --kepler`
    """
    from universe.cli.measurement_tables import print_velocities, render_velocities_csv
    from universe.domain.names_and_numbers import find_body_ids
    from universe.domain.nbody.radial_velocity import measure_radial_velocities
    from universe.domain.nbody.run_charts import make_velocity_chart

    check_output_files([] if plot is None else [plot], [csv])
    full_id, name, at, plain = read_universe(universe_id, version, db)
    chosen = find_body_ids(plain["stars"], [star])[0] if star else None
    direction = _parse_direction(observer)
    with Progress(full_id, is_quiet=quiet, as_json=json) as progress:
        found = measure_radial_velocities(
            plain,
            chosen,
            days=days,
            samples=samples,
            observer=direction,
            use_kepler_orbits=kepler,
            notify=progress.report_fraction,
        )
    reply: VelocityReply = {"id": full_id, "version": at, **found}
    _write_csv_and_chart(reply, csv, render_velocities_csv, plot, lambda one: make_velocity_chart(one, title=name))
    print_json(reply) if json else print_velocities(reply)


def print_physics_report(head: "VersionFacts", plain: "Plain", *, json: bool) -> None:
    """Print the physical quantities of a universe as tables, or as JSON after `head`."""
    from universe.cli.measurement_tables import print_physics
    from universe.domain.physics import report_physics

    reply = report_physics(plain)
    print_json({**head, **reply}) if json else print_physics(reply)


def _write_csv_and_chart(
    reply: Value,
    csv: Path | None,
    render_csv: Callable[[Value], bytes],
    plot: Path | None,
    make_chart: "Callable[[Value], Chart]",
) -> None:
    """Write a measurement as CSV and as a chart, to the files that are given."""
    if csv is not None:
        from uraniborg.kernel.store.files import write_output

        write_output(csv, render_csv(reply))
    if plot is not None:
        from universe.service.universe_files import write_drawing

        write_drawing(make_chart(reply).draw(), plot)


def _parse_direction(text: str | None) -> tuple[float, float] | None:
    """Return longitude and latitude of `LON,LAT`; None for None. Raise UsageError."""
    if text is None:
        return None
    try:
        longitude, latitude = (float(part) for part in text.split(","))
    except ValueError:
        raise UsageError(
            f"--observer must be longitude and latitude in degrees, got '{text[:40]}'.",
            hint="For example: --observer 90,0.",
        ) from None
    return longitude, latitude


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
    from universe.cli.measurement_tables import print_jobs
    from universe.service.jobs.job_service import JobService
    from universe.service.jobs.options_and_replies import JobFacts
    from universe.service.universes import UniverseService

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

    from universe.cli.measurement_tables import print_job
    from universe.service.jobs.job_service import JobService
    from universe.service.jobs.options_and_replies import DeletedJob, JobWithResult
    from universe.service.universes import UniverseService
    from uraniborg.kernel.store.files import check_output, display_path, write_output

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
