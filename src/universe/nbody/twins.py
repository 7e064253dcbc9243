"""The second run, made another way, that shows the error of the first."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from universe.nbody.collisions import IGNORE, MERGE, Collision
from universe.nbody.divergence import Divergence
from universe.nbody.passes import Maker, Pass
from universe.nbody.segments import Segment
from universe.nbody.starts import Start
from universe.orbits.anomaly import Floats

_MOVED: Final = 3e-16
"""The part of positions and velocities by which the twin's start is moved: about the rounding of one number. A larger
shift, 1e-15, made the twin of a regular run up to 24 times more wrong than the run itself."""


def shift_start(start: Start) -> tuple[Floats, Floats]:
    """Return the positions and velocities (3, n) from which the twin of a run begins; always the same."""
    signs = np.random.default_rng(1).choice([-1.0, 1.0], (2, 3, len(start.ids)))
    return start.positions.T * (1 + _MOVED * signs[0]), start.velocities.T * (1 + _MOVED * signs[1])


class Twin:
    """A second run beside the first, which goes as far as the first has come."""

    def __init__(
        self,
        start: Start,
        make: Maker,
        days: float,
        *,
        on_collision: str,
        central: int | None,
        divergence: Divergence,
        is_moved: bool,
    ) -> None:
        # A collision that stops the first run does not stop the twin: their times of contact differ a little.
        policy = MERGE if on_collision == MERGE else IGNORE
        self._pass = Pass(start, make, on_collision=policy, central=central, divergence=divergence, watches=False)
        if is_moved:
            self._pass.positions, self._pass.velocities = shift_start(start)
        self._segments = self._pass.segments(days)
        self._segment: Segment | None = None

    def positions_at(self, day: float) -> Floats:
        """Return the positions (3, n) at a day, which is not before the last one asked for."""
        while self._segment is None or abs(self._segment.end) < abs(day):
            self._segment = next(self._segments)
        if self._segment.end == day:
            return self._segment.last_positions
        return self._segment.motion(np.array([day]))[0][0]

    def has_met(self, collisions: Sequence[Collision], day: float) -> bool:
        """Return whether this run met these collisions, and no others, before a day."""
        ours = [one.bodies for one in collisions if abs(one.day) < abs(day)]
        twins = [one.bodies for one in self._pass.collisions if abs(one.day) < abs(day)]
        return ours == twins
