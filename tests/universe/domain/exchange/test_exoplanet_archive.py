"""Tables of the NASA Exoplanet Archive become systems, and what they do not state is marked."""

from pathlib import Path
from typing import Any

import pytest

from tests.universe.domain.exchange.archive_tables import COLUMNS, PLANET, make_archive_csv
from universe.domain.exchange.imported_systems import ImportReport
from universe.domain.exchange.importer import ImportOptions, import_systems
from universe.domain.nbody.radial_velocity import measure_radial_velocities
from universe.domain.nbody.transits import measure_transit_times
from universe.domain.provenance.bibliography import collect_cited_sources, format_bibtex
from universe.domain.provenance.value_status import compute_value_status
from universe.domain.state import parse_state
from universe.domain.units_and_dates import EARTH_MASS, compute_semi_major_axis
from universe.errors import ImportRefused
from uraniborg.kernel.bibliography.reference_writers import write_csl_json
from uraniborg.kernel.bibliography.references import Reference
from uraniborg.kernel.errors import InvalidInput


def load(*rows: dict[str, Any], **options: Any) -> ImportReport:
    return import_systems([make_archive_csv(*rows)], ImportOptions(**options))


def body(report: ImportReport, key: str = "hven-1-b") -> dict[str, Any]:
    return report.merge_systems()["stars"][key]


def test_a_row_becomes_a_star_and_a_planet_whose_size_follows_from_period_and_mass() -> None:
    report = load(PLANET)
    parse_state(report.merge_systems())
    star, planet = body(report, "hven-1"), body(report)
    assert (star["mass"], star["bodyType"], star["physical"]["teffKelvin"]) == (0.8, "star", 5_000)
    assert star["physical"]["luminositySolar"] == pytest.approx(10**-0.5)
    assert planet["mass"] == pytest.approx(3 * EARTH_MASS)
    assert (planet["kepler"]["period"], planet["kepler"]["derived"]) == (10.0, "semiMajorAxis")
    assert planet["kepler"]["semiMajorAxis"] == pytest.approx(compute_semi_major_axis(10.0, 0.8 + 3 * EARTH_MASS))
    assert planet["physical"]["massIs"] == "measured"
    assert planet["physical"]["unknown"] == ["kepler.longitudeOfAscendingNode"]
    assert planet["physical"]["uncertainties"]["kepler.period"] == [0.1, -0.2]


@pytest.mark.parametrize("omega_of", ["star", "planet"])
def test_the_planet_transits_at_the_stated_time_whoever_omega_belongs_to(omega_of: Any) -> None:
    report = load({**PLANET, "pl_orbeccen": 0.3}, omega_of=omega_of)
    found = measure_transit_times(report.systems[0].state, days=25, use_kepler_orbits=True)["planets"]["hven-1-b"]
    assert found["status"] == "transits"
    assert found["firstTransit"] is not None
    assert (found["firstTransit"] - 2_459_000.25 + 5) % 10 - 5 == pytest.approx(0, abs=1e-3)
    assert body(report)["physical"]["omegaOf"] == f"{omega_of} (assumed: the archive does not state it)"
    assert any("does not state" in note for note in report.notes)


def test_each_value_keeps_the_reference_and_the_cell_it_came_from() -> None:
    planet = body(load(PLANET))
    (source,) = planet["sources"]
    assert (source["id"], source["title"], source["year"]) == ("doe-et-al-2020", "Doe et al. 2020", 2020)
    assert source["url"] == "https://example.org/doe"
    location = source["locations"]["kepler.period"]
    assert (location["header"], location["row"]) == (["pl_name", "pl_orbper"], ["Hven-1 b", "10.0"])
    assert {"mass", "radius", "kepler.period", "kepler.eccentricity"} <= set(source["fields"])
    star_source = body(load(PLANET), "hven-1")["sources"][0]
    assert star_source["id"] == "nasa-exoplanet-archive"
    assert collect_cited_sources({"p": planet})


def test_values_that_the_import_computes_or_assumes_are_not_cited() -> None:
    planet = body(load({**PLANET, "pl_orbeccen": None}))
    cited = {field for source in planet["sources"] for field in source["fields"]}
    for field in ("kepler.semiMajorAxis", "semiMajorAxis", "orbitOffsetX", "orbitalSpeed", "kepler.meanAnomaly"):
        assert field not in cited
        assert planet["setBy"][field]["by"] == "the import"
    status = compute_value_status(planet, "kepler.semiMajorAxis")
    assert (status.status, status.display_note) == ("computed", "computed by the import in version 1")
    assert planet["setBy"]["kepler.semiMajorAxis"]["basis"] == "kepler.period"
    assert "taken as a circle" in planet["setBy"]["orbitOffsetX"]["reason"]
    assert "pl_tranmid = 2459000.25 (Doe et al. 2020)" in planet["setBy"]["kepler.meanAnomaly"]["reason"]
    by_axis = body(load({**PLANET, "pl_orbper": None, "pl_orbsmax": 5.0}))
    assert by_axis["setBy"]["kepler.period"]["basis"] == "kepler.semiMajorAxis"
    assert "kepler.semiMajorAxis" not in by_axis["setBy"]


