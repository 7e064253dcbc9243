"""Rebuild a universe from its log, from the last snapshot or from the first entry.

An entry may refer to an earlier version of the universe, or to a version of the universe that it was branched from. To
rebuild a version, the last such entry is found first: earlier entries do not matter, and no state is rebuilt twice.
"""

import asyncio
import gc
import zlib
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final, NamedTuple

import orjson

from universe.domain.provenance.citations import add_universe_to_set_by_records
from universe.domain.provenance.provenance_tracking import ChangeOrigin
from universe.domain.reducer import reduce
from universe.domain.state import EMPTY, ENTITY_KINDS, EntityKind, Plain, State, Touched, make_state_from_plain
from universe.errors import LogDamaged
from universe.store.interface import Store, StoredEntry, StoredSnapshot
from universe.store.log_encoding import decode_json, decode_state, put_citations_back
from universe.store.recent_changes import EarlierState, Orders, RecentChange, RecentChanges

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

    def apply_changes(self, state: State, touched: Touched) -> Orders:
        """Update the mirror to `state`, which differs from the state before only in the entities `touched`.

        Return the ids of kinds that lost an entity, or whose entities have another order now, in the order before.
        """
        orders: dict[EntityKind, list[str]] = {}
        for kind, keys in touched.items():
            entities, plain = state.get_entities(kind), self._plain[kind]
            for key, touch in keys.items():
                if touch != "put" and key in plain:
                    orders.setdefault(kind, list(plain))
                    break
            for key, touch in keys.items():
                now = None if touch == "removed" else entities.get(key)
                if self._entity_bytes is not None:
                    self._add_size_change(key, plain.get(key), now)
                if now is None or touch == "put again":
                    plain.pop(key, None)
                if now is not None:
                    plain[key] = now
        self._update_lists_and_time(state)
        return orders

    def return_to(self, earlier: EarlierState) -> Orders:
        """Update the mirror to an earlier state, in the order of then, and return orders as `apply_changes` does."""
        state, orders = earlier.state, dict[EntityKind, list[str]]()
        for kind, keys in earlier.touched.items():
            entities, plain = state.get_entities(kind), self._plain[kind]
            if any(key in plain and key not in entities for key in keys) or kind in earlier.orders:
                orders[kind] = list(plain)
            for key in keys:
                self._add_size_change(key, plain.get(key), entities.get(key))
                if key in entities:
                    plain[key] = entities[key]
                else:
                    plain.pop(key, None)
            if kind in earlier.orders:
                self._plain[kind] = {key: entities[key] for key in earlier.orders[kind] if key in entities}
        self._update_lists_and_time(state)
        return orders

    def _add_size_change(self, key: str, before: Any, now: Any) -> None:
        if self._entity_bytes is not None:
            self._entity_bytes += _measure_json_size(key, now) - _measure_json_size(key, before)

    def _update_lists_and_time(self, state: State) -> None:
        roots = (state.rootIds, state.rootGroupIds)
        if self._roots != roots:
            self._plain["rootIds"], self._plain["rootGroupIds"] = list(state.rootIds), list(state.rootGroupIds)
            self._roots = roots
            self._list_bytes = None
        self._plain["time"] = state.time

    def to_plain(self) -> Plain:
        """Return a copy that does not change with the mirror; it shares the entities, which never change."""
        return {
            "stars": self._plain["stars"].copy(),
            "rootIds": self._plain["rootIds"].copy(),
            "groups": self._plain["groups"].copy(),
            "rootGroupIds": self._plain["rootGroupIds"].copy(),
            "belts": self._plain["belts"].copy(),
            "smallBodyFields": self._plain["smallBodyFields"].copy(),
            "protoplanetaryDisks": self._plain["protoplanetaryDisks"].copy(),
            "nebulae": self._plain["nebulae"].copy(),
            "time": self._plain["time"],
        }

    def list_body_ids(self) -> list[str]:
        """Return the ids of all bodies, in order."""
        return list(self._plain["stars"])

    def to_json(self) -> bytes:
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


class Target(NamedTuple):
    """The version of a universe whose state an entry restores."""

    universe_id: str
    version: int


