"""Hold a search at a checkpoint; share one event loop and one network client among the sessions of a process."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from paper_search.config import AppConfig
from paper_search.sources.registry import build_transport
from paper_search.workflow.checkpoints import Checkpoint, Decision
from paper_search.workflow.engine import SearchWorkflow

if TYPE_CHECKING:
    from paper_search.sources.transport.http_transport import Network


T = TypeVar("T")


class MCPCheckpointHandler:
    """Holds a search at a checkpoint until `set_decision` is called, from any thread.

    The handler checks nothing: the session checks the decisions that it passes on. `on_checkpoint` is called when a
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
        if self._loop is None or self._loop is find_running_loop():
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


class LoopRunner:
    """Runs the work of all callers in one event loop: that of the first caller, or once it is closed of the next.

    `on_change` is called when the loop changes.
    """

    def __init__(self, on_change: Callable[[], None]) -> None:
        self._on_change = on_change
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def is_current_loop(self) -> bool:
        """Whether the caller runs in that loop."""
        return self._get_or_adopt_loop() is find_running_loop()

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run the coroutine in the loop and return its result."""
        loop = self._get_or_adopt_loop()
        if loop is asyncio.get_running_loop():
            return await work
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, loop))

    def run_and_wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Run the coroutine in the loop from another thread, which blocks until it is done."""
        return asyncio.run_coroutine_threadsafe(work, self._get_or_adopt_loop()).result()

    def call_function(self, function: Callable[[], object]) -> None:
        """Call the function in the loop; at once if the caller runs in it."""

        async def call_here() -> None:
            function()

        if self.is_current_loop:
            function()
        else:
            self.run_and_wait(call_here())

    def _get_or_adopt_loop(self) -> asyncio.AbstractEventLoop:
        """Return the loop. Raise RuntimeError if there is none yet and the caller runs in none."""
        with self._lock:
            if self._loop is None or self._loop.is_closed():
                self._loop = asyncio.get_running_loop()
                self._on_change()
            return self._loop


def find_running_loop() -> asyncio.AbstractEventLoop | None:
    """Return the event loop that runs in this thread, or None."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


class WorkflowFactory:
    """Builds the workflows of sessions, which share one network client and so the rate limits of the sources."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._network: Network | None = None

    def build(self, config: AppConfig, **hooks: Any) -> SearchWorkflow:
        """Return a workflow; it records nothing, because the session stores its steps. Reads the disk for a replay.

        Raise UnknownDomain, UnknownSource, InvalidInput or InvalidRecording.
        """
        uses_network = not (config.replay_dir or config.offline)
        transport = build_transport(config, network=self._get_or_create_network()) if uses_network else None
        return SearchWorkflow.from_config(config.model_copy(update={"record_dir": None}), transport=transport, **hooks)

    async def aclose(self) -> None:
        """Close the network client."""
        if self._network is not None:
            await self._network.aclose()

    def forget_network(self) -> None:
        """Use a new network client from now on: the event loop of the present one is closed."""
        self._network = None

    def _get_or_create_network(self) -> "Network":
        from paper_search.sources.transport.http_transport import Network  # httpx is slow to import

        with self._lock:
            self._network = self._network or Network()
            return self._network
