"""Charts of values over time, in panels one above the other, on a dark page.

    drawing = draw_chart([Panel("eccentricity", [Series("b", days, e_of_b), Series("c", days, e_of_c)])],
                    title="TRAPPIST-1", subtitle="10 years", x_label="days")

`render_png(drawing)` and `render_svg(drawing)` encode it. Values that are not finite leave gaps.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from universe.domain.plotting.axes import Area, Floats, draw_axes
from universe.domain.plotting.drawing import (
    BACKGROUND,
    DIM,
    PALE,
    Dots,
    Drawing,
    Label,
    Mark,
    Polyline,
    make_colour_ramp,
)
from universe.domain.plotting.picture_layout import clean_and_truncate_text, estimate_text_width

Floats32 = NDArray[np.float32]

_LEFT: Final = 104.0
_TOP: Final = 150.0
_GAP: Final = 62.0
_BOTTOM: Final = 96.0
_NAME_SIZE: Final = 13.0
_LONGEST_NAME: Final = 40
_MOST_NAMES: Final = 24
_MOST_SUBTITLE_LINES: Final = 3
_MOST_DOTS: Final = 3_000
_DESCRIBED_DOTS: Final = 1_000
_DESCRIBED_COLUMNS: Final = 400


@dataclass(frozen=True, slots=True)
class Series:
    """A line or points, with a name at the right edge of the panel."""

    name: str
    x: ArrayLike
    y: ArrayLike
    colour: str | None = None
    """`#rrggbb`; one of a ramp from warm to cold by the order in the panel if left out."""
    is_points: bool = False
    width: float = 1.6
    """The width of a line, or the radius of points."""


@dataclass(frozen=True, slots=True)
class Panel:
    """Axes with some series."""

    title: str
    """The quantity and its unit."""
    series: Sequence[Series]
    note: str = ""
    """Text above the panel, on the right."""
    y_range: tuple[float, float] | None = None
    """The range of y; that of the values if left out. Values outside are not drawn."""
    is_angle: bool = False
    """True if y is in degrees, with ticks at multiples of 15, 30, 45, …"""
    y_ticks: Sequence[tuple[float, str]] | None = None
    """Values and texts along the y axis, instead of round ones."""
    lines: Sequence[float] = ()
    """Values of y that a horizontal line marks."""
    x_label: str | None = None
    """A panel with a label of its own has an x axis of its own; the others share the chart's."""
    height: float = 220.0
    values: Sequence[Series] | None = None
    """The series as they were before their curves were moved apart."""


@dataclass(frozen=True, slots=True)
class Chart:
    """Panels and the texts around them: a picture to draw, or numbers for a program that draws them."""

    panels: Sequence[Panel]
    title: str
    x_label: str
    subtitle: str = ""
    footer: str = ""

    def draw(self) -> Drawing:
        return draw_chart(
            self.panels, title=self.title, subtitle=self.subtitle, x_label=self.x_label, footer=self.footer
        )

    def describe(self) -> dict[str, Any]:
        """Return the texts and the values, thinned so that a picture of them stays the same. Arrays are numpy's."""
        return {
            "title": self.title,
            "subtitle": self.subtitle,
            "footer": self.footer,
            "panels": [
                {
                    "title": panel.title,
                    "note": panel.note,
                    "xLabel": panel.x_label or self.x_label,
                    "isAngle": panel.is_angle,
                    "range": panel.y_range if panel.values is None else None,
                    "lines": list(panel.lines),
                    "series": [
                        {"name": one.name, "isPoints": one.is_points, **_thin_series(one)}
                        for one in panel.values or panel.series
                    ],
                }
                for panel in self.panels
            ],
        }


