"""Remember the latest changes of a universe, so that an undo needs neither the log nor a copy of the state."""

from collections import deque
from collections.abc import Mapping, Sequence
from types import MappingProxyType
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


class RecentChange(NamedTuple):
    """A version of a universe with its state, and the entities touched and orders changed by the change to it."""

    version: int
    state: State
    touched: Touched
    orders: Orders = MappingProxyType({})


class RecentChanges:
    """The latest changes, at most `MAX_CHANGES`, without a gap."""

    def __init__(self, version: int, state: State) -> None:
        self.restart_at(version, state)

    def restart_at(self, version: int, state: State) -> None:
        """Forget all changes, after the whole state was replaced by `state`, which has this version."""
        self._steps = deque(
            [RecentChange(version, state, {})]
        )  # one more than changes: the first is the state before them
        self._costs: deque[int] = deque()
        self._cost = 0

    def add_steps(self, steps: Sequence[RecentChange]) -> None:
        """Add changes that follow the last one."""
        costs = [_measure_cost(step) for step in steps]
        self._steps.extend(steps)
        self._costs.extend(costs)
        self._cost += sum(costs)
        while len(self._costs) > MAX_CHANGES or self._cost > _MAX_COST:
            self._steps.popleft()
            self._cost -= self._costs.popleft()

    def find_state_at(self, version: int) -> EarlierState | None:
        """Return the state at a version; None if it is not in memory."""
        if not self._steps[0].version <= version <= self._steps[-1].version:
            return None
        touched: Touched = {}
        orders: dict[EntityKind, list[str]] = {}
        for step in reversed(self._steps):
            if step.version == version:
                return EarlierState(step.state, touched, orders)
            if step.version < version:  # a version inside a list of commands
                return None
            touched = _join_touched(step.touched, touched)
            orders |= step.orders
        return None


def _measure_cost(step: RecentChange) -> int:
    cost = 0
    for keys in step.touched.values():
        cost += _TOUCH_COST * len(keys)
    for ids in step.orders.values():
        cost += len(ids)
    return cost


def _join_touched(first: Touched, later: Touched) -> Touched:
    return add_to_touched({kind: dict(keys) for kind, keys in first.items()}, later)
