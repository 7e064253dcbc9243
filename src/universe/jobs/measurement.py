"""Measurements of a universe: an N-body run, transits or radial velocities, with a chart and a short summary.

Every interface computes through `measure`: jobs, workflow nodes and the Python API. The commands of the terminal call
the same functions below it and write other files besides.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from time import monotonic
from typing import Any, Final, cast

import numpy as np

from universe.jobs.options import JobKind, JobOptions, NbodyOptions, TransitOptions, VelocityOptions
from universe.nbody.body_names import find_body_ids
from universe.nbody.limits import find_shortest_period
from universe.nbody.runs import Run
from universe.orbits.number_fields import finite_or_none
from universe.plotting import Chart, render_svg
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.progress import ReportFraction

MAX_TRAJECTORY: Final = 250_000
"""Bodies times stored times of a trajectory: 6 MB."""


@dataclass(frozen=True)
class Trajectory:
    """The states of the bodies of a run at evenly spread times."""

    layout: dict[str, Any]
    states: bytes
    """Little-endian 32-bit floats of shape (times, bodies, 6); not-a-number for a body that has merged away."""


@dataclass(frozen=True)
class Measurement:
    """A result: the reply with all values, a chart and, of an N-body run, the trajectory.

    A notebook shows the chart and the summary of a result that ends a cell.
    """

    kind: JobKind
    title: str
    reply: dict[str, Any]
    chart: Chart
    trajectory: Trajectory | None = None

    @property
    def summary(self) -> dict[str, Any]:
        """Return the start, the method, the error and the verdict."""
        return summarise_reply(self.kind, self.reply)

    def render_svg(self) -> str:
        """Return the chart as SVG."""
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
    head = {"id": universe_id, "version": version}
    title = title or universe_id or "Universe"
    match options:
        case NbodyOptions():
            return _measure_nbody(universe_state, options, head, title, progress, labels_from)
        case TransitOptions():
            return _measure_transits(universe_state, options, head, title, progress, labels_from)
        case VelocityOptions():
            return _measure_velocities(universe_state, options, head, title, progress, labels_from)


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
    head: dict[str, Any],
    title: str,
    progress: ReportFraction | None,
    labels_from: Mapping[str, Any] | None,
) -> Measurement:
    from universe.nbody.charts import make_run_chart
    from universe.nbody.reports import run_and_report

    report = run_and_report(
        state,
        options.days,
        universe_id=head["id"],
        version=head["version"],
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
    head: dict[str, Any],
    title: str,
    progress: ReportFraction | None,
    labels_from: Mapping[str, Any] | None,
) -> Measurement:
    from universe.nbody.charts import make_transit_chart
    from universe.nbody.transit_times import measure_transit_times

    found = measure_transit_times(
        state,
        find_body_ids(state["stars"], options.bodies) if options.bodies else None,
        days=options.days,
        observer=_make_direction(options.observer),
        use_kepler_orbits=options.kepler,
        notify=_TimeLimit(options, progress),
    )
    reply = {**head, **found}
    return Measurement("transits", title, reply, make_transit_chart(labels_from or reply, title=title))


def _measure_velocities(
    state: Mapping[str, Any],
    options: VelocityOptions,
    head: dict[str, Any],
    title: str,
    progress: ReportFraction | None,
    labels_from: Mapping[str, Any] | None,
) -> Measurement:
    from universe.nbody.charts import make_velocity_chart
    from universe.nbody.radial_velocity import measure_radial_velocities

    found = measure_radial_velocities(
        state,
        find_body_ids(state["stars"], [options.star])[0] if options.star else None,
        days=options.days,
        samples=options.samples,
        observer=_make_direction(options.observer),
        use_kepler_orbits=options.kepler,
        notify=_TimeLimit(options, progress),
    )
    reply = {**head, **found}
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


def make_trajectory(run: Run, time: float) -> Trajectory:
    """Return the sampled states of a run, thinned evenly to at most MAX_TRAJECTORY, with the error of each body."""
    ids, samples = run.start.ids, run.samples
    stride = max(1, -(-samples.times.size * len(ids) // MAX_TRAJECTORY))
    times = samples.times[::stride]
    states = np.concatenate([samples.positions[::stride], samples.velocities[::stride]], axis=2)
    errors = zip(ids, run.worst_error_au.tolist(), run.worst_error_degrees.tolist(), strict=True)
    layout = {
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
    return Trajectory(layout, states.astype("<f4").tobytes())


def summarise_reply(kind: JobKind, reply: Mapping[str, Any]) -> dict[str, Any]:
    """Return the start, the method, the error and the verdict of a result in a few values."""
    common = {name: reply[name] for name in ("time", "epochJulianDate", "days", "method")}
    if kind == "nbody":
        from universe.nbody.reports import find_worst_degrees, format_run_headline

        return {
            **common,
            "errorDegrees": find_worst_degrees(reply),
            "trustworthy": reply["trustworthy"],
            "headline": format_run_headline(reply),
            "verdict": reply["verdict"],
        }
    planets = cast("dict[str, dict[str, Any]]", reply["planets"])
    if kind == "transits":
        counts = {one["name"]: len(one["transits"]) for one in planets.values()}
        passing = sum(1 for count in counts.values() if count)
        statuses = sorted({str(one["status"]) for one in planets.values()})
        is_unknown = bool(statuses) and all(one.endswith("unknown") for one in statuses)
        return {
            **common,
            "errorSeconds": max(
                (one["errorSeconds"] for one in planets.values() if one["errorSeconds"] is not None), default=None
            )
            if reply["method"] != "kepler"
            else None,
            "headline": f"transits unknown: {', '.join(statuses)}"
            if is_unknown
            else f"{sum(counts.values()):,} transits of {passing:,} of {len(planets):,} planets",
        }
    return {
        **common,
        "errorMetresPerSecond": reply["errorMetresPerSecond"],
        "headline": f"{reply['starName']} moves from {reply['least']:.4g} to {reply['greatest']:.4g} m/s",
    }
