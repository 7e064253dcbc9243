"""Routes for workflows: library, drafts, graphs, texts, node types, checks and plans."""

import asyncio
from contextlib import suppress
from typing import Annotated, Any

from fastapi import Body, FastAPI, Query, Request

from pflow.errors import SecurityError
from pflow.ir.checker import CheckResult
from pflow.library.listing import DRAFTS
from pflow.library.names import SUFFIX, validate_name
from pflow.library.workflow_file import compute_revision
from pflow.service import Service
from pflow.workflow_replies import (
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
from uraniborg.console.route_parameters import WorkflowName
from uraniborg.console.sign_in import get_actor
from uraniborg.kernel.json_values import JsonObject

Document = Annotated[dict[str, Any], Body()]
Revision = Annotated[
    str | None, Body(max_length=100, description="Refuse to replace a text that has another revision.")
]


def add_workflow_routes(api: FastAPI, service: Service) -> None:
    """Add the routes under `/api/workflows` and `/api/drafts`, and `/api/components`."""
    _add_library_routes(api, service)
    _add_reading_routes(api, service)
    _add_draft_routes(api, service)


def _add_library_routes(api: FastAPI, service: Service) -> None:
    @api.get("/api/workflows", tags=["workflows"], summary="List saved workflows and drafts")
    async def list_workflows(  # pyright: ignore[reportUnusedFunction]
        pattern: Annotated[str | None, Query(max_length=100)] = None,
    ) -> WorkflowList:
        """Return the saved workflows, as the tool `list_library` does, the drafts, and files that cannot be read."""
        saved = await asyncio.to_thread(service.list_library, pattern)
        drafts = await asyncio.to_thread(service.list_drafts)
        problems = await asyncio.to_thread(service.list_problems)
        written_by = await asyncio.to_thread(service.texts.list_writers)
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

    @api.get("/api/workflows/{name}", tags=["workflows"], summary="Describe a workflow")
    async def describe_workflow(name: WorkflowName) -> WorkflowDescription:  # pyright: ignore[reportUnusedFunction]
        """Return inputs, outputs, nodes, edges, statistics and diagnostics, as `describe_workflow` does."""
        return await asyncio.to_thread(service.describe_workflow, name)

    @api.post("/api/workflows/check", tags=["workflows"], summary="Check the text of a workflow")
    async def check_workflow(  # pyright: ignore[reportUnusedFunction]
        document: Annotated[Any, Body(embed=True)],
    ) -> CheckReply:
        """Return all findings of the checker, each with its position and the corrected text."""
        checked = await asyncio.to_thread(service.check_document, document)
        return {
            "valid": checked.workflow is not None and not checked.errors,
            "diagnostics": [one.to_dict() for one in checked.diagnostics],
        }

    @api.post("/api/workflows/{name}/plan", tags=["workflows"], summary="Say what a run would do")
    async def plan_run(  # pyright: ignore[reportUnusedFunction]
        name: WorkflowName,
        inputs: Annotated[dict[str, Any] | None, Body(embed=True)] = None,
    ) -> PlanReply:
        """Return which nodes would run and which results would be reused. Nothing runs."""
        found = await asyncio.to_thread(service.find_workflow, name)
        steps = await asyncio.to_thread(service.plan_run, found.stored.ir, inputs, name=found.stored.name)
        return {"steps": steps}


def _add_reading_routes(api: FastAPI, service: Service) -> None:
    @api.get("/api/components", tags=["workflows"], summary="List types of nodes")
    async def list_components(  # pyright: ignore[reportUnusedFunction]
        query: Annotated[str, Query(max_length=500)] = "",
        workflows: bool = False,
        in_full: Annotated[
            bool, Query(description="Describe the parameters of all types, not of the best alone.")
        ] = False,
    ) -> ComponentList:
        """Return the types of nodes that match a query, the best first, as the tool `browse_components` does."""
        return await asyncio.to_thread(service.browse_components, query, workflows, in_full=in_full)

    @api.get("/api/workflows/{name}/graph", tags=["workflows"], summary="Return the graph")
    async def get_workflow_graph(name: WorkflowName) -> WorkflowGraph:  # pyright: ignore[reportUnusedFunction]
        """Return all nodes and edges of a workflow, for drawing."""
        return await asyncio.to_thread(service.describe_graph, name)

    @api.get("/api/workflows/{name}/document", tags=["workflows"], summary="Read a workflow")
    async def read_workflow(name: WorkflowName) -> WorkflowText:  # pyright: ignore[reportUnusedFunction]
        """Return the text of a saved workflow, or of the draft of this name."""
        stored = (await asyncio.to_thread(service.find_workflow, name)).stored
        return {
            "name": stored.name,
            "source": stored.source,
            "document": stored.ir,
            "revision": compute_revision(stored.ir),
        }


def _add_draft_routes(api: FastAPI, service: Service) -> None:
    @api.get("/api/drafts/{name}", tags=["workflows"], summary="Read a draft")
    async def read_draft(name: WorkflowName) -> WorkflowText:  # pyright: ignore[reportUnusedFunction]
        """Return the text of a draft. A file that is not a workflow has its text and its problem."""
        draft = await asyncio.to_thread(service.texts.read_draft_text, name)
        return {
            "name": name,
            "source": "draft",
            "document": draft.document,
            "revision": draft.revision,
            "text": draft.text,
            "diagnostics": list(draft.diagnostics),
        }

    @api.put("/api/drafts/{name}", tags=["workflows"], summary="Write a draft")
    async def write_draft(  # pyright: ignore[reportUnusedFunction]
        request: Request,
        name: WorkflowName,
        document: Document,
        revision: Revision = None,
        create: Annotated[bool, Body(description="Refuse a name that a workflow has, readable or not.")] = False,
    ) -> WrittenText:
        """Store the text of a workflow as a draft, valid or not, and return the findings of the checker."""
        actor = get_actor(request)
        if create:
            await asyncio.to_thread(service.texts.create_draft, name, document, actor)
        else:
            await asyncio.to_thread(service.texts.write_draft, name, document, revision, actor)
        return _make_written_text(name, document, await asyncio.to_thread(service.check_document, document))

    @api.put("/api/workflows/{name}", tags=["workflows"], summary="Replace a saved workflow")
    async def replace_workflow(  # pyright: ignore[reportUnusedFunction]
        request: Request, name: WorkflowName, document: Document, revision: Revision = None
    ) -> WrittenText:
        """Replace the text of a saved workflow by a valid one. Its name and its description stay."""
        checked = await asyncio.to_thread(service.texts.replace_workflow, name, document, revision, get_actor(request))
        return _make_written_text(name, document, checked)

    @api.post("/api/drafts/{name}/save", tags=["workflows"], summary="Save a draft to the library")
    async def save_draft(  # pyright: ignore[reportUnusedFunction]
        request: Request, name: WorkflowName, final_name: Annotated[str, Body()], description: Annotated[str, Body()]
    ) -> SavedDraft:
        """Move a draft to the library, as the tool `save_to_library` does."""
        save = service.texts.save_to_library
        return await asyncio.to_thread(save, name, final_name, description, get_actor(request))


def _find_draft_name(path: str) -> str | None:
    """Return the name of the draft at a path of the home, or None if there is no such draft."""
    folder, _, file = path.rpartition("/")
    with suppress(SecurityError):
        return validate_name(file.removesuffix(SUFFIX)) if folder == DRAFTS else None
    return None


def _make_written_text(name: str, document: JsonObject, checked: CheckResult) -> WrittenText:
    diagnostics = [one.to_dict() for one in checked.diagnostics]
    return {"name": name, "diagnostics": diagnostics, "revision": compute_revision(document)}
