"""What REST and MCP answer, as JSON: the whole state, what changed, or part of it."""

import asyncio
from collections.abc import Collection
from typing import Any, Final, Literal, NamedTuple

import orjson

from universe.domain.events import Event
from universe.domain.state import KINDS, State
from universe.service.results import Result
from universe.store.port import Entry, Record
from universe.store.rebuilding import Replica

Wanted = Literal["state", "changes", "events"]
INLINE_BYTES: Final = 64 * 1024
"""States up to this size are sent whole unless asked otherwise, and written on the loop."""
_SHOWN_ROOTS: Final = 50
_FEW: Final = 100


class Part(NamedTuple):
    """Which entities, and which of their fields; None is all."""

    ids: Collection[str] | None = None
    fields: Collection[str] | None = None


async def state_json(replica: Replica, state: State | None = None) -> bytes:
    """The state of the replica, or another that it had, as JSON."""
    if state is not None and state is not replica.state:
        return await asyncio.to_thread(_written, state)
    if replica.mirror.bytes <= INLINE_BYTES:
        return replica.mirror.json()
    return await asyncio.to_thread(orjson.dumps, replica.mirror.plain())


def _written(state: State) -> bytes:
    return orjson.dumps(state.plain())


async def result_json(result: Result, wanted: Wanted) -> bytes:
    """What a command did."""
    events = orjson.dumps(result.events)
    if wanted == "events":
        return b'{"events":%b,"version":%d}' % (events, result.version)
    if wanted == "changes":
        return orjson.dumps(_changes(result))
    state = await state_json(result.replica, result.state)
    return b'{"nextState":%b,"events":%b,"version":%d}' % (state, events, result.version)


def suits(replica: Replica) -> Wanted:
    """How to answer who has not said: with the state while it is small."""
    return "state" if replica.mirror.bytes <= INLINE_BYTES else "changes"


def _changes(result: Result) -> dict[str, Any]:
    changed: dict[str, dict[str, Any]] = {}
    removed: dict[str, list[str]] = {}
    for kind, keys in result.touched.items():
        entities = result.state.entities(kind)
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
        "stateBytes": result.replica.mirror.bytes,
        "hint": "The whole state is large: get_universe_state with ids or fields reads a part of it, "
        'return="state" sends all of it.',
    }


async def part_json(replica: Replica, part: Part) -> bytes:
    """Some entities, or some fields of them, in the shape of a state."""
    plain = replica.mirror.plain()
    if part.ids is not None and len(part.ids) < _FEW:
        return orjson.dumps(_part_of(plain, part, replica.version))
    version = replica.version
    return await asyncio.to_thread(lambda: orjson.dumps(_part_of(plain, part, version)))


def _part_of(plain: dict[str, Any], part: Part, version: int) -> dict[str, Any]:
    found: set[str] = set()
    for kind in KINDS:
        entities: dict[str, Any] = plain[kind]
        if part.ids is not None:
            entities = {key: entities[key] for key in part.ids if key in entities}
            found.update(entities)
        if part.fields is not None:
            entities = {key: _fields(entity, part.fields) for key, entity in entities.items()}
        plain[kind] = entities
    plain["version"] = version
    if part.ids is not None:
        plain["notFound"] = [key for key in part.ids if key not in found]
    return plain


def _fields(entity: dict[str, Any], fields: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in entity.items() if name in fields}


def summary(record: Record, replica: Replica) -> dict[str, Any]:
    """A universe in a few lines: how much of what, and the roots with how much is below them."""
    state = replica.state
    roots = [_root(state, key) for key in dict.fromkeys(state.rootIds) if key in state.stars]
    return {
        "id": record.id,
        "name": record.name,
        "version": replica.version,
        "time": state.time,
        "counts": {kind: len(state.entities(kind)) for kind in KINDS},
        "roots": roots[:_SHOWN_ROOTS],
        "rootsNotShown": max(0, len(roots) - _SHOWN_ROOTS),
        "stateBytes": replica.mirror.bytes,
        "hint": "get_universe_state with ids and fields reads parts, such as "
        '{"ids": ["…"], "fields": ["name", "children", "mass"]}.',
    }


def _root(state: State, key: str) -> dict[str, Any]:
    body = state.stars[key]
    return {"id": key, "name": body["name"], "bodyType": body.get("bodyType"), "children": len(body["children"])}


def record_facts(record: Record) -> dict[str, Any]:
    """A universe without its state."""
    return {
        "id": record.id,
        "name": record.name,
        "version": record.version,
        "createdAt": _to_the_millisecond(record.created_at),
        "updatedAt": _to_the_millisecond(record.updated_at),
    }


async def record_json(record: Record, replica: Replica) -> bytes:
    """A universe with its state."""
    facts = record_facts(record._replace(version=replica.version))
    if replica.mirror.bytes <= INLINE_BYTES:
        return orjson.dumps({**facts, "state": replica.mirror.plain()})
    return await asyncio.to_thread(orjson.dumps, {**facts, "state": replica.mirror.plain()})


def entry_facts(entry: Entry, universe_id: str) -> dict[str, Any]:
    """An entry of the log; of a state that was put back, only that it was."""
    kind = "restore" if entry.kind == "restore" else "command"
    facts: dict[str, Any] = {"version": entry.version, "kind": kind, "at": _to_the_millisecond(entry.at)}
    if not entry.is_whole(universe_id):
        return {**facts, "damaged": True}
    events: list[Event] = orjson.loads(entry.events)
    if entry.kind == "continued":
        facts["together"] = True
    if entry.kind != "restore":
        return {**facts, "command": orjson.loads(entry.body), "events": events}
    return {**facts, "events": events}


def _to_the_millisecond(at: str) -> str:
    return f"{at[:23]}Z"
