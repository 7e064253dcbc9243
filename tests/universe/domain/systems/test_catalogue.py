"""The catalogue of systems and their states."""

import json
import subprocess
import sys
from datetime import UTC, date, datetime
from typing import Any

import pytest

from universe.domain import systems
from universe.domain.state import parse_state
from uraniborg.kernel.errors import InvalidInput, NotFound

KEYS = {
    "stars", "rootIds", "groups", "rootGroupIds", "belts", "smallBodyFields", "protoplanetaryDisks", "nebulae", "time",
}  # fmt: skip
NEEDED: dict[str, Any] = {
    "id": str,
    "name": str,
    "mass": float,
    "radius": float,
    "color": str,
    "children": list,
    "orbitalDistance": float,
    "orbitalSpeed": float,
    "orbitalPhase": float,
}


def test_four_systems_can_be_had_and_the_list_is_the_callers_own() -> None:
    assert systems.list_system_names() == ["solar-system", "trappist-1", "kepler-90", "alpha-centauri"]
    systems.list_system_names().clear()
    assert systems.list_system_names()


@pytest.mark.parametrize("name", systems.list_system_names())
def test_the_domain_accepts_the_state_of_a_system_unchanged(name: str) -> None:
    state = systems.load_system(name)
    assert state.keys() == KEYS
    assert state["time"] == 0
    parsed = parse_state(state)
    assert {key: dict(body) for key, body in parsed.stars.items()} == state["stars"]


@pytest.mark.parametrize("name", systems.list_system_names())
def test_every_body_has_all_that_a_body_must_have_and_a_place_in_the_hierarchy(name: str) -> None:
    state = systems.load_system(name)
    stars = state["stars"]
    assert state["rootIds"] == [key for key, body in stars.items() if body["parentId"] is None]
    for key, body in stars.items():
        assert body["id"] == key
        for field, kind in NEEDED.items():
            assert isinstance(body[field], kind), (key, field)
        assert body["mass"] > 0
        assert body["radius"] > 0
        assert 0 <= body["orbitalPhase"] < 360
        assert body["children"] == [other["id"] for other in stars.values() if other["parentId"] == key]
        assert body["parentId"] is None or body["parentId"] in stars


@pytest.mark.parametrize("name", systems.list_system_names())
def test_no_body_is_drawn_larger_than_the_orbits_around_it(name: str) -> None:
    stars = systems.load_system(name)["stars"]
    for body in stars.values():
        if parent := stars.get(body["parentId"]):
            nearest = body["kepler"]["semiMajorAxis"] * (1 - body["kepler"].get("eccentricity", 0))
            assert nearest > parent["radius"] + body["radius"], body["id"]


@pytest.mark.parametrize("name", systems.list_system_names())
def test_loading_twice_gives_equal_states_that_share_nothing(name: str) -> None:
    first, second = systems.load_system(name), systems.load_system(name)
    assert first == second
    next(iter(first["stars"].values()))["name"] = "changed"
    assert systems.load_system(name) == second


def test_the_members_are_those_that_are_known() -> None:
    solar = systems.load_system("solar-system")["stars"]
    assert solar["sun"]["children"] == [
        "mercury", "venus", "earth", "mars", "ceres", "jupiter", "saturn", "uranus", "neptune", "pluto",
    ]  # fmt: skip
    assert solar["jupiter"]["children"] == ["io", "europa", "ganymede", "callisto"]
    assert {"moon", "titan", "triton", "charon", "titania"} <= solar.keys()
    trappist = systems.load_system("trappist-1")["stars"]["trappist-1"]["children"]
    assert [planet[-1] for planet in trappist] == list("bcdefgh")
    kepler = systems.load_system("kepler-90")["stars"]["kepler-90"]["children"]
    assert sorted(planet[-1] for planet in kepler) == list("bcdefghi")
    alpha = systems.load_system("alpha-centauri")["stars"]
    assert alpha["alpha-centauri-a"]["children"] == ["alpha-centauri-b", "proxima-centauri"]
    assert sorted(planet[-1] for planet in alpha["proxima-centauri"]["children"]) == ["b", "d"]


