"""Rogue planets of a state, many at once: straight lines, and ellipses around centres of their own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from universe.orbits.anomaly import Floats
from universe.orbits.compatible_orbits import (
    is_curved,
    read_rogue_centre,
    read_rogue_ellipse,
    read_rogue_start,
    read_rogue_velocity,
    read_rogue_windows,
)
from universe.orbits.ellipses import SHAPE, Ellipses, describe_open_ellipse
from universe.orbits.numbers import read_number
from uraniborg.kernel.errors import InvalidInput


class Lines:
    """n bodies that never turn: where they are at time 0, how they move, and for how long a path shows them."""

    def __init__(self, starts: Floats, velocities: Floats, windows: Floats) -> None:
        self._starts = starts
        self._velocities = velocities
        self._windows = windows

    def positions(self, t: float) -> Floats:
        """Return the positions at time `t` as an (n, 3) array."""
        return self._starts + self._velocities * t

    def path(self, index: int, segments: int) -> Floats:
        """Return the previewed part of one line as (segments + 1, 3) points."""
        times = np.linspace(0.0, float(self._windows[index]), segments + 1)
        return self._starts[index] + np.outer(times, self._velocities[index])


@dataclass(frozen=True, slots=True)
class Rogues:
    """Rogue planets by kind of path, with the places they have in the list they were read from."""

    straight: Lines
    straight_places: list[int]
    curved: Ellipses
    curved_places: list[int]
    faults: dict[int, str]
    """By place, why a planet has no path."""


def read_rogues(metas: Sequence[Mapping[str, Any]]) -> Rogues:
    """Read the `roguePlanet` objects of bodies."""
    lines: dict[int, list[float]] = {}
    ellipses: dict[int, list[float]] = {}
    faults: dict[int, str] = {}
    for place, meta in enumerate(metas):
        try:
            if is_curved(meta):
                ellipses[place] = _read_ellipse_row(meta)
            else:
                lines[place] = [*read_rogue_start(meta), *read_rogue_velocity(meta), sum(read_rogue_windows(meta))]
        except InvalidInput as exc:
            faults[place] = exc.message
    straight = np.array(list(lines.values()), dtype=np.float64).reshape(-1, 7)
    curved = np.array(list(ellipses.values()), dtype=np.float64).reshape(-1, 9)
    return Rogues(
        Lines(straight[:, :3], straight[:, 3:6], straight[:, 6]),
        list(lines),
        Ellipses(curved[:, 0], curved[:, 1:5], curved[:, 5:8], curved[:, 8], np.zeros(len(curved))),
        list(ellipses),
        faults,
    )


def _read_ellipse_row(meta: Mapping[str, Any]) -> list[float]:
    axis, period = read_rogue_ellipse(meta)
    shape = [read_number(meta, name, 0.0) for name in SHAPE]
    if abs(shape[0]) > 1:
        raise InvalidInput(describe_open_ellipse(shape[0]), hint="Give one from 0 to 1.", argument="eccentricity")
    if period == 0:
        raise InvalidInput("Its path takes no time at all.", hint="Set pathPeriod above 0.", argument="pathPeriod")
    return [axis, *shape, *read_rogue_centre(meta), 360 / period]
