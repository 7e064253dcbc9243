"""Kepler's equation is solved to 1e-12 at every eccentricity below 1."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from universe.domain.orbits.kepler_equation import BLOCK, Floats, compute_anomaly_sine_cosine, solve_kepler
from uraniborg.kernel.errors import InvalidInput

JUST_BELOW_1 = math.nextafter(1.0, 0.0)


def worst_remainder(mean: Floats, e: Floats | float) -> float:
    """Return the largest difference of E - e sin E from M, relative to M if M is above a radian."""
    solved = solve_kepler(mean, e)
    return float(np.max(np.abs(solved - e * np.sin(solved) - mean) / np.maximum(1, np.abs(mean))))


@given(mean=st.floats(-1e4, 1e4), e=st.floats(0, 1, exclude_max=True))
@example(mean=0.0, e=JUST_BELOW_1)
@example(mean=5e-324, e=JUST_BELOW_1)
@example(mean=1e-300, e=0.0)
@example(mean=math.pi, e=JUST_BELOW_1)
@example(mean=-math.pi, e=0.999)
def test_the_equation_holds_to_1e_12(mean: float, e: float) -> None:
    assert worst_remainder(np.array([mean]), e) < 1e-12


@pytest.mark.parametrize("e", [0.0, 1e-8, 0.5, 0.9, 0.99, 0.999, 0.999999, JUST_BELOW_1])
def test_the_equation_holds_near_every_periapsis_and_in_between(e: float) -> None:
    near = np.concatenate([10.0 ** np.arange(-18, 0.5, 0.25), [0.0]])
    turns = 2 * math.pi * np.array([-100, -3, -1, 0, 1, 2, 1000])
    around = (turns[:, None] + np.concatenate([near, -near])).ravel()
    assert worst_remainder(around, e) < 1e-12
    assert worst_remainder(np.linspace(-7, 7, 100_001), e) < 1e-14


def test_small_anomalies_are_exact_relative_to_their_own_size() -> None:
    mean = 10.0 ** np.arange(-18, 0, 0.5)
    for e in (0.0, 0.5, 0.9, 0.999):
        solved = solve_kepler(mean, e)
        remainder = (1 - e) * solved + e * (solved - np.sin(solved)) - mean
        assert np.max(np.abs(remainder) / mean) < 1e-12


@given(e=st.floats(0, 1, exclude_max=True), turns=st.integers(-1000, 1000))
def test_the_anomaly_is_odd_keeps_its_turns_and_stands_still_at_the_apsides(e: float, turns: int) -> None:
    full = 2 * math.pi * turns
    assert solve_kepler(full, e) == full
    assert solve_kepler(full + math.pi, e) == pytest.approx(full + math.pi, abs=1e-12 * max(1, abs(turns)))
    assert solve_kepler(-1.25, e) == -solve_kepler(1.25, e)


@given(e=st.floats(0, 1, exclude_max=True), mean=st.floats(-math.pi, math.pi))
def test_sine_and_cosine_belong_to_the_anomaly(e: float, mean: float) -> None:
    solved, sin, cos = compute_anomaly_sine_cosine(np.array([mean]), np.array([e]))
    assert sin[0] == pytest.approx(math.sin(solved[0]), abs=1e-15)
    assert cos[0] == pytest.approx(math.cos(solved[0]), abs=1e-15)


def test_arrays_broadcast_and_blocks_leave_no_seam() -> None:
    mean, e = np.linspace(-9, 9, 3 * BLOCK + 7), np.array([[0.1], [0.95]])
    solved = solve_kepler(mean, e)
    assert solved.shape == (2, mean.size)
    for row, one in zip(solved, (0.1, 0.95), strict=True):
        assert np.max(np.abs(row - one * np.sin(row) - mean)) < 1e-14
        assert (np.diff(row) > 0).all()
    assert solve_kepler([], 0.5).shape == (0,)
    assert solve_kepler(1.0, 0.0).shape == ()


@pytest.mark.parametrize("e", [1.0, 1.5, -0.1, math.nan, math.inf])
def test_an_eccentricity_outside_the_ellipses_is_refused_with_the_allowed_range(e: float) -> None:
    with pytest.raises(InvalidInput) as refused:
        solve_kepler([0.0, 1.0], [0.5, e])
    assert refused.value.ids["allowed"] == "0 <= eccentricity < 1"


@pytest.mark.parametrize("mean", [math.nan, math.inf])
def test_a_mean_anomaly_that_is_not_a_number_is_refused(mean: float) -> None:
    with pytest.raises(InvalidInput, match="mean anomaly"):
        solve_kepler([0.0, mean], 0.5)
