"""The route that says where a paper is used: in bodies of universes and in workflows."""

import asyncio
from typing import TYPE_CHECKING

from fastapi import FastAPI

from pflow.service import Service
from uraniborg.console.replies import PaperUseList
from uraniborg.console.shelf_routes import PaperId, ShelfName, read_shelf
from uraniborg.console.universe_routes import UniverseMount

if TYPE_CHECKING:
    from universe.provenance.paper_uses import PaperUseIndex

_IDENTIFIERS = ("doi", "arxiv", "bibkey")


def add_paper_use_routes(api: FastAPI, universe: UniverseMount, workflows: Service) -> None:
    """Add the route."""
    indexes: dict[int, PaperUseIndex] = {}

    @api.get(
        "/api/shelves/{shelf}/papers/{paper_id}/uses",
        tags=["shelves"],
        summary="List where a paper is used",
    )
    async def list_paper_uses(shelf: ShelfName, paper_id: PaperId) -> PaperUseList:  # pyright: ignore[reportUnusedFunction]
        """Return the bodies of universes that take values from a paper, and the workflows that mention it."""
        metadata = await read_shelf(shelf, lambda library: library.metadata(paper_id))
        known = {name: value for name in _IDENTIFIERS if (value := metadata["identifiers"].get(name))}
        known["id"] = metadata["paper_id"]
        mentions = await asyncio.to_thread(workflows.find_mentions, list(known.values()))
        index = _get_index(universe, indexes)
        bodies = await index.find_uses(known) if index else None
        return {
            "bodies": [
                {"universe_id": use.universe_id, "universe": use.universe, "body": use.body, "fields": [*use.fields]}
                for use in (bodies.uses if bodies else ())
            ],
            "workflows": [{"name": one.name, "source": one.source, "nodes": [*one.nodes]} for one in mentions],
            "is_complete": bodies is not None and bodies.is_complete,
        }


def _get_index(universe: UniverseMount, indexes: "dict[int, PaperUseIndex]") -> "PaperUseIndex | None":
    """Return the index of the universe server that runs, or None if none does."""
    from universe.provenance.paper_uses import PaperUseIndex

    if universe.app is None or not universe.app.is_running:
        return None
    service = universe.app.service
    if id(service) not in indexes:
        indexes.clear()
        indexes[id(service)] = PaperUseIndex(service)
    return indexes[id(service)]
