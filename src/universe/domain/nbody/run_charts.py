"""Charts of runs and measurements: orbits, resonant angles, passages, transit times and radial velocities."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from universe.domain.names_and_numbers import format_days_and_years, shorten_names
from universe.domain.nbody.analysis import OrbitHistory, compute_angle_series
from universe.domain.nbody.analysis.resonances import format_resonant_angle
from universe.domain.nbody.initial_conditions import InitialConditions
from universe.domain.nbody.measurement_replies import Observation, RunReply, TransitReply, VelocityReply
from universe.domain.nbody.osculating_orbits import OPEN_AXIS, Samples
from universe.domain.nbody.run_reports import find_worst_degrees
from universe.domain.nbody.runs import Run
from universe.domain.nbody.transits import find_distance_minima
from universe.domain.orbits.kepler_equation import Floats
from universe.domain.plotting import Chart, Panel, Series, make_stacked_panel
from universe.domain.plotting.drawing import make_colour_ramp
from universe.domain.units_and_dates import YEAR_IN_DAYS

KINDS: Final = ("elements", "angles", "distances", "energy")
_MOST_BODIES: Final = 24
_MOST_ANGLES: Final = 12
_MOST_PAIRS: Final = 12
_COARSE: Final = 3.0
"""The fewest samples in the shorter period that show passages."""
_HILL_STABLE: Final = 2 * 3**0.5
"""Mutual Hill radii beyond which two planets on circles never meet."""
_NEAR_CUT: Final = 5.0
_NOISE: Final = 1e-9
"""In percent: smaller changes of an axis are rounding errors and are not drawn."""
_PASSAGES: Final = "distance of neighbours when they pass, mutual Hill radii"


def make_run_chart(
    reply: RunReply, run: Run, motion: OrbitHistory, *, title: str, kinds: Sequence[str] = KINDS
) -> Chart:
    start, samples = run.start, run.samples
    is_long = motion.span >= 3 * YEAR_IN_DAYS
    unit, name = (YEAR_IN_DAYS, "years") if is_long else (1.0, "days")
    times = motion.times / unit  # may be fewer than the samples
    short_names = dict(zip(start.ids, shorten_names(start.names), strict=True))
    panels: list[Panel] = []
    if "elements" in kinds:
        panels += _make_element_panels(motion, times, short_names)
    if "angles" in kinds:
        panels += _make_angle_panels(reply, motion, times, short_names)
    if "distances" in kinds:
        panels += _make_distance_panels(start, samples, motion, short_names, unit)
    if "energy" in kinds and run.energy_changes is not None:
        panels += _make_energy_panels(samples.times / unit, run.energy_changes)
    worst = find_worst_degrees(reply)
    error = "error unknown" if worst is None else f"error at most {worst:.1g} degrees"
    trust = error if reply["trustworthy"] else "NOT TRUSTWORTHY"
    return Chart(
        panels,
        title=title,
        subtitle=f"{format_days_and_years(reply['days'])} · {len(start.ids)} bodies · version {reply['version']:,}",
        x_label=f"{name} since the start",
        footer=f"{reply['method']}, {reply['steps']:,} steps, {trust}",
    )


def _make_element_panels(motion: OrbitHistory, times: Floats, short_names: Mapping[str, str]) -> Iterator[Panel]:
    has_orbit = np.asarray(np.isfinite(motion.eccentricities).any(axis=0))
    bodies = [body for family in motion.list_sibling_families() for body in family if has_orbit[body]][:_MOST_BODIES]
    colours = make_colour_ramp(len(bodies))
    names = [short_names[motion.ids[body]] for body in bodies]

    def series(values: Floats) -> list[Series]:
        rows = zip(names, bodies, colours, strict=True)
        return [
            Series(name, times, values[:, body], colour, width=1.4)
            for name, body, colour in rows
            if np.isfinite(values[:, body]).any()
        ]

    with np.errstate(invalid="ignore", divide="ignore"):
        closed = np.where((motion.axes > 0) & (motion.axes < OPEN_AXIS), motion.axes, np.nan)
        changes = 100 * (closed / _compute_column_means(closed) - 1)
    is_noise = np.nanmax(np.abs(changes), axis=0, initial=0.0) < _NOISE
    changes = np.where(is_noise & np.isfinite(changes), 0.0, changes)
    if lanes := series(changes):
        yield make_stacked_panel("semi-major axis, change from the mean, %", lanes, unit=" %")
    height = max(220.0, 17.0 * len(bodies))
    yield Panel("eccentricity", series(motion.eccentricities), height=height)
    yield Panel("inclination to the reference plane, degrees", series(motion.inclinations), height=height)


def _compute_column_means(values: Floats) -> Floats:
    count = np.isfinite(values).sum(axis=0)
    return np.where(count, np.nan_to_num(values).sum(axis=0) / np.maximum(count, 1), np.nan)


def _make_angle_panels(
    reply: RunReply, motion: OrbitHistory, times: Floats, short_names: Mapping[str, str]
) -> Iterator[Panel]:
    """Yield a panel for angles of three bodies and one for those of pairs that librate; these do not wrap."""
    for kind, title in (("laplace", "Laplace angles of three bodies"), ("mean-motion", "resonant angles of pairs")):
        every = [one for one in reply["resonances"] if one["kind"] == kind]
        held = [one for one in every if one["behaviour"] == "librates"]
        # Angles of pairs that circulate fill the panel with points, so only librating angles are drawn.
        chosen = (every if kind == "laplace" or not held else held)[:_MOST_ANGLES]
        if not chosen:
            continue
        values = [compute_angle_series(motion, one) for one in chosen]
        low = _choose_angle_cut([value for one, value in zip(chosen, values, strict=True) if one in held] or values)
        series = [
            Series(format_resonant_angle(one, short_names), times, (value - low) % 360 + low, is_points=True, width=1.3)
            for one, value in zip(chosen, values, strict=True)
        ]
        shown = "" if len(chosen) == len(every) else f", {len(chosen)} drawn"
        unclear = sum(one["behaviour"] == "unclear" for one in every)
        verb = "librates" if len(held) == 1 else "librate"
        note = f"{len(held)} of {len(every)} {verb}{f', {unclear} unclear' if unclear else ''}{shown}"
        height = 60 + 34.0 * max(5, len(chosen))
        yield Panel(title, series, note, y_range=(low, low + 360), is_angle=True, height=height)


def _choose_angle_cut(values: Sequence[Floats]) -> float:
    """Return the multiple of 90 degrees from -180 to 0 that the angles are nearest to least often."""

    def crossings(cut: float) -> int:
        return sum(int((np.abs((value - cut + 180) % 360 - 180) < _NEAR_CUT).sum()) for value in values)

    return min((0.0, -180.0, -90.0, -270.0), key=crossings)


def _make_distance_panels(
    start: InitialConditions, samples: Samples, motion: OrbitHistory, short_names: Mapping[str, str], unit: float
) -> Iterator[Panel]:
    """Yield the distance of neighbours at each passage, in mutual Hill radii."""
    step = motion.span / max(1, samples.times.size - 1)
    series: list[Series] = []
    for inner, outer in [pair for family in motion.list_sibling_families() for pair in pairwise(family)][:_MOST_PAIRS]:
        if not motion.periods[inner] > _COARSE * step:
            continue
        days, distances = find_distance_minima(
            start.masses, samples.times, samples.positions, samples.velocities, inner, outer
        )
        reach = _compute_mean_parent_distances(start, samples, days, inner, outer)
        # The distance of eccentric orbits can also be least while the bodies are on opposite sides of their parent.
        days, distances, reach = (values[distances < reach] for values in (days, distances, reach))
        radii = reach * np.cbrt((start.masses[inner] + start.masses[outer]) / (3 * start.masses[start.parents[inner]]))
        if days.size and radii.all():
            name = f"{short_names[motion.ids[inner]]} {short_names[motion.ids[outer]]}"
            series.append(Series(name, days / unit, distances / radii, is_points=True, width=1.8))
    if series:
        highest = max(float(np.nanmax(one.y)) for one in series)
        note = "line: 2√3, the least for two planets on circles"
        yield Panel(_PASSAGES, series, note, y_range=(0.0, 1.08 * max(highest, _HILL_STABLE)), lines=(_HILL_STABLE,))


def _make_energy_panels(times: Floats, changes: Floats) -> Iterator[Panel]:
    """Yield the relative change of the energy, in a power of ten that suits its largest value."""
    largest = float(np.nanmax(changes, initial=0.0))
    if largest > 0:
        power = math.floor(math.log10(largest))
        note = f"at most {largest:.1e}; exact motion has none"
        yield Panel(f"relative change of energy, 1e{power:+d}", [Series("energy", times, changes / 10.0**power)], note)


def _compute_mean_parent_distances(
    start: InitialConditions, samples: Samples, days: Floats, inner: int, outer: int
) -> Floats:
    """Return the mean of the distances of two siblings from their parent in AU, at each of these days."""
    parent = start.parents[inner]
    nearest = np.abs(np.searchsorted(np.abs(samples.times), np.abs(days))).clip(max=samples.times.size - 1)
    positions = samples.positions[nearest]
    around = positions[:, [inner, outer]] - positions[:, [parent]]
    return np.linalg.norm(around, axis=2).mean(axis=1)


def make_transit_chart(reply: TransitReply, *, title: str) -> Chart:
    """Return a chart of minutes late or early against the best line, with a panel for each planet."""
    planets = [one for one in reply["planets"].values() if one["ttvHalfRangeMinutes"] is not None]
    first = _find_time_origin(reply)
    star = next((one["starName"] for one in planets), "")
    names = shorten_names([star, *(one["name"] for one in planets)])[1:]
    panels = [
        Panel(
            f"{name}: difference from a constant period, minutes",
            [
                Series(
                    name,
                    [transit["time"] - first for transit in planet["transits"]],
                    [late for transit in planet["transits"] if (late := transit["ocMinutes"]) is not None],
                    colour,
                    is_points=True,
                    width=2.2,
                )
            ],
            f"period {planet['period']:.6f} days, half range {planet['ttvHalfRangeMinutes']:.3g} min",
            lines=(0.0,),
            height=110,
        )
        for name, planet, colour in zip(names, planets, make_colour_ramp(len(planets)), strict=True)
    ]
    return Chart(
        panels,
        title=title,
        subtitle="Transit timing variations",
        x_label=_format_axis_label(reply),
        footer=_format_footer(reply, [one["errorSeconds"] for one in planets], "seconds"),
    )


def make_velocity_chart(reply: VelocityReply, *, title: str) -> Chart:
    """Return a chart of the velocity of the star over time."""
    samples = reply["samples"]
    times = np.asarray(samples["times"]) - _find_time_origin(reply)
    panel = Panel(
        "radial velocity, m/s, positive away from us",
        [Series(reply["starName"], times, samples["velocities"])],
        f"from {reply['least']:.4g} to {reply['greatest']:.4g} m/s",
        lines=(0.0,) if reply["least"] < 0 < reply["greatest"] else (),
        height=360,
    )
    return Chart(
        [panel],
        title=title,
        subtitle=f"Velocity of {reply['starName']}",
        x_label=_format_axis_label(reply),
        footer=_format_footer(reply, [reply["errorMetresPerSecond"]], "m/s"),
    )


def _find_time_origin(reply: Observation) -> float:
    """Return time 0 of the axis."""
    return float(reply["time"]) + (reply["epochJulianDate"] or 0.0)


def _format_axis_label(reply: Observation) -> str:
    return (
        f"days since {reply['timeScale'].split(' ')[0]} {_find_time_origin(reply):.5f}"
        if reply["epochJulianDate"]
        else "days"
    )


def _format_footer(reply: Observation, errors: Sequence[float | None], unit: str) -> str:
    if reply["method"] == "kepler":
        return "Kepler orbits without mutual attraction"
    worst = max((one for one in errors if one is not None), default=None)
    error = "error unknown" if worst is None else f"error at most {worst:.1g} {unit}"
    return f"N-body (gauss), run twice, {error}"
