"""Where a running search waits for its decision."""

import asyncio
import threading
from collections.abc import Callable

from paper_search.errors import CheckpointBusy, NoPendingCheckpoint
from paper_search.workflow.checkpoints import Checkpoint, Decision


class MCPCheckpointHandler:
    """Holds a search at a checkpoint until `set_decision` is called, from whichever thread.

    `on_checkpoint` is told when a checkpoint has begun to wait.
    """

    def __init__(self, on_checkpoint: Callable[[], None] | None = None) -> None:
        self._checkpoint_ready = asyncio.Event()
        self._decision_ready = asyncio.Event()
        self._current_checkpoint: Checkpoint | None = None
        self._decision: Decision | None = None
        self._on_checkpoint = on_checkpoint
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()

    async def handle(self, checkpoint: Checkpoint) -> Decision:
        with self._lock:
            self._loop = asyncio.get_running_loop()
            self._current_checkpoint = checkpoint
            self._decision = None
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
        """Let the search go on. Raises NoPendingCheckpoint when nothing waits and CheckpointBusy for a second one."""
        with self._lock:
            checkpoint = self._current_checkpoint
            if checkpoint is None or not self._checkpoint_ready.is_set():
                raise NoPendingCheckpoint(checkpoint.run_id if checkpoint else "", "working")
            if self._decision is not None:
                raise CheckpointBusy(checkpoint.run_id, checkpoint.checkpoint_id)
            self._decision = decision
        assert self._loop is not None
        if self._loop is running_loop():
            self._decision_ready.set()
        else:
            self._loop.call_soon_threadsafe(self._decision_ready.set)

    @property
    def current_checkpoint(self) -> Checkpoint | None:
        """The checkpoint that waits, or the last one that did."""
        return self._current_checkpoint

    @property
    def has_pending_checkpoint(self) -> bool:
        """Whether a decision would be taken now."""
        return self._checkpoint_ready.is_set() and self._decision is None


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The loop of this thread, if it runs one."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
