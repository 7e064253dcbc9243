"""Answers of JPL Horizons become bodies of the Solar System."""

from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from universe.domain.exchange.importer import import_systems
from universe.domain.nbody.initial_conditions import make_initial_conditions
from universe.domain.state import parse_state
from universe.errors import ImportRefused

HEAD = """API VERSION: 1.2
API SOURCE: NASA/JPL Horizons API

*******************************************************************************
 GM (km^3/s^2)         = {gm}          Vol. Mean Radius (km) = {radius}+-0.04
Target body name: {target}                      {{source: DE441}}
Center body name: {centre}                         {{source: DE441}}
{more}Output units    : {units}
Reference frame : {frame}
*******************************************************************************
JDTDB, Calendar Date (TDB), {columns}
*******************************************************************************
$$SOE
{rows}
$$EOE
"""
VECTORS = "X, Y, Z, VX, VY, VZ,"
DATE = "2451545.0, A.D. 2000-Jan-01 12:00:00.0000,"


def answer(target: str, values: str, **more: Any) -> bytes:
    fields = {
        "gm": 42828.37,
        "radius": 3389.92,
        "centre": "Sun (10)",
        "units": "AU-D",
        "frame": "Ecliptic of J2000.0",
        "columns": VECTORS,
        "more": "",
    }
    return HEAD.format(**{**fields, **more}, target=target, rows=f"{DATE} {values}").encode()


MARS = answer("Mars (499)", "1.39, -0.013, -0.034, 0.0007, 0.0151, 0.0003,")


def states(content: list[bytes]) -> dict[str, np.ndarray[Any, Any]]:
    """Return positions and velocities relative to the Sun, by id."""
    (system,) = import_systems(content).systems
    parse_state(system.state)
    start = make_initial_conditions(system.state)
    sun = start.ids.index("sun")
    both = np.hstack([start.positions - start.positions[sun], start.velocities - start.velocities[sun]])
    return dict(zip(start.ids, both, strict=True))


def test_vectors_give_the_same_state_back() -> None:
    found = states([MARS])
    assert found["mars"] == pytest.approx([1.39, -0.013, -0.034, 0.0007, 0.0151, 0.0003], abs=1e-13)
    body = import_systems([MARS]).systems[0].state["stars"]["mars"]
    assert (body["bodyType"], body["physical"]["radiusKm"]) == ("planet", 3389.92)
    assert body["mass"] == pytest.approx(3.227e-7, rel=1e-3)
    assert body["physical"]["epochJulianDate"] == 2_451_545.0
    assert body["sources"][0]["id"] == "jpl-horizons"


def test_several_bodies_keep_their_states_and_moons_orbit_their_planets() -> None:
    moon = "1.39015, -0.013, -0.034, 0.0007, 0.0158, 0.0003,"
    contents = [MARS, answer("Phobos (401)", moon, gm=0.0007), answer("Vesta", "2.2, 0.5, 0.1, -0.002, 0.011, 0.001,")]
    found = states(contents)
    assert found["mars"][:3] == pytest.approx([1.39, -0.013, -0.034], abs=1e-12)
    assert found["phobos"] == pytest.approx([float(one) for one in moon.split(",")[:6]], abs=1e-10)
    stars = import_systems(contents).systems[0].state["stars"]
    assert (stars["phobos"]["parentId"], stars["vesta"]["parentId"]) == ("mars", "sun")


def test_kilometres_and_the_equator_are_converted() -> None:
    au = 149_597_870.7
    values = ", ".join(str(one) for one in (1.39 * au, 0.0, 0.0, 0.0, 26.0, 0.0)) + ","
    found = states([answer("Mars (499)", values, units="KM-S", frame="ICRF")])
    assert found["mars"][:3] == pytest.approx([1.39, 0, 0], abs=1e-12)
    assert found["mars"][4:] == pytest.approx(
        26.0 * 86_400 / au * np.array([np.cos(np.radians(23.4392911)), -np.sin(np.radians(23.4392911))]), rel=1e-6
    )


def test_barycentric_vectors_need_the_sun() -> None:
    centre = {"centre": "Solar System Barycenter (0)"}
    mars = answer("Mars (499)", "1.39, 0.0, 0.0, 0.0, 0.0151, 0.0,", **centre)
    with pytest.raises(ImportRefused, match="not among the answers"):
        import_systems([mars])
    sun = answer("Sun (10)", "-0.007, -0.002, 0.0, 0.0, 0.0, 0.0,", **centre)
    assert states([mars, sun])["mars"][:2] == pytest.approx([1.397, 0.002], abs=1e-12)


def test_elements_of_a_hyperbola_are_kept() -> None:
    columns = "EC, QR, IN, OM, W, Tp, N, MA, TA, A, AD, PR,"
    values = "1.2, 0.25, 122.7, 24.6, 241.8, 2458006.0, 0.66, 51.16, 110.0, -1.27, 9.9E99, 9.9E99,"
    body = import_systems([answer("'Oumuamua (A/2017 U1)", values, columns=columns)]).systems[0].state["stars"]
    orbit = body["oumuamua-a-2017-u1"]["kepler"]
    assert (orbit["eccentricity"], orbit["semiMajorAxis"], orbit["meanAnomaly"]) == (1.2, -1.27, 51.16)
    assert "period" not in orbit


def test_a_mass_that_is_not_stated_is_unknown() -> None:
    content = MARS.replace(b"GM (km^3/s^2)         = 42828.37", b"GM= n.a.")
    report = import_systems([content])
    assert report.systems[0].state["stars"]["mars"]["physical"]["unknown"] == ["mass"]
    assert "states no GM" in report.notes[0]


def test_further_instants_are_skipped_and_different_ones_refused() -> None:
    two = MARS.replace(b"$$EOE", b"2451546.0, A.D. 2000-Jan-02 12:00:00.0000, 1, 2, 3, 4, 5, 6,\n$$EOE")
    assert import_systems([two]).skipped[0]["reason"] == "1 further instants; the first is time 0"
    with pytest.raises(ImportRefused, match="different instants"):
        import_systems([MARS, MARS.replace(b"2451545.0", b"2451555.0")])


def test_json_answers_are_read_and_their_errors_reported() -> None:
    content = orjson.dumps({"signature": {"source": "NASA/JPL Horizons API"}, "result": MARS.decode()})
    assert import_systems([content]).systems[0].state == import_systems([MARS]).systems[0].state
    broken = orjson.dumps({"signature": {"source": "NASA/JPL Horizons API"}, "error": "Bad dates."})
    with pytest.raises(ImportRefused, match="Bad dates"):
        import_systems([broken])


@pytest.mark.parametrize("values", ["1, 2, 3, 4, 5, n.a.,", "1, 2,", "nan, 0, 0, 0, 0, 0,"])
def test_values_that_are_not_numbers_are_refused(values: str) -> None:
    with pytest.raises(ImportRefused, match=r"not a number|not finite"):
        import_systems([answer("Mars (499)", values)])


def test_recorded_vectors_and_elements_of_ceres_are_one_orbit(shared_data: Path) -> None:
    folder = shared_data / "api" / "horizons"
    vectors, elements = (
        states([(folder / f"ceres_{kind}_single.txt").read_bytes()])["ceres-a801-aa"]
        for kind in ("vectors", "elements")
    )
    assert vectors == pytest.approx(elements, abs=1e-8)
    assert vectors[:3] == pytest.approx([-2.377530298472460, 0.8007772252240262, 0.4628376138999674], abs=1e-13)
