"""The one service behind REST, MCP and the command line: it makes, changes, reads and removes universes."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any, Final, NamedTuple, cast

import orjson

from universe.domain.commands import Command, parse_command
from universe.domain.state import EMPTY, Plain, checked_state
from universe.errors import (
    MalformedCommand,
    MalformedRequest,
    NothingToUndo,
    TooBusy,
    UniverseNotFound,
    VersionConflict,
    VersionNotFound,
)
from universe.service.live import LiveUniverse, timestamp
from universe.service.results import Ask, Restore, RestoreReason, Result
from universe.store.port import Change, Entry, Record, Store
from universe.store.rebuilding import Replica, rebuild
from uraniborg.kernel.clock import Clock, SystemClock
from uraniborg.kernel.errors import UraniborgError
from uraniborg.kernel.ids import new_id
from uraniborg.kernel.logging import get_logger

NAME_CHARS: Final = 200
ID_CHARS: Final = 200
KEY_CHARS: Final = 200
LIST_COMMANDS: Final = 10_000
"""The most commands that are applied together."""
KEPT_LIVE: Final = 64
"""How many universes nobody is using stay in memory."""
SNAPSHOT_EVERY: Final = 500
_ATTEMPTS: Final = 20
_LIGHT: Final = 50
_HEAVY: Final = ("replaceSnapshot", "setSmallBodyFields", "setProtoplanetaryDisks", "setNebulae")

Commands = list[Command]

_log = get_logger(__name__)


class Seen(NamedTuple):
    """A universe as it was when asked for: what is known of it, and its state at `version`."""

    record: Record
    version: int
    replica: Replica


class UniverseService:
    """Opens with the store and closes with it."""

    def __init__(self, store: Store, *, clock: Clock | None = None, snapshot_every: int = SNAPSHOT_EVERY) -> None:
        self.store = store
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

    # What there is

    async def create(self, name: Any, state: Any = None, *, universe_id: Any = None) -> Record:
        """A new universe. Raises MalformedRequest, MalformedState, or Conflict if there is one of this id."""
        plain = await _plain_state(state)
        return await self._create(name, plain, "create", universe_id)

    async def records(self, *, limit: int, before: tuple[str, str] | None = None) -> list[Record]:
        """The newest first."""
        return await self.store.records(limit=limit, before=before)

    async def record(self, universe_id: str) -> Record:
        """Raises UniverseNotFound."""
        record = await self.store.record(universe_id)
        if record is None:
            self._forget(universe_id)
            raise UniverseNotFound(universe_id)
        return record

    async def rename(self, universe_id: str, name: Any) -> None:
        """Raises UniverseNotFound or MalformedRequest."""
        if not await self.store.rename(universe_id, _checked_name(name), timestamp(self._clock)):
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
            return Seen(record, version, await self._at(record, version))
        live = await self._present(record)
        return Seen(record._replace(version=live.replica.version), live.replica.version, live.replica)

    async def history(self, universe_id: str, *, after: int = 0, limit: int = 100) -> list[Entry]:
        """Entries of the log, in order. Raises UniverseNotFound."""
        await self.record(universe_id)
        return await self.store.entries(universe_id, after=after, limit=limit)

    # How it changes

    async def send(
        self, universe_id: str, command: Any, *, expected_version: int | None = None, key: str | None = None
    ) -> Result:
        """Apply a command, or a list of commands of which all or none take effect.

        Raises MalformedCommand, UnknownCommand, UniverseNotFound, CommandRefused, VersionConflict or KeyReused; all of
        them name the universe.
        """
        try:
            commands = await asyncio.to_thread(_parsed, command) if _is_heavy(command) else _parsed(command)
            ask = Ask(commands, expected_version, _checked_key(key))
            live = await self._opened(universe_id)
            return await live.submit(ask)
        except UraniborgError as exc:
            exc.ids.setdefault("universeId", universe_id[:100])
            raise

    async def put(self, universe_id: str, state: Any, *, expected_version: int | None = None) -> Result:
        """Replace the whole state, its time too. Raises MalformedState, UniverseNotFound or VersionConflict."""
        plain = await _plain_state(state)
        live = await self._opened(universe_id)
        return await live.submit(Ask(Restore(plain, "put"), expected_version))

    async def undo(self, universe_id: str, *, expected_version: int | None = None) -> Result:
        """Go back by one change; again, by one more. Raises NothingToUndo or VersionConflict."""

        async def before(record: Record) -> int:
            target = await self._undone(record)
            if target < 0:
                raise NothingToUndo("Nothing is left to undo.", hint="History shows what was.", universeId=universe_id)
            return target

        return await self._go_back(universe_id, before, "undo", expected_version)

    async def restore(self, universe_id: str, version: int, *, expected_version: int | None = None) -> Result:
        """Go back to how it was at a version, or forward again. Raises VersionNotFound or VersionConflict."""

        async def there(_record: Record) -> int:
            return version

        return await self._go_back(universe_id, there, "restore", expected_version)

    async def branch(self, universe_id: str, *, version: int | None = None, name: Any = None) -> Record:
        """A new universe that begins as this one was at a version. Raises UniverseNotFound or VersionNotFound."""
        seen = await self.look(universe_id, version)
        title = name if name is not None else f"{seen.record.name} (at {seen.version})"[:NAME_CHARS]
        return await self._create(title, seen.replica.mirror.plain(), "branch", None)

    # Who listens

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

    # Inside

    async def _create(self, name: Any, plain: Plain, reason: RestoreReason, universe_id: Any) -> Record:
        at = timestamp(self._clock)
        universe_id = _checked_id(universe_id) if universe_id is not None else new_id("uni")
        entries: list[Entry] = []
        if any(plain.values()):
            restore = Restore(plain, reason)
            events = orjson.dumps([restore.event()])
            entries = [Entry.sealed(universe_id, 1, "restore", restore.body(), events, at)]
        record = Record(universe_id, _checked_name(name), len(entries), at, at)
        await self.store.create(record, entries)
        return record

    async def _opened(self, universe_id: str) -> LiveUniverse:
        """The universe in memory; it may be behind, which its next append would notice."""
        if (live := self._live.get(universe_id)) is not None and not live.is_gone:
            self._live.move_to_end(universe_id)
            return live
        return await self._load(await self.record(universe_id))

    async def _present(self, record: Record) -> LiveUniverse:
        live = self._live.get(record.id)
        if live is not None and live.made_at != record.created_at:  # deleted and made anew elsewhere
            self._forget(record.id)
        live = await self._opened(record.id)
        if live.replica.version < record.version:
            await live.catch_up()
        return live

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
        replica = await rebuild(self.store, record.id, record.version)
        live = LiveUniverse(
            self.store, self._clock, replica, made_at=record.created_at, snapshot_every=self._snapshot_every
        )
        self._live[record.id] = live
        self._forget_idle()
        return live

    def _forget_idle(self) -> None:
        spare = len(self._live) - KEPT_LIVE
        for universe_id in [one for one, live in self._live.items() if live.is_idle][: max(spare, 0)]:
            del self._live[universe_id]

    async def _at(self, record: Record, version: int) -> Replica:
        if not 0 <= version <= record.version:
            raise VersionNotFound(
                f"Universe {record.id} has no version {version}.",
                hint=f"There are versions 0 to {record.version}.",
                universeId=record.id,
                allowed=f"from 0 to {record.version}",
            )
        return await rebuild(self.store, record.id, version)

    async def _go_back(
        self, universe_id: str, target: Callable[[Record], Any], reason: RestoreReason, expected: int | None
    ) -> Result:
        for _ in range(_ATTEMPTS):
            record = await self.record(universe_id)
            if expected is not None and expected != record.version:
                raise VersionConflict(universe_id, expected, record.version)
            version = await target(record)
            then = await self._at(record, version)
            live = await self._present(record)
            try:
                return await live.submit(Ask(Restore(then.mirror.plain(), reason, version), record.version))
            except VersionConflict:
                continue  # somebody changed it meanwhile, and what is undone is the last thing done
        raise TooBusy("Others change this universe all the time.", hint="Try again.", universeId=universe_id)

    async def _undone(self, record: Record) -> int:
        """The version that undoing leads to: the one before the last change that was no undoing; -1 if none is left."""
        version = record.version
        if version == 0:
            return -1
        (entry,) = await self.store.entries(record.id, after=version - 1, limit=1)
        if entry.kind == "restore":
            (event,) = orjson.loads(entry.events)
            if event["reason"] == "undo":
                return event["toVersion"] - 1
        return version - 1

    async def _watch(self) -> None:
        async for change in self.store.changes():
            try:
                await self._follow(change)
            except UraniborgError as exc:
                _log.warning("not caught up", universe=change.universe_id, code=exc.code)
            for listener in list(self._listeners):
                listener(change)

    async def _follow(self, change: Change) -> None:
        """Take over what somebody did, perhaps in another process."""
        live = self._live.get(change.universe_id)
        if live is None:
            return
        if change.version is None:
            record = await self.store.record(change.universe_id)
            if record is None or record.created_at != live.made_at:
                self._forget(change.universe_id)
        elif live.replica.version < change.version:
            await live.catch_up()


def _is_heavy(command: Any) -> bool:
    """Whether checking it would keep everybody else waiting."""
    if isinstance(command, list):
        return len(cast("list[Any]", command)) > _LIGHT
    return isinstance(command, dict) and cast("dict[str, Any]", command).get("type") in _HEAVY


def _parsed(command: Any) -> Commands:
    if not isinstance(command, list):
        return [parse_command(command)]
    given = cast("Commands", command)
    if not 1 <= len(given) <= LIST_COMMANDS:
        raise MalformedCommand("", "is an empty or too long list", allowed=f"1 to {LIST_COMMANDS:,} commands")
    parsed: Commands = []
    for index, one in enumerate(given):
        try:
            parsed.append(parse_command(one))
        except UraniborgError as exc:
            exc.ids["index"] = index
            raise
    return parsed


async def _plain_state(given: Any) -> Plain:
    return EMPTY.plain() if given is None else await asyncio.to_thread(checked_state, given)


def _checked_name(name: Any) -> str:
    if not isinstance(name, str) or not name.strip() or len(name.strip()) > NAME_CHARS:
        raise MalformedRequest(
            f"name must be text of 1 to {NAME_CHARS} characters.",
            hint="It is what people call the universe; its id is made for it.",
            argument="name",
            allowed=f"1 to {NAME_CHARS} characters",
        )
    return name.strip()


def _checked_id(universe_id: Any) -> str:
    if (
        not isinstance(universe_id, str)
        or not universe_id
        or len(universe_id) > ID_CHARS
        or not universe_id.isprintable()
        or "/" in universe_id
    ):
        raise MalformedRequest(
            f"An id has 1 to {ID_CHARS} printable characters and no slash.",
            hint="Leave it out to have one made.",
            argument="id",
            allowed=f"1 to {ID_CHARS} printable characters without a slash",
        )
    return universe_id


def _checked_key(key: str | None) -> str | None:
    if key is not None and not 1 <= len(key) <= KEY_CHARS:
        raise MalformedRequest(
            f"An idempotency key has 1 to {KEY_CHARS} characters.",
            hint="A UUID for each request is usual.",
            argument="Idempotency-Key",
            allowed=f"1 to {KEY_CHARS} characters",
        )
    return key
