"""The compatible rule for many bodies at once: ellipses run through at a uniform rate, each with its own centre."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from universe.orbits.anomaly import Floats
from universe.orbits.number_tables import read_number_table

_DEGREE: Final = math.pi / 180
_TURN: Final = 2 * math.pi

SHAPE: Final = ("eccentricity", "orbitRotX", "orbitRotY", "orbitRotZ")
_FIELDS: Final = (
    *SHAPE,
    *("orbitOffsetX", "orbitOffsetY", "orbitOffsetZ"),
    *("orbitalSpeed", "orbitalPhase"),
    *("semiMajorAxis", "orbitalDistance"),
)


class Ellipses:
    """n ellipses: their semi-major axes, shapes (n rows of SHAPE), centres (n, 3), and degrees per second and at 0."""

    def __init__(self, axes: Floats, shapes: Floats, centres: Floats, speeds: Floats, phases: Floats) -> None:
        first, second = _compute_plane_vectors(shapes[:, 1:] * _DEGREE)
        self._second = second * (axes * np.sqrt(1 - shapes[:, 0] ** 2))
        self._first = first * axes
        self._centres = centres.T.copy()
        self._speeds = speeds
        self._phases = phases * _DEGREE

    def positions(self, t: float) -> Floats:
        """Return the positions at time `t` as an (n, 3) array."""
        angle = t * self._speeds * _DEGREE + self._phases
        return (self._first * np.cos(angle) + self._second * np.sin(angle) + self._centres).T

    def path(self, index: int, segments: int) -> Floats:
        """Return one ellipse as (segments + 1, 3) points."""
        around = np.linspace(0, _TURN, segments + 1)
        flat = np.outer(np.cos(around), self._first[:, index]) + np.outer(np.sin(around), self._second[:, index])
        return flat + self._centres[:, index]


def read_ellipses(bodies: Sequence[Mapping[str, Any]]) -> tuple[Ellipses, dict[int, str]]:
    """Return the ellipses of bodies by the compatible rule, and for bodies without one the reason, by index."""
    found, faults = read_number_table(bodies, _FIELDS)
    eccentricity, axes, distances = found[:, 0], found[:, 9], found[:, 10]
    axes = np.where(np.isnan(axes), distances, axes)
    # An orbital distance of exactly 0 is no orbit at all: axis, tilt and offset do not count.
    no_orbit = distances == 0
    found[no_orbit] = axes[no_orbit] = 0.0
    too_large = np.flatnonzero(np.abs(eccentricity) > 1).tolist()
    faults |= {place: describe_open_ellipse(eccentricity[place]) for place in too_large}
    given, axes = np.nan_to_num(found, nan=0.0), np.nan_to_num(axes, nan=0.0)
    return Ellipses(axes, given[:, :4], given[:, 4:7], given[:, 7], given[:, 8]), faults


def describe_open_ellipse(eccentricity: float) -> str:
    return f"Its eccentricity is {eccentricity}, and no ellipse has one above 1."


def _compute_plane_vectors(turns: Floats) -> tuple[Floats, Floats]:
    """Return the unit vectors of x and z, rotated about Z, then Y, then X; each of shape (3, n)."""
    (cos_x, cos_y, cos_z), (sin_x, sin_y, sin_z) = np.cos(turns).T, np.sin(turns).T
    first = (cos_z * cos_y, sin_z * cos_x + cos_z * sin_y * sin_x, sin_z * sin_x - cos_z * sin_y * cos_x)
    second = (sin_y, -cos_y * sin_x, cos_y * cos_x)
    return np.array(first), np.array(second)
