"""Osculating elements are those that a state came from, for ellipses and hyperbolas, many at once."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from universe.domain.nbody.osculating_orbits import compute_osculating_elements
from universe.domain.orbits.kepler import Elements

MU = 0.0002959122082855911
ANGLES = st.floats(0, 359.9)


def period(axis: float) -> float:
    return 2 * math.pi * math.sqrt(abs(axis) ** 3 / MU)


def off(found: float, expected: float) -> float:
    return abs((found - expected + 180) % 360 - 180)


@settings(max_examples=200, deadline=None)
@given(
    st.floats(0.01, 100), st.floats(1e-3, 0.99), st.floats(0.1, 179), ANGLES, ANGLES, ANGLES
)  # fmt: skip
def test_an_ellipse_gives_its_elements_back(
    axis: float, e: float, tilt: float, node: float, periapsis: float, mean: float
) -> None:
    motion = Elements(
        axis,
        e,
        period=period(axis),
        inclination=tilt,
        longitude_of_ascending_node=node,
        argument_of_periapsis=periapsis,
        mean_anomaly=mean,
    )
    found = compute_osculating_elements(
        motion.compute_positions(0.0)[:, [0, 2, 1]], motion.compute_velocities(0.0)[:, [0, 2, 1]], MU
    )
    assert found.semi_major_axis[0] == pytest.approx(axis, rel=1e-9)
    assert found.eccentricity[0] == pytest.approx(e, abs=1e-11)
    assert found.inclination[0] == pytest.approx(tilt, abs=1e-6)
    assert off(found.longitude_of_ascending_node[0], node) < 1e-8
    assert off(found.mean_longitude[0], node + periapsis + mean) < 1e-6
    assert off(found.mean_anomaly[0] + found.argument_of_periapsis[0], periapsis + mean) < 1e-6


@settings(max_examples=200, deadline=None)
@given(st.floats(0.01, 10), st.floats(1.001, 20), ANGLES, st.floats(-500, 500))
def test_a_hyperbola_gives_its_elements_back(nearest: float, e: float, periapsis: float, days: float) -> None:
    axis = nearest / (1 - e)
    motion = Elements(axis, e, period=period(axis), inclination=30, argument_of_periapsis=periapsis)
    found = compute_osculating_elements(
        motion.compute_positions(days)[0][[0, 2, 1]], motion.compute_velocities(days)[0][[0, 2, 1]], MU
    )
    assert found.semi_major_axis == pytest.approx(axis, rel=1e-7)
    assert found.eccentricity == pytest.approx(e, rel=1e-7)
    assert off(float(found.argument_of_periapsis), periapsis) < 1e-4
    assert found.mean_anomaly == pytest.approx(360 * days / period(axis), rel=1e-4, abs=1e-4)


def test_a_circle_in_the_reference_plane_has_a_longitude_and_no_more() -> None:
    speed = math.sqrt(MU)
    found = compute_osculating_elements([0.0, 1.0, 0.0], [-speed, 0.0, 0.0], MU)
    assert found.mean_longitude == pytest.approx(90)
    assert found.inclination == 0
    assert found.longitude_of_ascending_node == 0
    assert found.eccentricity == pytest.approx(0, abs=1e-15)


def test_arrays_of_any_shape_are_taken_and_no_centre_gives_not_a_number() -> None:
    x = np.zeros((5, 2, 3))
    x[..., 0] = 1.0
    v = np.zeros((5, 2, 3))
    v[..., 1] = math.sqrt(MU)
    found = compute_osculating_elements(x, v, [MU, 0.0])
    assert found.semi_major_axis.shape == found.mean_longitude.shape == (5, 2)
    assert found.semi_major_axis[:, 0] == pytest.approx(1.0)
    assert np.isnan(found.semi_major_axis[:, 1]).all()
    assert np.isnan(found.inclination[:, 1]).all()


def test_a_parabola_has_an_infinite_axis_and_is_not_bound_or_unbound_by_rounding() -> None:
    motion = Elements(math.inf, 1.0, period=period(0.5), periapsis_distance=0.5, inclination=30)
    for days in (-300.0, -7.0, 0.0, 11.0, 500.0):
        found = compute_osculating_elements(
            motion.compute_positions(days)[0][[0, 2, 1]], motion.compute_velocities(days)[0][[0, 2, 1]], MU
        )
        assert np.isposinf(found.semi_major_axis)
        assert found.eccentricity == pytest.approx(1, abs=1e-12)
        assert found.inclination == pytest.approx(30)
