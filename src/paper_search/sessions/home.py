"""One event loop for all sessions of a process, whichever thread or loop calls."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from paper_search.sessions.handler import running_loop

T = TypeVar("T")


class Home:
    """The loop in which work is done: the first that asked, or after its end the next.

    `on_move` is called when it has become another one.
    """

    def __init__(self, on_move: Callable[[], None]) -> None:
        self._on_move = on_move
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def is_here(self) -> bool:
        """Whether the caller is in that loop."""
        return self._found() is running_loop()

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Await the work there."""
        loop = self._found()
        if loop is asyncio.get_running_loop():
            return await work
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, loop))

    def run_and_wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Have the work done there, from another thread, which waits for it."""
        return asyncio.run_coroutine_threadsafe(work, self._found()).result()

    def call(self, work: Callable[[], object]) -> None:
        """Call it there, at once if that is here."""

        async def called() -> None:
            work()

        if self.is_here:
            work()
        else:
            self.run_and_wait(called())

    def _found(self) -> asyncio.AbstractEventLoop:
        """Raises RuntimeError when there is none yet, and the caller is in none."""
        with self._lock:
            if self._loop is None or self._loop.is_closed():
                self._loop = asyncio.get_running_loop()
                self._on_move()
            return self._loop