def _thin_series(series: Series) -> dict[str, Floats32]:
    """Return x and y with not-a-number between the parts of a curve."""
    x, y = (np.asarray(values, dtype=np.float64) for values in (series.x, series.y))
    if series.is_points:
        some = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
        some = some[:: max(1, -(-some.size // _DESCRIBED_DOTS))]
        return {"x": x[some].astype(np.float32), "y": y[some].astype(np.float32)}
    parts = [thin_points(*part, _DESCRIBED_COLUMNS) for part in split_at_gaps(x, y)]
    joined: list[tuple[Floats, Floats]] = []
    for part_x, part_y in parts:
        if joined:
            joined.append((np.array([(joined[-1][0][-1] + part_x[0]) / 2]), np.array([np.nan])))
        joined.append((part_x, part_y))
    empty = np.zeros(0)
    return {
        name: np.concatenate([empty, *(pair[axis] for pair in joined)]).astype(np.float32)
        for axis, name in enumerate(("x", "y"))
    }


def make_stacked_panel(
    title: str, series: Sequence[Series], *, unit: str = "", note: str = "", lane: float = 44.0
) -> Panel:
    """Return a panel with a lane for each series about 0, one above the other, the first at the bottom.

    Each lane is as high as its largest value, which its tick names: for curves that would overlap.
    """
    lanes: list[Series] = []
    ticks: list[tuple[float, str]] = []
    for number, one in enumerate(series):
        y = np.asarray(one.y, dtype=np.float64)
        finite = np.abs(y[np.isfinite(y)])
        largest = float(finite.max()) if finite.size else 0.0
        lanes.append(replace(one, y=number + 0.42 * y / (largest or 1.0)))
        ticks.append((float(number), f"±{largest:.2g}{unit}"))
    height = max(80.0, lane * len(lanes))
    y_range = (-0.6, max(1, len(lanes)) - 0.4)
    return Panel(title, lanes, note, y_range=y_range, y_ticks=ticks, height=height, values=series)


def draw_chart(
    panels: Sequence[Panel], *, title: str, subtitle: str = "", x_label: str, footer: str = "", width: int = 1200
) -> Drawing:
    """Return the drawing of panels one above the other, as high as they need."""
    right = _measure_right_margin(panels)
    shared = _compute_x_range([panel for panel in panels if panel.x_label is None])
    marks: list[Mark] = []
    top = _TOP if panels else 0.0
    for number, panel in enumerate(panels):
        x_low, x_high = shared if panel.x_label is None else _compute_x_range([panel])
        y_low, y_high = panel.y_range or _compute_padded_range(
            [np.asarray(one.y, dtype=np.float64) for one in panel.series]
        )
        area = Area(_LEFT, top, width - right, top + panel.height, x_low, x_high, y_low, y_high)
        has_x = panel.x_label is not None or not any(one.x_label is None for one in panels[number + 1 :])
        marks += draw_axes(
            area, clean_and_truncate_text(panel.title, 120), clean_and_truncate_text(panel.note, 120),
            panel.x_label or x_label if has_x else None,
            is_angle=panel.is_angle, y_ticks=panel.y_ticks, lines=panel.lines,
        )  # fmt: skip
        marks += _draw_series(panel, area)
        top = area.bottom + _GAP + (26 if has_x and number + 1 < len(panels) else 0)
    height = round((top - _GAP if panels else _TOP) + _BOTTOM)
    if not panels:
        marks.append(Label(width / 2, _TOP, "Nothing to draw.", 15, DIM, "middle"))
    head = [Label(40, 58, _shorten_to_width(title, 26, width - 80), 26, PALE)]
    for number, line in enumerate(_wrap_to_width(subtitle, 14, width - 80, _MOST_SUBTITLE_LINES)):
        head.append(Label(40, 84 + 19 * number, _shorten_to_width(line, 14, width - 80), 14, DIM))
    if footer:
        head.append(Label(40, height - 24, _shorten_to_width(footer, 12, width - 80), 12, DIM))
    return Drawing(width, height, BACKGROUND, clean_and_truncate_text(title, 120) or "Chart", (*marks, *head))


def _draw_series(panel: Panel, area: Area) -> Iterator[Mark]:
    colours = make_colour_ramp(len(panel.series))
    ends: list[tuple[float, str, str]] = []
    """The height at the right edge, the name and the colour of each series."""
    for series, ramped in zip(panel.series, colours, strict=True):
        x, y = (np.asarray(values, dtype=np.float64) for values in (series.x, series.y))
        colour = series.colour or ramped
        seen = area.make_inside_mask(x, y)
        if not seen.any():
            continue
        if series.is_points:
            some = np.flatnonzero(seen)[:: max(1, -(-int(seen.sum()) // _MOST_DOTS))]
            yield Dots(area.compute_page_points(x[some], y[some]), series.width, colour)
        else:
            for part_x, part_y in split_at_gaps(x, np.where(seen, y, np.nan)):
                yield Polyline(
                    area.compute_page_points(*thin_points(part_x, part_y, round(area.width / 1.5))),
                    colour,
                    series.width,
                )
        tail = y[seen][-max(1, int(seen.sum()) // 20) :] if series.is_points else y[seen][-1:]
        ends.append(
            (area.compute_page_y(float(np.median(tail))), clean_and_truncate_text(series.name, _LONGEST_NAME), colour)
        )
    if len(ends) <= _MOST_NAMES:
        yield from _draw_series_names(ends, area)


def _draw_series_names(ends: Sequence[tuple[float, str, str]], area: Area) -> Iterator[Mark]:
    """Yield the names beside the ends of their series, apart from each other, with lines that lead to them."""
    gap = min(_NAME_SIZE * 1.35, (area.bottom - area.top) / max(1, len(ends) - 1) if len(ends) > 1 else 99)
    size = min(_NAME_SIZE, gap / 1.05)
    heights = spread_positions([end for end, _, _ in ends], gap, area.top, area.bottom)
    for (end, name, colour), height in zip(ends, heights, strict=True):
        yield Polyline(((area.right + 4, end), (area.right + 20, height)), colour, 1.0, 0.7)
        yield Label(area.right + 25, height + 0.35 * size, name, size, colour)


def _measure_right_margin(panels: Sequence[Panel]) -> float:
    names = [clean_and_truncate_text(one.name, _LONGEST_NAME) for panel in panels for one in panel.series[:_MOST_NAMES]]
    return 60 + max((estimate_text_width(name, _NAME_SIZE) for name in names), default=0.0)


def _compute_x_range(panels: Sequence[Panel]) -> tuple[float, float]:
    return _compute_padded_range(
        [np.asarray(one.x, dtype=np.float64) for panel in panels for one in panel.series], margin=0.0
    )


def _compute_padded_range(values: Sequence[Floats], margin: float = 0.06) -> tuple[float, float]:
    """Return the lowest and highest finite value, a little apart even if there is only one."""
    finite = [one[np.isfinite(one)] for one in values]
    finite = [one for one in finite if one.size]
    if not finite:
        return 0.0, 1.0
    low, high = float(min(one.min() for one in finite)), float(max(one.max() for one in finite))
    if high - low <= 1e-12 * max(abs(low), abs(high)):
        room = abs(low) * 0.05 or 1.0
        return low - room, high + room
    return low - margin * (high - low), high + margin * (high - low)


def _wrap_to_width(text: str, size: float, width: float, most: int) -> list[str]:
    """Return the first `most` lines of a text, the last one with an ellipsis if the text is longer.

    Only a line with a single word or an ellipsis can be too wide.
    """
    lines: list[str] = []
    for word in clean_and_truncate_text(text, 500).split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and estimate_text_width(longer, size) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines if len(lines) <= most else [*lines[: most - 1], f"{lines[most - 1]} …"]


def _shorten_to_width(text: str, size: float, width: float) -> str:
    shown = clean_and_truncate_text(text, 200)
    while shown and estimate_text_width(shown, size) > width:
        shown = clean_and_truncate_text(shown, max(2, len(shown) - 4))
    return shown


_PER_COLUMN: Final = 4


def split_at_gaps(x: Floats, y: Floats) -> Iterator[tuple[Floats, Floats]]:
    """Yield the parts of a curve between values that are not finite."""
    finite = np.isfinite(x) & np.isfinite(y)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], finite.astype(np.int8), [0]])))
    for first, last in zip(edges[::2], edges[1::2], strict=True):
        yield x[first:last], y[first:last]


def thin_points(x: Floats, y: Floats, columns: int) -> tuple[Floats, Floats]:
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


def spread_positions(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
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
