"""An N-body run starts from the bodies of a state, about their barycentre, or says what a body lacks."""

from typing import Any

import numpy as np
import pytest

from universe.orbits.kepler import Elements
from universe.orbits.nbody import initial_conditions, integrate
from universe.orbits.units import orbital_period
from uraniborg.kernel.errors import InvalidInput, NotFound

EARTH = {"units": "astronomical", "semiMajorAxis": 1.0, "eccentricity": 0.0167, "meanAnomaly": 30, "inclination": 5}
MOON = {"units": "astronomical", "semiMajorAxis": 0.00257, "eccentricity": 0.055, "meanAnomaly": 100}


def system(**changes: dict[str, Any]) -> dict[str, dict[str, Any]]:
    stars: dict[str, dict[str, Any]] = {
        "sun": {"mass": 1.0, "parentId": None},
        "earth": {"mass": 3.0e-6, "parentId": "sun", "kepler": EARTH},
        "moon": {"mass": 3.7e-8, "parentId": "earth", "kepler": MOON},
        "rock": {"mass": 0, "parentId": "sun", "kepler": {**EARTH, "semiMajorAxis": 2.5}},
    }
    return {body_id: {**fields, **changes.get(body_id, {})} for body_id, fields in stars.items()}


def test_bodies_keep_their_relative_motion_about_a_resting_barycentre() -> None:
    masses, positions, velocities = initial_conditions(system(), ["moon", "sun", "earth", "rock"], 12.5)
    assert masses.tolist() == [3.7e-8, 1.0, 3.0e-6, 0]
    assert masses @ positions == pytest.approx(np.zeros(3), abs=1e-16)
    assert masses @ velocities == pytest.approx(np.zeros(3), abs=1e-18)
    period = orbital_period(1.0, 1 + 3.0e-6)
    earth = Elements(1.0, 0.0167, period=period, mean_anomaly=30, inclination=5)
    assert positions[2] - positions[1] == pytest.approx(earth.positions(12.5)[0], abs=1e-14)
    assert velocities[2] - velocities[1] == pytest.approx(earth.velocities(12.5)[0], abs=1e-16)
    moon = Elements(0.00257, 0.055, period=orbital_period(0.00257, 3.037e-6), mean_anomaly=100)
    assert positions[0] - positions[2] == pytest.approx(moon.positions(12.5)[0], abs=1e-14)
    assert velocities[0] - velocities[2] == pytest.approx(moon.velocities(12.5)[0], abs=1e-16)


def test_what_starts_on_a_kepler_orbit_stays_on_it_when_only_two_attract() -> None:
    run = integrate(*initial_conditions(system(), ["sun", "earth"], 0.0), duration=365.0, step=0.5, method="yoshida6")
    _, later, _ = initial_conditions(system(), ["sun", "earth"], 365.0)
    assert run.positions == pytest.approx(later, abs=1e-10)


def test_bodies_between_a_chosen_one_and_the_origin_count_for_where_it_is() -> None:
    _, both, _ = initial_conditions(system(), ["sun", "moon"], 3.0)
    _, all_three, _ = initial_conditions(system(), ["sun", "earth", "moon"], 3.0)
    assert both[1] - both[0] == pytest.approx(all_three[2] - all_three[0], abs=1e-15)


def test_a_root_may_have_an_orbit_of_its_own() -> None:
    block = {"units": "astronomical", "semiMajorAxis": 2.0, "period": 900}
    masses, positions, _ = initial_conditions(system(sun={"kepler": block}), ["sun", "earth"], 0.0)
    assert masses @ positions == pytest.approx(np.zeros(3), abs=1e-15)


@pytest.mark.parametrize(
    ("body_id", "change", "field"),
    [
        ("earth", {"kepler": None}, "kepler"),
        ("earth", {"kepler": {**EARTH, "units": "scene", "period": 365}}, "kepler.units"),
        ("earth", {"kepler": {**EARTH, "eccentricity": 1.1}}, "kepler.eccentricity"),
        ("moon", {"mass": None}, "mass"),
        ("moon", {"mass": -1}, "mass"),
        ("moon", {"mass": "heavy"}, "mass"),
        ("moon", {"parentId": None, "kepler": None}, "kepler"),
    ],
)
def test_a_body_that_lacks_something_is_refused_with_what_to_do(
    body_id: str, change: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidInput, match=f"'{body_id}'") as refused:
        initial_conditions(system(**{body_id: change}), ["sun", "moon"], 0.0)
    assert refused.value.ids["id"] == body_id
    assert refused.value.ids["argument"] == field
    assert refused.value.hint.startswith(f"Set {field} to ")


def test_bodies_without_any_mass_are_refused() -> None:
    with pytest.raises(InvalidInput, match="mass"):
        initial_conditions(system(), ["rock"], 0.0)


@pytest.mark.parametrize("ids", [[], ["sun", "sun"]])
def test_no_bodies_or_one_named_twice_are_refused(ids: list[str]) -> None:
    with pytest.raises(InvalidInput) as refused:
        initial_conditions(system(), ids, 0.0)
    assert refused.value.ids["argument"] == "ids"


def test_an_unknown_body_is_not_found_by_its_name() -> None:
    with pytest.raises(NotFound, match="'pluto'"):
        initial_conditions(system(), ["sun", "pluto"], 0.0)


def test_a_ring_of_parents_ends() -> None:
    ring = {name: {"mass": 1, "parentId": other, "kepler": EARTH} for name, other in (("a", "b"), ("b", "a"))}
    masses, positions, _ = initial_conditions(ring, ["a"], 0.0)
    assert masses.tolist() == [1]
    assert positions == pytest.approx(np.zeros((1, 3)), abs=1e-15)
