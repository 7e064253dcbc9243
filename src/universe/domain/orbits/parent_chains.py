"""Sums along chains of parents for all bodies at once, for any depth and for cycles."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from universe.domain.orbits.kepler_equation import Floats

Indices = NDArray[np.intp]

NO_PARENT: Final = -1


class ParentChains:
    """Chains of parents, prepared so that a sum over n chains of depth d takes about log2(d) passes.

    Each pass adds to every body the sum its ancestor has gathered and then looks twice as far up. A ring has no top:
    every body of it counts each member once, as a walk that stops at what it has already seen would.
    """

    def __init__(self, parents: Indices) -> None:
        self.parents = parents
        self._rings = _find_cycles(parents)
        above = parents.copy()
        for ring in self._rings:
            above[ring] = NO_PARENT
        self._passes: list[tuple[Indices, Indices]] = []
        below = np.flatnonzero(above != NO_PARENT)
        while below.size:
            ancestors = above[below]
            self._passes.append((below, ancestors))
            # All values are read before any of them is changed.
            above[below] = above[ancestors]
            below = below[above[below] != NO_PARENT]

    def sum_along_parents(self, local: Floats) -> Floats:
        """Return for each row of `local` the sum of the rows along its chain of parents."""
        total = local.copy()
        for ring in self._rings:
            total[ring] = local[ring].sum(axis=0)
        for bodies, ancestors in self._passes:
            total[bodies] += total[ancestors]
        return total


def find_parent_indices(stars: Mapping[str, Mapping[str, Any]]) -> Indices:
    """Return for each body the index of its parent; NO_PARENT if it has none or the parent does not exist."""
    index_of = {body_id: index for index, body_id in enumerate(stars)}
    parents = [body.get("parentId") for body in stars.values()]
    return np.array(
        [index_of.get(parent, NO_PARENT) if isinstance(parent, str) else NO_PARENT for parent in parents], dtype=np.intp
    )


def _find_cycles(parents: Indices) -> list[list[int]]:
    if not _has_cycle(parents):
        return []
    up: list[int] = parents.tolist()
    seen_in_walk = [NO_PARENT] * len(up)
    rings: list[list[int]] = []
    for start in range(len(up)):
        at = start
        while at != NO_PARENT and seen_in_walk[at] == NO_PARENT:
            seen_in_walk[at] = start
            at = up[at]
        if at != NO_PARENT and seen_in_walk[at] == start:
            ring = [at]
            while (at := up[at]) != ring[0]:
                ring.append(at)
            rings.append(ring)
    return rings


def _has_cycle(parents: Indices) -> bool:
    """Return True if a walk up from some body never ends. Each step looks twice as far up as the one before."""
    ancestors = np.append(parents, NO_PARENT)  # the last one is that of NO_PARENT
    for _ in range(len(parents).bit_length() + 1):
        if (ancestors == NO_PARENT).all():
            return False
        ancestors = ancestors[ancestors]
    return True
