"""What each preset grows from a seed never changes: people name universes by their seeds."""

import hashlib
from typing import Any, cast

import orjson
import pytest

from tests.universe.generate.checks import EVERYTHING
from universe.generate import STYLES, TOPOLOGIES, generate
from universe.origins import state_from

FROM_SEED = {
    "classic": "0305c0bec0c07fc1",
    "compact": "37f511b48d2e9fbf",
    "multiStarHeavy": "d20e551594a0eee9",
    "moonRich": "266d3514ae687de3",
    "sparseOutpost": "bb5fb3964a4043ec",
    "deepHierarchy": "a392a2d98a985401",
    "sparse": "be306348a01ae06e",
    "solarLike": "f19771dc7a2a82b7",
    "crowded": "f7b837b5682198ae",
    "superDenseExperimental": "8e5610d010375971",
}
WITH_EVERYTHING = {
    "classic": "78ce54cc1dddc660",
    "compact": "02f734cae31279ed",
    "multiStarHeavy": "4f53a2c47f68dd25",
    "moonRich": "902488bd6330df2e",
    "sparseOutpost": "bb5d2e8d3289f756",
    "deepHierarchy": "2759f3a5da145bf3",
    "sparse": "1bcc3726ac0a38ab",
    "solarLike": "60cea0b94c67d2eb",
    "crowded": "f2dfff564222b2db",
    "superDenseExperimental": "97a0dbd8063a471d",
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


def digest(state: dict[str, Any]) -> str:
    return hashlib.sha256(orjson.dumps(portable(state))).hexdigest()[:16]


def test_every_preset_has_a_digest() -> None:
    assert list(FROM_SEED) == list(WITH_EVERYTHING) == [*TOPOLOGIES, *STYLES]


@pytest.mark.parametrize("preset", FROM_SEED)
def test_a_seed_grows_what_it_always_grew(preset: str) -> None:
    assert digest(state_from(f"seed:{preset}:42")) == FROM_SEED[preset]


@pytest.mark.parametrize("preset", WITH_EVERYTHING)
def test_a_seed_in_letters_grows_what_it_always_grew_with_everything_switched_on(preset: str) -> None:
    assert digest(generate(preset, "Tycho", **EVERYTHING, maxSystems=3)) == WITH_EVERYTHING[preset]
