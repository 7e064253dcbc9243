"""Compute the radial velocity of a star, and the share of each planet.

Positive is away from the observer. The velocity is relative to the barycentre of the bodies of the universe. The
semi-amplitude of a planet is that of C. Lovis and D. Fischer, "Radial Velocity Techniques for Exoplanets" (2010):
K = (2 pi G / P)^(1/3) m sin i / (M + m)^(2/3) / sqrt(1 - e^2).
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

import numpy as np

from universe.domain.nbody.body_selection import keep_systems_of
from universe.domain.nbody.initial_conditions import InitialConditions, make_initial_conditions
from universe.domain.nbody.integration.point_masses import compute_subsystem_masses
from universe.domain.nbody.measurement_replies import PlanetSignal, Velocities
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
    compute_sky_inclinations,
    describe_observation,
    describe_unknown_elements,
    find_line_of_sight,
    find_star_index,
    list_unknown_elements,
)
from universe.domain.nbody.osculating_orbits import compute_jacobi_elements
from universe.domain.orbits.jacobi_hierarchy import Bodies
from universe.domain.orbits.kepler_equation import Floats
from universe.domain.units_and_dates import AU_IN_METRES, DAY_IN_SECONDS, G, compute_period, find_epoch_julian_date
from uraniborg.kernel.errors import InvalidInput

METRES_PER_SECOND: Final = AU_IN_METRES / DAY_IN_SECONDS
"""Of one AU a day."""
_MOST_SAMPLES: Final = 1_000_000
_TWIN_FACTOR: Final = 2.0


def measure_radial_velocities(
    universe_state: Mapping[str, Any],
    star: str | None = None,
    *,
    days: float,
    samples: int,
    observer: tuple[float, float] | None = None,
    use_kepler_orbits: bool = False,
    notify: Notify | None = None,
) -> Velocities:
    """Return the radial velocity of a star at evenly spread times of the next `days`, as plain data.

    Raise InvalidInput for a universe without a star or a line of sight, and for days or samples out of range.
    """
    days = check_positive_days(days)
    if not 2 <= samples <= _MOST_SAMPLES:
        raise InvalidInput(
            f"samples must be between 2 and {_MOST_SAMPLES}, got {samples}.",
            hint="Give --samples 200, for example.",
            argument="samples",
            allowed=f"2 to {_MOST_SAMPLES}",
        )
    universe_state = keep_systems_of(universe_state, None if star is None else [star])
    stars = cast("Bodies", universe_state["stars"])
    start = make_initial_conditions(universe_state, use_kepler_orbits=use_kepler_orbits)
    index = find_star_index(stars, start, star)
    sight = find_line_of_sight(stars, start.ids[index], observer)
    times = np.linspace(0, days, samples)
    error = None
    if use_kepler_orbits:
        speeds = _sample_radial_velocity(
            yield_and_report_progress(follow_kepler_orbits(universe_state, start, days), days, notify, (0, 1)),
            times,
            index,
            sight,
        )
    else:
        speeds = _sample_radial_velocity(
            yield_and_report_progress(integrate_main_motion(start, days), days, notify, (0, 0.4)), times, index, sight
        )
        twin = _sample_radial_velocity(
            yield_and_report_progress(integrate_twin_motion(start, days), days, notify, (0.4, 0.6)), times, index, sight
        )
        error = _TWIN_FACTOR * float(np.abs(speeds - twin).max())
    epoch = find_epoch_julian_date(stars.values())
    return {
        **describe_observation(universe_state, days, sight, epoch, use_kepler_orbits=use_kepler_orbits),
        "star": start.ids[index],
        "starName": start.names[index],
        "unit": "m/s",
        "least": float(speeds.min()),
        "greatest": float(speeds.max()),
        "errorMetresPerSecond": error,
        "planets": compute_semi_amplitudes(stars, start, index, sight),
        "samples": {
            "times": (times + float(universe_state["time"]) + (epoch or 0.0)).tolist(),
            "velocities": speeds.tolist(),
        },
        "notes": [
            *start.notes,
            *describe_unknown_elements(stars, [key for key in start.ids if key != start.ids[index]]),
        ],
    }


def compute_semi_amplitudes(
    stars: Bodies, start: InitialConditions, star: int, sight: LineOfSight
) -> dict[str, PlanetSignal]:
    """Return the period, mass times sin i, eccentricity and semi-amplitude of each body that orbits a star.

    Where the tilt is unknown, the mass counts as the least one: sin i is 1 and the inclination None.
    """
    found: dict[str, PlanetSignal] = {}
    apart, speed = start.relative_matrix @ start.positions, start.relative_matrix @ start.velocities
    elements = compute_jacobi_elements(start, start.positions, start.velocities)
    tilts = compute_sky_inclinations(sight, apart, speed)
    # A body moves with its moons: all the mass of the subsystem pulls at the star.
    masses = compute_subsystem_masses(start.masses, start.parents)
    for index, parent in enumerate(start.parents):
        if parent != star or not elements.eccentricity[index] < 1:
            continue
        period = compute_period(float(elements.semi_major_axis[index]), float(start.orbited_mass[index]))
        mass = float(masses[index])
        tilt = None if TILT in list_unknown_elements(stars[start.ids[index]]) else float(tilts[index])
        e = float(elements.eccentricity[index])
        least_mass = mass if tilt is None else mass * math.sin(math.radians(tilt))
        found[start.ids[index]] = {
            "name": start.names[index],
            "period": period,
            "eccentricity": e,
            "inclination": tilt,
            "massSinI": least_mass,
            "semiAmplitude": compute_semi_amplitude(period, least_mass, float(start.orbited_mass[index]), e),
        }
    return found


def compute_semi_amplitude(period: float, mass_sin_i: float, total_mass: float, eccentricity: float) -> float:
    """Return the semi-amplitude in m/s from days, solar masses of the planet and of all that is inside its orbit."""
    speed = math.cbrt(2 * math.pi * G / period) * mass_sin_i / math.cbrt(total_mass) ** 2
    return METRES_PER_SECOND * speed / math.sqrt((1 - eccentricity) * (1 + eccentricity))


def _sample_radial_velocity(motions: Iterable[MotionPiece], times: Floats, index: int, sight: LineOfSight) -> Floats:
    """Return the speed away from the observer in m/s."""
    speeds = np.empty(times.size)
    done = 0
    for motion in motions:
        following = int(np.searchsorted(times, motion.end, side="right"))
        if following > done:
            velocities = motion.compute_states(times[done:following])[1][:, index]
            speeds[done:following] = -METRES_PER_SECOND * (velocities @ sight.towards)
            done = following
    return speeds
