"""Ticks of axes."""

import math

import pytest

from universe.domain.plotting.axes import choose_ticks, format_ticks


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 10, [0, 2, 4, 6, 8, 10]),
        (-0.013, 0.021, [-0.01, 0, 0.01, 0.02]),
        (0, 3652.5, [0, 1000, 2000, 3000]),
        (0.9999, 1.0001, [0.9999, 0.99995, 1.0, 1.00005, 1.0001]),
        (1e-9, 3e-9, [1e-9, 1.5e-9, 2e-9, 2.5e-9, 3e-9]),
    ],
)
def test_ticks_are_round_and_within_the_range(low: float, high: float, expected: list[float]) -> None:
    assert choose_ticks(low, high) == pytest.approx(expected, rel=1e-9, abs=1e-15)


def test_ticks_of_angles_are_parts_of_a_turn() -> None:
    assert choose_ticks(0, 360, angles=True) == [0, 90, 180, 270, 360]
    assert choose_ticks(-180, 180, angles=True) == [-180, -90, 0, 90, 180]
    assert choose_ticks(150, 182, angles=True) == [150, 160, 170, 180]


@pytest.mark.parametrize("span", [(1.0, 1.0), (2.0, 1.0), (math.nan, 1.0), (-math.inf, math.inf)])
def test_a_range_without_length_has_one_tick_or_none(span: tuple[float, float]) -> None:
    assert len(choose_ticks(*span)) <= 1


@pytest.mark.parametrize(("low", "high"), [(-1e300, 1e300), (1e-300, 3e-300), (1e15, 1e15 + 10), (-7, 1e12)])
def test_ticks_are_few_however_large_the_values(low: float, high: float) -> None:
    found = choose_ticks(low, high, 6)
    assert 1 <= len(found) <= 6
    assert len(set(format_ticks(found))) == len(found)


def test_texts_have_as_many_decimals_as_needed() -> None:
    assert format_ticks([-0.01, 0, 0.01]) == ["-0.01", "0.00", "0.01"]
    assert format_ticks([0, 1000, 2000]) == ["0", "1,000", "2,000"]
    assert format_ticks([0, 2.5, 5]) == ["0.0", "2.5", "5.0"]
    assert format_ticks([0, 1e-9]) == ["0", "1e-09"]
    assert format_ticks([]) == []
