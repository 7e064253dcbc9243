"""Routes of the inbox: what waits for a decision, what was decided, and deciding."""

import asyncio
from typing import Annotated, Any, Final, cast

from fastapi import Body, Depends, Path, Query, Request

from paper_search.source_labels import SOURCE_LABELS
from paper_search.workflow.checkpoints import CheckpointKind
from uraniborg.console.access.sign_ins import DOOR
from uraniborg.console.routes.dependencies import Sender, make_router
from uraniborg.console.routes.inbox_replies import AnyQuestion, InboxPage, QuestionSummaryPage
from uraniborg.kernel.errors import InvalidInput
from uraniborg.kernel.inbox import Decision, Entry, Inbox, Position, State
from uraniborg.kernel.reply_route import JsonReply
from uraniborg.part_questions import check_and_decide

_TITLE_CHARS: Final = 300
_POSITION_DIGITS: Final = 18
"""Digits of a position that SQLite can compare."""
_STRATEGY: Final = CheckpointKind.STRATEGY_CONFIRMATION.value
EntryId = Annotated[str, Path(max_length=200, description="The id of a question.")]


async def get_inbox(request: Request) -> Inbox:
    """Return the inbox of the app that answers the request: the API or the search worker."""
    return request.app.state.services.inbox


QuestionInbox = Annotated[Inbox, Depends(get_inbox)]
router = make_router("inbox")


@router.get("/api/inbox", response_model=InboxPage, summary="List questions")
async def list_inbox(
    inbox: QuestionInbox,
    state: State | None = None,
    part: Annotated[str | None, Query(max_length=50)] = None,
    before: Annotated[str | None, Query(max_length=300, description="`next` of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> JsonReply:
    """Return a page of the questions, the one that changed last first, and how many wait in each part."""
    position = _parse_position(before) if before else None
    entries, following = await asyncio.to_thread(inbox.list_entries, state, part, position, limit)
    return JsonReply(
        {
            "entries": [_dump_entry(entry) for entry in entries],
            "next": None if following is None else str(following),
            "pending": await asyncio.to_thread(inbox.count_pending),
        }
    )


@router.get("/api/inbox/summaries", response_model=QuestionSummaryPage, summary="List questions in short")
async def list_question_summaries(
    inbox: QuestionInbox,
    state: State | None = None,
    before: Annotated[str | None, Query(max_length=300, description="`next` of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> JsonReply:
    """Return a page of the questions without their payloads, in the order of `/api/inbox`."""
    position = _parse_position(before) if before else None
    entries, following = await asyncio.to_thread(inbox.list_entries, state, None, position, limit)
    return JsonReply(
        {
            "entries": [_summarize_entry(entry) for entry in entries],
            "next": None if following is None else str(following),
            "pending": await asyncio.to_thread(inbox.count_pending),
        }
    )


@router.get("/api/inbox/{entry_id}", response_model=AnyQuestion, summary="Return a question")
async def get_question(inbox: QuestionInbox, entry_id: EntryId) -> JsonReply:
    """Return the question with its payload, and its decision if there is one."""
    return JsonReply(_dump_entry(await asyncio.to_thread(inbox.get, entry_id)))


@router.post("/api/inbox/{entry_id}/decide", response_model=AnyQuestion, summary="Decide a question")
async def decide_question(
    inbox: QuestionInbox,
    actor: Sender,
    entry_id: EntryId,
    action: Annotated[str, Body(max_length=40)],
    data: Annotated[Any, Body()] = None,
    note: Annotated[str | None, Body()] = None,
) -> JsonReply:
    """Store the decision, as `uraniborg decide` does. The first decision is final; another one gets 409."""
    decision = Decision(action=action, data=data, note=note)
    entry = await asyncio.to_thread(check_and_decide, inbox, entry_id, decision, DOOR, actor)
    return JsonReply(_dump_entry(entry))


def _dump_entry(entry: Entry) -> dict[str, Any]:
    fields = entry.model_dump(mode="json", exclude_none=True)
    if entry.kind == _STRATEGY and isinstance(fields.get("payload"), dict):
        fields["payload"]["source_labels"] = dict(SOURCE_LABELS)
    return fields


def _summarize_entry(entry: Entry) -> dict[str, Any]:
    """Return the entry with the parts of payload and decision that a list shows."""
    given: Any = entry.payload
    payload = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    title = str(payload.get("query") or payload.get("question") or entry.subject)
    summary = entry.model_dump(mode="json", exclude_none=True, exclude={"payload", "decision"})
    summary["title"] = title[:_TITLE_CHARS]
    if isinstance(papers := payload.get("total_papers"), int):
        summary["papers"] = papers
    if workflow := payload.get("workflow"):
        summary["workflow"] = str(workflow)[:_TITLE_CHARS]
    if entry.decision is not None:
        summary["action"] = entry.decision.action
        summary["note"] = entry.decision.note and entry.decision.note[:_TITLE_CHARS]
    return summary


def _parse_position(text: str) -> Position:
    if not (text.isascii() and text.isdecimal() and len(text) <= _POSITION_DIGITS):
        raise InvalidInput(
            "before is not a position in the inbox.", hint="Use `next` of the page before.", argument="before"
        )
    return int(text)
