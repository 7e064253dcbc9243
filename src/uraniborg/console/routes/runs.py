"""Routes for runs of workflows: start, resume, cancel, list, read and compare them, and schedules."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated, Literal

from fastapi import Body, Path, Query

from pflow.errors import SchedulerUnavailable
from pflow.service.installed_schedules import list_installed_schedules, remove_schedule
from pflow.service.run_replies import (
    CancelledRun,
    EndedRun,
    NodeMessages,
    NodeStatus,
    QuestionAnswer,
    RunComparison,
    RunDetails,
    RunItemPage,
    RunList,
    RunNode,
    RunStatus,
    RunSummary,
    StartedRun,
)
from pflow.service.workflow_replies import AddedSchedule, ScheduleList
from uraniborg.console.api import RunId, Sender, WorkflowName, make_router
from uraniborg.console.replies import RunApprovals, RunProgress
from uraniborg.console.services import Services
from uraniborg.inbox_replies import describe_approvals
from uraniborg.kernel.errors import Conflict
from uraniborg.kernel.json_values import JsonObject
from uraniborg.kernel.store.inbox import DecisionNotFound, Inbox, InboxEntry


def add_question_states(inbox: Inbox, runs: Sequence[RunSummary]) -> None:
    """Set `question_state` of the runs that wait, and `question_answer` if the question is decided.

    Both are None for other runs, and if the question was deleted.
    """
    asked = {run["id"]: approval_id for run in runs if (approval_id := find_approval_id(run))}
    entries = _read_settled_entries(inbox, list(set(asked.values()))) if asked else {}
    for run in runs:
        approval_id = asked.get(run["id"], "")
        entry = entries.get(approval_id)
        run["question_state"] = entry.state if entry else "pending" if approval_id in entries else None
        run["question_answer"] = _describe_answer(entry) if entry else None


def find_approval_id(run: RunSummary) -> str | None:
    """Return the id of the question that a run of the log waits for, or None."""
    return run["error"].get("approval_id") if run["error"] and run["status"] == "waiting" else None


def _read_settled_entries(inbox: Inbox, ids: Sequence[str]) -> dict[str, InboxEntry | None]:
    """Return the entries by their ids; None for those that wait for a decision. Deleted ones are left out."""
    missing = inbox.missing(ids)
    entries: dict[str, InboxEntry | None] = {one: None for one in ids if one not in missing}
    entries |= {entry.id: entry for entry in inbox.settled(ids)}
    for one in missing:
        with suppress(DecisionNotFound):
            entries[one] = inbox.get(one)  # archived
    return entries


def _describe_answer(entry: InboxEntry) -> QuestionAnswer | None:
    if entry.decision is None:
        return None
    return {
        "action": entry.decision.action,
        "note": entry.decision.note,
        "door": entry.door,
        "decided_by": entry.decided_by,
    }


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

    def find_approvals() -> list[InboxEntry]:
        lineage = services.workflows.history.list_lineage(run_id)
        entries = services.runs.inbox.list_entries(part="pflow", limit=_MAX_APPROVALS).entries
        return [entry for entry in entries if entry.payload.get("lineage") in lineage]

    return {"entries": describe_approvals(await asyncio.to_thread(find_approvals))}


class RunNotActive(Conflict):
    code = "run_not_active"


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


schedule_router = make_router("workflows")


@schedule_router.get("/api/schedules", summary="List the schedules")
async def list_schedules(services: Services) -> ScheduleList:
    """Return the workflows that this system runs at fixed times."""
    try:
        found = await asyncio.to_thread(list_installed_schedules, services.workflows.home)
    except SchedulerUnavailable as exc:
        return {"schedules": [], "problem": exc.message}
    return {"schedules": found, "problem": None}


@schedule_router.put("/api/schedules/{name}", summary="Add a schedule")
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


@schedule_router.delete("/api/schedules/{name}", summary="Remove a schedule", status_code=204)
async def delete_schedule(services: Services, actor: Sender, name: WorkflowName) -> None:
    """Remove the schedule of a workflow. The workflow stays."""
    await asyncio.to_thread(remove_schedule, services.workflows.home, name, None, actor)
