"""Routes for the story: its state, its steps, running a step, its pictures and its bundle."""

import asyncio
from typing import Annotated, Final

from fastapi import Body, FastAPI, Path, Request
from starlette.responses import FileResponse

from uraniborg.console.sign_in import get_actor
from uraniborg.console.story_runner import StoryRunner
from uraniborg.kernel.errors import NotFound
from uraniborg.kernel.files import confine_path
from uraniborg.kernel.json_values import JsonObject
from uraniborg.story.replies import StoryState, StoryStepWithResult

StepName = Annotated[str, Path(max_length=50, description="The id of a step.")]
_TYPES: Final = {".svg": "image/svg+xml", ".zip": "application/zip"}


class StoryFileNotFound(NotFound):
    code = "story_file_not_found"


def add_story_routes(api: FastAPI, runner: StoryRunner) -> None:
    """Add the routes under `/api/story`."""

    @api.get("/api/story", tags=["story"], summary="Return the state of the story")
    async def get_story() -> StoryState:  # pyright: ignore[reportUnusedFunction]
        """Return the question and the steps, each with its status and one sentence."""
        return await runner.get_state()

    @api.get("/api/story/steps/{step_id}", tags=["story"], summary="Return a step")
    async def get_story_step(step_id: StepName) -> StoryStepWithResult:  # pyright: ignore[reportUnusedFunction]
        """Return a step with everything that it stored."""
        return await runner.story.get_step(step_id)

    @api.post("/api/story/steps/{step_id}", tags=["story"], summary="Run a step")
    async def run_story_step(  # pyright: ignore[reportUnusedFunction]
        request: Request,
        step_id: StepName,
        inputs: Annotated[JsonObject | None, Body(embed=True)] = None,
    ) -> StoryState:
        """Run a step, and return the state. After 20 seconds the state is returned while the step still runs."""
        await runner.run_step(step_id, inputs or {}, get_actor(request))
        return await runner.get_state()

    @api.post("/api/story/restart", tags=["story"], summary="Start the story over")
    async def restart_story(request: Request) -> StoryState:  # pyright: ignore[reportUnusedFunction]
        """Delete everything that the story has stored. Refused while a step runs."""
        await runner.story.restart(actor=get_actor(request))
        runner.error = None
        return await runner.get_state()

    @api.get(
        "/api/story/files/{path:path}",
        tags=["story"],
        summary="Return a picture or the bundle",
        response_class=FileResponse,
    )
    async def get_story_file(path: Annotated[str, Path(max_length=200)]) -> FileResponse:  # pyright: ignore[reportUnusedFunction]
        """Return a picture of the steps, or `bundle.zip`."""
        file = confine_path(runner.story.folder.own, *path.split("/"))
        kind = _TYPES.get(file.suffix)
        if kind is None or not await asyncio.to_thread(file.is_file):
            raise StoryFileNotFound(f"There is no file '{path[:80]}'.", hint="Use a picture of a step, or bundle.zip.")
        return FileResponse(file, media_type=kind, headers={"Cache-Control": "no-cache"})
