"""Offer prompts that clients show as commands: start a review, continue searches."""

import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field

if TYPE_CHECKING:
    from paper_search.session_replies import SessionEntries, SessionEntry
    from uraniborg.kernel.mcp import Server

_MOST_LISTED: Final = 10

_STEPS: Final = """\
2. Show me `summary` and the parts of `checkpoint.payload` that I need: queries, sources and filters of a strategy; \
title, year and relevance_reason of each paper. Wait for my answer.
3. Call decide with the session_id, the checkpoint_id and my action: approve, edit or reject. Put the changes or the \
feedback that I give into data.
4. Repeat until is_complete is true. Then ask me for a format and call export_results.

I decide at every checkpoint. Do not approve for me. If a reply has neither a checkpoint nor is_complete, the search \
is still running: call get_session."""

ListSessions = Callable[[], Awaitable["SessionEntries"]]


def add_prompts(server: "Server", list_sessions: ListSessions) -> None:
    """Offer the prompts on `server`. `list_sessions` returns the summaries of the sessions, the last used first."""
    from uraniborg.kernel.mcp import prompt

    async def list_session_ids() -> list[str]:
        return [session["session_id"] for session in (await list_sessions())["sessions"]]

    async def continue_searches(
        session_id: Annotated[str, Field(description="The session to continue; leave out to choose from a list.")] = "",
    ) -> str:
        """Continue a paper search where it stopped, also after a restart."""
        if session_id.strip():
            call = f"1. Call get_session with session_id {_quote(session_id.strip())}."
            return f"Continue my paper search.\n\n{call}\n{_STEPS}"
        from paper_search.sessions.state import WAITING, WORKING

        unfinished = [one for one in (await list_sessions())["sessions"] if one["phase"] in (WAITING, WORKING)]
        if not unfinished:
            return (
                "I have no unfinished paper search. Tell me so, and ask me what to look for. "
                "Then call search_papers with my answer as query."
            )
        lines = "\n".join(map(_format_session, unfinished[:_MOST_LISTED]))
        more = "\nThe resource paper-search://sessions lists all." if len(unfinished) > _MOST_LISTED else ""
        call = "1. Show me the list and ask which one to continue. Then call get_session with its session_id."
        return f"Continue one of my paper searches, the last used first:\n\n{lines}{more}\n\n{call}\n{_STEPS}"

    prompt(server, title="Start a review")(start_review)
    prompt(server, title="Continue my searches", values={"session_id": list_session_ids})(continue_searches)


async def start_review(
    question: Annotated[str, Field(min_length=1, description="What to look for, in natural language.")],
) -> str:
    """Search the literature for a question, step by step, with your decision at each checkpoint."""
    call = f"1. Call search_papers with query {_quote(question)}. It proposes a strategy and searches nothing yet."
    return f"Search the literature for me.\n\n{call}\n{_STEPS}"


def _format_session(session: "SessionEntry") -> str:
    kind = session.get("checkpoint_kind")
    state = f"waits for my decision ({kind})" if kind else "not at a checkpoint yet"
    return f"- {session['session_id']}: {_quote(session.get('query', ''))}, {state}"


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
