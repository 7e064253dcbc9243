"""`python -m uraniborg.story.worker`: runs steps of the story, in the data folder of its environment."""

import asyncio
import os
from pathlib import Path
from typing import TypeAlias, TypedDict

from uraniborg.kernel.actor_fields import ActorFields
from uraniborg.kernel.actors import Actor
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.settings import HOME
from uraniborg.kernel.worker_child import Request, answer_requests
from uraniborg.story.folder import StoryFolder
from uraniborg.story.runner import describe_story, run_step


class StepRequest(TypedDict):
    """Run a step. The progress is the fraction that is done."""

    step: str
    inputs: JsonObject
    actor: ActorFields
    door: str


class DescribeRequest(TypedDict):
    """Store the view of the steps."""

    describe: bool


class DeleteRequest(TypedDict):
    """Delete the story for this actor."""

    delete: ActorFields


StoryRequest: TypeAlias = StepRequest | DescribeRequest | DeleteRequest


def _answer(request: Request[StoryRequest, float, None]) -> None:
    folder, content = StoryFolder(Path(os.environ[HOME])), request.content
    if "describe" in content:
        describe_story(folder)
    elif "delete" in content:
        from uraniborg.story.deletion import delete_story

        asyncio.run(delete_story(folder, Actor.model_validate(content["delete"])))
    else:
        running = run_step(
            folder,
            content["step"],
            content["inputs"],
            actor=Actor.model_validate(content["actor"]),
            door=content["door"],
            progress=lambda done: request.report_progress(round(done, 4)),
        )
        asyncio.run(running)


if __name__ == "__main__":
    answer_requests(_answer)
