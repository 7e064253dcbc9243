"""Predict transits: conjunctions before the star, and for each planet a linear ephemeris and the deviations from it.

Sky axes are those of J. N. Winn, "Exoplanet Transits and Occultations" (2010): the separation is least where the sky
position is perpendicular to the sky velocity. Light travel within the system is left out; to first order it is the same
for every transit.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np

from universe.domain.nbody.body_selection import keep_systems_of
from universe.domain.nbody.initial_conditions import InitialConditions, make_initial_conditions
from universe.domain.nbody.integration.point_masses import Gravity
from universe.domain.nbody.integration.segments import HermiteSegment
from universe.domain.nbody.measurement_replies import Transits, TransitSeries
from universe.domain.nbody.motion_pieces import (
    MotionPiece,
    Notify,
    check_positive_days,
    follow_kepler_orbits,
    integrate_main_motion,
    integrate_twin_motion,
    yield_and_report_progress,
)
from universe.domain.nbody.observed_systems import (
    TILT,
    LineOfSight,
    describe_observation,
    describe_unknown_elements,
    find_line_of_sight,
    find_planet_star_pairs,
    list_unknown_elements,
)
from universe.domain.orbits.jacobi_hierarchy import Bodies
from universe.domain.orbits.kepler_equation import Floats
from universe.domain.units_and_dates import DAY_IN_SECONDS, find_epoch_julian_date, finite_or_none

_PLACES: Final = np.linspace(0, 1, 9)
"""The fractions of a step at which the sky motion is sampled."""
_MOST_ITERATIONS: Final = 60
_PRECISION: Final = 1e-9
"""In days: a ten-thousandth of a second."""

Pair = tuple[int, int]
"""A planet and its star, by index."""


@dataclass(frozen=True, slots=True)
class Conjunction:
    """A planet in front of its star where their separation on the sky is least."""

    day: float
    """Since the start of the run."""
    separation: float
    """On the sky, in AU."""
    speed: float
    """On the sky, in AU a day."""


@dataclass(frozen=True, slots=True)
class TransitGeometry:
    """The geometry of a transit, for known radii."""

    impact: float
    """The least separation in radii of the star; not-a-number if its radius is unknown."""
    minutes: float
    """From the first contact to the last; 0 for a planet that misses the star."""
    kind: str
    """`full`, `grazing`, `none` or `unknown`."""


def find_conjunctions(
    motions: Iterable[MotionPiece], sight: LineOfSight, pairs: Sequence[Pair]
) -> list[list[Conjunction]]:
    """Return the conjunctions of each pair in the order of time."""
    found: list[list[Conjunction]] = [[] for _ in pairs]
    planets, hosts = [one for one, _ in pairs], [one for _, one in pairs]
    before: Floats | None = None
    for motion in motions:
        times = motion.begin + _PLACES * (motion.end - motion.begin)
        times[-1] = motion.end
        slopes, depths = _compute_separation_rates_and_depths(motion, times, sight, planets, hosts)
        if before is not None:
            slopes[0] = before  # rounding between two steps must not hide a change of sign
        before = slopes[-1]
        turns = (slopes[:-1] < 0) & (slopes[1:] >= 0) & (depths[1:] > 0)
        for step, index in cast("list[tuple[int, int]]", np.argwhere(turns).tolist()):
            ends = (float(times[step]), float(times[step + 1]))
            values = (float(slopes[step, index]), float(slopes[step + 1, index]))
            found[index].append(_refine_conjunction(motion, sight, pairs[index], ends, values))
    return found


def compute_transit_geometry(conjunction: Conjunction, star_radius: float, planet_radius: float) -> TransitGeometry:
    """Return the geometry of a transit along a straight path. Radii are in AU, not-a-number if unknown."""
    if math.isnan(star_radius):
        return TransitGeometry(math.nan, math.nan, "unknown")
    apart = conjunction.separation
    impact = apart / star_radius
    edge = star_radius + (0.0 if math.isnan(planet_radius) else planet_radius)
    if apart >= edge:
        return TransitGeometry(impact, 0.0, "none")
    minutes = 1440 * 2 * math.sqrt((edge - apart) * (edge + apart)) / conjunction.speed
    is_grazing = not math.isnan(planet_radius) and apart > star_radius - planet_radius
    return TransitGeometry(impact, minutes, "grazing" if is_grazing else "full")


def _compute_separation_rates_and_depths(
    motion: MotionPiece, times: Floats, sight: LineOfSight, planets: Sequence[int], hosts: Sequence[int]
) -> tuple[Floats, Floats]:
    """Return half the rate of the squared sky separation, and how far in front the planets are, of shape (k, pairs)."""
    positions, velocities = motion.compute_states(times)
    apart = positions[:, planets] - positions[:, hosts]
    speed = velocities[:, planets] - velocities[:, hosts]
    return ((apart @ sight.across.T) * (speed @ sight.across.T)).sum(axis=-1), apart @ sight.towards


def _refine_conjunction(
    motion: MotionPiece, sight: LineOfSight, pair: Pair, ends: tuple[float, float], values: tuple[float, float]
) -> Conjunction:
    """Return the conjunction between two times, by the secant method kept within them."""
    (low, high), (below, above) = ends, values
    time = low - below * (high - low) / (above - below) if above > below else low
    last, last_value = (low, below) if -below < above else (high, above)
    for _ in range(_MOST_ITERATIONS):
        value = float(
            _compute_separation_rates_and_depths(motion, np.array([time]), sight, [pair[0]], [pair[1]])[0][0, 0]
        )
        low, high = (time, high) if value < 0 else (low, time)
        slope = (value - last_value) / (time - last) if time != last else 0.0
        following = time - value / slope if slope > 0 else math.nan
        if not low <= following <= high:
            following = (low + high) / 2
        last, last_value = time, value
        time = following
        if abs(time - last) < _PRECISION:
            break
    positions, velocities = motion.compute_states(np.array([time]))
    apart = (positions[0, pair[0]] - positions[0, pair[1]]) @ sight.across.T
    speed = (velocities[0, pair[0]] - velocities[0, pair[1]]) @ sight.across.T
    return Conjunction(time, float(np.hypot(*apart)), float(np.hypot(*speed)))


_MINUTES: Final = 1440.0
_FLOOR: Final = 1e-14
"""Error of a time in periods, times the number of revolutions to the power of 1.5, below which a twin shows nothing."""
_TWIN_FACTOR: Final = 2.0
_FEWEST: Final = 3
"""The fewest transits for which deviations are reported."""


@dataclass(frozen=True, slots=True)
class Transit:
    """One transit. `number` counts the conjunctions of the run from 0; `error` is in seconds."""

    number: int
    conjunction: Conjunction
    shadow: TransitGeometry
    error: float | None


@dataclass(frozen=True, slots=True)
class LinearEphemeris:
    """The linear ephemeris of transit times: `first` + `period` x number, in days since the start."""

    first: float
    period: float


def measure_transit_times(
    universe_state: Mapping[str, Any],
    bodies: Sequence[str] | None = None,
    *,
    days: float,
    observer: tuple[float, float] | None = None,
    use_kepler_orbits: bool = False,
    notify: Notify | None = None,
) -> Transits:
    """Return the transits of the next `days` as plain data; all bodies of the system with true orbits attract.

    Raise InvalidInput for a universe without planets, without a line of sight, or for days that are not above 0.
    """
    days = check_positive_days(days)
    universe_state = keep_systems_of(universe_state, bodies)
    stars = cast("Bodies", universe_state["stars"])
    start = make_initial_conditions(universe_state, use_kepler_orbits=use_kepler_orbits)
    pairs = find_planet_star_pairs(stars, start, bodies)
    sight = find_line_of_sight(stars, start.ids[pairs[0][1]], observer)
    if use_kepler_orbits:
        found = find_conjunctions(
            yield_and_report_progress(follow_kepler_orbits(universe_state, start, days), days, notify, (0, 1)),
            sight,
            pairs,
        )
        twins = None
    else:
        found = find_conjunctions(
            yield_and_report_progress(integrate_main_motion(start, days), days, notify, (0, 0.4)), sight, pairs
        )
        twins = find_conjunctions(
            yield_and_report_progress(integrate_twin_motion(start, days), days, notify, (0.4, 0.6)), sight, pairs
        )
    epoch = find_epoch_julian_date(stars.values())
    zero = float(universe_state["time"]) + (0.0 if epoch is None else epoch)
    return {
        **describe_observation(universe_state, days, sight, epoch, use_kepler_orbits=use_kepler_orbits),
        "planets": {
            start.ids[planet]: {
                "name": start.names[planet],
                "star": start.ids[host],
                "starName": start.names[host],
                **_make_planet_reply(
                    _make_transits(found[row], twins[row] if twins else None, start, (planet, host)),
                    zero,
                    is_tilt_known=TILT not in list_unknown_elements(stars[start.ids[planet]]),
                ),
            }
            for row, (planet, host) in enumerate(pairs)
        },
        "notes": [*start.notes, *describe_unknown_elements(stars, [start.ids[planet] for planet, _ in pairs])],
    }


def fit_linear_ephemeris(numbers: Sequence[int], times: Sequence[float]) -> LinearEphemeris:
    """Return the least-squares fit of two or more times."""
    period, first = np.polyfit(np.asarray(numbers, dtype=np.float64), np.asarray(times), 1)
    return LinearEphemeris(float(first), float(period))


def _make_transits(
    found: Sequence[Conjunction], twins: Sequence[Conjunction] | None, start: InitialConditions, pair: tuple[int, int]
) -> list[Transit]:
    radii = float(start.radii[pair[1]]), float(start.radii[pair[0]])
    errors = [None] * len(found) if twins is None else _estimate_time_errors(found, twins)
    return [
        Transit(number, one, compute_transit_geometry(one, *radii), error)
        for number, (one, error) in enumerate(zip(found, errors, strict=True))
    ]


def _estimate_time_errors(found: Sequence[Conjunction], twins: Sequence[Conjunction]) -> list[float | None]:
    """Return the error of each time in seconds: twice the difference from its twin, plus rounding."""
    period = (found[-1].day - found[0].day) / (len(found) - 1) if len(found) > 1 else 0.0
    return [
        None
        if number >= len(twins)
        else DAY_IN_SECONDS * (_TWIN_FACTOR * abs(one.day - twins[number].day) + _FLOOR * period * (number + 1) ** 1.5)
        for number, one in enumerate(found)
    ]


def _make_planet_reply(events: Sequence[Transit], zero: float, *, is_tilt_known: bool) -> TransitSeries:
    transits = [one for one in events if one.shadow.kind != "none"] if is_tilt_known else []
    numbers, days = [one.number for one in transits], [one.conjunction.day for one in transits]
    line = fit_linear_ephemeris(numbers, days) if len(transits) > 1 else None
    late = (
        [_MINUTES * (day - line.first - line.period * number) for number, day in zip(numbers, days, strict=True)]
        if line is not None and len(transits) >= _FEWEST
        else None
    )
    errors = [one.error for one in transits if one.error is not None]
    impacts = [one.shadow.impact for one in events]
    minutes = float(np.mean([one.shadow.minutes for one in transits])) if transits else math.nan
    return {
        "status": _summarise_status(events) if is_tilt_known else "tilt of the orbit unknown",
        "conjunctions": len(events),
        "impactParameter": finite_or_none(min(impacts)) if impacts and is_tilt_known else None,
        "durationMinutes": finite_or_none(minutes),
        "period": line.period if line else None,
        "firstTransit": zero + line.first if line else None,
        "ttvHalfRangeMinutes": (max(late) - min(late)) / 2 if late else None,
        "errorSeconds": max(errors) if errors else None,
        "transits": [
            {
                "number": one.number,
                "time": zero + one.conjunction.day,
                "ocMinutes": late[index] if late else None,
                "impactParameter": finite_or_none(one.shadow.impact),
                "durationMinutes": finite_or_none(one.shadow.minutes),
                "kind": one.shadow.kind,
                "errorSeconds": one.error,
            }
            for index, one in enumerate(transits)
        ],
    }


def _summarise_status(events: Sequence[Transit]) -> str:
    kinds = {one.shadow.kind for one in events}
    if not kinds:
        return "no conjunction in this time"
    if "full" in kinds:
        return "transits"
    if "grazing" in kinds:
        return "grazes"
    return "radius of the star unknown" if "unknown" in kinds else "does not transit"


_PARTS: Final = np.linspace(0.0, 1.0, 17)
_FAR: Final = 1e9
"""The distance in AU at which merged bodies are put, so that they attract nothing."""


def find_distance_minima(
    masses: Floats, times: Floats, positions: Floats, velocities: Floats, first: int, second: int
) -> tuple[Floats, Floats]:
    """Return the days and distances (AU) of all local minima of the distance of two bodies at evenly spread times.

    Between samples the motion is the polynomial that has their positions, velocities and accelerations. Samples a
    quarter of the shorter period apart give distances to about a thousandth.
    """
    apart, speeds = (values[:, second] - values[:, first] for values in (positions, velocities))
    squares = (apart * apart).sum(axis=1)
    lows = np.flatnonzero((squares[1:-1] <= squares[:-2]) & (squares[1:-1] < squares[2:])) + 1
    if not lows.size:
        return np.zeros(0), np.zeros(0)
    accelerations = Gravity(masses).compute_accelerations(np.nan_to_num(positions.transpose(0, 2, 1), nan=_FAR))
    pulls = accelerations[:, :, second] - accelerations[:, :, first]
    step = float(times[1] - times[0])
    days: list[Floats] = []
    sizes: list[Floats] = []
    for begin, end in ((lows - 1, lows), (lows, lows + 1)):
        # All passages are treated as bodies of one step, because they share its length.
        motion = HermiteSegment(
            0.0, step, apart[begin].T, speeds[begin].T, apart[end].T, speeds[end].T, pulls[begin].T, pulls[end].T
        ).compute_transposed_states(step * _PARTS)[0]
        size = np.sqrt((motion * motion).sum(axis=1))
        least = size.argmin(axis=0)
        days.append(times[begin] + step * _PARTS[least])
        sizes.append(size.min(axis=0))
    is_second = sizes[1] < sizes[0]
    return np.where(is_second, days[1], days[0]), np.where(is_second, sizes[1], sizes[0])
