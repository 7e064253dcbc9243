"""Surfaces that touch stop a run, merge two bodies or are only reported; encounters are minima within a Hill radius."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.universe.domain.nbody.sample_starts import YEAR, giants, orbit, pair, start_from, with_radii
from universe.domain.nbody.initial_conditions import InitialConditions
from universe.domain.nbody.integration.collisions_and_encounters import POLICIES, compute_merger
from universe.domain.nbody.integration.segments import Segment
from universe.domain.nbody.runs import Run, run_nbody
from universe.domain.units_and_dates import G, compute_period

SUN = 0.00465


def sungrazer() -> InitialConditions:
    """Return a comet that falls into its star after half a revolution."""
    return with_radii(pair(0.9999, 1e-6, axis=5, anomaly=180), SUN, 0.0)


def hits() -> float:
    """Return when the comet of `sungrazer` is one solar radius from the centre of its star, by its Kepler orbit."""
    elements = orbit(0.9999, 1e-6, axis=5, anomaly=180)
    early, late = 0.0, compute_period(5, 1 + 1e-6) / 2
    for _ in range(80):
        middle = (early + late) / 2
        is_out = np.linalg.norm(elements.compute_positions(middle)[0]) > SUN
        early, late = (middle, late) if is_out else (early, middle)
    return early


def falling(masses: tuple[float, ...], *radii: float) -> InitialConditions:
    """Return bodies on a line that fall towards each other, the last far away."""
    x = np.array([[-1.0, 0, 0], [1.0, 0, 0], [0, 60.0, 0]])[: len(masses)]
    return start_from(masses, x, np.zeros_like(x), [-1] * len(masses), radii=radii)


def test_a_collision_stops_the_run_where_surfaces_touch() -> None:
    done = run_nbody(sungrazer(), 20 * YEAR)
    assert done.stopped_by == "collision"
    (collision,) = done.collisions
    assert collision.bodies == ("a", "b")
    assert collision.survivor is None
    assert collision.day == done.days == pytest.approx(hits(), abs=1e-7)
    assert collision.distance_au == pytest.approx(SUN, rel=1e-9)
    assert math.dist(*done.positions) == pytest.approx(SUN, rel=1e-9)
    assert collision.speed == pytest.approx(math.sqrt(2 * G * (1 + 1e-6) * (1 / SUN - 1 / 10)), rel=1e-6)
    assert done.trustworthy
    assert done.samples.times[-1] <= done.days


def test_a_run_ignores_a_collision_and_reports_it() -> None:
    start = sungrazer()
    done = run_nbody(start, 20 * YEAR, on_collision="ignore")
    assert (done.stopped_by, done.days, done.trustworthy) == (None, 20 * YEAR, True)
    assert len(done.collisions) == 2
    assert done.collisions[0].day == pytest.approx(hits(), abs=1e-7)
    exact = orbit(0.9999, 1e-6, axis=5, anomaly=180).compute_positions(20 * YEAR)[0]
    assert math.dist(done.positions[1] - done.positions[0], exact) < 10 * done.error_au[1]  # as promised


@settings(max_examples=25)
@given(
    masses=st.tuples(st.floats(0.5, 2), st.floats(0, 2), st.floats(1e-9, 0.01)),
    radii=st.tuples(st.floats(0.01, 0.1), st.one_of(st.just(math.nan), st.floats(0.001, 0.1))),
)
def test_a_merger_keeps_mass_momentum_and_volume(
    masses: tuple[float, float, float], radii: tuple[float, float]
) -> None:
    start = falling(masses, *radii, math.nan)
    seen: list[Segment] = []
    done = run_nbody(start, 400.0, on_collision="merge", observe=seen.append)
    (collision,) = done.collisions
    assert collision.bodies == ("a", "b")
    assert collision.survivor == ("a" if masses[0] >= masses[1] else "b")
    survivor, gone = (0, 1) if collision.survivor == "a" else (1, 0)
    assert (done.stopped_by, done.days) == (None, 400.0)
    assert done.closest.distance_au[0, 1] == pytest.approx(collision.distance_au)
    assert done.closest.days[0, 1] == pytest.approx(collision.day)
    assert done.masses[survivor] == masses[0] + masses[1]
    assert done.masses[gone] == 0
    assert np.isnan(done.positions[gone]).all()
    assert done.radii[survivor] == pytest.approx(math.cbrt(sum(radius**3 for radius in radii if radius > 0)))
    momentum = done.masses @ np.nan_to_num(done.velocities)
    assert np.abs(momentum).max() < 1e-14
    centre = done.masses @ np.nan_to_num(done.positions)
    assert np.abs(centre).max() < 1e-11
    before = done.samples.times < collision.day
    assert np.isfinite(done.samples.positions[before]).all()
    assert np.isnan(done.samples.positions[~before][1:, gone]).all()
    assert np.isfinite(done.samples.positions[:, 2]).all()
    assert [one.end for one in seen[:-1]] == [one.begin for one in seen[1:]]
    assert seen[-1].compute_states(400.0)[0].shape == (1, 3, 3)
    assert np.isnan(seen[-1].compute_states(400.0)[0][0, gone]).all()


def test_satellites_of_a_merged_body_orbit_the_survivor() -> None:
    # Columns are bodies: a star, a planet of it, and a moon of the planet.
    relative = np.array([[0, 0, 0], [-1, 0.9, 0.1], [0, -1, 1]], dtype=np.float64)
    swallowed = compute_merger(0, 1, np.array([1, 1e-3, 1e-5]), np.array([1e-2, 1e-3, np.nan]), relative)
    assert (swallowed.survivor, swallowed.gone) == (0, 1)
    assert swallowed.relative_matrix.tolist() == [[0, 0, 0], [0, 0, 0], [-1, 0, 1]]
    landed = compute_merger(1, 2, np.array([1, 1e-3, 1e-5]), np.array([1e-2, 1e-3, np.nan]), relative)
    assert landed.relative_matrix.tolist() == [[0, 0, 0], [-1, 1, 0], [0, 0, 0]]
    assert landed.radii[1] == 1e-3


def test_a_planet_that_is_swallowed_leaves_the_others_where_they_belong() -> None:
    heavy = giants()
    infall = replace(
        heavy, velocities=heavy.velocities * np.array([[1], [0.02], [1], [1], [1]]), radii=np.full(5, 1e-3)
    )
    infall = replace(infall, radii=np.array([0.1, 5e-4, 4e-4, 2e-4, 2e-4]))
    done = run_nbody(infall, 4000, on_collision="merge")
    assert [one.bodies for one in done.collisions] == [("a", "b")]
    assert done.trustworthy
    assert np.isfinite(done.error_au).all()
    assert done.energy_drift is not None
    assert done.energy_drift.max < 1e-9


def test_three_bodies_in_contact_become_one() -> None:
    start = start_from([1, 0.5, 0.2], [[0, 0, 0], [0.01, 0, 0], [0.02, 0, 0]], np.zeros((3, 3)), [-1, -1, -1])
    done = run_nbody(with_radii(start, 0.01, 0.01, 0.01), 10, on_collision="merge")
    assert [one.day for one in done.collisions] == [0, 0]
    assert done.masses.tolist() == [1.7, 0, 0]
    assert done.positions[0] == pytest.approx([0, 0, 0], abs=1e-15)


def test_bodies_that_touch_from_the_start_stop_it_on_the_first_day() -> None:
    done = run_nbody(with_radii(pair(), 0.6, 0.6), 100)
    assert (done.days, done.stopped_by) == (0, "collision")
    assert (done.positions == pair().positions).all()


def test_bodies_without_radii_do_not_collide() -> None:
    for policy in POLICIES:
        done = run_nbody(with_radii(sungrazer(), math.nan, math.nan), 10 * YEAR, on_collision=policy)
        assert (done.collisions, done.stopped_by) == ((), None)


def test_a_run_whose_twin_collides_otherwise_is_not_trusted() -> None:
    grazing = with_radii(pair(0.99, 0.0, axis=1, anomaly=180), 0.0101, 0.0)
    missed = run_nbody(grazing, 3 * YEAR, method="leapfrog", on_collision="merge")
    assert not missed.trustworthy


def flyby(distance: float, speed: float = 0.01) -> InitialConditions:
    """Return a star, a planet at 5 AU and a small body that passes the planet."""
    x = np.array([[0, 0, 0], [5.0, 0, 0], [5.0 + distance, -1.0, 0]])
    v = np.array([[0, 0, 0], [0, math.sqrt(G / 5), 0], [0, math.sqrt(G / 5) + speed, 0]])
    return start_from([1, 1e-3, 0], x, v, [-1, 0, 0], radii=[0.005, 5e-4, 0.0])


def test_a_passage_within_the_hill_sphere_is_an_encounter_with_its_distance() -> None:
    done = run_nbody(flyby(0.1), 200, on_collision="ignore")
    (met,) = done.encounters
    assert met.bodies == ("b", "c")
    seen = _minimum(done)
    assert met.distance_au == pytest.approx(seen, rel=1e-4)
    hill = math.cbrt(1e-3 / 3) * 5
    assert met.hill_radii == pytest.approx(met.distance_au / hill, rel=0.05)
    assert met.radii == pytest.approx(met.distance_au / 5e-4)
    assert done.encounter_count == 1
    assert done.closest.distance_au[1, 2] == done.closest.distance_au[2, 1] == met.distance_au
    assert done.closest.days[1, 2] == met.day
    assert done.closest.hill_radii[1, 2] == met.hill_radii
    assert math.isnan(done.closest.hill_radii[0, 1])


def _minimum(done: Run) -> float:
    x = done.samples.positions
    return float(np.linalg.norm(x[:, 1] - x[:, 2], axis=1).min())


def test_a_wide_passage_is_a_closest_approach_and_not_an_encounter() -> None:
    done = run_nbody(flyby(1.0), 200)
    assert (done.encounters, done.encounter_count) == ((), 0)
    assert done.closest.distance_au[1, 2] == pytest.approx(_minimum(done), rel=1e-3)
    assert done.closest.hill_radii[1, 2] > 1


def test_test_particles_that_race_past_each_other_between_steps_are_seen() -> None:
    # Nothing feels the passage, so no step is shortened for it.
    x = np.array([[0, 0, 0], [1.0, 0, 0], [0, 0, 3.0], [0.0, 1.0, 1e-4]])
    v = np.array([[0, 0, 0], [0, math.sqrt(G), 0], [0, math.sqrt(G / 3), 0], [math.sqrt(G), 0, 0]])
    start = start_from([1, 0, 0, 0], x, v, [-1, 0, 0, 0])
    done = run_nbody(start, YEAR / 2)
    # An eighth of a turn after the start, where the height of 1e-4 has become 1e-4 cos 45 degrees.
    assert done.closest.distance_au[1, 3] == pytest.approx(1e-4 / math.sqrt(2), rel=1e-6)
    assert done.closest.days[1, 3] == pytest.approx(YEAR / 8, abs=1e-3)
    assert done.encounters == ()


def test_a_moon_meets_nothing_in_the_hill_sphere_of_its_planet() -> None:
    axis, mass = 0.01, 1e-3
    x = np.array([[0, 0, 0], [5.0, 0, 0], [5.0 + axis, 0, 0], [0, 9, 0]])
    planet = math.sqrt(G / 5)
    v = np.array([[0, 0, 0], [0, planet, 0], [0, planet + math.sqrt(G * mass / axis), 0], [-math.sqrt(G / 9), 0, 0]])
    done = run_nbody(start_from([1, mass, 1e-8, 1e-4], x, v, [-1, 0, 1, 0]), 30)
    assert done.encounter_count == 0
    assert done.closest.distance_au[1, 2] == pytest.approx(axis, rel=1e-2)
    assert math.isnan(done.closest.hill_radii[1, 2])
    assert done.closest.hill_radii[2, 3] > 1
