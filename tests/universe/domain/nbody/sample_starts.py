"""Starts of N-body runs that tests share."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from universe.domain.nbody.initial_conditions import InitialConditions
from universe.domain.orbits.kepler import Elements
from universe.domain.orbits.kepler_equation import Floats
from universe.domain.units_and_dates import compute_period

YEAR = compute_period(1.0, 1.0)


def start_from(
    masses: ArrayLike,
    positions: ArrayLike,
    velocities: ArrayLike,
    parents: Sequence[int],
    *,
    radii: ArrayLike | None = None,
) -> InitialConditions:
    """Return bodies a, b, c … about their barycentre, each in orbit about its parent alone."""
    weights = np.asarray(masses, dtype=np.float64)
    x, v = np.asarray(positions, dtype=np.float64), np.asarray(velocities, dtype=np.float64)
    relative, orbited = np.zeros((weights.size, weights.size)), np.zeros(weights.size)
    for body, parent in enumerate(parents):
        if parent >= 0:
            relative[body, body], relative[body, parent] = 1.0, -1.0
            orbited[body] = weights[body] + weights[parent]
    ids = tuple("abcdefghijklmnopqrstuvwxyz"[: weights.size])
    return InitialConditions(
        ids,
        ids,
        weights,
        x - weights @ x / weights.sum(),
        v - weights @ v / weights.sum(),
        np.full(weights.size, np.nan) if radii is None else np.asarray(radii, dtype=np.float64),
        relative,
        orbited,
        tuple(parents),
        (),
    )


def orbit(eccentricity: float, mass: float = 0.0, *, axis: float = 1.0, anomaly: float = 40.0) -> Elements:
    """Return the orbit of a planet of this mass about a star of one solar mass."""
    period = compute_period(axis, 1 + mass)
    return Elements(axis, eccentricity, period=period, inclination=20, mean_anomaly=anomaly)


def pair(
    eccentricity: float = 0.0, mass: float = 0.0, *, axis: float = 1.0, anomaly: float = 40.0
) -> InitialConditions:
    """Return a star and a planet."""
    elements = orbit(eccentricity, mass, axis=axis, anomaly=anomaly)
    x, v = (
        np.vstack([np.zeros(3), elements.compute_positions(0.0)]),
        np.vstack([np.zeros(3), elements.compute_velocities(0.0)]),
    )
    return start_from([1.0, mass], x, v, [-1, 0])


def giants() -> InitialConditions:
    """Return a star with four heavy planets on tilted, eccentric orbits."""
    axes = (5.2, 9.6, 19.2, 30.1)
    orbits = Elements(
        axes,
        [0.05, 0.06, 0.05, 0.01],
        period=[compute_period(axis, 1.0) for axis in axes],
        inclination=[1.3, 2.5, 0.8, 1.8],
        longitude_of_ascending_node=[100, 113, 74, 131],
        mean_anomaly=[20, 317, 142, 256],
    )
    x, v = (
        np.vstack([np.zeros(3), orbits.compute_positions(0.0)]),
        np.vstack([np.zeros(3), orbits.compute_velocities(0.0)]),
    )
    return start_from([1.0, 9.5e-4, 2.9e-4, 4.4e-5, 5.2e-5], x, v, [-1, 0, 0, 0, 0])


def with_radii(start: InitialConditions, *radii: float) -> InitialConditions:
    """Return the same bodies with these radii in AU."""
    return replace(start, radii=np.array(radii))


def relative_position(positions: Floats, body: int = 1) -> Floats:
    """Return where a body is relative to the first one, of positions (n, 3)."""
    return positions[body] - positions[0]
