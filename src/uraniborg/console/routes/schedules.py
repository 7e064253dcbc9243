"""Routes that list, add and remove schedules."""

import asyncio
from typing import Annotated, Literal

from fastapi import Body

from pflow.errors import SchedulerUnavailable
from pflow.scheduling.installed_schedules import list_installed_schedules, remove_schedule
from pflow.workflow_replies import AddedSchedule, ScheduleList
from uraniborg.console.routes.dependencies import Sender, WorkflowName, make_router
from uraniborg.console.services import Services
from uraniborg.kernel.json_values import JsonObject

router = make_router("workflows")


@router.get("/api/schedules", summary="List the schedules")
async def list_schedules(services: Services) -> ScheduleList:
    """Return the workflows that this system runs at fixed times."""
    try:
        found = await asyncio.to_thread(list_installed_schedules, services.workflows.home)
    except SchedulerUnavailable as exc:
        return {"schedules": [], "problem": exc.message}
    return {"schedules": found, "problem": None}


@router.put("/api/schedules/{name}", summary="Add a schedule")
async def add_schedule(
    services: Services,
    actor: Sender,
    name: WorkflowName,
    at: Annotated[str, Body(max_length=200, description="Such as `mon 07:00`, `weekdays 18:30` or `hourly`.")],
    inputs: Annotated[JsonObject | None, Body()] = None,
    scheduler: Annotated[
        Literal["systemd", "cron", "launchd"] | None, Body(description="By default that of this system.")
    ] = None,
) -> AddedSchedule:
    """Let this system run a workflow at fixed times, with systemd, cron or launchd. An older schedule is replaced.

    Secrets are not written into a schedule: a run takes them from its environment.
    """
    return await asyncio.to_thread(services.workflows.add_schedule, name, at, inputs, scheduler, actor)


@router.delete("/api/schedules/{name}", summary="Remove a schedule", status_code=204)
async def delete_schedule(services: Services, actor: Sender, name: WorkflowName) -> None:
    """Remove the schedule of a workflow. The workflow stays."""
    await asyncio.to_thread(remove_schedule, services.workflows.home, name, None, actor)
