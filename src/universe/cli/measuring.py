"""Measuring universes: transit times and radial velocities."""

from pathlib import Path
from typing import Annotated, Any

import typer

from universe.cli.progress import Progress
from universe.cli.shared import (
    Db,
    Json,
    UniverseId,
    Version,
    app,
    check_pictures,
    print_json,
    state_of,
    write_picture,
)
from uraniborg.kernel.cli import UsageError

Days = Annotated[float, typer.Option(help="For how long from the universe's time on, in days.")]
Observer = Annotated[
    str | None,
    typer.Option(
        metavar="LON,LAT",
        help="The direction to the observer in degrees of the reference frame; the universe's own if left out.",
    ),
]
Kepler = Annotated[bool, typer.Option("--kepler", help="Follow fixed Kepler orbits without mutual attraction.")]
Csv = Annotated[Path | None, typer.Option(metavar="FILE", help="Write all values as CSV.")]
Plot = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw a chart: .png or .svg.")]


@app.command()
def transits(
    universe_id: UniverseId,
    body: Annotated[
        list[str] | None,
        typer.Option(metavar="BODY", help="The id or name of a planet; repeat it. All if left out."),
    ] = None,
    days: Days = 365.25,
    observer: Observer = None,
    kepler: Kepler = False,
    csv: Csv = None,
    plot: Plot = None,
    version: Version = None,
    db: Db = None,
    json: Json = False,
) -> None:
    """Time transits, and how early or late they are against even periods (TTV). All bodies attract each other.

    Examples:

    - `universe transits t1 --body e --days 60`
    - `universe transits t1 --days 120 --plot ttv.png --csv ttv.csv`
    - `universe transits sol --body earth --observer 0,0 --days 400`
    """
    from universe.exchange import write_output
    from universe.measurement_tables import print_transits, transits_csv
    from universe.nbody.body_names import find_bodies
    from universe.nbody.transit_times import transit_times

    _check_files(plot, csv)
    name, at, plain = state_of(universe_id, version, db)
    chosen = find_bodies(plain["stars"], body) if body else None
    direction = _direction(observer)
    with Progress(universe_id, is_quiet=json) as progress:
        found = transit_times(plain, chosen, days=days, observer=direction, is_kepler=kepler, notify=progress)
    reply = {"id": universe_id, "version": at, **found}
    if csv is not None:
        write_output(csv, transits_csv(reply))
    if plot is not None:
        from universe.nbody.measurement_charts import transit_chart

        write_picture(transit_chart(reply, title=name), plot)
    print_json(reply) if json else print_transits(reply)


@app.command()
def rv(
    universe_id: UniverseId,
    days: Days = 365.25,
    samples: Annotated[int, typer.Option(help="How many evenly spread times.")] = 400,
    star: Annotated[str | None, typer.Option(metavar="BODY", help="The star; the heaviest if left out.")] = None,
    observer: Observer = None,
    kepler: Kepler = False,
    csv: Csv = None,
    plot: Plot = None,
    version: Version = None,
    db: Db = None,
    json: Json = False,
) -> None:
    """Show the radial velocity of a star, positive away from us, and the semi-amplitude of each planet.

    Examples:

    - `universe rv t1 --days 20 --plot rv.png`
    - `universe rv sol --observer 0,0 --days 4333 --kepler`
    """
    from universe.exchange import write_output
    from universe.measurement_tables import print_velocities, velocities_csv
    from universe.nbody.body_names import find_bodies
    from universe.nbody.radial_velocity import radial_velocities

    _check_files(plot, csv)
    name, at, plain = state_of(universe_id, version, db)
    chosen = find_bodies(plain["stars"], [star])[0] if star else None
    direction = _direction(observer)
    with Progress(universe_id, is_quiet=json) as progress:
        found = radial_velocities(
            plain, chosen, days=days, samples=samples, observer=direction, is_kepler=kepler, notify=progress
        )
    reply = {"id": universe_id, "version": at, **found}
    if csv is not None:
        write_output(csv, velocities_csv(reply))
    if plot is not None:
        from universe.nbody.measurement_charts import velocity_chart

        write_picture(velocity_chart(reply, title=name), plot)
    print_json(reply) if json else print_velocities(reply)


def show_physics(head: dict[str, Any], plain: dict[str, Any], *, json: bool) -> None:
    """Print the physical quantities of a universe as tables, or as JSON after `head`."""
    from universe.measurement_tables import print_physics
    from universe.physics import physics_of

    reply = physics_of(plain)
    print_json({**head, **reply}) if json else print_physics(reply)


def _direction(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        longitude, latitude = (float(part) for part in text.split(","))
    except ValueError:
        raise UsageError(
            f"'{text[:40]}' is not a direction.", hint="Give longitude and latitude in degrees: --observer 90,0."
        ) from None
    return longitude, latitude


def _check_files(plot: Path | None, csv: Path | None) -> None:
    """Raise before anything is computed if a file cannot be written, or is not a picture."""
    from uraniborg.kernel.files import check_output

    check_pictures([] if plot is None else [plot])
    for path in (plot, csv):
        check_output(path)
