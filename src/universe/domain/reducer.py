"""The spine of universes: a state and a command become the next state and its events. All functions are pure."""

import math
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, cast

from universe.domain import command_handlers
from universe.domain.command_parser import parse_command
from universe.domain.command_results import Event, is_refusal
from universe.domain.commands import DEFAULT_DT, Command, ReplaceSnapshot, Tick
from universe.domain.json_copies import ValueProblem
from universe.domain.provenance.provenance_tracking import ChangeOrigin, update_draft_provenance
from universe.domain.state import ENTITY_KINDS, Draft, State, Touched, check_no_cycles

_LARGEST_EXACT: Final = 2**53
_UNKNOWN_ORIGIN: Final = ChangeOrigin()

Handler = Callable[[Draft, Any], Event | None]
"""A handler takes commands of one type."""


class CommandOutcome(NamedTuple):
    """The result of a command: the next state, the events and the entities touched."""

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

    `version` and `by` are recorded in cited bodies whose values the command sets. Raise UnknownCommand or
    MalformedCommand for a value that is not a command.
    """
    outcome = reduce(state, parse_command(command), ChangeOrigin(version, by))
    return outcome.state, outcome.events


def reduce(state: State, command: Command, origin: ChangeOrigin | None = _UNKNOWN_ORIGIN) -> CommandOutcome:
    """Return the outcome of a command that `parse_command` returned.

    `origin` None replays a command of a release that did not withdraw citations, as that release did.
    """
    draft = Draft(state)
    event = _HANDLERS[command["type"]](draft, command)
    if event is not None and is_refusal(event):
        return CommandOutcome(state, [event], {})
    if origin is not None and "stars" in draft.touched:
        update_draft_provenance(state, draft, command, origin)
    return CommandOutcome(draft.make_state(), [] if event is None else [event], draft.touched)


def _advance_time(draft: Draft, command: Tick) -> Event | None:
    dt = command.get("dt", DEFAULT_DT)
    time = draft.time + dt
    if abs(time) > _LARGEST_EXACT:
        time = float(time)
    if not math.isfinite(time):
        return cast("Event", {"type": "tickFailed", "reason": "overflow", "dt": dt})
    draft.time = time
    return None


def _replace_state_by_snapshot(draft: Draft, command: ReplaceSnapshot) -> Event:
    snapshot = command["snapshot"]
    try:
        check_no_cycles(snapshot)
    except ValueProblem as cycle:
        return {"type": "replaceSnapshotFailed", "reason": "cycle", "id": cycle.reversed_path[1]}
    for kind in ENTITY_KINDS:
        draft.replace_entities(kind, snapshot.get(kind) or {})
    draft.rootIds, draft.rootGroupIds = tuple(snapshot["rootIds"]), tuple(snapshot.get("rootGroupIds") or ())
    return {"type": "snapshotReplaced"}


_HANDLERS: Final[dict[str, Handler]] = {
    "tick": _advance_time,
    "addStar": command_handlers.add_body,
    "updateStar": command_handlers.update_body,
    "removeStar": command_handlers.remove_body,
    "attachStar": command_handlers.attach_body,
    "detachStar": command_handlers.detach_body,
    "updateRing": command_handlers.update_ring,
    "removeRing": command_handlers.remove_ring,
    "addGroup": command_handlers.add_group,
    "updateGroup": command_handlers.update_group,
    "removeGroup": command_handlers.remove_group,
    "addToGroup": command_handlers.add_group_member,
    "removeFromGroup": command_handlers.remove_group_member,
    "moveToGroup": command_handlers.move_to_group,
    **command_handlers.HANDLERS,
    "replaceSnapshot": _replace_state_by_snapshot,
}
