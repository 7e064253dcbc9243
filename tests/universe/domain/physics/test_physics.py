"""Physical quantities against published ones, and reports of unknown values."""

from typing import Any

import pytest

from tests.universe.domain.nbody.measured_systems import one_planet
from universe.domain import systems
from universe.domain.physics import formulas, report_physics, report_zones
from universe.domain.physics.formulas import compute_habitable_zone, compute_starlight_limit
from universe.domain.physics.physics_report import make_computed_sources_entry
from universe.domain.provenance.bibliography import collect_cited_sources
from uraniborg.kernel.errors import InvalidInput

report: Any = report_physics
report_only_zones: Any = report_zones

A0, A3 = "equilibriumTemperature, A = 0", "equilibriumTemperature, A = 0.3"


def values(reply: dict[str, Any], body_id: str) -> dict[str, Any]:
    return {name: one["value"] for name, one in reply["bodies"][body_id]["quantities"].items()}


def test_the_earth_has_the_sunlight_temperature_and_bulk_that_textbooks_state() -> None:
    earth = values(report(systems.load_system("solar-system")), "earth")
    assert earth["insolation"] == pytest.approx(1, abs=0.001)
    assert earth[A0] == pytest.approx(279, abs=1)
    assert earth[A3] == pytest.approx(255, abs=1)
    assert earth["habitableZone"] == "inside"
    assert earth["meanDensity"] == pytest.approx(5.51, abs=0.01)
    assert earth["surfaceGravity"] == pytest.approx(9.82, abs=0.01)
    assert earth["escapeSpeed"] == pytest.approx(11.19, abs=0.01)
    assert earth["hillRadius"] == pytest.approx(0.0098, abs=0.0001)


def test_insolation_and_temperatures_of_trappist_1_follow_from_its_luminosity_and_distances() -> None:
    reply = report(systems.load_system("trappist-1"))
    planets = [values(reply, f"trappist-1-{letter}") for letter in "bcdefgh"]
    # S = L / a^2 with 0.000553 solar luminosities; T = 278.6 K S^(1/4) without reflection.
    distances = [0.01154, 0.01580, 0.02227, 0.02925, 0.03849, 0.04683, 0.06189]
    assert [one["insolation"] for one in planets] == pytest.approx([0.000553 / a**2 for a in distances], rel=0.005)
    assert planets[0][A0] == pytest.approx(278.6 * planets[0]["insolation"] ** 0.25, abs=1)


def test_the_habitable_zone_of_the_sun_is_that_of_kopparapu_et_al_2014() -> None:
    zone = compute_habitable_zone(5780, 1.0)
    assert zone is not None
    found = [zone.distances[name] for name in ("recentVenus", "runawayGreenhouse", "maximumGreenhouse", "earlyMars")]
    assert found == pytest.approx([0.750, 0.950, 1.676, 1.768], abs=0.0005)
    assert zone.note is None
    assert [zone.classify_insolation(light) for light in (1.9, 1.5, 1.0, 0.34, 0.2)] == [
        "too hot",
        "optimistic edge",
        "inside",
        "optimistic edge",
        "too cold",
    ]


def test_a_star_below_the_range_of_the_fit_has_marked_limits() -> None:
    reply = report(systems.load_system("trappist-1"))
    zone = reply["zones"]["trappist-1"]
    found = [one["au"] for one in zone["limits"].values()]
    assert found == pytest.approx([0.019, 0.025, 0.050, 0.053], abs=0.0005)
    assert zone["temperature"] == 2600
    assert "The star has 2566 K; its habitable zone was computed for 2600 K, the lower limit of the" in zone["note"]
    assert reply["notes"] == [f"TRAPPIST-1: {zone['note']}"]


def test_a_star_above_the_range_of_the_fit_has_no_zone() -> None:
    assert compute_habitable_zone(7201, 5.0) is None
    assert compute_habitable_zone(7200, 5.0) is not None
    assert compute_starlight_limit("runawayGreenhouse", 5780) == 1.107
    state = one_planet()
    state["stars"]["star"]["physical"]["teffKelvin"] = 9000
    reply = report(state)
    assert reply["zones"]["star"]["limits"] is None
    assert "ends at 7200 K" in reply["notes"][0]
    assert "habitableZone" not in values(reply, "planet")
    assert values(reply, "planet")["insolation"] > 0


def test_an_unknown_luminosity_is_unknown_and_not_guessed() -> None:
    reply = report(one_planet())
    star, planet = values(reply, "star"), values(reply, "planet")
    assert (star["effectiveTemperature"], star["luminosity"]) == (None, None)
    assert (planet["insolation"], planet[A0]) == (None, None)
    assert reply["bodies"]["planet"]["quantities"]["insolation"]["unknown"] == "the star's luminosity is unknown"
    assert "habitableZone" not in planet
    assert reply["sources"] == []


@pytest.mark.parametrize("value", ["hot", -5, 0, float("nan"), float("inf"), [1], True])
def test_a_meaningless_temperature_counts_as_unknown(value: Any) -> None:
    state = one_planet()
    state["stars"]["star"]["physical"]["teffKelvin"] = value
    assert values(report(state), "star")["effectiveTemperature"] is None


def test_temperature_and_luminosity_follow_from_each_other_with_the_paper_named() -> None:
    reply = report(systems.load_system("alpha-centauri"))
    assert values(reply, "alpha-centauri-a")["effectiveTemperature"] == pytest.approx(5795, abs=19)
    assert reply["bodies"]["alpha-centauri-a"]["quantities"]["effectiveTemperature"]["paper"] == "prsa2016"
    assert reply["bodies"]["alpha-centauri-a"]["quantities"]["luminosity"]["paper"] is None
    assert formulas.compute_luminosity(1, 5772) == 1
    assert formulas.compute_effective_temperature(2, formulas.compute_luminosity(2, 4000)) == pytest.approx(4000)


def test_zones_alone_are_those_of_the_whole_report() -> None:
    state = systems.load_system("alpha-centauri")
    alone = report_only_zones(state)
    assert alone["zones"] == report(state)["zones"]
    assert "bodies" not in alone


def test_a_moon_has_the_starlight_of_its_planet() -> None:
    reply = report(systems.load_system("solar-system"))
    assert values(reply, "moon")["insolation"] == values(reply, "earth")["insolation"]
    assert reply["bodies"]["moon"]["star"] == "sun"


def test_scene_units_are_refused() -> None:
    state = one_planet()
    state["stars"]["planet"]["kepler"]["units"] = "scene"
    with pytest.raises(InvalidInput, match="no body in astronomical units"):
        report(state)


def test_bodies_without_a_star_have_no_climate() -> None:
    state = one_planet()
    state["stars"]["star"]["bodyType"] = "blackHole"
    reply = report(state)
    assert reply["zones"] == {}
    assert reply["bodies"]["planet"]["star"] is None
    assert "insolation" not in values(reply, "planet")


def test_every_computed_quantity_names_its_paper_in_the_bibliography() -> None:
    state = systems.load_system("trappist-1")
    cited = {one.id: one for one in collect_cited_sources({**state["stars"], **make_computed_sources_entry(state)})}
    assert {"agol2021", "kopparapu2014", "mendez2017", "hamilton1992", "winn2010", "lovis2010"} <= cited.keys()
    assert cited["kopparapu2014"].uses == [("computed quantities", ("habitableZone",))]
    named = {one["paper"] for body in report(state)["bodies"].values() for one in body["quantities"].values()}
    assert named - {None} <= cited.keys()
