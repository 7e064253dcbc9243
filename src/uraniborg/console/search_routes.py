"""The routes of searches: sessions, their strategy, papers, marks, decisions and exports."""

import asyncio
from typing import Annotated, Any

from fastapi import Body, FastAPI, Path, Query, Request
from starlette.responses import Response

from paper_search.api import apply_given_arguments
from paper_search.config import load_config
from paper_search.default_arguments import DEFAULT_DOMAIN, DEFAULT_MAX_RESULTS
from paper_search.export import export
from paper_search.input_checks import check_max_results
from paper_search.review_models import PaperDecision, ReviewStatus
from paper_search.sessions import SessionManager
from paper_search.sessions.inbox_decisions import parse_action
from paper_search.sessions.paper_list import Sort
from paper_search.sessions.session_review import SessionReview
from paper_search.workflow.checkpoints import Decision
from uraniborg.console.app import DOOR, get_person

_TYPES = {
    "json": "application/json",
    "csl-json": "application/json",
    "prisma-json": "application/json",
    "prisma-svg": "image/svg+xml",
}
"""The media types of the formats that are not plain text."""
SessionId = Annotated[str, Path(max_length=64, description="The id of a session.")]


def add_search_routes(api: FastAPI, manager: SessionManager) -> None:
    """Add the routes under `/api/searches`."""
    review = SessionReview(manager)
    _add_session_routes(api, manager, review)
    _add_paper_routes(api, manager, review)


def _add_session_routes(api: FastAPI, manager: SessionManager, review: SessionReview) -> None:
    @api.get("/api/searches", tags=["searches"], summary="List the sessions")
    async def list_searches(  # pyright: ignore[reportUnusedFunction]
        limit: Annotated[int, Query(ge=1, le=1_000)] = 50,
    ) -> dict[str, Any]:
        """Return the sessions, the one used last first."""
        return await manager.list_sessions(limit)

    @api.post("/api/searches", tags=["searches"], summary="Start a search", status_code=201)
    async def start_search(  # pyright: ignore[reportUnusedFunction]
        query: Annotated[str, Body()],
        domain: Annotated[str, Body()] = DEFAULT_DOMAIN,
        max_results: Annotated[int, Body()] = DEFAULT_MAX_RESULTS,
    ) -> dict[str, Any]:
        """Open a session and return its first checkpoint, as the tool `search_papers` does."""
        check_max_results(max_results)
        config = apply_given_arguments(await asyncio.to_thread(load_config), max_results, domain)
        return await manager.start(query, config)

    @api.get("/api/searches/{session_id}", tags=["searches"], summary="Return the state of a session")
    async def get_search(session_id: SessionId) -> dict[str, Any]:  # pyright: ignore[reportUnusedFunction]
        """Return the state, as the tool `get_session` does. A session whose process has ended is resumed."""
        return await manager.get_state(session_id)

    @api.delete("/api/searches/{session_id}", tags=["searches"], summary="Delete a session", status_code=204)
    async def delete_search(session_id: SessionId) -> Response:  # pyright: ignore[reportUnusedFunction]
        """Delete a session with its papers and decisions, permanently."""
        await manager.get_state(session_id)
        await asyncio.to_thread(manager.cleanup, session_id)
        return Response(status_code=204)

    @api.post("/api/searches/{session_id}/decide", tags=["searches"], summary="Decide the pending checkpoint")
    async def decide_search(  # pyright: ignore[reportUnusedFunction]
        request: Request,
        session_id: SessionId,
        action: Annotated[str, Body()],
        data: Annotated[dict[str, Any] | None, Body()] = None,
        note: Annotated[str | None, Body()] = None,
        checkpoint_id: Annotated[str | None, Body()] = None,
    ) -> dict[str, Any]:
        """Apply a decision, as the tool `decide` does. At a review, stored marks are part of the decision."""
        decision = Decision(action=parse_action(action), revised_data=data, note=note)
        return await review.decide(
            session_id, decision, checkpoint_id=checkpoint_id, door=DOOR, reviewer=get_person(request)
        )


def _add_paper_routes(api: FastAPI, manager: SessionManager, review: SessionReview) -> None:
    @api.get("/api/searches/{session_id}/papers", tags=["searches"], summary="List the papers of a session")
    async def list_search_papers(  # pyright: ignore[reportUnusedFunction]
        session_id: SessionId,
        q: Annotated[str, Query(max_length=500, description="Words of title, abstract, authors or venue.")] = "",
        status: ReviewStatus | None = None,
        source: Annotated[str | None, Query(max_length=50)] = None,
        sort: Sort = "rank",
        offset: Annotated[int, Query(ge=0)] = 0,
        limit: Annotated[int, Query(ge=1, le=500)] = 50,
    ) -> dict[str, Any]:
        """Return a page of the papers under review, or of the result, with the statuses of all reviewers."""
        return await review.list_papers(
            session_id, words=q, status=status, source=source, sort=sort, offset=offset, limit=limit
        )

    @api.put("/api/searches/{session_id}/marks", tags=["searches"], summary="Mark papers")
    async def mark_papers(  # pyright: ignore[reportUnusedFunction]
        request: Request,
        session_id: SessionId,
        decisions: Annotated[dict[str, PaperDecision | None], Body(embed=True)],
    ) -> dict[str, Any]:
        """Store marks, by paper id; null removes a mark. The marks are sent with the next decision."""
        marks = await review.mark_papers(session_id, decisions, get_person(request))
        return {"marks": {paper_id: mark.model_dump(mode="json") for paper_id, mark in marks.items()}}

    @api.get("/api/searches/{session_id}/export", tags=["searches"], summary="Export the papers")
    async def export_search(  # pyright: ignore[reportUnusedFunction]
        session_id: SessionId,
        format: Annotated[str, Query(max_length=20)] = "markdown",  # noqa: A002 - the name of the parameter
    ) -> Response:
        """Return the papers of a complete session, or the search log (`prisma`, `prisma-json`, `prisma-svg`)."""
        collection = await manager.get_result(session_id)
        text = await asyncio.to_thread(export, collection, format)
        return Response(text, media_type=_TYPES.get(format, "text/plain; charset=utf-8"))
