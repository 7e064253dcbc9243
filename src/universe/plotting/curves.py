"""Curves of measured values: their pieces between gaps, and no more points than the page can show."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from universe.plotting.scale import Floats

_PER_COLUMN: Final = 4


def pieces(x: Floats, y: Floats) -> Iterator[tuple[Floats, Floats]]:
    """Yield the parts of a curve between values that are not finite."""
    finite = np.isfinite(x) & np.isfinite(y)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], finite.astype(np.int8), [0]])))
    for first, last in zip(edges[::2], edges[1::2], strict=True):
        yield x[first:last], y[first:last]


def thin(x: Floats, y: Floats, columns: int) -> tuple[Floats, Floats]:
    """Return the first, lowest, highest and last point in each column of the page: the picture stays the same."""
    if x.size <= _PER_COLUMN * columns:
        return x, y
    low, high = float(x.min()), float(x.max())
    column = np.floor((x - low) / ((high - low) or 1.0) * columns).astype(np.int64)
    starts = np.flatnonzero(np.diff(column, prepend=column[0] - 1))
    chosen: list[int] = []
    for first, last in zip(starts, [*starts[1:], x.size], strict=True):
        part = y[first:last]
        chosen += sorted({int(first), int(first + part.argmin()), int(first + part.argmax()), int(last) - 1})
    return x[chosen], y[chosen]


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Return positions at least `gap` apart within [low, high], in the order of and near the wanted positions.

    Where there is not enough room, the gaps are smaller and equal.
    """
    count = len(wanted)
    if count and (count - 1) * gap > high - low:
        gap = (high - low) / max(1, count - 1)
    order = sorted(range(count), key=lambda index: wanted[index])
    groups: list[tuple[float, int]] = []
    """The middle and the number of texts that touch each other."""
    for index in order:
        middle, size = wanted[index], 1
        half = (size - 1) / 2 * gap
        middle = min(max(middle, low + half), high - half)
        while groups and groups[-1][0] + (groups[-1][1] - 1) / 2 * gap + gap > middle - (size - 1) / 2 * gap:
            before, others = groups.pop()
            middle, size = (before * others + middle * size) / (others + size), others + size
            half = (size - 1) / 2 * gap
            middle = min(max(middle, low + half), high - half)
        groups.append((middle, size))
    placed = [middle + (number - (size - 1) / 2) * gap for middle, size in groups for number in range(size)]
    found = [0.0] * count
    for index, position in zip(order, placed, strict=True):
        found[index] = position
    return found
