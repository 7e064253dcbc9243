"""Positions as JSON and as binary numbers."""

import json
import struct
from typing import Any

import httpx
import numpy as np
import pytest

from tests.universe.api.rest.rest_server import create_universe, get_error, send_command
from tests.universe.domain.samples import add_star

FLOATS = "application/octet-stream"


@pytest.fixture(scope="module")
def system(rest: httpx.Client) -> str:
    return create_universe(rest, **{"from": "trappist-1"})


def positions(rest: httpx.Client, universe: str, **params: Any) -> dict[str, Any]:
    answer = rest.get(f"/universes/{universe}/positions", params=params)
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"] == "application/json"
    printed = answer.json()
    assert printed.keys() == {"version", "time", "ids", "positions"}
    assert answer.headers["ETag"] == f'"{printed["version"]}"'
    return printed


@pytest.mark.parametrize("time", [0, 1.5, -3, 1e6])
def test_json_and_numbers_agree_and_follow_the_order_of_the_state(rest: httpx.Client, system: str, time: float) -> None:
    printed = positions(rest, system, t=time)
    assert printed["time"] == time
    assert printed["ids"] == list(rest.get(f"/universes/{system}").json()["state"]["stars"])
    address = f"/universes/{system}/positions"
    for answer in (
        rest.get(address, params={"t": time, "format": "float32"}),
        rest.get(address, params={"t": time}, headers={"Accept": FLOATS}),
    ):
        assert answer.headers["Content-Type"] == FLOATS
        assert len(answer.content) == 12 * len(printed["ids"])
        numbers = np.frombuffer(answer.content, "<f4").reshape(-1, 3)
        assert np.array_equal(numbers, np.array(printed["positions"], "f4"))


def test_a_body_goes_round_its_parent_and_json_is_exact(rest: httpx.Client, universe: str) -> None:
    sun = add_star("sun", orbitalDistance=0)
    send_command(rest, universe, [sun, add_star("earth", "sun", orbitalDistance=10, orbitalSpeed=90, orbitalPhase=0)])
    for time, place in ((0, [10, 0, 0]), (1, [0, 0, 10]), (2, [-10, 0, 0])):
        printed = positions(rest, universe, t=time)
        assert printed["ids"] == ["sun", "earth"]
        assert printed["positions"][0] == [0, 0, 0]
        assert printed["positions"][1] == pytest.approx(place, abs=1e-9)


def test_without_a_time_it_is_the_present_one_and_with_a_version_that_of_then(
    rest: httpx.Client, universe: str
) -> None:
    send_command(
        rest, universe, [add_star("sun"), {"type": "tick", "dt": 2}, {"type": "tick", "dt": 3}, add_star("moon")]
    )
    printed = positions(rest, universe)
    assert (printed["time"], printed["version"], printed["ids"]) == (5, 4, ["sun", "moon"])
    past = positions(rest, universe, version=2)
    assert (past["time"], past["version"], past["ids"]) == (2, 2, ["sun"])
    assert past == {**positions(rest, universe, version=3, t=2), "version": 2}


def test_an_empty_universe_has_no_positions(rest: httpx.Client, universe: str) -> None:
    assert positions(rest, universe) == {"version": 0, "time": 0, "ids": [], "positions": []}
    assert rest.get(f"/universes/{universe}/positions", params={"format": "float32"}).content == b""


def test_a_body_that_is_nowhere_has_a_place_in_the_list_all_the_same(rest: httpx.Client, universe: str) -> None:
    send_command(rest, universe, [add_star("a", eccentricity=2), add_star("b")])
    printed = positions(rest, universe)
    assert (printed["ids"], len(printed["positions"])) == (["a", "b"], 2)
    content = rest.get(f"/universes/{universe}/positions", params={"format": "float32"}).content
    numbers = struct.unpack("<6f", content)
    for reply, number in zip([*printed["positions"][0], *printed["positions"][1]], numbers, strict=True):
        assert (reply is None) == (number != number)


def test_a_position_beyond_32_bits_is_infinite(rest: httpx.Client, universe: str) -> None:
    send_command(rest, universe, add_star("far", orbitalDistance=1e39, orbitalPhase=0))
    answer = rest.get(f"/universes/{universe}/positions", params={"format": "float32", "t": 0})
    assert answer.status_code == 200
    assert struct.unpack("<3f", answer.content)[0] == float("inf")


def test_positions_follow_every_change_at_once(rest: httpx.Client, universe: str) -> None:
    send_command(rest, universe, add_star("sun", orbitalDistance=1, orbitalPhase=0))
    for distance in (5, 6, 7):
        send_command(rest, universe, {"type": "updateStar", "id": "sun", "payload": {"orbitalDistance": distance}})
        assert positions(rest, universe, t=0)["positions"] == [[distance, 0, 0]]


@pytest.mark.parametrize(
    ("name", "value"), [("t", "x"), ("t", "nan"), ("t", "inf"), ("t", "1e999"), ("t", ""), ("format", "float64")]
)
def test_a_time_or_form_that_is_invalid_is_refused(rest: httpx.Client, universe: str, name: str, value: str) -> None:
    answer = rest.get(f"/universes/{universe}/positions", params={name: value})
    assert get_error(answer, 400, "malformed_request")["argument"] == name


def test_at_a_time_beyond_all_measure_there_is_an_answer(rest: httpx.Client, system: str) -> None:
    assert len(positions(rest, system, t=1e308)["positions"]) == 8


def test_the_order_is_the_same_after_the_same_version_is_read_from_the_log(rest: httpx.Client, universe: str) -> None:
    send_command(rest, universe, [add_star("a"), add_star("b")])
    send_command(rest, universe, [{"type": "removeStar", "id": "a"}, add_star("a")])
    before = positions(rest, universe)
    send_command(rest, universe, {"type": "tick"})
    assert positions(rest, universe, version=4) == before


def test_all_orbits_come_as_one_binary_with_64_bytes_for_each_body(rest: httpx.Client) -> None:
    universe_id = create_universe(rest, **{"from": "solar-system"})
    answer = rest.get(f"/universes/{universe_id}/elements").raise_for_status()
    ids = rest.get(f"/universes/{universe_id}/positions").json()["ids"]
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert answer.headers["ETag"] == '"1"'
    assert answer.content[:4] == b"UBEL"
    count, exact, id_bytes = (int.from_bytes(answer.content[at : at + 4], "little") for at in (8, 12, 24))
    assert (count, json.loads(answer.content[-id_bytes:])) == (len(ids), ids)
    assert len(answer.content) == 64 + 64 * count + 112 * exact + id_bytes
