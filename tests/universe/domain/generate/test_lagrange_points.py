"""Lagrange points stay where they belong as time goes by, and Trojans stay with them."""

import math
from typing import Any

import pytest

from tests.universe.domain.generate.checks import Body, State, compute_position, list_bodies
from universe.domain.generate import generate

TIMES = (0.0, 7.0, 123.4, 10_000.0)


def made(**overrides: Any) -> State:
    settings: dict[str, Any] = {
        "maxSystems": 6,
        "enableLagrangePoints": True,
        "lagrangePairScope": "both",
        "trojanFrequency": 1.0,
        "orbitEccentricityStyle": "eccentric",
        "orbitOffsetEnabled": True,
        "orbitInclinationMax": 40,
    }
    return generate("deepHierarchy", "points", **{**settings, **overrides})


def pairs(state: State, *points: int) -> list[tuple[Body, Body]]:
    """Each marker with its secondary."""
    markers = [body for body in list_bodies(state, "lagrangePoint") if body["lagrangePoint"]["pointIndex"] in points]
    return [(marker, state["stars"][marker["lagrangePoint"]["secondaryId"]]) for marker in markers]


@pytest.mark.parametrize("point", [1, 2])
def test_the_points_on_either_side_stay_in_line_for_ever(point: int) -> None:
    state = made()
    assert pairs(state, point)
    for marker, secondary in pairs(state, point):
        times = marker["orbitalDistance"] / secondary["orbitalDistance"]
        assert (times < 1) == (point == 1)
        for time in TIMES:
            expected = [times * value for value in compute_position(secondary, time)]
            assert compute_position(marker, time) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_the_third_point_stays_opposite_and_the_last_two_sixty_degrees_ahead_and_behind() -> None:
    state = made(orbitEccentricityStyle="circular", orbitOffsetEnabled=False)
    for marker, secondary in pairs(state, 3, 4, 5):
        point = marker["lagrangePoint"]["pointIndex"]
        for time in TIMES:
            here, there = compute_position(marker, time), compute_position(secondary, time)
            cosine = sum(a * b for a, b in zip(here, there, strict=True)) / (math.hypot(*here) * math.hypot(*there))
            assert cosine == pytest.approx(-1 if point == 3 else 0.5, abs=1e-6)
    ahead = {(m["orbitalPhase"] - s["orbitalPhase"]) % 360 for m, s in pairs(state, 4)}
    assert all(angle == pytest.approx(60) for angle in ahead)


def test_distances_follow_the_masses() -> None:
    state = made(scaleMode="compressed")
    for marker, secondary in pairs(state, 1, 2, 3):
        primary = state["stars"][marker["parentId"]]
        share = secondary["mass"] / (primary["mass"] + secondary["mass"])
        hill = (share / 3) ** (1 / 3)
        times = {1: 1 - hill, 2: 1 + hill, 3: 1 + 5 * share / 12}[marker["lagrangePoint"]["pointIndex"]]
        assert marker["orbitalDistance"] == pytest.approx(times * secondary["orbitalDistance"])


def test_the_third_point_of_a_realistic_system_balances_attraction_and_rotation() -> None:
    state = made(orbitEccentricityStyle="circular", orbitOffsetEnabled=False)
    found = pairs(state, 3)
    assert found
    for marker, secondary in found:
        primary = state["stars"][marker["parentId"]]
        total = primary["mass"] + secondary["mass"]
        ratio = marker["orbitalDistance"] / secondary["orbitalDistance"]
        share = secondary["mass"] / total
        pull = (1 - share) / ratio**2 + share / (1 + ratio) ** 2
        assert ratio + share == pytest.approx(pull, rel=1e-12)
        assert ratio < 1


def test_trojans_go_round_with_their_point() -> None:
    state = made()
    trojans = [body for body in state["stars"].values() if "lagrangeHostId" in body]
    assert trojans
    for trojan in trojans:
        host = state["stars"][trojan["lagrangeHostId"]]
        assert host["lagrangePoint"]["stable"]
        assert trojan["orbitalSpeed"] == host["orbitalSpeed"]
        assert abs((trojan["orbitalPhase"] - host["orbitalPhase"] + 180) % 360 - 180) <= 5
        assert trojan["orbitalDistance"] == pytest.approx(host["orbitalDistance"], abs=0.1)


@pytest.mark.parametrize(("frequency", "counts"), [(0.05, {0}), (0.3, {0, 1, 2, 3}), (1.0, {2, 3, 4, 5, 6})])
def test_trojans_are_as_many_as_the_frequency_requires(frequency: float, counts: set[int]) -> None:
    state = made(trojanFrequency=frequency)
    hosts = [body["id"] for body in list_bodies(state, "lagrangePoint") if body["lagrangePoint"]["stable"]]
    found = [body["lagrangeHostId"] for body in state["stars"].values() if "lagrangeHostId" in body]
    assert {found.count(host) for host in hosts} == counts


def test_richness_gives_more_trojans_at_the_same_frequency() -> None:
    poor, rich = (len(list_bodies(made(trojanRichness=level), "asteroid")) for level in (0.0, 1.0))
    assert rich > 1.2 * poor


def test_markers_are_made_only_if_enabled() -> None:
    assert list_bodies(made(lagrangeMarkerMode="none"), "lagrangePoint") == []
    assert list_bodies(made(enableLagrangePoints=False), "asteroid") == []
    stable = made(lagrangeMarkerMode="stableOnly")
    assert {body["lagrangePoint"]["pointIndex"] for body in list_bodies(stable, "lagrangePoint")} == {4, 5}
    for scope in ("starPlanet", "planetMoon"):
        state = made(lagrangePairScope=scope)
        assert {body["lagrangePoint"]["pairType"] for body in list_bodies(state, "lagrangePoint")} == {scope}
