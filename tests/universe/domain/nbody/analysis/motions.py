"""Systems and their motion for the tests of answers."""

from dataclasses import replace
from typing import Any

import numpy as np

from universe.domain.nbody.initial_conditions import InitialConditions, make_initial_conditions
from universe.domain.nbody.integration.methods import integrate
from universe.domain.nbody.osculating_orbits import OrbitHistory, compute_orbit_history
from universe.domain.nbody.runs import RunSamples
from universe.domain.orbits.kepler_blocks import read_elements
from universe.domain.systems import load_system
from universe.domain.units_and_dates import compute_semi_major_axis


def trappist_1(h_times: float = 1.0) -> InitialConditions:
    """Return TRAPPIST-1 (Agol et al. 2021) with planet h so many times as heavy."""
    plain = load_system("trappist-1")
    plain["stars"]["trappist-1-h"]["mass"] *= h_times
    return make_initial_conditions(plain)


def solar_system(*ids: str) -> InitialConditions:
    return make_initial_conditions(load_system("solar-system"), ids)


def neptune_and_pluto() -> InitialConditions:
    """Return Neptune and Pluto about one body that has the mass and the barycentre of the Sun and the other giants."""
    small = solar_system("sun", "neptune", "pluto")
    large = solar_system("sun", "jupiter", "saturn", "uranus", "neptune", "pluto")
    inside = large.masses[:4] / large.masses[:4].sum()
    masses = np.array([large.masses[:4].sum(), *large.masses[4:]])
    states = [np.stack([inside @ one[:4], *one[4:]]) for one in (large.positions, large.velocities)]
    relative = small.relative_matrix.copy()
    relative[2, :2] = -masses[:2] / masses[:2].sum()
    orbited = np.array([0.0, masses[:2].sum(), masses.sum()])
    return replace(
        small, masses=masses, positions=states[0], velocities=states[1], relative_matrix=relative, orbited_mass=orbited
    )


def planets(
    periods: list[float], *, mass: float = 0.0, eccentricity: float = 0.02, phase: float = 100.0
) -> dict[str, Any]:
    """Return the state of a star of one solar mass with planets of these periods in days."""
    stars: dict[str, Any] = {"star": {"name": "Star", "parentId": None, "mass": 1.0}}
    for index, period in enumerate(periods):
        stars[f"p{index}"] = {
            "name": f"Planet {index}",
            "parentId": "star",
            "mass": mass,
            "kepler": {
                "units": "astronomical",
                "derived": "semiMajorAxis",
                "semiMajorAxis": compute_semi_major_axis(period, 1 + (index + 1) * mass),
                "period": period,
                "eccentricity": eccentricity,
                "inclination": 0.5 * index,
                "longitudeOfAscendingNode": 40.0 * index,
                "argumentOfPeriapsis": 70.0 * index,
                "meanAnomaly": phase * index % 360,
                "epoch": 0.0,
            },
        }
    return {"stars": stars, "time": 0.0}


def sample_run(start: InitialConditions, days: float, count: int) -> RunSamples:
    """Return states at evenly spread times of an integration."""
    times = np.linspace(0.0, days, count)
    places, speeds, done = [start.positions[None]], [start.velocities[None]], 1
    for segment in integrate(start.masses, start.positions, start.velocities, days):
        until = int(np.searchsorted(times, segment.end, side="right"))
        if until > done:
            positions, velocities = segment.compute_states(times[done:until])
            places.append(positions)
            speeds.append(velocities)
            done = until
    return RunSamples(times, np.concatenate(places), np.concatenate(speeds))


def compute_history(start: InitialConditions, days: float, count: int) -> OrbitHistory:
    return compute_orbit_history(start, sample_run(start, days, count))


def compute_kepler_history(plain: dict[str, Any], days: float, count: int) -> OrbitHistory:
    """Return the motion of planets without mass, which is Kepler's."""
    start = make_initial_conditions(plain)
    orbits = read_elements(plain["stars"], start.ids[1:])
    times = np.linspace(0.0, days, count)
    states = np.zeros((2, count, len(start.ids), 3))
    for at, time in enumerate(times.tolist()):
        states[0, at, 1:] = orbits.compute_positions(time)[:, [0, 2, 1]]
        states[1, at, 1:] = orbits.compute_velocities(time)[:, [0, 2, 1]]
    return compute_orbit_history(start, RunSamples(times, states[0], states[1]))
