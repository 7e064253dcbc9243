"""Routes for searches: sessions, their progress, strategies, decisions and deletion."""

import asyncio
from typing import Annotated

from fastapi import Body, Path, Query
from starlette.responses import Response

from paper_search.config import AppConfig, load_config
from paper_search.service.new_searches import (
    build_report,
    build_search_config,
    check_source,
    describe_search_options,
    start_another_round,
)
from paper_search.service.search_replies import (
    PlanCopies,
    SearchList,
    SearchOptions,
    SearchState,
    SourceProgress,
    SourceReportReply,
    StrategyCheck,
    StrategyReply,
)
from paper_search.service.sessions.inbox_decisions import parse_action
from paper_search.service.sessions.reply_builder import complete_reply
from paper_search.service.sessions.session_list import Phase
from paper_search.service.strategy_view import ChangedPart, build_strategy_view, check_edited_strategy, read_strategy
from paper_search.sources.query_translation import list_plan_copies
from paper_search.store.session_state import SessionState
from paper_search.workflow.checkpoints import Decision
from uraniborg.console.api import Reviewer, Sender, SessionId, make_router
from uraniborg.console.sign_ins import DOOR
from uraniborg.console.workers.search_services import Searches
from uraniborg.kernel.json_values import JsonObject

router = make_router("searches")


@router.get("/api/searches", summary="List the sessions")
async def list_searches(
    searches: Searches,
    phase: Phase | None = None,
    q: Annotated[str, Query(max_length=500, description="Words of the question, or the start of an id.")] = "",
    offset: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 50,
) -> SearchList:
    """Return a page of the sessions, the one used last first, with their counts and the health of sources."""
    return await asyncio.to_thread(searches.sessions.list_page, phase=phase, words=q, offset=offset, limit=limit)


@router.get(
    "/api/search-options",
    summary="Return what a new search can choose",
)
async def get_search_options(
    offline: Annotated[bool | None, Query(description="The sources of offline trials, or of searches.")] = None,
) -> SearchOptions:
    """Return the domains, the sources with their state, and the defaults."""
    return await asyncio.to_thread(describe_search_options, offline)


@router.post(
    "/api/search-sources/{name}/check",
    summary="Check that a source answers",
)
async def check_paper_source(
    name: Annotated[str, Path(max_length=100, description="The name of a source.")],
) -> SourceReportReply:
    """Send one short query to a source, also if searches do not use it, and return how it answered."""
    return build_report(await check_source(name, await asyncio.to_thread(load_config)))


@router.post("/api/searches", summary="Start a search", status_code=201)
async def start_search(
    searches: Searches,
    actor: Sender,
    query: Annotated[str, Body()],
    domain: Annotated[str | None, Body(description="As in the settings, if left out.")] = None,
    max_results: Annotated[int | None, Body(description="As in the settings, if left out.")] = None,
    sources: Annotated[list[str] | None, Body(max_length=50, description="Only these sources.")] = None,
    offline: Annotated[bool | None, Body(description="A trial with the shipped recordings.")] = None,
) -> SearchState:
    """Open a session and return its first checkpoint, as the tool `search_papers` does."""
    config = await asyncio.to_thread(build_search_config, max_results, domain or None, sources, offline)
    return complete_reply(await searches.manager.start(query, config, actor=actor))


@router.get(
    "/api/searches/{session_id}",
    summary="Return the state of a session",
)
async def get_search(searches: Searches, session_id: SessionId) -> SearchState:
    """Return the state, as the tool `get_session` does. A session whose process has ended is resumed."""
    return complete_reply(await searches.manager.get_state(session_id))


@router.post("/api/searches/{session_id}/resume", summary="Resume a session")
async def resume_search(searches: Searches, session_id: SessionId) -> SearchState:
    """Run a session whose process has ended, and return its state. Any other session stays as it is."""
    return complete_reply(await searches.manager.get_state(session_id))


