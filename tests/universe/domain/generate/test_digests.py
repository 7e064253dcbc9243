"""The universe of a seed never changes, because people name universes by their seeds."""

import hashlib
from typing import Any, cast

import orjson
import pytest

from tests.universe.domain.generate.checks import EVERYTHING
from universe.domain.generate import STYLES, TOPOLOGIES, generate
from universe.domain.state import Plain
from universe.service.initial_states import load_or_generate_state

FROM_SEED = {
    "classic": "ff6afaca32517ddc",
    "compact": "f48b30ab9c5b0e01",
    "multiStarHeavy": "259e500daddc1d0c",
    "moonRich": "18c3415d85c05042",
    "sparseOutpost": "71eba30853abbbd9",
    "deepHierarchy": "0dad0952394ae076",
    "sparse": "45cc4961d4cca5dd",
    "solarLike": "ba525558831fab19",
    "crowded": "6fe3d75fbdecf8c2",
    "superDenseExperimental": "d3cb88d78eacbd96",
}
FROM_MANY_SEEDS = {
    "classic": "cbb8d28fd49a140b",
    "compact": "b5f605333882a9b8",
    "multiStarHeavy": "3636d93ebee8c435",
    "moonRich": "bf6f4743be4e6478",
    "sparseOutpost": "145e171b41298517",
    "deepHierarchy": "f52088223742f83e",
    "sparse": "24c9caaed0e6b276",
    "solarLike": "facd8693c3d8145e",
    "crowded": "9a52ab173ac99ffd",
    "superDenseExperimental": "d28e4f17ebee5b82",
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


def digest(*states: Plain) -> str:
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
