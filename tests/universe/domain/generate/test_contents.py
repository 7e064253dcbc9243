"""Each setting changes the contents of a generated universe in the right direction."""

import math
from itertools import pairwise
from statistics import fmean
from typing import Any

import pytest

from tests.universe.domain.generate.checks import (
    State,
    compute_distance_range,
    compute_position,
    list_bodies,
    list_rogues,
)
from universe.domain.generate import STYLES, generate

MANY = 40


def made(preset: str = "multiStarHeavy", **overrides: Any) -> State:
    return generate(preset, "sliders", **{"maxSystems": MANY, **overrides})


def planets_with_rings(state: State) -> list[dict[str, Any]]:
    return [planet for planet in list_bodies(state, "planet") if "ring" in planet]


@pytest.mark.parametrize(("setting", "kind"), [("planetDensity", "planet"), ("moonDensity", "moon")])
def test_denser_means_more(setting: str, kind: str) -> None:
    counts = [len(list_bodies(made("classic", **{setting: density}), kind)) for density in (0.0, 0.5, 1.0)]
    assert counts == sorted(counts)
    assert counts[2] > 3 * counts[0]


def test_denser_styles_have_more_planets_for_each_system() -> None:
    counts = [len(list_bodies(made(style, maxSystems=200, enableLagrangePoints=False), "planet")) for style in STYLES]
    assert counts == sorted(counts)
    assert counts[-1] > 3 * counts[0]


def test_no_orbit_tilts_more_than_allowed() -> None:
    state = made("deepHierarchy", orbitInclinationMax=12, orbitEccentricityStyle="mixed")
    tilts: list[float] = []
    for body in (*list_bodies(state, "planet"), *list_bodies(state, "moon")):
        (ax, ay, az), (bx, by, bz) = compute_position(body, 0), compute_position(body, 90 / body["orbitalSpeed"])
        normal = (ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx)
        tilts.append(math.degrees(math.acos(min(1, abs(normal[1]) / math.hypot(*normal)))))
    assert max(tilts) <= 12.0001
    assert max(tilts) > 9


def test_eccentricities_keep_to_their_style() -> None:
    def of_style(style: str) -> list[float]:
        state = made(orbitEccentricityStyle=style)
        return [planet.get("eccentricity", 0) for planet in list_bodies(state, "planet")]

    assert set(of_style("circular")) == {0}
    assert 0 < fmean(of_style("mixed")) < max(of_style("mixed")) <= 0.3
    assert 0.3 < fmean(of_style("eccentric")) < max(of_style("eccentric")) <= 0.7


@pytest.mark.parametrize(("scale", "base", "growth"), [("realistic", 8, 1.8), ("compressed", 5, 1.6), ("toy", 3, 1.5)])
def test_distances_follow_the_scale(scale: str, base: float, growth: float) -> None:
    state = made("moonRich", scaleMode=scale)
    followed = 0
    for key in state["rootIds"]:
        star = state["stars"][key]
        planets = [planet for planet in list_bodies(state, "planet") if planet["parentId"] == key]
        start = max(base, 2 * star["radius"])
        followed += start == base
        for index, planet in enumerate(planets):
            assert planet["orbitalDistance"] == pytest.approx(start * growth**index, abs=0.1)
    assert followed > 0 or scale == "toy"


def test_speeds_of_a_realistic_system_follow_keplers_third_law_and_others_do_not() -> None:
    for scale in ("realistic", "toy"):
        state = made("deepHierarchy", scaleMode=scale, enableComets=True, cometFrequency=1.0, maxSystems=3)
        constants: list[float] = []
        for kind in ("planet", "moon", "comet", "star"):
            for body in list_bodies(state, kind):
                if body["parentId"] is None:
                    continue
                parent = state["stars"][body["parentId"]]
                siblings = [state["stars"][key] for key in parent["children"]]
                inside = [
                    one
                    for one in siblings
                    if one["bodyType"] in ("star", "planet", "moon", "blackHole")
                    and one["orbitalDistance"] <= body["orbitalDistance"]
                    and one is not body
                ]
                mass = parent["mass"] + body["mass"] + sum(one["mass"] for one in inside)
                constants.append(body["orbitalSpeed"] ** 2 * body["orbitalDistance"] ** 3 / mass)
        assert len(constants) > 20
        assert (max(constants) < 1.001 * min(constants)) == (scale == "realistic")


def test_companions_of_a_star_share_an_orbit_and_stay_apart() -> None:
    state = made(orbitEccentricityStyle="eccentric", orbitOffsetEnabled=True)
    pairs = 0
    for root in state["rootIds"]:
        companions = [star for star in list_bodies(state, "star") if star["parentId"] == root]
        if len(companions) == 2:
            first, second = companions
            pairs += 1
            assert first["orbitalSpeed"] == second["orbitalSpeed"]
            assert abs(first["orbitalPhase"] - second["orbitalPhase"]) == pytest.approx(180)
            assert all(star["mass"] <= state["stars"][root]["mass"] for star in companions)
    assert pairs > 5


