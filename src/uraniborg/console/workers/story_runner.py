"""Run steps of the story for the API, one at a time, also after the client has left."""

import asyncio
from dataclasses import dataclass, field
from typing import Final, cast

from uraniborg.console.sign_ins import DOOR
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.errors import UraniborgError, as_error
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.logging import get_logger
from uraniborg.story.errors import StepRunning
from uraniborg.story.replies import StepId, StoryError, StoryState
from uraniborg.story.service import Story

_WAIT_S: Final = 20.0
"""The time that a call which runs a step waits; the step continues after that."""
_log = get_logger(__name__)


@dataclass
class StoryRunner:
    """Runs one step at a time, also after the client has left."""

    story: Story
    error: StoryError | None = None
    """The error with which the last step ended."""
    _task: "asyncio.Task[None] | None" = field(default=None)

    async def get_state(self) -> StoryState:
        """Return the state of the story, with the error of the last step."""
        return {**await self.story.get_state(), "error": self.error}

    async def run_step(self, step_id: str, inputs: JsonObject, actor: Actor) -> None:
        """Run a step and wait for some seconds. Raise the error of a step that ends within them."""
        await self.story.get_step(step_id)  # raises StepNotFound
        # Nothing is awaited between the check and the new task: another request would pass the check, too.
        if self._task is not None and not self._task.done():
            raise StepRunning("A step is running.", hint="Wait until it ends.", step=step_id)
        self._task = asyncio.create_task(self._run_step(step_id, inputs, actor))
        done, _ = await asyncio.wait([self._task], timeout=_WAIT_S)
        for task in done:
            task.result()

    async def restart(self, actor: Actor) -> None:
        """Delete everything that the story has stored. Raise StepRunning while a step runs."""
        await self.story.restart(actor=actor)
        self.error = None

    async def stop(self) -> None:
        """Cancel the step that runs; it can be run again."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self.story.aclose()

    async def _run_step(self, step_id: str, inputs: JsonObject, actor: Actor) -> None:
        self.error = None
        try:
            await self.story.run_step(step_id, inputs, actor=actor, door=DOOR)
        except UraniborgError as error:
            self.error = {
                "step": cast("StepId", step_id),
                "code": error.code,
                "message": error.message,
                "hint": error.hint,
            }
            raise
        except Exception as error:
            _log.exception("a step of the story failed", exc=error)
            known = as_error(error)
            self.error = {
                "step": cast("StepId", step_id),
                "code": known.code,
                "message": known.message,
                "hint": known.hint,
            }
            raise known from error
