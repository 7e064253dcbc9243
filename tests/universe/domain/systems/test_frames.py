"""Rotations between frames keep the shape of orbits."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from universe.domain.systems.stated_orbit_conversion import (
    compute_orbit_angles,
    compute_plane_vectors,
    make_equator_rotation,
    make_sky_rotation,
    rotate_orbit_angles,
)

ANGLE = st.floats(0, 359.999)
TILT = st.floats(0.01, 179.99)


@given(TILT, ANGLE, ANGLE)
def test_angles_are_read_back_from_the_directions_they_give(tilt: float, node: float, periapsis: float) -> None:
    found = compute_orbit_angles(*compute_plane_vectors(tilt, node, periapsis))
    for one, other in zip(found, (tilt, node, periapsis), strict=True):
        assert abs((one - other + 180) % 360 - 180) < 1e-6


@pytest.mark.parametrize("tilt", [0.0, 180.0])
@given(periapsis=ANGLE, node=ANGLE)
def test_a_flat_orbit_has_its_node_at_0_and_points_where_it_did(tilt: float, periapsis: float, node: float) -> None:
    before = compute_plane_vectors(tilt, node, periapsis)
    found = compute_orbit_angles(*before)
    assert found[1] == 0
    for one, other in zip(compute_plane_vectors(*found), before, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)


@given(TILT, ANGLE)
def test_the_plane_that_the_sky_is_turned_into_is_flat(tilt: float, node: float) -> None:
    found = rotate_orbit_angles(make_sky_rotation(tilt, node), tilt, node, 30.0)
    assert found[0] == pytest.approx(0, abs=1e-6)
    assert (found[1] + found[2]) % 360 == pytest.approx(30, abs=1e-6)


def test_an_edge_on_orbit_seen_from_its_own_plane_has_us_a_quarter_turn_from_the_node() -> None:
    towards_us = make_sky_rotation(90.0, 0.0) @ np.array([0.0, 0.0, 1.0])
    np.testing.assert_allclose(towards_us, [0, 1, 0], atol=1e-12)


def test_the_earths_own_equator_is_tilted_by_the_obliquity() -> None:
    inclination, node, _ = rotate_orbit_angles(make_equator_rotation(0.0, 90.0), 0.0, 0.0, 0.0)
    assert inclination == pytest.approx(23.43929, abs=1e-4)
    assert node == pytest.approx(180, abs=1e-9)


@given(st.floats(0, 360), st.floats(-90, 90))
def test_turning_is_a_rotation(ra: float, dec: float) -> None:
    frame = make_equator_rotation(ra, dec)
    np.testing.assert_allclose(frame @ frame.T, np.eye(3), atol=1e-12)
    assert math.isclose(float(np.linalg.det(frame)), 1, abs_tol=1e-9)
