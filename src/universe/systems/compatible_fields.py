"""A true orbit in the words of the compatible rule: the same ellipse, run through at its mean rate.

At time 0 a body stands exactly where its true orbit has it. Later the uniform rate leads or trails the true one by
at most about twice the eccentricity (in radians), and every period brings both together again.
"""

import math
from typing import Any

import numpy as np

from universe.orbits.anomaly import solve_kepler
from universe.systems.elements import Orbit
from universe.systems.frames import Rotation, Vector, compute_plane_vectors

_DECIMALS = 10


def compute_compatible_fields(orbit: Orbit) -> dict[str, Any]:
    """Return the orbital fields of a body, in scene units of one AU and simulation seconds of one day."""
    eccentricity = orbit.eccentricity or 0.0
    inclination, node = orbit.plane or (0.0, 0.0)
    to_periapsis, to_side = (
        _convert_to_scene(vector) for vector in compute_plane_vectors(inclination, node, orbit.periapsis or 0.0)
    )
    eccentric = solve_kepler(math.radians(orbit.mean_anomaly), eccentricity).item()
    to_centre = -orbit.semi_major_axis * eccentricity * to_periapsis
    turns = _compute_turns(np.column_stack([to_periapsis, np.cross(to_side, to_periapsis), to_side]))
    return {
        "orbitalDistance": orbit.semi_major_axis,
        "orbitalSpeed": 360 / orbit.period,
        "orbitalPhase": _convert_to_degrees(eccentric) % 360,
        "semiMajorAxis": orbit.semi_major_axis,
        **({} if orbit.eccentricity is None else {"eccentricity": eccentricity}),
        **{f"orbitOffset{axis}": float(shift) + 0.0 for axis, shift in zip("XYZ", to_centre, strict=True)},
        **({f"orbitRot{axis}": turn for axis, turn in zip("XYZ", turns, strict=True)} if orbit.plane else {}),
    }


def _convert_to_scene(vector: Vector) -> Vector:
    """Convert to the scene, where Y is up: y of the reference plane is z of the scene."""
    return vector[[0, 2, 1]]


def _compute_turns(matrix: Rotation) -> tuple[float, float, float]:
    """Return the degrees about X, Y and Z that make up a rotation, applied about Z first and X last."""
    cosine = math.hypot(matrix[0, 0], matrix[0, 1])
    about_y = math.atan2(matrix[0, 2], cosine)
    if cosine < 1e-12:  # X and Z turn about the same line, so one of them does it all
        return _convert_to_degrees(math.atan2(matrix[2, 1], matrix[1, 1])), _convert_to_degrees(about_y), 0.0
    about_x = math.atan2(-matrix[1, 2], matrix[2, 2])
    about_z = math.atan2(-matrix[0, 1], matrix[0, 0])
    return _convert_to_degrees(about_x), _convert_to_degrees(about_y), _convert_to_degrees(about_z)


def _convert_to_degrees(radians: float) -> float:
    return round(math.degrees(radians), _DECIMALS) + 0.0
