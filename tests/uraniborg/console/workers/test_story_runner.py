"""The runner of the story: one step at a time, whatever arrives at the same moment."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from uraniborg.console.workers.story_runner import StoryRunner
from uraniborg.kernel.actors import Actor
from uraniborg.story.errors import StepRunning
from uraniborg.story.service import Story


class EndlessStory(Story):
    """A story whose steps run until they are cancelled."""

    started = 0
    ended = 0

    async def get_step(self, step_id: str) -> Any:
        await asyncio.sleep(0)
        return {"id": step_id}

    async def run_step(self, step_id: str, inputs: Mapping[str, Any] | None = None, **_options: Any) -> Any:
        if self.started:
            raise StepRunning("A step is running.", hint="Wait until it ends.", step=step_id)
        self.started += 1
        try:
            return await asyncio.Future()
        finally:
            self.ended += 1


async def test_of_two_requests_at_once_one_is_refused_and_the_step_of_the_other_can_be_stopped(tmp_path: Path) -> None:
    story = EndlessStory(tmp_path)
    runner = StoryRunner(story)
    ada = Actor(kind="person", name="ada", authenticated="sign_in")
    requests = [asyncio.create_task(runner.run_step("ask", {}, ada)) for _ in range(2)]
    done, (accepted,) = await asyncio.wait(requests, return_when=asyncio.FIRST_COMPLETED)
    assert [type(request.exception()) for request in done] == [StepRunning]
    assert runner.error is None, "the refusal is not an error of the step"
    await runner.stop()
    await asyncio.wait([accepted])
    assert (story.started, story.ended) == (1, 1)
