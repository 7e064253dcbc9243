"""Tables of bodies with a documented header."""

import pytest

from universe.domain.exchange.imported_systems import ImportReport
from universe.domain.exchange.importer import import_systems
from universe.domain.units_and_dates import EARTH_MASS, compute_semi_major_axis
from universe.errors import ImportRefused

HEADER = "name,type,parent,mass_solar,radius_km,period_days,semi_major_axis_au,eccentricity"


def load(*rows: str, header: str = HEADER) -> ImportReport:
    return import_systems(["\n".join([header, *rows]).encode()])


def test_a_minimal_table_becomes_a_system_with_marks() -> None:
    report = load("Sun,star,,1,,,,", "Earth,planet,Sun,3e-6,6371,365.25,,", "Moon,moon,Earth,3.7e-8,,27.3,,0.05")
    stars = report.systems[0].state["stars"]
    assert (stars["moon"]["parentId"], stars["earth"]["children"]) == ("earth", ["moon"])
    earth = stars["earth"]["kepler"]
    assert earth["semiMajorAxis"] == pytest.approx(compute_semi_major_axis(365.25, 1 + 3e-6 + 3.7e-8))
    assert stars["earth"]["physical"]["unknown"] == [
        "kepler.eccentricity",
        "kepler.inclination",
        "kepler.longitudeOfAscendingNode",
        "kepler.meanAnomaly",
        "kepler.argumentOfPeriapsis",
    ]
    assert "kepler.eccentricity" not in stars["moon"]["physical"]["unknown"]


def test_other_units_have_their_own_columns() -> None:
    header = "name,parent,mass_earth,radius_earth,period_years"
    stars = load("A,,333000,109,", "b,A,1,1,1", header=header).systems[0].state["stars"]
    assert stars["b"]["mass"] == pytest.approx(EARTH_MASS)
    assert stars["b"]["physical"]["radiusKm"] == pytest.approx(6_378.1)
    assert stars["b"]["kepler"]["period"] == pytest.approx(365.25)
    with pytest.raises(ImportRefused, match="Two columns state mass_solar"):
        load("A,1,1", header="name,mass_solar,mass_earth")


def test_an_orbit_may_be_given_by_its_periapsis_distance_and_eccentricity() -> None:
    header = "name,type,parent,mass_solar,periapsis_distance_au,eccentricity"
    comet = load("Sun,star,,1,,", "Comet,planet,Sun,0,0.5,0.75", header=header).systems[0].state["stars"]["comet"]
    assert comet["kepler"] == {"units": "astronomical", "q": 0.5, "eccentricity": 0.75}
    assert comet["orbitalDistance"] == pytest.approx(2.0)
    assert 360 / comet["orbitalSpeed"] == pytest.approx(365.25 * 2.0**1.5, rel=1e-3)


def test_every_root_is_a_system_and_two_hundred_rows_are_two_hundred_systems() -> None:
    rows = [row for number in range(100) for row in (f"S{number},star,,1,,,,", f"P{number},planet,S{number},0,,9,,")]
    report = load(*rows)
    assert (len(report.systems), {one.rows for one in report.systems}) == (100, {2})


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (",planet,Sun,0,,9,,", "neither name nor id"),
        ("X,planet,Sun,0,,,,", "neither period_days nor semi_major_axis_au"),
        ("X,planet,Vulcan,0,,9,,", "no body of the table has the id or name of its parent"),
        ("X,dragon,Sun,0,,9,,", "type is 'dragon'"),
        ("X,planet,Sun,-1,,9,,", "mass is below 0"),
        ("X,planet,Sun,0,,-9,,", "period_days must be above 0"),
        ("X,planet,Sun,0,,9,,-0.5", "eccentricity is below 0"),
        ("X,planet,Sun,0,,,-2,0.5", "semi_major_axis_au must be above 0"),
        ("X,planet,Sun,0,,inf,,", "not a finite number"),
        ("X,planet,Sun,heavy,,9,,", "not a number"),
        ("X,planet,X,0,,9,,", "the parents form a ring"),
        ("X,star,,,,,,", "no parent and no mass"),
        ("X,planet,Sun", "it has 3 of 8 cells"),
    ],
)
def test_a_row_that_cannot_be_used_is_skipped_with_the_reason(row: str, reason: str) -> None:
    report = load("Sun,star,,1,,,,", row)
    assert [*report.systems[0].state["stars"]] == ["sun"]
    assert reason in report.skipped[0]["reason"]


def test_bodies_with_one_name_get_different_ids_but_one_id_counts_once() -> None:
    report = load("Sun,star,,1,,,,", "X,planet,Sun,0,,9,,", "X,planet,Sun,0,,8,,")
    assert [*report.systems[0].state["stars"]] == ["sun", "x", "x-2"]
    report = load("s,Sun,,1,", "p,P,s,0,9", "p,Q,s,0,8", header="id,name,parent,mass_solar,period_days")
    assert "is in row 2 already" in report.skipped[0]["reason"]


def test_columns_that_are_not_known_are_noted() -> None:
    report = load("Sun,1,yes", header="name,mass_solar,is_nice")
    assert report.notes == ["Columns that are not known were left out: is_nice."]


def test_the_source_of_a_row_is_that_of_its_values() -> None:
    header = "name,parent,mass_solar,period_days,source"
    stars = load("A,,1,,", 'b,A,0.001,9,"Doe 2020, table 3"', header=header).systems[0].state["stars"]
    (source,) = stars["b"]["sources"]
    assert (source["id"], source["title"]) == ("doe-2020-table-3", "Doe 2020, table 3")
    assert source["fields"] == ["kepler.period", "mass"]
    assert stars["b"]["setBy"]["kepler.semiMajorAxis"] == {
        "version": 1,
        "by": "the import",
        "basis": "kepler.period",
    }
    assert "sources" not in stars["a"]


def test_bodies_with_one_name_are_numbered_without_gaps_and_each_star_is_a_system() -> None:
    table = "\n".join(["name,mass_solar", *["same,1"] * 300]).encode()
    report = import_systems([table])
    ids = [key for system in report.systems for key in system.state["stars"]]
    assert ids == ["same", *(f"same-{number}" for number in range(2, 301))]
    assert len(report.notes) == 299


def test_a_long_chain_of_moons_in_any_order_is_one_system() -> None:
    rows = [f"b{number + 1},b{number},1e-6,10" for number in range(200)]
    report = import_systems(["\n".join(["name,parent,mass_solar,period_days", *reversed(rows), "b0,,1,"]).encode()])
    assert [system.rows for system in report.systems] == [201]
    assert report.skipped == []
