"""The routes around runs: graphs, texts and components of workflows; resuming, comparing, approvals and schedules."""

import asyncio
from typing import Annotated, Any, Literal

from fastapi import Body, FastAPI, Path, Query, Request

from pflow.errors import SchedulerUnavailable
from pflow.library.workflow_file import compute_revision
from pflow.scheduling.installed_schedules import list_installed_schedules, remove_schedule
from pflow.service import Service
from uraniborg.console.replies import JsonReply
from uraniborg.console.run_item_replies import NodeMessages, RunItemPage
from uraniborg.console.run_questions import add_question_states, find_approval_id
from uraniborg.console.run_workers import RunWorkers
from uraniborg.console.sign_in import PERSON
from uraniborg.console.workflow_replies import (
    AddedSchedule,
    ComponentList,
    EndedRun,
    NodeStatus,
    RunApprovals,
    RunComparison,
    RunNode,
    RunProgress,
    ScheduleList,
    StartedRun,
    WorkflowGraph,
    WorkflowText,
)

_MAX_APPROVALS = 500
Name = Annotated[str, Path(max_length=100, description="The name of a workflow.")]
RunId = Annotated[str, Path(max_length=100, description="The id of a run, or its beginning.")]
NodeKey = Annotated[str, Query(max_length=1_000, description="The node, such as `collect` or `outer/inner`.")]


def add_run_history_routes(api: FastAPI, service: Service, workers: RunWorkers) -> None:
    """Add the routes."""
    _add_reading_routes(api, service, workers)
    _add_resume_routes(api, service, workers)
    _add_schedule_routes(api, service)


def _add_reading_routes(api: FastAPI, service: Service, workers: RunWorkers) -> None:
    @api.get("/api/components", response_model=ComponentList, tags=["workflows"], summary="List types of nodes")
    async def list_components(  # pyright: ignore[reportUnusedFunction]
        query: Annotated[str, Query(max_length=500)] = "",
        workflows: bool = False,
        in_full: Annotated[
            bool, Query(description="Describe the parameters of all types, not of the best alone.")
        ] = False,
    ) -> JsonReply:
        """Return the types of nodes that match a query, the best first, as the tool `browse_components` does."""
        return JsonReply(await asyncio.to_thread(service.browse_components, query, workflows, in_full=in_full))

    @api.get(
        "/api/workflows/{name}/graph", response_model=WorkflowGraph, tags=["workflows"], summary="Return the graph"
    )
    async def get_workflow_graph(name: Name) -> JsonReply:  # pyright: ignore[reportUnusedFunction]
        """Return all nodes and edges of a workflow, for drawing."""
        return JsonReply(await asyncio.to_thread(service.describe_graph, name))

    @api.get(
        "/api/workflows/{name}/document", response_model=WorkflowText, tags=["workflows"], summary="Read a workflow"
    )
    async def read_workflow(name: Name) -> JsonReply:  # pyright: ignore[reportUnusedFunction]
        """Return the text of a saved workflow, or of the draft of this name."""
        stored = (await asyncio.to_thread(service.find_workflow, name)).stored
        reply = {"name": stored.name, "source": stored.source, "document": stored.ir}
        return JsonReply({**reply, "revision": compute_revision(stored.ir)})

    @api.get(
        "/api/runs/{run_id}/progress", response_model=RunProgress, tags=["runs"], summary="Return the progress of a run"
    )
    async def get_run_progress(  # pyright: ignore[reportUnusedFunction]
        run_id: RunId,
        after: Annotated[int, Query(ge=0, le=2**53, description="`seq` of the last known node, or `next`.")] = 0,
        limit: Annotated[int, Query(ge=1, le=5_000)] = 1_000,
    ) -> JsonReply:
        """Return a run, its graph, the nodes that have ended, and with `after` 0 those that run or have just ended."""
        progress = await asyncio.to_thread(service.read_run_progress, run_id, after, limit)
        run = progress["run"]
        await asyncio.to_thread(add_question_states, workers.inbox, [run])
        approval_id = find_approval_id(run)
        resumes = approval_id is not None and await workers.resumes_when_decided(run["id"], approval_id)
        # After the look at the workers: a run that they have just resumed is in the log.
        resumed_as = await asyncio.to_thread(service.find_later_run, run["id"])
        return JsonReply({**progress, "resumes_when_decided": resumes, "resumed_as": resumed_as})

    @api.get("/api/runs/{run_id}/nodes/{seq}", response_model=RunNode, tags=["runs"], summary="Return a node of a run")
    async def get_run_node(  # pyright: ignore[reportUnusedFunction]
        run_id: RunId, seq: Annotated[int, Path(ge=0, le=2**53, description="The `seq` of the node.")]
    ) -> JsonReply:
        """Return a node that has ended, with its inputs, outputs and messages."""
        return JsonReply(await asyncio.to_thread(service.read_run_node, run_id, seq))

    @api.get("/api/runs/{run_id}/items", response_model=RunItemPage, tags=["runs"], summary="List items of a batch")
    async def list_run_items(  # pyright: ignore[reportUnusedFunction]
        run_id: RunId,
        node: NodeKey,
        status: Annotated[NodeStatus | None, Query(description="Only items that ended so.")] = None,
        after: Annotated[int, Query(ge=-1, le=2**53, description="`item` of the last known item, or `next`.")] = -1,
        limit: Annotated[int, Query(ge=1, le=200)] = 100,
    ) -> JsonReply:
        """Return the items of a batch that have ended, in their order, with their values."""
        return JsonReply(await asyncio.to_thread(service.list_run_items, run_id, node, status, after, limit))

    @api.get(
        "/api/runs/{run_id}/messages", response_model=NodeMessages, tags=["runs"], summary="List messages of a node"
    )
    async def list_node_messages(run_id: RunId, node: NodeKey) -> JsonReply:  # pyright: ignore[reportUnusedFunction]
        """Return the last messages of a node that runs. Those of a node that has ended are with its values."""
        return JsonReply({"messages": await asyncio.to_thread(service.list_node_messages, run_id, node)})

    @api.get("/api/run-comparison", response_model=RunComparison, tags=["runs"], summary="Compare two runs")
    async def compare_runs(  # pyright: ignore[reportUnusedFunction]
        first: Annotated[str, Query(max_length=100)], second: Annotated[str, Query(max_length=100)]
    ) -> JsonReply:
        """Return the inputs, outputs and nodes in which two runs differ."""
        compared = await asyncio.to_thread(service.compare_runs, first, second)
        await asyncio.to_thread(add_question_states, workers.inbox, [compared["first"], compared["second"]])
        return JsonReply(compared)


