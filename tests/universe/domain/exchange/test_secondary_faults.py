"""Faults of secondary parts of a table: its header, its single cells of JSON, and the frame around its rows."""

import json
import re
from typing import Any, Final

import pytest

from tests.universe.domain.exchange.archive_tables import COLUMNS, PLANET, make_archive_csv
from tests.universe.domain.exchange.test_bad_input import (
    BODIES,
    ELEMENTS,
    GM,
    MARS,
    VOTABLE,
    Contents,
    describe_outcome,
)
from tests.universe.domain.exchange.test_horizons import answer
from universe.domain.exchange import tables
from universe.domain.exchange.importer import import_systems
from universe.domain.exchange.tables import decode_text, parse_csv, parse_json_rows
from universe.errors import ImportRefused

CELLS: Final = "name,parent,mass_solar,period_days,derived,physical_json,sources_json\n"


def make_bodies(*cells: str) -> bytes:
    """Return a table with a star, and a planet that has these cells after its period."""
    return f"{CELLS}Sun,,1,,,,\nMars,Sun,0,687,{','.join(cells)}\n".encode()


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        (make_bodies("both", "", ""), "Mars: derived must be semiMajorAxis or period"),
        (make_bodies("", "{x", ""), r"Mars: physical_json is not JSON \("),
        (make_bodies("", "[]", ""), "Mars: physical_json is not a JSON object"),
        (make_bodies("", "", "{}"), "Mars: sources_json is not a JSON list"),
        (make_bodies("", "", "[{}]"), "Mars: sources_json is not a list of sources with ids"),
        (make_bodies("", "", "[3]"), "Mars: sources_json is not a list of sources with ids"),
        (b"# only a comment\n\n", "The table has no header line. The first line must name the columns."),
        (b'name,"mass\n', "The header line is not CSV: .* Quote names that contain commas."),
        (b"name,mass_solar,name\nSun,1,x\n", "the column 'name' occurs more than once. Name each column once."),
        (BODIES % (b"Mars", b"687") + b'"Earth\n', r"line 5 is not CSV \(.*\); the rest was not read"),
        (
            (VOTABLE % (b"solMass", b"Mars", b"687")).replace(b'"parent"', b'"NAME"'),
            "Two columns of the VOTable have the same name",
        ),
        ((VOTABLE % (b"solMass", b"Mars", b"687")).replace(b"<TD/>", b""), "it has 3 of 4 cells"),
        (b"<VOTABLE></VOTABLE>", "The VOTable has no table. The query may have failed"),
        (b"<TABLE></TABLE>", "its root element is 'TABLE'. Ask for format=votable."),
        (answer("Mars (499)", "").replace(b"2451545.0, A.D. 2000-Jan-01 12:00:00.0000,", b""), "Horizons is empty"),
        (b'{"signature": {"source": "NASA/JPL Horizons API"}', "The answer of Horizons is not JSON"),
        (answer("Mars (499)", MARS, centre="Jupiter (599)"), "about the body 599, which is not among the answers"),
        (
            answer("Io (501)", "0.004, 421000, 2, 80, 70, 1, 1, 6, 8, 421700, 423000, 1.7,", columns=ELEMENTS,
                   centre="Jupiter (599)", units="KM-S, deg"),
            r"does not state the mass of the centre \(Keplerian GM\)",
        ),
        (make_archive_csv({**PLANET, "pl_orbper": None, "pl_orbsmax": 1e-5}), "pl_orbsmax is 1e-05 AU: the unit"),
        (make_archive_csv({**PLANET, "pl_orbper": None}), "the size of the orbit is not known"),
    ],
)  # fmt: skip
def test_a_fault_of_a_secondary_part_is_named(contents: Contents, message: str) -> None:
    assert re.search(message, found := describe_outcome(contents)), found


def test_a_body_whose_parent_was_skipped_is_skipped_and_the_rest_is_read() -> None:
    table = b"name,parent,mass_solar,period_days\nSun,,1,\nMars,Sun,0,\nPhobos,Mars,0,0.3\nEarth,Sun,0,365\n"
    report = import_systems([table])
    assert set(report.systems[0].state["stars"]) == {"sun", "earth"}
    assert [(one["name"], one["reason"]) for one in report.skipped] == [
        ("Mars", "it has a parent, but neither period_days nor semi_major_axis_au"),
        ("Phobos", "its parent was skipped"),
    ]


def test_empty_lines_and_a_last_line_without_an_end_are_no_rows() -> None:
    table = parse_csv("# of Tycho\n\nname\tmass\n\nMars\t1\n , \n\t\nEarth\t2")
    assert (table.comments, table.rows) == (
        ["of Tycho", ""],
        [(1, {"name": "Mars", "mass": "1"}), (3, {"name": "Earth", "mass": "2"})],
    )
    assert table.problems == [(2, "it has 1 of 2 cells; the file may be cut off or edited")]