class EarlierStateNeeded(Exception):
    """An entry restores the state of a version that is not in memory."""

    def __init__(self, entry: StoredEntry, target: Target) -> None:
        super().__init__(f"entry {entry.version} restores version {target.version} of {target.universe_id}")
        self.entry = entry
        self.target = target


class Replica:
    """A universe at a version of its log."""

    def __init__(self, universe_id: str, *, state: State = EMPTY, plain: Plain | None = None, version: int = 0) -> None:
        self.id = universe_id
        self.state = state
        self.version = version
        self.mirror = StateMirror(plain or EMPTY.to_plain())
        self.recent = RecentChanges(version, state)

    def apply_entries(self, entries: Sequence[StoredEntry]) -> None:
        """Apply these entries. Raise LogDamaged or EarlierStateNeeded; the replica is then at the entry before."""
        for entry in entries:
            if entry.version != self.version + 1:
                raise _make_damage_error(self.id, self.version + 1, "is missing")
            if not entry.is_intact(self.id):
                raise _make_damage_error(self.id, entry.version, "differs from what was written")
            if entry.kind == "restore":
                self.restore_state(put_citations_back(_decode_body(self.id, entry)["state"]), entry.version)
                continue
            body = orjson.loads(entry.body)
            if entry.kind == "reference":
                target = _read_target(self.id, body)
                earlier = self.find_state_at(target.version) if target.universe_id == self.id else None
                if earlier is None:
                    raise EarlierStateNeeded(entry, target)
                self.return_to(earlier, entry.version)
                continue
            origin = None if entry.author is None else ChangeOrigin(entry.version, entry.author)
            outcome = reduce(self.state, body, origin)
            if outcome.is_refused:
                raise _make_damage_error(self.id, entry.version, "cannot follow the entry before it")
            self.advance_through([RecentChange(entry.version, outcome.state, outcome.touched)])

    def find_state_at(self, version: int) -> EarlierState | None:
        """Return the state at a version; None if it is not in memory."""
        return self.recent.find_state_at(version)

    def advance_through(self, steps: Sequence[RecentChange]) -> None:
        """Advance to the last of these steps, each of which differs from the one before only in the entities touched.

        Steps that only put entities change the mirror together.
        """
        puts = _join_puts(steps)
        if puts is None:
            steps = [step._replace(orders=self.mirror.apply_changes(step.state, step.touched)) for step in steps]
        else:
            self.mirror.apply_changes(steps[-1].state, puts)
        self.recent.add_steps(steps)
        self.version, self.state = steps[-1].version, steps[-1].state

    def return_to(self, earlier: EarlierState, version: int) -> None:
        """Restore an earlier state as the state of a new version."""
        orders = self.mirror.return_to(earlier)
        self.recent.add_steps([RecentChange(version, earlier.state, earlier.touched, orders)])
        self.version, self.state = version, earlier.state

    def restore_state(self, plain: Plain, version: int, state: State | None = None) -> None:
        """Replace the whole state; `plain` belongs to the replica afterwards. `state` is the same, if it is known."""
        self.state, self.version = make_state_from_plain(plain) if state is None else state, version
        self.mirror.replace_state(plain)
        self.recent.restart_at(version, self.state)

    def restore_state_of(self, earlier: "Replica", version: int) -> None:
        """Restore the state of another version, or of the universe that this one is branched from."""
        plain = earlier.mirror.to_plain()
        if earlier.id == self.id:
            self.restore_state(plain, version, earlier.state)
        else:
            self.restore_state(add_universe_to_set_by_records(plain, earlier.id), version)


def _join_puts(steps: Sequence[RecentChange]) -> Touched | None:
    """Return the entities that these steps put; None if one of the steps removed an entity."""
    joined: Touched = {}
    for step in steps:
        for kind, keys in step.touched.items():
            puts = joined.setdefault(kind, {})
            for key, touch in keys.items():
                if touch != "put":
                    return None
                puts[key] = touch
    return joined


