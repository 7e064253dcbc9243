"""Offer the story to the terminal and the API: its steps, its state, and running a step.

This module imports no part: a process of its own runs the steps and describes them.
"""

import asyncio
from asyncio.subprocess import DEVNULL
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, cast

from uraniborg.kernel.actors import Actor, get_terminal_actor
from uraniborg.kernel.errors import Unavailable
from uraniborg.kernel.processes.worker_dialogue import RequestFailed, WorkerEnded, WorkerProcess, start_worker
from uraniborg.kernel.progress_callbacks import ReportFraction
from uraniborg.kernel.store.batched_change_feed import QueuedChangeFeed
from uraniborg.kernel.store.change_feed import ChangeFeed
from uraniborg.kernel.store.files import Lease, make_private_folder
from uraniborg.story.errors import StepNotFound, StepRunning
from uraniborg.story.folder import StoryFolder

if TYPE_CHECKING:
    from uraniborg.kernel.json_values import JsonObject
    from uraniborg.story.replies import StoryProgress, StoryStepWithResult, StoryView
    from uraniborg.story.worker import StepRequest, StoryRequest

_END_S: Final = 10.0
_PROGRESS_STEP: Final = 0.01
"""Progress is announced when it has grown by so much."""
CHANGE_KIND: Final = "story"
StepState = Literal["running", "done", "failed", "deleted"]


