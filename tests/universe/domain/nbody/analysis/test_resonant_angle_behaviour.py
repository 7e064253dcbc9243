import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from universe.domain.nbody.analysis.resonances import CIRCULATES, LIBRATES, UNCLEAR, classify_angle

TIMES = np.linspace(0, 1, 2001)


def swing(centre: float, half_range: float, turns: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return centre + half_range * np.sin(2 * np.pi * turns * TIMES)


def test_an_angle_that_swings_librates_about_its_centre() -> None:
    found = classify_angle(swing(180, 30, 3), orbits=200)
    assert found.behaviour == LIBRATES
    assert found.centre == pytest.approx(180, abs=0.1)
    assert found.half_range == pytest.approx(30, abs=0.1)


def test_a_centre_near_zero_is_not_split_in_two() -> None:
    found = classify_angle(swing(0, 30, 3), orbits=200)
    assert found.behaviour == LIBRATES
    assert found.centre is not None
    assert min(found.centre, 360 - found.centre) < 0.1
    assert found.half_range == pytest.approx(30, abs=0.1)


@pytest.mark.parametrize("turns", [1.0, 1.5, -40.0])
def test_an_angle_that_runs_through_all_values_circulates_and_has_no_centre(turns: float) -> None:
    found = classify_angle(360 * turns * TIMES, orbits=200)
    assert (found.behaviour, found.centre, found.half_range) == (CIRCULATES, None, None)


def test_circulation_needs_no_long_span() -> None:
    assert classify_angle(720 * TIMES, orbits=3).behaviour == CIRCULATES


@given(st.floats(-350, 350), st.floats(0, 5))
def test_a_steady_drift_that_short_waves_ride_on_is_unclear(drift: float, waves: float) -> None:
    if abs(drift) + 2 * waves >= 360:
        return
    found = classify_angle(drift * TIMES + waves * np.sin(2 * np.pi * 200 * TIMES), orbits=200)
    assert found.behaviour == UNCLEAR or abs(drift) < 0.5 * waves


def test_a_swing_is_unclear_in_a_span_of_few_orbits() -> None:
    found = classify_angle(swing(180, 30, 3), orbits=12)
    assert found.behaviour == UNCLEAR
    assert "12 orbits" in str(found.reason)


def test_an_angle_that_went_through_nearly_everything_is_unclear() -> None:
    assert classify_angle(swing(180, 150, 1), orbits=200).behaviour == UNCLEAR


def test_an_angle_known_to_too_few_degrees_is_unclear_and_has_no_centre() -> None:
    found = classify_angle(swing(180, 30, 3), orbits=200, error=25)
    assert (found.behaviour, found.centre) == (UNCLEAR, None)
    assert classify_angle(swing(180, 30, 3), orbits=200, error=float("nan")).behaviour == UNCLEAR


@pytest.mark.parametrize("angle", [[], [1.0], [1.0, float("nan"), 2.0]])
def test_an_angle_without_samples_is_unclear(angle: list[float]) -> None:
    assert classify_angle(np.array(angle), orbits=200).behaviour == UNCLEAR


def test_an_angle_that_does_not_move_at_all_is_not_reported_to_librate() -> None:
    assert classify_angle(np.full(100, 60.0), orbits=200).behaviour == UNCLEAR
