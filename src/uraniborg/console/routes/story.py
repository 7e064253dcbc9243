"""Routes for the story: its state, its steps, running a step, its pictures and its bundle."""

import asyncio
from typing import Annotated, Final

from fastapi import Body, Path
from starlette.responses import FileResponse

from uraniborg.console.api import Sender, make_router
from uraniborg.console.services import Services
from uraniborg.kernel.errors import NotFound
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.store.files import confine_path
from uraniborg.story.replies import StoryState, StoryStepWithResult

StepName = Annotated[str, Path(max_length=50, description="The id of a step.")]
_TYPES: Final = {".svg": "image/svg+xml", ".zip": "application/zip"}


class StoryFileNotFound(NotFound):
    code = "story_file_not_found"


router = make_router("story")


@router.get("/api/story", summary="Return the state of the story")
async def get_story(services: Services) -> StoryState:
    """Return the question and the steps, each with its status and one sentence."""
    return await services.story.get_state()


@router.get("/api/story/steps/{step_id}", summary="Return a step")
async def get_story_step(services: Services, step_id: StepName) -> StoryStepWithResult:
    """Return a step with everything that it stored."""
    return await services.story.story.get_step(step_id)


@router.post("/api/story/steps/{step_id}", summary="Run a step")
async def run_story_step(
    services: Services,
    actor: Sender,
    step_id: StepName,
    inputs: Annotated[JsonObject | None, Body(embed=True)] = None,
) -> StoryState:
    """Run a step, and return the state. After 20 seconds the state is returned while the step still runs."""
    await services.story.run_step(step_id, inputs or {}, actor)
    return await services.story.get_state()


@router.post("/api/story/restart", summary="Start the story over")
async def restart_story(services: Services, actor: Sender) -> StoryState:
    """Delete everything that the story has stored. Refused while a step runs."""
    await services.story.restart(actor)
    return await services.story.get_state()


@router.get(
    "/api/story/files/{path:path}",
    summary="Return a picture or the bundle",
    response_class=FileResponse,
)
async def get_story_file(services: Services, path: Annotated[str, Path(max_length=200)]) -> FileResponse:
    """Return a picture of the steps, or `bundle.zip`."""
    file = confine_path(services.story.story.folder.own, *path.split("/"))
    kind = _TYPES.get(file.suffix)
    if kind is None or not await asyncio.to_thread(file.is_file):
        raise StoryFileNotFound(f"There is no file '{path[:80]}'.", hint="Use a picture of a step, or bundle.zip.")
    return FileResponse(file, media_type=kind, headers={"Cache-Control": "no-cache"})
