"""Routes for workflows: library, drafts, graphs, texts, node types, checks and plans."""

import asyncio
from contextlib import suppress
from typing import Annotated, Any

from fastapi import Body, Query

from pflow.domain.ir.checker import CheckResult
from pflow.errors import SecurityError
from pflow.service.workflow_replies import (
    CheckReply,
    ComponentList,
    PlanReply,
    SavedDraft,
    WorkflowDescription,
    WorkflowGraph,
    WorkflowList,
    WorkflowText,
    WrittenText,
)
from pflow.store.workflow_file import SUFFIX, compute_revision, validate_name
from pflow.store.workflow_listing import DRAFTS
from uraniborg.console.api import Sender, WorkflowName, make_router
from uraniborg.console.services import Services
from uraniborg.kernel.json_values import JsonObject

Document = Annotated[JsonObject, Body()]
Revision = Annotated[
    str | None, Body(max_length=100, description="Refuse to replace a text that has another revision.")
]


router = make_router("workflows")


@router.get("/api/workflows", summary="List saved workflows and drafts")
async def list_workflows(
    services: Services,
    pattern: Annotated[str | None, Query(max_length=100)] = None,
) -> WorkflowList:
    """Return the saved workflows, as the tool `list_library` does, the drafts, and files that cannot be read."""
    saved = await asyncio.to_thread(services.workflows.list_library, pattern)
    drafts = await asyncio.to_thread(services.workflows.list_drafts)
    problems = await asyncio.to_thread(services.workflows.list_problems)
    written_by = await asyncio.to_thread(services.workflows.texts.list_writers)
    writers = {key: actor and actor.model_dump() for key, actor in written_by.items()}
    return {
        "workflows": [{**one, "actor": writers.get(("library", one["name"]))} for one in saved],
        "drafts": [
            {
                "name": one.name,
                "description": one.description,
                "inputs": list(one.inputs),
                "updated_at": one.updated_at,
                "actor": writers.get(("draft", one.name)),
            }
            for one in drafts
        ],
        "problems": [
            {"path": one.path, "problem": one.message, "draft": _find_draft_name(one.path)} for one in problems
        ],
    }


@router.get("/api/workflows/{name}", summary="Describe a workflow")
async def describe_workflow(services: Services, name: WorkflowName) -> WorkflowDescription:
    """Return inputs, outputs, nodes, edges, statistics and diagnostics, as `describe_workflow` does."""
    return await asyncio.to_thread(services.workflows.describe_workflow, name)


@router.post("/api/workflows/check", summary="Check the text of a workflow")
async def check_workflow(
    services: Services,
    document: Annotated[Any, Body(embed=True)],
) -> CheckReply:
    """Return all findings of the checker, each with its position and the corrected text."""
    checked = await asyncio.to_thread(services.workflows.check_document, document)
    return {
        "valid": checked.workflow is not None and not checked.errors,
        "diagnostics": [one.to_dict() for one in checked.diagnostics],
    }


@router.post("/api/workflows/{name}/plan", summary="Say what a run would do")
async def plan_run(
    services: Services,
    name: WorkflowName,
    inputs: Annotated[JsonObject | None, Body(embed=True)] = None,
) -> PlanReply:
    """Return which nodes would run and which results would be reused. Nothing runs."""
    found = await asyncio.to_thread(services.workflows.find_workflow, name)
    steps = await asyncio.to_thread(services.workflows.plan_run, found.stored.ir, inputs, name=found.stored.name)
    return {"steps": steps}


@router.get("/api/components", summary="List types of nodes")
async def list_components(
    services: Services,
    query: Annotated[str, Query(max_length=500)] = "",
    workflows: bool = False,
    in_full: Annotated[bool, Query(description="Describe the parameters of all types, not of the best alone.")] = False,
) -> ComponentList:
    """Return the types of nodes that match a query, the best first, as the tool `browse_components` does."""
    return await asyncio.to_thread(services.workflows.browse_components, query, workflows, in_full=in_full)


@router.get("/api/workflows/{name}/graph", summary="Return the graph")
async def get_workflow_graph(services: Services, name: WorkflowName) -> WorkflowGraph:
    """Return all nodes and edges of a workflow, for drawing."""
    return await asyncio.to_thread(services.workflows.describe_graph, name)


@router.get("/api/workflows/{name}/document", summary="Read a workflow")
async def read_workflow(services: Services, name: WorkflowName) -> WorkflowText:
    """Return the text of a saved workflow, or of the draft of this name."""
    stored = (await asyncio.to_thread(services.workflows.find_workflow, name)).stored
    return {
        "name": stored.name,
        "source": stored.source,
        "document": stored.ir,
        "revision": compute_revision(stored.ir),
    }


@router.get("/api/drafts/{name}", summary="Read a draft")
async def read_draft(services: Services, name: WorkflowName) -> WorkflowText:
    """Return the text of a draft. A file that is not a workflow has its text and its problem."""
    draft = await asyncio.to_thread(services.workflows.texts.read_draft_text, name)
    return {
        "name": name,
        "source": "draft",
        "document": draft.document,
        "revision": draft.revision,
        "text": draft.text,
        "diagnostics": list(draft.diagnostics),
    }


@router.put("/api/drafts/{name}", summary="Write a draft")
async def write_draft(
    services: Services,
    actor: Sender,
    name: WorkflowName,
    document: Document,
    revision: Revision = None,
    create: Annotated[bool, Body(description="Refuse a name that a workflow has, readable or not.")] = False,
) -> WrittenText:
    """Store the text of a workflow as a draft, valid or not, and return the findings of the checker."""
    if create:
        await asyncio.to_thread(services.workflows.texts.create_draft, name, document, actor)
    else:
        await asyncio.to_thread(services.workflows.texts.write_draft, name, document, revision, actor)
    return _make_written_text(name, document, await asyncio.to_thread(services.workflows.check_document, document))


@router.put("/api/workflows/{name}", summary="Replace a saved workflow")
async def replace_workflow(
    services: Services, actor: Sender, name: WorkflowName, document: Document, revision: Revision = None
) -> WrittenText:
    """Replace the text of a saved workflow by a valid one. Its name and its description stay."""
    checked = await asyncio.to_thread(services.workflows.texts.replace_workflow, name, document, revision, actor)
    return _make_written_text(name, document, checked)


@router.post("/api/drafts/{name}/save", summary="Save a draft to the library")
async def save_draft(
    services: Services,
    actor: Sender,
    name: WorkflowName,
    final_name: Annotated[str, Body()],
    description: Annotated[str, Body()],
) -> SavedDraft:
    """Move a draft to the library, as the tool `save_to_library` does."""
    save = services.workflows.texts.save_to_library
    return await asyncio.to_thread(save, name, final_name, description, actor)


def _find_draft_name(path: str) -> str | None:
    """Return the name of the draft at a path of the home, or None if there is no such draft."""
    folder, _, file = path.rpartition("/")
    with suppress(SecurityError):
        return validate_name(file.removesuffix(SUFFIX)) if folder == DRAFTS else None
    return None


def _make_written_text(name: str, document: JsonObject, checked: CheckResult) -> WrittenText:
    diagnostics = [one.to_dict() for one in checked.diagnostics]
    return {"name": name, "diagnostics": diagnostics, "revision": compute_revision(document)}
