"""Runs report their end and their error, and are trusted only if they are accurate."""

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.universe.domain.nbody.sample_starts import YEAR, giants, orbit, pair, relative_position, start_from
from universe.domain.nbody.integration.methods import GAUSS, METHODS
from universe.domain.nbody.integration.segments import Segment
from universe.domain.nbody.limits import MAX_SECONDS
from universe.domain.nbody.runs import run_nbody
from universe.domain.units_and_dates import G, compute_period
from uraniborg.kernel.errors import InvalidInput

FIXED = ("leapfrog", "yoshida4", "yoshida6")


@settings(max_examples=25)
@given(
    eccentricity=st.floats(0, 0.97),
    mass=st.floats(0, 1),
    anomaly=st.floats(0, 360),
    years=st.floats(0.1, 10),
    is_backwards=st.booleans(),
)
def test_two_bodies_are_where_kepler_has_them_within_the_error(
    eccentricity: float, mass: float, anomaly: float, years: float, is_backwards: bool
) -> None:
    days = -years * YEAR if is_backwards else years * YEAR
    done = run_nbody(pair(eccentricity, mass, anomaly=anomaly), days, samples=5)
    elements = orbit(eccentricity, mass, anomaly=anomaly)
    found = relative_position(done.positions)
    assert (
        math.dist(found, elements.compute_positions(days)[0])
        <= done.error_au[1] + 1e-14 * (1 + years) / (1 - eccentricity) ** 1.5
    )
    assert done.error_au[1] < 1e-8
    assert done.trustworthy
    assert done.days == days
    for time, positions in zip(done.samples.times, done.samples.positions, strict=True):
        assert relative_position(positions) == pytest.approx(elements.compute_positions(time)[0], abs=1e-9)


@pytest.mark.parametrize("method", FIXED)
def test_the_error_of_a_fixed_step_is_the_true_one_within_a_factor_of_three(method: str) -> None:
    done = run_nbody(pair(0.1, 1e-3), 2.3 * YEAR, method=method, step=YEAR / 60)
    true = math.dist(relative_position(done.positions), orbit(0.1, 1e-3).compute_positions(2.3 * YEAR)[0])
    assert true <= done.error_au[1] < 3 * true
    assert done.error_degrees[1] == pytest.approx(np.degrees(done.error_au[1]), rel=0.2)
    assert done.trustworthy == (done.worst_error_degrees.max() < 0.1)
    assert (done.method, done.steps) == (method, 138)


def test_a_comet_that_a_fixed_step_misses_is_not_trusted_and_the_default_follows_it() -> None:
    start = pair(0.967, axis=17.8, anomaly=180)
    days = 100 * YEAR
    exact = orbit(0.967, axis=17.8, anomaly=180).compute_positions(days)[0]
    missed = run_nbody(start, days, method="yoshida4")
    assert math.dist(relative_position(missed.positions), exact) > 1
    assert not missed.trustworthy
    followed = run_nbody(start, days)
    assert followed.trustworthy
    assert math.dist(relative_position(followed.positions), exact) <= followed.error_au[1] < 1e-11
    assert followed.worst_error_au[1] >= followed.error_au[1]
    assert followed.shortest_step < 0.1 * followed.step
    assert followed.closest.distance_au[0, 1] == pytest.approx(17.8 * (1 - 0.967), abs=1e-11)


def test_three_bodies_in_chaos_are_trusted_until_the_twin_departs() -> None:
    # The Pythagorean problem (Burrau 1913): regular figures at 10, lost to double precision at 70.
    start = start_from([3, 4, 5], [[1, 3, 0], [-2, -1, 0], [1, -1, 0]], np.zeros((3, 3)), [-1, -1, -1])
    early, late = (run_nbody(start, time / math.sqrt(G)) for time in (10, 65))
    assert early.trustworthy
    assert early.error_au.max() < 1e-9
    assert not late.trustworthy
    assert late.divergence.log_distance.max() > 22  # by then 1e-16 has grown to 1e-6 at least
    assert late.energy_drift is not None
    assert late.energy_drift.max < 1e-8


