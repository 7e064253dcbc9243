"""The checkpoint handler of a session: holds a running search until its decision is set."""

import asyncio
from collections.abc import Callable

from paper_search.workflow.checkpoints import Checkpoint, Decision


class MCPCheckpointHandler:
    """Hold a search at a checkpoint until `set_decision` is called, from any thread.

    The handler refuses nothing: the session decides which decisions it passes on. `on_checkpoint` is called when a
    checkpoint starts to wait.
    """

    def __init__(self, on_checkpoint: Callable[[], None] | None = None) -> None:
        self._checkpoint_ready = asyncio.Event()
        self._decision_ready = asyncio.Event()
        self._current_checkpoint: Checkpoint | None = None
        self._decision: Decision | None = None
        self._on_checkpoint = on_checkpoint
        self._loop: asyncio.AbstractEventLoop | None = None

    async def handle(self, checkpoint: Checkpoint) -> Decision:
        """Return the decision that is set after `checkpoint` has arrived."""
        self._loop = asyncio.get_running_loop()
        self._current_checkpoint = checkpoint
        self._decision_ready.clear()
        self._checkpoint_ready.set()
        if self._on_checkpoint is not None:
            self._on_checkpoint()
        try:
            await self._decision_ready.wait()
        finally:
            self._checkpoint_ready.clear()
        assert self._decision is not None
        return self._decision

    def set_decision(self, decision: Decision) -> None:
        """Store the decision and release the search that waits for it, if one does."""
        self._decision = decision
        if self._loop is None or self._loop is running_loop():
            self._decision_ready.set()
        else:
            self._loop.call_soon_threadsafe(self._decision_ready.set)

    @property
    def current_checkpoint(self) -> Checkpoint | None:
        """The checkpoint that waits, or the last one that did."""
        return self._current_checkpoint

    @property
    def has_pending_checkpoint(self) -> bool:
        """Whether a checkpoint has arrived whose decision the search has not consumed yet."""
        return self._checkpoint_ready.is_set()


def running_loop() -> asyncio.AbstractEventLoop | None:
    """Return the event loop that runs in this thread, or None."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
