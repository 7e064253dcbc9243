"""Bodies that left: bound at the start, unbound and moving away at the end of a run."""

from typing import Any

import numpy as np

from universe.nbody.answers.motion import Motion, Samples
from universe.nbody.starts import Start
from universe.orbits.numbers import finite_or_none


def find_ejections(start: Start, motion: Motion, samples: Samples) -> list[dict[str, Any]]:
    """Return the bodies that were ejected, each with the day of the first sample after which it stayed unbound.

    A body that was unbound at the start is not in the list, nor one that comes closer at the end.
    """
    found: list[dict[str, Any]] = []
    is_bound = (motion.axes > 0) & np.isfinite(motion.axes)
    is_unbound = motion.axes[-1] < 0
    places = start.relative @ samples.positions[[0, -1]]
    speeds = start.relative @ samples.velocities[-1]
    for body, parent in enumerate(start.parents):
        at_end, distance = places[1, body], float(np.linalg.norm(places[1, body]))
        is_leaving = float(at_end @ speeds[body]) > 0 and distance > float(np.linalg.norm(places[0, body]))
        if parent < 0 or not is_bound[0, body] or not is_unbound[body] or not is_leaving:
            continue
        last_bound = int(np.flatnonzero(is_bound[:, body])[-1])
        found.append(
            {
                "id": motion.ids[body],
                "day": float(motion.times[last_bound + 1]),
                "distance": finite_or_none(distance),
                "speed": finite_or_none(float(np.linalg.norm(speeds[body]))),
            }
        )
    return found
