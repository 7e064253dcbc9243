"""`universe nbody`: let bodies pull at each other, and answer what became of them."""

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from universe.cli.shared import (
    Db,
    Json,
    UniverseId,
    Version,
    app,
    check_pictures,
    print_json,
    print_line,
    state_of,
    write_picture,
)
from uraniborg.kernel.cli import UsageError

if TYPE_CHECKING:
    from universe.nbody.reports import Report

_YEAR = 365.25
_HELP = """Let bodies attract each other and answer: did resonances hold, did anything meet or leave, is it chaotic?

The run starts at the universe's time and changes nothing. It is made twice, so that the error of each body is known;
exits with 4 if that error is too large to trust the answers.

Examples:

- `universe nbody t1 --years 10`
- `universe nbody t1 --years 10 --compare t1-heavy --plot run.png`
- `universe nbody sol --years 100 --body sun --body jupiter --body saturn --json`
- `universe nbody t1 --days 100 --write-rebound check.py --write-csv start.csv`
"""


@dataclass(frozen=True)
class _Asked:
    """One universe at one version."""

    id: str
    name: str
    version: int
    plain: dict[str, Any]


@app.command(help=_HELP)
def nbody(
    universe_id: UniverseId,
    days: Annotated[float | None, typer.Option(help="For how many days; below 0 backwards. 365.25 by default.")] = None,
    years: Annotated[float | None, typer.Option(help="For how many years of 365.25 days.")] = None,
    body: Annotated[
        list[str] | None,
        typer.Option(metavar="BODY", help="The id or name of a body to take part; repeat it. All if left out."),
    ] = None,
    method: Annotated[
        str, typer.Option(help="gauss (exact), heyoka (the same, faster, if installed), leapfrog, yoshida4, yoshida6.")
    ] = "gauss",
    step: Annotated[
        float | None, typer.Option(help="Days, for leapfrog and yoshida; a 60th of the shortest orbit if left out.")
    ] = None,
    relativity: Annotated[
        bool, typer.Option("--relativity", help="Add the first relativistic correction of the heaviest body.")
    ] = False,
    on_collision: Annotated[
        str, typer.Option(help="When bodies touch: stop, merge (mass and momentum are conserved) or ignore.")
    ] = "stop",
    compare: Annotated[
        str | None,
        typer.Option(metavar="OTHER", help="Run this too and compare: a universe, ID@VERSION, or a version number."),
    ] = None,
    plot: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="Draw the run: .png or .svg; repeat it for both.")
    ] = None,
    plot_what: Annotated[
        list[str] | None, typer.Option(help="elements, angles or distances; repeat it. All if left out.")
    ] = None,
    write_rebound: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the start as a Python script for REBOUND.")
    ] = None,
    write_csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the start as a table.")] = None,
    max_seconds: Annotated[float, typer.Option(min=0, help="Give up after so many seconds.")] = 300,
    version: Version = None,
    db: Db = None,
    json: Json = False,
) -> int:
    span = _span(days, years)
    _check_files([*(plot or []), write_rebound, write_csv], plot or [], plot_what)
    asked = [_Asked(universe_id, *state_of(universe_id, version, db))]
    if compare is not None:
        asked.append(_other(compare, universe_id, db))
    ids = _choose(asked, body)

    def run_one(one: _Asked) -> "Report":
        from universe.cli.progress import Progress
        from universe.nbody.reports import report_run

        with Progress(one.id, is_quiet=json) as progress:
            return report_run(
                one.plain,
                span,
                universe_id=one.id,
                version=one.version,
                ids=ids,
                method=method,
                step=step,
                relativity=relativity,
                on_collision=on_collision,
                progress=progress,
                clock=time.monotonic,
                seconds=max_seconds,
            )

    reports = [run_one(one) for one in asked]
    reply = dict(reports[0].reply)
    if compare is not None:
        from universe.nbody.answers import differences_of

        labels = [f"{one.id} version {one.version}" for one in asked]
        differences = differences_of(reports[0].reply, reports[1].reply, labels)
        reply["comparison"] = {"with": reports[1].reply, "differences": differences}
    written = _write_files(asked[0], reports[0], span, plot or [], plot_what, write_rebound, write_csv)
    if json:
        print_json(reply)
    else:
        _print(reports, reply, written)
    return 0 if all(one.run.trustworthy for one in reports) else 4


