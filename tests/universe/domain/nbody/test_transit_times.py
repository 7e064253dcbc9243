"""Passages of two bodies, from the samples of a run."""

import math

import numpy as np
import pytest

from universe.domain.nbody.transits import find_distance_minima
from universe.domain.units_and_dates import G


def circles(times: np.ndarray, axes: tuple[float, float]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return masses, positions and velocities of two test particles on circles about a star, in line at day 50."""
    positions, velocities = np.zeros((2, times.size, 3, 3))
    for body, axis in enumerate(axes, start=1):
        rate = math.sqrt(G / axis**3)
        angle = rate * (times - 50)
        positions[:, body] = axis * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
        velocities[:, body] = axis * rate * np.stack([-np.sin(angle), np.cos(angle), 0 * angle], axis=1)
    return np.array([1.0, 0.0, 0.0]), positions, velocities


@pytest.mark.parametrize("samples", [40, 100, 1001])
def test_passages_of_circles_are_where_and_when_they_are(samples: int) -> None:
    axes = (0.1, 0.15)
    times = np.linspace(0, 60, samples)
    masses, positions, velocities = circles(times, axes)
    days, distances = find_distance_minima(masses, times, positions, velocities, 1, 2)
    rates = [math.sqrt(G / axis**3) for axis in axes]
    apart = math.tau / (rates[0] - rates[1])
    expected = [day for day in 50 + apart * np.arange(-10, 3) if times[1] < day < times[-2]]
    assert days == pytest.approx(expected, abs=0.1)
    assert distances == pytest.approx(0.05, rel=2e-3)


def test_bodies_that_do_not_pass_or_are_gone_have_no_passages() -> None:
    times = np.linspace(0, 1, 50)
    masses, positions, velocities = circles(times, (0.1, 0.15))
    assert [one.size for one in find_distance_minima(masses, times, positions, velocities, 1, 2)] == [0, 0]
    positions[:, 2], velocities[:, 2] = np.nan, np.nan
    assert [one.size for one in find_distance_minima(masses, times, positions, velocities, 1, 2)] == [0, 0]
    assert find_distance_minima(masses, times[:1], positions[:1], velocities[:1], 1, 2)[0].size == 0


def test_a_run_backwards_has_passages_too() -> None:
    times = np.linspace(0, -60, 400)
    masses, positions, velocities = circles(times, (0.1, 0.15))
    days, distances = find_distance_minima(masses, times, positions, velocities, 1, 2)
    assert days.size
    assert ((days < 0) & (days > -60)).all()
    assert distances == pytest.approx(0.05, rel=2e-3)
