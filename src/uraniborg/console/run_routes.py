"""Routes that start, resume, list, read and cancel runs, which processes of their own execute."""

import asyncio
from typing import Annotated, Any

from fastapi import Body, FastAPI, Query, Request

from pflow.run_replies import CancelledRun, EndedRun, RunDetails, RunList, RunStatus, StartedRun
from pflow.service import Service
from uraniborg.console.route_parameters import RunId
from uraniborg.console.run_questions import add_question_states
from uraniborg.console.run_workers import RunWorkers
from uraniborg.console.sign_in import get_actor
from uraniborg.kernel.errors import Conflict


class RunNotActive(Conflict):
    code = "run_not_active"


def add_run_routes(api: FastAPI, service: Service, workers: RunWorkers) -> None:
    """Add the routes."""
    _add_starting_routes(api, service, workers)
    _add_listing_routes(api, service, workers)


def _add_starting_routes(api: FastAPI, service: Service, workers: RunWorkers) -> None:
    @api.post("/api/runs", tags=["runs"], summary="Run a workflow", status_code=202)
    async def start_run(  # pyright: ignore[reportUnusedFunction]
        request: Request,
        name: Annotated[str, Body(max_length=100)],
        inputs: Annotated[dict[str, Any] | None, Body()] = None,
        fresh: Annotated[bool, Body(description="Discard the results of earlier runs.")] = False,
    ) -> StartedRun | EndedRun:
        """Start a run and return its id; or the reply of `execute` if the workflow cannot run."""
        return await workers.start_run(name, inputs, actor=get_actor(request), fresh=fresh)

    @api.post(
        "/api/runs/{run_id}/resume",
        tags=["runs"],
        summary="Run a workflow again",
        status_code=202,
    )
    async def resume_run(  # pyright: ignore[reportUnusedFunction]
        request: Request,
        run_id: RunId,
        inputs: Annotated[dict[str, Any] | None, Body(description="Inputs to change; the others stay.")] = None,
        fresh: Annotated[bool, Body(description="Discard the results of earlier runs.")] = False,
    ) -> StartedRun | EndedRun:
        """Run the workflow of a run with the same inputs. A failed run is resumed: its results are reused."""
        name, given = await asyncio.to_thread(service.history.read_inputs_to_resume, run_id, inputs)
        return await workers.start_run(name, given, actor=get_actor(request), fresh=fresh)


def _add_listing_routes(api: FastAPI, service: Service, workers: RunWorkers) -> None:
    @api.get("/api/runs", tags=["runs"], summary="List runs")
    async def list_runs(  # pyright: ignore[reportUnusedFunction]
        workflow: Annotated[str | None, Query(max_length=100)] = None,
        status: RunStatus | None = None,
        before: Annotated[str | None, Query(max_length=100, description="`next` of the page before.")] = None,
        limit: Annotated[int, Query(ge=1, le=1_000)] = 50,
    ) -> RunList:
        """Return a page of the runs of one workflow or of all, the latest first."""
        runs = await asyncio.to_thread(service.history.list_runs, workflow, limit, status=status, before=before)
        await asyncio.to_thread(add_question_states, workers.inbox, runs)
        return {"runs": runs, "next": runs[-1]["id"] if len(runs) == limit else None}

    @api.get("/api/runs/{run_id}", tags=["runs"], summary="Return a run with its nodes")
    async def get_run(run_id: RunId) -> RunDetails:  # pyright: ignore[reportUnusedFunction]
        run = await asyncio.to_thread(service.history.get_run, run_id)
        await asyncio.to_thread(add_question_states, workers.inbox, [run])
        return run

    @api.post("/api/runs/{run_id}/cancel", tags=["runs"], summary="Cancel a run", status_code=202)
    async def cancel_run(  # pyright: ignore[reportUnusedFunction]
        request: Request, run_id: RunId
    ) -> CancelledRun:
        """Ask the process of the run, whichever it is, to cancel it. The run can be resumed."""
        run = await asyncio.to_thread(service.history.get_run, run_id)
        if run["status"] != "running":
            raise RunNotActive(
                f"The run has ended: {run['status']}.", hint="Only an active run can be cancelled.", run_id=run["id"]
            )
        await asyncio.to_thread(service.cancel_run, run["id"], get_actor(request))
        return {"run_id": run["id"], "status": "cancelling"}
