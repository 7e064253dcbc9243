"""Positions of bodies at a time, computed in a thread; prepared orbits are cached and updated with changed bodies."""

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING, Final, NamedTuple

from universe.domain.entities import Entity
from universe.domain.state import Entities, State
from universe.store.recent_changes import EarlierState
from universe.store.replica import Replica

if TYPE_CHECKING:
    from universe.orbits.kepler_equation import Floats
    from universe.orbits.orrery import Orrery

_CACHED_UNIVERSES: Final = 8


class _Prepared(NamedTuple):
    """The bodies of a universe at a version, and their prepared orbits."""

    version: int
    stars: Entities
    orrery: "Orrery"


class Positions:
    """Positions of the bodies of universes, with a cache of prepared orbits."""

    def __init__(self) -> None:
        self._prepared: OrderedDict[str, _Prepared] = OrderedDict()

    async def compute_at(self, universe_id: str, replica: Replica, time: float) -> "tuple[list[str], Floats]":
        """Return the ids and a row of x, y and z for each; NaN for a body without a position."""
        orrery = await self.prepare_orrery(universe_id, replica)
        return orrery.ids, await asyncio.to_thread(orrery.compute_positions, time)

    async def encode_elements(self, universe_id: str, replica: Replica) -> bytes:
        """Return the orbits of all bodies as one binary for viewers."""
        version, state = replica.version, replica.state
        orrery = await self.prepare_orrery(universe_id, replica)
        return await asyncio.to_thread(_encode_elements, orrery, version, state)

    async def prepare_orrery(self, universe_id: str, replica: Replica) -> "Orrery":
        """Return the prepared orbits of a universe; those of bodies that did not change are taken from the cache."""
        version, stars = replica.version, replica.state.stars
        known = self._prepared.get(universe_id)
        if known is not None and known.stars is stars:
            return known.orrery
        earlier = None if known is None else _find_earlier_state(known, replica)
        if known is None or earlier is None:
            orrery = await asyncio.to_thread(_make_orrery, replica.mirror.to_plain()["stars"])
        else:
            touched = earlier.touched.get("stars", {})
            has_same_ids = "stars" not in earlier.orders and all(key in stars and key in known.stars for key in touched)
            ids = None if has_same_ids else replica.mirror.list_body_ids()
            orrery = await asyncio.to_thread(known.orrery.update, known.stars, stars, touched, ids)
        self._prepared[universe_id] = _Prepared(version, stars, orrery)
        while len(self._prepared) > _CACHED_UNIVERSES:
            self._prepared.popitem(last=False)
        return orrery


def _find_earlier_state(known: _Prepared, replica: Replica) -> EarlierState | None:
    """Return the state whose orbits are prepared, and how it differs from the current one; None if that is unknown."""
    earlier = replica.recent.find_state_at(known.version)
    return None if earlier is None or earlier.state.stars is not known.stars else earlier


def _encode_elements(orrery: "Orrery", version: int, state: State) -> bytes:
    from universe.orbits.element_buffers import encode_elements

    radii = [state.stars[key].get("radius") if key in state.stars else None for key in orrery.ids]
    return encode_elements(orrery, radii, version=version, time=state.time)


def _make_orrery(stars: dict[str, Entity]) -> "Orrery":
    from universe.orbits.orrery import Orrery

    return Orrery(stars)
