"""Orient orbits: angles, directions, and rotations between frames.

All frames are right-handed with z as the pole. The scene's frame has the reference plane of its system as the
(x, y) plane; y and z are exchanged only in `compute_scene_orbit_fields`, because Y is up in the scene.
"""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Rotation = NDArray[np.float64]
"""A matrix whose product with a direction in one frame is that direction in another."""

_OBLIQUITY: Final = 84381.448 / 3600
"""Of the ecliptic of J2000 to the equator, in degrees (IAU 1976), as the elements of the planets take it."""


def compute_plane_vectors(inclination: float, node: float, periapsis: float) -> tuple[Vector, Vector]:
    """Return unit vectors of an orbit from its angles in degrees: to the periapsis, and 90 degrees ahead."""
    orbit = _make_z_rotation(node) @ _make_x_rotation(inclination) @ _make_z_rotation(periapsis)
    return orbit[:, 0], orbit[:, 1]


def compute_orbit_angles(to_periapsis: Vector, to_side: Vector) -> tuple[float, float, float]:
    """Return inclination, longitude of the node and argument of the periapsis in degrees.

    The node of a flat orbit is 0.
    """
    x, y, z = np.cross(to_periapsis, to_side)
    sine = math.hypot(x, y)
    node = math.atan2(x, -y) if sine > 1e-12 else 0.0
    to_node = np.array([math.cos(node), math.sin(node), 0.0])
    periapsis = math.atan2(-(to_side @ to_node), to_periapsis @ to_node)
    return math.degrees(math.atan2(sine, z)), math.degrees(node) % 360, math.degrees(periapsis) % 360


def rotate_orbit_angles(
    frame: Rotation, inclination: float, node: float, periapsis: float
) -> tuple[float, float, float]:
    """Return the angles of an orbit in the new frame from its angles in the old frame."""
    to_periapsis, to_side = compute_plane_vectors(inclination, node, periapsis)
    return compute_orbit_angles(frame @ to_periapsis, frame @ to_side)


def make_sky_rotation(inclination: float, node: float) -> Rotation:
    """Return the rotation from the plane of the sky to the plane with this inclination and node."""
    return _make_x_rotation(-inclination) @ _make_z_rotation(-node)


def make_equator_rotation(pole_ra: float, pole_dec: float) -> Rotation:
    """Return the rotation from a body's equator, counted from its node on the Earth's, to the ecliptic of J2000."""
    return _make_x_rotation(-_OBLIQUITY) @ _make_z_rotation(pole_ra + 90) @ _make_x_rotation(90 - pole_dec)


def _make_x_rotation(degrees: float) -> Rotation:
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return np.array([[1.0, 0.0, 0.0], [0.0, cos, -sin], [0.0, sin, cos]])


def _make_z_rotation(degrees: float) -> Rotation:
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
