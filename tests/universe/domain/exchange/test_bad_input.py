"""Bad input of every format: a refusal, or a report that names the row and the reason. Nothing is taken silently."""

import re
from pathlib import Path
from typing import Any, Final

import pytest

from tests.universe.domain.exchange.archive_tables import PLANET, make_archive_csv
from tests.universe.domain.exchange.test_horizons import answer
from universe.domain.exchange.importer import ImportOptions, import_systems
from universe.domain.state import parse_state
from universe.errors import ImportRefused
from universe.service.universe_files import is_universe_file, read_table_file

SECOND: Final = {**PLANET, "pl_name": "Hven-1 c", "pl_orbper": 20.0}
TAP: Final = b"""[{"pl_name": "Hven-1 b", "hostname": "Hven-1", "pl_orbper": 10.0, "st_mass": 0.8},
 {"pl_name": "%b", "hostname": "Hven-1", "pl_orbper": %b, "st_mass": 0.8}]"""
VOTABLE: Final = b"""<VOTABLE version="1.4"><RESOURCE><TABLE>
<FIELD name="name" datatype="char"/><FIELD name="parent" datatype="char"/>
<FIELD name="mass_solar" datatype="double" unit="%b"/><FIELD name="period_days" datatype="double" unit="d"/>
<DATA><TABLEDATA><TR><TD>Sun</TD><TD></TD><TD>1</TD><TD/></TR>
<TR><TD>Earth</TD><TD>Sun</TD><TD>3e-6</TD><TD>365.25</TD></TR>
<TR><TD>%b</TD><TD>Sun</TD><TD>3e-7</TD><TD>%b</TD></TR></TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>"""
BODIES: Final = b"name,parent,mass_solar,period_days\nSun,,1,\nEarth,Sun,3e-6,365.25\n%b,Sun,3e-7,%b\n"
REBOUND: Final = b"""%b
name,m,x,y,z,vx,vy,vz
Sun,1,0,0,0,0,0,0
Earth,3e-6,1,0,0,0,0.0172,0
%b,3e-7,%b,0,0,0,0.0139,0
"""
UNITS: Final = b"# units: AU, days, solar masses"
MARS: Final = "1.39, -0.013, -0.034, 0.0007, 0.0151, 0.0003,"
ELEMENTS: Final = "EC, QR, IN, OM, W, Tp, N, MA, TA, A, AD, PR,"
CERES: Final = "0.0783, 2.5, 10.5, 80.4, 73.9, 2451000.0, 0.2, %s, 8.0, 2.76, 2.9, 1680.0,"
GM: Final = "Keplerian GM    : 2.9591220828559109E-04 au^3/d^2\n"


def elements(target: str, mean: str = "6.0", **more: Any) -> bytes:
    return answer(target, CERES % mean, columns=ELEMENTS, more=GM, **{"units": "AU-D, deg", **more})


