"""The route that says where a paper is used: in bodies of universes and in workflows."""

import asyncio
from typing import TYPE_CHECKING

from fastapi import FastAPI

from pflow.service import Service
from uraniborg.console.replies import JsonReply
from uraniborg.console.shelf_replies import PaperUseList
from uraniborg.console.shelf_routes import PaperId, ShelfName, read_shelf
from uraniborg.console.universe_routes import UniverseMount

if TYPE_CHECKING:
    from universe.provenance.paper_uses import PaperUses

_IDENTIFIERS = ("doi", "arxiv", "bibkey")


def add_paper_use_routes(api: FastAPI, universe: UniverseMount, workflows: Service) -> None:
    """Add the route."""

    @api.get(
        "/api/shelves/{shelf}/papers/{paper_id}/uses",
        response_model=PaperUseList,
        tags=["shelves"],
        summary="List where a paper is used",
    )
    async def list_paper_uses(shelf: ShelfName, paper_id: PaperId) -> JsonReply:  # pyright: ignore[reportUnusedFunction]
        """Return the bodies of universes that take values from a paper, and the workflows that mention it."""
        metadata = await read_shelf(shelf, lambda library: library.metadata(paper_id))
        known = {name: value for name in _IDENTIFIERS if (value := metadata["identifiers"].get(name))}
        known["id"] = metadata["paper_id"]
        mentions = await asyncio.to_thread(workflows.find_mentions, list(known.values()))
        bodies = await _find_bodies(universe, known)
        return JsonReply(
            {
                "bodies": [use._asdict() for use in bodies.uses] if bodies else [],
                "workflows": [mention._asdict() for mention in mentions],
                "is_complete": bodies is not None and bodies.is_complete,
            }
        )


async def _find_bodies(universe: UniverseMount, identifiers: dict[str, str]) -> "PaperUses | None":
    """Return the bodies that cite a paper; None if the universe server does not run."""
    from universe.provenance.paper_uses import find_paper_uses

    if universe.app is None or not universe.app.is_running:
        return None
    return await find_paper_uses(universe.app.service, identifiers)
