"""Positions of bodies at a time, computed in a thread; prepared orbits are cached while no body changes."""

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Final

from universe.domain.state import Entities
from universe.store.replica import Replica

if TYPE_CHECKING:
    import numpy as np

    from universe.orbits.orrery import Orrery

_CACHED_UNIVERSES: Final = 8


class Positions:
    """Positions of the bodies of universes, with a cache of prepared orbits."""

    def __init__(self) -> None:
        self._prepared: OrderedDict[str, tuple[Entities, Orrery]] = OrderedDict()

    async def compute_at(
        self, universe_id: str, replica: Replica, time: float
    ) -> "tuple[list[str], np.ndarray[Any, Any]]":
        """Return the ids and a row of x, y and z for each; NaN for a body without a position."""
        stars = replica.state.stars
        known = self._prepared.get(universe_id)
        if known is None or known[0] is not stars:
            known = (stars, await asyncio.to_thread(_make_orrery, replica.mirror.to_plain()["stars"]))
            self._prepared[universe_id] = known
            while len(self._prepared) > _CACHED_UNIVERSES:
                self._prepared.popitem(last=False)
        orrery = known[1]
        return orrery.ids, await asyncio.to_thread(orrery.compute_positions, time)


def _make_orrery(stars: dict[str, Any]) -> "Orrery":
    from universe.orbits.orrery import Orrery

    return Orrery(stars)
