"""Encode states, changes, records and log entries as JSON, the same for REST, MCP and the command line."""

import asyncio
from collections.abc import Collection, Iterable, Mapping
from datetime import timedelta
from functools import cache
from typing import Final, Literal, NamedTuple, cast

import orjson

from universe.domain.entities import Entity, Star
from universe.domain.names_and_numbers import find_nearest_entity_ids
from universe.domain.provenance.citations import describe_citation_changes
from universe.domain.state import ENTITY_KINDS, EntityKind, Plain, State
from universe.domain.type_validation import ENTITY_MAPS
from universe.domain.units_and_dates import convert_tdb_to_utc, find_epoch_julian_date, has_astronomical_body
from universe.errors import MalformedRequest
from universe.service.batch import ChangeResult
from universe.service.replies import (
    ChangedEntities,
    ChangeSummary,
    DeletionFacts,
    Facts,
    LogEntry,
    Root,
    StatePartReply,
    TimeFacts,
    UniverseSummary,
)
from universe.store.interface import Deletion, StoredEntry, UniverseRecord
from universe.store.replica import Replica
from uraniborg.kernel.actors import Actor, decode_actor
from uraniborg.kernel.language.messages import find_nearest_names, format_did_you_mean
from uraniborg.kernel.shared_fields import ActorFields

ReplyContent = Literal["state", "changes", "events"]
INLINE_BYTES: Final = 64 * 1024
"""States up to this size are written on the event loop, larger ones in a thread."""
_MAX_ROOTS: Final = 50
_MAX_INLINE_IDS: Final = 100
_MAX_INLINE_BODIES: Final = 1_000
"""The most changed bodies whose citations are compared on the event loop; more are compared in a thread."""
_SHIPPED_FIELDS: Final = ("physical", "sources")
"""Fields that the model does not declare, but bodies of real systems have: a universe without them is no error."""
_MAX_SUGGESTIONS: Final = 20
_WILDCARDS: Final = ("*", "all", "**")
_IN_KEPLER: Final = frozenset(
    ["orbit", "orbits", "orbital", "orbitalelements", "elements", "a", "e", "i", "period", "inclination", "meananomaly"]
)
"""Names, in lower case, for the orbit of a body or for one of its elements."""
_MAX_CHARS: Final = 100


class StatePart(NamedTuple):
    """A part of a state: the ids of entities and the names of fields; None selects all."""

    ids: Collection[str] | None = None
    fields: Collection[str] | None = None


async def encode_state(replica: Replica, state: State | None = None) -> bytes:
    """Return the state of the replica, or another state of it, as JSON."""
    if state is not None and state is not replica.state:
        return await asyncio.to_thread(_encode_other_state, state)
    if replica.mirror.json_size <= INLINE_BYTES:
        return replica.mirror.to_json()
    return await asyncio.to_thread(orjson.dumps, replica.mirror.to_plain())


def _encode_other_state(state: State) -> bytes:
    return orjson.dumps(state.to_plain())


async def encode_change_result(result: ChangeResult, content: ReplyContent) -> bytes:
    events = orjson.dumps(result.events)
    changed = result.before, result.state, result.touched
    is_quick = len(result.touched.get("stars") or ()) <= _MAX_INLINE_BODIES
    warnings = (
        describe_citation_changes(*changed)
        if is_quick
        else await asyncio.to_thread(describe_citation_changes, *changed)
    )
    more = b',"warnings":%b' % orjson.dumps(warnings) if warnings else b""
    if content == "events":
        return b'{"events":%b,"version":%d%b}' % (events, result.version, more)
    if content == "changes":
        changed_entities = describe_changed_entities(result)
        if warnings:
            changed_entities["warnings"] = warnings
        return orjson.dumps(changed_entities)
    state = await encode_state(result.replica, result.state)
    return b'{"nextState":%b,"events":%b,"version":%d%b}' % (state, events, result.version, more)


def summarize_change(result: ChangeResult) -> ChangeSummary:
    """Return a summary of a change: the version, the events, the time that passed and the warnings about citations."""
    facts: ChangeSummary = {"version": result.version, "events": result.events}
    if passed := result.state.time - result.before.time:
        facts["timePassed"] = passed
        facts["timeUnit"] = describe_time_unit_and_date(result.state)["timeUnit"]
    if warnings := describe_citation_changes(result.before, result.state, result.touched):
        facts["warnings"] = warnings
    return facts


