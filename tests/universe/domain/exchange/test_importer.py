"""Content of any kind is recognized, or refused with a clear reason."""

from pathlib import Path

import pytest

from tests.universe.domain.exchange.archive_tables import PLANET, make_archive_csv
from universe.domain.exchange import tables
from universe.domain.exchange.importer import ImportOptions, import_systems
from universe.errors import ImportRefused

BODIES = b"name,parent,mass_solar,period_days,eccentricity\nSun,,1,,\nEarth,Sun,3e-6,365.25,0.0167\n"
VOTABLE = """<?xml version="1.0"?><VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3"><RESOURCE>
<TABLE><FIELD name="name" datatype="char"/><FIELD name="parent" datatype="char"/>
<FIELD name="mass_solar" datatype="double" unit="{unit}"/><FIELD name="period_days" datatype="double" unit="d"/>
<DATA><TABLEDATA><TR><TD>Sun</TD><TD></TD><TD>1</TD><TD/></TR>
<TR><TD>Earth</TD><TD>Sun</TD><TD>3e-6</TD><TD>365.25</TD></TR></TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>"""


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b" \n\n", "empty"),
        (b"<!DOCTYPE html><html><body>busy</body></html>", "web page"),
        (b"\xff\xfe\x00x", "not UTF-8"),
        (b"name,parent\n\0\n", "columns"),
        (b"a,b,a\n1,2,3\n", "'a' occurs more than once"),
        (b"centralwavelng\n0.8\n", "not those of a planetary system: centralwavelng"),
        (b"pl_name,hostname\n", "has no rows"),
        (b"ERROR: ORA-00904: invalid identifier\n", "reported an error"),
        (b"\\fixlen = T\n|a|\n", "IPAC"),
        (b"[1, 2]", "not a list of rows"),
        (b"[{", "not JSON"),
        (b"<VOTABLE><RESOURCE>", "cannot be read"),
        (b"<rss/>", "not a VOTable"),
        (b"<VOTABLE><RESOURCE/></VOTABLE>", "no table"),
        (b"<VOTABLE><INFO name='Error' value='down'/></VOTABLE>", "reported an error instead of a table: down"),
        (b'<VOTABLE><INFO name="QUERY_STATUS" value="ERROR">bad ADQL</INFO></VOTABLE>', "bad ADQL"),
        (b"<VOTABLE><TABLE><DATA><BINARY/></DATA></TABLE></VOTABLE>", "encoded as BINARY"),
        (b'<!DOCTYPE a [<!ENTITY x "y">]><VOTABLE>&x;</VOTABLE>', "entities"),
        (b"API VERSION: 1.1\nAPI SOURCE: NASA/JPL Horizons API\n\nNo matches found.\n", "No matches found"),
    ],
)
def test_content_that_is_not_a_table_of_bodies_is_refused_with_the_reason(content: bytes, message: str) -> None:
    with pytest.raises(ImportRefused, match=message) as caught:
        import_systems([content])
    assert caught.value.hint


def test_content_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("universe.domain.exchange.importer.MAX_BYTES", 10)
    with pytest.raises(ImportRefused, match="can be imported"):
        import_systems([BODIES])
    monkeypatch.undo()
    monkeypatch.setattr(tables, "MAX_ROWS", 1)
    with pytest.raises(ImportRefused, match="more than 1 rows"):
        import_systems([BODIES])


def test_a_file_that_was_cut_off_gives_its_whole_rows_and_reports_the_last() -> None:
    content = make_archive_csv(PLANET, {**PLANET, "pl_name": "Hven-1 c"})
    report = import_systems([content[: len(content) - 60]])
    assert len(report.systems[0].state["stars"]) == 2
    assert "may be cut off" in report.skipped[0]["reason"] or "is not CSV" in report.skipped[0]["reason"]


def test_the_same_table_is_read_as_csv_tsv_json_and_votable() -> None:
    expected = import_systems([BODIES]).merge_systems()
    rows = b'[{"name": "Sun", "mass_solar": 1}, {"name": "Earth", "parent": "Sun", "mass_solar": 3e-6, '
    json = rows + b'"period_days": 365.25, "eccentricity": 0.0167}]'
    for content in (BODIES.replace(b",", b"\t"), BODIES.replace(b",", b";"), b"\xef\xbb\xbf" + BODIES, json):
        assert import_systems([content]).merge_systems() == expected
    votable = import_systems([VOTABLE.format(unit="solMass").encode()])
    assert votable.format == "bodies VOTable"
    assert votable.merge_systems()["stars"]["earth"]["kepler"]["period"] == 365.25


def test_units_of_a_votable_are_converted_or_refused() -> None:
    found = import_systems([VOTABLE.format(unit="earthMass").encode()]).merge_systems()["stars"]["sun"]
    assert found["mass"] == pytest.approx(3.0e-6, rel=1e-2)
    with pytest.raises(ImportRefused, match="'furlong'"):
        import_systems([VOTABLE.format(unit="furlong").encode()])


def test_a_format_that_is_given_must_fit() -> None:
    for name, message in (("archive", "no column pl_name"), ("vectors", "no positions"), ("horizons", "no table")):
        with pytest.raises(ImportRefused, match=message):
            import_systems([BODIES], ImportOptions(format=name))  # type: ignore[arg-type]
    with pytest.raises(ImportRefused, match="only from Horizons"):
        import_systems([BODIES, BODIES])


def test_a_result_that_the_service_cut_is_noted() -> None:
    overflow = VOTABLE.replace("</RESOURCE>", '<INFO name="QUERY_STATUS" value="OVERFLOW"/></RESOURCE>')
    assert "cut the result" in import_systems([overflow.format(unit="solMass").encode()]).notes[0]


def test_no_recording_of_a_service_is_taken_for_something_else(shared_data: Path) -> None:
    outcomes: dict[str, str] = {}
    for folder in ("exoplanet_archive", "cds", "horizons"):
        for path in sorted((shared_data / "api" / folder).iterdir()):
            try:
                outcomes[path.name] = import_systems([path.read_bytes()]).format
            except ImportRefused as exc:
                outcomes[path.name] = exc.message
    assert {name: text for name, text in outcomes.items() if not text.endswith(".")} == {
        "pscomppars_16_columns.csv": "exoplanet-archive pscomppars",
        "ceres_elements_single.txt": "horizons",
        "ceres_vectors_single.txt": "horizons",
        "dal_error_status.xml": "The service reported an error instead of a table: ERROR",
    }
    assert "not currently reachable" in outcomes["vizier_database_down.xml"]
    assert "execution-control file" in outcomes["tlist_error.txt"]