@router.post(
    "/api/searches/{session_id}/update",
    summary="Continue a complete session with another round",
    status_code=201,
)
async def update_search(
    searches: Searches,
    actor: Sender,
    session_id: SessionId,
    note: Annotated[str | None, Body(max_length=4_000, description="What is missing.")] = None,
    data: Annotated[JsonObject | None, Body(description="Feedback, as in a decision.")] = None,
) -> SearchState:
    """Open a new session with the papers and decisions of a complete one, which asks about the next strategy."""
    return complete_reply(await start_another_round(searches.manager, session_id, note, data, actor))


@router.delete("/api/searches/{session_id}", summary="Delete a session", status_code=204)
async def delete_search(searches: Searches, actor: Sender, session_id: SessionId) -> Response:
    """Delete a session with its papers and decisions, permanently."""
    state = await searches.manager.peek_state(session_id)
    await asyncio.to_thread(lambda: searches.manager.cleanup(state.session_id, actor=actor))
    return Response(status_code=204)


@router.get(
    "/api/searches/{session_id}/sources",
    summary="Return the progress of the sources",
)
async def get_search_sources(searches: Searches, session_id: SessionId) -> SourceProgress:
    """Return the reports of the sources in the present round, also while another process searches."""
    return searches.progress.add_announced_reports(await searches.manager.peek_state(session_id))


@router.post(
    "/api/searches/{session_id}/decide",
    summary="Decide the pending checkpoint",
)
async def decide_search(
    searches: Searches,
    actor: Sender,
    reviewer: Reviewer,
    session_id: SessionId,
    action: Annotated[str, Body()],
    data: Annotated[JsonObject | None, Body()] = None,
    note: Annotated[str | None, Body()] = None,
    checkpoint_id: Annotated[str | None, Body(max_length=200)] = None,
    wait_s: Annotated[float | None, Body(ge=0, le=60, description="Reply after this time at the latest.")] = None,
) -> SearchState:
    """Apply a decision, as the tool `decide` does. At a review, the stored marks are part of the decision."""
    decision = Decision(action=parse_action(action), revised_data=data, note=note)
    reply = await searches.manager.decide(
        session_id,
        decision,
        checkpoint_id=checkpoint_id,
        door=DOOR,
        reviewer=reviewer,
        actor=actor,
        reply_within_s=wait_s,
    )
    return complete_reply(reply)


@router.get(
    "/api/searches/{session_id}/strategy",
    summary="Return the strategy of a session",
)
async def get_search_strategy(searches: Searches, session_id: SessionId) -> StrategyReply:
    """Return the strategy that waits for a decision, or the one used last, as the sources receive it."""
    state = await searches.manager.peek_state(session_id)
    return await asyncio.to_thread(lambda: build_strategy_view(searches.manager.store, state, _load_own_config(state)))


@router.get(
    "/api/searches/{session_id}/strategy/copies",
    summary="Return the plan for other databases",
)
async def list_strategy_copies(searches: Searches, session_id: SessionId) -> PlanCopies:
    """Return the plan as one query for PubMed, Ovid, Web of Science, Scopus, Embase and the Cochrane Library."""
    state = await searches.manager.peek_state(session_id)
    found = await asyncio.to_thread(read_strategy, searches.manager.store, state)
    copies = await asyncio.to_thread(list_plan_copies, found[0]) if found else []
    return {"copies": copies}


@router.post(
    "/api/searches/{session_id}/strategy/check",
    summary="Check an edited strategy",
)
async def check_search_strategy(
    searches: Searches,
    session_id: SessionId,
    data: Annotated[JsonObject, Body(description="The data of an edit, as `decide` takes it.")],
    changed_part: Annotated[
        ChangedPart | None, Body(description="The part that was changed last: the other one follows.")
    ] = None,
) -> StrategyCheck:
    """Return the edited strategy with its concepts and queries in step, its problems, and what sources receive.

    Nothing is stored or sent to a source.
    """
    state = await searches.manager.peek_state(session_id)
    return await asyncio.to_thread(
        lambda: check_edited_strategy(searches.manager.store, state, _load_own_config(state), data, changed_part)
    )


def _load_own_config(state: SessionState) -> AppConfig:
    """Return the settings, offline if the session is a trial."""
    return load_config().model_copy(update={"offline": state.is_offline})
