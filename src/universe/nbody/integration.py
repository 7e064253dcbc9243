"""One entrance to all methods: bodies and a duration in, the motion out, step by step."""

import math
from collections.abc import Iterator
from typing import Final

from universe.nbody.fixed_steps import COMPOSITIONS, move
from universe.nbody.gauss import NODES, TOLERANCE, Gauss
from universe.nbody.gravity import Gravity
from universe.nbody.segments import Segment
from universe.orbits.anomaly import Floats
from universe.orbits.units import G

GAUSS: Final = "gauss"
METHODS: Final = (GAUSS, *COMPOSITIONS)


def integrate(
    masses: Floats,
    positions: Floats,
    velocities: Floats,
    duration: float,
    *,
    method: str = GAUSS,
    step: float | None = None,
    central: int | None = None,
    nodes: int = NODES,
    tolerance: float = TOLERANCE,
    gravitational_constant: float = G,
) -> Iterator[Segment]:
    """Yield the motion of n bodies for `duration` days (below 0: backwards), one step at a time.

    Positions and velocities have the shape (n, 3). `step` is for the methods with a fixed step: no step is longer.
    `central` is the index of a body whose relativistic field counts, for `gauss`. Stop iterating to stop the run.
    """
    gravity = Gravity(masses, constant=gravitational_constant, central=central)
    x, v = positions.T.copy(), velocities.T.copy()
    if method == GAUSS:
        yield from Gauss(gravity, x[None], v[None], nodes=nodes, tolerance=tolerance).segments(duration)
        return
    assert step is not None
    # A quotient that rounding left just above a whole number is that number.
    steps = math.ceil(abs(duration) / step * (1 - 1e-12))
    yield from move(gravity, COMPOSITIONS[method], x, v, duration=duration, steps=steps)
