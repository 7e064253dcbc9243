"""Events that commands cause, and the errors for commands that a universe refuses."""

from itertools import islice
from typing import Any, Final

from universe.domain.hierarchy import MAX_DEPTH
from universe.domain.state import EMPTY, EntityKind, State
from universe.domain.suggestions import find_nearest_entity_ids
from universe.errors import (
    ChildAlreadyInGroup,
    ChildNotInGroup,
    CommandRefused,
    GroupNotFound,
    HierarchyRefused,
    NebulaNotFound,
    NotAttached,
    ProtoplanetaryDiskNotFound,
    RingNotFound,
    SmallBodyFieldNotFound,
    StarNotFound,
    TimeOverflow,
)
from uraniborg.kernel.suggestions import format_did_you_mean

Event = dict[str, str | int | list[str] | None]
"""An event: its `type`, and fields that depend on the type."""

_HINT: Final = "Read the state to see its ids."

_REFUSALS: Final[dict[str, tuple[type[CommandRefused], str, str]]] = {
    "starNotFound": (StarNotFound, "There is no body '{id}'.", _HINT),
    "groupNotFound": (GroupNotFound, "There is no group '{id}'.", f"{_HINT} addGroup adds a group."),
    "smallBodyFieldNotFound": (SmallBodyFieldNotFound, "There is no small body field '{id}'.", _HINT),
    "protoplanetaryDiskNotFound": (ProtoplanetaryDiskNotFound, "There is no protoplanetary disk '{id}'.", _HINT),
    "nebulaNotFound": (NebulaNotFound, "There is no nebula '{id}'.", "setNebulae adds nebulae."),
    "ringNotFound": (RingNotFound, "The body '{planetId}' does not exist or has no ring.", "updateRing adds a ring."),
    "detachFailed": (NotAttached, "The body '{childId}' does not exist or has no parent.", _HINT),
    "childAlreadyInGroup": (ChildAlreadyInGroup, "'{childId}' is already in the group '{groupId}'.", _HINT),
    "childNotInGroup": (ChildNotInGroup, "'{childId}' is not in the group '{groupId}'.", _HINT),
    "attachFailed": (HierarchyRefused, "'{childId}' cannot orbit '{parentId}': {why}.", _HINT),
    "moveToGroupFailed": (HierarchyRefused, "'{childId}' cannot be put into '{targetGroupId}': {why}.", _HINT),
    "addStarFailed": (HierarchyRefused, "'{id}' cannot orbit '{parentId}': {why}.", _HINT),
    "updateStarFailed": (HierarchyRefused, "'{id}' cannot orbit '{parentId}': {why}.", _HINT),
    "addGroupFailed": (HierarchyRefused, "'{id}' cannot be in '{parentGroupId}': {why}.", _HINT),
    "updateGroupFailed": (HierarchyRefused, "'{id}' cannot be in '{parentGroupId}': {why}.", _HINT),
    "addToGroupFailed": (HierarchyRefused, "'{childId}' cannot be put into '{groupId}': {why}.", _HINT),
    "removeGroupFailed": (HierarchyRefused, "'{id}' cannot be removed: {why}.", "Move its parent out of it first."),
    "tickFailed": (TimeOverflow, "The time would be too large for a number.", "Use a smaller dt."),
    "replaceSnapshotFailed": (
        HierarchyRefused,
        "The hierarchy of the snapshot is not possible at '{id}': {why}.",
        _HINT,
    ),
}
_REASONS: Final = {
    "cycle": "it would be below itself",
    "tooDeep": f"nothing is nested deeper than {MAX_DEPTH:,}",
    "notFound": "{missing} does not exist",
}
_REFERENCES: Final[dict[str, tuple[tuple[str, EntityKind], ...]]] = {
    "starNotFound": (("id", "stars"),),
    "groupNotFound": (("id", "groups"),),
    "smallBodyFieldNotFound": (("id", "smallBodyFields"),),
    "protoplanetaryDiskNotFound": (("id", "protoplanetaryDisks"),),
    "nebulaNotFound": (("id", "nebulae"),),
    "ringNotFound": (("planetId", "stars"),),
    "detachFailed": (("childId", "stars"),),
    "attachFailed": (("childId", "stars"), ("parentId", "stars")),
}
"""The fields of refusals with ids that may be unknown, and the kind of entity that each should name."""
_MAX_LISTED: Final = 10

REFUSALS: Final = frozenset(_REFUSALS)


def is_refusal(event: Event) -> bool:
    """Return True if the event refuses a command."""
    return event["type"] in REFUSALS


def make_refusal_error(event: Event, state: State = EMPTY, **ids: Any) -> CommandRefused:
    """Return the error for a refusal in this state, with the nearest ids to unknown ones."""
    event_type, reason = str(event["type"]), str(event.get("reason", ""))
    kind, message, hint = _REFUSALS[event_type]
    shortened = {name: value[:100] if isinstance(value, str) else value for name, value in event.items()}
    # A missing body has the same code for all commands.
    if reason == "notFound":
        kind = StarNotFound
    missing: list[tuple[str, EntityKind]] = [
        (key, kinds)
        for field, kinds in _REFERENCES.get(event_type, ())
        if (key := str(event[field])) not in state.get_entities(kinds)
    ]
    why = _REASONS.get(reason, "").format(missing=" and ".join(f"'{key[:100]}'" for key, _ in missing))
    near = [one for key, kinds in missing for one in find_nearest_entity_ids(key, state.get_entities(kinds))]
    known = [] if near or not missing else list(islice(state.get_entities(missing[0][1]), _MAX_LISTED))
    found = {name: names for name, names in (("nearest", near), ("known", known)) if names}
    return kind(
        message.format(**shortened, why=why), hint=format_did_you_mean(near) + hint, **ids, **found, event=event
    )


def get_refusal_code(event_type: str) -> str:
    return _REFUSALS[event_type][0].code
