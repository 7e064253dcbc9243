"""Reading of `kepler` blocks, with defaults and errors."""

from typing import Any

import numpy as np
import pytest

from universe.domain.orbits.kepler_blocks import read_elements, read_kepler_orbit
from uraniborg.kernel.errors import InvalidInput


def world(block: object, **body: Any) -> dict[str, dict[str, Any]]:
    return {"sun": {"mass": 1.0, "parentId": None}, "x": {"mass": 0.0, "parentId": "sun", "kepler": block, **body}}


def test_a_block_takes_its_defaults() -> None:
    orbit = read_kepler_orbit(world({"semiMajorAxis": 2, "period": 8, "eccentricity": None}), "x")
    assert (orbit.units, orbit.semi_major_axis, orbit.period) == ("scene", 2, 8)
    assert (orbit.eccentricity, orbit.inclination, orbit.mean_anomaly, orbit.epoch) == (0, 0, 0, 0)


def test_an_astronomical_period_follows_from_the_masses_unless_it_is_given() -> None:
    block = {"units": "astronomical", "semiMajorAxis": 4}
    assert read_kepler_orbit(world(block), "x").period == pytest.approx(8 * 365.2568983, rel=1e-9)
    assert read_kepler_orbit(world(block, mass=3.0), "x").period == pytest.approx(4 * 365.2568983, rel=1e-9)
    assert read_kepler_orbit(world({**block, "period": 100}), "x").period == 100


@pytest.mark.parametrize(
    ("block", "axis", "nearest"),
    [
        ({"q": 0.5, "eccentricity": 0.5}, 1.0, 0.5),
        ({"q": 0.5, "eccentricity": 1}, float("inf"), 0.5),
        ({"q": 0.5, "eccentricity": 2}, -0.5, 0.5),
        ({"semiMajorAxis": -0.5, "eccentricity": 2}, -0.5, 0.5),
        ({"semiMajorAxis": 2, "q": None, "eccentricity": 0.5}, 2, 1.0),
    ],
)
def test_an_orbit_has_a_semi_major_axis_or_a_periapsis_distance(
    block: dict[str, Any], axis: float, nearest: float
) -> None:
    orbit = read_kepler_orbit(world({"period": 8, **block}), "x")
    assert (orbit.semi_major_axis, orbit.periapsis_distance) == (axis, nearest)


def test_the_time_scale_of_an_open_orbit_follows_from_the_masses() -> None:
    for block in ({"semiMajorAxis": -4, "eccentricity": 1.5}, {"q": 4, "eccentricity": 1}):
        orbit = read_kepler_orbit(world({"units": "astronomical", **block}), "x")
        assert orbit.period == pytest.approx(8 * 365.2568983, rel=1e-9)


def test_a_period_counts_all_masses_inside_the_orbit() -> None:
    stars = world({"units": "astronomical", "semiMajorAxis": 4})
    stars["inner"] = {"mass": 3.0, "parentId": "sun", "kepler": {"units": "astronomical", "semiMajorAxis": 1}}
    assert read_kepler_orbit(stars, "x").period == pytest.approx(4 * 365.2568983, rel=1e-9)


def test_every_element_reaches_the_arrays() -> None:
    block = {
        "semiMajorAxis": 2,
        "eccentricity": 0.5,
        "inclination": 90,
        "longitudeOfAscendingNode": 90,
        "argumentOfPeriapsis": 90,
        "meanAnomaly": 180,
        "epoch": 3,
        "period": 8,
    }
    found = read_elements(world(block), ["x"])
    assert found.compute_positions(7.0)[0] == pytest.approx([0, 1, 0], abs=1e-14)
    assert found.compute_positions(3.0)[0] == pytest.approx([0, -3, 0], abs=1e-14)
    assert np.isfinite(found.compute_velocities(3.0)).all()


@pytest.mark.parametrize(
    ("block", "field"),
    [
        ({"semiMajorAxis": 1, "period": 1, "eccentricity": 1}, "semiMajorAxis"),
        ({"semiMajorAxis": 1, "q": 1, "period": 1, "eccentricity": 1}, "q"),
        ({"semiMajorAxis": 1, "q": 1, "period": 1}, "q"),
        ({"period": 1, "eccentricity": 1}, "q"),
        ({"q": 0, "period": 1, "eccentricity": 1.5}, "q"),
        ({"semiMajorAxis": 1, "period": 1, "eccentricity": 1.5}, "semiMajorAxis"),
        ({"semiMajorAxis": -1, "period": 1, "eccentricity": 0.5}, "semiMajorAxis"),
        ({"semiMajorAxis": 1, "period": 1, "derived": "mass"}, "derived"),
        ({"semiMajorAxis": 1, "period": 1, "osculatingPeriod": -1}, "osculatingPeriod"),
        ({"semiMajorAxis": 1, "period": 1, "eccentricity": -0.1}, "eccentricity"),
        ({"semiMajorAxis": 1, "period": 1, "eccentricity": "0.1"}, "eccentricity"),
        ({"semiMajorAxis": 1, "period": 1, "inclination": float("nan")}, "inclination"),
        ({"semiMajorAxis": 0, "period": 1}, "semiMajorAxis"),
        ({"period": 1}, "semiMajorAxis"),
        ({"semiMajorAxis": 1}, "period"),
        ({"semiMajorAxis": 1, "period": 0}, "period"),
        ({"semiMajorAxis": 1, "period": 1, "units": "imperial"}, "units"),
        ({"semiMajorAxis": 1, "period": 1, "units": []}, "units"),
    ],
)
def test_an_invalid_orbit_is_refused_with_the_body_and_the_field(block: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput, match="'x'") as refused:
        read_elements(world(block), ["x"])
    assert refused.value.ids["id"] == "x"
    assert refused.value.ids["argument"] == f"kepler.{field}"
    assert refused.value.ids["allowed"] in refused.value.hint


@pytest.mark.parametrize("masses", [(0.0, 0.0), (None, None), ("1", 1.0)])
def test_a_period_that_the_masses_do_not_give_is_refused(masses: tuple[Any, Any]) -> None:
    stars = world({"units": "astronomical", "semiMajorAxis": 1}, mass=masses[1])
    stars["sun"]["mass"] = masses[0]
    with pytest.raises(InvalidInput) as refused:
        read_kepler_orbit(stars, "x")
    assert refused.value.ids["argument"] == "kepler.period"


@pytest.mark.parametrize("block", [None, 5, "ellipse", []])
def test_a_body_without_a_block_is_refused(block: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_elements(world(block), ["x"])
    assert refused.value.ids["argument"] == "kepler"
