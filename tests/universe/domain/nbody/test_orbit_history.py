from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.universe.domain.nbody.analysis.motions import (
    compute_kepler_history,
    planets,
    sample_run,
    solar_system,
    trappist_1,
)
from universe.domain.nbody.initial_conditions import make_initial_conditions
from universe.domain.nbody.osculating_orbits import compute_orbit_history
from universe.domain.nbody.runs import RunSamples

# E. Agol et al., "Refining the transit-timing and photometric analysis of TRAPPIST-1", PSJ 2, 1 (2021): the mean
# periods of its forecast of transits, in days, b to h.
AGOL_PERIODS = [1.510882, 2.421796, 4.049658, 6.099510, 9.206430, 12.353515, 18.768186]


@settings(max_examples=25, deadline=None)
@given(st.floats(3, 400), st.floats(0, 0.9), st.integers(30, 200))
def test_revolutions_are_counted_by_samples_many_orbits_apart(period: float, eccentricity: float, count: int) -> None:
    motion = compute_kepler_history(planets([period], eccentricity=eccentricity), days=20 * period * count, count=count)
    assert motion.periods[1] == pytest.approx(period, rel=1e-9)
    assert motion.axes[:, 1] == pytest.approx(motion.axes[0, 1], rel=1e-9)


def test_a_run_backwards_has_the_same_mean_period() -> None:
    motion = compute_kepler_history(planets([10.0]), days=-500.0, count=300)
    assert motion.periods[1] == pytest.approx(10.0, rel=1e-9)


def test_mean_periods_of_trappist_1_are_those_of_the_paper_and_not_the_osculating_ones() -> None:
    start = trappist_1()
    samples = sample_run(start, 400.0, 400)
    found = compute_orbit_history(start, samples).periods[1:]
    # A year shows the mean of four years to the swing of the transit times: up to an hour in 400 days.
    assert found == pytest.approx(AGOL_PERIODS, rel=2.5e-4)


def test_samples_too_far_apart_for_a_disturbed_orbit_determine_no_period() -> None:
    start = solar_system("sun", "earth", "moon")
    motion = compute_orbit_history(start, sample_run(start, 365.25 * 8, 9))
    assert np.isnan(motion.periods[2]) or motion.periods[2] == pytest.approx(27.32, rel=1e-2)
    close = compute_orbit_history(start, sample_run(start, 365.25 * 2, 400))
    # The sidereal month: 27.321 661 days (D. D. McCarthy and P. K. Seidelmann, "Time", 2009).
    assert close.periods[2] == pytest.approx(27.321661, rel=2e-4)


def test_angles_among_siblings_do_not_depend_on_the_reference_plane() -> None:
    start = trappist_1()
    samples = sample_run(start, 20.0, 50)
    angle = np.deg2rad(77.0)
    turn = np.array([[1, 0, 0], [0, np.cos(angle), -np.sin(angle)], [0, np.sin(angle), np.cos(angle)]])
    turned = replace(start, positions=start.positions @ turn.T, velocities=start.velocities @ turn.T)
    moved = RunSamples(samples.times, samples.positions @ turn.T, samples.velocities @ turn.T)
    laplace = np.array([0, 0, 1, -3, 2, 0, 0, 0])
    first, second = (
        compute_orbit_history(start, samples).longitudes[:, 1:],
        compute_orbit_history(turned, moved).longitudes[:, 1:],
    )
    assert np.cos(np.deg2rad(first @ laplace[1:])) == pytest.approx(np.cos(np.deg2rad(second @ laplace[1:])), abs=1e-6)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_samples_are_accepted(count: int) -> None:
    start = make_initial_conditions(planets([10.0, 20.0]))
    samples = RunSamples(
        np.linspace(0, 1, count), np.stack([start.positions] * count), np.stack([start.velocities] * count)
    )
    assert compute_orbit_history(start, samples).axes.shape == (count, 3)
