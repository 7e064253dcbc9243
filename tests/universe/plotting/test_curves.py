"""Curves between gaps, and no more of them than a page shows."""

import numpy as np

from universe.plotting.charts import split_at_gaps, spread_positions, thin_points


def test_a_curve_is_cut_where_a_value_is_missing() -> None:
    x = np.arange(6.0)
    y = np.array([np.nan, 1, 2, np.inf, 4, np.nan])
    assert [(list(one), list(other)) for one, other in split_at_gaps(x, y)] == [([1, 2], [1, 2]), ([4], [4])]
    assert not list(split_at_gaps(x, np.full(6, np.nan)))


def test_thinning_keeps_the_highest_and_lowest_point_of_each_column_and_both_ends() -> None:
    x = np.linspace(0, 1, 100_000)
    y = np.sin(1e4 * x)
    y[54_321] = 7
    few_x, few_y = thin_points(x, y, 500)
    assert few_x.size <= 4 * 501
    assert few_y.max() == 7
    assert few_y.min() == y.min()
    assert (few_x[0], few_x[-1]) == (0, 1)
    assert (np.diff(few_x) >= 0).all()
    assert thin_points(x[:10], y[:10], 500)[0].size == 10


def test_a_curve_that_runs_backwards_is_thinned_too() -> None:
    x = np.linspace(0, -1, 10_000)
    few, _ = thin_points(x, x, 100)
    assert few.size <= 404
    assert (few[0], few[-1]) == (0, -1)


def test_texts_are_spread_in_their_order_and_stay_inside() -> None:
    assert spread_positions([10, 50, 90], 10, 0, 100) == [10, 50, 90]
    found = spread_positions([50, 50, 51, 0], 10, 0, 100)
    assert sorted(found) == sorted(found, key=lambda one: one)
    assert all(abs(a - b) >= 10 - 1e-9 for i, a in enumerate(found) for b in found[i + 1 :])
    assert found[0] < found[1] < found[2]
    assert spread_positions([99, 99, 99], 10, 0, 100) == [80, 90, 100]
    assert spread_positions([5] * 11, 20, 0, 100) == [10 * number for number in range(11)]
    assert spread_positions([], 10, 0, 100) == []