def _span(days: float | None, years: float | None) -> float:
    if days is not None and years is not None:
        raise UsageError("--days and --years exclude each other.", hint="Give one of them.")
    return years * _YEAR if years is not None else days if days is not None else _YEAR


def _check_files(files: Sequence[Path | None], plots: Sequence[Path], kinds: Sequence[str] | None) -> None:
    """Raise before anything runs if a file cannot be written or a picture not be drawn."""
    from universe.nbody.pictures import KINDS
    from uraniborg.kernel.files import check_output

    check_pictures(plots)
    for kind in kinds or ():
        if kind not in KINDS:
            raise UsageError(f"There is no picture of '{kind[:20]}'.", hint=f"Use {', '.join(KINDS)}.")
    if kinds and not plots:
        raise UsageError("--plot-what needs --plot.", hint="Name the picture: --plot run.png.")
    for path in files:
        check_output(path)


def _other(text: str, universe_id: str, db: str | None) -> _Asked:
    """Return the universe to compare with: a number is a version of this one, ID@NUMBER one of another."""
    from universe.errors import UniverseNotFound

    if text.isdecimal():
        return _Asked(universe_id, *state_of(universe_id, int(text), db))
    try:
        return _Asked(text, *state_of(text, None, db))
    except UniverseNotFound:
        other, at, number = text.rpartition("@")
        if not (at and number.isdecimal()):
            raise
    return _Asked(other or universe_id, *state_of(other or universe_id, int(number), db))


def _choose(asked: Sequence[_Asked], body: Sequence[str] | None) -> list[str] | None:
    """Return the ids of the bodies to move. Raise if one of the universes does not have them."""
    from universe.nbody.body_names import find_bodies

    if not body:
        return None
    ids = find_bodies(asked[0].plain["stars"], body)
    for one in asked[1:]:
        find_bodies(one.plain["stars"], ids)
    return ids


def _write_files(
    asked: _Asked,
    report: "Report",
    span: float,
    plots: Sequence[Path],
    kinds: Sequence[str] | None,
    rebound: Path | None,
    table: Path | None,
) -> list[Path]:
    from universe.exchange import write_output
    from universe.nbody.exports import render_csv, render_rebound

    start, at = report.run.start, float(asked.plain["time"])
    if rebound:
        script = render_rebound(
            start,
            days=span,
            universe_id=asked.id,
            version=asked.version,
            time=at,
            relativity=report.run.relativity,
        )
        write_output(rebound, script.encode())
    if table:
        write_output(table, render_csv(start, universe_id=asked.id, version=asked.version, time=at).encode())
    if plots:
        from universe.nbody.pictures import KINDS, picture

        drawing = picture(
            report.reply, start, report.run.samples, report.motion, title=asked.name, kinds=kinds or KINDS
        )
        for path in plots:
            write_picture(drawing, path)
    return [*([rebound] if rebound else []), *([table] if table else []), *plots]


def _print(reports: Sequence["Report"], reply: dict[str, Any], written: Sequence[Path]) -> None:
    from universe.nbody.comparison_summary import summarise_comparison
    from universe.nbody.summary import summarise
    from uraniborg.kernel.files import shown

    if len(reports) == 1:
        lines = summarise(reply, reports[0].names)
    else:
        names = {**reports[1].names, **reports[0].names}
        lines = summarise_comparison(reports[0].reply, reports[1].reply, reply["comparison"]["differences"], names)
    print_line("\n".join(lines))
    for path in written:
        sys.stdout.write(f"Written: {shown(path)}\n")
