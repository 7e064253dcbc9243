"""Transits: conjunctions of planets in front of their stars, and the geometry of the transit.

Sky axes are those of J. N. Winn, "Exoplanet Transits and Occultations" (2010): the separation is least where the sky
position is perpendicular to the sky velocity. Light travel within the system is left out; to first order it is the
same for every transit.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, cast

import numpy as np

from universe.nbody.line_of_sight import LineOfSight
from universe.nbody.motion_pieces import MotionPiece
from universe.orbits.kepler_equation import Floats

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
