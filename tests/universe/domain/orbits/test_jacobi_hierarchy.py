"""The Jacobi rule: the centre and the mass of each orbit, for planets, moons and binaries."""

import sys
from subprocess import run
from typing import Any

import pytest

from universe.domain import systems
from universe.domain.orbits.jacobi_hierarchy import (
    ROOT,
    build_hierarchy,
    compute_orbited_mass,
    compute_orbited_masses,
    make_orbit_sort_key,
)


def body(mass: float, parent: str | None = None, **kepler: Any) -> dict[str, Any]:
    return {"mass": mass, "parentId": parent} | ({"kepler": {"units": "astronomical", **kepler}} if kepler else {})


BINARY = {
    # Kepler-16 (Doyle et al. 2011, Science 333, 1602): two stars 0.224 AU apart and a planet about both of them.
    "a": body(0.6897),
    "b": body(0.20255, "a", semiMajorAxis=0.22431, eccentricity=0.15944),
    "planet": body(3.18e-4, "a", semiMajorAxis=0.7048, eccentricity=0.0069),
    "planet-of-b": body(1e-6, "b", semiMajorAxis=0.01),
    "near-a": body(2e-6, "a", semiMajorAxis=0.02),
}


def test_a_planet_orbits_the_star_and_the_planets_further_in() -> None:
    stars = {"s": body(1.0), "far": body(0.1, "s", semiMajorAxis=5), "near": body(0.01, "s", semiMajorAxis=1)}
    assert compute_orbited_mass(stars, "near") == pytest.approx(1.01)
    assert compute_orbited_mass(stars, "far") == pytest.approx(1.11)
    assert compute_orbited_mass(stars, "s") == 0


def test_a_planet_with_a_moon_counts_with_its_moon() -> None:
    stars = {"s": body(1.0), "p": body(0.1, "s", semiMajorAxis=1), "m": body(0.02, "p", semiMajorAxis=0.01)}
    assert compute_orbited_mass(stars, "m") == pytest.approx(0.12)
    assert compute_orbited_mass(stars, "p") == pytest.approx(1.12)


def test_a_circumbinary_planet_orbits_both_stars_although_its_parent_is_one() -> None:
    grouping = build_hierarchy(BINARY, BINARY)
    orbited = dict(zip(grouping.ids, grouping.orbited_masses, strict=True))
    assert orbited["near-a"] == pytest.approx(0.6897 + 2e-6)
    assert orbited["planet-of-b"] == pytest.approx(0.20255 + 1e-6)
    assert orbited["b"] == pytest.approx(0.6897 + 2e-6 + 0.20255 + 1e-6)
    assert orbited["planet"] == pytest.approx(sum(one["mass"] for one in BINARY.values()))
    own, centre = grouping.compute_barycentre_weights()[grouping.ids.index("planet")]
    total = 0.6897 + 2e-6 + 0.20255 + 1e-6
    assert own == {grouping.ids.index("planet"): 1.0}
    assert centre == pytest.approx({0: 0.6897 / total, 1: 0.20255 / total, 3: 1e-6 / total, 4: 2e-6 / total})


def test_proxima_orbits_alpha_centauri_a_and_b() -> None:
    stars = systems.load_system("alpha-centauri")["stars"]
    planets = sum(stars[f"proxima-centauri-{letter}"]["mass"] for letter in "bd")
    assert compute_orbited_mass(stars, "proxima-centauri") == pytest.approx(
        1.0788 + 0.9092 + 0.1221 + planets, rel=1e-12
    )
    assert compute_orbited_mass(stars, "proxima-centauri-b") == pytest.approx(0.1221 + planets, rel=1e-12)


def test_only_the_bodies_given_count() -> None:
    grouping = build_hierarchy(BINARY, ["a", "planet"])
    assert grouping.parents == (ROOT, 0)
    assert grouping.orbited_masses == pytest.approx((0, 0.6897 + 3.18e-4))
    assert build_hierarchy(BINARY, ["planet"]).list_roots() == (0,)


def test_open_orbits_are_outside_all_closed_ones() -> None:
    stars = {
        "s": body(1.0),
        "visitor": body(1e-3, "s", semiMajorAxis=-1.3, eccentricity=1.2),
        "parabola": body(1e-3, "s", q=0.1, eccentricity=1),
        "comet": body(0, "s", q=0.5, eccentricity=0.5),
        "planet": body(0.1, "s", semiMajorAxis=30),
    }
    assert sorted(stars, key=lambda one: make_orbit_sort_key(stars[one]))[1:] == [
        "comet",
        "planet",
        "parabola",
        "visitor",
    ]
    assert make_orbit_sort_key(stars["comet"])[0] == 1.0
    assert compute_orbited_mass(stars, "visitor") == pytest.approx(1.102)


def test_the_masses_of_all_orbits_at_once_are_those_of_each() -> None:
    stars = systems.load_system("solar-system")["stars"]
    together = compute_orbited_masses(stars)
    assert together == pytest.approx({body_id: compute_orbited_mass(stars, body_id) for body_id in stars}, rel=1e-14)


@pytest.mark.parametrize("mass", [None, "heavy", -1.0, float("nan")])
def test_an_invalid_mass_counts_as_absent(mass: Any) -> None:
    stars = {"s": body(1.0), "p": body(mass, "s", semiMajorAxis=1)}
    assert compute_orbited_mass(stars, "p") == 1.0


def test_orphans_and_rings_end() -> None:
    stars = {"x": body(1.0, "nowhere", semiMajorAxis=1)}
    assert compute_orbited_mass(stars, "x") == 0
    ring = {
        "c": body(1.0, "a", semiMajorAxis=3),
        "a": body(1.0, "b", semiMajorAxis=1),
        "b": body(2.0, "a", semiMajorAxis=2),
    }
    assert build_hierarchy(ring, ring).parents == (1, ROOT, 1)
    assert compute_orbited_mass(ring, "a") == pytest.approx(4.0)
    assert compute_orbited_masses(ring)["b"] > 0


def test_the_rule_needs_no_numpy() -> None:
    code = "import universe.domain.orbits.jacobi_hierarchy, sys; sys.exit('numpy' in sys.modules)"
    assert run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0
