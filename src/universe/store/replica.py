"""Replicas: a universe rebuilt from its log, from the last snapshot or from the first entry."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

import orjson

from universe.domain.provenance_tracking import Origin
from universe.domain.reducer import reduce
from universe.domain.state import EMPTY, ENTITY_KINDS, Plain, State, Touched, make_state_from_plain
from universe.errors import LogDamaged
from universe.store.interface import Entry, Snapshot, Store

_LISTS: Final = ("rootIds", "rootGroupIds")
_EMPTY_STATE_BYTES: Final = len(orjson.dumps({**EMPTY.to_plain(), "time": 0})) - len("0") - 2 * len("[]")
"""The size of an empty state as JSON, without its time and its lists."""
PAGE_ENTRIES: Final = 1_000
_INLINE_BYTES: Final = 50_000
"""The most bytes that are decoded and replayed on the event loop; more goes to a thread."""


class StateMirror:
    """A state as plain dictionaries. Entities stay in the order in which they were added."""

    def __init__(self, plain: Plain) -> None:
        self.replace_state(plain)

    def replace_state(self, plain: Plain) -> None:
        """Replace the whole state. The maps of `plain` belong to the mirror afterwards."""
        self._plain: Plain = {
            "stars": plain.get("stars") or {},
            "rootIds": plain.get("rootIds") or [],
            "groups": plain.get("groups") or {},
            "rootGroupIds": plain.get("rootGroupIds") or [],
            "belts": plain.get("belts") or {},
            "smallBodyFields": plain.get("smallBodyFields") or {},
            "protoplanetaryDisks": plain.get("protoplanetaryDisks") or {},
            "nebulae": plain.get("nebulae") or {},
            "time": plain.get("time", 0),
        }
        self._roots: tuple[Any, ...] = ()
        self._entity_bytes: int | None = None
        self._list_bytes: int | None = None

    def apply_changes(self, state: State, touched: Touched) -> None:
        """Update the mirror to `state`, which differs from the state before only in the entities `touched`."""
        for kind, keys in touched.items():
            entities, plain = state.get_entities(kind), self._plain[kind]
            for key, touch in keys.items():
                # An entity that is absent by now was removed by a later change.
                now = None if touch == "removed" else entities.get(key)
                if self._entity_bytes is not None:
                    self._entity_bytes += _measure_json_size(key, now) - _measure_json_size(key, plain.get(key))
                if now is None or touch == "put again":
                    plain.pop(key, None)
                if now is not None:
                    plain[key] = now
        roots = (state.rootIds, state.rootGroupIds)
        if self._roots != roots:
            self._plain["rootIds"], self._plain["rootGroupIds"] = list(state.rootIds), list(state.rootGroupIds)
            self._roots = roots
            self._list_bytes = None
        self._plain["time"] = state.time

    def to_plain(self) -> Plain:
        """Return a copy that does not change with the mirror; it shares the entities, which never change."""
        return {name: value if name == "time" else value.copy() for name, value in self._plain.items()}

    def to_json(self) -> bytes:
        """Return the state as JSON."""
        return orjson.dumps(self._plain)

    @property
    def json_size(self) -> int:
        """The size of the JSON in bytes, measured once and then updated with each change."""
        if self._entity_bytes is None:
            self._entity_bytes = sum(
                _measure_json_size(key, entity) for kind in ENTITY_KINDS for key, entity in self._plain[kind].items()
            )
        if self._list_bytes is None:
            self._list_bytes = sum(len(orjson.dumps(self._plain[name])) for name in _LISTS)
        commas = sum(max(0, len(self._plain[kind]) - 1) for kind in ENTITY_KINDS)
        return (
            _EMPTY_STATE_BYTES + self._entity_bytes + self._list_bytes + commas + len(orjson.dumps(self._plain["time"]))
        )


def _measure_json_size(key: str, entity: Any) -> int:
    """Return the size of an entity and its key as JSON; 0 for None."""
    return 0 if entity is None else len(orjson.dumps(entity)) + len(orjson.dumps(key)) + 1


class Replica:
    """A universe at a version of its log."""

    def __init__(self, universe_id: str, *, state: State = EMPTY, plain: Plain | None = None, version: int = 0) -> None:
        self.id = universe_id
        self.state = state
        self.version = version
        self.mirror = StateMirror(plain or {})

    def apply_entries(self, entries: Sequence[Entry]) -> None:
        """Apply these entries. Raise LogDamaged; the replica is then at the last entry before the damage."""
        for entry in entries:
            if entry.version != self.version + 1:
                raise _make_damage_error(self.id, self.version + 1, "is missing")
            if not entry.is_intact(self.id):
                raise _make_damage_error(self.id, entry.version, "differs from what was written")
            body = orjson.loads(entry.body)
            if entry.kind == "restore":
                self.restore_state(body["state"], entry.version)
                continue
            origin = None if entry.author is None else Origin(entry.version, entry.author)
            outcome = reduce(self.state, body, origin)
            if outcome.is_refused:
                raise _make_damage_error(self.id, entry.version, "cannot follow the entry before it")
            self.advance_to(outcome.state, entry.version, outcome.touched)

    def advance_to(self, state: State, version: int, touched: Touched) -> None:
        """Advance to a state that differs only in the entities `touched`."""
        self.state, self.version = state, version
        self.mirror.apply_changes(state, touched)

    def restore_state(self, plain: Plain, version: int) -> None:
        """Replace the whole state; `plain` belongs to the replica afterwards."""
        self.state, self.version = make_state_from_plain(plain), version
        self.mirror.replace_state(plain)


async def rebuild_replica(store: Store, universe_id: str, upto: int | None = None) -> Replica:
    """Return the universe at a version, or at the latest one. Raise LogDamaged."""
    if upto is None:
        record = await store.read_record(universe_id)
        upto = record.version if record else 0
    snapshot = await store.find_latest_snapshot(universe_id, upto)
    replica = Replica(universe_id)
    if snapshot is not None and snapshot.is_intact(universe_id):  # otherwise all entries are replayed
        replica = await run_in_thread_if_large(len(snapshot.state), _make_replica_from_snapshot, universe_id, snapshot)
    async for entries in read_entry_pages(store, universe_id, after=replica.version, upto=upto):
        await run_in_thread_if_large(sum(len(entry.body) for entry in entries), replica.apply_entries, entries)
    if replica.version < upto:
        raise _make_damage_error(universe_id, replica.version + 1, "is missing")
    return replica


async def read_entry_pages(
    store: Store, universe_id: str, *, after: int = 0, upto: int | None = None
) -> AsyncIterator[list[Entry]]:
    """Yield the entries after a version, in pages."""
    while upto is None or after < upto:
        entries = await store.read_entries(universe_id, after=after, limit=PAGE_ENTRIES, upto=upto)
        if not entries:
            return
        yield entries
        after = entries[-1].version


async def run_in_thread_if_large(size: int, function: Any, *arguments: Any) -> Any:
    """Return the result of `function`, called in a thread if the data of `size` bytes is large."""
    if size < _INLINE_BYTES:
        return function(*arguments)
    return await asyncio.to_thread(function, *arguments)


def _make_replica_from_snapshot(universe_id: str, snapshot: Snapshot) -> Replica:
    plain = orjson.loads(snapshot.state)
    return Replica(universe_id, state=make_state_from_plain(plain), plain=plain, version=snapshot.version)


def _make_damage_error(universe_id: str, sequence: int, problem: str) -> LogDamaged:
    return LogDamaged(
        f"Entry {sequence} in the log of universe {universe_id} {problem}.",
        hint=f"Versions up to {sequence - 1} can still be read (version={sequence - 1}) and branched from; "
        "`universe verify` lists all damage.",
        universeId=universe_id,
        sequence=sequence,
    )
