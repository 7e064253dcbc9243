"""Compatible orbits agree with true orbits."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from universe.domain import systems
from universe.domain.orbits.kepler_blocks import read_elements
from universe.domain.orbits.uniform_ellipses import compute_local_position, compute_orbit_path
from universe.domain.systems.bodies import compute_scene_orbit_fields
from universe.domain.systems.stated_orbit_conversion import ConvertedOrbit


@pytest.mark.parametrize("name", systems.list_system_names())
def test_at_time_0_every_body_stands_where_its_true_orbit_has_it(name: str) -> None:
    stars = systems.load_system(name)["stars"]
    orbiting = [key for key, body in stars.items() if body["parentId"]]
    for key, place in zip(orbiting, read_elements(stars, orbiting).compute_positions(0.0), strict=True):
        assert math.dist(compute_local_position(stars[key], 0.0), place) < 1e-9 * stars[key]["orbitalDistance"], key


@pytest.mark.parametrize("name", systems.list_system_names())
def test_later_it_is_never_further_off_than_the_eccentricity_allows(name: str) -> None:
    stars = systems.load_system(name)["stars"]
    orbiting = [key for key, body in stars.items() if body["parentId"]]
    elements = read_elements(stars, orbiting)
    for key in orbiting:
        body = stars[key]
        allowed = (2.2 * body["kepler"].get("eccentricity", 0) + 1e-6) * body["orbitalDistance"]
        for part in (0.13, 0.5, 0.77, 1.0, 3.4):
            t = part * body["kepler"]["period"]
            true = elements.compute_positions(t)[orbiting.index(key)]
            assert math.dist(compute_local_position(body, t), true) < allowed, (key, part)


@pytest.mark.parametrize("name", systems.list_system_names())
def test_the_ellipse_that_is_drawn_is_the_true_one(name: str) -> None:
    stars = systems.load_system(name)["stars"]
    orbiting = [key for key, body in stars.items() if body["parentId"]]
    elements = read_elements(stars, orbiting)
    for place, key in enumerate(orbiting):
        for drawn, true in zip(compute_orbit_path(stars[key], 16), elements.compute_path(place, 16), strict=True):
            assert math.dist(drawn, true) < 1e-9 * stars[key]["orbitalDistance"], key


@given(st.floats(0, 180), st.floats(0, 360), st.floats(0, 360), st.floats(0, 0.95), st.floats(0, 360))
def test_any_orbit_can_be_expressed_in_the_terms_of_the_compatible_rule(
    tilt: float, node: float, periapsis: float, eccentricity: float, anomaly: float
) -> None:
    orbit = ConvertedOrbit(2.0, eccentricity, 100.0, anomaly, (tilt, node), periapsis)
    body: dict[str, Any] = {"id": "x", "parentId": None, **compute_scene_orbit_fields(orbit)}
    body["kepler"] = {
        "semiMajorAxis": 2.0,
        "eccentricity": eccentricity,
        "inclination": tilt,
        "longitudeOfAscendingNode": node,
        "argumentOfPeriapsis": periapsis,
        "meanAnomaly": anomaly,
        "period": 100.0,
    }
    true = read_elements({"x": body}, ["x"]).compute_positions(0.0)[0]
    assert math.dist(compute_local_position(body, 0.0), true) < 1e-8
