"""A run that reports to an agent: one notification for each node that ends, if the agent asked for them."""

import asyncio
from concurrent.futures import Future
from typing import Any

from pflow.engine.output import NodeStatus, NullOutput


class Reporter(NullOutput):
    """Passes on, from the thread of the run to the loop of the server, how far the run is."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        import contextvars

        self._loop = loop
        self._context = contextvars.copy_context()
        self._nodes = 0
        self._ended = 0
        self._last: Future[Any] | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def run_started(self, name: str, run_id: str, nodes: int) -> None:
        self._nodes = nodes

    def node_finished(self, node_id: str, status: NodeStatus, duration_ms: float, note: str = "") -> None:
        if "/" in node_id:  # of a workflow within, which is one node here
            return
        self._ended += 1
        self._report(self._ended, f"{node_id}: {status}")

    async def settled(self) -> None:
        """Wait until all that was reported is sent: the answer comes after it."""
        if self._last is not None:
            await asyncio.wait([asyncio.wrap_future(self._last)], timeout=5)

    def _report(self, ended: int, message: str) -> None:
        from uraniborg.kernel.mcp import report_progress

        total = max(self._nodes, ended)
        before, done = self._last, Future[Any]()

        async def send() -> None:
            try:
                if before is not None and not before.done():
                    await asyncio.wrap_future(before)
                await report_progress(ended, total, message)
            finally:
                done.set_result(None)

        def start() -> None:
            task = self._loop.create_task(send(), context=self._context)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

        self._last = done
        try:
            self._loop.call_soon_threadsafe(start)
        except RuntimeError:  # the loop is closed: nobody is there any more
            done.set_result(None)
