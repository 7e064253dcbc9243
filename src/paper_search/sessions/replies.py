"""Build replies about sessions, short enough for the context window of an agent."""

from datetime import datetime
from typing import Final

from paper_search.model_fields import dump_as
from paper_search.models import SourceReport
from paper_search.session_replies import (
    CheckpointReply,
    EarlierDecision,
    SessionEntry,
    SessionReply,
    SourceSummary,
)
from paper_search.sessions.checkpoint_payloads import PAYLOAD_BYTES, build_checkpoint_payload
from paper_search.sessions.reply_sizes import REPLY_BYTES, clip_text, count_json_bytes
from paper_search.sessions.state import SessionState, SessionSummary
from paper_search.sessions.state_summaries import summarize_state
from paper_search.source_outcomes import count_fetched, describe_shortfall, get_stop_reason
from paper_search.workflow.checkpoints import Checkpoint, DecisionAction
from uraniborg.kernel.inbox import Decision, Entry, describe_decision

_SHARES: Final = (1.0, 0.6, 0.3, 0.15)
"""Factors for the maximum sizes of the parts of a reply, tried until the reply fits."""
_ACTIONS: Final = [action.value for action in DecisionAction]


def build_reply(
    state: SessionState, now: datetime, decided_entry: Entry | None = None, sent_decision: Decision | None = None
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


def _build_earlier_decision(entry: Entry, sent_decision: Decision | None, share: float) -> EarlierDecision:
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


def _describe_earlier_decision(entry: Entry, sent_decision: Decision | None) -> str:
    """Return the message that the decision sent now was not applied, with the earlier one."""
    before = f"This checkpoint was decided before: {describe_decision(entry)}."
    return before if _is_same(entry, sent_decision) else f"NOT APPLIED. {before}"


def _is_same(entry: Entry, sent_decision: Decision | None) -> bool:
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
