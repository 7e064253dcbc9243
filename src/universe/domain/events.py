"""What the reducer says happened, and which of it means that nothing did."""

from itertools import islice
from typing import Any, Final

from universe.domain.hierarchy import MAX_DEPTH
from universe.domain.state import EMPTY, EntityKind, State
from universe.domain.suggestions import find_nearest_entities
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
    did_you_mean,
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
    "notFound": "{missing} is not there",
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
"""The ids in refusals that may name nothing, and the entities they should name one of."""
_LISTED: Final = 10

REFUSALS: Final = frozenset(_REFUSALS)


def is_refusal(event: Event) -> bool:
    return event["type"] in REFUSALS


def make_refusal_error(event: Event, state: State = EMPTY, **ids: Any) -> CommandRefused:
    """Return the error that explains this refusal in this state, with the nearest ids to those that name nothing."""
    kind, message, hint = _REFUSALS[event["type"]]
    said = {name: value[:100] if isinstance(value, str) else value for name, value in event.items()}
    # One code for a body that is not there, whichever command missed it.
    if event.get("reason") == "notFound":
        kind = StarNotFound
    missing: list[tuple[str, EntityKind]] = [
        (event[field], kinds)
        for field, kinds in _REFERENCES.get(event["type"], ())
        if event[field] not in state.entities(kinds)
    ]
    why = _WHY.get(event.get("reason", ""), "").format(missing=" and ".join(f"'{key[:100]}'" for key, _ in missing))
    near = [one for key, kinds in missing for one in find_nearest_entities(key, state.entities(kinds))]
    known = [] if near or not missing else list(islice(state.entities(missing[0][1]), _LISTED))
    found = {name: names for name, names in (("nearest", near), ("known", known)) if names}
    return kind(message.format(**said, why=why), hint=did_you_mean(near) + hint, **ids, **found, event=event)


def get_refusal_code(event_type: str) -> str:
    """The error code a refusal comes as, for the reference."""
    return _REFUSALS[event_type][0].code
