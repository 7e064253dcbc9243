"""Orbits of every eccentricity obey Kepler's equation and keep energy and angular momentum, without a seam at 1."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from universe.domain.orbits.kepler import Elements
from universe.domain.orbits.kepler_equation import compute_stumpff_functions, solve_universal_anomaly
from uraniborg.kernel.errors import InvalidInput

NEAREST = st.floats(1e-3, 1e3)
TIMES = st.floats(-1e4, 1e4).filter(lambda t: t == 0 or abs(t) > 1e-6)
OPEN = st.one_of(st.just(1.0), st.floats(1.0, 50.0), st.floats(1.0, 1.0001))
NEAR_1 = st.one_of(st.floats(0.9999, 1.0001), st.floats(0.991, 1.2))


def conic(q: float, e: float, mu: float = 1.0, **angles: float) -> Elements:
    axis = q if e == 1 else q / abs(1 - e)
    stated = math.nan if e == 1 else q / (1 - e)
    return Elements(stated, e, period=2 * math.pi * math.sqrt(axis**3 / mu), periapsis_distance=q, **angles)


@settings(max_examples=300, deadline=None)
@given(NEAREST, st.floats(1.0001, 50.0), TIMES)
def test_hyperbolas_obey_keplers_equation(q: float, e: float, t: float) -> None:
    axis = q / (e - 1)
    s = solve_universal_anomaly(np.array([q]), np.array([e]), np.array([t]))[0]
    anomaly = s / math.sqrt(axis)
    mean = t / axis**1.5
    rounding = abs(e * math.sinh(anomaly)) + abs(anomaly)
    assert e * math.sinh(anomaly) - anomaly == pytest.approx(mean, abs=4e-14 * max(rounding, 1e-300))


@settings(max_examples=300, deadline=None)
@given(NEAREST, st.one_of(OPEN, NEAR_1), TIMES)
def test_energy_and_angular_momentum_are_conserved(q: float, e: float, t: float) -> None:
    orbit = conic(q, e, inclination=40, longitude_of_ascending_node=70, argument_of_periapsis=200)
    position, velocity = orbit.compute_positions(t)[0], orbit.compute_velocities(t)[0]
    distance, square = np.linalg.norm(position), velocity @ velocity
    momentum, rounding = np.linalg.norm(np.cross(position, velocity)), float(distance) * math.sqrt(square)
    assert momentum == pytest.approx(math.sqrt(q * (1 + e)), rel=1e-12, abs=4e-15 * rounding)
    assert square / 2 - 1 / distance == pytest.approx((e - 1) / (2 * q), abs=1e-13 * (square / 2 + 1 / distance))
    assert distance >= q * (1 - 1e-14)


@settings(max_examples=200, deadline=None)
@given(st.floats(0.1, 10), st.floats(-300, 300))
def test_nothing_jumps_where_an_ellipse_becomes_a_hyperbola(q: float, t: float) -> None:
    states = [
        (conic(q, e).compute_positions(t)[0], conic(q, e).compute_velocities(t)[0]) for e in (1 - 1e-10, 1.0, 1 + 1e-10)
    ]
    for place, speed in (states[0], states[2]):
        assert place == pytest.approx(states[1][0], rel=1e-7, abs=1e-7 * q)
        assert speed == pytest.approx(states[1][1], rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("e", [0.9901, 0.999, 0.9999, 0.99999])
def test_slender_ellipses_agree_with_keplers_equation_solved_slowly(e: float) -> None:
    for t in (0.001, 0.3, 7.0, 300.0, -40.0):
        place = conic(1.0, e).compute_positions(t)[0]
        axis = 1 / (1 - e)
        low, high = -math.pi, math.pi
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if middle - e * math.sin(middle) < t / axis**1.5 else (low, middle)
        expected = [axis * (math.cos(low) - e), 0.0, axis * math.sqrt(1 - e * e) * math.sin(low)]
        assert place == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_a_parabola_obeys_barkers_equation() -> None:
    for t in (0.0, 0.5, 20.0, -3.0, 1e5):
        x, _, z = conic(2.0, 1.0).compute_positions(t)[0]
        half = math.tan(math.atan2(z, x) / 2)
        assert half + half**3 / 3 == pytest.approx(t / math.sqrt(2 * 2.0**3), rel=1e-12, abs=1e-14)


def test_stumpff_functions_join_at_the_edge_of_their_series() -> None:
    for z in (1.0, -1.0):
        inside, outside = (
            compute_stumpff_functions(np.array([z * (1 - 1e-12)])),
            compute_stumpff_functions(np.array([z * (1 + 1e-12)])),
        )
        for one, other in zip(inside, outside, strict=True):
            assert one == pytest.approx(other, rel=1e-11)
    assert [float(one[0]) for one in compute_stumpff_functions(np.zeros(1))] == pytest.approx([1, 1, 1 / 2, 1 / 6])


def test_open_and_closed_orbits_stand_side_by_side() -> None:
    mixed = Elements(
        [1.0, -2.0, math.nan, 1.0], [0.1, 1.5, 1.0, 0.995], period=[365.0, 900.0, 365.0, 365.0],
        periapsis_distance=[math.nan, math.nan, 1.0, math.nan],
    )  # fmt: skip
    alone = [
        Elements(1.0, 0.1, period=365.0),
        Elements(-2.0, 1.5, period=900.0),
        Elements(math.nan, 1.0, period=365.0, periapsis_distance=1.0),
        Elements(1.0, 0.995, period=365.0),
    ]
    for t in (0.0, 100.0, -1e6):
        assert mixed.compute_positions(t).tolist() == [one.compute_positions(t)[0].tolist() for one in alone]
        assert mixed.compute_velocities(t).tolist() == [one.compute_velocities(t)[0].tolist() for one in alone]
    for index, one in enumerate(alone):
        assert mixed.compute_path(index, 32).tolist() == one.compute_path(0, 32).tolist()


def test_the_path_of_an_open_orbit_goes_through_its_periapsis_from_far_to_far() -> None:
    for e in (1.0, 1.3):
        path = conic(0.5, e).compute_path(0, 64)
        distances = np.linalg.norm(path, axis=1)
        assert path.shape == (65, 3)
        assert distances[32] == pytest.approx(0.5)
        assert distances[[0, 64]] == pytest.approx([25.0, 25.0])
        assert (np.diff(distances[32:]) > 0).all()


@pytest.mark.parametrize(
    ("axis", "e", "q", "argument"),
    [
        (1.0, 1.0, math.nan, "periapsis_distance"),
        (1.0, 1.5, math.nan, "semi_major_axis"),
        (-1.0, 0.5, math.nan, "semi_major_axis"),
        (math.nan, 0.5, math.nan, "semi_major_axis"),
        (1.0, -0.5, math.nan, "eccentricity"),
        (1.0, math.inf, math.nan, "eccentricity"),
    ],
)
def test_an_invalid_orbit_is_refused(axis: float, e: float, q: float, argument: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        Elements(axis, e, period=1.0, periapsis_distance=q)
    assert refused.value.ids["argument"] == argument


def test_times_beyond_all_numbers_do_not_break_the_others() -> None:
    found: Any = Elements([-1.0, -1.0], [2.0, 2.0], period=[1e-300, 1.0]).compute_positions(1e10)
    assert np.isfinite(found[1]).all()
