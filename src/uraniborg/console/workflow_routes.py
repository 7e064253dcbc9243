"""The routes of workflows: the library, drafts, checks and plans; and runs, which processes of their own execute."""

import asyncio
from contextlib import closing, suppress
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Body, FastAPI, Path, Query, Request

from pflow.engine.cancel_requests import request_cancel
from pflow.errors import SecurityError
from pflow.ir.checker import CheckResult
from pflow.library.listing import DRAFTS
from pflow.library.names import SUFFIX, validate_name
from pflow.library.workflow_file import compute_revision
from pflow.service import Service
from uraniborg.console.replies import JsonReply
from uraniborg.console.run_history_routes import add_run_history_routes
from uraniborg.console.run_questions import add_question_states
from uraniborg.console.run_workers import RunWorkers
from uraniborg.console.sign_in import PERSON
from uraniborg.console.workflow_replies import (
    CancelledRun,
    CheckReply,
    EndedRun,
    PlanReply,
    RunDetails,
    RunList,
    RunStatus,
    SavedDraft,
    StartedRun,
    WorkflowDescription,
    WorkflowList,
    WorkflowText,
    WrittenText,
)
from uraniborg.kernel.errors import Conflict

Name = Annotated[str, Path(max_length=100, description="The name of a workflow.")]
RunId = Annotated[str, Path(max_length=100, description="The id of a run, or its beginning.")]
Inputs = Annotated[dict[str, Any] | None, Body()]
Document = Annotated[dict[str, Any], Body()]
Revision = Annotated[
    str | None, Body(max_length=100, description="Refuse to replace a text that has another revision.")
]


class RunNotActive(Conflict):
    code = "run_not_active"


def add_workflow_routes(api: FastAPI, service: Service, workers: RunWorkers) -> None:
    """Add the routes under `/api/workflows` and `/api/runs`."""
    _add_library_routes(api, service)
    _add_draft_routes(api, service)
    add_run_history_routes(api, service, workers)
    _add_run_routes(api, service, workers)


def _add_library_routes(api: FastAPI, service: Service) -> None:
    @api.get(
        "/api/workflows", response_model=WorkflowList, tags=["workflows"], summary="List saved workflows and drafts"
    )
    async def list_workflows(  # pyright: ignore[reportUnusedFunction]
        pattern: Annotated[str | None, Query(max_length=100)] = None,
    ) -> JsonReply:
        """Return the saved workflows, as the tool `list_library` does, the drafts, and files that cannot be read."""
        saved = await asyncio.to_thread(service.list_library, pattern)
        drafts = await asyncio.to_thread(service.list_drafts)
        problems = await asyncio.to_thread(service.list_problems)
        return JsonReply(
            {
                "workflows": saved,
                "drafts": [
                    {
                        "name": one.name,
                        "description": one.description,
                        "inputs": list(one.inputs),
                        "updated_at": one.updated_at,
                    }
                    for one in drafts
                ],
                "problems": [
                    {"path": one.path, "problem": one.message, "draft": _find_draft_name(one.path)} for one in problems
                ],
            }
        )

    @api.get(
        "/api/workflows/{name}", response_model=WorkflowDescription, tags=["workflows"], summary="Describe a workflow"
    )
    async def describe_workflow(name: Name) -> JsonReply:  # pyright: ignore[reportUnusedFunction]
        """Return inputs, outputs, nodes, edges, statistics and diagnostics, as `describe_workflow` does."""
        return JsonReply(await asyncio.to_thread(service.describe_workflow, name))

    @api.post(
        "/api/workflows/check", response_model=CheckReply, tags=["workflows"], summary="Check the text of a workflow"
    )
    async def check_workflow(  # pyright: ignore[reportUnusedFunction]
        document: Annotated[Any, Body(embed=True)],
    ) -> JsonReply:
        """Return all findings of the checker, each with its position and the corrected text."""
        checked = await asyncio.to_thread(service.check_document, document)
        return JsonReply(
            {
                "valid": checked.workflow is not None and not checked.errors,
                "diagnostics": [one.to_dict() for one in checked.diagnostics],
            }
        )

    @api.post(
        "/api/workflows/{name}/plan", response_model=PlanReply, tags=["workflows"], summary="Say what a run would do"
    )
    async def plan_run(  # pyright: ignore[reportUnusedFunction]
        name: Name,
        inputs: Annotated[dict[str, Any] | None, Body(embed=True)] = None,
    ) -> JsonReply:
        """Return which nodes would run and which results would be reused. Nothing runs."""
        found = await asyncio.to_thread(service.find_workflow, name)
        steps = await asyncio.to_thread(service.plan_run, found.stored.ir, inputs, name=found.stored.name)
        return JsonReply({"steps": steps})


