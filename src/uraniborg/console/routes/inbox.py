"""Routes of the inbox: what waits for a decision, what was decided, and deciding."""

import asyncio
from typing import Annotated, Any, Final

from fastapi import Body, Depends, Path, Query, Request

from uraniborg.console.api import Sender, make_router
from uraniborg.console.sign_ins import DOOR
from uraniborg.inbox_questions import check_and_decide
from uraniborg.inbox_replies import (
    AnyQuestion,
    InboxPage,
    QuestionSummaryPage,
    describe_question,
    list_questions,
    summarize_questions,
)
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.store.inbox import Inbox, InboxDecision, Position, State

_POSITION_DIGITS: Final = 18
"""Digits of a position that SQLite can compare."""
EntryId = Annotated[str, Path(max_length=200, description="The id of a question.")]


async def get_inbox(request: Request) -> Inbox:
    """Return the inbox of the app that answers the request: the API or the search worker."""
    return request.app.state.services.inbox


QuestionInbox = Annotated[Inbox, Depends(get_inbox)]
router = make_router("inbox")


@router.get("/api/inbox", summary="List questions")
async def list_inbox(
    inbox: QuestionInbox,
    state: State | None = None,
    part: Annotated[str | None, Query(max_length=50)] = None,
    before: Annotated[str | None, Query(max_length=300, description="`next` of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> InboxPage:
    """Return a page of the questions, the one that changed last first, and how many wait in each part."""
    position = _parse_position(before) if before else None
    return await asyncio.to_thread(list_questions, inbox, state, part, position, limit)


@router.get("/api/inbox/summaries", summary="List questions in short")
async def list_question_summaries(
    inbox: QuestionInbox,
    state: State | None = None,
    before: Annotated[str | None, Query(max_length=300, description="`next` of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> QuestionSummaryPage:
    """Return a page of the questions without their payloads, in the order of `/api/inbox`."""
    position = _parse_position(before) if before else None
    return await asyncio.to_thread(summarize_questions, inbox, state, position, limit)


@router.get("/api/inbox/{entry_id}", summary="Return a question")
async def get_question(inbox: QuestionInbox, entry_id: EntryId) -> AnyQuestion:
    """Return the question with its payload, and its decision if there is one."""
    return describe_question(await asyncio.to_thread(inbox.get, entry_id))


@router.post("/api/inbox/{entry_id}/decide", summary="Decide a question")
async def decide_question(
    inbox: QuestionInbox,
    actor: Sender,
    entry_id: EntryId,
    action: Annotated[str, Body(max_length=40)],
    data: Annotated[Any, Body()] = None,
    note: Annotated[str | None, Body()] = None,
) -> AnyQuestion:
    """Store the decision, as `uraniborg decide` does. The first decision is final; another one gets 409."""
    decision = InboxDecision(action=action, data=data, note=note)
    entry = await asyncio.to_thread(check_and_decide, inbox, entry_id, decision, DOOR, actor)
    return describe_question(entry)


def _parse_position(text: str) -> Position:
    if not (text.isascii() and text.isdecimal() and len(text) <= _POSITION_DIGITS):
        raise InvalidInput(
            "before is not a position in the inbox.", hint="Use `next` of the page before.", argument="before"
        )
    return int(text)
