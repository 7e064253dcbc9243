"""Whole generated universes: reproducible, valid and limited in size."""

import hashlib
import math
import os
import subprocess
import sys
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.universe.domain.generate.checks import EVERYTHING, KEYS, find_problems, list_bodies, list_satellites
from universe.domain.generate import STYLES, TOPOLOGIES, generate, generate_from_config, make_config
from universe.domain.state import parse_state
from uraniborg.kernel.errors import InvalidInput

PRESETS = (*TOPOLOGIES, *STYLES)
SEEDS = st.one_of(st.integers(), st.text(max_size=20))
SHAPES = st.fixed_dictionaries(
    {
        "maxSystems": st.integers(1, 3),
        "scaleMode": st.sampled_from(["realistic", "compressed", "toy"]),
        "orbitEccentricityStyle": st.sampled_from(["circular", "mixed", "eccentric"]),
        "orbitOffsetEnabled": st.booleans(),
        "orbitInclinationMax": st.sampled_from([0, 10, 90]),
        "groupStructureMode": st.sampled_from(["flat", "galaxyCluster", "deepHierarchy"]),
        "beltPlacementMode": st.sampled_from(["betweenPlanets", "outerSystem", "both"]),
        "kuiperBeltDistanceStyle": st.sampled_from(["tight", "classical", "wide"]),
        "planetDensity": st.floats(0, 1),
        "moonDensity": st.floats(0, 1),
        "blackHoleMassProfile": st.sampled_from(["stellarOnly", "mixed", "supermassiveCentres"]),
    }
)


@settings(max_examples=60)
@given(st.sampled_from(PRESETS), SEEDS)
def test_every_preset_makes_a_sound_universe_of_any_seed(preset: str, seed: int | str) -> None:
    state = generate(preset, seed, maxSystems=4)
    assert find_problems(state) == []
    assert parse_state(state).to_plain() == state


@settings(max_examples=40)
@given(st.sampled_from(TOPOLOGIES), SEEDS, SHAPES)
def test_with_everything_switched_on_it_is_sound_still(preset: str, seed: int | str, shape: dict[str, Any]) -> None:
    state = generate(preset, seed, **{**EVERYTHING, **shape})
    assert find_problems(state) == []
    assert parse_state(state).to_plain() == state


@pytest.mark.parametrize("preset", PRESETS)
def test_unchanged_presets_make_valid_universes(preset: str) -> None:
    state = generate(preset, "as it is")
    assert list(state) == KEYS
    assert find_problems(state) == []


def test_the_checks_detect_each_fault() -> None:
    state = generate("moonRich", 3, **EVERYTHING)
    (moon, *_), root = list_bodies(state, "moon"), state["rootIds"][0]
    moon["orbitalDistance"] *= 1_000
    state["stars"][root]["children"].append(moon["id"])
    state["rootIds"].append("nobody")
    state["groups"].popitem()
    found = " ".join(find_problems(state))
    for printed in ("reaches", "not its child", "exactly once", "in no group"):
        assert printed in found


SCRIPT = """
import hashlib, json
from universe.domain.generate import STYLES, TOPOLOGIES, generate
digest = hashlib.sha256()
for preset in (*TOPOLOGIES, *STYLES):
    for seed in (0, "", 12, "ünï"):
        state = generate(preset, seed, maxSystems=3, enableGroups=True, enableLagrangePoints=True, enableNebulae=True)
        digest.update(json.dumps(state).encode())
print(digest.hexdigest())
"""


def test_the_bytes_are_the_same_in_every_process() -> None:
    def digest(hash_seed: str) -> str:
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
        run = subprocess.run(
            [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, timeout=50, check=True
        )
        return run.stdout

    first = digest("0")
    assert len(first.strip()) == 64
    assert {digest("1"), digest("4242")} == {first}


def test_earlier_generations_do_not_change_the_result() -> None:
    before = orjson.dumps(generate("crowded", "again"))
    generate("superDenseExperimental", "something else", maxSystems=3)
    assert orjson.dumps(generate("crowded", "again")) == before


@pytest.mark.parametrize("seed", [0, "", "0", -1, 2**31, 10**400, -(10**30), "ünï", "🪐" * 50, "a\x00b", " ", "None"])
def test_any_seed_is_a_seed_like_any_other(seed: int | str) -> None:
    state = generate("solarLike", seed)
    assert find_problems(state) == []
    assert state == generate("solarLike", seed)
    assert orjson.loads(orjson.dumps(state)) == state


def test_different_seeds_make_different_universes_with_different_ids() -> None:
    seeds = (0, "", "0", 1, "1", -1, "-1", "a", "b", 10**6)
    states = [generate("solarLike", seed) for seed in seeds]
    digests = {hashlib.sha256(orjson.dumps(state)).digest() for state in states}
    assert len(digests) == len(seeds)
    ids = [key for state in states for key in state["stars"]]
    assert len(set(ids)) == len(ids)


def test_the_function_and_the_config_make_the_same_universe() -> None:
    config = make_config({"seed": 9, "stylePreset": "crowded", "maxSystems": 2})
    assert generate_from_config(config) == generate("crowded", 9, maxSystems=2)


def test_moons_of_moons_are_preserved() -> None:
    state = generate("deepHierarchy", 1)
    below = list_satellites(state, "moon")
    assert len(below) > 20
    assert all(body["mass"] < state["stars"][body["parentId"]]["mass"] for body in below)
    assert list_satellites(generate("deepHierarchy", 1, maxDepth=2), "moon") == []


def test_there_are_exactly_the_requested_systems_and_they_do_not_overlap() -> None:
    state = generate("multiStarHeavy", 5, maxSystems=30)
    roots = [state["stars"][key] for key in state["rootIds"]]
    assert len(roots) == 30
    assert all(root["orbitalSpeed"] == 0 for root in roots)
    turns = [math.radians(root["orbitalPhase"]) for root in roots]
    places = [
        (root["orbitalDistance"] * math.cos(turn), root["orbitalDistance"] * math.sin(turn))
        for root, turn in zip(roots, turns, strict=True)
    ]
    reach = [max(state["stars"][child]["orbitalDistance"] for child in root["children"]) for root in roots]
    for a in range(30):
        for b in range(a):
            assert math.dist(places[a], places[b]) > reach[a] + reach[b]


def test_names_are_not_given_twice() -> None:
    state = generate("deepHierarchy", 4, maxSystems=40, **EVERYTHING)
    names = [body["name"] for body in state["stars"].values()]
    assert len(names) == len(set(names))


def test_ten_thousand_bodies_and_more_are_sound() -> None:
    state = generate("moonRich", "many", maxSystems=160)
    assert len(state["stars"]) > 10_000
    assert find_problems(state) == []


def test_a_universe_of_too_many_bodies_is_refused_before_it_is_made() -> None:
    with pytest.raises(InvalidInput) as caught:
        generate("moonRich", 1, maxSystems=10_000)
    assert "200,000" in caught.value.message
    assert "maxSystems" in caught.value.hint


@settings(max_examples=40)
@given(st.sampled_from(PRESETS), st.integers(0, 10**6), st.integers(1, 12))
def test_no_universe_exceeds_the_bound_on_bodies(preset: str, seed: int, systems: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("universe.domain.generate.generator.MOST_BODIES", 120)
        try:
            state = generate(preset, seed, **{**EVERYTHING, "maxSystems": systems})
        except InvalidInput:
            return
    assert len(state["stars"]) <= 120
