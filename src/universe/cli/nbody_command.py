"""`universe nbody`: run an N-body integration and report its results."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from universe.cli.common import (
    Db,
    UniverseId,
    UniverseVersion,
    Version,
    app,
    check_output_files,
    read_universe,
)
from uraniborg.kernel.terminal.command_runner import UsageError
from uraniborg.kernel.terminal.output_streams import print_json
from uraniborg.kernel.terminal.typer_app import JsonOption, Quiet

if TYPE_CHECKING:
    from universe.domain.nbody.run_reports import RunReport

_YEAR = 365.25
_HELP = """Run an N-body integration and report resonances, close encounters, ejections and chaos.

The run starts at the time of the universe and does not change it. It is made twice to measure the error of each body.
Exits with 4 if that error is too large to trust the results.

Examples:
- `universe nbody t1 --years 10`
- `universe nbody t1 --years 10 --compare t1-heavy --plot run.png`
- `universe nbody sol --years 100 --body sun --body jupiter --json`
- `universe nbody t1 --days 100 --write-rebound check.py --write-csv start.csv`
"""


@app.command(help=_HELP)
def nbody(
    universe_id: UniverseId,
    days: Annotated[
        float | None, typer.Option(metavar="N", help="The duration in days, negative for backwards. Default: 365.25.")
    ] = None,
    years: Annotated[float | None, typer.Option(metavar="N", help="The duration in years of 365.25 days.")] = None,
    body: Annotated[
        list[str] | None,
        typer.Option(metavar="BODY", help="The id or name of a body to include; repeatable. Default: all."),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="gauss (exact), heyoka (the same, faster, if installed), leapfrog, yoshida4, yoshida6."
        ),
    ] = "gauss",
    step: Annotated[
        float | None,
        typer.Option(
            metavar="N", help="The step in days, for leapfrog and yoshida. Default: 1/60 of the shortest period."
        ),
    ] = None,
    relativity: Annotated[
        bool, typer.Option("--relativity", help="Add the first relativistic correction of the heaviest body.")
    ] = False,
    on_collision: Annotated[
        str,
        typer.Option(metavar="NAME", help="When bodies collide: stop, merge (conserves mass and momentum) or ignore."),
    ] = "stop",
    compare: Annotated[
        str | None,
        typer.Option(
            metavar="UNIVERSE", help="Run another universe and compare: ID, ID@VERSION, or a version of this one."
        ),
    ] = None,
    plot: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="Draw the run: .png or .svg; repeatable.")
    ] = None,
    plot_what: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="elements, angles, distances or energy; repeatable. Default: all."),
    ] = None,
    write_rebound: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the start as a Python script for REBOUND.")
    ] = None,
    write_csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the start as a table.")] = None,
    max_seconds: Annotated[
        float, typer.Option(metavar="N", min=0, help="Stop with an error after this many seconds.")
    ] = 300,
    version: Version = None,
    db: Db = None,
    json: JsonOption = False,
    quiet: Quiet = False,
) -> int:
    span = _compute_duration_days(days, years)
    _check_output_options([write_rebound, write_csv], plot or [], plot_what)
    runs = [read_universe(universe_id, version, db)]
    if compare is not None:
        runs.append(_read_compared_universe(compare, universe_id, db))
    ids = _find_body_ids(runs, body)

    def report_universe(one: UniverseVersion) -> "RunReport":
        from universe.domain.nbody.run_reports import run_and_report
        from uraniborg.kernel.terminal.progress import Progress

        with Progress(one.id, is_quiet=quiet, as_json=json) as progress:
            return run_and_report(
                one.plain,
                span,
                universe_id=one.id,
                version=one.version,
                ids=ids,
                method=method,
                step=step,
                relativity=relativity,
                on_collision=on_collision,
                progress=progress.report_fraction,
                clock=time.monotonic,
                seconds=max_seconds,
            )

    reports = [report_universe(one) for one in runs]
    reply = dict(reports[0].reply)
    if compare is not None:
        from universe.domain.nbody.analysis import compare_run_analyses

        labels = [f"{one.id} version {one.version}" for one in runs]
        differences = compare_run_analyses(reports[0].reply, reports[1].reply, labels)
        reply["comparison"] = {"with": reports[1].reply, "differences": differences}
    written = _write_run_files(runs[0], reports[0], span, plot or [], plot_what, write_rebound, write_csv)
    if json:
        print_json(reply)
    else:
        _print_reports(reports, reply, written)
    return 0 if all(one.run.trustworthy for one in reports) else 4


def _compute_duration_days(days: float | None, years: float | None) -> float:
    """Return the duration of the run in days. Raise UsageError if both options are given."""
    if days is not None and years is not None:
        raise UsageError("--days and --years cannot be combined.", hint="Give one of them.")
    return years * _YEAR if years is not None else days if days is not None else _YEAR


def _check_output_options(files: Sequence[Path | None], plots: Sequence[Path], kinds: Sequence[str] | None) -> None:
    """Raise before the run if a file cannot be written or a picture cannot be drawn."""
    from universe.domain.nbody.run_charts import KINDS

    for kind in kinds or ():
        if kind not in KINDS:
            raise UsageError(
                f"--plot-what must be one of {', '.join(KINDS)}, got '{kind[:20]}'.",
                hint=f"For example: --plot-what {KINDS[0]}.",
            )
    if kinds and not plots:
        raise UsageError("--plot-what needs --plot.", hint="Name the picture: --plot run.png.")
    check_output_files(plots, files)


def _read_compared_universe(text: str, universe_id: str, db: str | None) -> UniverseVersion:
    """Return the universe to compare with: a number is a version of this one, ID@NUMBER a version of another."""
    from universe.errors import UniverseNotFound

    if text.isdecimal():
        return read_universe(universe_id, int(text), db)
    try:
        return read_universe(text, None, db)
    except UniverseNotFound:
        other, at, number = text.rpartition("@")
        if not (at and number.isdecimal()):
            raise
    return read_universe(other or universe_id, int(number), db)


def _find_body_ids(runs: Sequence[UniverseVersion], body: Sequence[str] | None) -> list[str] | None:
    """Return the ids of the bodies to move. Raise if one of the universes does not have them."""
    from universe.domain.names_and_numbers import find_body_ids

    if not body:
        return None
    ids = find_body_ids(runs[0].plain["stars"], body)
    for one in runs[1:]:
        find_body_ids(one.plain["stars"], ids)
    return ids


def _write_run_files(
    universe: UniverseVersion,
    report: "RunReport",
    span: float,
    plots: Sequence[Path],
    kinds: Sequence[str] | None,
    rebound: Path | None,
    table: Path | None,
) -> list[Path]:
    """Write the start, the table and the pictures of a run to the files given, and return their paths."""
    from universe.domain.exchange.exports import render_rebound_script, render_start_csv
    from uraniborg.kernel.store.files import write_output

    start, at = report.run.start, float(universe.plain["time"])
    if rebound:
        script = render_rebound_script(
            start,
            days=span,
            universe_id=universe.id,
            version=universe.version,
            time=at,
            relativity=report.run.relativity,
        )
        write_output(rebound, script.encode())
    if table:
        write_output(
            table, render_start_csv(start, universe_id=universe.id, version=universe.version, time=at).encode()
        )
    if plots:
        from universe.domain.nbody.run_charts import KINDS, make_run_chart
        from universe.service.universe_files import write_drawing

        chart = make_run_chart(report.reply, report.run, report.motion, title=universe.name, kinds=kinds or KINDS)
        for path in plots:
            write_drawing(chart.draw(), path)
    return [*([rebound] if rebound else []), *([table] if table else []), *plots]


def _print_reports(reports: Sequence["RunReport"], reply: dict[str, Any], written: Sequence[Path]) -> None:
    from universe.cli.run_summary import summarise_comparison, summarise_run
    from uraniborg.kernel.store.files import display_path
    from uraniborg.kernel.terminal.page import Page

    if len(reports) == 1:
        lines = summarise_run(reply, reports[0].names)
    else:
        names = {**reports[1].names, **reports[0].names}
        lines = summarise_comparison(reports[0].reply, reports[1].reply, reply["comparison"]["differences"], names)
    page = Page()
    for line in (*lines, *(f"Written: {display_path(path)}" for path in written)):
        page.write_line(line)
