"""Marks of a picture: circles, lines, dots and texts. y grows downwards. Later ones cover earlier ones."""

from dataclasses import dataclass
from typing import Literal

Anchor = Literal["start", "middle", "end"]
"""The position of x in a text: its start, middle or end."""


@dataclass(frozen=True, slots=True)
class Circle:
    x: float
    y: float
    radius: float
    fill: str | None = None
    stroke: str | None = None
    width: float = 0.0
    opacity: float = 1.0
    dash: float = 0.0
    """The length of the dashes and of half the gaps between them; 0 for a solid line."""


@dataclass(frozen=True, slots=True)
class Polyline:
    """A line. Its opacity mixes it with the background, not with the marks below it."""

    points: tuple[tuple[float, float], ...]
    stroke: str
    width: float
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class Dots:
    """Many small filled circles of one size and colour."""

    points: tuple[tuple[float, float], ...]
    radius: float
    fill: str


@dataclass(frozen=True, slots=True)
class Label:
    """A text; y is its baseline. It has an outline in the colour of the page."""

    x: float
    y: float
    text: str
    size: float
    fill: str
    anchor: Anchor = "start"


Mark = Circle | Polyline | Dots | Label


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture, independent of its file format. Colours are `#rrggbb`, lengths are pixels."""

    width: int
    height: int
    background: str
    title: str
    marks: tuple[Mark, ...]