async def rebuild_replica(store: Store, universe_id: str, upto: int | None = None) -> Replica:
    """Return the universe at a version, or at the latest one. Raise LogDamaged."""
    if upto is None:
        record = await store.read_record(universe_id)
        upto = record.version if record else 0
    at = Target(universe_id, upto)
    references: list[tuple[Target, StoredEntry]] = []
    while True:
        snapshot = await store.find_latest_snapshot(at.universe_id, at.version)
        if snapshot is not None and not snapshot.is_intact(at.universe_id):
            snapshot = None  # all entries are replayed
        first = snapshot.version if snapshot else 0
        reference = await store.find_last_reference(at.universe_id, after=first, upto=at.version)
        if reference is None:
            break
        references.append((at, reference))
        at = _check_and_read_target(at.universe_id, reference)
    replica = Replica(at.universe_id)
    if snapshot is not None:
        replica = await run_in_thread_if_large(
            len(snapshot.state), _make_replica_from_snapshot, at.universe_id, snapshot
        )
    await _replay_entries(store, replica, at.version)
    for last, reference in reversed(references):
        earlier, replica = replica, Replica(last.universe_id)
        await asyncio.to_thread(replica.restore_state_of, earlier, reference.version)
        await _replay_entries(store, replica, last.version)
    return replica


async def _replay_entries(store: Store, replica: Replica, upto: int) -> None:
    """Apply the entries up to a version, which have no reference. Raise LogDamaged."""
    async for entries in read_entry_pages(store, replica.id, after=replica.version, upto=upto):
        await run_in_thread_if_large(sum(len(entry.body) for entry in entries), replica.apply_entries, entries)
    if replica.version < upto:
        raise _make_damage_error(replica.id, replica.version + 1, "is missing")


async def apply_entries_from_store(store: Store, replica: Replica, entries: Sequence[StoredEntry]) -> None:
    """Apply entries, and rebuild the states of versions that they restore. Raise LogDamaged."""
    left = list(entries)
    while left:
        try:
            replica.apply_entries(left)
        except EarlierStateNeeded as needed:
            # A branch may be rebuilt from its own first snapshot, after its source was deleted.
            is_branch = needed.target.universe_id != replica.id
            target = Target(replica.id, needed.entry.version) if is_branch else needed.target
            earlier = await rebuild_replica(store, *target)
            replica.restore_state_of(earlier, needed.entry.version)
        left = [entry for entry in left if entry.version > replica.version]


async def read_entry_pages(
    store: Store, universe_id: str, *, after: int = 0, upto: int | None = None
) -> AsyncIterator[list[StoredEntry]]:
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
    return await asyncio.to_thread(_call_without_garbage_collection, function, *arguments)


def _call_without_garbage_collection(function: Any, *arguments: Any) -> Any:
    """Return the result of a function that makes a state: many objects without cycles, so none is garbage."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        return function(*arguments)
    finally:
        if was_on:
            gc.enable()


def _make_replica_from_snapshot(universe_id: str, snapshot: StoredSnapshot) -> Replica:
    plain = decode_state(snapshot.state)
    return Replica(universe_id, state=make_state_from_plain(plain), plain=plain, version=snapshot.version)


def _decode_body(universe_id: str, entry: StoredEntry) -> Any:
    try:
        return decode_json(entry.body)
    except (orjson.JSONDecodeError, zlib.error):
        raise _make_damage_error(universe_id, entry.version, "cannot be read") from None


def _check_and_read_target(universe_id: str, entry: StoredEntry) -> Target:
    """Return the target of a reference, which is always before the entry. Raise LogDamaged."""
    if not entry.is_intact(universe_id):
        raise _make_damage_error(universe_id, entry.version, "differs from what was written")
    return _read_target(universe_id, orjson.loads(entry.body))


def _read_target(universe_id: str, body: Any) -> Target:
    source = body.get("source")
    return Target(universe_id, body["toVersion"]) if source is None else Target(source["id"], source["version"])


def _make_damage_error(universe_id: str, sequence: int, problem: str) -> LogDamaged:
    return LogDamaged(
        f"Entry {sequence} in the log of universe {universe_id} {problem}.",
        hint=f"Versions up to {sequence - 1} can still be read (version={sequence - 1}) and branched from; "
        "`universe verify` lists all damage.",
        universeId=universe_id,
        sequence=sequence,
    )
