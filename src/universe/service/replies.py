"""What REST and MCP answer, as JSON: the whole state, what changed, or part of it."""

import asyncio
from collections.abc import Collection
from functools import cache
from typing import Any, Final, Literal, NamedTuple

import orjson

from universe.domain.checking import MAPS
from universe.domain.entities import Star
from universe.domain.events import Event
from universe.domain.state import KINDS, Kind, State
from universe.domain.suggestions import nearest, nearest_entities
from universe.domain.withdrawals import withdrawals_of
from universe.errors import MalformedRequest, did_you_mean
from universe.service.dates import time_facts
from universe.service.results import Result
from universe.store.port import Entry, Record
from universe.store.rebuilding import Replica

Wanted = Literal["state", "changes", "events"]
INLINE_BYTES: Final = 64 * 1024
"""States up to this size are written on the loop, larger ones in a thread."""
_SHOWN_ROOTS: Final = 50
_FEW: Final = 100
_QUICK: Final = 1_000
"""Changed bodies whose citations are compared on the loop, those of more in a thread."""
_SUGGESTED: Final = 20
_SHOWN: Final = 100


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
    changed = result.before, result.state, result.touched
    is_quick = len(result.touched.get("stars") or ()) <= _QUICK
    warnings = withdrawals_of(*changed) if is_quick else await asyncio.to_thread(withdrawals_of, *changed)
    more = b',"warnings":%b' % orjson.dumps(warnings) if warnings else b""
    if wanted == "events":
        return b'{"events":%b,"version":%d%b}' % (events, result.version, more)
    if wanted == "changes":
        return orjson.dumps(changes_of(result) | ({"warnings": warnings} if warnings else {}))
    state = await state_json(result.replica, result.state)
    return b'{"nextState":%b,"events":%b,"version":%d%b}' % (state, events, result.version, more)


def change_facts(result: Result) -> dict[str, Any]:
    """Return a change in short: the version, the events, the time that passed, and what became of citations."""
    facts: dict[str, Any] = {"version": result.version, "events": result.events}
    if passed := result.state.time - result.before.time:
        facts |= {"timePassed": passed, "timeUnit": time_facts(result.state)["timeUnit"]}
    if warnings := withdrawals_of(result.before, result.state, result.touched):
        facts["warnings"] = warnings
    return facts


def changes_of(result: Result) -> dict[str, Any]:
    """Return the entities that a command changed and removed, its events, and the version and time after it."""
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
    """Return some entities, or some fields of them, in the shape of a state. Raises MalformedRequest."""
    plain, version = replica.mirror.plain(), replica.version
    if part.ids is not None and len(part.ids) < _FEW:
        return orjson.dumps(part_of(plain, part, version))
    return await asyncio.to_thread(lambda: orjson.dumps(part_of(plain, part, version)))


def part_of(plain: dict[str, Any], part: Part, version: int) -> dict[str, Any]:
    """Return a part of a state, with its version; ids that are not there are listed beside the nearest.

    The maps of `plain` are replaced. Raises MalformedRequest for a field that no entity has.
    """
    if part.fields is not None:
        _check_fields(plain, part.fields)
    found: set[str] = set()
    every: dict[Kind, dict[str, Any]] = {kind: plain[kind] for kind in KINDS}
    for kind, entities in every.items():
        if part.ids is not None:
            entities = {key: entities[key] for key in part.ids if key in entities}  # noqa: PLW2901
            found.update(entities)
        if part.fields is not None:
            entities = {key: _fields(entity, part.fields) for key, entity in entities.items()}  # noqa: PLW2901
        plain[kind] = entities
    plain["version"] = version
    if part.ids is not None:
        missing = [key for key in part.ids if key not in found]
        plain["notFound"] = missing
        near = {key: _nearest(key, every) for key in missing[:_SUGGESTED]}
        if near := {key: ids for key, ids in near.items() if ids}:
            plain["nearest"] = near
    return plain


def _nearest(key: str, every: dict[Kind, dict[str, Any]]) -> list[str]:
    return [one for entities in every.values() for one in nearest_entities(key, entities)][:3]


def _check_fields(plain: dict[str, Any], fields: Collection[str]) -> None:
    """Raise MalformedRequest for a field that neither the model nor any entity of this state has."""
    unknown = [name for name in fields if name not in _known_fields()]
    if unknown:
        there = {name for kind in KINDS for entity in plain[kind].values() for name in entity}
        unknown = [name for name in unknown if name not in there]
    if unknown:
        near = {name[:_SHOWN]: nearest(name, _known_fields()) for name in unknown[:_SUGGESTED]}
        listed = ", ".join(f"'{name}'" for name in near)
        raise MalformedRequest(
            f"No entity has the field {listed}.",
            hint=did_you_mean(dict.fromkeys(one for ids in near.values() for one in ids[:1]))
            + "Name fields of entities, such as name, mass, children, kepler; rootIds, rootGroupIds and time are in "
            "every reply.",
            argument="fields",
            nearest=near,
            allowed=sorted(Star.__annotations__, key=lambda name: name not in Star.__required_keys__),
        )


@cache
def _known_fields() -> dict[str, None]:
    return {name: None for kind in MAPS.values() for name in kind.__annotations__ if not name.startswith("__")}


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
    facts: dict[str, Any] = {
        "version": entry.version,
        "kind": kind,
        "at": _to_the_millisecond(entry.at),
        "author": entry.author,
    }
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
