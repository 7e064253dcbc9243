"""What the reducer says happened, and which of it means that nothing did."""

from typing import Any, Final

from universe.domain.hierarchy import MAX_DEPTH
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

Event = dict[str, Any]

_LOOK: Final = "The state shows what there is."

_REFUSALS: Final[dict[str, tuple[type[CommandRefused], str, str]]] = {
    "starNotFound": (StarNotFound, "There is no body '{id}'.", _LOOK),
    "groupNotFound": (GroupNotFound, "There is no group '{id}'.", _LOOK),
    "smallBodyFieldNotFound": (SmallBodyFieldNotFound, "There is no small body field '{id}'.", _LOOK),
    "protoplanetaryDiskNotFound": (ProtoplanetaryDiskNotFound, "There is no protoplanetary disk '{id}'.", _LOOK),
    "nebulaNotFound": (NebulaNotFound, "There is no nebula '{id}'.", "setNebulae adds nebulae."),
    "ringNotFound": (RingNotFound, "The body '{planetId}' is not there, or has no ring.", "updateRing gives it one."),
    "detachFailed": (NotAttached, "The body '{childId}' is not there, or orbits nothing.", _LOOK),
    "childAlreadyInGroup": (ChildAlreadyInGroup, "'{childId}' is in the group '{groupId}' already.", _LOOK),
    "childNotInGroup": (ChildNotInGroup, "'{childId}' is not in the group '{groupId}'.", _LOOK),
    "attachFailed": (HierarchyRefused, "'{childId}' cannot orbit '{parentId}': {why}.", _LOOK),
    "moveToGroupFailed": (HierarchyRefused, "'{childId}' cannot be put into '{targetGroupId}': {why}.", _LOOK),
    "addStarFailed": (HierarchyRefused, "'{id}' cannot orbit '{parentId}': {why}.", _LOOK),
    "updateStarFailed": (HierarchyRefused, "'{id}' cannot orbit '{parentId}': {why}.", _LOOK),
    "addGroupFailed": (HierarchyRefused, "'{id}' cannot be in '{parentGroupId}': {why}.", _LOOK),
    "updateGroupFailed": (HierarchyRefused, "'{id}' cannot be in '{parentGroupId}': {why}.", _LOOK),
    "addToGroupFailed": (HierarchyRefused, "'{childId}' cannot be put into '{groupId}': {why}.", _LOOK),
    "removeGroupFailed": (HierarchyRefused, "'{id}' cannot be removed: {why}.", "Take its parent out of it first."),
    "tickFailed": (TimeOverflow, "The time would be beyond all numbers.", "Use a smaller dt."),
    "replaceSnapshotFailed": (HierarchyRefused, "The snapshot's hierarchy is impossible at '{id}': {why}.", _LOOK),
}
_WHY: Final = {
    "cycle": "it would be below itself",
    "tooDeep": f"nothing is nested deeper than {MAX_DEPTH:,}",
    "notFound": "one of the two is not there",
}

REFUSALS: Final = frozenset(_REFUSALS)


def is_refusal(event: Event) -> bool:
    return event["type"] in REFUSALS


def refusal(event: Event, **ids: Any) -> CommandRefused:
    """The error that says what this refusal means."""
    kind, message, hint = _REFUSALS[event["type"]]
    said = {name: value[:100] if isinstance(value, str) else value for name, value in event.items()}
    # One code for a body that is not there, whichever command missed it.
    if event.get("reason") == "notFound":
        kind = StarNotFound
    return kind(message.format(**said, why=_WHY.get(event.get("reason", ""), "")), hint=hint, **ids, event=event)


def meaning(event_type: str) -> str:
    """The error code a refusal comes as, for the reference."""
    return _REFUSALS[event_type][0].code
