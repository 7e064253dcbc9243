import math

import pytest

from tests.universe.domain.nbody.analysis.motions import (
    compute_history,
    compute_kepler_history,
    planets,
    solar_system,
    trappist_1,
)
from universe.domain.nbody.analysis.stability import compute_angular_momentum_deficit, compute_critical_deficit
from universe.domain.nbody.initial_conditions import make_initial_conditions

# J. Laskar and A. C. Petit, A&A 605, A72 (2017): the limits of the critical deficit for a light and a heavy inner body.


@pytest.mark.parametrize("axis_ratio", [0.55, 0.7, 0.9])
def test_a_light_inner_body_takes_the_whole_deficit(axis_ratio: float) -> None:
    mass_ratio = 1e-7
    eccentricity = 1 / axis_ratio - 1
    expected = mass_ratio * math.sqrt(axis_ratio) * (1 - math.sqrt(1 - eccentricity**2))
    assert compute_critical_deficit(axis_ratio, mass_ratio) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("axis_ratio", [0.2, 0.5, 0.9])
def test_a_light_outer_body_takes_the_whole_deficit(axis_ratio: float) -> None:
    expected = 1 - math.sqrt(1 - (1 - axis_ratio) ** 2)
    assert compute_critical_deficit(axis_ratio, 1e7) == pytest.approx(expected, rel=1e-3)


def test_with_the_critical_deficit_the_orbits_just_touch() -> None:
    axis_ratio, mass_ratio = 0.6, 0.8
    least = compute_critical_deficit(axis_ratio, mass_ratio)
    for step in range(1, 400):
        inner = step / 400
        outer = 1 - axis_ratio * (1 + inner)
        if not 0 <= outer < 1:
            continue
        deficit = mass_ratio * math.sqrt(axis_ratio) * (1 - math.sqrt(1 - inner**2)) + 1 - math.sqrt(1 - outer**2)
        assert deficit >= least * (1 - 1e-9)


@pytest.mark.parametrize(("h_times", "expected"), [(1.0, 0.009), (50.0, 0.026)])
def test_trappist_1_has_a_small_deficit_that_is_not_called_protection(h_times: float, expected: float) -> None:
    found = compute_angular_momentum_deficit(compute_history(trappist_1(h_times), 1.0, 3), has_resonances=True)
    assert found is not None
    assert found["ratio"] == pytest.approx(expected, abs=0.0007)
    assert "excludes no collision" in found["meaning"]


def test_the_four_giants_cannot_cross_by_slow_exchange_alone() -> None:
    # Laskar & Petit 2017, section 5: the outer Solar System is AMD-stable.
    giants = solar_system("sun", "jupiter", "saturn", "uranus", "neptune")
    found = compute_angular_momentum_deficit(compute_history(giants, 1.0, 3), has_resonances=False)
    assert found is not None
    assert found["ratio"] < 1
    assert "cannot make orbits cross. Resonances could." in found["meaning"]


def test_the_inner_planets_can_cross() -> None:
    # Laskar & Petit 2017: with the deficit of all planets, Mercury can meet Venus.
    everyone = solar_system("sun", "mercury", "venus", "earth", "mars", "jupiter", "saturn", "uranus", "neptune")
    found = compute_angular_momentum_deficit(compute_history(everyone, 1.0, 3), has_resonances=False)
    assert found is not None
    first = found["pairs"][0]
    assert (first["inner"], first["outer"]) == ("mercury", "venus")
    assert first["ratio"] > 1
    assert "can make orbits cross. It does not have to." in found["meaning"]


def test_one_planet_and_bodies_without_mass_have_no_deficit() -> None:
    assert (
        compute_angular_momentum_deficit(
            compute_history(make_initial_conditions(planets([10.0], mass=1e-5)), 1.0, 3), has_resonances=False
        )
        is None
    )
    assert (
        compute_angular_momentum_deficit(compute_kepler_history(planets([10.0, 20.0]), 1.0, 3), has_resonances=False)
        is None
    )