def test_trajectories_apart_grow_like_the_time_in_a_regular_system() -> None:
    done = run_nbody(giants(), 50_000)
    times, growth = done.divergence.times, done.divergence.log_distance
    assert times.size == growth.size <= 2001
    assert (np.diff(times) > 0).all()
    late = times > 10_000
    slope = np.polyfit(np.log(times[late]), growth[late], 1)[0]
    assert slope == pytest.approx(1, abs=0.3)


def test_a_run_reports_steps_drifts_and_the_start() -> None:
    done = run_nbody(giants(), 4000, samples=3)
    assert done.samples.times.tolist() == [0, 2000, 4000]
    assert done.samples.positions.shape == done.samples.velocities.shape == (3, 5, 3)
    assert (done.samples.positions[0] == giants().positions).all()
    assert done.samples.positions[-1] == pytest.approx(done.positions, abs=1e-13)
    assert done.samples.velocities[-1] == pytest.approx(done.velocities, abs=1e-15)
    assert done.step == pytest.approx(4000 / done.steps)
    assert 0 < done.shortest_step <= done.step
    assert done.energy_drift is not None
    assert done.angular_momentum_drift is not None
    assert 0 < done.energy_drift.max < 1e-13
    assert done.angular_momentum_drift.final <= done.angular_momentum_drift.max < 1e-13
    assert (done.stopped_by, done.collisions, done.method) == (None, (), GAUSS)
    assert (done.masses == giants().masses).all()


def test_no_time_leaves_everything_where_it_is() -> None:
    done = run_nbody(giants(), 0.0)
    assert (done.steps, done.days, done.step, done.trustworthy) == (0, 0, 0, True)
    assert (done.positions == giants().positions).all()
    assert done.samples.times.tolist() == [0.0] * len(done.samples.times)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_small_number_of_samples_is_used_unchanged(count: int) -> None:
    done = run_nbody(pair(), 10, samples=count)
    assert done.samples.times.tolist() == [[], [10], [0, 10]][count]


def test_test_particles_are_pulled_and_pull_nothing() -> None:
    with_dust = start_from(
        [1, 1e-3, 0, 0], [[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 2, 0.001]], _circular([1, 2, 2]), [-1, 0, 0, 0]
    )
    without = start_from([1, 1e-3], with_dust.positions[:2], with_dust.velocities[:2], [-1, 0])
    dusty, clean = run_nbody(with_dust, 500), run_nbody(without, 500)
    assert dusty.positions[:2] == pytest.approx(clean.positions, abs=1e-12)
    assert dusty.trustworthy


def _circular(radii: list[float]) -> Any:
    directions = [[0, 1, 0], [-1, 0, 0], [-1, 0, 0]]
    speeds = [math.sqrt(G / radius) for radius in radii]
    return np.vstack([np.zeros(3), np.array(directions) * np.array(speeds)[:, None]])


def test_every_segment_is_observed_in_order() -> None:
    seen: list[Segment] = []
    done = run_nbody(giants(), -3000, observe=seen.append)
    assert len(seen) == done.steps
    assert seen[0].begin == 0
    assert [one.end for one in seen[:-1]] == [one.begin for one in seen[1:]]
    assert seen[-1].end == -3000


def test_progress_comes_ten_times_a_second_and_ends_with_1() -> None:
    parts: list[float] = []
    run_nbody(giants(), 4000, progress=parts.append, clock=_ticks(0.04))
    assert parts == sorted(parts)
    assert parts[-1] == 1
    steps = run_nbody(giants(), 4000).steps
    assert steps / 4 < len(parts) < steps / 2
    parts.clear()
    run_nbody(giants(), 4000, progress=parts.append)
    assert parts[-1] == 1


