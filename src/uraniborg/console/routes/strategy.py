"""Routes for strategies: queries, sources and limits of a search, and checks of an edit."""

import asyncio
from typing import Annotated

from fastapi import Body

from paper_search.config import AppConfig, load_config
from paper_search.sessions.plan_copies import list_plan_copies
from paper_search.sessions.state import SessionState
from paper_search.sessions.strategy_view import (
    ChangedPart,
    build_strategy_view,
    check_edited_strategy,
    read_strategy,
)
from paper_search.strategy_replies import PlanCopies, StrategyCheck, StrategyReply
from uraniborg.console.routes.dependencies import SessionId, make_router
from uraniborg.console.workers.search_services import Searches
from uraniborg.kernel.json_values import JsonObject

router = make_router("searches")


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
