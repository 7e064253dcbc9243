"""Route that lists where a paper is used: in bodies of universes and in workflows."""

import asyncio

from uraniborg.console.replies import PaperUseList
from uraniborg.console.routes.dependencies import make_router
from uraniborg.console.routes.shelves import PaperId, ShelfName, read_shelf
from uraniborg.console.services import Services

_IDENTIFIERS = ("doi", "arxiv", "bibkey")


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