class Story:
    """The story in one data folder. A step runs in a process of its own; its result is stored before the next one."""

    def __init__(self, home: Path, *, idle_s: float | None = None) -> None:
        """Reuse one process for several steps.

        End the process after `idle_s` seconds without a step; None: only in `aclose`.
        """
        self.folder = StoryFolder(home)
        self._idle_s = idle_s
        self._idle_timer: asyncio.TimerHandle | None = None
        self._ending: asyncio.Task[None] | None = None
        self._worker: WorkerProcess[StoryRequest, float, None] | None = None
        self._lock = asyncio.Lock()
        self._running: str | None = None
        self._progress: float | None = None
        self._feeds = [QueuedChangeFeed(ChangeFeed(folder)) for folder in self.folder.find_feeds()]

    async def list_steps(self) -> "list[StoryStepWithResult]":
        """Return the steps in their order, each with its status, sentence and result. Raise StoryUnreadable."""
        return (await self._get_view())["steps"]

    async def get_step(self, step_id: str) -> "StoryStepWithResult":
        """Return a step with its result. Raise StepNotFound or StoryUnreadable."""
        steps = await self.list_steps()
        for step in steps:
            if step["id"] == step_id:
                return step
        names = [step["id"] for step in steps]
        raise StepNotFound(f"There is no step '{step_id[:50]}'.", hint=f"Steps: {', '.join(names)}.", allowed=names)

    async def get_state(self) -> "StoryProgress":
        """Return the question, the steps without results, and those that run now and next. Raise StoryUnreadable."""
        view = await self._get_view()
        steps = view["steps"]
        following = next((step["id"] for step in steps if step["status"] == "next"), None)
        running, interrupted = self._running, None
        if running is None:
            running, interrupted = await asyncio.to_thread(self._find_step_of_other_process)
        reply = {
            "question": view["question"],
            "home": str(self.folder.home),
            "next": following,
            "has_pages": self.folder.is_data_folder(),
            "running": running,
            "interrupted": interrupted,
            "progress": self._progress if self._running else None,
            "is_complete": following is None,
            "steps": [{key: value for key, value in step.items() if key != "result"} for step in steps],
        }
        return cast("StoryProgress", reply)

    async def run_step(
        self,
        step_id: str,
        inputs: "JsonObject | None" = None,
        *,
        actor: Actor | None = None,
        door: str = "terminal",
        progress: ReportFraction | None = None,
    ) -> "StoryStepWithResult":
        """Run a step, and return its description. If this call is cancelled, the step ends, and can be run again.

        Without an actor, the person at the terminal runs it.
        Raise StepNotFound, StepRunning, or RequestFailed with the code of the step's error.
        """
        await self.get_step(step_id)
        if self._running is not None:
            raise StepRunning(f"The step '{self._running}' is running.", hint="Wait until it ends.", step=self._running)
        self._running, self._progress = step_id, 0.0
        self._announce(step_id, "running", 0.0)
        state: StepState = "failed"
        try:
            by = (actor or get_terminal_actor()).model_dump()
            request: StepRequest = {"step": step_id, "inputs": dict(inputs or {}), "actor": by, "door": door}
            await self._send_and_wait(request, progress)
            state = "done"
        finally:
            self._running = None
            self._announce(step_id, state)
        return await self.get_step(step_id)

    async def restart(self, *, actor: Actor | None = None) -> None:
        """Delete everything that the story has stored, and nothing else. Raise StepRunning while a step runs."""
        if self._running or (await asyncio.to_thread(self._find_step_of_other_process))[0]:
            raise StepRunning("A step is running.", hint="Wait until it ends.")
        await self.aclose()
        if self.folder.own.is_dir():
            await self._send_and_wait({"delete": (actor or get_terminal_actor()).model_dump()}, None)
        self._announce("", "deleted")

    async def aclose(self) -> None:
        """End the process that runs the steps; one that runs a step now is killed."""
        self._stop_idle_timer()
        await self._end_process(is_killed=self._running is not None)
        if self._ending is not None:
            await self._ending
        for feed in self._feeds:
            await asyncio.to_thread(feed.close)

    def _announce(self, step_id: str, state: StepState, progress: float | None = None) -> None:
        for feed in self._feeds:
            feed.publish(CHANGE_KIND, step_id, state=state, progress=progress)

    async def _end_process(self, *, is_killed: bool) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            await worker.end(within_s=0.0 if is_killed else _END_S)

    async def _get_view(self) -> "StoryView":
        """Return the stored description of the steps, computed first if there is none. Raise StoryUnreadable."""
        view = await asyncio.to_thread(self.folder.read_view)
        if view is None:
            await self._send_and_wait({"describe": True}, None)
            view = await asyncio.to_thread(self.folder.read_view)
        if view is None:
            raise Unavailable(
                "The steps cannot be described.", hint="Try again, or start over: uraniborg demo --restart."
            )
        return view

    def _find_step_of_other_process(self) -> tuple[str | None, str | None]:
        """Return the ids of the step that another process runs now, and of one whose process ended before it did."""
        try:
            step_id = self.folder.running_step_file.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None, None
        lease = Lease(self.folder.lease_file)
        if not lease.acquire():
            return step_id, None
        lease.release()
        return None, step_id

    async def _send_and_wait(self, request: "StoryRequest", progress: ReportFraction | None) -> None:
        """Send a request to the process and wait for its end; end the process if that fails."""
        async with self._lock:
            self._stop_idle_timer()
            is_killed = True
            try:
                await self._request(request, progress)
                is_killed = False
            except RequestFailed:
                is_killed = False
                raise
            finally:
                if is_killed:
                    await self._end_process(is_killed=True)
                elif self._idle_s is not None:
                    loop = asyncio.get_running_loop()
                    self._idle_timer = loop.call_later(self._idle_s, self._start_ending)

    def _start_ending(self) -> None:
        self._ending = asyncio.create_task(self._end_idle_process())

    async def _end_idle_process(self) -> None:
        async with self._lock:
            await self._end_process(is_killed=False)

    def _stop_idle_timer(self) -> None:
        if self._idle_timer is not None:
            self._idle_timer.cancel()

    async def _request(self, request: "StoryRequest", progress: ReportFraction | None) -> None:
        async def report(done: float) -> None:
            self._set_progress(done)
            if progress is not None:
                progress(done)

        if self._worker is None or self._worker.process.returncode is not None:
            await asyncio.to_thread(make_private_folder, self.folder.own)
            self._worker = await start_worker(
                "uraniborg.story.worker", cwd=self.folder.home, env=self.folder.make_environment(), stderr=DEVNULL
            )
        try:
            await self._worker.request(request, on_progress=report)
        except WorkerEnded:
            ids = {"step": request["step"]} if "step" in request else {}
            raise Unavailable(
                "The process of the story ended too early.", hint="Run the step again; nothing is lost.", **ids
            ) from None

    def _set_progress(self, progress: float) -> None:
        if self._running is not None and progress - (self._progress or 0.0) >= _PROGRESS_STEP:
            self._progress = progress
            self._announce(self._running, "running", progress)