def _add_draft_routes(api: FastAPI, service: Service) -> None:
    @api.get("/api/drafts/{name}", response_model=WorkflowText, tags=["workflows"], summary="Read a draft")
    async def read_draft(name: Name) -> JsonReply:  # pyright: ignore[reportUnusedFunction]
        """Return the text of a draft. A file that is not a workflow has its text and its problem."""
        return JsonReply(
            {"name": name, "source": "draft", **asdict(await asyncio.to_thread(service.read_draft_text, name))}
        )

    @api.put("/api/drafts/{name}", response_model=WrittenText, tags=["workflows"], summary="Write a draft")
    async def write_draft(  # pyright: ignore[reportUnusedFunction]
        name: Name,
        document: Document,
        revision: Revision = None,
        create: Annotated[bool, Body(description="Refuse a name that a workflow has, readable or not.")] = False,
    ) -> JsonReply:
        """Store the text of a workflow as a draft, valid or not, and return the findings of the checker."""
        if create:
            await asyncio.to_thread(service.create_draft, name, document)
        else:
            await asyncio.to_thread(service.write_draft, name, document, revision)
        return _make_written_text(name, document, await asyncio.to_thread(service.check_document, document))

    @api.put(
        "/api/workflows/{name}", response_model=WrittenText, tags=["workflows"], summary="Replace a saved workflow"
    )
    async def replace_workflow(  # pyright: ignore[reportUnusedFunction]
        name: Name, document: Document, revision: Revision = None
    ) -> JsonReply:
        """Replace the text of a saved workflow by a valid one. Its name and its description stay."""
        checked = await asyncio.to_thread(service.replace_workflow, name, document, revision)
        return _make_written_text(name, document, checked)

    @api.post(
        "/api/drafts/{name}/save", response_model=SavedDraft, tags=["workflows"], summary="Save a draft to the library"
    )
    async def save_draft(  # pyright: ignore[reportUnusedFunction]
        name: Name, final_name: Annotated[str, Body()], description: Annotated[str, Body()]
    ) -> JsonReply:
        """Move a draft to the library, as the tool `save_to_library` does."""
        return JsonReply(await asyncio.to_thread(service.save_to_library, name, final_name, description))


def _find_draft_name(path: str) -> str | None:
    """Return the name of the draft at a path of the home, or None if there is no such draft."""
    folder, _, file = path.rpartition("/")
    with suppress(SecurityError):
        return validate_name(file.removesuffix(SUFFIX)) if folder == DRAFTS else None
    return None


def _make_written_text(name: str, document: dict[str, Any], checked: CheckResult) -> JsonReply:
    diagnostics = [one.to_dict() for one in checked.diagnostics]
    return JsonReply({"name": name, "diagnostics": diagnostics, "revision": compute_revision(document)})


def _add_run_routes(api: FastAPI, service: Service, workers: RunWorkers) -> None:
    @api.post(
        "/api/runs", response_model=StartedRun | EndedRun, tags=["runs"], summary="Run a workflow", status_code=202
    )
    async def start_run(  # pyright: ignore[reportUnusedFunction]
        request: Request,
        name: Annotated[str, Body(max_length=100)],
        inputs: Inputs = None,
        fresh: Annotated[bool, Body(description="Discard the results of earlier runs.")] = False,
    ) -> JsonReply:
        """Start a run and return its id; or the reply of `execute` if the workflow cannot run."""
        return JsonReply(await workers.start_run(name, inputs, person=str(request.scope[PERSON]), fresh=fresh), 202)

    @api.get("/api/runs", response_model=RunList, tags=["runs"], summary="List runs")
    async def list_runs(  # pyright: ignore[reportUnusedFunction]
        workflow: Annotated[str | None, Query(max_length=100)] = None,
        status: RunStatus | None = None,
        before: Annotated[str | None, Query(max_length=100, description="`next` of the page before.")] = None,
        limit: Annotated[int, Query(ge=1, le=1_000)] = 50,
    ) -> JsonReply:
        """Return a page of the runs of one workflow or of all, the latest first."""
        runs = await asyncio.to_thread(_read_runs, service, workflow, limit, status, before)
        await asyncio.to_thread(add_question_states, workers.inbox, runs)
        return JsonReply({"runs": runs, "next": runs[-1]["id"] if len(runs) == limit else None})

    @api.get("/api/runs/{run_id}", response_model=RunDetails, tags=["runs"], summary="Return a run with its nodes")
    async def get_run(run_id: RunId) -> JsonReply:  # pyright: ignore[reportUnusedFunction]
        run = await asyncio.to_thread(_read_run, service, run_id)
        await asyncio.to_thread(add_question_states, workers.inbox, [run])
        return JsonReply(run)

    @api.post(
        "/api/runs/{run_id}/cancel", response_model=CancelledRun, tags=["runs"], summary="Cancel a run", status_code=202
    )
    async def cancel_run(run_id: RunId) -> JsonReply:  # pyright: ignore[reportUnusedFunction]
        """Ask the process of the run, whichever it is, to cancel it. The run can be resumed."""
        run = await asyncio.to_thread(_read_run, service, run_id)
        if run["status"] != "running":
            raise RunNotActive(
                f"The run has ended: {run['status']}.", hint="Only an active run can be cancelled.", run_id=run["id"]
            )
        await asyncio.to_thread(request_cancel, service.home, run["id"])
        return JsonReply({"run_id": run["id"], "status": "cancelling"}, 202)


def _read_runs(
    service: Service, workflow: str | None, limit: int, status: str | None, before: str | None
) -> list[dict[str, Any]]:
    with closing(service.open_run_log()) as log:
        return log.list_runs(workflow, limit, status=status, before=before)


def _read_run(service: Service, run_id: str) -> dict[str, Any]:
    with closing(service.open_run_log()) as log:
        return log.get_run(run_id)
