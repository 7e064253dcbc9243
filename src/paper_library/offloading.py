"""Blocking work done beside the event loop, and given up on when it takes too long."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from paper_library.store.shelf import too_slow

T = TypeVar("T")


class Threads:
    """A few threads. Work that is given up on runs on in its thread: an index query cannot be stopped."""

    def __init__(self, count: int, timeout_s: float) -> None:
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="library")
        self._timeout = timeout_s

    async def run(self, work: Callable[[], T]) -> T:
        """What `work` returns. Raises QueryTooSlow."""
        future = asyncio.get_running_loop().run_in_executor(self._pool, work)
        try:
            async with asyncio.timeout(self._timeout):
                return await asyncio.shield(future)
        except TimeoutError:
            future.add_done_callback(_forget)
            raise too_slow(self._timeout) from None

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


def _forget(future: asyncio.Future[Any]) -> None:
    if not future.cancelled():
        future.exception()
