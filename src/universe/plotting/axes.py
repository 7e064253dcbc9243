"""The area of a chart's panel: from values to pixels, and the marks of its axes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from universe.plotting.colours import DIM, GREY, PALE, RULER
from universe.plotting.drawing import Label, Mark, Polyline
from universe.plotting.scale import Floats
from universe.plotting.ticks import round_ticks, tick_texts

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

    def page_x(self, x: float) -> float:
        return self.left + (x - self.x_low) / (self.x_high - self.x_low) * self.width

    def page_y(self, y: float) -> float:
        return self.bottom - (y - self.y_low) / (self.y_high - self.y_low) * (self.bottom - self.top)

    def contains(self, x: Floats, y: Floats) -> np.ndarray:
        """Return where points are finite and within the values at the edges."""
        with np.errstate(invalid="ignore"):
            return (self.x_low <= x) & (x <= self.x_high) & (self.y_low <= y) & (y <= self.y_high)

    def points(self, x: Floats, y: Floats) -> tuple[tuple[float, float], ...]:
        across = self.left + (x - self.x_low) / (self.x_high - self.x_low) * self.width
        down = self.bottom - (y - self.y_low) / (self.y_high - self.y_low) * (self.bottom - self.top)
        return tuple(zip(across.tolist(), down.tolist(), strict=True))


def area_marks(
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
        ticks = round_ticks(area.y_low, area.y_high, 6, angles=is_angle)
        texts = tick_texts(ticks)
        y_ticks = [(tick, text + "°" if is_angle else text) for tick, text in zip(ticks, texts, strict=True)]
    for tick, text in y_ticks:
        y = area.page_y(tick)
        yield Polyline(((area.left, y), (area.right, y)), RULER, 1.0, 0.75)
        yield Label(area.left - 12, y + 0.35 * _SIZE, text, _SIZE, DIM, "end")
    ticks = round_ticks(area.x_low, area.x_high, 9)
    for tick, text in zip(ticks, tick_texts(ticks), strict=True):
        x = area.page_x(tick)
        yield Polyline(((x, area.bottom), (x, area.bottom + 5)), RULER, 1.0)
        if x_label is not None:
            yield Label(x, area.bottom + 22, text, _SIZE, DIM, "middle")
    for value in lines:
        if area.y_low <= value <= area.y_high:
            y = area.page_y(value)
            yield Polyline(((area.left, y), (area.right, y)), GREY, 1.0, 0.6)
    yield Polyline(((area.left, area.bottom), (area.right, area.bottom)), RULER, 1.2)
    yield Label(area.left, area.top - 14, title, 15, PALE)
    if note:
        yield Label(area.right, area.top - 14, note, _SIZE, DIM, "end")
    if x_label:
        yield Label((area.left + area.right) / 2, area.bottom + 44, x_label, _SIZE, DIM, "middle")
