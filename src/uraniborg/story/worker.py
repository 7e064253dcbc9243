"""`python -m uraniborg.story.worker`: runs steps of the story and stores what they return, one at a time."""

import asyncio
import os
from collections.abc import Collection, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypedDict, cast

from uraniborg.kernel.actors import Actor
from uraniborg.kernel.clock import SystemClock, format_iso
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.processes.worker_dialogue import WorkerRequest, answer_requests
from uraniborg.kernel.progress_callbacks import ReportFraction
from uraniborg.kernel.settings import HOME
from uraniborg.kernel.shared_fields import ActorFields
from uraniborg.kernel.store.files import Lease, make_private_folder, write_atomic
from uraniborg.story.errors import StepDone, StepNotFound, StepNotReady, StepRunning
from uraniborg.story.folder import StoryFolder
from uraniborg.story.steps import DeclaredStep, StepContext, write_view

if TYPE_CHECKING:
    from uraniborg.story.results import Results, StepInputs, StepRecord


def load_steps() -> tuple[DeclaredStep, ...]:
    """Return all steps in their order. Imports all parts."""
    from uraniborg.story import bundle_step, nbody_steps, review_step, search_steps, shelf_steps, universe_steps

    return (
        *search_steps.STEPS,
        review_step.REVIEW,
        *shelf_steps.STEPS,
        universe_steps.BUILD,
        universe_steps.BRANCH,
        nbody_steps.INTEGRATE,
        nbody_steps.COMPARE,
        nbody_steps.BREAK,
        universe_steps.SCRUB,
        bundle_step.EXPORT,
    )


async def run_step(
    folder: StoryFolder, step_id: str, given: "JsonObject", *, actor: Actor, door: str, progress: ReportFraction
) -> None:
    """Run a step and store its result; the results of later steps are dropped.

    Raise StepNotFound, StepNotReady, StepDone, StepRunning, InvalidInput, or the error of the step.
    """
    steps = load_steps()
    index = find_step(steps, step_id)
    make_private_folder(folder.own)
    lease = Lease(folder.lease_file)
    if not lease.acquire():
        raise StepRunning("Another step is running.", hint="Wait until it has ended.", step=step_id)
    try:
        records = folder.read_records()
        check_ready(steps, index, records)
        step, results = steps[index], cast("Results", {key: record["result"] for key, record in records.items()})
        if unknown := sorted(set(given) - {one.name for one in step.inputs}):
            raise InvalidInput(
                f"'{unknown[0][:80]}' is not an input of the step {step.id}.",
                hint=f"Its inputs: {', '.join(one.name for one in step.inputs) or 'none'}.",
                argument=unknown[0][:80],
            )
        inputs: JsonObject = {one.name: one.read(given, results) for one in step.inputs}
        os.environ["URANIBORG_USER"] = actor.name
        started = format_iso(SystemClock().now())
        with _mark_running(folder, step.id):
            result = await step.run(StepContext(folder, results, actor, door, progress), cast("StepInputs", inputs))
        kept = {one.id: records[one.id] for one in steps[:index]}
        ended = format_iso(SystemClock().now())
        record: StepRecord = {
            "by": actor.name,
            "actor": actor.model_dump(),
            "started_at": started,
            "ended_at": ended,
            "inputs": inputs,
            "result": result,
        }
        folder.write_records({**kept, step.id: record})
        write_view(folder, steps)
    finally:
        lease.release()


@contextmanager
def _mark_running(folder: StoryFolder, step_id: str) -> Generator[None]:
    """Store which step runs until it ends; the mark stays if the server that follows the step was killed."""
    write_atomic(folder.running_step_file, step_id)
    is_abandoned = False
    try:
        yield
    except BrokenPipeError:
        is_abandoned = True
        raise
    finally:
        if not is_abandoned:
            folder.running_step_file.unlink(missing_ok=True)


def describe_story(folder: StoryFolder) -> None:
    """Store the view of the steps as they are. Raise StoryUnreadable."""
    write_view(folder, load_steps())


def find_step(steps: tuple[DeclaredStep, ...], step_id: str) -> int:
    """Return the index of a step. Raise StepNotFound."""
    for index, step in enumerate(steps):
        if step.id == step_id:
            return index
    raise StepNotFound(
        f"There is no step '{step_id[:50]}'.",
        hint=f"Steps: {', '.join(step.id for step in steps)}.",
        allowed=[step.id for step in steps],
    )


def check_ready(steps: tuple[DeclaredStep, ...], index: int, records: Collection[str]) -> None:
    """Raise StepNotReady if an earlier step has not been run, and StepDone if this one cannot be run again."""
    step = steps[index]
    missing = next((one for one in steps[:index] if one.id not in records), None)
    if missing is not None:
        raise StepNotReady(
            f"The step '{step.id}' needs the step '{missing.id}' first.", hint=f"Run '{missing.id}'.", step=missing.id
        )
    if step.id in records and not step.can_repeat:
        raise StepDone(
            f"The step '{step.id}' is done and cannot be run again.",
            hint="Run a later step, or start the story over: uraniborg demo --restart.",
            step=step.id,
        )


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


def _answer(request: WorkerRequest[StoryRequest, float, None]) -> None:
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
