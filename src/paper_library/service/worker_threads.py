"""Run queries in threads, with a time limit, so that they do not block the event loop."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from paper_library.service.live_shelf import T
from paper_library.store.shelf import make_timeout_error
from uraniborg.kernel.ids import bind_context


class WorkerThreads:
    """A pool of threads. Work that exceeds its time continues in its thread: an index query cannot be stopped."""

    def __init__(self, count: int, *, query_s: float, fetch_s: float) -> None:
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="library")
        self._query_s = query_s
        self._fetch_s = fetch_s

    async def run_query(self, work: Callable[[], T]) -> T:
        """Return the result of `work`, which queries the shelf. Raise QueryTooSlow."""
        return await self._run_in_thread(work, self._query_s)

    async def run_fetch(self, work: Callable[[], T]) -> T:
        """Return the result of `work`, which may wait for a static server. Raise QueryTooSlow."""
        return await self._run_in_thread(work, self._query_s + self._fetch_s)

    def close(self) -> None:
        """Stop the pool without waiting for running work."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def _run_in_thread(self, work: Callable[[], T], seconds: float) -> T:
        try:
            async with asyncio.timeout(seconds):
                # Cancelled work that still waits for a thread is never started.
                return await asyncio.get_running_loop().run_in_executor(self._pool, bind_context(work))
        except TimeoutError:
            raise make_timeout_error(seconds) from None
