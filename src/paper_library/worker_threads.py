"""Blocking work done beside the event loop, and given up on when it takes too long."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from paper_library.store.shelf import too_slow
from uraniborg.kernel.request_ids import in_this_context

T = TypeVar("T")


class Threads:
    """A few threads. Work that is given up on runs on in its thread: an index query cannot be stopped."""

    def __init__(self, count: int, *, query_s: float, fetch_s: float) -> None:
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="library")
        self._query_s = query_s
        self._fetch_s = fetch_s

    async def run(self, work: Callable[[], T]) -> T:
        """What `work`, which asks the shelf, returns. Raises QueryTooSlow."""
        return await self._run(work, self._query_s)

    async def fetch(self, work: Callable[[], T]) -> T:
        """The same for work that may wait for a static server."""
        return await self._run(work, self._query_s + self._fetch_s)

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def _run(self, work: Callable[[], T], seconds: float) -> T:
        try:
            async with asyncio.timeout(seconds):
                # Cancelled in time, what still waits for a thread is never begun.
                return await asyncio.get_running_loop().run_in_executor(self._pool, in_this_context(work))
        except TimeoutError:
            raise too_slow(seconds) from None
