"""Osculating elements of many bodies at many times at once, from states relative to the centres of their orbits."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from universe.nbody.initial_conditions import InitialConditions
from universe.orbits.kepler_equation import Floats
from universe.orbits.units import G

_PARABOLIC: Final = 1e-12
"""The total energy, relative to the potential energy, below which the orbit counts as a parabola."""
_FLAT: Final = 1e-13
"""Below this sine of the inclination the node has no direction and is set to 0."""


@dataclass(frozen=True, slots=True)
class OsculatingElements:
    """Elements in arrays of one shape: AU and degrees, in the reference frame.

    A hyperbola has a negative semi-major axis, and a mean anomaly that is not within one turn. The node of an orbit in
    the reference plane is 0. All elements of a body without a centre are not-a-number.
    """

    semi_major_axis: Floats
    eccentricity: Floats
    inclination: Floats
    longitude_of_ascending_node: Floats
    argument_of_periapsis: Floats
    true_anomaly: Floats
    mean_anomaly: Floats
    mean_longitude: Floats


def compute_jacobi_elements(start: InitialConditions, positions: Floats, velocities: Floats) -> OsculatingElements:
    """Return the Jacobi elements of all bodies of a run, from states of shape (…, n, 3) in the order of the start.

    The elements of the root are not-a-number.
    """
    return compute_osculating_elements(
        start.relative_matrix @ positions, start.relative_matrix @ velocities, G * start.orbited_mass
    )


@np.errstate(invalid="ignore", divide="ignore", over="ignore")
def compute_osculating_elements(positions: ArrayLike, velocities: ArrayLike, mu: ArrayLike) -> OsculatingElements:
    """Return the elements of relative states of shape (…, 3), in AU and AU a day, for mu = G times the mass orbited."""
    x, v = np.asarray(positions, dtype=np.float64), np.asarray(velocities, dtype=np.float64)
    attraction = np.where(np.asarray(mu, dtype=np.float64) > 0, mu, np.nan)
    distance, square = np.sqrt(_compute_dot_products(x, x)), _compute_dot_products(v, v)
    momentum = np.cross(x, v)
    towards_pole, across = momentum[..., 2], np.hypot(momentum[..., 0], momentum[..., 1])
    size = np.sqrt(_compute_dot_products(momentum, momentum))
    node = np.where(across > _FLAT * size, np.arctan2(momentum[..., 0], -momentum[..., 1]), 0.0)
    bound = 2 - square * distance / attraction
    axis = distance / np.where(np.abs(bound) <= _PARABOLIC, 0.0, bound)
    # e cos f and e sin f by the radial motion: accurate for circles, where the vector to the periapsis is noise.
    along, radial = (
        size * size / (attraction * distance) - 1,
        _compute_dot_products(x, v) * size / (attraction * distance),
    )
    eccentricity, true = np.hypot(along, radial), np.arctan2(radial, along)
    latitude = _compute_argument_of_latitude(x, momentum / size[..., None], node)
    periapsis = latitude - true
    mean = _compute_mean_anomaly(true, eccentricity)
    closed = eccentricity < 1
    longitude = node + periapsis + mean
    return OsculatingElements(
        axis,
        eccentricity,
        np.degrees(np.arctan2(across, towards_pole) + 0 * attraction),
        np.degrees(node + 0 * attraction) % 360,
        np.degrees(periapsis) % 360,
        np.degrees(true) % 360,
        np.where(closed, np.degrees(mean) % 360, np.degrees(mean)),
        np.where(closed, np.degrees(longitude) % 360, np.degrees(longitude)),
    )


def _compute_argument_of_latitude(x: Floats, pole: Floats, node: Floats) -> Floats:
    """Return the angle from the ascending node to the body along its motion, in radians."""
    to_node = np.stack([np.cos(node), np.sin(node), np.zeros_like(node)], axis=-1)
    return np.arctan2(_compute_dot_products(x, np.cross(pole, to_node)), _compute_dot_products(x, to_node))


def _compute_mean_anomaly(true: Floats, eccentricity: Floats) -> Floats:
    half = true / 2
    closed = 2 * np.arctan2(
        np.sqrt(np.maximum(1 - eccentricity, 0)) * np.sin(half), np.sqrt(1 + eccentricity) * np.cos(half)
    )
    open_ = 2 * np.arctanh(np.sqrt((eccentricity - 1) / (eccentricity + 1)) * np.tan(half))
    return np.where(eccentricity < 1, closed - eccentricity * np.sin(closed), eccentricity * np.sinh(open_) - open_)


def _compute_dot_products(first: Floats, second: Floats) -> Floats:
    return np.einsum("...i,...i->...", first, second)
