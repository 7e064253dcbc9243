"""The methods conserve energy and angular momentum, are reversible and have their stated order."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.universe.domain.nbody.sample_starts import YEAR, giants, orbit, pair
from universe.domain.nbody.initial_conditions import InitialConditions
from universe.domain.nbody.integration.gauss_legendre_integrator import GaussLegendreStepper
from universe.domain.nbody.integration.methods import COMPOSITIONS, GAUSS, integrate
from universe.domain.nbody.integration.point_masses import Gravity
from universe.domain.nbody.integration.segments import Segment
from universe.domain.orbits.kepler_equation import Floats
from universe.domain.units_and_dates import G

METHODS = (GAUSS, *COMPOSITIONS)


def move(start: InitialConditions, days: float, method: str = GAUSS, step: float | None = None) -> list[Segment]:
    return list(integrate(start.masses, start.positions, start.velocities, days, method=method, step=step))


def drifts(start: InitialConditions, segments: list[Segment]) -> tuple[float, float]:
    """Return the largest relative changes of energy and angular momentum."""
    gravity = Gravity(start.masses)
    x = np.stack([segments[0].first_positions, *(one.last_positions for one in segments)])
    v = np.stack([segments[0].first_velocities, *(one.last_velocities for one in segments)])
    energy, momentum = gravity.compute_energy(x, v), gravity.compute_angular_momentum(x, v)
    turned = np.linalg.norm(momentum - momentum[0], axis=1).max() / np.linalg.norm(momentum[0])
    return float(np.abs(energy / energy[0] - 1).max()), float(turned)


@pytest.mark.parametrize("method", list(COMPOSITIONS))
def test_halving_the_step_shrinks_the_errors_of_energy_and_position_by_the_order(method: str) -> None:
    coarse, fine = (move(pair(0.2, 1e-3), 0.7 * YEAR, method, YEAR / steps) for steps in (100, 200))
    order = COMPOSITIONS[method].order
    energy = [drifts(pair(0.2, 1e-3), run)[0] for run in (coarse, fine)]
    assert math.log2(energy[0] / energy[1]) == pytest.approx(order, abs=0.5)
    exact = orbit(0.2, 1e-3).compute_positions(0.7 * YEAR)[0]
    ends = [run[-1].last_positions.T for run in (coarse, fine)]
    errors = [math.dist(end[1] - end[0], exact) for end in ends]
    assert math.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.5)


def test_a_higher_order_keeps_the_energy_better_for_the_same_number_of_forces() -> None:
    found = [
        drifts(giants(), move(giants(), 4000, one.name, 10 * len(one.weights)))[0] for one in COMPOSITIONS.values()
    ]
    assert found == sorted(found, reverse=True)


@pytest.mark.parametrize("method", METHODS)
def test_angular_momentum_is_conserved_to_rounding_and_the_energy_does_not_wander_off(method: str) -> None:
    energy, momentum = drifts(giants(), move(giants(), 40_000, method, 40))
    assert momentum < 1e-13
    assert energy < (1e-13 if method == GAUSS else 1e-3)


@settings(max_examples=25)
@given(
    masses=st.lists(st.floats(1e-6, 1), min_size=2, max_size=5),
    seed=st.integers(0, 2**32 - 1),
    method=st.sampled_from(METHODS),
)
def test_a_run_backwards_ends_where_the_run_forwards_began(masses: list[float], seed: int, method: str) -> None:
    chance = np.random.default_rng(seed)
    x = chance.uniform(-1, 1, (len(masses), 3)) + 4 * np.arange(len(masses))[:, None]
    v = chance.uniform(-0.005, 0.005, x.shape)
    weights = np.array(masses)
    there = list(integrate(weights, x, v, 100, method=method, step=1))[-1]
    ends: list[Floats] = []
    for sign, days in ((1, -100), (-1, 100)):
        far, fast = there.last_positions.T, sign * there.last_velocities.T
        back = list(integrate(weights, far, fast, days, method=method, step=1))[-1]
        assert (back.end, back.length * days > 0) == (days, True)
        ends.append(back.last_positions.T)
        assert sign * back.last_velocities.T == pytest.approx(v, abs=1e-10)
    assert ends[0] == pytest.approx(x, abs=1e-10)
    assert ends[1] == pytest.approx(x, abs=1e-10)


@pytest.mark.parametrize(("method", "allowed"), [(GAUSS, 1e-13), ("yoshida6", 1e-9)])
@pytest.mark.parametrize("days", [60.0, -60.0])
def test_states_within_steps_join_at_their_ends_and_follow_the_orbit(method: str, allowed: float, days: float) -> None:
    elements = orbit(0.4, 0.1)
    before = None
    for segment in move(pair(0.4, 0.1), days, method, 0.5):
        times = np.linspace(segment.begin, segment.end, 5)
        x, v = segment.compute_states(times)
        assert x.shape == v.shape == (5, 2, 3)
        assert x[0] == pytest.approx(segment.first_positions.T, abs=1e-15)
        assert x[-1] == pytest.approx(segment.last_positions.T, abs=1e-15)
        assert v[-1] == pytest.approx(segment.last_velocities.T, abs=1e-15)
        assert x[:, 1] - x[:, 0] == pytest.approx(
            np.stack([elements.compute_positions(t)[0] for t in times]), abs=allowed
        )
        assert v[:, 1] - v[:, 0] == pytest.approx(
            np.stack([elements.compute_velocities(t)[0] for t in times]), abs=allowed
        )
        assert before is None or segment.begin == before.end
        before = segment
    assert before is not None
    assert before.end == days


def test_configurations_side_by_side_move_as_they_do_alone() -> None:
    one = giants()
    other = one.positions * (1 + 1e-3), one.velocities * (1 - 1e-3)
    gravity = Gravity(one.masses)
    both = GaussLegendreStepper(
        gravity, np.stack([one.positions.T, other[0].T]), np.stack([one.velocities.T, other[1].T])
    )
    segments = list(both.integrate(0.0, 4000.0))
    alone = list(integrate(one.masses, *other, 4000.0))[-1]
    assert both.positions[1] == pytest.approx(alone.last_positions, abs=1e-12)
    assert both.velocities[0] == pytest.approx(segments[-1].last_velocities, abs=0)


def test_a_moon_far_from_the_origin_does_not_shorten_the_step_for_ever() -> None:
    mass, axis = 5e-5, 0.00237  # Triton about Neptune
    speed = math.sqrt(G * mass / axis)
    x = np.array([[0, 0, 0], [30.0, 0, 0], [30.0 + axis, 0, 0]])
    v = np.array([[0, 0, 0], [0, math.sqrt(G / 30), 0], [0, math.sqrt(G / 30) + speed, 0]])
    segments = list(integrate(np.array([1.0, mass, 1e-8]), x, v, 30.0))
    assert len(segments) < 100


def test_the_first_step_is_a_hundredth_of_the_shortest_free_fall() -> None:
    x, v = np.array([[0, 0, 0], [1.0, 0, 0]]), np.array([[0, 0, 0], [0, math.sqrt(G), 0]])
    first, *_ = integrate(np.array([1.0, 1e-9]), x, v, 30.0)
    assert first.end == pytest.approx(0.01 / math.sqrt(G), rel=1e-6)


def test_a_body_alone_goes_straight_on() -> None:
    segments = list(integrate(np.array([2.0]), np.array([[1.0, 2, 3]]), np.array([[0.5, 0, 0]]), 8))
    assert segments[-1].last_positions.T[0] == pytest.approx([5, 2, 3], abs=1e-14)


def test_other_units_come_with_their_own_constant() -> None:
    x, v = np.array([[0.0, 0, 0], [1, 0, 0]]), np.array([[0.0, 0, 0], [0, 1, 0]])
    last = list(integrate(np.array([1.0, 0.0]), x, v, math.pi, gravitational_constant=1))[-1]
    assert last.last_positions.T[1] == pytest.approx([-1, 0, 0], abs=1e-13)


def test_the_caller_keeps_its_arrays() -> None:
    start = pair(0.1, 1e-3)
    before = start.positions.copy(), start.velocities.copy()
    for method in METHODS:
        move(start, 5, method, 1)
    assert (start.positions == before[0]).all()
    assert (start.velocities == before[1]).all()


def test_every_composition_reads_the_same_from_either_end() -> None:
    for name, composition in COMPOSITIONS.items():
        assert composition.name == name
        assert composition.weights == composition.weights[::-1]
        assert sum(composition.weights) == pytest.approx(1, abs=1e-15)