def describe_changed_entities(result: ChangeResult) -> ChangedEntities:
    """Return the entities that a command changed and removed, its events, and the version and time after it."""
    changed: dict[EntityKind, dict[str, Entity]] = {}
    removed: dict[EntityKind, list[str]] = {}
    for kind, keys in result.touched.items():
        entities = result.state.get_entities(kind)
        if there := {key: entities[key] for key in keys if key in entities}:
            changed[kind] = there
        if gone := [key for key in keys if key not in entities]:
            removed[kind] = gone
    return {
        "events": result.events,
        "version": result.version,
        "changed": changed,
        "removed": removed,
        "time": result.state.time,
        "stateBytes": result.replica.mirror.json_size,
        "hint": "The whole state is large: get_universe_state with ids or fields reads a part of it, "
        'return="state" sends all of it.',
    }


async def encode_state_part(replica: Replica, part: StatePart) -> bytes:
    """Return a part of a state as JSON. Raise MalformedRequest for an unknown field."""
    plain, version = replica.mirror.to_plain(), replica.version
    if part.ids is not None and len(part.ids) < _MAX_INLINE_IDS:
        return orjson.dumps(reduce_plain_state_to_part(plain, part, version))
    return await asyncio.to_thread(lambda: orjson.dumps(reduce_plain_state_to_part(plain, part, version)))


def reduce_plain_state_to_part(plain: Plain, part: StatePart, version: int) -> StatePartReply:
    """Reduce a plain state to a part and return it, with its version, the ids not found and the nearest ids.

    Raise MalformedRequest for a field that no entity has.
    """
    if part.fields is not None:
        check_known_fields([plain[kind] for kind in ENTITY_KINDS], part.fields)
    found: set[str] = set()
    every: dict[EntityKind, dict[str, Entity]] = {kind: plain[kind] for kind in ENTITY_KINDS}
    reply: StatePartReply = {**plain, "version": version}
    for kind, entities in every.items():
        if part.ids is not None:
            entities = {key: entities[key] for key in part.ids if key in entities}  # noqa: PLW2901
            found.update(entities)
        if part.fields is not None:
            entities = {key: keep_only_fields(entity, part.fields) for key, entity in entities.items()}  # noqa: PLW2901
        reply[kind] = entities
    if part.ids is not None:
        missing = [key for key in part.ids if key not in found]
        reply["notFound"] = missing
        near = {key: _find_nearest_ids(key, every) for key in missing[:_MAX_SUGGESTIONS]}
        if near := {key: ids for key, ids in near.items() if ids}:
            reply["nearest"] = near
        if wild := [key for key in missing if key in _WILDCARDS]:
            reply["hint"] = f"'{wild[0]}' is not an id: leave out ids for all entities."
    return reply


def _find_nearest_ids(key: str, every: Mapping[EntityKind, Mapping[str, Entity]]) -> list[str]:
    return [one for entities in every.values() for one in find_nearest_entity_ids(key, entities)][:3]


def check_known_fields(maps: Iterable[Mapping[str, Entity]], fields: Collection[str]) -> None:
    """Raise MalformedRequest for a field that neither the model nor any entity in these maps has."""
    unknown = [name for name in fields if name not in _list_model_fields()]
    if unknown:
        there = {name for entities in maps for entity in entities.values() for name in entity}
        unknown = [name for name in unknown if name not in there]
    if unknown:
        near = {name[:_MAX_CHARS]: _find_nearest_fields(name) for name in unknown[:_MAX_SUGGESTIONS]}
        listed = ", ".join(f"'{name}'" for name in near)
        raise MalformedRequest(
            f"No entity has the field {listed}.",
            hint=format_did_you_mean(dict.fromkeys(one for ids in near.values() for one in ids[:1]))
            + "Name fields of entities, such as name, mass, children, kepler; rootIds, rootGroupIds and time are in "
            "every reply.",
            argument="fields",
            nearest=near,
            allowed=sorted(Star.__annotations__, key=lambda name: name not in Star.__required_keys__),
        )


def _find_nearest_fields(name: str) -> list[str]:
    """Return the fields that may be meant: the block of `kepler.period`, `kepler` for `orbit`, or similar names."""
    block = name.partition(".")[0]
    if block != name and block in _list_model_fields():
        return [block]
    return ["kepler"] if name.casefold() in _IN_KEPLER else find_nearest_names(name, _list_model_fields())


def has_only_model_fields(fields: Collection[str]) -> bool:
    """Return True if the model has all of these fields, so that no entity needs to be searched for them."""
    return all(name in _list_model_fields() for name in fields)


