"""Build replies about sessions, short enough for the context window of an agent; large exports go in parts."""

from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Any, Final, cast

from pydantic import BaseModel

from paper_search.domain.source_descriptions import count_fetched, describe_shortfall, get_source_label, get_stop_reason
from paper_search.models import Paper, PaperCollection, SourceReport
from paper_search.service.reply_parts import REPLY_BYTES, build_export_uri, clip_text, count_json_bytes, dump_as
from paper_search.service.search_replies import SearchState
from paper_search.service.session_replies import (
    CheckpointReply,
    EarlierDecision,
    ExportPage,
    ExportParts,
    ExportSummary,
    NamedPaper,
    SessionEntry,
    SessionReply,
    SourceSummary,
)
from paper_search.service.sessions.checkpoint_payloads import PAYLOAD_BYTES, build_checkpoint_payload
from paper_search.service.sessions.checkpoint_questions import summarize_state
from paper_search.store.session_state import SessionState, SessionSummary
from paper_search.workflow.checkpoints import Checkpoint, DecisionAction
from uraniborg.kernel.json_values import Json, JsonObject
from uraniborg.kernel.store.inbox import InboxDecision, InboxEntry, describe_decision

_SHARES: Final = (1.0, 0.6, 0.3, 0.15)
"""Factors for the maximum sizes of the parts of a reply, tried until the reply fits."""
_ACTIONS: Final = [action.value for action in DecisionAction]


def build_reply(
    state: SessionState,
    now: datetime,
    decided_entry: InboxEntry | None = None,
    sent_decision: InboxDecision | None = None,
) -> SessionReply:
    """Return the state object that search_papers, decide and get_session reply with.

    `decided_entry` is the inbox entry of a checkpoint that was decided before; `sent_decision` was sent for it now.
    """

    def build(share: float) -> SessionReply:
        reply = _build_sized_reply(state, now, share)
        if decided_entry is None:
            return reply
        return {"already_decided": _build_earlier_decision(decided_entry, sent_decision, share), **reply}

    *larger, smallest = _SHARES
    fitting = (reply for reply in map(build, larger) if count_json_bytes(reply) <= REPLY_BYTES)
    return next(fitting, None) or build(smallest)


def _build_sized_reply(state: SessionState, now: datetime, share: float) -> SessionReply:
    """Return the reply, with the maximum size of each part multiplied by `share`."""
    until = state.ended.at if state.ended else now
    fields: SessionReply = {
        "session_id": state.session_id,
        "query": state.query,
        "is_complete": state.ended is not None,
        "has_pending_checkpoint": state.pending is not None,
        "iteration": state.iteration,
        "round": state.round,
        "phase": state.phase,
        "rounds_left": max(0, state.max_rounds - state.round),
        "elapsed_s": round(max(0.0, (until - state.asked_at).total_seconds()), 1),
        "summary": clip_text(summarize_state(state), int(2_000 * share)),
        "sources": [_build_source_fields(report, int(160 * share)) for report in state.sources[: int(40 * share)]],
    }
    if state.is_offline:
        fields["offline"] = True
    if state.actor:
        fields["actor"] = state.actor.model_dump()
    if state.pending:
        kind = state.pending.checkpoint.kind.value
        fields["current_checkpoint_kind"] = kind
        fields["checkpoint"] = _build_checkpoint(state.pending.checkpoint, share)
        fields["checkpoint_id"] = state.pending.checkpoint.checkpoint_id
        fields["checkpoint_kind"] = kind
        fields["user_action_required"] = True
    if state.ended and state.ended.error is not None:
        fields["error"] = clip_text(state.ended.error, 2_000)
    elif state.ended:
        fields["result"] = {"paper_count": state.ended.paper_count, "summary": summarize_state(state)}
        if state.ended.reason:
            fields["result"]["reason"] = state.ended.reason
        fields["paper_count"] = state.ended.paper_count
    return fields


def _build_checkpoint(checkpoint: Checkpoint, share: float) -> CheckpointReply:
    return {
        "id": checkpoint.checkpoint_id,
        "kind": checkpoint.kind.value,
        "iteration": checkpoint.iteration,
        "payload": build_checkpoint_payload(checkpoint, int(PAYLOAD_BYTES * share)),
        "actions": _ACTIONS,
    }


def _build_earlier_decision(entry: InboxEntry, sent_decision: InboxDecision | None, share: float) -> EarlierDecision:
    """Return the fields of the earlier decision about a checkpoint."""
    decision, at = entry.decision, entry.decided_at
    return {
        "message": _describe_earlier_decision(entry, sent_decision),
        "same_as_sent": _is_same(entry, sent_decision),
        "checkpoint_id": entry.id,
        "action": decision and decision.action,
        "note": decision and clip_text(decision.note, int(500 * share)),
        "door": entry.door,
        "decided_by": entry.decided_by,
        "decided_at": at and at.isoformat(),
    }


def _describe_earlier_decision(entry: InboxEntry, sent_decision: InboxDecision | None) -> str:
    """Return the message that the decision sent now was not applied, with the earlier one."""
    before = f"This checkpoint was decided before: {describe_decision(entry)}."
    return before if _is_same(entry, sent_decision) else f"NOT APPLIED. {before}"


def _is_same(entry: InboxEntry, sent_decision: InboxDecision | None) -> bool:
    if sent_decision is None or entry.decision is None:
        return sent_decision is None
    return entry.decision.is_same_as(sent_decision)