def test_the_report_says_what_was_assumed_for_how_many_planets() -> None:
    names = ("pl_orbeccen", "pl_orbincl", "pl_orblper", "pl_tranmid")
    rows = [{**PLANET, **dict.fromkeys(names), "pl_name": f"Hven-1 {letter}"} for letter in "bcde"]
    notes = load(*rows, {**PLANET, "pl_name": "Hven-2 b", "hostname": "Hven-2", "pl_bmassprov": "Msini"}).notes
    four = "4 bodies (Hven-1 b, Hven-1 c, Hven-1 d, …)"
    assert f"The eccentricity of {four} is not known: the orbits were taken as circles." in notes
    assert f"The inclination of {four} is not known: the orbits were put into a plane that is edge-on to us." in notes
    assert f"The phase of {four} is not known: the mean anomaly at time 0 was set to 0." in notes
    assert "The table dates no orbit of Hven-1: time 0 was set to J2000." in notes
    assert "The mass of Hven-2 b is a minimum, M sin i, and was taken as the mass." in notes
    assert not any("argument of periapsis of" in note and "not known" in note for note in notes)
    limited = load({**PLANET, "pl_bmasselim": 1}).notes
    assert {
        "The mass of Hven-1 b is not known and was set to 0.",
        "Limits are not values, and those of Hven-1 b were not used.",
    } <= {*limited}


def test_what_is_empty_is_unknown_and_not_zero() -> None:
    names = ("pl_orbeccen", "pl_orbincl", "pl_orblper", "pl_tranmid", "pl_bmasse", "pl_rade")
    planet = body(load({**PLANET, **dict.fromkeys(names)}))
    assert set(planet["physical"]["unknown"]) == {
        *("kepler.longitudeOfAscendingNode", "kepler.eccentricity", "kepler.inclination"),
        *("kepler.argumentOfPeriapsis", "kepler.meanAnomaly", "mass", "radius"),
    }
    assert not {"eccentricity", "inclination", "argumentOfPeriapsis"} & planet["kepler"].keys()
    assert (planet["mass"], planet["physical"]["massIs"]) == (0.0, "unknown")


@pytest.mark.parametrize(
    ("kind", "stated"), [("Msini", "minimum"), ("M-R relationship", "estimate"), (None, "not sta")]
)
def test_the_kind_of_a_mass_is_kept(kind: str | None, stated: str) -> None:
    assert body(load({**PLANET, "pl_bmassprov": kind}))["physical"]["massIs"].startswith(stated)


def test_a_limit_is_not_a_value() -> None:
    planet = body(load({**PLANET, "pl_bmasselim": 1, "pl_orbeccenlim": 1}))
    assert planet["mass"] == 0.0
    assert planet["physical"]["limits"]["mass"] == {"kind": "upper", "value": 3.0, "column": "pl_bmasse"}
    assert planet["physical"]["limits"]["kepler.eccentricity"]["kind"] == "upper"
    assert {"mass", "kepler.eccentricity"} <= set(planet["physical"]["unknown"])


def test_a_circumbinary_planet_is_refused_with_the_reason_or_built_about_the_barycentre() -> None:
    row = {**PLANET, "cb_flag": 1, "pl_orbsmax": 0.7, "pl_orbper": 228.8}
    with pytest.raises(ImportRefused, match="orbits two stars"):
        load(row)
    report = load(row, circumbinary="barycentre")
    centre = body(report, "hven-1-barycentre")
    assert centre["mass"] == pytest.approx(0.7**3 / (228.8 / 365.25) ** 2, rel=1e-3)
    assert "computed from the period" in centre["physical"]["massIs"]
    with pytest.raises(ImportRefused, match="needs pl_orbper and pl_orbsmax"):
        load({**row, "pl_orbsmax": None}, circumbinary="barycentre")


def test_a_published_axis_that_does_not_fit_is_a_remark() -> None:
    report = load({**PLANET, "pl_orbsmax": 0.5})
    assert body(report)["physical"]["publishedSemiMajorAxisAu"] == 0.5
    assert any("does not fit" in note for note in report.notes)


def test_the_axis_is_used_where_the_period_is_empty() -> None:
    planet = body(load({**PLANET, "pl_orbper": None, "pl_orbsmax": 5.0}))
    assert (planet["kepler"]["semiMajorAxis"], planet["kepler"]["derived"]) == (5.0, "period")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"pl_orbper": None}, "the size of the orbit is not known"),
        ({"pl_orbper": -3.0}, "the unit may be wrong"),
        ({"pl_orbper": "NaN"}, "not a finite number"),
        ({"pl_orbper": "ten"}, "which is not a number"),
        ({"pl_orbeccen": 1.5}, "outside of 0 to 0.9999"),
        ({"pl_tranmid": 7_257.9}, "the unit may be wrong"),
        ({"pl_bmasse": 5e7}, "the unit may be wrong"),
        ({"st_mass": 5e4}, "the star cannot be used"),
        ({"st_mass": None}, "st_mass is empty"),
        ({"pl_name": None}, "pl_name is empty"),
    ],
)
def test_a_row_that_cannot_be_used_is_skipped_with_the_reason(changes: dict[str, Any], reason: str) -> None:
    other = {**PLANET, "pl_name": "Uraniborg-2 b", "hostname": "Uraniborg-2"}
    report = load({**PLANET, **changes}, other)
    assert [one.name for one in report.systems] == ["Uraniborg-2"]
    assert reason in report.skipped[0]["reason"]
    assert report.skipped[0]["row"] == 1