def test_belts_lie_between_planets_or_beyond_them() -> None:
    state = made("moonRich", enableAsteroidBelts=True, beltDensity=1, maxBeltsPerSystem=20, enableKuiperBelt=True)
    labels: set[str] = set()
    for belt in state["smallBodyFields"].values():
        labels.add(belt["regionLabel"])
        for planet in list_bodies(state, "planet"):
            if planet["parentId"] == belt["hostStarId"]:
                near, far = compute_distance_range(planet)
                assert belt["outerRadius"] < near or belt["innerRadius"] > far
    assert labels == {"Main Belt", "Outer Belt", "Kuiper Belt"}
    by_host: dict[str, list[tuple[float, float]]] = {}
    for belt in state["smallBodyFields"].values():
        by_host.setdefault(belt["hostStarId"], []).append((belt["innerRadius"], belt["outerRadius"]))
    for belts in by_host.values():
        belts.sort()
        assert all(before[1] < after[0] for before, after in pairwise(belts))


def belts(**overrides: Any) -> list[dict[str, Any]]:
    settings: dict[str, Any] = {"enableAsteroidBelts": True, **overrides}
    return list(made(**settings)["smallBodyFields"].values())


def test_belt_settings_have_the_named_effect() -> None:
    thin, thick = belts(beltDensity=0.0), belts(beltDensity=1.0)
    assert 0 < len(thin) < len(thick)
    assert thick[0]["particleCount"] == 2 * thin[0]["particleCount"]
    assert thick[0]["thickness"] > thin[0]["thickness"]
    assert {belt["style"] for belt in thin} == {"thin"}
    assert {belt["style"] for belt in belts(beltStylePreset="heavyDebris")} == {"thick"}
    assert belts(beltStylePreset="none") == belts(maxBeltsPerSystem=0) == []
    assert {belt["regionLabel"] for belt in belts(beltPlacementMode="outerSystem")} == {"Outer Belt"}
    counts = [belts(smallBodyDetail=detail)[0]["particleCount"] for detail in ("low", "medium", "high", "ultra")]
    assert counts == sorted(set(counts))


def test_kuiper_settings_have_the_named_effect() -> None:
    def one(**overrides: Any) -> dict[str, Any]:
        return belts(**{"enableAsteroidBelts": False, "enableKuiperBelt": True, **overrides})[0]

    near, far = one(kuiperBeltDistanceStyle="tight"), one(kuiperBeltDistanceStyle="wide")
    assert near["innerRadius"] < far["innerRadius"]
    assert one(kuiperBeltInclination=0.0)["inclinationSigma"] == 0.5
    assert one(kuiperBeltInclination=1.0)["inclinationSigma"] == 3.0
    assert one(kuiperBeltDensity=0.0)["particleCount"] < one(kuiperBeltDensity=1.0)["particleCount"]


def test_the_frequency_of_rings_follows_the_setting_and_rings_end_below_the_moons() -> None:
    few, many = (made("moonRich", enablePlanetaryRings=True, ringFrequency=f) for f in (0.05, 1.0))
    assert 0 < len(planets_with_rings(few)) < len(planets_with_rings(many))
    for planet in planets_with_rings(many):
        reach = planet["ring"]["outerRadiusMultiplier"] * planet["radius"]
        assert all(
            reach < compute_distance_range(moon)[0]
            for moon in list_bodies(many, "moon")
            if moon["parentId"] == planet["id"]
        )
    assert planets_with_rings(made(enablePlanetaryRings=True, ringStylePreset="none")) == []
    assert planets_with_rings(made(enablePlanetaryRings=True, ringFrequency=0)) == []


def test_ring_prominence_makes_rings_denser() -> None:
    faint, strong = (
        fmean(p["ring"]["density"] for p in planets_with_rings(made(enablePlanetaryRings=True, ringProminence=level)))
        for level in (0.0, 1.0)
    )
    assert strong > faint + 0.2


def disks(**overrides: Any) -> list[dict[str, Any]]:
    settings = {"enableProtoplanetaryDisks": True, "protoplanetaryDiskPresence": 1, **overrides}
    return list(made("classic", **settings)["protoplanetaryDisks"].values())


def test_disk_settings_have_the_named_effect() -> None:
    def mean(name: str, **overrides: Any) -> float:
        return fmean(disk[name] for disk in disks(**overrides))

    assert disks(protoplanetaryDiskPresence=0) == []
    assert 0.5 * MANY < len(disks()) < 0.9 * MANY
    for name in ("bandStrength", "bandFrequency", "gapSharpness", "opacity", "brightness"):
        assert mean(name, protoplanetaryDiskProminence=1.0) > mean(name, protoplanetaryDiskProminence=0.0)
    for name in ("particleCount", "thickness", "clumpiness"):
        assert mean(name, protoplanetaryDiskDensity=1.0) > mean(name, protoplanetaryDiskDensity=0.0)
    assert {disk["style"] for disk in disks(protoplanetaryDiskDensity=0.0)} == {"thin"}
    assert {disk["style"] for disk in disks(protoplanetaryDiskDensity=1.0)} == {"extreme"}