def test_a_run_longer_than_its_seconds_ends_with_the_day_it_reached() -> None:
    with pytest.raises(InvalidInput, match=r"reached day .* of 40000 within 2 seconds") as refused:
        run_nbody(giants(), 40_000, clock=_ticks(0.1), seconds=2)
    assert 0 < refused.value.ids["at"] < 40_000
    assert "fewer bodies" in refused.value.hint
    assert MAX_SECONDS == 300


def _ticks(interval: float) -> Any:
    times = itertools.count(0.0, interval)
    return lambda: next(times)


def test_an_interrupt_ends_the_run() -> None:
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_nbody(giants(), 4000, progress=interrupt)


def test_bodies_that_fall_into_each_other_are_named_with_the_time() -> None:
    start = start_from([1, 1, 1e-9], [[1, 0, 0], [-1, 0, 0], [0, 50, 0]], np.zeros((3, 3)), [-1, -1, -1])
    with pytest.raises(InvalidInput, match=r"'a' and 'b' come too close to be followed at day 129\.1") as refused:
        run_nbody(start, 1000.0)
    assert refused.value.ids["bodies"] == ["a", "b"]
    assert refused.value.ids["at"] == pytest.approx(129.13781, abs=1e-4)
    assert "radius" in refused.value.hint


def test_a_fixed_step_into_the_same_position_is_named_too() -> None:
    start = replace(
        pair(), positions=np.array([[0.0, 0, 0], [1, 0, 0]]), velocities=np.array([[0, 0, 0], [-1.0, 0, 0]])
    )
    start = replace(start, masses=np.array([1e-200, 0.0]), orbited_mass=np.array([0, 1e-200]))
    with pytest.raises(InvalidInput, match="'a' and 'b' come too close"):
        run_nbody(start, 4.0, method="leapfrog", step=1.0)


def test_the_centre_that_counts_in_relativity_is_the_heaviest_body() -> None:
    # The perihelion of an orbit advances by 6 pi G M / (c^2 a (1 - e^2)) a revolution (Einstein 1915).
    start = pair(0.2056, 0.0, axis=0.3871, anomaly=0)
    turned: list[float] = []
    for relativity in (False, True):
        done = run_nbody(start, 20 * compute_period(0.3871, 1), relativity=relativity, samples=0)
        x, v = relative_position(done.positions), relative_position(done.velocities)
        laplace = np.cross(v, np.cross(x, v)) / G - x / np.linalg.norm(x)
        turned.append(math.degrees(math.atan2(*(laplace @ _plane(start)).tolist())) * 3600)
        assert (done.energy_drift is None) == relativity
    per_century = 36_525 / (20 * compute_period(0.3871, 1))
    assert abs(turned[0] * per_century) < 1e-4
    assert turned[1] * per_century == pytest.approx(42.98, rel=0.01)


def _plane(start: Any) -> Any:
    """Return the directions across and along the line to the perihelion of the start, in this order."""
    x, v = relative_position(start.positions), relative_position(start.velocities)
    along = x / np.linalg.norm(x)
    pole = np.cross(x, v)
    return np.stack([np.cross(pole / np.linalg.norm(pole), along), along], axis=1)


def test_the_methods_are_known() -> None:
    assert set(METHODS) == {"gauss", "heyoka", *FIXED}


def test_rounding_far_from_the_origin_is_not_taken_for_chaos() -> None:
    # A planet goes around its star in 5 days, a million AU from a heavier star: positions have few digits there.
    x = np.array([[0, 0, 0], [1e6, 0, 0], [1e6 + 0.03, 0, 0]])
    v = np.array([[0, 0, 0], [0, 1e-5, 0], [0, 1e-5 + math.sqrt(G * 0.12 / 0.03), 0]])
    done = run_nbody(start_from([2, 0.12, 1e-6], x, v, [-1, 0, 1]), 300)
    assert (done.divergence.times < 100).all()
    assert run_nbody(giants(), 4000).divergence.times[-1] == 4000
