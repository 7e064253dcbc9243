"""Talk with the person in an MCP client: forms at checkpoints, and prompts that clients show as commands."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Final, NotRequired, TypedDict

from pydantic import Field

from paper_search.errors import InvalidDecision
from paper_search.models import SearchStrategy
from paper_search.service.reply_parts import clip_text
from paper_search.service.review.paper_pages import mark_listed_title
from paper_search.service.sessions.checkpoint_payloads import build_review_payload
from paper_search.service.sessions.checkpoint_questions import format_bare_question
from paper_search.service.sessions.inbox_decisions import find_question
from paper_search.workflow.checkpoints import Checkpoint, Decision, DecisionAction, StrategyPayload
from uraniborg.kernel.json_values import JsonObject

if TYPE_CHECKING:
    from paper_search.service.checkpoint_replies import PapersToReview
    from paper_search.service.session_replies import SessionEntries, SessionEntry, SessionReply
    from paper_search.service.sessions import SessionManager
    from paper_search.service.sessions.session import Listener
    from uraniborg.kernel.mcp import Dialog, Form, Server
    from uraniborg.kernel.mcp.dialogs import Answer


_REMEDY: Final = (
    "Call get_session for the state. If the person answers here instead, pass the answer on with decide, or let them "
    "run `uraniborg decide`."
)
_ALL: Final = "all"
_NONE: Final = "none"


class StrategyEdit(TypedDict):
    """The data of an edit, as far as the form has it."""

    queries: NotRequired[list[str]]
    sources: NotRequired[list[str]]
    filters: NotRequired[dict[str, int | None]]


async def ask_at_checkpoints(
    manager: "SessionManager", reply: "SessionReply", deadline: float, on_progress: "Listener"
) -> "SessionReply":
    """Ask the person in the client of this call about each checkpoint that the call reaches, until the deadline.

    Return the last state, with a `dialog` if its checkpoint waits. Return `reply` if the client cannot ask.
    """
    from uraniborg.kernel.mcp import can_ask_person, find_dialog

    clock = asyncio.get_running_loop().time
    while (checkpoint_id := reply.get("checkpoint_id")) and can_ask_person():
        dialog = find_dialog(checkpoint_id)
        if dialog is None:
            dialog = await _open_dialog(manager, reply["session_id"], checkpoint_id, reply["query"], on_progress)
            if dialog is None:
                return reply
            await dialog.wait(deadline - clock())
        if not dialog.is_decided:
            return {**reply, "dialog": dialog.describe(_REMEDY)}
        remaining = max(0.0, deadline - clock())
        reply = await manager.wait_until_passed(reply["session_id"], checkpoint_id, remaining, on_progress=on_progress)
        if reply.get("checkpoint_id") == checkpoint_id:
            return reply
    return reply


async def _open_dialog(
    manager: "SessionManager", session_id: str, checkpoint_id: str, query: str, on_progress: "Listener"
) -> "Dialog | None":
    """Open a dialog about this checkpoint of the session; return None if it does not wait."""
    from uraniborg.kernel.mcp import get_dialog_actor, open_dialog
    from uraniborg.kernel.mcp.dialogs import DOOR

    checkpoint = await manager.get_pending_checkpoint(session_id)
    if checkpoint is None or checkpoint.checkpoint_id != checkpoint_id:
        return None

    async def decide(answer: "Answer") -> None:
        decision = read_answer(answer, checkpoint)
        await manager.decide(
            session_id,
            decision,
            checkpoint_id=checkpoint_id,
            door=DOOR,
            actor=get_dialog_actor(),
            on_progress=on_progress,
        )

    question = await asyncio.to_thread(find_question, manager.store, checkpoint)
    return open_dialog(build_form(query, checkpoint, question), manager.inbox, decide)


def build_form(query: str, checkpoint: Checkpoint, about_note: str | None = None) -> "Form":
    """Return the question of a checkpoint of the search for `query`, with the fields that a person can fill in.

    `about_note` is the question about the note of the person's last answer.
    """
    from uraniborg.kernel.mcp import Form

    lines = [*([about_note] if about_note else []), f"Paper search: {clip_text(query, 300)}"]
    lines.append(format_bare_question(checkpoint))
    if isinstance(checkpoint.payload, StrategyPayload):
        fields = _build_strategy_fields(checkpoint.payload.strategy)
    else:
        lines += _list_papers(build_review_payload(checkpoint, checkpoint.payload))
        fields = {
            "decision": _make_choice("approve: finish with these papers. reject: search again.", ["approve", "reject"]),
            "note": _make_text("Note", "With reject: what is missing, in your own words."),
        }
    return Form(checkpoint.checkpoint_id, "\n".join(lines), fields)


def read_answer(answer: "Answer", checkpoint: Checkpoint) -> Decision:
    """Return the decision of an answer. A strategy that is approved with changes is edited. Raise InvalidDecision."""
    action, note = DecisionAction(answer["decision"]), str(answer.get("note", "")).strip() or None
    payload = checkpoint.payload
    if not isinstance(payload, StrategyPayload) or action is DecisionAction.REJECT:
        return Decision(action=action, note=note)
    changes = _find_changes(answer, payload.strategy)
    if not changes and action is DecisionAction.EDIT:
        raise InvalidDecision("The strategy was not changed.", hint="Change a field, or approve the strategy.")
    return Decision(
        action=DecisionAction.EDIT if changes else DecisionAction.APPROVE, revised_data=changes or None, note=note
    )


def _build_strategy_fields(strategy: SearchStrategy) -> dict[str, JsonObject]:
    proposed = _describe_strategy(strategy)
    unchanged = "Empty: as proposed."
    fields = {
        "decision": _make_choice(
            "approve: search with this strategy. edit: search with your changes. reject: propose another strategy.",
            ["approve", "edit", "reject"],
        ),
        "queries": _make_text("Queries", f"With edit: boolean queries, separated by semicolons. {unchanged}"),
        "year_from": _make_text("First year", f"With edit: a year such as 2018, or {_NONE}. {unchanged}"),
        "year_to": _make_text("Last year", f"With edit: a year such as 2024, or {_NONE}. {unchanged}"),
        "sources": _make_text("Sources", f"With edit: names separated by commas, or {_ALL}. {unchanged}"),
        "note": _make_text("Note", "With reject: what is missing, in your own words."),
    }
    return {
        name: {**field, "default": proposed[name]} if proposed.get(name) else field for name, field in fields.items()
    }


def _describe_strategy(strategy: SearchStrategy) -> dict[str, str]:
    filters = strategy.filters
    return {
        "queries": "; ".join(text for query in strategy.queries if (text := query.boolean_query.strip())),
        "year_from": str(filters.year_from or _NONE),
        "year_to": str(filters.year_to or _NONE),
        "sources": ", ".join(strategy.sources) or _ALL,
    }


def _find_changes(answer: "Answer", strategy: SearchStrategy) -> StrategyEdit:
    """Return the changed fields as the data of an edit. Raise InvalidDecision for a year that is not one."""
    proposed = _describe_strategy(strategy)
    given = {name: str(answer.get(name, "")).strip() for name in proposed}
    changed = {name: text for name, text in given.items() if text and text != proposed[name]}
    data: StrategyEdit = {}
    if "queries" in changed:
        data["queries"] = [query for query in map(str.strip, re.split(r"[;\n]", changed["queries"])) if query]
    if "sources" in changed:
        names = [name for name in map(str.strip, changed["sources"].split(",")) if name]
        data["sources"] = [] if names == [_ALL] else names
    if filters := {name: _parse_year(name, changed[name]) for name in ("year_from", "year_to") if name in changed}:
        data["filters"] = filters
    return data


def _parse_year(name: str, text: str) -> int | None:
    if text == _NONE:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 4):
        raise InvalidDecision(f"{name} is not a year.", hint=f"Write a year such as 2018, or {_NONE}.", argument=name)
    return int(text)


def _list_papers(payload: "PapersToReview") -> list[str]:
    lines = [f"- {mark_listed_title(paper)} ({paper['year'] or '-'})" for paper in payload["papers"]]
    more = payload["total_papers"] - payload["shown"]
    return [*lines, f"and {more} more"] if more else lines


def _make_choice(description: str, actions: list[str]) -> JsonObject:
    return {"type": "string", "title": "Decision", "description": description, "enum": [*actions]}


def _make_text(title: str, description: str) -> JsonObject:
    return {"type": "string", "title": title, "description": description}


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
        from paper_search.store.session_state import WAITING, WORKING

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
