"""Events that commands cause, errors for commands that a universe refuses, and warnings about accepted ones."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final, cast

from universe.domain.command_parser import get_inner_fields_by_block
from universe.domain.commands import DEFAULT_DT, Command
from universe.domain.entities import Entity
from universe.domain.names_and_numbers import find_nearest_entity_ids
from universe.domain.provenance.citations import list_sources, map_fields_to_source_ids
from universe.domain.provenance.derived_fields import get_field_value, is_same_value
from universe.domain.state import EMPTY, MAX_DEPTH, EntityKind, State, get_derived_element_name
from universe.domain.units_and_dates import AU_IN_METRES, SOLAR_MASS_IN_KG, has_astronomical_body
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
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.language.messages import find_nearest_names, format_did_you_mean

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
_REFERENCES_OF_REFUSALS: Final[dict[str, tuple[tuple[str, EntityKind], ...]]] = {
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
        for field, kinds in _REFERENCES_OF_REFUSALS.get(event_type, ())
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


_REFERENCES_OF_COMMANDS: Final[dict[str, tuple[tuple[str, str, EntityKind], ...]]] = {
    "addStar": (("payload", "parentId", "stars"),),
    "updateStar": (("payload", "parentId", "stars"),),
    "addGroup": (("payload", "parentGroupId", "groups"),),
    "updateGroup": (("payload", "parentGroupId", "groups"),),
    "addProtoplanetaryDisk": (("disk", "centralStarId", "stars"),),
    "updateProtoplanetaryDisk": (("patch", "centralStarId", "stars"),),
    "updateSmallBodyField": (("patch", "hostStarId", "stars"),),
    "removeSmallBodyField": (("", "id", "smallBodyFields"),),
    "removeProtoplanetaryDisk": (("", "id", "protoplanetaryDisks"),),
    "removeNebula": (("", "id", "nebulae"),),
}
"""Ids in commands that may be unknown: the block, the field, and the kind of entity that each should name."""
_ADDED: Final[dict[str, EntityKind]] = {"addStar": "stars", "addGroup": "groups"}
_CHANGED: Final[dict[str, EntityKind]] = {**_ADDED, "updateStar": "stars", "updateGroup": "groups"}
_HIERARCHY: Final = {"updateStar": ("id", "parentId", "children"), "updateGroup": ("id", "parentGroupId", "children")}
_SIMPLE_ORBIT: Final = {
    *("orbitalDistance", "orbitalSpeed", "orbitalPhase", "semiMajorAxis", "eccentricity"),
    *("orbitOffsetX", "orbitOffsetY", "orbitOffsetZ", "orbitRotX", "orbitRotY", "orbitRotZ"),
}
_NOTHING: Final = ("null", "none", "nil", "undefined")
_SECONDS_OF_A_DAY: Final = 86_400
_KILOGRAMS: Final = 1e13
"""Masses from here on are probably not in solar masses: no known body has so many."""
_LARGE_RADIUS: Final = 100
"""Radii from here on are probably not in AU: the largest known stars have less than ten."""
_LONG: Final = 1e15
"""Numbers from here on are written with an exponent."""
_MAX_CHARS: Final = 100
_MAX_ABSENT: Final = 5


def find_command_warnings(before: State, command: Command) -> list[str]:
    """Return one sentence for each effect of an accepted command that is probably unintended. Never raise."""
    given = cast("JsonObject", command)
    return [
        *_describe_missing_ids(before, given),
        *_describe_misspelled_fields(before, given),
        *_describe_odd_numbers(given),
        *_describe_side_effects(before, given),
    ]


def _describe_missing_ids(before: State, command: JsonObject) -> Iterator[str]:
    kind = str(command["type"])
    for block, field, kinds in (*_REFERENCES_OF_COMMANDS.get(kind, ()), *_list_member_references(command)):
        path = f"{block}.{field}" if block else field
        named = cast("str | None", (_get_block(command, block) if block else command).get(field))
        entities = before.get_entities(kinds)
        if named == "":
            yield f"{path} is empty, so the entity is neither a root nor a child. Use null for a root."
        elif named is not None and named not in entities and (kind, named) != ("addStar", command.get("id")):
            question = format_did_you_mean(find_nearest_entity_ids(named, entities))
            root = "For a root send null, without quotes." if named.casefold() in _NOTHING else ""
            yield f"{path} names '{named[:_MAX_CHARS]}', which is not in {kinds}. {question}{root}".rstrip()


def _list_member_references(command: JsonObject) -> tuple[tuple[str, str, EntityKind], ...]:
    """Return the reference to the member that a command puts into a group, in the form of `_REFERENCES`."""
    is_group = "group" in (command.get("childType"), _get_block(command, "child").get("type"))
    kinds: EntityKind = "groups" if is_group else "stars"
    if command["type"] == "addToGroup":
        return (("child", "id", kinds),)
    return (("", "childId", kinds),) if command["type"] == "moveToGroup" else ()


def _describe_misspelled_fields(before: State, command: JsonObject) -> Iterator[str]:
    for block, known in get_inner_fields_by_block(str(command["type"])).items():
        given = _get_block(command, block)
        existing = _find_changed_entity(before, command) or {}
        for name in given:
            if name in known or name in existing or name in ("id", "children"):
                continue
            if meant := find_nearest_names(name, [one for one in known if one not in given]):
                question = format_did_you_mean(meant[:1])
                yield f"{block}.{name[:_MAX_CHARS]} is not a known field; it was stored unchanged. {question}".rstrip()


def _describe_odd_numbers(command: JsonObject) -> Iterator[str]:
    if command["type"] not in ("addStar", "updateStar"):
        return
    if _get_number(command, "radius") < 0:
        yield "payload.radius is negative."
    if not 0 <= _get_number(command, "eccentricity") < 1:
        yield "payload.eccentricity must be from 0 to below 1 for a closed orbit; the body has no position now."


def _describe_side_effects(before: State, command: JsonObject) -> Iterator[str]:
    kind, key, payload = str(command["type"]), str(command.get("id")), _get_block(command, "payload")
    existing = _find_changed_entity(before, command)
    if kind in _ADDED and existing is not None:
        lost = " Its previous children are no longer listed below it." if existing.get("children") else ""
        yield f"'{key[:_MAX_CHARS]}' existed already and was replaced.{lost}"
    if fields := [name for name in _HIERARCHY.get(kind, ()) if name in payload]:
        better = "attachStar and detachStar" if kind == "updateStar" else "moveToGroup"
        yield f"{kind} changed {', '.join(fields)} and did not update the lists of parents and roots; {better} do."
    simple = sorted(_SIMPLE_ORBIT & payload.keys()) if kind == "updateStar" else []
    if simple and existing and existing.get("kepler") and "kepler" not in payload:
        yield (
            f"'{key[:_MAX_CHARS]}' moves by its kepler block, so {', '.join(simple)} did not move it. "
            "Send the whole kepler block with the new values."
        )
    if kind in ("addStar", "updateStar") and payload.get("sources"):
        yield from _describe_absent_cited_fields({**(existing or {}), **payload})
    if kind == "updateStar" and existing:
        yield from _describe_lost_fields(existing, payload)
        yield from _describe_set_derived_elements(existing, payload)
    planet = str(command.get("planetId"))
    if kind == "updateRing" and (body := before.stars.get(planet)) is not None and not body.get("ring"):
        yield f"'{planet[:_MAX_CHARS]}' had no ring: it has the default ring now, with the patch."
    if kind in ("tick", "addStar", "updateStar") and has_astronomical_body(before.stars.values()):
        yield from _describe_unit_mistakes(command)


def _describe_absent_cited_fields(body: Entity) -> Iterator[str]:
    """Warn of sources for fields that the body does not have."""
    absent = [field for field in map_fields_to_source_ids(list_sources(body)) if get_field_value(body, field) is None]
    if absent:
        listed = ", ".join(f"'{field[:60]}'" for field in absent[:_MAX_ABSENT])
        more = f" and {len(absent) - _MAX_ABSENT:,} more" if len(absent) > _MAX_ABSENT else ""
        yield f"payload.sources cites {listed}{more}, which the body does not have."


def _describe_lost_fields(existing: Entity, payload: Entity) -> Iterator[str]:
    """Warn of a nested block that was replaced by one with fewer fields."""
    for name, block in payload.items():
        old: Any = existing.get(name)
        lost: list[str] = []
        if isinstance(block, dict) and isinstance(old, dict):
            lost = sorted(cast("Entity", old).keys() - cast("Entity", block).keys())
        if lost:
            yield f"payload.{name} replaced the whole block; it no longer has {', '.join(lost)[:_MAX_CHARS]}."


def _describe_set_derived_elements(existing: Entity, payload: Entity) -> Iterator[str]:
    """Warn of an orbital element that was set while the block still declares it as derived."""
    now = {**existing, **payload}
    if (element := get_derived_element_name(now)) and get_derived_element_name(existing) == element:
        old, new = get_field_value(existing, f"kepler.{element}"), get_field_value(now, f"kepler.{element}")
        if not is_same_value(old, new):
            basis = "period" if element == "semiMajorAxis" else "semiMajorAxis"
            yield (
                f"kepler.{element} was set, but kepler.derived makes N-body runs compute it from {basis}. "
                f'Set kepler.derived to "{basis}".'
            )


def _describe_unit_mistakes(command: JsonObject) -> Iterator[str]:
    mass = _get_number(command, "mass")
    if mass >= _KILOGRAMS:
        yield f"mass is in solar masses here: if {mass:g} are kilograms, send {mass / SOLAR_MASS_IN_KG:.4g}."
    radius = _get_number(command, "radius")
    if radius >= _LARGE_RADIUS:
        yield f"radius is in AU here: if {radius:g} are kilometres, send {radius * 1_000 / AU_IN_METRES:.4g}."
    if command["type"] == "updateStar":
        return
    if command["type"] == "addStar":
        payload = _get_block(command, "payload")
        if payload["parentId"] and not payload.get("kepler"):
            yield (
                "Other bodies here move by kepler blocks in AU and days. This body has none: it moves by "
                "orbitalDistance and orbitalSpeed, in degrees for each day."
            )
    elif abs(dt := cast("float", command.get("dt", DEFAULT_DT))) >= _SECONDS_OF_A_DAY:
        days, years = (f"{dt:,}", f"{dt / 365.25:,.1f}") if abs(dt) < _LONG else (f"{dt:.2g}", f"{dt / 365.25:.2g}")
        yield f"dt is in days here: {days} days are {years} years. One day is dt 1, a year dt 365.25."


def _find_changed_entity(before: State, command: JsonObject) -> Entity | None:
    """Return the body or group that a command adds or updates, before the command; None if it is new."""
    kinds = _CHANGED.get(str(command["type"]))
    return before.get_entities(kinds).get(str(command["id"])) if kinds else None


def _get_block(command: JsonObject, name: str) -> JsonObject:
    return cast("JsonObject", command.get(name, {}))


def _get_number(command: JsonObject, name: str) -> float:
    """Return a number of the payload, or 0."""
    return cast("float", _get_block(command, "payload").get(name) or 0)