@pytest.mark.parametrize(("frequency", "fewest", "most"), [(0.2, 0, 1), (0.5, 1, 2), (0.8, 2, 3), (1.0, 3, 5)])
def test_rogues_are_made_once_for_the_universe(frequency: float, fewest: int, most: int) -> None:
    settings = {"enableRoguePlanets": True, "roguePlanetFrequency": frequency}
    counts = {len(list_rogues(generate("sparseOutpost", seed, maxSystems=20, **settings))) for seed in range(40)}
    assert counts == set(range(fewest, most + 1))


def test_rogues_go_straight_or_in_curves_at_the_speed_of_their_style() -> None:
    def some(**overrides: Any) -> list[dict[str, Any]]:
        settings = {"enableRoguePlanets": True, "roguePlanetFrequency": 1, "maxSystems": 1, **overrides}
        return [
            body["roguePlanet"] for seed in range(20) for body in list_rogues(generate("compact", seed, **settings))
        ]

    assert not any("pathCurvature" in rogue for rogue in some(rogueTrajectoryMode="linearOnly"))
    curved = some(rogueTrajectoryMode="curved", rogueCurvatureMin=0.2, rogueCurvatureMax=0.4)
    assert all(0.2 <= rogue["pathCurvature"] <= 0.4 and 0 < rogue["eccentricity"] < 1 for rogue in curved)
    speeds = [
        [math.hypot(*rogue["velocity"].values()) for rogue in some(roguePlanetOrbitStyle=style)]
        for style in ("slowDrifters", "fastIntruders")
    ]
    assert 0.005 <= min(speeds[0]) < max(speeds[0]) <= 0.02 < 0.05 <= min(speeds[1]) < max(speeds[1]) <= 0.15


def test_nebulae_are_made_once_and_their_number_follows_the_setting() -> None:
    def counts(density: float) -> set[int]:
        settings = {"enableNebulae": True, "nebulaDensity": density, "maxSystems": 20}
        return {len(generate("sparseOutpost", seed, **settings)["nebulae"]) for seed in range(40)}

    assert (min(counts(0.2)), max(counts(0.2))) == (2, 5)
    assert (min(counts(1.0)), max(counts(1.0))) == (5, 12)


def holes(**overrides: Any) -> list[dict[str, Any]]:
    settings = {"enableBlackHoles": True, "blackHoleRarityStyle": "common", "maxSystems": 200, **overrides}
    return list_bodies(made("multiStarHeavy", **settings), "blackHole")


def test_black_holes_have_the_requested_frequency() -> None:
    assert 0 < len(holes(blackHoleRarityStyle="rare")) < 25 < len(holes()) < 90
    assert len(holes(blackHoleRarityStyle="byFrequency", blackHoleFrequency=1.0)) > 75
    assert all(hole["parentId"] is None for hole in holes())
    assert any(hole["parentId"] is not None for hole in holes(blackHoleAllowMultiplePerSystem=True))


def test_a_high_spin_level_makes_black_holes_spin_fast() -> None:
    slow, fast = (fmean(hole["blackHole"]["spin"] for hole in holes(blackHoleSpinLevel=level)) for level in (0.0, 1.0))
    assert slow < 0.45 < 0.55 < fast


def test_black_holes_are_as_heavy_as_their_profile() -> None:
    def masses(profile: str) -> list[float]:
        return [hole["mass"] for hole in holes(blackHoleMassProfile=profile)]

    assert 5 <= min(masses("stellarOnly")) < max(masses("stellarOnly")) <= 50
    assert sum(mass >= 1e6 for mass in masses("supermassiveCentres")) > len(masses("supermassiveCentres")) / 2


def test_satellites_of_a_black_hole_stay_outside_its_disk() -> None:
    state = made("compact", enableBlackHoles=True, blackHoleRarityStyle="common")
    assert list_bodies(state, "blackHole")
    for hole in list_bodies(state, "blackHole"):
        for planet in list_bodies(state, "planet"):
            if planet["parentId"] == hole["id"]:
                assert compute_distance_range(planet)[0] - planet["radius"] > hole["blackHole"]["accretionOuterRadius"]


@pytest.mark.parametrize(
    ("mode", "fewest", "most"),
    [("flat", 8, 8), ("galaxyCluster", 5, 8), ("deepHierarchy", 4, 12)],
)
def test_groups_are_as_many_as_their_structure_requires(mode: str, fewest: int, most: int) -> None:
    settings = {"enableGroups": True, "targetGalaxyCount": 8, "groupStructureMode": mode, "maxSystems": 30}
    states = [generate("sparseOutpost", seed, **settings) for seed in range(30)]
    counts = [len(state["groups"]) for state in states]
    assert (min(counts), max(counts)) == (fewest, most)
    nested = sum(len(state["groups"]) > len(state["rootGroupIds"]) for state in states)
    assert (nested == 0) == (mode == "flat")


def test_there_are_at_most_as_many_groups_as_systems_and_none_by_default() -> None:
    state = generate("classic", 1, enableGroups=True, targetGalaxyCount=50, maxSystems=3)
    assert len(state["groups"]) == 3
    assert generate("classic", 1, maxSystems=3)["groups"] == {}
