"""A system that is exported and imported again is the same."""

import csv
import math
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from universe.domain.exchange.exports import ExportFormat, render_export
from universe.domain.exchange.imported_systems import BodyDraft, make_state
from universe.domain.exchange.importer import ImportOptions, import_systems
from universe.domain.nbody.initial_conditions import make_initial_conditions
from universe.domain.state import Plain, parse_state
from universe.domain.systems import list_system_names, load_system
from universe.domain.systems.stated_orbit_conversion import ConvertedOrbit
from universe.domain.units_and_dates import compute_semi_major_axis
from universe.errors import ImportRefused
from uraniborg.kernel.errors import InvalidInput

TABLES: list[ExportFormat] = ["csv", "votable"]
EXACT = ("id", "name", "bodyType", "mass", "parentId", "kepler", "stateVector", "color")
SCENE = ("orbitalDistance", "orbitalSpeed", "orbitalPhase", "radius")


def travel(state: Plain, format_name: ExportFormat) -> Plain:
    content = render_export(state, format_name, universe_id="u", name="U", version=3)
    report = import_systems([content])
    assert report.skipped == []
    parse_state(report.merge_systems())
    return report.merge_systems()


def assert_same(one: Plain, other: Plain) -> None:
    assert one["stars"].keys() == other["stars"].keys()
    for key, body in one["stars"].items():
        made = other["stars"][key]
        assert {name: made.get(name) for name in EXACT} == {name: body.get(name) for name in EXACT}
        assert made.get("sources", []) == body.get("sources", [])
        assert {**made["physical"], "massKg": 0} == {**body["physical"], "massKg": 0}
        for name in SCENE:
            assert made[name] == pytest.approx(body[name], rel=1e-7, abs=1e-9), name


@pytest.mark.parametrize("format_name", TABLES)
@pytest.mark.parametrize("name", list_system_names())
def test_shipped_systems_come_back_from_tables(name: str, format_name: ExportFormat) -> None:
    state = load_system(name)
    made = travel(state, format_name)
    assert_same(state, made)
    start, again = make_initial_conditions(state), make_initial_conditions(made)
    order = [again.ids.index(key) for key in start.ids]
    assert np.array_equal(start.positions, again.positions[order])


def test_a_name_that_a_spreadsheet_would_run_is_text_in_the_table_and_comes_back() -> None:
    state = load_system("trappist-1")
    name = '=HYPERLINK("http://x";"TRAPPIST-1")'
    body = next(iter(state["stars"].values()))
    body["name"] = name
    table = render_export(state, "csv", universe_id="u", name="U", version=3).decode()
    cells = [cell for row in csv.reader(table.splitlines()[1:]) for cell in row]
    assert f"'{name}" in cells
    assert not [cell for cell in cells if cell.startswith(("=", "@", "+"))]
    assert travel(state, "csv")["stars"][body["id"]]["name"] == name


names = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zs", "Zl", "Zp")), min_size=1, max_size=12)


@st.composite
def systems(draw: st.DrawFn) -> Plain:
    """Draw a star with planets whose elements may be unknown."""
    star = BodyDraft("star", draw(names), "star", draw(st.floats(0.1, 10)), radius_km=draw(st.floats(1e3, 1e7)))
    drafts = [star]
    for index in range(draw(st.integers(1, 4))):
        mass, period = draw(st.floats(0, 1e-3)), draw(st.floats(0.5, 1e5))
        eccentricity = draw(st.none() | st.floats(0, 0.95))
        angle = st.floats(0, 360, exclude_max=True)
        plane = draw(st.none() | st.tuples(st.floats(0, 180), angle))
        periapsis = draw(st.none() | angle)
        missing = {"eccentricity": eccentricity, "inclination": plane, "longitudeOfAscendingNode": plane}
        unknown = [f"kepler.{name}" for name, value in missing.items() if value is None]
        if periapsis is None and eccentricity != 0:
            unknown.append("kepler.argumentOfPeriapsis")
        orbit = ConvertedOrbit(
            compute_semi_major_axis(period, star.mass), eccentricity, period, draw(angle), plane, periapsis
        )
        drafts.append(
            BodyDraft(
                f"p{index}",
                draw(names),
                draw(st.sampled_from(["planet", "asteroid", "comet"])),
                mass,
                "star",
                orbit,
                derived="semiMajorAxis",
                radius_km=draw(st.floats(1, 1e5)),
                color="#aabbcc",
                physical={"unknown": unknown} if unknown else {},
                sources=[{"id": "s", "title": draw(names), "fields": ["mass", "physical.massKg"]}],
            )
        )
    return make_state(drafts)


