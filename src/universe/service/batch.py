"""Requests to change a universe, and a batch that applies several in order and writes them together."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from typing import Literal, NamedTuple

import orjson

from universe.domain.command_results import Event, is_refusal, make_refusal_error
from universe.domain.commands import Command
from universe.domain.provenance.provenance_tracking import ChangeOrigin, update_replaced_state_provenance
from universe.domain.reducer import reduce
from universe.domain.state import (
    ENTITY_KINDS,
    Plain,
    State,
    Touched,
    add_to_touched,
    list_touches_of_replacement,
    make_state_from_plain,
)
from universe.errors import KeyReused, VersionConflict
from universe.store.interface import BranchSource, EntryKind, KeyUse, StoredEntry
from universe.store.log_encoding import StoredAuthor, encode_json, move_citations_out
from universe.store.recent_changes import EarlierState, RecentChange
from universe.store.replica import Replica
from uraniborg.kernel.errors import UraniborgError

RestoreReason = Literal["create", "put", "undo", "restore", "branch"]


class Restore(NamedTuple):
    """A request to replace the current state by a new one."""

    plain: Plain
    reason: RestoreReason

    def make_event(self) -> Event:
        return {"type": "stateRestored", "reason": self.reason}

    def encode_body(self) -> bytes:
        """Return the body of the log entry."""
        return encode_json({"reason": self.reason, "toVersion": None, "state": move_citations_out(self.plain)})


class Return(NamedTuple):
    """A request to return to the state of an earlier version, which is in memory or was rebuilt."""

    reason: RestoreReason
    to_version: int
    earlier: EarlierState | Replica

    def make_event(self) -> Event:
        return {"type": "stateRestored", "reason": self.reason, "toVersion": self.to_version}

    def encode_body(self) -> bytes:
        """Return the body of the log entry, which refers to the version."""
        return orjson.dumps({"reason": self.reason, "toVersion": self.to_version})


def encode_branch_body(source: BranchSource) -> bytes:
    """Return the body of the first log entry of a branch, which refers to its source."""
    return orjson.dumps(
        {
            "reason": "branch",
            "source": {"id": source.universe_id, "createdAt": source.created_at, "version": source.version},
        }
    )


class DeferredReturn(NamedTuple):
    """A request to return to an earlier state; `find` finds it for the version that the universe then has."""

    find: Callable[[int], Awaitable[Return]]


class ChangeResult(NamedTuple):
    """The result of a change: the version and state after it, the events, and the entities touched."""

    version: int
    state: State
    events: list[Event]
    touched: Touched
    replica: Replica
    """The changed universe, which may have newer changes by now."""
    before: State


class ChangeRequest(NamedTuple):
    """A request for a change: commands, of which all or none take effect, or a state to restore."""

    change: list[Command] | Restore | Return | DeferredReturn
    author: StoredAuthor
    expected_version: int | None = None
    key: str | None = None

    def compute_digest(self) -> bytes:
        """Return the digest of the request, to compare requests with the same idempotency key."""
        assert isinstance(self.change, list)
        content = orjson.dumps(self.change)
        return hashlib.blake2b(content, digest_size=16).digest()


class RequestRepeated(UraniborgError):
    """A request with an idempotency key that was answered before; the caller gets the earlier answer."""

    code = "repeated"

    def __init__(self, use: KeyUse) -> None:
        super().__init__("This request was answered before.")
        self.use = use


PendingChange = tuple[ChangeRequest, asyncio.Future[ChangeResult]]
"""A request that waits for its turn, and the future for its result."""


Outcome = ChangeResult | Exception


class _Replacement(NamedTuple):
    """A change of the whole state: the state and the version after it."""

    change: Restore | Return
    state: State
    version: int


class ChangeBatch:
    """Changes of a universe that are computed and not yet written."""

    def __init__(self, replica: Replica, at: str) -> None:
        self.entries: list[StoredEntry] = []
        self.uses: dict[str, KeyUse] = {}
        self.outcomes: list[tuple[asyncio.Future[ChangeResult], Outcome]] = []
        self._id = replica.id
        self._replica = replica
        self._state, self._version = replica.state, replica.version
        self._steps: list[RecentChange] = []
        """The commands since the last replacement of the state."""
        self._changes: list[list[RecentChange] | _Replacement] = [self._steps]
        self._results: dict[str, ChangeResult] = {}
        self._at = at

    def find_earlier_result(self, request: ChangeRequest) -> ChangeResult | None:
        """Return the result of an earlier request of this batch with the same key, or None. Raise KeyReused."""
        if request.key is None or request.key not in self._results:
            return None
        check_same_request(self.uses[request.key], request)
        return self._results[request.key]

    def add_request(self, request: ChangeRequest) -> ChangeResult:
        """Add a request and return its result. Raise CommandRefused or VersionConflict."""
        if request.expected_version is not None and request.expected_version != self._version:
            raise VersionConflict(self._id, request.expected_version, self._version)
        first = self._version + 1
        if isinstance(request.change, list):
            result = self._add_commands(request.change, request.author)
        elif isinstance(request.change, Restore):
            result = self._add_restore(request.change, request.author)
        else:
            assert isinstance(request.change, Return)
            result = self._add_return(request.change, request.author)
        if request.key is not None:
            self.uses[request.key] = KeyUse(request.key, request.compute_digest(), first, result.version)
            self._results[request.key] = result
        return result

    def apply_to(self, replica: Replica) -> None:
        """Apply the changes of this batch, which was written, to the replica."""
        for change in self._changes:
            if isinstance(change, _Replacement):
                _replace_state(replica, *change)
            elif change:
                replica.advance_through(change)

    def _add_commands(self, commands: list[Command], author: StoredAuthor) -> ChangeResult:
        before = state = self._state
        version = self._version
        all_events: list[Event] = []
        all_touched: Touched = {}
        entries: list[StoredEntry] = []
        for index, command in enumerate(commands):
            after, events, touched = reduce(state, command, ChangeOrigin(version + 1, author.name))
            if events and is_refusal(events[0]):
                position = {"index": index} if len(commands) > 1 else {}
                raise make_refusal_error(events[0], state, universeId=self._id, command=command["type"], **position)
            state, version = after, version + 1
            kind = "continued" if index else "command"
            body = orjson.dumps(command)
            entries.append(
                StoredEntry.make_with_digest(self._id, version, kind, body, orjson.dumps(events), self._at, *author)
            )
            if index:
                all_events += events
                add_to_touched(all_touched, touched)
            else:
                all_events, all_touched = events, touched
        self._state, self._version = state, version
        self._steps.append(RecentChange(version, state, all_touched))
        self.entries += entries
        return ChangeResult(version, state, all_events, all_touched, self._replica, before)

    def _add_restore(self, restore: Restore, author: StoredAuthor) -> ChangeResult:
        before, after = self._state, make_state_from_plain(restore.plain)
        if restore.reason == "put":
            after = update_replaced_state_provenance(before, after, ChangeOrigin(self._version + 1, author.name))
            stars = {key: after.stars[key] for key in restore.plain.get("stars") or ()}
            restore = restore._replace(plain={**restore.plain, "stars": stars})
        event = self._add_restore_entry("restore", restore, after, author)
        return ChangeResult(self._version, after, [event], _list_all_as_touched(before, after), self._replica, before)

    def _add_return(self, change: Return, author: StoredAuthor) -> ChangeResult:
        before, after = self._state, change.earlier.state
        touched = change.earlier.touched if isinstance(change.earlier, EarlierState) else compare_states(before, after)
        event = self._add_restore_entry("reference", change, after, author)
        return ChangeResult(self._version, after, [event], touched, self._replica, before)

    def _add_restore_entry(
        self, kind: EntryKind, change: Restore | Return, after: State, author: StoredAuthor
    ) -> Event:
        self._state, self._version = after, self._version + 1
        event = change.make_event()
        self.entries.append(
            StoredEntry.make_with_digest(
                self._id, self._version, kind, change.encode_body(), orjson.dumps([event]), self._at, *author
            )
        )
        self._steps = []
        self._changes += [_Replacement(change, after, self._version), self._steps]
        return event


def _replace_state(replica: Replica, change: Restore | Return, state: State, version: int) -> None:
    if isinstance(change, Restore):
        replica.restore_state(change.plain, version, state)
    elif isinstance(change.earlier, EarlierState):
        replica.return_to(change.earlier, version)
    else:
        replica.restore_state_of(change.earlier, version)


def check_same_request(use: KeyUse, request: ChangeRequest) -> None:
    """Raise KeyReused if the key was used for another request."""
    if use.request != request.compute_digest():
        raise KeyReused(
            "This idempotency key was used for another request.",
            hint="Use a new key for each new request.",
            key=use.key[:100],
        )


def compare_states(before: State, after: State) -> Touched:
    """Return the entities that differ between two states."""
    touched: Touched = {}
    for kind in ENTITY_KINDS:
        old, new = before.get_entities(kind), after.get_entities(kind)
        if old is not new:
            touched[kind] = {
                key: touch
                for key, touch in list_touches_of_replacement(old, new).items()
                if old.get(key) != new.get(key)
            }
    return touched


def _list_all_as_touched(before: State, after: State) -> Touched:
    return {
        kind: list_touches_of_replacement(before.get_entities(kind), after.get_entities(kind)) for kind in ENTITY_KINDS
    }
