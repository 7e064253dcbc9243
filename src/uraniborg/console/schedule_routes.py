"""Routes that list, add and remove schedules."""

import asyncio
from typing import Annotated, Any, Literal

from fastapi import Body, FastAPI, Request

from pflow.errors import SchedulerUnavailable
from pflow.scheduling.installed_schedules import list_installed_schedules, remove_schedule
from pflow.service import Service
from pflow.workflow_replies import AddedSchedule, ScheduleList
from uraniborg.console.route_parameters import WorkflowName
from uraniborg.console.sign_in import get_actor


def add_schedule_routes(api: FastAPI, service: Service) -> None:
    """Add the routes under `/api/schedules`."""

    @api.get("/api/schedules", tags=["workflows"], summary="List the schedules")
    async def list_schedules() -> ScheduleList:  # pyright: ignore[reportUnusedFunction]
        """Return the workflows that this system runs at fixed times."""
        try:
            found = await asyncio.to_thread(list_installed_schedules, service.home)
        except SchedulerUnavailable as exc:
            return {"schedules": [], "problem": exc.message}
        return {"schedules": found, "problem": None}

    @api.put("/api/schedules/{name}", tags=["workflows"], summary="Add a schedule")
    async def add_schedule(  # pyright: ignore[reportUnusedFunction]
        request: Request,
        name: WorkflowName,
        at: Annotated[str, Body(max_length=200, description="Such as `mon 07:00`, `weekdays 18:30` or `hourly`.")],
        inputs: Annotated[dict[str, Any] | None, Body()] = None,
        scheduler: Annotated[
            Literal["systemd", "cron", "launchd"] | None, Body(description="By default that of this system.")
        ] = None,
    ) -> AddedSchedule:
        """Let this system run a workflow at fixed times, with systemd, cron or launchd. An older schedule is replaced.

        Secrets are not written into a schedule: a run takes them from its environment.
        """
        actor = get_actor(request)
        return await asyncio.to_thread(service.add_schedule, name, at, inputs, scheduler, actor)

    @api.delete("/api/schedules/{name}", tags=["workflows"], summary="Remove a schedule", status_code=204)
    async def delete_schedule(request: Request, name: WorkflowName) -> None:  # pyright: ignore[reportUnusedFunction]
        """Remove the schedule of a workflow. The workflow stays."""
        await asyncio.to_thread(remove_schedule, service.home, name, None, get_actor(request))
