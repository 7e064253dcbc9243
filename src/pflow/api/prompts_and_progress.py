"""Notify an agent of the progress of a run, and offer a prompt that clients show as a command."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field

from pflow.domain.run_events import NodeStatus, NullOutput

if TYPE_CHECKING:
    from uraniborg.kernel.mcp import Server


class ProgressNotifier(NullOutput):
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


_TEXT: Final = """\
Run the workflow {name} for me.

1. Call describe_workflow with name {name}. Tell me in a few sentences what the workflow does, what it changes outside \
of pflow, and which inputs it has. If it has diagnostics, show them to me and stop.
2. Ask me for each required input, and whether to run the workflow. Wait for my answer.
3. Call execute with name {name} and my values as inputs.
4. Show me the outputs. If the run failed, show me the message and the hint of the error, and ask me before you change \
the workflow. Nodes that succeeded are not run again when you call execute a second time.

If the error is approval_required, the decision is mine: show me the question and the command in the hint, and call \
execute again after I have decided."""


def add_prompts(server: "Server", list_names: Callable[[], Awaitable[Iterable[str]]]) -> None:
    """Offer the prompt on `server`. `list_names` returns the names of workflows and drafts."""
    from uraniborg.kernel.mcp import prompt

    prompt(server, title="Run a workflow", values={"name": list_names})(run_workflow)


async def run_workflow(
    name: Annotated[str, Field(min_length=1, description="The name of a saved workflow or a draft.")],
) -> str:
    """Describe a workflow, ask for its inputs, and run it after you agree."""
    return _TEXT.format(name=json.dumps(name, ensure_ascii=False))