def _add_resume_routes(api: FastAPI, service: Service, workers: RunWorkers) -> None:
    @api.post(
        "/api/runs/{run_id}/resume",
        response_model=StartedRun | EndedRun,
        tags=["runs"],
        summary="Run a workflow again",
        status_code=202,
    )
    async def resume_run(  # pyright: ignore[reportUnusedFunction]
        request: Request,
        run_id: RunId,
        inputs: Annotated[dict[str, Any] | None, Body(description="Inputs to change; the others stay.")] = None,
        fresh: Annotated[bool, Body(description="Discard the results of earlier runs.")] = False,
    ) -> JsonReply:
        """Run the workflow of a run with the same inputs. A failed run is resumed: its results are reused."""
        name, given = await asyncio.to_thread(service.read_inputs_to_resume, run_id, inputs)
        return JsonReply(await workers.start_run(name, given, person=str(request.scope[PERSON]), fresh=fresh), 202)

    @api.get(
        "/api/runs/{run_id}/approvals", response_model=RunApprovals, tags=["runs"], summary="List approvals of a run"
    )
    async def list_run_approvals(run_id: RunId) -> JsonReply:  # pyright: ignore[reportUnusedFunction]
        """Return the questions that a run and the runs before it asked, with the answers."""

        def find_approvals() -> list[dict[str, Any]]:
            lineage = service.list_run_lineage(run_id)
            entries = workers.inbox.list_entries(part="pflow", limit=_MAX_APPROVALS)
            asked = [entry for entry in entries if entry.payload.get("lineage") in lineage]
            return [entry.model_dump(mode="json", exclude_none=True) for entry in asked]

        return JsonReply({"entries": await asyncio.to_thread(find_approvals)})


def _add_schedule_routes(api: FastAPI, service: Service) -> None:
    @api.get("/api/schedules", response_model=ScheduleList, tags=["workflows"], summary="List the schedules")
    async def list_schedules() -> JsonReply:  # pyright: ignore[reportUnusedFunction]
        """Return the workflows that this system runs at fixed times."""
        try:
            return JsonReply({"schedules": await asyncio.to_thread(list_installed_schedules), "problem": None})
        except SchedulerUnavailable as exc:
            return JsonReply({"schedules": [], "problem": exc.message})

    @api.put("/api/schedules/{name}", response_model=AddedSchedule, tags=["workflows"], summary="Add a schedule")
    async def add_schedule(  # pyright: ignore[reportUnusedFunction]
        name: Name,
        at: Annotated[str, Body(max_length=200, description="Such as `mon 07:00`, `weekdays 18:30` or `hourly`.")],
        inputs: Annotated[dict[str, Any] | None, Body()] = None,
        scheduler: Annotated[
            Literal["systemd", "cron", "launchd"] | None, Body(description="By default that of this system.")
        ] = None,
    ) -> JsonReply:
        """Let this system run a workflow at fixed times, with systemd, cron or launchd. An older schedule is replaced.

        Secrets are not written into a schedule: a run takes them from its environment.
        """
        return JsonReply(await asyncio.to_thread(service.add_schedule, name, at, inputs, scheduler))

    @api.delete("/api/schedules/{name}", tags=["workflows"], summary="Remove a schedule", status_code=204)
    async def delete_schedule(name: Name) -> None:  # pyright: ignore[reportUnusedFunction]
        """Remove the schedule of a workflow. The workflow stays."""
        await asyncio.to_thread(remove_schedule, service.home, name)
