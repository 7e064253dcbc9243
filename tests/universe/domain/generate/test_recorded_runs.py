"""Against recorded runs of the generator ours follows: the same systems, the same keys, totals of the same order."""

import gzip
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests.universe.domain.generate.checks import KEYS, State, find_problems, list_bodies, list_rogues
from universe.domain.generate import generate_from_config, make_config

ADDED = {
    "star": set[str](),
    "planet": set[str](),
    "moon": set[str](),
    # The true orbit, which alone reaches the perihelion.
    "comet": {"kepler"},
    # What keeps a point in line with a body whose orbit is shifted.
    "lagrangePoint": {"orbitOffsetX", "orbitOffsetY", "orbitOffsetZ"},
    "asteroid": {"orbitOffsetX", "orbitOffsetY", "orbitOffsetZ"},
    # A place beside the other systems.
    "blackHole": {"semiMajorAxis", "orbitRotX", "orbitRotY", "orbitRotZ"},
}

Run = tuple[dict[str, Any], State, State]


@pytest.fixture(scope="module")
def runs(shared_data: Path) -> list[Run]:
    """Each config, with what was recorded and what we make of it."""
    with gzip.open(shared_data / "universe" / "generation.json.gz") as file:
        recorded = json.load(file)["runs"]
    return [(run["config"], run["result"], generate_from_config(make_config(run["config"]))) for run in recorded]


def systems(state: State) -> list[tuple[int, list[int]]]:
    """Of each system: how many stars, and how many moons each planet has."""
    stars = state["stars"]
    found: list[tuple[int, list[int]]] = []
    for root in (stars[key] for key in state["rootIds"] if not stars[key].get("isRoguePlanet")):
        kinds = [stars[child]["bodyType"] for child in root["children"]]
        planets = [stars[child] for child in root["children"] if stars[child]["bodyType"] == "planet"]
        moons = [sum(stars[key]["bodyType"] == "moon" for key in planet["children"]) for planet in planets]
        found.append((1 + kinds.count("star") + kinds.count("blackHole"), moons))
    return found


def test_every_recorded_config_makes_the_systems_that_were_recorded(runs: list[Run]) -> None:
    assert len(runs) == 24
    for config, recorded, ours in runs:
        assert systems(ours) == systems(recorded), config["seed"]


def test_every_recorded_config_makes_a_sound_universe_with_the_nine_keys(runs: list[Run]) -> None:
    for _, recorded, ours in runs:
        assert find_problems(ours) == []
        assert set(KEYS) - set(recorded) == {"time"}
        assert list(ours) == KEYS


def keys_by_kind(states: list[State]) -> dict[str, list[set[str]]]:
    found: dict[str, list[set[str]]] = defaultdict(list)
    for state in states:
        for kind in ADDED:
            found[kind] += [set(body) for body in list_bodies(state, kind)]
        found["rogue"] += [set(body) | set(body["roguePlanet"]) for body in list_rogues(state)]
        for name in ("groups", "smallBodyFields", "protoplanetaryDisks", "nebulae"):
            found[name] += [set(entity) for entity in state[name].values()]
    return found


def test_generated_entities_have_the_recorded_keys(runs: list[Run]) -> None:
    theirs = keys_by_kind([recorded for _, recorded, _ in runs])
    ours = keys_by_kind([made for _, _, made in runs])
    straight = {"pathCurvature", "semiMajorAxis", "eccentricity", "orbitRotX", "orbitRotY", "orbitRotZ", "pathPeriod"}
    for kind, recorded in theirs.items():
        always, ever = set[str].intersection(*recorded), set[str].union(*recorded)
        if kind == "rogue":
            always -= straight
        assert ours[kind], kind
        for keys in ours[kind]:
            assert always <= keys <= ever | ADDED.get(kind, set()), kind


def test_totals_are_of_the_same_order(runs: list[Run]) -> None:
    theirs, ours = Counter[str](), Counter[str]()
    for _, recorded, made in runs:
        for counted, state in ((theirs, recorded), (ours, made)):
            counted.update(body["bodyType"] for body in state["stars"].values() if "roguePlanet" not in body)
            counted["rings"] += sum("ring" in body for body in state["stars"].values())
            counted["fields"] += len(state["smallBodyFields"])
            counted["disks"] += len(state["protoplanetaryDisks"])
    for kind in ("comet", "lagrangePoint", "asteroid", "rings", "fields"):
        assert theirs[kind] / 1.7 < ours[kind] < theirs[kind] * 1.7, kind
    assert 2 <= ours["disks"] <= 20
    assert ours["lagrangePoint"] == theirs["lagrangePoint"]


def test_groups_nebulae_and_rogues_are_made_once_and_only_if_enabled(runs: list[Run]) -> None:
    for config, _, made in runs:
        assert bool(made["groups"]) == config["enableGroups"]
        assert len(made["groups"]) <= config["maxSystems"]
        assert len(made["nebulae"]) <= 5
        assert len(list_rogues(made)) <= 3
