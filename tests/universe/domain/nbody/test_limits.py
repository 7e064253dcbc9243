"""Invalid runs are refused before they start, with the argument, the body and the allowed values."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.universe.domain.nbody.sample_starts import YEAR, giants, pair, start_from
from universe.domain.nbody.initial_conditions import InitialConditions
from universe.domain.nbody.limits import MAX_WORK, find_shortest_period
from universe.domain.nbody.runs import run_nbody
from universe.domain.units_and_dates import compute_period
from uraniborg.kernel.errors import InvalidInput


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("days", math.nan),
        ("days", math.inf),
        ("days", -math.inf),
        ("method", "euler"),
        ("on_collision", "bounce"),
        ("step", 0.0),
        ("step", -1.0),
        ("step", math.nan),
        ("step", math.inf),
        ("step", 1e-9),
        ("step", 5e-324),
        ("step", YEAR / 10),
        ("samples", -1),
        ("samples", 10**9),
    ],
)
def test_an_unknown_option_is_refused_with_the_allowed_values(argument: str, value: Any) -> None:
    choices: dict[str, Any] = {"days": 100.0, "method": "yoshida4", argument: value}
    with pytest.raises(InvalidInput) as refused:
        run_nbody(pair(), **choices)
    assert refused.value.ids["argument"] == argument
    assert refused.value.ids["allowed"]
    assert "Allowed" in refused.value.hint


def test_the_default_method_takes_no_step_and_fixed_steps_no_relativity() -> None:
    with pytest.raises(InvalidInput, match="'gauss' chooses its steps itself"):
        run_nbody(pair(), 10, step=1.0)
    with pytest.raises(InvalidInput, match="'leapfrog' cannot follow forces that depend on velocities"):
        run_nbody(pair(), 10, method="leapfrog", relativity=True)


def broken(**changes: Any) -> InitialConditions:
    return replace(pair(0.1, 1e-3), **changes)


@pytest.mark.parametrize(
    ("start", "problem"),
    [
        (broken(masses=np.array([1.0, -1e-3])), "the mass of 'b' is -0.001"),
        (broken(masses=np.array([math.nan, 1e-3])), "the mass of 'a' is nan"),
        (broken(masses=np.array([1.0, math.inf])), "the mass of 'b' is inf"),
        (broken(masses=np.zeros(2)), "no body has a mass above 0"),
        (broken(positions=np.array([[0, 0, 0], [0, math.nan, 0]])), "the state of 'b' is not finite"),
        (broken(velocities=np.array([[0, 0, math.inf], [0, 0, 0]])), "the state of 'a' is not finite"),
        (broken(positions=np.array([[1.0, 0, 0], [1, 0, -0.0]])), "'a' and 'b' are in the same position"),
        (broken(positions=np.array([[0.0, 0, 0], [1e-200, 0, 0]])), "'a' and 'b' are in the same position"),
    ],
)
def test_a_start_that_is_invalid_is_refused_with_the_body(start: InitialConditions, problem: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        run_nbody(start, 10)
    assert problem in refused.value.message


def test_more_than_a_thousand_bodies_are_refused() -> None:
    count = 1001
    many = replace(pair(), ids=tuple(map(str, range(count))), masses=np.ones(count))
    with pytest.raises(InvalidInput, match="the number of chosen bodies is 1001"):
        run_nbody(many, 1)


def test_ten_million_orbits_are_refused_with_the_allowed_number() -> None:
    start = pair(0.0, 1e-5, axis=0.01)
    with pytest.raises(InvalidInput, match=r"days are 10,000,\d{3} orbits of 'b', too many for 2 bodies") as refused:
        run_nbody(start, 1e7 * compute_period(0.01, 1))
    assert f"at most {MAX_WORK // 64:,} of these orbits" in refused.value.ids["allowed"]
    assert "a shorter time, or fewer bodies" in refused.value.hint


def test_more_bodies_are_allowed_fewer_orbits_and_steps() -> None:
    count = 500
    x = np.vstack([np.zeros(3), np.arange(1, 3 * (count - 1) + 1).reshape(-1, 3)])
    start = replace(
        pair(),
        ids=tuple(map(str, range(count))),
        masses=np.full(count, 1.0),
        positions=x,
        velocities=np.zeros((count, 3)),
        radii=np.full(count, np.nan),
        relative_matrix=np.zeros((count, count)),
        orbited_mass=np.zeros(count),
        parents=(-1,) * count,
    )
    with pytest.raises(InvalidInput, match="500 bodies") as refused:
        run_nbody(start, 1e6)
    assert f"at most {MAX_WORK // count**2} of these orbits" in refused.value.hint
    with pytest.raises(InvalidInput, match="500 bodies") as refused:
        run_nbody(start, 1e6, method="yoshida4", step=1.0)
    assert "at most 6666 steps" in refused.value.hint


def test_the_inner_orbit_is_the_shortest_bound_one_or_the_nearest_pair() -> None:
    body, period = find_shortest_period(giants())
    assert (body, period) == ("b", pytest.approx(compute_period(5.2, 1), rel=1e-2))
    loose = start_from([1, 1, 1], [[0, 0, 0], [1, 0, 0], [0, 9, 0]], np.zeros((3, 3)), [-1, -1, -1])
    assert find_shortest_period(loose) == ("a", pytest.approx(compute_period(1, 2)))
    alone = start_from([1], [[0, 0, 0]], [[0, 0, 0]], [-1])
    assert find_shortest_period(alone) == ("a", math.inf)


def test_a_fixed_step_fills_the_days_and_one_that_fits_is_chosen() -> None:
    assert run_nbody(pair(), 10, method="leapfrog", step=3).steps == 4
    assert run_nbody(pair(), 1.1, method="leapfrog", step=0.1).steps == 11
    assert run_nbody(pair(), YEAR, method="yoshida4").steps == 60
