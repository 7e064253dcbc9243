"""Notify an agent of progress: once for each node that ends, if the agent asked for it."""

import asyncio
from concurrent.futures import Future
from typing import Any

from pflow.engine.progress_output import NodeStatus, NullOutput


class ProgressReporter(NullOutput):
    """Sends the progress of a run from its thread through the event loop of the server."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        import contextvars

        self._loop = loop
        self._context = contextvars.copy_context()
        self._nodes = 0
        self._ended = 0
        self._last: Future[Any] | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def on_run_started(self, name: str, run_id: str, nodes: int) -> None:
        self._nodes = nodes

    def on_node_finished(self, node_id: str, status: NodeStatus, duration_ms: float, note: str = "") -> None:
        if "/" in node_id:  # of a nested workflow, which counts as one node
            return
        self._ended += 1
        self._schedule_notification(self._ended, f"{node_id}: {status}")

    async def wait_until_sent(self) -> None:
        """Wait until all notifications are sent: the reply comes after them."""
        if self._last is not None:
            await asyncio.wait([asyncio.wrap_future(self._last)], timeout=5)

    def _schedule_notification(self, ended: int, message: str) -> None:
        from uraniborg.kernel.mcp import report_progress

        total = max(self._nodes, ended)
        before, done = self._last, Future[Any]()

        async def send_in_order() -> None:
            try:
                if before is not None and not before.done():
                    await asyncio.wrap_future(before)
                await report_progress(ended, total, message)
            finally:
                done.set_result(None)

        def start_task() -> None:
            task = self._loop.create_task(send_in_order(), context=self._context)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

        self._last = done
        try:
            self._loop.call_soon_threadsafe(start_task)
        except RuntimeError:  # the loop is closed: the agent is gone
            done.set_result(None)
