"""Routes that read runs: progress, nodes, items, messages, approvals, and a comparison."""

import asyncio
from typing import Annotated

from fastapi import Path, Query

from pflow.run_replies import (
    NodeMessages,
    NodeStatus,
    RunComparison,
    RunItemPage,
    RunNode,
)
from uraniborg.console.replies import RunApprovals, RunProgress
from uraniborg.console.routes.dependencies import RunId, make_router
from uraniborg.console.services import Services
from uraniborg.console.workers.run_questions import add_question_states, find_approval_id
from uraniborg.inbox_replies import describe_approvals
from uraniborg.kernel.inbox import Entry

_MAX_APPROVALS = 500
NodeKey = Annotated[str, Query(max_length=1_000, description="The node, such as `collect` or `outer/inner`.")]


router = make_router("runs")


@router.get("/api/runs/{run_id}/progress", summary="Return the progress of a run")
async def get_run_progress(
    services: Services,
    run_id: RunId,
    after: Annotated[int, Query(ge=0, le=2**53, description="`seq` of the last known node, or `next`.")] = 0,
    limit: Annotated[int, Query(ge=1, le=5_000)] = 1_000,
) -> RunProgress:
    """Return a run, its graph, the nodes that have ended, and with `after` 0 those that run or have just ended."""
    progress = await asyncio.to_thread(services.workflows.history.read_progress, run_id, after, limit)
    run = progress["run"]
    await asyncio.to_thread(add_question_states, services.runs.inbox, [run])
    approval_id = find_approval_id(run)
    resumes = approval_id is not None and await services.runs.resumes_when_decided(run["id"], approval_id)
    # After the look at the workers: a run that they have just resumed is in the log.
    resumed_as = await asyncio.to_thread(services.workflows.history.find_later_run, run["id"])
    return {**progress, "resumes_when_decided": resumes, "resumed_as": resumed_as}


@router.get("/api/runs/{run_id}/nodes/{seq}", summary="Return a node of a run")
async def get_run_node(
    services: Services, run_id: RunId, seq: Annotated[int, Path(ge=0, le=2**53, description="The `seq` of the node.")]
) -> RunNode:
    """Return a node that has ended, with its inputs, outputs and messages."""
    return await asyncio.to_thread(services.workflows.history.read_node, run_id, seq)


@router.get("/api/runs/{run_id}/items", summary="List items of a batch")
async def list_run_items(
    services: Services,
    run_id: RunId,
    node: NodeKey,
    status: Annotated[NodeStatus | None, Query(description="Only items that ended so.")] = None,
    after: Annotated[int, Query(ge=-1, le=2**53, description="`item` of the last known item, or `next`.")] = -1,
    limit: Annotated[int, Query(ge=1, le=200)] = 100,
) -> RunItemPage:
    """Return the items of a batch that have ended, in their order, with their values."""
    return await asyncio.to_thread(services.workflows.history.list_items, run_id, node, status, after, limit)


@router.get("/api/runs/{run_id}/messages", summary="List messages of a node")
async def list_node_messages(services: Services, run_id: RunId, node: NodeKey) -> NodeMessages:
    """Return the last messages of a node that runs. Those of a node that has ended are with its values."""
    return {"messages": await asyncio.to_thread(services.workflows.history.list_messages, run_id, node)}


@router.get("/api/run-comparison", summary="Compare two runs")
async def compare_runs(
    services: Services, first: Annotated[str, Query(max_length=100)], second: Annotated[str, Query(max_length=100)]
) -> RunComparison:
    """Return the inputs, outputs and nodes in which two runs differ."""
    compared = await asyncio.to_thread(services.workflows.history.compare_runs, first, second)
    await asyncio.to_thread(add_question_states, services.runs.inbox, [compared["first"], compared["second"]])
    return compared


@router.get("/api/runs/{run_id}/approvals", summary="List approvals of a run")
async def list_run_approvals(services: Services, run_id: RunId) -> RunApprovals:
    """Return the questions that a run and the runs before it asked, with the answers."""

    def find_approvals() -> list[Entry]:
        lineage = services.workflows.history.list_lineage(run_id)
        entries = services.runs.inbox.list_entries(part="pflow", limit=_MAX_APPROVALS).entries
        return [entry for entry in entries if entry.payload.get("lineage") in lineage]

    return {"entries": describe_approvals(await asyncio.to_thread(find_approvals))}
