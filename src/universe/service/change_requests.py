"""Requests for changes of a universe, and their results."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from typing import Literal, NamedTuple

import orjson

from universe.domain.commands import Command
from universe.domain.events_and_refusals import Event
from universe.domain.state import Plain, State, Touched
from universe.store.interface import KeyUse
from universe.store.replica import Replica
from uraniborg.kernel.errors import UraniborgError

RestoreReason = Literal["create", "put", "undo", "restore", "branch"]


class Restore(NamedTuple):
    """A request to replace the current state; `to_version` is the version it is restored from, if any."""

    plain: Plain
    reason: RestoreReason
    to_version: int | None = None

    def make_event(self) -> Event:
        """Return the event of this change."""
        event: Event = {"type": "stateRestored", "reason": self.reason}
        return event if self.to_version is None else {**event, "toVersion": self.to_version}

    def encode_body(self) -> bytes:
        """Return the body of the log entry."""
        return orjson.dumps({"reason": self.reason, "toVersion": self.to_version, "state": self.plain})


class DeferredRestore(NamedTuple):
    """A request to restore an earlier state; `state_at` finds the state for the version that the universe then has."""

    state_at: Callable[[int], Awaitable[Restore]]


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

    change: list[Command] | Restore | DeferredRestore
    author: str
    expected_version: int | None = None
    key: str | None = None

    def compute_digest(self) -> bytes:
        """Return the digest of the request, to compare requests with the same idempotency key."""
        assert not isinstance(self.change, DeferredRestore)
        content = self.change.encode_body() if isinstance(self.change, Restore) else orjson.dumps(self.change)
        return hashlib.blake2b(content, digest_size=16).digest()


class RequestRepeated(UraniborgError):
    """A request with an idempotency key that was answered before; the caller gets the earlier answer."""

    code = "repeated"

    def __init__(self, use: KeyUse) -> None:
        super().__init__("This request was answered before.")
        self.use = use


class PendingChange(NamedTuple):
    """A request that waits for its turn, and the future for its result."""

    request: ChangeRequest
    future: asyncio.Future[ChangeResult]

    def set_outcome(self, result: ChangeResult | BaseException) -> None:
        """Set the result or the error, unless the caller has cancelled."""
        if self.future.done():
            return
        if isinstance(result, BaseException):
            self.future.set_exception(result)
        else:
            self.future.set_result(result)
