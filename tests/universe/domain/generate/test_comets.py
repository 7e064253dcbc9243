"""Comets are on true ellipses that do not enter their star."""

import math
from typing import Any

import pytest

from tests.universe.domain.generate.checks import State, compute_position, list_bodies
from universe.domain.generate import generate


def made(**overrides: Any) -> State:
    settings = {"maxSystems": 30, "enableComets": True, "cometFrequency": 0.8, **overrides}
    return generate("multiStarHeavy", "tails", **settings)


def test_systems_with_planets_have_as_many_comets_as_the_frequency_requires() -> None:
    state = made()
    counts = [sum(comet["parentId"] == root for comet in list_bodies(state, "comet")) for root in state["rootIds"]]
    assert set(counts) == {1, 2, 3, 4, 5}
    assert list_bodies(made(cometFrequency=0.0), "comet") == []


@pytest.mark.parametrize(("style", "highest"), [("rareLong", 0.99), ("mixed", 0.95), ("manyShort", 0.9)])
def test_the_true_orbit_reaches_the_distances_it_names(style: str, highest: float) -> None:
    state = made(cometOrbitStyle=style)
    for body in list_bodies(state, "comet"):
        comet, kepler, star = body["comet"], body["kepler"], state["stars"][body["parentId"]]
        axis, eccentricity = kepler["semiMajorAxis"], kepler["eccentricity"]
        assert 0 < eccentricity <= highest
        assert comet["perihelionDistance"] == pytest.approx(axis * (1 - eccentricity))
        assert comet["aphelionDistance"] == pytest.approx(axis * (1 + eccentricity))
        assert comet["perihelionDistance"] > star["radius"]
        assert kepler["period"] * body["orbitalSpeed"] == pytest.approx(360)
        assert kepler["units"] == "scene"


def test_both_descriptions_of_an_orbit_lie_in_one_plane() -> None:
    for body in list_bodies(made(), "comet"):
        kepler = body["kepler"]
        node, tilt = math.radians(kepler["longitudeOfAscendingNode"]), math.radians(kepler["inclination"])
        # The pole of the orbit: ecliptic x, z, y are the scene's x, y, z.
        pole = (math.sin(node) * math.sin(tilt), math.cos(tilt), -math.cos(node) * math.sin(tilt))
        for time in (0, 3, 11):
            off = sum(a * b for a, b in zip(compute_position(body, time), pole, strict=True))
            assert abs(off) < 1e-9 * body["orbitalDistance"]


def test_short_periods_are_common_if_enabled() -> None:
    long, short = (
        [comet["comet"]["isPeriodic"] for comet in list_bodies(made(cometOrbitStyle=style), "comet")]
        for style in ("rareLong", "manyShort")
    )
    assert sum(long) / len(long) < 0.25 < 0.5 < sum(short) / len(short)
