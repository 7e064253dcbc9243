"""Settings and presets of generated universes, and the errors for invalid ones."""

from typing import Any

import pytest

from universe.domain.generate.generation_config import STYLES, make_config, make_preset_config
from universe.domain.generate.grammar import TOPOLOGIES
from uraniborg.kernel.errors import InvalidInput

MOST_SYSTEMS = 10_000
SEED_CHARS = 1_000


def test_a_seed_is_all_that_must_be_given() -> None:
    config = make_config({"seed": 7})
    assert (config.max_systems, config.max_stars_per_system, config.planet_density, config.moon_density) == (
        5,
        3,
        0.6,
        0.7,
    )
    enabled = {name: value for name, value in config.model_dump().items() if name.startswith("enable_")}
    assert [name for name, value in enabled.items() if value] == ["enable_nary_systems"]


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_a_topology_is_a_preset(topology: str) -> None:
    assert make_preset_config(topology, 1).topology_preset == topology


@pytest.mark.parametrize(("style", "systems"), list(zip(STYLES, (3, 5, 15, 50), strict=True)))
def test_a_style_is_a_preset(style: str, systems: int) -> None:
    config = make_preset_config(style, 1)
    assert (config.style_preset, config.max_systems, config.topology_preset) == (style, systems, "classic")


def test_denser_styles_ask_for_more() -> None:
    rising = [make_preset_config(style, 1) for style in STYLES]
    assert [c.planet_density for c in rising] == sorted({c.planet_density for c in rising})
    assert [c.moon_density for c in rising] == sorted({c.moon_density for c in rising})
    assert [c.comet_frequency for c in rising] == sorted({c.comet_frequency for c in rising})


def test_given_settings_override_the_style() -> None:
    config = make_preset_config("crowded", 1, maxSystems=2, topologyPreset="compact", planetDensity=1)
    assert (config.max_systems, config.topology_preset, config.planet_density) == (2, "compact", 1)
    assert config.comet_frequency == 0.5


@pytest.mark.parametrize("preset", ["", "Classic", "solar-like", "__proto__", "x" * 10_000])
def test_an_unknown_preset_is_refused_with_those_there_are(preset: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        make_preset_config(preset, 1)
    assert caught.value.ids["allowed"] == [*TOPOLOGIES, *STYLES]
    assert all(name in caught.value.hint for name in (*TOPOLOGIES, *STYLES))
    assert len(caught.value.message) < 200


def test_a_setting_without_a_name_is_refused_with_those_there_are() -> None:
    with pytest.raises(InvalidInput) as caught:
        make_config({"seed": 1, "": 2})
    assert "planetDensity" in caught.value.hint


def test_an_unknown_setting_is_refused_with_the_one_meant() -> None:
    with pytest.raises(InvalidInput) as caught:
        make_preset_config("classic", 1, maxSystem=3)
    assert "maxSystem" in caught.value.message
    assert "maxSystems" in caught.value.hint
    assert "planetDensity" in caught.value.ids["allowed"]


def test_settings_go_by_their_json_names_alone() -> None:
    with pytest.raises(InvalidInput):
        make_preset_config("classic", 1, max_systems=3)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("maxSystems", 0),
        ("maxSystems", MOST_SYSTEMS + 1),
        ("maxSystems", 2.0),
        ("maxSystems", "3"),
        ("maxSystems", True),
        ("maxStarsPerSystem", 4),
        ("maxDepth", 0),
        ("planetDensity", 1.01),
        ("planetDensity", -0.01),
        ("moonDensity", float("nan")),
        ("orbitInclinationMax", float("inf")),
        ("scaleMode", "huge"),
        ("topologyPreset", "none"),
        ("stylePreset", "busy"),
        ("stylePreset", ["sparse"]),
        ("enableComets", 1),
        ("targetGalaxyCount", 0),
        ("maxBeltsPerSystem", 21),
    ],
)
def test_a_value_out_of_bounds_is_refused_with_its_name(name: str, value: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        make_preset_config("classic", 1, **{name: value})
    assert caught.value.ids["problems"][0]["path"].startswith(name)


@pytest.mark.parametrize("seed", [None, True, 1.5, [], "x" * (SEED_CHARS + 1), "half of a character: \ud800"])
def test_an_invalid_seed_is_refused(seed: Any) -> None:
    with pytest.raises(InvalidInput, match="seed"):
        make_preset_config("classic", seed)


def test_reversed_curvature_bounds_are_refused() -> None:
    with pytest.raises(InvalidInput, match="rogueCurvatureMin"):
        make_preset_config("classic", 1, rogueCurvatureMin=0.8, rogueCurvatureMax=0.2)


def test_the_largest_values_are_taken() -> None:
    config = make_preset_config("classic", "x" * SEED_CHARS, maxSystems=MOST_SYSTEMS)
    assert (config.max_systems, len(str(config.seed))) == (10_000, 1_000)
