"""Scale distances in a universe to distances on a page, linearly or logarithmically."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

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
