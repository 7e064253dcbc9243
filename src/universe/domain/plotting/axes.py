"""Map values and distances to pixels, linearly or logarithmically, and choose the marks of axes."""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from universe.domain.plotting.drawing import DIM, GREY, PALE, RULER, Label, Mark, Polyline
from uraniborg.kernel.errors import InvalidInput

Floats = NDArray[np.float64]
ScaleName = Literal["auto", "linear", "log"]

SCALES: Final = ("auto", "linear", "log")
_WIDE: Final = 30.0
"""The ratio of the outermost to the innermost distance from which on the scale is logarithmic."""


@dataclass(frozen=True, slots=True)
class RadialScale:
    """A scale from distances in the universe to distances on the page. Directions are unchanged."""

    is_log: bool
    inner: float
    """The distance at about a seventh of a logarithmic page."""
    outer: float
    """The distance at the edge."""
    page_radius: float

    def compute_page_distance(self, distance: Floats) -> Floats:
        """Return the distance in pixels.

        The logarithm is of one plus the distance, so that the centre stays in the middle.
        """
        if self.is_log:
            return self.page_radius * np.log1p(distance / self.inner) / math.log1p(self.outer / self.inner)
        return self.page_radius * (distance / self.outer)

    def compute_page_offsets(self, flat: Floats) -> Floats:
        """Return offsets in pixels, right and down, of points given as (n, 2) offsets right and up."""
        distance = np.hypot(flat[:, 0], flat[:, 1])
        stretch = np.divide(
            self.compute_page_distance(distance), distance, out=np.zeros_like(distance), where=distance > 0
        )
        return flat * stretch[:, None] * [1.0, -1.0]

    def list_ring_distances(self) -> list[float]:
        """Return round distances for the rings of the scale, from the inside out."""
        if self.is_log:
            found = [value for value in _list_decades(self.inner, self.outer) if value <= self.outer]
            return found if len(found) <= 7 else found[:: math.ceil(len(found) / 7)]
        step = _choose_round_step(self.outer / 3.2)
        return [step * times for times in range(1, int(self.outer / step * (1 + 1e-9)) + 1)]


def choose_radial_scale(distances: Floats, farthest: float, page_radius: float, kind: Any = "auto") -> RadialScale:
    """Return the scale for bodies at these distances from the centre, up to `farthest`.

    Raise InvalidInput if `kind` is not one of `SCALES`.
    """
    if kind not in SCALES:
        raise InvalidInput(
            f"There is no scale '{str(kind)[:40]}'.",
            hint="Use auto, linear or log.",
            argument="scale",
            allowed=", ".join(SCALES),
        )
    outer = farthest if farthest > 1e-280 else 1.0
    # Much smaller distances are rounding errors, or moons of the central body.
    apart = distances[distances > outer * 1e-9]
    nearest = float(apart.min()) if apart.size else outer
    is_log = kind == "log" or (kind == "auto" and outer / nearest > _WIDE)
    return RadialScale(is_log, max(nearest * 0.8, outer * 1e-9), outer, page_radius)


def _list_decades(inner: float, outer: float) -> Iterator[float]:
    """Yield powers of ten from the inside out, with threes between them if there are few."""
    first = math.floor(math.log10(inner))
    last = math.ceil(math.log10(outer))
    steps = (1, 3) if last - first <= 3 else (1,)
    for power in range(first, last + 1):
        for step in steps:
            if (value := float(f"{step}e{power}")) >= inner:
                yield value


def _choose_round_step(about: float) -> float:
    power = 10.0 ** math.floor(math.log10(about))
    return next(step * power for step in (10, 5, 2, 1) if step * power <= about * (1 + 1e-9))


