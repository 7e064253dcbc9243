"""`apply`: the one way a universe changes. No input or output, no clock, no chance."""

import math
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from universe.domain import bodies, collections, groups
from universe.domain.commands import Command, parse_command
from universe.domain.events import Event, is_refusal
from universe.domain.provenance import Origin, track
from universe.domain.state import KINDS, Draft, State, Touched, check_hierarchy
from universe.domain.values import Flaw

_EXACT: Final = 2**53
_UNKNOWN: Final = Origin()

Handler = Callable[[Draft, Command], Event | None]


class Outcome(NamedTuple):
    """What a command did: the state after it, what happened, and which entities were touched."""

    state: State
    events: list[Event]
    touched: Touched

    @property
    def is_refused(self) -> bool:
        return any(is_refusal(event) for event in self.events)


def apply(
    state: State, command: Mapping[str, Any], *, version: int | None = None, by: str | None = None
) -> tuple[State, list[Event]]:
    """Return the state after `command` and the events; the same state and the reason if the command is refused.

    `version` and `by` are recorded in cited bodies whose values the command sets. Raises UnknownCommand or
    MalformedCommand for a value that is not a command.
    """
    outcome = reduce(state, parse_command(command), Origin(version, by))
    return outcome.state, outcome.events


def reduce(state: State, command: Command, origin: Origin | None = _UNKNOWN) -> Outcome:
    """As `apply`, for a command that `parse_command` has let pass.

    `origin` None replays a command of a release that did not withdraw citations, as that release did.
    """
    draft = Draft(state)
    event = _HANDLERS[command["type"]](draft, command)
    if event is not None and is_refusal(event):
        return Outcome(state, [event], {})
    if origin is not None and "stars" in draft.touched:
        track(state, draft, command, origin)
    return Outcome(draft.state(), [] if event is None else [event], draft.touched)


def _tick(draft: Draft, command: Command) -> Event | None:
    time = draft.time + command["dt"]
    if abs(time) > _EXACT:
        time = float(time)
    if not math.isfinite(time):
        return {"type": "tickFailed", "reason": "overflow", "dt": command["dt"]}
    draft.time = time
    return None


def _replace_snapshot(draft: Draft, command: Command) -> Event:
    snapshot = command["snapshot"]
    try:
        check_hierarchy(snapshot)
    except Flaw as circle:
        return {"type": "replaceSnapshotFailed", "reason": "cycle", "id": circle.way[1]}
    for kind in KINDS:
        draft.put_all(kind, snapshot.get(kind) or {})
    draft.rootIds, draft.rootGroupIds = tuple(snapshot["rootIds"]), tuple(snapshot.get("rootGroupIds") or ())
    return {"type": "snapshotReplaced"}


_HANDLERS: Final[dict[str, Handler]] = {
    "tick": _tick,
    "addStar": bodies.add,
    "updateStar": bodies.update,
    "removeStar": bodies.remove,
    "attachStar": bodies.attach,
    "detachStar": bodies.detach,
    "updateRing": bodies.update_ring,
    "removeRing": bodies.remove_ring,
    "addGroup": groups.add,
    "updateGroup": groups.update,
    "removeGroup": groups.remove,
    "addToGroup": groups.add_to,
    "removeFromGroup": groups.remove_from,
    "moveToGroup": groups.move_to,
    **collections.HANDLERS,
    "replaceSnapshot": _replace_snapshot,
}
