"""Route that lists where a paper is used: in bodies of universes and in workflows."""

import asyncio
from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from uraniborg.console.routes.dependencies import make_router
from uraniborg.console.routes.shelves import PaperId, ShelfName, read_shelf
from uraniborg.console.services import Services

_IDENTIFIERS = ("doi", "arxiv", "bibkey")


class BodyUse(TypedDict):
    """A body of a universe, and its fields whose values come from a paper."""

    universe_id: str
    universe: str
    body: str
    fields: list[str]


class WorkflowUse(TypedDict):
    """A workflow that mentions a paper, and the ids of its nodes that do."""

    name: str
    source: Literal["library", "draft"]
    nodes: list[str]


class PaperUseList(TypedDict):
    """Where a paper is used."""

    bodies: list[BodyUse]
    workflows: list[WorkflowUse]
    is_complete: Annotated[bool, Field(description="False if there may be more bodies.")]


router = make_router("shelves")


@router.get(
    "/api/shelves/{shelf}/papers/{paper_id}/uses",
    summary="List where a paper is used",
)
async def list_paper_uses(services: Services, shelf: ShelfName, paper_id: PaperId) -> PaperUseList:
    """Return the bodies of universes that take values from a paper, and the workflows that mention it."""
    metadata = await read_shelf(shelf, lambda library: library.metadata(paper_id))
    known = {name: value for name in _IDENTIFIERS if (value := metadata["identifiers"].get(name))}
    known["id"] = metadata["paper_id"]
    mentions = await asyncio.to_thread(services.workflows.find_mentions, list(known.values()))
    index = services.universe.get_paper_uses()
    bodies = await index.find_uses(known) if index else None
    return {
        "bodies": [
            {"universe_id": use.universe_id, "universe": use.universe, "body": use.body, "fields": [*use.fields]}
            for use in (bodies.uses if bodies else ())
        ],
        "workflows": [{"name": one.name, "source": one.source, "nodes": [*one.nodes]} for one in mentions],
        "is_complete": bodies is not None and bodies.is_complete,
    }
