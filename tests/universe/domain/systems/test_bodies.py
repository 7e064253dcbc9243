"""Every number has a source."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, cast

import pytest

from universe.domain import systems
from universe.domain.orbits.jacobi_hierarchy import compute_orbited_mass
from universe.domain.units_and_dates import compute_period

FREE = {
    "physical.epochJulianDate",
    "physical.displayMagnification",
    "physical.orbitAccuracyDegrees",
    "kepler.epoch",
}
"""Choices and measurements of ours and not facts of a paper."""


def numbers(body: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for name, value in body.items():
        if isinstance(value, Mapping):
            yield from numbers(cast("Mapping[str, Any]", value), f"{name}.")
        elif isinstance(value, (int, float)) or (prefix == "stateVector." and isinstance(value, list)):
            yield prefix + name


@pytest.mark.parametrize("name", systems.list_system_names())
def test_every_number_of_every_body_is_covered_by_a_source(name: str) -> None:
    for key, body in systems.load_system(name)["stars"].items():
        covered = {field for source in body["sources"] for field in source["fields"]}
        free = FREE if body["parentId"] else FREE | {"orbitalDistance", "orbitalSpeed", "orbitalPhase"}
        assert set(numbers(body)) - covered == free & set(numbers(body)), key


@pytest.mark.parametrize("name", systems.list_system_names())
def test_sources_cover_only_fields_that_are_there(name: str) -> None:
    for key, body in systems.load_system(name)["stars"].items():
        there = {*numbers(body), "name"}
        for source in body["sources"]:
            assert source["fields"], (key, source["id"])
            assert set(source["fields"]) <= there, (key, source["id"])


def test_a_source_is_the_same_wherever_it_is_cited() -> None:
    seen: dict[str, dict[str, Any]] = {}
    for name in systems.list_system_names():
        for body in systems.load_system(name)["stars"].values():
            for source in body["sources"]:
                reply = {field: value for field, value in source.items() if field != "fields"}
                assert seen.setdefault(source["id"], reply) == reply
    assert len(seen) > 15


def test_every_source_can_be_found_by_a_doi_an_arxiv_number_an_address_or_its_journal() -> None:
    for name in systems.list_system_names():
        for body in systems.load_system(name)["stars"].values():
            for source in body["sources"]:
                assert source["title"]
                assert source["authors"]
                assert source.keys() & {"doi", "arxiv", "url", "venue", "computed"}
                assert source.get("doi", "10.").startswith("10.")


@pytest.mark.parametrize(
    ("name", "key", "kilograms", "kilometres"),
    [
        ("solar-system", "earth", 5.972e24, 6371.0),
        ("solar-system", "sun", 1.9885e30, 695_700),
        ("solar-system", "jupiter", 1.898e27, 69_911),
        ("solar-system", "moon", 7.346e22, 1737.4),
        ("solar-system", "ceres", 9.38e20, 469.7),
        ("trappist-1", "trappist-1-e", 0.692 * 5.972e24, 0.92 * 6378.1),
    ],
)
def test_physical_values_are_in_the_units_their_names_state(
    name: str, key: str, kilograms: float, kilometres: float
) -> None:
    body = systems.load_system(name)["stars"][key]
    assert body["physical"]["massKg"] == pytest.approx(kilograms, rel=1e-3)
    assert body["physical"]["radiusKm"] == pytest.approx(kilometres, rel=1e-3)
    shown = body["radius"] * 149_597_870.7 / body["physical"]["displayMagnification"]
    assert shown == pytest.approx(body["physical"]["radiusKm"])


def test_unmeasured_values_are_reported_as_such() -> None:
    kepler = systems.load_system("kepler-90")["stars"]
    assert kepler["kepler-90-b"]["physical"]["massIs"] == "estimate"
    assert "eccentricity" not in kepler["kepler-90-b"]["kepler"]
    assert kepler["kepler-90-b"]["physical"]["unknown"] == ["kepler.eccentricity", "kepler.argumentOfPeriapsis"]
    assert kepler["kepler-90-h"]["physical"]["unknown"] == ["kepler.argumentOfPeriapsis"]
    assert "argumentOfPeriapsis" not in kepler["kepler-90-h"]["kepler"]
    proxima = systems.load_system("alpha-centauri")["stars"]["proxima-centauri-b"]
    assert proxima["physical"]["massIs"] == "minimum"
    assert "inclination" not in proxima["kepler"]
    assert proxima["physical"]["unknown"] == ["kepler.inclination", "kepler.longitudeOfAscendingNode"]


@pytest.mark.parametrize("name", systems.list_system_names())
def test_every_orbit_states_which_of_axis_and_period_follows_from_the_other(name: str) -> None:
    stars = systems.load_system(name)["stars"]
    for body in stars.values():
        if body["parentId"]:
            assert body["kepler"]["derived"] in ("semiMajorAxis", "period")
            mass = compute_orbited_mass(stars, body["id"])
            kepler = body["kepler"]
            by_law = compute_period(kepler["semiMajorAxis"], mass)
            # Mean elements are no two-body orbits; those of Proxima are rounded to two digits.
            assert by_law == pytest.approx(kepler.get("osculatingPeriod", kepler["period"]), rel=0.025)


@pytest.mark.parametrize(
    ("letter", "along", "across", "transit"),
    [("b", -0.00215, 0.00217, 2457257.55044), ("e", 0.00433, -0.00461, 2457257.82771)],
)
def test_planets_of_trappist_1_transit_270_degrees_less_omega_after_the_periapsis(
    letter: str, along: float, across: float, transit: float
) -> None:
    # Agol et al. (2021, PSJ 2, 1) give e cos omega and e sin omega with the line of sight pointing away from us.
    body = systems.load_system("trappist-1")["stars"][f"trappist-1-{letter}"]
    assert body["physical"]["omegaOf"] == "planet-away"
    kepler = body["kepler"]
    e, omega = math.hypot(along, across), math.atan2(across, along)
    true = 1.5 * math.pi - omega
    eccentric = 2 * math.atan(math.sqrt((1 - e) / (1 + e)) * math.tan(true / 2))
    mean = math.degrees(eccentric - e * math.sin(eccentric))
    since = (2457257.93115525 - transit) / kepler["osculatingPeriod"] * 360
    assert (kepler["meanAnomaly"] - since - mean + 180) % 360 - 180 == pytest.approx(0, abs=1e-5)


def test_mean_periods_report_that_they_are_computed() -> None:
    for body in systems.load_system("trappist-1")["stars"].values():
        for source in body["sources"]:
            if "kepler.period" in source["fields"]:
                assert source["id"] == "trappist1periods"
                assert "computed and not published" in source["title"]
            if "kepler.osculatingPeriod" in source["fields"]:
                assert source["id"] == "agol2021"
                assert "kepler.semiMajorAxis" in source["fields"]