Contents = bytes | list[bytes]
GOOD: Final[dict[str, Contents]] = {
    "archive CSV": make_archive_csv(PLANET, SECOND),
    "archive TAP answer": TAP % (b"Hven-1 c", b"20.0"),
    "Horizons vectors": answer("Mars (499)", MARS),
    "Horizons elements": elements("1 Ceres (A801 AA)"),
    "VOTable": VOTABLE % (b"solMass", b"Mars", b"687"),
    "CSV": BODIES % (b"Mars", b"687"),
    "REBOUND CSV": REBOUND % (UNITS, b"Mars", b"1.52"),
}
CASES: Final[list[tuple[str, str, Contents, str]]] = [
    ("archive CSV", "truncated", make_archive_csv(PLANET, SECOND)[:-60], r"cells; the file may be cut off|is not CSV"),
    ("archive CSV", "wrong units", make_archive_csv({**PLANET, "st_mass": 1.6e30}), "st_mass is 1.6e.30.*the unit may"),
    ("archive CSV", "duplicate", make_archive_csv(PLANET, PLANET), "the planet is in row 1 already"),
    ("archive CSV", "NaN", make_archive_csv(PLANET, {**SECOND, "pl_orbper": float("nan")}), "pl_orbper is nan.*finite"),
    ("archive TAP answer", "truncated", (TAP % (b"Hven-1 c", b"20.0"))[:-30], "not JSON.*cut off"),
    ("archive TAP answer", "wrong units", TAP % (b"Hven-1 c", b"1.7e15"), "pl_orbper is 1.7e.?15.*the unit may"),
    ("archive TAP answer", "duplicate", TAP % (b"Hven-1 b", b"20.0"), "the planet is in row 1 already"),
    ("archive TAP answer", "NaN", TAP % (b"Hven-1 c", b"NaN"), "not JSON"),
    ("Horizons vectors", "truncated", answer("Mars (499)", MARS)[:-30], "gave no table.*may be cut off"),
    ("Horizons vectors", "wrong units", answer("Mars (499)", MARS, units="FURLONG"), "units are 'FURLONG'"),
    ("Horizons vectors", "duplicate", [answer("Mars (499)", MARS)] * 2, "Mars.*in an earlier answer already"),
    ("Horizons vectors", "NaN", answer("Mars (499)", MARS.replace("1.39", "nan")), "not finite"),
    ("Horizons elements", "truncated", elements("Ceres")[:-30], "gave no table.*may be cut off"),
    ("Horizons elements", "wrong units", elements("Ceres", units="FURLONG, deg"), "units are 'FURLONG"),
    ("Horizons elements", "duplicate", [elements("Ceres"), elements("Ceres")], "Ceres.*in an earlier answer already"),
    ("Horizons elements", "NaN", elements("Ceres", "nan"), "not finite"),
    ("VOTable", "truncated", (VOTABLE % (b"solMass", b"Mars", b"687"))[:-40], "cannot be read.*cut off"),
    ("VOTable", "wrong units", VOTABLE % (b"furlong", b"Mars", b"687"), "'furlong'.*not a unit of this quantity"),
    ("VOTable", "duplicate", VOTABLE % (b"solMass", b"Earth", b"687"), "the name 'Earth' is in row 2 already"),
    ("VOTable", "NaN", VOTABLE % (b"solMass", b"Mars", b"NaN"), "Mars: it has a parent, but neither period_days"),
    ("CSV", "truncated", (BODIES % (b"Mars", b"687"))[:-9], "3 of 4 cells; the file may be cut off"),
    ("CSV", "wrong units", BODIES.replace(b"mass_solar", b"mass_stone") % (b"Mars", b"687"), "mass_stone"),
    ("CSV", "duplicate", BODIES % (b"Earth", b"687"), "the name 'Earth' is in row 2 already"),
    ("CSV", "NaN", BODIES % (b"Mars", b"NaN"), "period_days is NaN, which is not a finite number"),
    ("REBOUND CSV", "truncated", (REBOUND % (UNITS, b"Mars", b"1.52"))[:-12], "cells; the file may be cut off"),
    ("REBOUND CSV", "wrong units", REBOUND % (b"# units: miles", b"Mars", b"1.52"), "does not state its units"),
    ("REBOUND CSV", "duplicate", REBOUND % (UNITS, b"Earth", b"1.52"), "the name 'Earth' is in row 2 already"),
    ("REBOUND CSV", "NaN", REBOUND % (UNITS, b"Mars", b"nan"), "x is nan, which is not a finite number"),
]


def describe_outcome(contents: Contents, options: ImportOptions | None = None) -> str:
    """Return the error with its hint, or all sentences of the report. A report must have valid states."""
    try:
        report = import_systems([contents] if isinstance(contents, bytes) else contents, options)
    except ImportRefused as exc:
        return f"{exc.message} {exc.hint} {exc.ids.get('skipped', '')}"
    for system in report.systems:
        parse_state(system.state)
    return " ".join([*(f"{one['name']}: {one['reason']}" for one in report.skipped), *report.notes])


@pytest.mark.parametrize("name", GOOD)
def test_the_tables_of_this_file_are_good_without_their_faults(name: str) -> None:
    contents = GOOD[name]
    report = import_systems([contents] if isinstance(contents, bytes) else contents)
    assert report.skipped == []
    assert len(report.systems) == 1


@pytest.mark.parametrize(("name", "fault", "contents", "message"), CASES)
def test_a_fault_is_reported(name: str, fault: str, contents: Contents, message: str) -> None:
    found = describe_outcome(contents)
    assert re.search(message, found), f"{name}, {fault}: {found}"


def test_every_format_is_tried_with_every_fault() -> None:
    assert {name for name, *_ in CASES} == GOOD.keys()
    faults = ("truncated", "wrong units", "duplicate", "NaN")
    assert sorted((name, fault) for name, fault, *_ in CASES) == sorted((n, f) for n in GOOD for f in faults)


@pytest.mark.parametrize("format_name", [None, "archive", "bodies", "vectors", "horizons"])
def test_a_web_page_is_never_taken_for_a_table(format_name: Any) -> None:
    page = b"<html><head><title>503 Service Unavailable</title></head><body>name,mass\n</body></html>"
    found = describe_outcome(page, ImportOptions(format=format_name))
    assert "web page (HTML)" in found
    assert "busy" in found


@pytest.mark.parametrize("name", ["table.csv", "table.json", "table.vot", "answer.txt"])
def test_a_file_of_a_gigabyte_is_refused_without_being_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with path.open("wb") as file:
        file.write(b"{" if name.endswith("json") else b"name,mass\n")
        file.truncate(1_000_000_000)
    for read in (is_universe_file, read_table_file):
        with pytest.raises(ImportRefused, match=r"1,000,000,000 bytes; at most (64|500),000,000 can"):
            read(path)
