"""The routes of searches: sessions, their progress, decisions and deletion."""

import asyncio
from typing import Annotated

from fastapi import Body, FastAPI, Path, Query, Request
from starlette.responses import Response

from paper_search.config import load_config
from paper_search.search_replies import SearchList, SearchOptions, SearchState, SourceProgress, SourceReportReply
from paper_search.sessions import SessionManager
from paper_search.sessions.inbox_decisions import parse_action
from paper_search.sessions.search_options import build_search_config, describe_search_options
from paper_search.sessions.search_states import complete_reply
from paper_search.sessions.session_list import Phase, SessionList
from paper_search.sessions.session_review import SessionReview
from paper_search.sessions.session_update import start_another_round
from paper_search.sessions.source_reports import build_report
from paper_search.sources.source_check import check_source
from paper_search.workflow.checkpoints import Decision
from uraniborg.console.review_routes import add_review_routes
from uraniborg.console.route_parameters import SessionId, get_reviewer
from uraniborg.console.sign_in import DOOR, get_actor
from uraniborg.console.source_progress import SourceProgressLog
from uraniborg.console.strategy_routes import add_strategy_routes
from uraniborg.kernel.json_values import JsonObject
from uraniborg.search_shelves import ShelfBuilds


def add_search_routes(
    api: FastAPI, manager: SessionManager, progress: SourceProgressLog, shelf_builds: ShelfBuilds
) -> None:
    """Add the routes under `/api/searches`."""
    _add_list_routes(api, manager)
    _add_session_routes(api, manager, progress)
    add_strategy_routes(api, manager)
    add_review_routes(api, SessionReview(manager), shelf_builds)


def _add_list_routes(api: FastAPI, manager: SessionManager) -> None:
    sessions = SessionList(manager.store, manager.inbox)

    @api.get("/api/searches", tags=["searches"], summary="List the sessions")
    async def list_searches(  # pyright: ignore[reportUnusedFunction]
        phase: Phase | None = None,
        q: Annotated[str, Query(max_length=500, description="Words of the question, or the start of an id.")] = "",
        offset: Annotated[int, Query(ge=0)] = 0,
        limit: Annotated[int, Query(ge=1, le=1_000)] = 50,
    ) -> SearchList:
        """Return a page of the sessions, the one used last first, with their counts and the health of sources."""
        return await asyncio.to_thread(sessions.list_page, phase=phase, words=q, offset=offset, limit=limit)

    @api.get(
        "/api/search-options",
        tags=["searches"],
        summary="Return what a new search can choose",
    )
    async def get_search_options(  # pyright: ignore[reportUnusedFunction]
        offline: Annotated[bool | None, Query(description="The sources of offline trials, or of searches.")] = None,
    ) -> SearchOptions:
        """Return the domains, the sources with their state, and the defaults."""
        return await asyncio.to_thread(describe_search_options, offline)

    @api.post(
        "/api/search-sources/{name}/check",
        tags=["searches"],
        summary="Check that a source answers",
    )
    async def check_paper_source(  # pyright: ignore[reportUnusedFunction]
        name: Annotated[str, Path(max_length=100, description="The name of a source.")],
    ) -> SourceReportReply:
        """Send one short query to a source, also if searches do not use it, and return how it answered."""
        return build_report(await check_source(name, await asyncio.to_thread(load_config)))

    @api.post("/api/searches", tags=["searches"], summary="Start a search", status_code=201)
    async def start_search(  # pyright: ignore[reportUnusedFunction]
        request: Request,
        query: Annotated[str, Body()],
        domain: Annotated[str | None, Body(description="As in the settings, if left out.")] = None,
        max_results: Annotated[int | None, Body(description="As in the settings, if left out.")] = None,
        sources: Annotated[list[str] | None, Body(max_length=50, description="Only these sources.")] = None,
        offline: Annotated[bool | None, Body(description="A trial with the shipped recordings.")] = None,
    ) -> SearchState:
        """Open a session and return its first checkpoint, as the tool `search_papers` does."""
        config = await asyncio.to_thread(build_search_config, max_results, domain or None, sources, offline)
        return complete_reply(await manager.start(query, config, actor=get_actor(request)))


def _add_session_routes(api: FastAPI, manager: SessionManager, progress: SourceProgressLog) -> None:
    @api.get(
        "/api/searches/{session_id}",
        tags=["searches"],
        summary="Return the state of a session",
    )
    async def get_search(session_id: SessionId) -> SearchState:  # pyright: ignore[reportUnusedFunction]
        """Return the state, as the tool `get_session` does. A session whose process has ended is resumed."""
        return complete_reply(await manager.get_state(session_id))

    @api.post("/api/searches/{session_id}/resume", tags=["searches"], summary="Resume a session")
    async def resume_search(session_id: SessionId) -> SearchState:  # pyright: ignore[reportUnusedFunction]
        """Run a session whose process has ended, and return its state. Any other session stays as it is."""
        return complete_reply(await manager.get_state(session_id))

    @api.post(
        "/api/searches/{session_id}/update",
        tags=["searches"],
        summary="Continue a complete session with another round",
        status_code=201,
    )
    async def update_search(  # pyright: ignore[reportUnusedFunction]
        request: Request,
        session_id: SessionId,
        note: Annotated[str | None, Body(max_length=4_000, description="What is missing.")] = None,
        data: Annotated[JsonObject | None, Body(description="Feedback, as in a decision.")] = None,
    ) -> SearchState:
        """Open a new session with the papers and decisions of a complete one, which asks about the next strategy."""
        return complete_reply(await start_another_round(manager, session_id, note, data, get_actor(request)))

    @api.delete("/api/searches/{session_id}", tags=["searches"], summary="Delete a session", status_code=204)
    async def delete_search(  # pyright: ignore[reportUnusedFunction]
        request: Request, session_id: SessionId
    ) -> Response:
        """Delete a session with its papers and decisions, permanently."""
        state = await manager.peek_state(session_id)
        await asyncio.to_thread(lambda: manager.cleanup(state.session_id, actor=get_actor(request)))
        return Response(status_code=204)

    @api.get(
        "/api/searches/{session_id}/sources",
        tags=["searches"],
        summary="Return the progress of the sources",
    )
    async def get_search_sources(session_id: SessionId) -> SourceProgress:  # pyright: ignore[reportUnusedFunction]
        """Return the reports of the sources in the present round, also while another process searches."""
        return progress.add_announced_reports(await manager.peek_state(session_id))

    @api.post(
        "/api/searches/{session_id}/decide",
        tags=["searches"],
        summary="Decide the pending checkpoint",
    )
    async def decide_search(  # pyright: ignore[reportUnusedFunction]
        request: Request,
        session_id: SessionId,
        action: Annotated[str, Body()],
        data: Annotated[JsonObject | None, Body()] = None,
        note: Annotated[str | None, Body()] = None,
        checkpoint_id: Annotated[str | None, Body(max_length=200)] = None,
        wait_s: Annotated[float | None, Body(ge=0, le=60, description="Reply after this time at the latest.")] = None,
    ) -> SearchState:
        """Apply a decision, as the tool `decide` does. At a review, the stored marks are part of the decision."""
        decision = Decision(action=parse_action(action), revised_data=data, note=note)
        reply = await manager.decide(
            session_id,
            decision,
            checkpoint_id=checkpoint_id,
            door=DOOR,
            reviewer=get_reviewer(request),
            actor=get_actor(request),
            reply_within_s=wait_s,
        )
        return complete_reply(reply)
