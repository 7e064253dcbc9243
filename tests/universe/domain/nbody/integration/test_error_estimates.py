"""Runs end where IAS15 (Rein & Spiegel 2015) ends from the same start, and report the error that they have.

The truths are stored (`truth/make.py` writes them), so that nothing but numpy is needed here.
"""

from dataclasses import replace
from functools import cache
from typing import Final

import numpy as np
import pytest

from tests.universe.domain.nbody.truths import End, Truth, read_truth
from universe.domain.nbody.runs import Run, run_nbody

YEAR: Final = 365.25
PROMISED_DEGREES: Final = 1e-6
WRONG_DEGREES: Final = 0.1
MEASURABLE_AU: Final = 1e-12

LONG: Final = (pytest.mark.soak, pytest.mark.timeout(600))
REGULAR: Final = [
    ("trappist-1", YEAR),
    pytest.param("trappist-1", 10 * YEAR, marks=LONG),
    ("planets", 10 * YEAR),
    pytest.param("planets", 100 * YEAR, marks=LONG),
    ("comet-967", 100 * YEAR),
    ("comet-9995", 100 * YEAR),
    ("earth-moon", YEAR),
    ("kepler-90", YEAR),
    ("close-encounter", 3 * YEAR),
    ("fly-by", 100 * YEAR),
]
CHAOTIC: Final = [("trappist-1-x30", 200.0), ("pythagorean", 2325.0), ("pythagorean", 4069.0)]
FIXED_STEPS: Final = [
    ("yoshida4", "trappist-1", 60.0),
    ("leapfrog", "planets", YEAR),
    ("yoshida6", "earth-moon", YEAR),
    ("yoshida4", "comet-967", 100 * YEAR),
]


@cache
def ran(case: str, days: float, method: str = "gauss") -> tuple[Truth, End, Run]:
    truth = read_truth(case)
    end = truth.end(days)
    return truth, end, run_nbody(truth.start, end.days, method=method)


@pytest.mark.parametrize(("case", "days"), REGULAR)
def test_the_default_method_ends_where_ias15_does_and_knows_its_error(case: str, days: float) -> None:
    truth, end, done = ran(case, days)
    _, degrees = truth.errors(end.positions, done.positions)
    assert degrees.max() <= PROMISED_DEGREES
    assert done.trustworthy
    assert_error_within_ten_times(truth, end, done)


def assert_error_within_ten_times(truth: Truth, end: End, done: Run) -> None:
    """Compare the reported error of every body with the real one, where that is large enough to be known.

    Where rounding decides, the real error is a matter of luck and differs between processors. A report that is too
    large is therefore compared with the error of IAS15, too, if this is larger.
    """
    real, _ = truth.errors(end.exact, done.positions)
    counted = real > MEASURABLE_AU
    reported, real, usual = (values[counted] for values in (done.error_au, real, np.maximum(real, end.uncertainty)))
    assert ((reported >= real / 10) & (reported <= 10 * usual)).all(), (truth.start.ids, counted, reported, real)


@pytest.mark.parametrize(("case", "days"), CHAOTIC)
def test_a_chaotic_run_that_is_wrong_is_never_trustworthy(case: str, days: float) -> None:
    truth, end, done = ran(case, days)
    _, degrees = truth.errors(end.positions, done.positions)
    assert degrees.max() < WRONG_DEGREES or not done.trustworthy


def test_the_chaotic_cases_hold_one_that_no_method_can_follow() -> None:
    truth, end, done = ran("trappist-1-x30", 200.0)
    _, known = truth.errors(end.positions, end.positions + end.uncertainty[:, None])
    assert known.max() > WRONG_DEGREES, "IAS15 itself"
    assert not done.trustworthy
    assert done.error_degrees.max() > WRONG_DEGREES


def test_before_it_grows_chaotic_the_same_system_is_followed_exactly() -> None:
    truth, end, done = ran("trappist-1-x30", 50.0)
    _, degrees = truth.errors(end.positions, done.positions)
    assert degrees.max() <= PROMISED_DEGREES
    assert done.trustworthy


@pytest.mark.parametrize(("method", "case", "days"), FIXED_STEPS)
def test_methods_with_a_fixed_step_know_their_error_too(method: str, case: str, days: float) -> None:
    truth, end, done = ran(case, days, method)
    _, degrees = truth.errors(end.positions, done.positions)
    assert_error_within_ten_times(truth, end, done)
    assert done.trustworthy == bool(done.error_degrees.max() < WRONG_DEGREES)
    assert degrees.max() < WRONG_DEGREES or not done.trustworthy


def test_yoshida_at_its_usual_step_is_soon_off_for_trappist_1_and_reports_it() -> None:
    truth, end, done = ran("trappist-1", 60.0, "yoshida4")
    _, degrees = truth.errors(end.positions, done.positions)
    assert degrees.max() > WRONG_DEGREES
    assert not done.trustworthy


def test_a_run_back_in_time_returns_to_the_start() -> None:
    truth, end, _ = ran("kepler-90", YEAR)
    there = truth.start
    done = run_nbody(replace(there, positions=end.positions, velocities=end.velocities), -end.days)
    relative = there.relative_matrix @ (done.positions - there.positions)
    assert np.linalg.norm(relative, axis=1).max() < 1e-11
