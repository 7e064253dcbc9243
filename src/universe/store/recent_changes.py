"""The latest changes of a universe in memory, so that an undo needs neither the log nor a copy of the state."""

from collections import deque
from collections.abc import Mapping
from typing import Final, NamedTuple

from universe.domain.state import EntityKind, State, Touched, add_to_touched

MAX_CHANGES: Final = 1_000
_MAX_COST: Final = 2_000_000
"""The most ids in memory; ids of touched entities count tenfold, because their old values are in memory, too."""
_TOUCH_COST: Final = 10

Orders = Mapping[EntityKind, list[str]]
"""The ids of the entities of some kinds, in order."""


class EarlierState(NamedTuple):
    """An earlier state, and how it differs from the current one.

    `orders` has the ids of the kinds whose entities were removed or moved since then, in the order before that; some of
    these ids may not be in the state.
    """

    state: State
    touched: Touched
    orders: Orders


class _Change(NamedTuple):
    """A change: the version and the state before it, the entities touched, and orders that it changed."""

    version: int
    before: State
    touched: Touched
    orders: Orders
    cost: int


class RecentChanges:
    """The latest changes, at most `MAX_CHANGES`, without a gap."""

    def __init__(self) -> None:
        self._changes: deque[_Change] = deque()
        self._cost = 0

    def add_change(self, version: int, before: State, touched: Touched, orders: Orders) -> None:
        """Add a change of the state `before`, which has this version."""
        cost = 0
        for keys in touched.values():
            cost += _TOUCH_COST * len(keys)
        for ids in orders.values():
            cost += len(ids)
        self._changes.append(_Change(version, before, touched, orders, cost))
        self._cost += cost
        while len(self._changes) > MAX_CHANGES or (self._cost > _MAX_COST and self._changes):
            self._cost -= self._changes.popleft().cost

    def clear(self) -> None:
        """Forget all changes, after the whole state was replaced."""
        self._changes.clear()
        self._cost = 0

    def find_state_at(self, version: int) -> EarlierState | None:
        """Return the state at a version; None if it is not in memory."""
        if not self._changes or not self._changes[0].version <= version <= self._changes[-1].version:
            return None
        touched: Touched = {}
        orders: dict[EntityKind, list[str]] = {}
        for change in reversed(self._changes):
            touched = _join_touched(change.touched, touched)
            orders |= change.orders
            if change.version == version:
                return EarlierState(change.before, touched, orders)
            if change.version < version:  # a version inside a list of commands
                return None
        return None


def _join_touched(first: Touched, later: Touched) -> Touched:
    return add_to_touched({kind: dict(keys) for kind, keys in first.items()}, later)
