"""Routes that start, resume, list, read and cancel runs, which processes of their own execute."""

import asyncio
from typing import Annotated

from fastapi import Body, Query

from pflow.run_replies import CancelledRun, EndedRun, RunDetails, RunList, RunStatus, StartedRun
from uraniborg.console.routes.dependencies import RunId, Sender, make_router
from uraniborg.console.services import Services
from uraniborg.console.workers.run_questions import add_question_states
from uraniborg.kernel.errors import Conflict
from uraniborg.kernel.json_values import JsonObject


class RunNotActive(Conflict):
    code = "run_not_active"


router = make_router("runs")


@router.post("/api/runs", summary="Run a workflow", status_code=202)
async def start_run(
    services: Services,
    actor: Sender,
    name: Annotated[str, Body(max_length=100)],
    inputs: Annotated[JsonObject | None, Body()] = None,
    fresh: Annotated[bool, Body(description="Discard the results of earlier runs.")] = False,
) -> StartedRun | EndedRun:
    """Start a run and return its id; or the reply of `execute` if the workflow cannot run."""
    return await services.runs.start_run(name, inputs, actor=actor, fresh=fresh)


@router.post(
    "/api/runs/{run_id}/resume",
    summary="Run a workflow again",
    status_code=202,
)
async def resume_run(
    services: Services,
    actor: Sender,
    run_id: RunId,
    inputs: Annotated[JsonObject | None, Body(description="Inputs to change; the others stay.")] = None,
    fresh: Annotated[bool, Body(description="Discard the results of earlier runs.")] = False,
) -> StartedRun | EndedRun:
    """Run the workflow of a run with the same inputs. A failed run is resumed: its results are reused."""
    name, given = await asyncio.to_thread(services.workflows.history.read_inputs_to_resume, run_id, inputs)
    return await services.runs.start_run(name, given, actor=actor, fresh=fresh)


@router.get("/api/runs", summary="List runs")
async def list_runs(
    services: Services,
    workflow: Annotated[str | None, Query(max_length=100)] = None,
    status: RunStatus | None = None,
    before: Annotated[str | None, Query(max_length=100, description="`next` of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 50,
) -> RunList:
    """Return a page of the runs of one workflow or of all, the latest first."""
    runs = await asyncio.to_thread(services.workflows.history.list_runs, workflow, limit, status=status, before=before)
    await asyncio.to_thread(add_question_states, services.runs.inbox, runs)
    return {"runs": runs, "next": runs[-1]["id"] if len(runs) == limit else None}


@router.get("/api/runs/{run_id}", summary="Return a run with its nodes")
async def get_run(services: Services, run_id: RunId) -> RunDetails:
    run = await asyncio.to_thread(services.workflows.history.get_run, run_id)
    await asyncio.to_thread(add_question_states, services.runs.inbox, [run])
    return run


@router.post("/api/runs/{run_id}/cancel", summary="Cancel a run", status_code=202)
async def cancel_run(services: Services, actor: Sender, run_id: RunId) -> CancelledRun:
    """Ask the process of the run, whichever it is, to cancel it. The run can be resumed."""
    run = await asyncio.to_thread(services.workflows.history.get_run, run_id)
    if run["status"] != "running":
        raise RunNotActive(
            f"The run has ended: {run['status']}.", hint="Only an active run can be cancelled.", run_id=run["id"]
        )
    await asyncio.to_thread(services.workflows.cancel_run, run["id"], actor)
    return {"run_id": run["id"], "status": "cancelling"}
