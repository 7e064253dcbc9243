"""The universe of a seed never changes, because people name universes by their seeds."""

import hashlib
from typing import Any, cast

import orjson
import pytest

from tests.universe.generate.checks import EVERYTHING
from universe.generate import STYLES, TOPOLOGIES, generate
from universe.initial_states import load_or_generate_state

FROM_SEED = {
    "classic": "99c35a7e70dc0658",
    "compact": "e7d6d90da45ef13f",
    "multiStarHeavy": "38860b38ea02823e",
    "moonRich": "308f22ffb1a9baf5",
    "sparseOutpost": "f1a0a40a95135394",
    "deepHierarchy": "982f0b8dc04208e3",
    "sparse": "e1742a8ee3de68eb",
    "solarLike": "b5ef826d27355ce0",
    "crowded": "2032bbbe375cbc4c",
    "superDenseExperimental": "ce52d669e74aabf5",
}
FROM_MANY_SEEDS = {
    "classic": "5d9c7c0205965110",
    "compact": "30acd56bc192b6e8",
    "multiStarHeavy": "bdae3482af07a33c",
    "moonRich": "b903ce9c5eeb752f",
    "sparseOutpost": "df075014a62b7fca",
    "deepHierarchy": "ad607892c794c6ff",
    "sparse": "9e454681b6434de9",
    "solarLike": "84715cadc23fd75d",
    "crowded": "554d3a94154b3b5f",
    "superDenseExperimental": "e62c71b005827983",
}


def portable(value: Any) -> Any:
    """Return `value` with numbers as ten digits: the last ones are those of the machine's own sine and logarithm."""
    if isinstance(value, dict):
        return {name: portable(item) for name, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [portable(item) for item in cast("list[Any]", value)]
    if isinstance(value, float):
        return f"{value:.10g}" if abs(value) > 1e-9 else "0"
    return value


def digest(*states: dict[str, Any]) -> str:
    return hashlib.sha256(orjson.dumps(portable(list(states)))).hexdigest()[:16]


def from_many_seeds(preset: str) -> str:
    plain = (generate(preset, seed, maxSystems=3) for seed in range(20))
    full = (generate(preset, f"Tycho {number}", **EVERYTHING, maxSystems=2) for number in range(5))
    return digest(*plain, *full)


def test_every_preset_has_a_digest() -> None:
    assert list(FROM_SEED) == list(FROM_MANY_SEEDS) == [*TOPOLOGIES, *STYLES]


@pytest.mark.parametrize("preset", FROM_SEED)
def test_a_seed_always_gives_the_same_universe(preset: str) -> None:
    assert digest(load_or_generate_state(f"seed:{preset}:42")) == FROM_SEED[preset]


@pytest.mark.parametrize("preset", FROM_MANY_SEEDS)
def test_many_seeds_always_give_the_same_universes_with_all_settings(preset: str) -> None:
    assert from_many_seeds(preset) == FROM_MANY_SEEDS[preset]
