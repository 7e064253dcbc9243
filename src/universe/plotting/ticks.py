"""Round values along an axis, and their texts."""

import itertools
import math
from collections.abc import Sequence
from typing import Final

_ROUND: Final = (1.0, 2.0, 5.0, 10.0)
_ANGLES: Final = (1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 45.0, 60.0, 90.0, 180.0, 360.0)
_LARGEST_PLAIN: Final = 1e7
_SMALLEST_PLAIN: Final = 1e-6


def round_ticks(low: float, high: float, most: int = 6, *, angles: bool = False) -> list[float]:
    """Return at most `most` round values within [low, high], evenly apart; in degrees 15, 30, 45, … apart."""
    span = high - low
    if not (math.isfinite(span) and span > 0):
        return [low] if math.isfinite(low) else []
    step = _step(span / max(1, most), angles=angles)
    while math.floor(high / step + 1e-9) - math.ceil(low / step - 1e-9) + 1 > most:
        step = _step(step * 1.01, angles=angles)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [number * step for number in range(first, last + 1)]


def _step(least: float, *, angles: bool) -> float:
    if angles and 1 <= least <= _ANGLES[-1]:
        least = 90.0 if 45 < least < 90 else least  # quarters of a turn
        return next(step for step in _ANGLES if step >= least * (1 - 1e-9))
    size = 10.0 ** math.floor(math.log10(least))
    return next((factor * size for factor in _ROUND if factor * size >= least * (1 - 1e-9)), 10 * size)


def tick_texts(ticks: Sequence[float]) -> list[str]:
    """Return the texts of ticks, all with as many decimals as their distance needs."""
    if not ticks:
        return []
    largest = max(abs(tick) for tick in ticks)
    step = min((abs(b - a) for a, b in itertools.pairwise(ticks)), default=largest)
    if largest >= _LARGEST_PLAIN or 0 < step < _SMALLEST_PLAIN:
        digits = max(1, math.ceil(math.log10(largest / step)) + 1) if step > 0 else 6
        return ["0" if tick == 0 else f"{tick:.{digits}g}" for tick in ticks]
    decimals = max(0, math.ceil(-math.log10(step) - 1e-9)) if step > 0 else 0
    decimals += step > 0 and not math.isclose(step, round(step, decimals), rel_tol=1e-6)
    return [f"{0.0 if tick == 0 else tick:,.{decimals}f}" for tick in ticks]