def test_an_unknown_name_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(systems.SystemNotFound, match="no system 'pandora'") as caught:
        systems.load_system("pandora")
    assert isinstance(caught.value, NotFound)
    assert caught.value.ids["allowed"] == systems.list_system_names()
    for name in systems.list_system_names():
        assert name in caught.value.hint


@pytest.mark.parametrize(
    "name", ["../solar-system", "", "solar-system.json", "SOLAR-SYSTEM/..", "ſolar-system", "x" * 10_000]
)
def test_a_name_is_never_a_path(name: str) -> None:
    with pytest.raises(systems.SystemNotFound) as caught:
        systems.load_system(name)
    assert len(caught.value.message) < 200


@pytest.mark.parametrize("at", [date(1799, 12, 31), date(2051, 1, 1), datetime(1, 1, 1, tzinfo=UTC), date.max])
def test_a_date_beyond_the_elements_is_refused_with_the_dates_allowed(at: date) -> None:
    with pytest.raises(InvalidInput, match="outside") as caught:
        systems.load_system("solar-system", at=at)
    assert caught.value.ids == {"argument": "at", "allowed": "1800-01-01 to 2050-12-31"}


@pytest.mark.parametrize("at", [date(1800, 1, 1), datetime(2050, 12, 31, 23, 59, 59, tzinfo=UTC)])
def test_the_first_and_the_last_instant_are_allowed(at: date) -> None:
    assert len(systems.load_system("solar-system", at=at)["stars"]) > 20


@pytest.mark.parametrize("name", systems.list_system_names()[1:])
def test_a_date_is_refused_where_a_system_has_but_one_instant(name: str) -> None:
    with pytest.raises(InvalidInput, match="one instant") as caught:
        systems.load_system(name, at=date(2020, 1, 1))
    assert "tick" in caught.value.hint


def test_the_date_left_out_is_j2000() -> None:
    # J2000.0 is noon in TDB; UTC was 64.184 seconds behind it.
    assert systems.load_system("solar-system") == systems.load_system("solar-system", at=2451545.0)
    noon = systems.load_system("solar-system", at=datetime(2000, 1, 1, 12, tzinfo=UTC))["stars"]["sun"]
    assert noon["physical"]["epochJulianDate"] == pytest.approx(2451545.0 + 64.184 / 86400, abs=1e-9)


@pytest.mark.parametrize("name", ["Solar-System", "TRAPPIST-1", "Kepler-90", "ALPHA-CENTAURI"])
def test_upper_and_lower_case_count_as_one(name: str) -> None:
    assert systems.load_system(name) == systems.load_system(name.lower())


@pytest.mark.parametrize("at", [2378496.4, 2470172.6, float("nan"), float("inf"), -1.0, 0])
def test_a_julian_date_beyond_the_elements_is_refused(at: float) -> None:
    with pytest.raises(InvalidInput, match="Julian date"):
        systems.load_system("solar-system", at=at)


@pytest.mark.parametrize("name", systems.list_system_names())
def test_every_body_states_the_instant_that_time_0_is(name: str) -> None:
    epochs = {body["physical"]["epochJulianDate"] for body in systems.load_system(name)["stars"].values()}
    assert len(epochs) == 1
    assert 2451545.0 <= epochs.pop() < 2461000


def test_listing_the_names_does_not_load_numpy() -> None:
    code = "import sys, universe.domain.systems as s; s.list_system_names(); print('numpy' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30)
    assert printed.stdout.strip() == "False"


@pytest.mark.parametrize("name", systems.list_system_names())
def test_a_state_survives_json(name: str) -> None:
    state = systems.load_system(name)
    assert json.loads(json.dumps(state, allow_nan=False)) == state
