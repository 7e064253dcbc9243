"""The random number generator repeats recorded numbers and is unbiased."""

import gzip
import json
import math
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from universe.domain.generate.random_numbers import Prng
from uraniborg.kernel.errors import InvalidInput


@pytest.fixture(scope="module")
def vectors(shared_data: Path) -> list[dict[str, Any]]:
    with gzip.open(shared_data / "universe" / "generation.json.gz") as file:
        return json.load(file)["prng"]


def test_every_recorded_float_comes_again(vectors: list[dict[str, Any]]) -> None:
    assert vectors
    for vector in vectors:
        rng = Prng(vector["seed"])
        assert [rng.real() for _ in vector["floats"]] == vector["floats"], vector["seed"]


def test_every_recorded_integer_is_repeated_also_with_reversed_bounds(vectors: list[dict[str, Any]]) -> None:
    for vector in vectors:
        rng = Prng(vector["seed"])
        drawn = [[low, high, rng.integer(low, high)] for low, high, _ in vector["ints"]]
        assert drawn == vector["ints"], vector["seed"]


def test_every_recorded_bool_and_choice_comes_again(vectors: list[dict[str, Any]]) -> None:
    for vector in vectors:
        rng = Prng(vector["seed"])
        assert [rng.chance(0.3) for _ in vector["bools"]] == vector["bools"], vector["seed"]
        rng = Prng(vector["seed"])
        assert [rng.choice("abcde") for _ in vector["choice"]] == vector["choice"], vector["seed"]


def test_every_recorded_fork_comes_again_and_leaves_its_parent_where_it_was(vectors: list[dict[str, Any]]) -> None:
    for vector in vectors:
        rng, expected = Prng(vector["seed"]), vector["forkAfterOneFloat"]
        rng.real()
        for label, name in (("lsystem", "lsystem"), ("stardata", "stardata"), ("lsystem", "lsystemAgain")):
            fork = rng.fork(label)
            assert [fork.real(), fork.real()] == expected[name], vector["seed"]
        assert rng.real() == expected["parentNext"], vector["seed"]


@pytest.mark.parametrize(("low", "high"), [(0, 2**32), (-(2**31), 2**31), (0, 10**400), (-(10**400), 0), (0, 1e300)])
def test_a_range_of_more_than_two_to_the_32_values_is_refused(low: float, high: float) -> None:
    with pytest.raises(InvalidInput, match="at most 2\\^32 values"):
        Prng(1).integer(low, high)


@pytest.mark.parametrize("bound", [math.inf, -math.inf, math.nan])
def test_bounds_that_are_not_finite_are_refused(bound: float) -> None:
    with pytest.raises(InvalidInput):
        Prng(1).integer(0, bound)


@pytest.mark.parametrize("seed", [math.inf, math.nan])
def test_a_seed_that_is_not_finite_is_refused(seed: float) -> None:
    with pytest.raises(InvalidInput):
        Prng(seed)


def test_the_widest_range_allowed_gives_words() -> None:
    assert Prng("wide").integer(0, 2**32 - 1) == Prng("wide").next_word()


@given(st.one_of(st.integers(), st.text(), st.floats(allow_nan=False, allow_infinity=False)))
def test_any_seed_gives_a_stream_within_its_bounds(seed: int | str | float) -> None:
    rng = Prng(seed)
    assert all(0 <= rng.real() < 1 for _ in range(20))
    assert all(3 <= rng.integer(7, 3) <= 7 for _ in range(20))


def test_integers_are_drawn_evenly() -> None:
    rng = Prng("even")
    counts = [0] * 6
    for _ in range(6_000):
        counts[rng.integer(0, 5)] += 1
    assert all(850 < count < 1_150 for count in counts)


def test_distributions_have_the_moments_they_should() -> None:
    rng = Prng("moments")
    normal = [rng.normal(3, 2) for _ in range(5_000)]
    assert fmean(normal) == pytest.approx(3, abs=0.1)
    assert pstdev(normal) == pytest.approx(2, abs=0.1)
    assert fmean(math.log(rng.log_normal(1.5, 0.8)) for _ in range(5_000)) == pytest.approx(1.5, abs=0.05)
    assert fmean(rng.geometric(0.4) for _ in range(5_000)) == pytest.approx(0.6 / 0.4, abs=0.1)
    assert fmean(rng.uniform(-2, 4) for _ in range(5_000)) == pytest.approx(1, abs=0.1)
    picked = [rng.draw_weighted_index((1, 0, 3)) for _ in range(5_000)]
    assert picked.count(1) == 0
    assert picked.count(2) / 5_000 == pytest.approx(0.75, abs=0.03)


@pytest.mark.parametrize("p", [-1, 0, 1, 2])
def test_a_geometric_draw_without_a_probability_between_is_nothing(p: float) -> None:
    assert Prng(1).geometric(p) == 0


def test_leaning_leans_to_the_side_of_its_level() -> None:
    rng = Prng("lean")
    low, even, high = (fmean(rng.draw_biased(level) for _ in range(3_000)) for level in (0.0, 0.5, 1.0))
    assert (low, even, high) == (
        pytest.approx(1 / 3, abs=0.03),
        pytest.approx(1 / 2, abs=0.03),
        pytest.approx(2 / 3, abs=0.03),
    )
