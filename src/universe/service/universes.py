"""Create, change, read and delete universes, for REST, MCP and the command line."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, Final, NamedTuple

import orjson

from universe.domain.command_parser import parse_small_command
from universe.domain.command_results import Event
from universe.domain.provenance.citations import mark_set_by_records_imported
from universe.domain.state import Plain
from universe.errors import NothingToUndo, TooBusy, UniverseNotFound, VersionConflict
from universe.service.argument_validation import (
    NAME_CHARS,
    check_and_strip_name,
    check_idempotency_key,
    check_universe_id,
    parse_commands,
    parse_plain_state,
)
from universe.service.batch import (
    ChangeRequest,
    ChangeResult,
    DeferredReturn,
    RequestRepeated,
    Restore,
    RestoreReason,
    Return,
    compare_states,
    encode_branch_body,
)
from universe.service.live_universe import LiveUniverse
from universe.service.universe_cache import SNAPSHOT_EVERY, UniverseCache, check_version_exists
from universe.store.interface import (
    BranchesDepend,
    BranchSource,
    Deletion,
    KeyUse,
    LogChange,
    Store,
    StoredEntry,
    StoredSnapshot,
    UniverseRecord,
)
from universe.store.log_encoding import StoredAuthor, encode_state, make_author
from universe.store.replica import Replica, read_entry_pages, rebuild_replica
from uraniborg.kernel.actors import Actor, get_process_actor
from uraniborg.kernel.boundary import make_encodable
from uraniborg.kernel.clock import Clock, SystemClock, format_iso
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.ids import new_id
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.logging import get_logger
from uraniborg.kernel.store.audit_log import record_change
from uraniborg.kernel.store.batched_change_feed import QueuedChangeFeed
from uraniborg.kernel.store.change_feed import NullPublisher, Publisher

_ATTEMPTS: Final = 20

_log = get_logger(__name__)


class UniverseView(NamedTuple):
    """A universe at a version: its record and a replica with its state."""

    record: UniverseRecord
    version: int
    replica: Replica


class UniverseService:
    """Universes in a store: creation, changes by commands, undo, history and listeners.

    Use it inside `async with service.running()`, which opens and closes the store. Each method that changes something
    records its `actor`, or else that of the service.
    """

    def __init__(
        self,
        store: Store,
        *,
        clock: Clock | None = None,
        snapshot_every: int = SNAPSHOT_EVERY,
        actor: Actor | None = None,
        feed: Publisher | None = None,
    ) -> None:
        """Record `actor`, by default this process, with each change that does not name another.

        Changes are announced in `feed`, by default in that of the data folder, unless the store is in memory.
        """
        self.store = store
        self.actor = actor or get_process_actor()
        self._clock = clock or SystemClock()
        self._feed = feed or (NullPublisher() if store.marks is None else QueuedChangeFeed())
        self._cache = UniverseCache(store, self._clock, self._feed, snapshot_every=snapshot_every)
        self._listeners: set[Callable[[LogChange], None]] = set()
        self._watching: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def running(self) -> AsyncGenerator["UniverseService"]:
        """Open the store and follow the changes of other processes until the block ends."""
        await self.store.open()
        self._watching = asyncio.create_task(self._apply_and_forward_changes())
        try:
            yield self
        finally:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
            await self._cache.close()
            await self.store.close()
            await asyncio.to_thread(self._feed.close)

    async def create(
        self,
        name: Any,
        state: Any = None,
        *,
        universe_id: Any = None,
        actor: Actor | None = None,
        has_own_records: bool = False,
    ) -> UniverseRecord:
        """Create a universe. Raise MalformedRequest, MalformedState, or Conflict if the id is taken.

        `has_own_records` says that this program wrote the records in `setBy`; others are marked as imported.
        """
        plain = await parse_plain_state(state)
        if not has_own_records:
            stars = plain.get("stars") or {}
            plain["stars"] = {key: mark_set_by_records_imported(body) for key, body in stars.items()}
        return await self._create_with_state(name, plain, "create", universe_id, actor or self.actor)

    async def list_deletions(self, *, limit: int) -> list[Deletion]:
        """Return the universes that were deleted, with who deleted them, the last one first."""
        return await self.store.list_deletions(limit=limit)

    async def list_records(self, *, limit: int, before: tuple[str, str] | None = None) -> list[UniverseRecord]:
        """Return records, newest first; with `before`, a creation time and an id, those before them."""
        return await self.store.list_records(limit=limit, before=before)

    async def read_record(self, universe_id: str) -> UniverseRecord:
        """Return the record of a universe. Raise UniverseNotFound."""
        return await self._cache.read_record_or_drop(universe_id)

    async def rename(self, universe_id: str, name: Any, *, actor: Actor | None = None) -> None:
        """Rename a universe. Raise UniverseNotFound or MalformedRequest."""
        by = (actor or self.actor).model_dump_json()
        if not await self.store.rename(
            make_encodable(universe_id), check_and_strip_name(name), format_iso(self._clock.now()), by
        ):
            raise UniverseNotFound(universe_id)
        self._feed.publish("universe", universe_id, name=name)

    async def delete(self, universe_id: str, *, actor: Actor | None = None) -> None:
        """Delete a universe and its log; the store and the log of changes state who did so. Raise UniverseNotFound."""
        by = actor or self.actor
        record = await self.read_record(universe_id)
        if not await self._free_branches_and_delete(universe_id, by):
            raise UniverseNotFound(universe_id)
        await asyncio.to_thread(
            *(record_change, "universe deleted", universe_id, by), name=record.name, version=record.version
        )
        self._cache.drop_deleted(universe_id)
        self._feed.publish("universe", universe_id, deleted=True)

    async def view(self, universe_id: str, version: int | None = None) -> UniverseView:
        """Return the universe, now or at a version. Raise UniverseNotFound, VersionNotFound or LogDamaged."""
        record = await self.read_record(universe_id)
        if version is not None and version != record.version:
            check_version_exists(universe_id, version, record.version)
            return UniverseView(record, version, await self._cache.rebuild_replica_at(universe_id, version))
        live = await self._cache.get_or_load_current(record)
        if version is not None and version != live.replica.version:  # it was changed meanwhile
            return UniverseView(record, version, await self._cache.rebuild_replica_at(universe_id, version))
        return UniverseView(record._replace(version=live.replica.version), live.replica.version, live.replica)

    async def read_stars(self, record: UniverseRecord) -> dict[str, JsonObject]:
        """Return the bodies of a universe at the version of the record, and load nothing into the cache.

        Raise UniverseNotFound, VersionNotFound or LogDamaged.
        """
        live = self._cache.cached.get(record.id)
        if live is not None and (live.created_at, live.replica.version) == (record.created_at, record.version):
            return live.replica.mirror.to_plain()["stars"]
        return (await self._cache.rebuild_replica_at(record.id, record.version)).mirror.to_plain()["stars"]

    async def read_history(self, universe_id: str, *, after: int = 0, limit: int = 100) -> list[StoredEntry]:
        """Return entries of the log, in order. Raise UniverseNotFound."""
        await self.read_record(universe_id)
        return await self.store.read_entries(universe_id, after=after, limit=limit)

    async def send(
        self,
        universe_id: str,
        command: Any,
        *,
        expected_version: int | None = None,
        key: str | None = None,
        actor: Actor | None = None,
    ) -> ChangeResult:
        """Apply a command, or a list of commands of which all or none take effect, and record who sent it.

        Raise MalformedCommand, UnknownCommand, UniverseNotFound, CommandRefused, VersionConflict or KeyReused; all of
        them name the universe.
        """
        try:
            small = parse_small_command(command)
            commands = [small] if small is not None else await parse_commands(command)
            request = ChangeRequest(commands, self._make_author(actor), expected_version, check_idempotency_key(key))
            return await self._submit_and_wait(universe_id, request)
        except UraniborgError as exc:
            exc.ids.setdefault("universeId", universe_id[:100])
            raise

    async def replace(
        self,
        universe_id: str,
        *,
        name: Any = None,
        state: Any = None,
        expected_version: int | None = None,
        actor: Actor | None = None,
    ) -> None:
        """Rename a universe, or replace its state, or both. Raise as `rename` and `put` do, before any change."""
        title = check_and_strip_name(name) if name is not None else None
        record = await self.read_record(universe_id)
        if state is not None:
            await self.put(universe_id, state, expected_version=expected_version, actor=actor)
        elif expected_version not in (None, record.version):
            raise VersionConflict(universe_id, expected_version or 0, record.version)
        if title is not None:
            await self.rename(universe_id, title, actor=actor)

    async def put(
        self, universe_id: str, state: Any, *, expected_version: int | None = None, actor: Actor | None = None
    ) -> ChangeResult:
        """Replace the whole state, its time too; values that differ from those cited lose their sources.

        Raise MalformedState, UniverseNotFound or VersionConflict.
        """
        plain = await parse_plain_state(state)
        return await self._submit_and_wait(
            universe_id, ChangeRequest(Restore(plain, "put"), self._make_author(actor), expected_version)
        )

    async def undo(
        self, universe_id: str, *, expected_version: int | None = None, actor: Actor | None = None
    ) -> ChangeResult:
        """Undo the last change that is not undone yet. Raise NothingToUndo or VersionConflict."""

        async def find_undone_state(version: int) -> Return:
            target = await self._find_undo_version(universe_id, version)
            if target < 0:
                raise NothingToUndo(
                    "Nothing is left to undo.", hint="The history lists all changes.", universeId=universe_id
                )
            return Return("undo", target, await self._cache.find_earlier_state(universe_id, target))

        return await self._submit_and_wait(
            universe_id,
            ChangeRequest(DeferredReturn(find_undone_state), self._make_author(actor), expected_version),
        )

    async def restore(
        self, universe_id: str, version: int, *, expected_version: int | None = None, actor: Actor | None = None
    ) -> ChangeResult:
        """Restore the state of an earlier version as a new change. Raise VersionNotFound or VersionConflict."""

        async def find_restored_state(current: int) -> Return:
            check_version_exists(universe_id, version, current)
            return Return("restore", version, await self._cache.find_earlier_state(universe_id, version))

        return await self._submit_and_wait(
            universe_id,
            ChangeRequest(DeferredReturn(find_restored_state), self._make_author(actor), expected_version),
        )

    async def branch(
        self, universe_id: str, *, version: int | None = None, name: Any = None, actor: Actor | None = None
    ) -> UniverseRecord:
        """Create a universe with the state of another at a version. Raise UniverseNotFound or VersionNotFound."""
        actor = actor or self.actor
        source = await self.read_record(universe_id)
        if version is None or version == source.version:
            view = await self.view(universe_id)
            source, state = view.record, view.replica.state
        else:
            check_version_exists(universe_id, version, source.version)
            source = source._replace(version=version)
            state = (await self._cache.find_earlier_state(universe_id, version)).state
        title = name if name is not None else f"{source.name} (at {source.version})"[:NAME_CHARS]
        at = format_iso(self._clock.now())
        branch_id = new_id("uni")
        start = BranchSource(source.id, source.created_at, source.version)
        entries: list[StoredEntry] = []
        if any(state):
            events = orjson.dumps([{"type": "stateRestored", "reason": "branch"}])
            body = encode_branch_body(start)
            author = make_author(actor)
            entries = [StoredEntry.make_with_digest(branch_id, 1, "reference", body, events, at, *author)]
        created_by = actor.model_dump_json()
        record = UniverseRecord(branch_id, check_and_strip_name(title), len(entries), at, at, created_by)
        await self.store.create(record, entries, source=start if entries else None)
        self._feed.publish("universe", branch_id, version=record.version, created=True)
        return record

    @asynccontextmanager
    async def keep_in_memory(self, universe_id: str) -> AsyncGenerator[LiveUniverse]:
        """Keep a universe in memory, for its feed, until the block ends. Raise UniverseNotFound."""
        live = await self._cache.get_or_load_current(await self.read_record(universe_id))
        live.subscribers += 1
        try:
            yield live
        finally:
            live.subscribers -= 1

    def add_change_listener(self, listener: Callable[[LogChange], None]) -> Callable[[], None]:
        """Call `listener` for every change of any universe until the returned function is called."""
        self._listeners.add(listener)
        return lambda: self._listeners.discard(listener)

    def wake_event_streams(self) -> None:
        """Send a heartbeat to all event streams. Call this at regular intervals."""
        self._cache.wake_event_streams()

    async def ping(self) -> None:
        """Raise StoreUnavailable unless the database can be read and written."""
        await self.store.ping()

    def _make_author(self, actor: Actor | None) -> StoredAuthor:
        """Return the author of a change for its actor, or for that of the service."""
        return make_author(actor or self.actor)

    async def _create_with_state(
        self, name: Any, plain: Plain, reason: RestoreReason, universe_id: Any, actor: Actor
    ) -> UniverseRecord:
        at = format_iso(self._clock.now())
        universe_id = check_universe_id(universe_id) if universe_id is not None else new_id("uni")
        entries: list[StoredEntry] = []
        if any(plain.values()):
            restore = Restore(plain, reason)
            events = orjson.dumps([restore.make_event()])
            body, author = restore.encode_body(), make_author(actor)
            entries = [StoredEntry.make_with_digest(universe_id, 1, "restore", body, events, at, *author)]
        record = UniverseRecord(universe_id, check_and_strip_name(name), len(entries), at, at, actor.model_dump_json())
        await self.store.create(record, entries)
        self._feed.publish("universe", universe_id, version=record.version, created=True)
        return record

    async def _submit_and_wait(self, universe_id: str, request: ChangeRequest) -> ChangeResult:
        for _ in range(_ATTEMPTS):
            live = await self._cache.get_or_load(universe_id)
            try:
                return await live.submit(request)
            except RequestRepeated as repeated:
                return await self._rebuild_earlier_result(live, repeated.use)
            except UniverseNotFound:
                self._cache.drop_deleted(universe_id)
                await self.read_record(universe_id)  # raises unless a new universe has the same id
        raise TooBusy(
            "This universe is deleted and created again all the time.", hint="Try again.", universeId=universe_id
        )

    async def _rebuild_earlier_result(self, live: LiveUniverse, use: KeyUse) -> ChangeResult:
        """Return the result of an earlier request once more."""
        then = await rebuild_replica(self.store, live.id, use.first - 1)
        before = then.state
        events: list[Event] = []
        async for entries in read_entry_pages(self.store, live.id, after=use.first - 1, upto=use.last):
            then.apply_entries(entries)
            events += [event for entry in entries for event in orjson.loads(entry.events)]
        return ChangeResult(use.last, then.state, events, compare_states(before, then.state), live.replica, before)

    async def _find_undo_version(self, universe_id: str, version: int) -> int:
        """Return the version before the last change that is not undone; -1 if there is none."""
        while version > 0:
            start = await self.store.find_change_start(universe_id, version)
            if start is None:
                raise UniverseNotFound(universe_id)
            if not start.is_restore:
                return start.version - 1  # commands of one list are undone together
            (event,) = orjson.loads(start.events)
            if event["reason"] in ("create", "branch"):
                return -1
            if event["reason"] != "undo":
                return start.version - 1
            version = event["toVersion"]
        return -1

    async def _free_branches_and_delete(self, universe_id: str, actor: Actor) -> bool:
        """Delete a universe after its branches have snapshots of their own. Return False if it does not exist."""
        for _ in range(_ATTEMPTS):
            for branch_id in await self.store.list_dependent_branches(universe_id):
                replica = await self._cache.rebuild_replica_at(branch_id, 1)
                state = await asyncio.to_thread(encode_state, replica.mirror.to_plain())
                await self.store.put_snapshot(branch_id, StoredSnapshot.make_with_digest(branch_id, 1, state))
            try:
                return await self.store.delete(universe_id, format_iso(self._clock.now()), actor.model_dump_json())
            except BranchesDepend:
                continue
        raise TooBusy("This universe is branched all the time.", hint="Try again.", universeId=universe_id)

    async def _apply_and_forward_changes(self) -> None:
        async for change in self.store.watch_changes():
            try:
                await self._cache.apply_stored_change(change)
                for listener in list(self._listeners):
                    listener(change)
            except UraniborgError as exc:
                _log.warning("not caught up", universe=change.universe_id, code=exc.code)
            except Exception as exc:  # an error must not stop later changes
                _log.exception("change not published", exc=exc, universe=change.universe_id)