@given(state=systems(), format_name=st.sampled_from(TABLES))
@settings(max_examples=60, deadline=None)
def test_any_system_comes_back_from_a_table(state: Plain, format_name: ExportFormat) -> None:
    assert_same(state, travel(state, format_name))


@pytest.mark.parametrize("name", ["trappist-1", "alpha-centauri"])
def test_the_start_of_a_run_comes_back_from_a_table_of_states(name: str) -> None:
    state = load_system(name)
    content = render_export(state, "rebound-csv", universe_id="u", name="U", version=1)
    made = import_systems([content]).systems[0].state
    start, again = make_initial_conditions(state), make_initial_conditions(made)
    order = [again.ids.index(key) for key in start.ids]
    assert again.names == tuple(start.names[start.ids.index(key)] for key in again.ids)
    assert np.allclose(start.positions, again.positions[order], rtol=0, atol=1e-10 * np.abs(start.positions).max())
    assert np.allclose(start.velocities, again.velocities[order], rtol=0, atol=1e-10 * np.abs(start.velocities).max())


STATES = "m,x,y,z,vx,vy,vz\n1,0,0,0,0,0,0\n1e-6,1,0,0,0,{speed},0\n"


@pytest.mark.parametrize(("units", "speed"), [("au-day", 0.01720209895), ("au-year", 2 * math.pi), ("au-yr2pi", 1.0)])
def test_states_of_rebound_are_read_in_the_given_units(units: Any, speed: float) -> None:
    content = STATES.format(speed=speed).encode()
    body = import_systems([content], ImportOptions(units=units)).systems[0].state["stars"]["body-2"]
    assert body["kepler"]["semiMajorAxis"] == pytest.approx(1, rel=1e-4)
    with pytest.raises(ImportRefused, match="does not state its units"):
        import_systems([content])
    stated = b"# units: AU, days, solar masses\n" + STATES.format(speed=0.0172).encode()
    assert import_systems([stated]).systems[0].rows == 2


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ("1,0,0,0,0,0,0\n1e-6,nan,0,0,0,1,0\n1e-6,1,0,0,0,1,0", "not a finite number"),
        ("1,0,0,0,0,0,0\n-1,2,0,0,0,1,0\n1e-6,1,0,0,0,1,0", "below 0"),
        ("1,0,0,0,0,0,0\n1e-6,,0,0,0,1,0\n1e-6,1,0,0,0,1,0", "is empty"),
    ],
)
def test_states_that_cannot_be_used_are_skipped_with_the_reason(rows: str, reason: str) -> None:
    content = f"m,x,y,z,vx,vy,vz\n{rows}\n".encode()
    report = import_systems([content], ImportOptions(units="au-yr2pi"))
    assert reason in report.skipped[0]["reason"]
    assert len(report.systems[0].state["stars"]) == 2


def test_states_in_the_same_position_or_without_mass_are_refused() -> None:
    for rows, reason in (("1,0,0,0,0,0,0\n1,0,0,0,0,0,0", "same position"), ("0,0,0,0,0,0,0", "no body has a mass")):
        with pytest.raises(ImportRefused, match=reason):
            import_systems([f"m,x,y,z,vx,vy,vz\n{rows}\n".encode()], ImportOptions(units="au-day"))


def test_a_universe_without_true_orbits_has_no_table() -> None:
    empty = cast("Plain", {"stars": {}, "time": 0})
    with pytest.raises(InvalidInput, match="no body with a true orbit"):
        render_export(empty, "csv", universe_id="u", name="U", version=0)
