"""The picture of a universe at an instant: its bodies are placed, then drawn."""

import math
from typing import Any, Final

import numpy as np

from universe.orbits.world import Orrery
from universe.plotting.drawing import Drawing
from universe.plotting.scale import Floats
from universe.plotting.sight import Bodies
from universe.plotting.view import top_view

_MOST_ORBITS: Final = 240
_SEGMENTS: Final = (480, 120)
"""Of an orbit, where there are few and where there are many."""
_FEW: Final = 40


def plot(stars: Bodies, *, t: float, title: str, width: int = 1200, height: int = 1200, scale: Any = "auto") -> Drawing:
    """The top view of the bodies at simulation time `t`; where there are very many, with some of the orbits only.

    `scale` is `linear`, `log`, or `auto` for what suits the distances. Raises InvalidInput for a time that is not
    finite, and for a page or a scale that cannot be had.
    """
    orrery = Orrery(stars)
    found = orrery.positions(t)
    return top_view(
        stars,
        dict(zip(orrery.ids, found.tolist(), strict=True)),
        _paths(stars, orrery, found),
        t=t,
        title=title,
        width=width,
        height=height,
        scale=scale,
    )


def _paths(stars: Bodies, orrery: Orrery, found: Floats) -> dict[str, Floats]:
    """The orbits worth drawing, as points of the universe."""
    places = {body_id: place for place, body_id in enumerate(orrery.ids)}
    centres: dict[str, Floats] = {}
    for body_id, body in stars.items():
        parent = body.get("parentId")
        if isinstance(parent, str) and parent in places:
            centres[body_id] = found[places[parent]]
        elif not body.get("isRoguePlanet"):  # whose way need not lead around anything
            centres[body_id] = np.zeros(3)
    orbiting = list(centres)
    # Bodies may be at the ends of what numbers can say; the view leaves them out.
    with np.errstate(over="ignore", invalid="ignore"):
        if len(orbiting) > _MOST_ORBITS:
            offsets = found[[places[body_id] for body_id in orbiting]] - np.array(list(centres.values()))
            orbiting = [orbiting[place] for place in _spread(np.nan_to_num(np.abs(offsets).max(axis=1)))]
        segments = _SEGMENTS[0] if len(orbiting) <= _FEW else _SEGMENTS[1]
        return {body_id: orrery.path(body_id, segments) + centres[body_id] for body_id in orbiting}


def _spread(sizes: Floats) -> list[int]:
    """Of very many orbits, some of every size that can be seen."""
    order = np.argsort(-sizes, kind="stable")
    seen = order[sizes[order] >= 0.01 * sizes.max()]
    return seen[:: math.ceil(len(seen) / _MOST_ORBITS)].tolist()
