"""The picture of a universe at an instant: its bodies are placed, then drawn."""

from typing import Any, Final

import numpy as np

from universe.orbits.world import Orrery
from universe.plotting.drawing import Drawing
from universe.plotting.scale import Floats
from universe.plotting.sight import Bodies
from universe.plotting.view import top_view

_MOST_ORBITS: Final = 400
_SEGMENTS: Final = 180


def plot(stars: Bodies, *, t: float, title: str, width: int = 1200, height: int = 1200, scale: Any = "auto") -> Drawing:
    """The top view of the bodies at simulation time `t`; where there are very many, with the largest orbits only.

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
    parents = {body_id: places.get(str(body.get("parentId"))) for body_id, body in stars.items()}
    orbiting = [body_id for body_id, parent in parents.items() if parent is not None]
    if len(orbiting) > _MOST_ORBITS:
        size = {body_id: float(np.abs(found[places[body_id]] - found[parents[body_id]]).max()) for body_id in orbiting}
        orbiting = sorted(orbiting, key=lambda body_id: -np.nan_to_num(size[body_id]))[:_MOST_ORBITS]
    return {body_id: orrery.path(body_id, _SEGMENTS) + found[parents[body_id]] for body_id in orbiting}
