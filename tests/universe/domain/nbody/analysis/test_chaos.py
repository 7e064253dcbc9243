import numpy as np
import pytest

from tests.universe.domain.nbody.analysis.motions import planets
from tests.universe.domain.nbody.sample_starts import YEAR, pair
from universe.domain.nbody.analysis.stability import estimate_chaos
from universe.domain.nbody.initial_conditions import make_initial_conditions
from universe.domain.nbody.runs import run_nbody

DAYS = np.linspace(0, 10_000, 2001)


def test_differences_that_grow_with_the_time_are_regular_and_megno_is_2() -> None:
    # P. M. Cincotta and C. Simó, A&AS 147, 205 (2000).
    found = estimate_chaos(DAYS, np.log(1 + DAYS))
    assert found.megno == pytest.approx(2, abs=0.1)
    assert found.lyapunov_days is None
    assert "No chaos" in found.meaning
    assert "1,250" in found.meaning or "3.42 years" in found.meaning  # an eighth of the span


@pytest.mark.parametrize("lyapunov", [100.0, 800.0])
def test_differences_that_grow_exponentially_give_their_lyapunov_time(lyapunov: float) -> None:
    found = estimate_chaos(DAYS, DAYS / lyapunov)
    assert found.megno == pytest.approx(10_000 / lyapunov / 2, rel=0.01)
    assert found.lyapunov_days == pytest.approx(lyapunov, rel=0.01)
    assert "Chaotic is not unstable" in found.meaning


def test_chaos_slower_than_the_span_is_not_claimed_and_not_excluded() -> None:
    found = estimate_chaos(DAYS, DAYS / 5000)
    assert found.lyapunov_days is None
    assert "would not show" in found.meaning


@pytest.mark.parametrize("growth", [DAYS / 1400, np.minimum(DAYS / 100, 20)])
def test_growth_that_is_neither_slow_nor_clearly_exponential_is_unclear(growth: np.typing.NDArray[np.float64]) -> None:
    found = estimate_chaos(DAYS, growth)
    assert found.lyapunov_days is None
    assert "Only a longer run can show it" in found.meaning


def test_a_run_backwards_or_with_a_late_first_sample_is_measured_alike() -> None:
    assert estimate_chaos(-DAYS, DAYS / 200).lyapunov_days == pytest.approx(200)
    assert estimate_chaos(DAYS[1:], DAYS[1:] / 200).megno == pytest.approx(25, rel=0.01)


@pytest.mark.parametrize("count", [0, 1, 5])
def test_a_short_run_has_no_estimate(count: int) -> None:
    found = estimate_chaos(DAYS[:count], DAYS[:count])
    assert (found.megno, found.lyapunov_days) == (None, None)


def test_two_distant_planets_are_regular_and_three_close_ones_chaotic() -> None:
    calm = run_nbody(make_initial_conditions(planets([10.0, 41.0], mass=1e-6)), 400.0)
    assert estimate_chaos(calm.divergence.times, calm.divergence.log_distance).lyapunov_days is None
    # Five mutual Hill radii apart: J. E. Chambers, G. W. Wetherill and A. P. Boss, Icarus 119, 261 (1996), find that
    # systems of three or more planets closer than 10 are unstable.
    wild = run_nbody(make_initial_conditions(planets([10.0, 12.0, 14.4], mass=1e-4)), 700.0, on_collision="ignore")
    found = estimate_chaos(wild.divergence.times, wild.divergence.log_distance)
    assert found.megno is not None
    assert found.megno > 4
    assert found.lyapunov_days is not None


@pytest.mark.parametrize(("eccentricity", "orbits"), [(0.967, 40), (0.9995, 3), (0.9995, 12), (0.9999, 2)])
def test_two_bodies_are_never_chaotic_however_long_their_ellipse(eccentricity: float, orbits: float) -> None:
    done = run_nbody(pair(eccentricity, mass=1e-6, anomaly=180), orbits * YEAR)
    found = estimate_chaos(done.divergence.times, done.divergence.log_distance, run_days=done.days)
    assert found.lyapunov_days is None
    assert found.megno is None or found.megno < 3


def test_an_estimate_of_a_part_of_the_run_names_that_part() -> None:
    whole = estimate_chaos(DAYS, np.log(1 + DAYS), run_days=10_000.0)
    assert "first" not in whole.meaning
    part = estimate_chaos(DAYS, np.log(1 + DAYS), run_days=-30_000.0)
    assert "in the first 27.4 years, and later it could not be measured" in part.meaning
    none = estimate_chaos(DAYS[:5], DAYS[:5], run_days=30_000.0)
    assert none.meaning.startswith("Chaos cannot be measured")
