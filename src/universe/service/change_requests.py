"""Requests to change a universe, and the results that their senders wait for."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from typing import Literal, NamedTuple

import orjson

from universe.domain.commands import Command
from universe.domain.events_and_refusals import Event
from universe.domain.state import Plain, State, Touched
from universe.store.authors import Author
from universe.store.interface import KeyUse, Source
from universe.store.recent_changes import EarlierState
from universe.store.replica import Replica
from universe.store.state_encoding import encode_json, move_citations_out
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


def encode_branch_body(source: Source) -> bytes:
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
    author: Author
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