@cache
def _list_model_fields() -> dict[str, None]:
    declared = [name for kind in ENTITY_MAPS.values() for name in kind.__annotations__ if not name.startswith("__")]
    return dict.fromkeys([*declared, *_SHIPPED_FIELDS])


def keep_only_fields(entity: Entity, fields: Collection[str]) -> Entity:
    return {name: value for name, value in entity.items() if name in fields}


def summarize_universe(record: UniverseRecord, replica: Replica) -> UniverseSummary:
    """Return a summary of a universe: the number of entities of each kind, and the roots with their children."""
    state = replica.state
    roots = [_summarize_root(state, key) for key in dict.fromkeys(state.rootIds) if key in state.stars]
    return {
        "id": record.id,
        "name": record.name,
        "version": replica.version,
        "time": state.time,
        "counts": {kind: len(state.get_entities(kind)) for kind in ENTITY_KINDS},
        "roots": roots[:_MAX_ROOTS],
        "rootsNotShown": max(0, len(roots) - _MAX_ROOTS),
        "stateBytes": replica.mirror.json_size,
        "hint": "get_universe_state with ids and fields reads parts, such as "
        '{"ids": ["…"], "fields": ["name", "children", "mass"]}.',
    }


def _summarize_root(state: State, key: str) -> Root:
    body = state.stars[key]
    return {
        "id": key,
        "name": str(body["name"]),
        "bodyType": cast("str | None", body.get("bodyType")),
        "children": len(cast("list[str]", body["children"])),
    }


def describe_record(record: UniverseRecord) -> Facts:
    """Return a universe without its state."""
    return {
        "id": record.id,
        "name": record.name,
        "version": record.version,
        "createdAt": _trim_to_milliseconds(record.created_at),
        "updatedAt": _trim_to_milliseconds(record.updated_at),
        "createdBy": dump_actor(decode_actor(record.created_by)),
        "renamedBy": dump_actor(decode_actor(record.renamed_by)),
    }


def describe_deletion(deletion: Deletion) -> DeletionFacts:
    """Return a universe that was deleted, with who deleted it."""
    return {
        "id": deletion.universe_id,
        "name": deletion.name,
        "version": deletion.version,
        "createdAt": _trim_to_milliseconds(deletion.created_at),
        "deletedAt": _trim_to_milliseconds(deletion.deleted_at),
        "deletedBy": dump_actor(decode_actor(deletion.deleted_by)),
    }


def dump_actor(actor: Actor | None) -> ActorFields | None:
    """Return an actor as JSON values; None for an actor that was not recorded."""
    if actor is None:
        return None
    return {"kind": actor.kind, "name": actor.name, "authenticated": actor.authenticated}


async def encode_record_with_state(record: UniverseRecord, replica: Replica) -> bytes:
    """Return a universe with its state as JSON."""
    facts = describe_record(record._replace(version=replica.version))
    if replica.mirror.json_size <= INLINE_BYTES:
        return orjson.dumps({**facts, "state": replica.mirror.to_plain()})
    return await asyncio.to_thread(orjson.dumps, {**facts, "state": replica.mirror.to_plain()})


def describe_log_entry(entry: StoredEntry, universe_id: str) -> LogEntry:
    """Return an entry of the log; a restored state is left out."""
    facts: LogEntry = {
        "version": entry.version,
        "kind": "restore" if entry.is_restore else "command",
        "at": _trim_to_milliseconds(entry.at),
        "author": entry.author,
        "actor": dump_actor(entry.actor),
    }
    if not entry.is_intact(universe_id):
        facts["damaged"] = True
        return facts
    if entry.kind == "continued":
        facts["together"] = True
    if not entry.is_restore:
        facts["command"] = orjson.loads(entry.body)
    facts["events"] = orjson.loads(entry.events)
    return facts


def _trim_to_milliseconds(at: str) -> str:
    return f"{at[:23]}Z"


def describe_time_unit_and_date(state: State) -> TimeFacts:
    """Return the unit of the time and, in a real system, the date in UTC; a Julian date beyond the years 1 to 9999."""
    bodies = state.stars
    if not has_astronomical_body(bodies.values()):
        return {"timeUnit": "simulation seconds"}
    epoch = find_epoch_julian_date(bodies.values())
    if epoch is None:
        return {"timeUnit": "days"}
    julian_date = epoch + state.time
    try:
        moment = convert_tdb_to_utc(julian_date) + timedelta(seconds=30)
    except OverflowError:
        return {"timeUnit": "days", "julianDate": julian_date}
    return {"timeUnit": "days", "date": moment.isoformat(timespec="minutes").replace("+00:00", "Z")}
