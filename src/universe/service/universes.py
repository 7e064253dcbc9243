"""The one service behind REST, MCP and the command line: it makes, changes, reads and removes universes."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, Final, NamedTuple

import orjson

from universe.domain.citations import mark_imported, name_universe
from universe.domain.events import Event
from universe.domain.state import Plain
from universe.domain.suggestions import nearest_entities
from universe.errors import (
    LogDamaged,
    NothingToUndo,
    TooBusy,
    UniverseNotFound,
    VersionConflict,
    VersionNotFound,
)
from universe.service.asking import (
    LIST_COMMANDS,
    NAME_CHARS,
    checked_author,
    checked_id,
    checked_key,
    checked_name,
    commands_in,
    plain_state,
)
from universe.service.batch import changed_between
from universe.service.live import LiveUniverse
from universe.service.results import Ask, GoBack, Repeated, Restore, RestoreReason, Result
from universe.store.port import Change, Entry, KeyUse, Record, Store
from universe.store.rebuilding import Replica, pages, rebuild
from uraniborg.kernel.clock import Clock, SystemClock, iso
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.ids import new_id
from uraniborg.kernel.logging import get_logger

KEPT_LIVE: Final = 64
"""How many universes nobody is using stay in memory."""
SNAPSHOT_EVERY: Final = 500
PYTHON_API: Final = "Python API"
"""The author of changes whose maker does not say who it is."""
_ATTEMPTS: Final = 20
_NAMED: Final = 10
_SEARCHED: Final = 1_000

_log = get_logger(__name__)


class Seen(NamedTuple):
    """A universe as it was when asked for: what is known of it, and its state at `version`."""

    record: Record
    version: int
    replica: Replica


class UniverseService:
    """Opens with the store and closes with it."""

    def __init__(
        self,
        store: Store,
        *,
        clock: Clock | None = None,
        snapshot_every: int = SNAPSHOT_EVERY,
        author: str = PYTHON_API,
    ) -> None:
        """`author` is recorded with each change that does not name its own. Raises MalformedRequest."""
        self.store = store
        self._author = checked_author(author)
        self._clock = clock or SystemClock()
        self._snapshot_every = snapshot_every
        self._live: OrderedDict[str, LiveUniverse] = OrderedDict()
        self._loading: dict[str, asyncio.Task[LiveUniverse]] = {}
        self._listeners: set[Callable[[Change], None]] = set()
        self._watching: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def running(self) -> AsyncGenerator["UniverseService"]:
        """Open the store, and watch what others do in it, until the block ends."""
        await self.store.open()
        self._watching = asyncio.create_task(self._watch())
        try:
            yield self
        finally:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
            for live in self._live.values():
                await live.settle()
            self._live.clear()
            await self.store.close()

    async def create(
        self, name: Any, state: Any = None, *, universe_id: Any = None, author: str | None = None
    ) -> Record:
        """A new universe. Raises MalformedRequest, MalformedState, or Conflict if there is one of this id."""
        plain = await plain_state(state)
        plain = {**plain, "stars": {key: mark_imported(body) for key, body in plain["stars"].items()}}
        return await self._create(name, plain, "create", universe_id, author)

    async def records(self, *, limit: int, before: tuple[str, str] | None = None) -> list[Record]:
        """The newest first."""
        return await self.store.records(limit=limit, before=before)

    async def record(self, universe_id: str) -> Record:
        """Raises UniverseNotFound."""
        record = await self.store.record(universe_id)
        if record is None:
            self._forget(universe_id)
            records = await self.store.records(limit=_SEARCHED)
            nearest = nearest_entities(universe_id, {one.id: {"name": one.name} for one in records})
            raise UniverseNotFound(universe_id, [one.id for one in records[:_NAMED]], nearest)
        return record

    async def rename(self, universe_id: str, name: Any) -> None:
        """Raises UniverseNotFound or MalformedRequest."""
        if not await self.store.rename(universe_id, checked_name(name), iso(self._clock.now())):
            raise UniverseNotFound(universe_id)

    async def delete(self, universe_id: str) -> None:
        """Raises UniverseNotFound."""
        if not await self.store.delete(universe_id):
            raise UniverseNotFound(universe_id)
        self._forget(universe_id)

    async def look(self, universe_id: str, version: int | None = None) -> Seen:
        """The universe as it is now, or as it was. Raises UniverseNotFound, VersionNotFound or LogDamaged."""
        record = await self.record(universe_id)
        if version is not None and version != record.version:
            _check_version(universe_id, version, record.version)
            return Seen(record, version, await self._at(universe_id, version))
        live = await self._present(record)
        if version is not None and version != live.replica.version:  # it has moved on meanwhile
            return Seen(record, version, await self._at(universe_id, version))
        return Seen(record._replace(version=live.replica.version), live.replica.version, live.replica)

    async def history(self, universe_id: str, *, after: int = 0, limit: int = 100) -> list[Entry]:
        """Entries of the log, in order. Raises UniverseNotFound."""
        await self.record(universe_id)
        return await self.store.entries(universe_id, after=after, limit=limit)

    async def send(
        self,
        universe_id: str,
        command: Any,
        *,
        expected_version: int | None = None,
        key: str | None = None,
        author: str | None = None,
    ) -> Result:
        """Apply a command, or a list of commands of which all or none take effect, and record who sent it.

        Raises MalformedCommand, UnknownCommand, UniverseNotFound, CommandRefused, VersionConflict or KeyReused; all of
        them name the universe.
        """
        try:
            ask = Ask(await commands_in(command), self._author_of(author), expected_version, checked_key(key))
            return await self._submit(universe_id, ask)
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
        author: str | None = None,
    ) -> None:
        """Rename a universe, or replace its state, or both. Raises as `rename` and `put` do, before either is done."""
        title = checked_name(name) if name is not None else None
        record = await self.record(universe_id)
        if state is not None:
            await self.put(universe_id, state, expected_version=expected_version, author=author)
        elif expected_version not in (None, record.version):
            raise VersionConflict(universe_id, expected_version or 0, record.version)
        if title is not None:
            await self.rename(universe_id, title)

    async def put(
        self, universe_id: str, state: Any, *, expected_version: int | None = None, author: str | None = None
    ) -> Result:
        """Replace the whole state, its time too; values that differ from those cited lose their sources.

        Raises MalformedState, UniverseNotFound or VersionConflict.
        """
        plain = await plain_state(state)
        return await self._submit(universe_id, Ask(Restore(plain, "put"), self._author_of(author), expected_version))

    async def undo(self, universe_id: str, *, expected_version: int | None = None, author: str | None = None) -> Result:
        """Go back by one change that stands; again, by one more. Raises NothingToUndo or VersionConflict."""

        async def before(version: int) -> Restore:
            target = await self._undone(universe_id, version)
            if target < 0:
                raise NothingToUndo("Nothing is left to undo.", hint="History shows what was.", universeId=universe_id)
            return Restore((await self._at(universe_id, target)).mirror.plain(), "undo", target)

        return await self._submit(universe_id, Ask(GoBack(before), self._author_of(author), expected_version))

    async def restore(
        self, universe_id: str, version: int, *, expected_version: int | None = None, author: str | None = None
    ) -> Result:
        """Go back to how it was at a version, or forward again. Raises VersionNotFound or VersionConflict."""

        async def there(present: int) -> Restore:
            _check_version(universe_id, version, present)
            return Restore((await self._at(universe_id, version)).mirror.plain(), "restore", version)

        return await self._submit(universe_id, Ask(GoBack(there), self._author_of(author), expected_version))

    async def branch(
        self, universe_id: str, *, version: int | None = None, name: Any = None, author: str | None = None
    ) -> Record:
        """A new universe that begins as this one was at a version. Raises UniverseNotFound or VersionNotFound."""
        seen = await self.look(universe_id, version)
        title = name if name is not None else f"{seen.record.name} (at {seen.version})"[:NAME_CHARS]
        plain = name_universe(seen.replica.mirror.plain(), seen.record.id)
        return await self._create(title, plain, "branch", None, author)

    @asynccontextmanager
    async def listening(self, universe_id: str) -> AsyncGenerator[LiveUniverse]:
        """The universe, kept in memory for as long as the block lasts. Raises UniverseNotFound."""
        live = await self._present(await self.record(universe_id))
        live.subscribers += 1
        try:
            yield live
        finally:
            live.subscribers -= 1

    def on_change(self, listener: Callable[[Change], None]) -> Callable[[], None]:
        """Have `listener` told of every change of any universe, until the function returned is called."""
        self._listeners.add(listener)
        return lambda: self._listeners.discard(listener)

    def beat(self) -> None:
        """To be called now and then: keeps streams alive."""
        for live in self._live.values():
            live.beat()

    async def ping(self) -> None:
        """Raises StoreUnavailable."""
        await self.store.ping()

    def _author_of(self, author: str | None) -> str:
        return self._author if author is None else checked_author(author)

    async def _create(
        self, name: Any, plain: Plain, reason: RestoreReason, universe_id: Any, author: str | None
    ) -> Record:
        at = iso(self._clock.now())
        universe_id = checked_id(universe_id) if universe_id is not None else new_id("uni")
        entries: list[Entry] = []
        if any(plain.values()):
            restore = Restore(plain, reason)
            events = orjson.dumps([restore.event()])
            sealed = Entry.sealed(universe_id, 1, "restore", restore.body(), events, at, self._author_of(author))
            entries = [sealed]
        record = Record(universe_id, checked_name(name), len(entries), at, at)
        await self.store.create(record, entries)
        return record

    async def _submit(self, universe_id: str, ask: Ask) -> Result:
        for _ in range(_ATTEMPTS):
            live = await self._opened(universe_id)
            try:
                return await live.submit(ask)
            except Repeated as repeated:
                return await self._repeat(live, repeated.use)
            except UniverseNotFound:
                self._forget(universe_id)
                await self.record(universe_id)  # there is another of the same id, made since
        raise TooBusy("This universe is made anew all the time.", hint="Try again.", universeId=universe_id)

    async def _repeat(self, live: LiveUniverse, use: KeyUse) -> Result:
        """The answer that was given before."""
        then = await rebuild(self.store, live.id, use.first - 1)
        before = then.state
        events: list[Event] = []
        async for entries in pages(self.store, live.id, after=use.first - 1, upto=use.last):
            then.take(entries)
            events += [event for entry in entries for event in orjson.loads(entry.events)]
        return Result(use.last, then.state, events, changed_between(before, then.state), live.replica, before)

    async def _opened(self, universe_id: str) -> LiveUniverse:
        """The universe in memory; it may be behind, which its next append would notice."""
        live = self._live.get(universe_id)
        if live is None or live.is_gone:
            live = await self._load(await self.record(universe_id))
        return self._kept(live)

    def _kept(self, live: LiveUniverse) -> LiveUniverse:
        """The universe, which may have been forgotten while nobody had it yet, is in use now."""
        live = self._live.setdefault(live.id, live)
        self._live.move_to_end(live.id)
        return live

    async def _present(self, record: Record) -> LiveUniverse:
        known = self._live.get(record.id)
        if known is not None and known.made_at != record.created_at:  # deleted and made anew elsewhere
            self._forget(record.id)
        live = await self._opened(record.id)
        if live.replica.version < record.version:
            await live.catch_up()
        return self._kept(live)

    def _forget(self, universe_id: str) -> None:
        if live := self._live.pop(universe_id, None):
            live.gone()

    async def _load(self, record: Record) -> LiveUniverse:
        """Reads it once, however many ask at the same time."""
        task = self._loading.get(record.id)
        if task is None:
            task = self._loading[record.id] = asyncio.create_task(self._read(record))
            task.add_done_callback(lambda _: self._loading.pop(record.id, None))
        return await asyncio.shield(task)

    async def _read(self, record: Record) -> LiveUniverse:
        replica = await self._at(record.id, record.version)
        live = LiveUniverse(
            self.store, self._clock, replica, made_at=record.created_at, snapshot_every=self._snapshot_every
        )
        self._live[record.id] = live
        self._forget_idle()
        return live

    def _forget_idle(self) -> None:
        spare = len(self._live) - KEPT_LIVE
        idle = [universe_id for universe_id, live in list(self._live.items())[:-1] if live.is_idle]
        for universe_id in idle[: max(spare, 0)]:
            del self._live[universe_id]

    async def _at(self, universe_id: str, version: int) -> Replica:
        try:
            return await rebuild(self.store, universe_id, version)
        except LogDamaged:
            # What was deleted meanwhile, and perhaps made anew, is not damaged.
            _check_version(universe_id, version, (await self.record(universe_id)).version)
            return await rebuild(self.store, universe_id, version)

    async def _undone(self, universe_id: str, version: int) -> int:
        """The version before the last change that stands; -1 if none does."""
        while version > 0:
            first = max(0, version - LIST_COMMANDS)
            entries = [one async for page in pages(self.store, universe_id, after=first, upto=version) for one in page]
            if not entries:
                raise UniverseNotFound(universe_id)
            last = entries[-1]
            if last.kind != "restore":
                # What took effect together is undone together.
                return next(entry.version for entry in reversed(entries) if entry.kind != "continued") - 1
            (event,) = orjson.loads(last.events)
            if event["reason"] in ("create", "branch"):
                return -1
            if event["reason"] != "undo":
                return version - 1
            version = event["toVersion"]
        return -1

    async def _watch(self) -> None:
        async for change in self.store.changes():
            try:
                await self._follow(change)
                for listener in list(self._listeners):
                    listener(change)
            except UraniborgError as exc:
                _log.warning("not caught up", universe=change.universe_id, code=exc.code)
            except Exception as exc:  # whatever it is, the next change must be told
                _log.exception("change not told", exc=exc, universe=change.universe_id)

    async def _follow(self, change: Change) -> None:
        """Take over what somebody did, perhaps in another process."""
        live = self._live.get(change.universe_id)
        if live is None or (change.version is not None and live.replica.version >= change.version):
            return
        record = await self.store.record(change.universe_id)
        if record is None or record.created_at != live.made_at:
            self._forget(change.universe_id)
        else:
            await live.catch_up()


def _check_version(universe_id: str, version: int, present: int) -> None:
    if not 0 <= version <= present:
        raise VersionNotFound(
            f"Universe {universe_id[:100]} has no version {version}.",
            hint=f"There are versions 0 to {present}.",
            universeId=universe_id[:100],
            allowed=f"from 0 to {present}",
        )