def test_a_refusal_counts_all_rows_and_names_the_column_that_the_table_lacks() -> None:
    rows = [{**PLANET, "pl_name": f"Hven-{number} b", "hostname": f"Hven-{number}"} for number in range(250)]
    without = make_archive_csv(*rows, columns=tuple(name for name in COLUMNS if name != "st_mass"))
    with pytest.raises(ImportRefused, match="250 rows were skipped") as caught:
        import_systems([without])
    assert "the table has no column st_mass, and no planet" in caught.value.message
    assert (caught.value.ids["skippedCount"], len(caught.value.ids["skipped"])) == (250, 200)
    with pytest.raises(ImportRefused, match="1 row was skipped"):
        load({**PLANET, "st_mass": None})


def test_planets_of_one_host_are_one_system_and_repeated_planets_are_skipped() -> None:
    report = load(PLANET, {**PLANET, "pl_name": "Hven-1 c", "pl_orbper": 25.0}, PLANET)
    assert [(one.name, one.rows, len(one.state["stars"])) for one in report.systems] == [("Hven-1", 2, 3)]
    assert report.skipped == [{"row": 3, "name": "Hven-1 b", "reason": "the planet is in row 1 already"}]


def test_of_the_table_ps_only_default_rows_count() -> None:
    rows = [{**PLANET, "default_flag": 0, "pl_orbper": 11.0}, {**PLANET, "default_flag": 1}]
    content = make_archive_csv(*rows, columns=(*PLANET, "default_flag"))
    report = import_systems([content])
    assert (report.format, body(report)["kepler"]["period"]) == ("exoplanet-archive ps", 10.0)
    assert "default_flag" in report.skipped[0]["reason"]


def test_the_recorded_table_becomes_its_systems(shared_data: Path) -> None:
    content = (shared_data / "api" / "exoplanet_archive" / "pscomppars_16_columns.csv").read_bytes()
    report = import_systems([content])
    state = report.merge_systems()
    parse_state(state)
    planets = [one for one in state["stars"].values() if one["bodyType"] == "planet"]
    assert len(planets) + len(report.skipped) == 300
    assert len(report.systems) == len(state["rootIds"]) > 200
    assert all("kepler.eccentricity" in planet["physical"]["unknown"] for planet in planets)
    assert {one["reason"] for one in report.skipped} <= {
        "pl_orbper is empty and the table has no column pl_orbsmax: the size of the orbit is not known",
        "st_mass is empty, and no planet has both pl_orbper and pl_orbsmax",
    }


def test_a_universe_of_several_systems_is_measured_system_by_system() -> None:
    other = {**PLANET, "pl_name": "Hven-2 b", "hostname": "Hven-2", "pl_orbper": 4.0}
    both = import_systems([make_archive_csv(PLANET, other)]).merge_systems()
    alone = import_systems([make_archive_csv(other)]).merge_systems()
    found = measure_transit_times(both, ["hven-2-b"], days=20)["planets"]
    assert found == measure_transit_times(alone, ["hven-2-b"], days=20)["planets"]
    assert list(found) == ["hven-2-b"]
    velocities = measure_radial_velocities(both, "hven-2", days=8, samples=5)
    assert velocities["planets"].keys() == {"hven-2-b"}
    with pytest.raises(InvalidInput, match="it has no orbit") as caught:
        measure_transit_times(both, days=20)
    assert "bodies of one system" in caught.value.hint


def test_planets_that_the_table_lacks_are_noted() -> None:
    columns = (*COLUMNS, "sy_pnum")
    report = import_systems([make_archive_csv({**PLANET, "sy_pnum": 3}, columns=columns)])
    assert "The table lacks planets of Hven-1 (1 of 3): N-body runs and transit times are without them." in report.notes
    complete = import_systems([make_archive_csv({**PLANET, "sy_pnum": 1}, columns=columns)])
    assert not any("lacks planets" in note for note in complete.notes)


def test_the_institute_of_the_archive_is_one_name_in_every_bibliography() -> None:
    star = body(load(PLANET), "hven-1")
    assert "author = {{NASA Exoplanet Science Institute}}" in format_bibtex(collect_cited_sources({"s": star}))
    (author,) = star["sources"][0]["authors"]
    reference = Reference("archive", "other", "NASA Exoplanet Archive", (author,), year=None)
    assert '"literal": "NASA Exoplanet Science Institute"' in write_csl_json([reference])
