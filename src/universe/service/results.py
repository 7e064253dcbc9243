"""What a change is asked for as, and what comes of it."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from typing import Literal, NamedTuple

import orjson

from universe.domain.commands import Command
from universe.domain.events import Event
from universe.domain.state import Plain, State, Touched
from universe.store.port import KeyUse
from universe.store.rebuilding import Replica
from uraniborg.kernel.errors import UraniborgError

RestoreReason = Literal["create", "put", "undo", "restore", "branch"]


class Restore(NamedTuple):
    """Put a state in place of the present one. `to_version` says which of this universe it was, if it was one."""

    plain: Plain
    reason: RestoreReason
    to_version: int | None = None

    def event(self) -> Event:
        event: Event = {"type": "stateRestored", "reason": self.reason}
        return event if self.to_version is None else {**event, "toVersion": self.to_version}

    def body(self) -> bytes:
        return orjson.dumps({"reason": self.reason, "toVersion": self.to_version, "state": self.plain})


class GoBack(NamedTuple):
    """Put back what was, which is only known once it is its turn: `state_at` gives it, for the version it is then."""

    state_at: Callable[[int], Awaitable[Restore]]


class Result(NamedTuple):
    """What a change did: the version and the state after it, what happened, and which entities it touched."""

    version: int
    state: State
    events: list[Event]
    touched: Touched
    replica: Replica
    """The universe it was done in, which may have moved on since."""
    before: State


class Ask(NamedTuple):
    """A change that is asked for: commands, all of them or none, or a state to put back."""

    change: list[Command] | Restore | GoBack
    author: str
    expected_version: int | None = None
    key: str | None = None

    def digest(self) -> bytes:
        """The same for the same request: an idempotency key stands for one request only."""
        assert not isinstance(self.change, GoBack)
        said = self.change.body() if isinstance(self.change, Restore) else orjson.dumps(self.change)
        return hashlib.blake2b(said, digest_size=16).digest()


class Repeated(UraniborgError):
    """A request that was answered before: not an error to whoever asked, who gets that answer."""

    code = "repeated"

    def __init__(self, use: KeyUse) -> None:
        super().__init__("This was answered before.")
        self.use = use


class Job(NamedTuple):
    """An ask that waits, and where to answer it."""

    ask: Ask
    future: asyncio.Future[Result]

    def answer(self, result: Result | BaseException) -> None:
        # Whoever asked may be gone.
        if self.future.done():
            return
        if isinstance(result, BaseException):
            self.future.set_exception(result)
        else:
            self.future.set_result(result)
