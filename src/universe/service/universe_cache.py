"""Load universes into memory when they are used, and drop them when they are idle or deleted."""

import asyncio
import gc
from collections import OrderedDict
from typing import Final
from urllib.parse import unquote

from universe.domain.names_and_numbers import find_nearest_entity_ids
from universe.errors import LogDamaged, UniverseNotFound, VersionNotFound
from universe.service.live_universe import LiveUniverse
from universe.store.interface import LogChange, Store, UniverseRecord
from universe.store.recent_changes import EarlierState
from universe.store.replica import Replica, rebuild_replica
from uraniborg.kernel.boundary import make_encodable
from uraniborg.kernel.clock import Clock
from uraniborg.kernel.store.change_feed import Publisher

MAX_IDLE: Final = 64
"""The most universes in memory that are not in use."""
SNAPSHOT_EVERY: Final = 500
_MANY_BODIES: Final = 10_000
_LISTED_IDS: Final = 10
_SEARCHED_IDS: Final = 1_000


class UniverseCache:
    """The cache of live universes, the most recently used last."""

    def __init__(self, store: Store, clock: Clock, feed: Publisher, *, snapshot_every: int) -> None:
        self.cached: OrderedDict[str, LiveUniverse] = OrderedDict()
        self._store = store
        self._clock = clock
        self._feed = feed
        self._snapshot_every = snapshot_every
        self._loading: dict[str, asyncio.Task[LiveUniverse]] = {}

    async def close(self) -> None:
        """Wait for running changes and drop all universes."""
        for live in self.cached.values():
            await live.wait_for_running_tasks()
        self.cached.clear()

    def wake_event_streams(self) -> None:
        """Send a heartbeat to the event streams of all universes."""
        for live in self.cached.values():
            live.wake_feed_or_drop_unused()

    async def read_record_or_drop(self, universe_id: str) -> UniverseRecord:
        """Return the record of a universe from the store. Raise UniverseNotFound with the nearest ids."""
        universe_id = make_encodable(universe_id)
        record = await self._store.read_record(universe_id)
        if record is None:
            self.drop_deleted(universe_id)
            records = await self._store.list_records(limit=_SEARCHED_IDS)
            name = unquote(universe_id.rpartition("/")[2])  # the id of an address
            nearest = find_nearest_entity_ids(name, {one.id: {"name": one.name} for one in records})
            raise UniverseNotFound(universe_id, [one.id for one in records[:_LISTED_IDS]], nearest)
        return record

    async def get_or_load(self, universe_id: str) -> LiveUniverse:
        """Return a live universe, which may be behind the store; its next append notices that."""
        live = self.cached.get(universe_id)
        if live is None or live.is_deleted:
            live = await self._join_or_start_load(await self.read_record_or_drop(universe_id))
        return self._put_at_end(live)

    async def get_or_load_current(self, record: UniverseRecord) -> LiveUniverse:
        """Return a live universe that is at least at the version of the record."""
        known = self.cached.get(record.id)
        if known is not None and known.created_at != record.created_at:  # another process deleted it and made a new one
            self.drop_deleted(record.id)
        live = await self.get_or_load(record.id)
        if live.replica.version < record.version:
            await live.apply_missed_entries()
        return self._put_at_end(live)

    async def apply_stored_change(self, change: LogChange) -> None:
        """Apply a change, perhaps of another process, to the live universe."""
        live = self.cached.get(change.universe_id)
        if live is None or (change.version is not None and live.replica.version >= change.version):
            return
        record = await self._store.read_record(change.universe_id)
        if record is None or record.created_at != live.created_at:
            self.drop_deleted(change.universe_id)
        else:
            await live.apply_missed_entries()

    def drop_deleted(self, universe_id: str) -> None:
        """Remove a deleted universe and end its feed."""
        if live := self.cached.pop(universe_id, None):
            live.mark_deleted_and_close_feed()

    async def rebuild_replica_at(self, universe_id: str, version: int) -> Replica:
        """Return the universe at a version. Raise LogDamaged, UniverseNotFound or VersionNotFound."""
        try:
            return await rebuild_replica(self._store, universe_id, version)
        except LogDamaged:
            # A log that was deleted meanwhile, and perhaps created again, is not damaged.
            check_version_exists(universe_id, version, (await self.read_record_or_drop(universe_id)).version)
            return await rebuild_replica(self._store, universe_id, version)

    async def find_earlier_state(self, universe_id: str, version: int) -> EarlierState | Replica:
        """Return the state at a version: from memory if it is there, else rebuilt. Raise as `rebuild_replica_at`."""
        live = self.cached.get(universe_id)
        earlier = None if live is None else live.replica.find_state_at(version)
        return earlier or await self.rebuild_replica_at(universe_id, version)

    def _put_at_end(self, live: LiveUniverse) -> LiveUniverse:
        """Put a universe at the end of the cache, also if it was dropped as idle meanwhile."""
        live = self.cached.setdefault(live.id, live)
        self.cached.move_to_end(live.id)
        return live

    async def _join_or_start_load(self, record: UniverseRecord) -> LiveUniverse:
        """Load a universe once for all callers that wait for it."""
        task = self._loading.get(record.id)
        if task is None:
            task = self._loading[record.id] = asyncio.create_task(self._load_into_cache(record))
            task.add_done_callback(lambda _: self._loading.pop(record.id, None))
        return await asyncio.shield(task)

    async def _load_into_cache(self, record: UniverseRecord) -> LiveUniverse:
        replica = await self.rebuild_replica_at(record.id, record.version)
        live = LiveUniverse(
            self._store,
            self._clock,
            self._feed,
            replica,
            created_at=record.created_at,
            snapshot_every=self._snapshot_every,
        )
        self.cached[record.id] = live
        self._drop_surplus_idle()
        if len(replica.state.stars) > _MANY_BODIES:
            # A collection of garbage would look at all values of all bodies, and stop everything for a second. They
            # have no cycles: the memory of a universe is free as soon as it is dropped.
            gc.freeze()
        return live

    def _drop_surplus_idle(self) -> None:
        surplus = len(self.cached) - MAX_IDLE
        idle = [universe_id for universe_id, live in list(self.cached.items())[:-1] if live.is_idle]
        for universe_id in idle[: max(surplus, 0)]:
            del self.cached[universe_id]


def check_version_exists(universe_id: str, version: int, current: int) -> None:
    """Raise VersionNotFound unless the version is between 0 and the current one."""
    if not 0 <= version <= current:
        raise VersionNotFound(
            f"Universe {universe_id[:100]} has no version {version}.",
            hint=f"There are versions 0 to {current}.",
            universeId=universe_id[:100],
            allowed=f"from 0 to {current}",
        )
