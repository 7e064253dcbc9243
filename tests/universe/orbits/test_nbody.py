"""The integrators keep what nature keeps, run backwards, have the order they claim, and agree with rebound."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from universe.orbits.anomaly import Floats
from universe.orbits.integrators import INTEGRATORS
from universe.orbits.kepler import Elements
from universe.orbits.nbody import Run, integrate
from universe.orbits.units import G, orbital_period
from uraniborg.kernel.errors import InvalidInput

Bodies = tuple[Floats, Floats, Floats]
YEAR = orbital_period(1.0, 1.0)


def pair(eccentricity: float = 0.0, mass: float = 0.0) -> Bodies:
    """A star and a planet at 1 AU, about their common centre."""
    masses = np.array([1.0, mass])
    orbit = Elements(1.0, eccentricity, period=orbital_period(1.0, 1 + mass), inclination=20, mean_anomaly=40)
    share = np.array([[-mass], [1.0]]) / (1 + mass)
    return masses, share * orbit.positions(0.0), share * orbit.velocities(0.0)


def giants() -> Bodies:
    """A star with four heavy planets on tilted, eccentric orbits."""
    orbits = Elements(
        [5.2, 9.6, 19.2, 30.1],
        [0.05, 0.06, 0.05, 0.01],
        period=[orbital_period(axis, 1.0) for axis in (5.2, 9.6, 19.2, 30.1)],
        inclination=[1.3, 2.5, 0.8, 1.8],
        longitude_of_ascending_node=[100, 113, 74, 131],
        mean_anomaly=[20, 317, 142, 256],
    )
    masses = np.array([1.0, 9.5e-4, 2.9e-4, 4.4e-5, 5.2e-5])
    positions = np.vstack([np.zeros(3), orbits.positions(0.0)])
    velocities = np.vstack([np.zeros(3), orbits.velocities(0.0)])
    return masses, positions - masses @ positions / masses.sum(), velocities - masses @ velocities / masses.sum()


def moved(bodies: Bodies, **how: Any) -> Run:
    return integrate(*bodies, **how)


@pytest.mark.parametrize("method", list(INTEGRATORS))
def test_halving_the_step_shrinks_the_energy_error_by_the_order(method: str) -> None:
    coarse, fine = (
        moved(pair(0.2, 1e-3), duration=YEAR, step=YEAR / steps, method=method).energy_drift_max for steps in (80, 160)
    )
    assert math.log2(coarse / fine) == pytest.approx(INTEGRATORS[method].order, abs=0.5)


@pytest.mark.parametrize("method", list(INTEGRATORS))
def test_halving_the_step_shrinks_the_error_of_position_by_the_order(method: str) -> None:
    exact = Elements(1.0, 0.2, period=YEAR, inclination=20, mean_anomaly=40).positions(0.7 * YEAR)[0]
    errors = [
        math.dist(moved(pair(0.2), duration=0.7 * YEAR, step=YEAR / steps, method=method).positions[1], exact)
        for steps in (100, 200)
    ]
    assert math.log2(errors[0] / errors[1]) == pytest.approx(INTEGRATORS[method].order, abs=0.5)


def test_a_higher_order_keeps_the_energy_better_for_the_same_number_of_forces() -> None:
    drifts = [
        moved(giants(), duration=4000, step=10 * one.forces_per_step, method=one.name).energy_drift_max
        for one in INTEGRATORS.values()
    ]
    assert drifts == sorted(drifts, reverse=True)


@pytest.mark.parametrize("method", list(INTEGRATORS))
def test_angular_momentum_is_kept_to_rounding_and_the_energy_does_not_wander_off(method: str) -> None:
    run = moved(giants(), duration=40_000, step=40, method=method)
    assert run.steps == 1000
    assert 0 < run.angular_momentum_drift_max < 1e-13
    assert run.angular_momentum_drift_final <= run.angular_momentum_drift_max
    assert run.energy_drift_final <= run.energy_drift_max < 1e-3
    twice = moved(giants(), duration=80_000, step=40, method=method)
    assert twice.energy_drift_max < 1.5 * run.energy_drift_max + 1e-13


@settings(max_examples=25)
@given(
    masses=st.lists(st.floats(1e-6, 1), min_size=2, max_size=5),
    seed=st.integers(0, 2**32 - 1),
    method=st.sampled_from(list(INTEGRATORS)),
)
def test_a_run_backwards_ends_where_the_run_forwards_began(masses: list[float], seed: int, method: str) -> None:
    chance = np.random.default_rng(seed)
    start = chance.uniform(-1, 1, (len(masses), 3)) + 4 * np.arange(len(masses))[:, None]
    speed = chance.uniform(-0.005, 0.005, start.shape)
    there = integrate(masses, start, speed, duration=100, step=1, method=method)
    back = integrate(masses, there.positions, there.velocities, duration=-100, step=1, method=method)
    assert back.positions == pytest.approx(start, abs=1e-10)
    assert back.velocities == pytest.approx(speed, abs=1e-10)
    turned = integrate(masses, there.positions, -there.velocities, duration=100, step=1, method=method)
    assert turned.positions == pytest.approx(start, abs=1e-10)


@pytest.mark.parametrize("eccentricity", [0.0, 0.3, 0.6])
def test_two_bodies_follow_their_kepler_orbit(eccentricity: float) -> None:
    mass = 0.1
    run = moved(pair(eccentricity, mass), duration=300.0, step=0.25, method="yoshida6", samples=4)
    orbit = Elements(1.0, eccentricity, period=orbital_period(1.0, 1 + mass), inclination=20, mean_anomaly=40)
    for t, (star, planet) in zip(run.times.tolist(), run.trajectory, strict=True):
        assert planet - star == pytest.approx(orbit.positions(t)[0], abs=1e-8)
    assert run.velocities[1] - run.velocities[0] == pytest.approx(orbit.velocities(300.0)[0], abs=1e-9)


def test_samples_are_evenly_spread_from_the_start_to_the_end() -> None:
    run = moved(pair(), duration=10, step=1, samples=6)
    assert run.times.tolist() == [0, 2, 4, 6, 8, 10]
    assert run.trajectory.shape == (6, 2, 3)
    assert run.trajectory[0] == pytest.approx(pair()[1], abs=0)
    assert run.trajectory[-1] == pytest.approx(run.positions, abs=0)
    last = moved(pair(), duration=10, step=1, samples=1)
    assert (last.times.tolist(), last.trajectory[0].tolist()) == ([10], last.positions.tolist())
    assert moved(pair(), duration=3, step=1, samples=50).times.tolist() == [0, 1, 2, 3]
    assert moved(pair(), duration=3, step=1).trajectory.shape == (0, 2, 3)


def test_the_step_is_shortened_to_fill_the_duration() -> None:
    run = moved(pair(), duration=10, step=3)
    assert (run.steps, run.step, run.method) == (4, 2.5, "yoshida4")
    assert moved(pair(), duration=1.1, step=0.1).steps == 11
    still = moved(pair(), duration=0, step=1, samples=2)
    assert (still.steps, still.energy_drift_max) == (0, 0)
    assert still.positions.tolist() == pair()[1].tolist()


def test_the_caller_keeps_its_arrays() -> None:
    masses, positions, velocities = pair()
    before = positions.copy(), velocities.copy()
    integrate(masses, positions, velocities, duration=5, step=1)
    assert (positions == before[0]).all()
    assert (velocities == before[1]).all()


def test_other_units_come_with_their_own_constant() -> None:
    run = integrate(
        [1.0, 0.0],
        [[0, 0, 0], [1, 0, 0]],
        [[0, 0, 0], [0, 1, 0]],
        duration=math.pi,
        step=0.01,
        gravitational_constant=1,
    )
    assert run.positions[1] == pytest.approx([-1, 0, 0], abs=1e-6)


def test_a_single_body_goes_straight_on_and_nothing_drifts() -> None:
    run = integrate([2.0], [[1, 2, 3]], [[0.5, 0, 0]], duration=8, step=1)
    assert run.positions[0] == pytest.approx([5, 2, 3], abs=1e-14)
    assert (run.energy_drift_max, run.angular_momentum_drift_max) == (0, pytest.approx(0, abs=1e-15))


def test_drifts_are_finite_where_energy_or_angular_momentum_is_nothing() -> None:
    falling = integrate([1, 1], [[-1, 0, 0], [1, 0, 0]], np.zeros((2, 3)), duration=10, step=0.1)
    assert falling.angular_momentum_drift_max < 1e-13
    escape = math.sqrt(2 * G)
    parabola = integrate([1, 0], [[0, 0, 0], [1, 0, 0]], [[0, 0, 0], [0, escape, 0]], duration=10, step=0.1)
    assert parabola.energy_drift_max < 1e-9


def test_five_giants_are_where_rebound_has_them_after_a_century() -> None:
    rebound: Any = pytest.importorskip("rebound", reason="rebound is an extra and not installed")
    masses, positions, velocities = giants()
    simulation = rebound.Simulation()
    simulation.G = G
    simulation.integrator = "ias15"
    for mass, (x, y, z), (vx, vy, vz) in zip(masses, positions, velocities, strict=True):
        simulation.add(m=mass, x=x, y=y, z=z, vx=vx, vy=vy, vz=vz)
    simulation.integrate(36_525.0)
    theirs = np.array([[one.x, one.y, one.z] for one in simulation.particles])
    ours = moved(giants(), duration=36_525.0, step=15, method="yoshida6")
    assert np.abs(ours.positions - theirs).max() < 1e-8
    assert ours.energy_drift_max < 1e-11


GOOD: dict[str, Any] = {
    "masses": [1.0, 0.1],
    "positions": [[0, 0, 0], [1, 0, 0]],
    "velocities": [[0, 0, 0], [0, 0.01, 0]],
    "duration": 10.0,
    "step": 1.0,
}


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("masses", [1.0, math.nan]),
        ("masses", [1.0, -0.1]),
        ("masses", [0.0, 0.0]),
        ("masses", []),
        ("masses", [[1.0, 0.1]]),
        ("masses", ["heavy", "light"]),
        ("masses", [1.0] * 2001),
        ("positions", [[0, 0, 0], [math.inf, 0, 0]]),
        ("positions", [[0, 0, 0], [0, 0, -0.0]]),
        ("positions", [[0, 0], [1, 0]]),
        ("positions", [[0, 0, 0], [1, 0]]),
        ("velocities", [[0, 0, 0]]),
        ("velocities", [[0, 0, 0], [0, math.nan, 0]]),
        ("duration", math.inf),
        ("duration", math.nan),
        ("step", 0.0),
        ("step", -1.0),
        ("step", math.nan),
        ("step", math.inf),
        ("step", 1e-9),
        ("step", 5e-324),
        ("method", "euler"),
        ("samples", -1),
        ("samples", 10**9),
        ("gravitational_constant", 0.0),
    ],
)
def test_what_cannot_be_integrated_is_refused_with_the_argument_and_what_is_allowed(argument: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match=argument) as refused:
        integrate(**{**GOOD, argument: value})
    assert refused.value.ids["argument"] == argument
    assert refused.value.ids["allowed"]
    assert refused.value.hint


def test_more_bodies_are_allowed_fewer_steps() -> None:
    count = 1000
    places = np.arange(3 * count, dtype=np.float64).reshape(count, 3)
    with pytest.raises(InvalidInput, match="1000 bodies") as refused:
        integrate(np.ones(count), places, np.zeros((count, 3)), duration=10_000, step=1)
    assert "at most 1666 steps" in refused.value.ids["allowed"]


def test_bodies_that_meet_on_the_way_stop_the_run_and_say_when() -> None:
    with pytest.raises(InvalidInput, match="met") as refused:
        integrate(
            [1, 0], [[0, 0, 0], [1, 0, 0]], [[0, 0, 0], [-1, 0, 0]], duration=4, step=1, gravitational_constant=1e-300
        )
    assert refused.value.ids["at"] == 1


def test_bodies_too_near_for_numbers_are_refused_at_the_start() -> None:
    with pytest.raises(InvalidInput, match="met") as refused:
        integrate([1, 1], [[0, 0, 0], [1e-200, 0, 0]], np.zeros((2, 3)), duration=4, step=1)
    assert refused.value.ids["at"] == 0


def test_every_integrator_says_its_error_in_words_and_reads_the_same_from_either_end() -> None:
    for name, integrator in INTEGRATORS.items():
        assert integrator.name == name
        assert "Halving the step" in integrator.error
        assert integrator.weights == integrator.weights[::-1]
        assert sum(integrator.weights) == pytest.approx(1, abs=1e-15)
