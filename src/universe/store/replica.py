"""Replicas: a universe rebuilt from its log, from the last snapshot or from the first entry."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

import orjson

from universe.domain.provenance import Origin
from universe.domain.reducer import reduce
from universe.domain.state import EMPTY, Plain, State, Touched, load_plain_state
from universe.domain.state_mirror import StateMirror
from universe.errors import LogDamaged
from universe.store.port import Entry, Snapshot, Store

PAGE_ENTRIES: Final = 1_000
_INLINE_BYTES: Final = 50_000
"""The most bytes that are decoded and replayed on the event loop; more goes to a thread."""


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
            self.advance(outcome.state, entry.version, outcome.touched)

    def advance(self, state: State, version: int, touched: Touched) -> None:
        """Advance to a state that differs only in the entities `touched`."""
        self.state, self.version = state, version
        self.mirror.apply_changes(state, touched)

    def restore_state(self, plain: Plain, version: int) -> None:
        """Replace the whole state; `plain` belongs to the replica afterwards."""
        self.state, self.version = load_plain_state(plain), version
        self.mirror.reset(plain)


async def rebuild_replica(store: Store, universe_id: str, upto: int | None = None) -> Replica:
    """Return the universe at a version, or at the latest one. Raise LogDamaged."""
    if upto is None:
        record = await store.record(universe_id)
        upto = record.version if record else 0
    snapshot = await store.snapshot(universe_id, upto)
    replica = Replica(universe_id)
    if snapshot is not None and snapshot.is_intact(universe_id):  # otherwise all entries are replayed
        replica = await run_offloaded(len(snapshot.state), _load_snapshot, universe_id, snapshot)
    async for entries in read_pages(store, universe_id, after=replica.version, upto=upto):
        await run_offloaded(sum(len(entry.body) for entry in entries), replica.apply_entries, entries)
    if replica.version < upto:
        raise _make_damage_error(universe_id, replica.version + 1, "is missing")
    return replica


async def read_pages(
    store: Store, universe_id: str, *, after: int = 0, upto: int | None = None
) -> AsyncIterator[list[Entry]]:
    """Yield the entries after a version, in pages."""
    while upto is None or after < upto:
        entries = await store.entries(universe_id, after=after, limit=PAGE_ENTRIES, upto=upto)
        if not entries:
            return
        yield entries
        after = entries[-1].version


async def run_offloaded(size: int, function: Any, *arguments: Any) -> Any:
    """Return the result of `function`, called in a thread if the data of `size` bytes is large."""
    if size < _INLINE_BYTES:
        return function(*arguments)
    return await asyncio.to_thread(function, *arguments)


def _load_snapshot(universe_id: str, snapshot: Snapshot) -> Replica:
    plain = orjson.loads(snapshot.state)
    return Replica(universe_id, state=load_plain_state(plain), plain=plain, version=snapshot.version)


def _make_damage_error(universe_id: str, sequence: int, problem: str) -> LogDamaged:
    return LogDamaged(
        f"Entry {sequence} in the log of universe {universe_id} {problem}.",
        hint=f"Versions up to {sequence - 1} can still be read (version={sequence - 1}) and branched from; "
        "`universe verify` lists all damage.",
        universeId=universe_id,
        sequence=sequence,
    )
