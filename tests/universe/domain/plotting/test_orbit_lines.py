"""Trails follow their bodies."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from universe.domain.plotting.top_view import draw_orbit_line, draw_trail

AROUND = np.linspace(0, 2 * math.pi, 241)
PATH = 100 * np.column_stack([np.cos(AROUND), np.sin(AROUND)])


def turned(points: list[tuple[float, float]]) -> list[float]:
    """Return the angle from each point to the first, in degrees."""
    angles = [math.degrees(math.atan2(y, x)) for x, y in points]
    return [(angles[0] - angle + 1e-6) % 360 for angle in angles]


@pytest.mark.parametrize("backwards", [False, True])
@given(st.floats(0, 359.9))
def test_a_trail_starts_at_its_body_and_follows_the_orbit_backwards(backwards: bool, degrees: float) -> None:
    body = 100 * np.array([math.cos(math.radians(degrees)), math.sin(math.radians(degrees))])
    pieces = list(draw_trail(PATH, body, "#ffffff", 1.0, backwards=backwards))
    points = [point for piece in pieces for point in piece.points]
    assert points[0] == pytest.approx(tuple(body))
    behind = turned([(x, -y) for x, y in points] if backwards else points)
    assert behind == sorted(behind)
    assert 120 < behind[-1] < 200
    assert [piece.opacity for piece in pieces] == sorted((piece.opacity for piece in pieces), reverse=True)


def test_pieces_of_a_trail_join() -> None:
    pieces = list(draw_trail(PATH, PATH[7], "#ffffff", 1.0, backwards=False))
    assert len(pieces) > 3
    for one, following in pairwise(pieces):
        assert one.points[-1] == following.points[0]


def test_an_orbit_is_closed_and_faint() -> None:
    line = draw_orbit_line(PATH, "#ffffff", 1.0)
    assert line.points[0] == pytest.approx(line.points[-1])
    assert line.opacity < 0.5


@pytest.mark.parametrize("count", [2, 3, 4])
def test_a_path_of_few_points_has_a_trail_too(count: int) -> None:
    assert list(draw_trail(PATH[:count], PATH[0], "#ffffff", 1.0, backwards=False))