_SIZE = 12.0


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle of the page and the values at its edges."""

    left: float
    top: float
    right: float
    bottom: float
    x_low: float
    x_high: float
    y_low: float
    y_high: float

    @property
    def width(self) -> float:
        return self.right - self.left

    def compute_page_x(self, x: float) -> float:
        return self.left + (x - self.x_low) / (self.x_high - self.x_low) * self.width

    def compute_page_y(self, y: float) -> float:
        return self.bottom - (y - self.y_low) / (self.y_high - self.y_low) * (self.bottom - self.top)

    def make_inside_mask(self, x: Floats, y: Floats) -> np.ndarray:
        """Return a mask of the points that are finite and inside the area."""
        with np.errstate(invalid="ignore"):
            return (self.x_low <= x) & (x <= self.x_high) & (self.y_low <= y) & (y <= self.y_high)

    def compute_page_points(self, x: Floats, y: Floats) -> tuple[tuple[float, float], ...]:
        across = self.left + (x - self.x_low) / (self.x_high - self.x_low) * self.width
        down = self.bottom - (y - self.y_low) / (self.y_high - self.y_low) * (self.bottom - self.top)
        return tuple(zip(across.tolist(), down.tolist(), strict=True))


def draw_axes(
    area: Area,
    title: str,
    note: str,
    x_label: str | None,
    *,
    is_angle: bool,
    y_ticks: Sequence[tuple[float, str]] | None,
    lines: Sequence[float],
) -> Iterator[Mark]:
    """Yield grid lines, tick labels and titles. Without `x_label` the vertical lines have no texts."""
    if y_ticks is None:
        ticks = choose_ticks(area.y_low, area.y_high, 6, angles=is_angle)
        texts = format_ticks(ticks)
        y_ticks = [(tick, text + "°" if is_angle else text) for tick, text in zip(ticks, texts, strict=True)]
    for tick, text in y_ticks:
        y = area.compute_page_y(tick)
        yield Polyline(((area.left, y), (area.right, y)), RULER, 1.0, 0.75)
        yield Label(area.left - 12, y + 0.35 * _SIZE, text, _SIZE, DIM, "end")
    ticks = choose_ticks(area.x_low, area.x_high, 9)
    for tick, text in zip(ticks, format_ticks(ticks), strict=True):
        x = area.compute_page_x(tick)
        yield Polyline(((x, area.bottom), (x, area.bottom + 5)), RULER, 1.0)
        if x_label is not None:
            yield Label(x, area.bottom + 22, text, _SIZE, DIM, "middle")
    for value in lines:
        if area.y_low <= value <= area.y_high:
            y = area.compute_page_y(value)
            yield Polyline(((area.left, y), (area.right, y)), GREY, 1.0, 0.6)
    yield Polyline(((area.left, area.bottom), (area.right, area.bottom)), RULER, 1.2)
    yield Label(area.left, area.top - 14, title, 15, PALE)
    if note:
        yield Label(area.right, area.top - 14, note, _SIZE, DIM, "end")
    if x_label:
        yield Label((area.left + area.right) / 2, area.bottom + 44, x_label, _SIZE, DIM, "middle")


_ROUND: Final = (1.0, 2.0, 5.0, 10.0)
_ANGLES: Final = (1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 45.0, 60.0, 90.0, 180.0, 360.0)
_LARGEST_PLAIN: Final = 1e7
_SMALLEST_PLAIN: Final = 1e-6


def choose_ticks(low: float, high: float, most: int = 6, *, angles: bool = False) -> list[float]:
    """Return at most `most` round values within [low, high], evenly apart; in degrees 15, 30, 45, … apart."""
    span = high - low
    if not (math.isfinite(span) and span > 0):
        return [low] if math.isfinite(low) else []
    step = _choose_tick_step(span / max(1, most), angles=angles)
    while math.floor(high / step + 1e-9) - math.ceil(low / step - 1e-9) + 1 > most:
        step = _choose_tick_step(step * 1.01, angles=angles)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [number * step for number in range(first, last + 1)]


def _choose_tick_step(least: float, *, angles: bool) -> float:
    if angles and 1 <= least <= _ANGLES[-1]:
        least = 90.0 if 45 < least < 90 else least  # quarters of a turn
        return next(step for step in _ANGLES if step >= least * (1 - 1e-9))
    size = 10.0 ** math.floor(math.log10(least))
    return next((factor * size for factor in _ROUND if factor * size >= least * (1 - 1e-9)), 10 * size)


def format_ticks(ticks: Sequence[float]) -> list[str]:
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