def test_json_rows_may_lack_columns_and_have_cells_that_are_no_text() -> None:
    table = parse_json_rows(b'[{"Name": "Mars", "Mass": 1.5, "moons": [1], "ring": null}, {"name": " Io ", "n": 3}]')
    assert list(table.units) == ["name", "mass", "moons", "ring", "n"]
    assert table.rows == [(1, {"name": "Mars", "mass": "1.5"}), (2, {"name": "Io", "n": "3"})]


def test_a_table_has_at_most_its_limits_of_bytes_and_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    def read_rows(count: int) -> None:
        rows = [f"b{number}" for number in range(count)]
        parse_csv("\n".join(["name,", *(f"{name}," for name in rows)]))
        parse_json_rows(json.dumps([{"name": name} for name in rows]).encode())

    monkeypatch.setattr(tables, "MAX_ROWS", 3)
    read_rows(3)
    with pytest.raises(ImportRefused, match="The table has more than 3 rows"):
        read_rows(4)
    monkeypatch.setattr(tables, "MAX_ROWS", 3)
    assert import_systems([VOTABLE % (b"solMass", b"Mars", b"687")]).skipped == []
    monkeypatch.setattr(tables, "MAX_ROWS", 2)
    with pytest.raises(ImportRefused, match="The VOTable has more than 2 rows"):
        import_systems([VOTABLE % (b"solMass", b"Mars", b"687")])
    monkeypatch.setattr(tables, "MAX_BYTES", 4)
    assert decode_text(b"\xef\xbb\xbfa") == "a"
    with pytest.raises(ImportRefused, match="5 bytes; at most"):
        decode_text(b"abcde")


@pytest.mark.parametrize(("fault", "value"), [("error", "busy"), ("QUERY_STATUS", "ERROR")])
def test_an_error_that_a_service_reports_inside_a_votable_is_repeated(fault: str, value: str) -> None:
    reported = f'<RESOURCE><INFO name="{fault}" value="{value}">try  later</INFO>'.encode()
    message = "busy" if fault == "error" else "try later"
    found = describe_outcome((VOTABLE % (b"solMass", b"Mars", b"687")).replace(b"<RESOURCE>", reported))
    assert found.startswith(f"The service reported an error instead of a table: {message} Repeat the query later")


def test_a_result_that_a_service_cut_is_noted() -> None:
    cut = b'<RESOURCE><INFO name="QUERY_STATUS" value="OVERFLOW"/>'
    found = describe_outcome((VOTABLE % (b"solMass", b"Mars", b"687")).replace(b"<RESOURCE>", cut))
    assert "The service cut the result: it has more rows than the file." in found


def test_elements_about_an_equatorial_plane_are_turned_into_the_ecliptic() -> None:
    def read(frame: str) -> dict[str, Any]:
        cells = "0.1, 2.5, 23.43928, 0.0, 70.0, 2451000.0, 0.2, 6.0, 8.0, 2.76, 2.9, 1680.0,"
        given = answer("Ceres", cells, columns=ELEMENTS, more=GM, units="AU-D, deg", frame=frame)
        (system,) = import_systems([given]).systems
        return system.state["stars"]["ceres"]["kepler"]

    turned, kept = read("ICRF"), read("Ecliptic of J2000.0")
    assert kept["inclination"] == pytest.approx(23.43928)
    assert turned["inclination"] == pytest.approx(0.0, abs=1e-3)
    assert turned["semiMajorAxis"] == kept["semiMajorAxis"]


@pytest.mark.parametrize(
    ("systems", "listed"),
    [
        (1, "of S0 (1 of 2):"),
        (3, "of S0 (1 of 2), S1 (1 of 2), S2 (1 of 2):"),
        (4, "of S0 (1 of 2), S1 (1 of 2), S2 (1 of 2) and 1 more:"),
    ],
)
def test_systems_of_which_planets_are_missing_are_listed(systems: int, listed: str) -> None:
    rows = [{**PLANET, "hostname": f"S{n}", "pl_name": f"S{n} b", "sy_pnum": 2} for n in range(systems)]
    whole = {**PLANET, "hostname": "W", "pl_name": "W b", "sy_pnum": 1}
    unknown = {**PLANET, "hostname": "U", "pl_name": "U b", "sy_pnum": "two"}
    found = describe_outcome(make_archive_csv(*rows, whole, unknown, columns=(*COLUMNS, "sy_pnum")))
    assert f"The table lacks planets {listed} N-body runs and transit times are without them." in found