def _build_source_fields(report: SourceReport, max_chars: int) -> SourceSummary:
    reason = get_stop_reason(report)
    summary: SourceSummary = {
        "name": report.name,
        "status": report.status.value,
        "returned": report.returned,
        "matched": report.found,
        "fetched": count_fetched(report),
        "stopped": None if reason is None else reason.value,
        "short": describe_shortfall(report),
        "partial": report.partial,
        "calls": report.calls,
        "seconds": report.seconds,
        "reason": clip_text(report.reason, max_chars),
    }
    if report.retry_at:
        summary["retry_at"] = report.retry_at.isoformat()
    return summary


def build_list_entry(summary: SessionSummary) -> SessionEntry:
    """Return the summary as an entry of a list, with long texts shortened."""
    entry = dump_as(SessionEntry, summary, exclude_none=True)
    entry["query"] = clip_text(summary.query, 120)
    if summary.error is not None:
        entry["error"] = clip_text(summary.error, 120)
    return entry


def complete_reply(reply: SessionReply) -> SearchState:
    """Return the reply about a session with the labels of its sources, and with null for what it leaves out."""
    return {
        **reply,
        "sources": [{**source, "label": get_source_label(source["name"])} for source in reply["sources"]],
        "offline": reply.get("offline", False),
        "actor": reply.get("actor"),
        "checkpoint_id": reply.get("checkpoint_id"),
        "checkpoint_kind": reply.get("checkpoint_kind"),
        "checkpoint": reply.get("checkpoint"),
        "paper_count": reply.get("paper_count"),
        "error": reply.get("error"),
        "already_decided": reply.get("already_decided"),
    }


MOST_PAPERS: Final = 50
"""The most papers of a result that `export_results` returns as JSON in one reply."""
_PAGE_BYTES: Final = 24_000
_NAMED_PAPERS: Final = 20
_LISTS: Final = ("papers", "excluded_papers", "removed_papers")
_OBJECTS: Final = ("metadata", "facets")

_Piece = tuple[str, str, Any]
"""A list of papers and one of them, or an object, one of its fields, and its value or one item of it."""


def build_export_summary(session_id: str, collection: PaperCollection) -> ExportSummary:
    """Return what a JSON export contains, its best papers, and where to read all of it."""
    years = [paper.year for paper in collection.papers if paper.year]
    return {
        "session_id": session_id,
        "format": "json",
        "is_summary": True,
        "query": clip_text(collection.metadata.query, 500),
        "total_papers": len(collection.papers),
        "excluded_papers": len(collection.excluded_papers),
        "removed_papers": len(collection.removed_papers),
        "years": [min(years), max(years)] if years else None,
        "best_papers": [_build_named_paper(paper) for paper in collection.papers[:_NAMED_PAPERS]],
        "resource": build_export_uri(session_id),
        "hint": f"JSON of more than {MOST_PAPERS} papers is too long for one reply. Read the resource, and then each "
        "`next`: the pages together are the whole export. The other formats are shorter. `paper-search export "
        f"{session_id} --format json -o papers.json` writes the whole export to a file.",
    }


def build_export_page(session_id: str, collection: PaperCollection, offset: int) -> ExportPage:
    """Return as many parts of the JSON export as fit into one reply, from the part with the number `offset` on.

    The lists of the pages joined, and their objects merged, are the export.
    """
    page: JsonObject = {}
    length = taken = 0
    total = sum(len(getattr(collection, name)) or 1 for name in _LISTS) + sum(
        len(_split_field(value)) for name in _OBJECTS for _, value in _iterate_fields(getattr(collection, name))
    )
    for part, name, value in islice(_iterate_pieces(collection), offset, None):
        dumped = _dump_value(value)
        length += count_json_bytes(dumped)
        if taken and length > _PAGE_BYTES:
            break
        _add_piece(page, part, name, dumped)
        taken += 1
    end = offset + taken
    return {
        "session_id": session_id,
        **cast("ExportParts", page),
        "total_papers": len(collection.papers),
        "offset": offset,
        "total_parts": total,
        "next": build_export_uri(session_id, end) if end < total else None,
    }


def _iterate_pieces(collection: PaperCollection) -> Iterator[_Piece]:
    for part in _LISTS:
        papers: list[Paper] = getattr(collection, part)
        yield from ((part, "", [paper]) for paper in papers) if papers else [(part, "", [])]
    for part in _OBJECTS:
        for name, value in _iterate_fields(getattr(collection, part)):
            yield from ((part, name, piece) for piece in _split_field(value))


def _iterate_fields(part: BaseModel) -> Iterator[tuple[str, Any]]:
    for name, value in part:
        is_left_out = type(part).model_fields[name].exclude_if
        if is_left_out is None or not is_left_out(value):
            yield name, value


def _split_field(value: Any) -> list[Any]:
    """Return the items of a list, each as a list, so that pages can end between them; otherwise the value alone."""
    return [[item] for item in cast("list[Any]", value)] if isinstance(value, list) and value else [value]


def _add_piece(page: JsonObject, part: str, name: str, value: Json) -> None:
    target = cast("JsonObject", page.setdefault(part, {})) if name else page
    earlier = target.get(name or part)
    target[name or part] = [*earlier, *value] if isinstance(value, list) and isinstance(earlier, list) else value


def _dump_value(value: Any) -> Json:
    """Return the value as plain JSON."""
    return _Holder(value=value).model_dump(mode="json")["value"]


class _Holder(BaseModel):
    value: Any


def _build_named_paper(paper: Paper) -> NamedPaper:
    return {"id": paper.id, "title": clip_text(paper.title, 160), "year": paper.year, "doi": clip_text(paper.doi, 100)}
