"""Distances on the page."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from universe.domain.plotting.axes import choose_radial_scale

DISTANCES = st.lists(st.floats(0, 1e12), min_size=1, max_size=20)


@pytest.mark.parametrize("wish", ["auto", "linear", "log"])
@given(DISTANCES)
def test_the_farther_is_never_drawn_nearer_and_all_fits(wish: str, distances: list[float]) -> None:
    listed = np.sort(np.array(distances))
    scale = choose_radial_scale(listed, float(listed.max()), 500.0, wish)
    drawn = scale.compute_page_distance(listed)
    assert (np.diff(drawn) >= -1e-9).all()
    assert drawn.min() >= 0
    assert drawn.max() <= 500 + 1e-6


@pytest.mark.parametrize("wish", ["linear", "log"])
@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)), min_size=1, max_size=10))
def test_directions_stay_and_up_is_up(wish: str, points: list[tuple[float, float]]) -> None:
    flat = np.array(points)
    scale = choose_radial_scale(np.hypot(*flat.T), float(np.hypot(*flat.T).max()), 500.0, wish)
    page = scale.compute_page_offsets(flat)
    assert np.isfinite(page).all()
    assert (page[:, 0] * flat[:, 0] >= 0).all()
    assert (page[:, 1] * flat[:, 1] <= 0).all()


@pytest.mark.parametrize("wish", ["linear", "log"])
@given(st.floats(1e-12, 1e12), st.floats(1, 1e6))
def test_rings_are_few_round_and_within_the_page(wish: str, nearest: float, ratio: float) -> None:
    scale = choose_radial_scale(np.array([nearest, nearest * ratio]), nearest * ratio, 500.0, wish)
    rings = scale.list_ring_distances()
    assert len(rings) <= 8
    assert rings == sorted(rings)
    assert all(0 < ring <= scale.outer * (1 + 1e-9) for ring in rings)
    if wish == "linear":
        assert rings
        assert {f"{ring / rings[0]:.6g}" for ring in rings} == {str(times) for times in range(1, len(rings) + 1)}


@pytest.mark.parametrize(("farthest", "is_log"), [(30.0, False), (30.1, True)])
def test_the_scale_is_logarithmic_beyond_a_ratio_of_thirty(farthest: float, is_log: bool) -> None:
    assert choose_radial_scale(np.array([1.0, farthest]), farthest, 500.0).is_log is is_log


def test_of_many_decades_every_second_one_has_a_ring() -> None:
    scale = choose_radial_scale(np.array([1.0, 1e8]), 1e8, 500.0)
    assert scale.list_ring_distances() == [1.0, 1e2, 1e4, 1e6, 1e8]
    assert len(choose_radial_scale(np.array([1.0, 1e6]), 1e6, 500.0).list_ring_distances()) == 7


def test_the_solar_system_has_a_ring_at_one_au() -> None:
    scale = choose_radial_scale(np.array([0.39, 1.0, 30.0]), 49.0, 500.0)
    assert scale.is_log
    assert scale.list_ring_distances() == [1.0, 3.0, 10.0, 30.0]
