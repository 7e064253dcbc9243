"""Measure a universe by an N-body run, transits or radial velocities, with a chart, for jobs and Python programs.

Every interface computes through `measure`: jobs, workflow nodes and the Python API. The commands of the terminal call
the same functions below it and write other files besides.

A result has `reply` (all values, as the command line prints them with --json), `summary` and `render_svg()`. In a
notebook, a result that ends a cell is shown with its summary and its chart.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from time import monotonic
from typing import Any, Final, cast

import numpy as np

from universe.domain.names_and_numbers import find_body_ids
from universe.domain.nbody.limits import find_shortest_period
from universe.domain.nbody.measurement_replies import MeasurementReply, RunReply, TransitReply, VelocityReply
from universe.domain.nbody.runs import Run
from universe.domain.plotting import Chart, render_svg
from universe.domain.units_and_dates import finite_or_none
from universe.service.jobs.options_and_replies import (
    YEAR,
    JobKind,
    JobOptions,
    JobSummary,
    NbodyOptions,
    TrajectoryLayout,
    TransitOptions,
    VelocityOptions,
    parse_job_options,
)
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.progress_callbacks import ReportFraction

MAX_TRAJECTORY: Final = 250_000
"""Bodies times stored times of a trajectory: 6 MB."""


@dataclass(frozen=True)
class SampledTrajectory:
    """The states of the bodies of a run at evenly spread times."""

    layout: TrajectoryLayout
    states: bytes
    """Little-endian 32-bit floats of shape (times, bodies, 6); not-a-number for a body that has merged away."""


@dataclass(frozen=True)
class Measurement:
    """A result: the reply with all values, a chart and, of an N-body run, the trajectory.

    A notebook shows the chart and the summary of a result that ends a cell.
    """

    kind: JobKind
    title: str
    reply: MeasurementReply
    chart: Chart
    trajectory: SampledTrajectory | None = None

    @property
    def summary(self) -> JobSummary:
        """Return the start, the method, the error and the verdict."""
        return summarise_reply(self.kind, self.reply)

    def render_svg(self) -> str:
        return render_svg(self.chart.draw())

    def _repr_svg_(self) -> str:
        return self.render_svg()

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{escape(name)}</th><td style='text-align:left'>{escape(str(value))}</td></tr>"
            for name, value in self.summary.items()
            if value is not None
        )
        return f"<h4>{escape(self.title)}</h4><table>{rows}</table>{self.render_svg()}"


def measure(
    universe_state: Mapping[str, Any],
    options: JobOptions,
    *,
    universe_id: str = "",
    version: int = 0,
    title: str = "",
    progress: ReportFraction | None = None,
    labels_from: Mapping[str, Any] | None = None,
) -> Measurement:
    """Compute a measurement of a plain state. `progress` is called with the fraction done.

    `labels_from` is an earlier reply of this measurement whose texts the chart has, instead of those of the new reply.
    Raise NotFound for a body that does not exist, and InvalidInput for a universe or options that cannot be computed,
    and after `max_seconds`.
    """
    title = title or universe_id or "Universe"
    universe = universe_id, version
    match options:
        case NbodyOptions():
            return _measure_nbody(universe_state, options, universe, title, progress, cast("RunReply", labels_from))
        case TransitOptions():
            return _measure_transits(
                universe_state, options, universe, title, progress, cast("TransitReply", labels_from)
            )
        case VelocityOptions():
            return _measure_velocities(
                universe_state, options, universe, title, progress, cast("VelocityReply", labels_from)
            )


def check_job_bodies(universe_state: Mapping[str, Any], options: JobOptions) -> None:
    """Raise NotFound or InvalidInput if the options name a body that does not exist."""
    find_body_ids(universe_state["stars"], _list_named_bodies(options))


def _list_named_bodies(options: JobOptions) -> list[str]:
    if isinstance(options, VelocityOptions):
        return [options.star] if options.star else []
    return options.bodies or []


def _measure_nbody(
    state: Mapping[str, Any],
    options: NbodyOptions,
    universe: tuple[str, int],
    title: str,
    progress: ReportFraction | None,
    labels_from: RunReply | None,
) -> Measurement:
    from universe.domain.nbody.run_charts import make_run_chart
    from universe.domain.nbody.run_reports import run_and_report

    report = run_and_report(
        state,
        options.days,
        universe_id=universe[0],
        version=universe[1],
        ids=find_body_ids(state["stars"], options.bodies) if options.bodies else None,
        method=options.method,
        step=options.step,
        relativity=options.relativity,
        on_collision=options.on_collision,
        progress=progress,
        clock=monotonic,
        seconds=options.max_seconds,
    )
    chart = make_run_chart(labels_from or report.reply, report.run, report.motion, title=title)
    return Measurement("nbody", title, report.reply, chart, make_trajectory(report.run, float(state["time"])))


def _measure_transits(
    state: Mapping[str, Any],
    options: TransitOptions,
    universe: tuple[str, int],
    title: str,
    progress: ReportFraction | None,
    labels_from: TransitReply | None,
) -> Measurement:
    from universe.domain.nbody.run_charts import make_transit_chart
    from universe.domain.nbody.transits import measure_transit_times

    found = measure_transit_times(
        state,
        find_body_ids(state["stars"], options.bodies) if options.bodies else None,
        days=options.days,
        observer=_make_direction(options.observer),
        use_kepler_orbits=options.kepler,
        notify=_TimeLimit(options, progress),
    )
    reply: TransitReply = {"id": universe[0], "version": universe[1], **found}
    return Measurement("transits", title, reply, make_transit_chart(labels_from or reply, title=title))


def _measure_velocities(
    state: Mapping[str, Any],
    options: VelocityOptions,
    universe: tuple[str, int],
    title: str,
    progress: ReportFraction | None,
    labels_from: VelocityReply | None,
) -> Measurement:
    from universe.domain.nbody.radial_velocity import measure_radial_velocities
    from universe.domain.nbody.run_charts import make_velocity_chart

    found = measure_radial_velocities(
        state,
        find_body_ids(state["stars"], [options.star])[0] if options.star else None,
        days=options.days,
        samples=options.samples,
        observer=_make_direction(options.observer),
        use_kepler_orbits=options.kepler,
        notify=_TimeLimit(options, progress),
    )
    reply: VelocityReply = {"id": universe[0], "version": universe[1], **found}
    return Measurement("rv", title, reply, make_velocity_chart(labels_from or reply, title=title))


class _TimeLimit:
    """Reports progress, and raises InvalidInput after the time limit."""

    def __init__(self, options: TransitOptions | VelocityOptions, progress: ReportFraction | None) -> None:
        self._seconds, self._progress, self._began = options.max_seconds, progress, monotonic()

    def __call__(self, fraction: float) -> None:
        if monotonic() - self._began > self._seconds:
            raise InvalidInput(
                f"The measurement was {100 * fraction:.0f} % done after {self._seconds:g} seconds, the limit.",
                hint="Choose a shorter time or a longer limit.",
                argument="maxSeconds",
            )
        if self._progress:
            self._progress(fraction)


def _make_direction(observer: list[float] | None) -> tuple[float, float] | None:
    return (observer[0], observer[1]) if observer else None


def make_trajectory(run: Run, time: float) -> SampledTrajectory:
    """Return the sampled states of a run, thinned evenly to at most MAX_TRAJECTORY, with the error of each body."""
    ids, samples = run.start.ids, run.samples
    stride = max(1, -(-samples.times.size * len(ids) // MAX_TRAJECTORY))
    times = samples.times[::stride]
    states = np.concatenate([samples.positions[::stride], samples.velocities[::stride]], axis=2)
    errors = zip(ids, run.worst_error_au.tolist(), run.worst_error_degrees.tolist(), strict=True)
    layout: TrajectoryLayout = {
        "ids": list(ids),
        "names": list(run.start.names),
        "count": int(times.size),
        "time": time,
        "firstDay": float(times[0]) if times.size else 0.0,
        "stepDays": float(times[1] - times[0]) if times.size > 1 else 0.0,
        "shortestPeriodDays": finite_or_none(find_shortest_period(run.start)[1]),
        "numbers": ["x", "y", "z", "vx", "vy", "vz"],
        "frame": "barycentric; x and y in the reference plane of the system, z towards its pole",
        "error": {key: {"au": finite_or_none(au), "degrees": finite_or_none(angle)} for key, au, angle in errors},
        "trustworthy": run.trustworthy,
    }
    return SampledTrajectory(layout, states.astype("<f4").tobytes())


def summarise_reply(kind: JobKind, reply: Mapping[str, Any]) -> JobSummary:
    """Return the start, the method, the error and the verdict of a result in a few values."""
    match kind:
        case "nbody":
            return _summarise_run(cast("RunReply", reply))
        case "transits":
            return _summarise_transits(cast("TransitReply", reply))
        case "rv":
            return _summarise_velocities(cast("VelocityReply", reply))


def _summarise_run(reply: RunReply) -> JobSummary:
    from universe.domain.nbody.run_reports import find_worst_degrees, format_run_headline

    return {
        "time": reply["time"],
        "epochJulianDate": reply["epochJulianDate"],
        "days": reply["days"],
        "method": reply["method"],
        "errorDegrees": find_worst_degrees(reply),
        "trustworthy": reply["trustworthy"],
        "headline": format_run_headline(reply),
        "verdict": reply["verdict"],
    }


def _summarise_transits(reply: TransitReply) -> JobSummary:
    planets = reply["planets"].values()
    counts = [len(one["transits"]) for one in planets]
    passing = sum(1 for count in counts if count)
    statuses = sorted({one["status"] for one in planets})
    is_unknown = bool(statuses) and all(one.endswith("unknown") for one in statuses)
    errors = [one["errorSeconds"] for one in planets if one["errorSeconds"] is not None]
    return {
        "time": reply["time"],
        "epochJulianDate": reply["epochJulianDate"],
        "days": reply["days"],
        "method": reply["method"],
        "errorSeconds": max(errors) if errors and reply["method"] != "kepler" else None,
        "headline": f"transits unknown: {', '.join(statuses)}"
        if is_unknown
        else f"{sum(counts):,} transits of {passing:,} of {len(planets):,} planets",
    }


def _summarise_velocities(reply: VelocityReply) -> JobSummary:
    return {
        "time": reply["time"],
        "epochJulianDate": reply["epochJulianDate"],
        "days": reply["days"],
        "method": reply["method"],
        "errorMetresPerSecond": reply["errorMetresPerSecond"],
        "headline": f"{reply['starName']} moves from {reply['least']:.4g} to {reply['greatest']:.4g} m/s",
    }


def run_nbody(
    state: Mapping[str, Any],
    *,
    days: float = YEAR,
    bodies: Sequence[str] | None = None,
    method: str = "gauss",
    step: float | None = None,
    relativity: bool = False,
    on_collision: str = "stop",
    max_seconds: float = 3_600,
    title: str = "",
    progress: ReportFraction | None = None,
) -> Measurement:
    """Integrate the bodies of a plain state and return the run with its verdict, error, chart and trajectory.

    Raise MalformedRequest, NotFound for a body that does not exist, or InvalidInput.
    """
    options = {"days": days, "bodies": _to_list(bodies), "method": method, "step": step, "relativity": relativity}
    return _measure("nbody", state, {**options, "onCollision": on_collision}, max_seconds, title, progress)


def find_transits(
    state: Mapping[str, Any],
    *,
    days: float = YEAR,
    bodies: Sequence[str] | None = None,
    observer: Sequence[float] | None = None,
    kepler: bool = False,
    max_seconds: float = 3_600,
    title: str = "",
    progress: ReportFraction | None = None,
) -> Measurement:
    """Return the transits of planets in a plain state. `observer` is a longitude and a latitude in degrees.

    Raise as `run_nbody` does.
    """
    options = {"days": days, "bodies": _to_list(bodies), "observer": _to_list(observer), "kepler": kepler}
    return _measure("transits", state, options, max_seconds, title, progress)


def measure_velocities(
    state: Mapping[str, Any],
    *,
    days: float = YEAR,
    samples: int = 400,
    star: str | None = None,
    observer: Sequence[float] | None = None,
    kepler: bool = False,
    max_seconds: float = 3_600,
    title: str = "",
    progress: ReportFraction | None = None,
) -> Measurement:
    """Return the radial velocity of a star in a plain state. Raise as `run_nbody` does."""
    options = {"days": days, "samples": samples, "star": star, "observer": _to_list(observer), "kepler": kepler}
    return _measure("rv", state, options, max_seconds, title, progress)


def _measure(
    kind: str,
    state: Mapping[str, Any],
    options: dict[str, Any],
    max_seconds: float,
    title: str,
    progress: ReportFraction | None,
) -> Measurement:
    parsed = parse_job_options({"kind": kind, **options, "maxSeconds": max_seconds})
    return measure(state, parsed, title=title or _find_name(state), progress=progress)


def _to_list(values: Sequence[Any] | None) -> list[Any] | None:
    return None if values is None else list(values)


def _find_name(state: Mapping[str, Any]) -> str:
    bodies = sorted(state["stars"].values(), key=lambda body: body.get("mass") or 0.0)
    return str(bodies[-1].get("name") or "") if bodies else ""
