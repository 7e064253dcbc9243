"""A client for as long as it is connected, as seen by what outlasts a single request of it."""

from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar


class Connection:
    """One client, from its first message until it has left. This kind hears everything at any time."""

    when_listening: Callable[[], None] | None = None
    """Called when a client that was not listening is listening again."""

    def __init__(self) -> None:
        self._over = ExitStack()

    @property
    def listening(self) -> bool:
        """Whether what is sent to the client unasked has a way to reach it."""
        return True

    @property
    def has_room(self) -> bool:
        """Whether one thing more can be sent unasked without anything else having to wait for it."""
        return True

    def note_request(self, request_id: str | int) -> None:
        """Take note that this request is being answered."""

    def awaits_answer(self, request_id: str | int) -> bool:
        """Return whether the client still waits for the answer to this request."""
        return True

    def note_answer(self, request_id: str | int) -> None:
        """Take note that the answer to this request is on its way to the client, or that nobody waits for it."""

    def when_over(self, callback: Callable[[], None]) -> None:
        """Have `callback` called once the client has left."""
        self._over.callback(callback)

    @contextmanager
    def lasting(self) -> Generator[None]:
        """The time of this connection: within it, and in all tasks started there, it is the current one."""
        reset = _current.set(self)
        try:
            with self._over:
                yield
        finally:
            _current.reset(reset)


_current: ContextVar[Connection | None] = ContextVar("MCP connection", default=None)


def current_connection() -> Connection | None:
    """The connection that the request being handled came by; None where each request stands alone."""
    return _current.get()
