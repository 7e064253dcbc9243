"""Summarise the state of a session in a few words."""

from typing import Final

from paper_search.models import NO_SOURCE_ANSWERED, SourceReport, any_source_answered
from paper_search.recordings import OFFLINE_NOTICE
from paper_search.sessions.questions import format_question
from paper_search.sessions.reply_sizes import clip_text
from paper_search.sessions.state import SessionState
from paper_search.source_labels import get_source_label
from uraniborg.kernel.text import plural

_PHASE_TEXTS: Final = {
    "intent_parsing": "Reading the query",
    "query_building": "Building the strategy",
    "searching": "Searching",
    "deduplicating": "Merging duplicates",
    "scoring": "Ranking the papers",
    "organizing": "Ordering the papers",
    "iterating": "Starting another round",
    "waiting_checkpoint": "Preparing a checkpoint",
}


def summarize_state(state: SessionState) -> str:
    """Return the state of the session in one or two sentences; those of a trial start with its notice."""
    if state.pending:
        last = " This is the last round." if state.max_rounds - state.round == 1 else ""
        return format_question(state.pending.checkpoint) + last
    summary = _summarize_end(state) if state.ended else _summarize_activity(state)
    return f"{OFFLINE_NOTICE} {summary}" if state.is_offline else summary


def _summarize_activity(state: SessionState) -> str:
    activity = _PHASE_TEXTS.get(state.phase, "Working")
    if state.phase == "searching" and state.sources_asked:
        activity += f": {len(state.sources)} of {state.sources_asked} sources have answered"
    return f"{activity}. Call get_session in a few seconds to see the progress."


def _summarize_end(state: SessionState) -> str:
    ended = state.ended
    assert ended is not None
    if ended.error is not None:
        return f"The search failed: {clip_text(ended.error, 500)}"
    if not ended.paper_count and ended.sources and not any_source_answered(ended.sources):
        return f"{NO_SOURCE_ANSWERED} 0 papers."
    how = "the rounds were used up" if ended.reason else "approved"
    rounds = "1 round" if ended.rounds == 1 else f"{ended.rounds} rounds"
    return f"{plural(ended.paper_count, 'paper')} after {rounds}, {how}. Call export_results for them."


def describe_progress(state: SessionState) -> str:
    """Return the present activity in a few words."""
    activity = _PHASE_TEXTS.get(state.phase, "Working")
    if state.phase != "searching" or not state.sources_asked:
        return activity
    last = f" ({_describe_answer(state.sources[-1])})" if state.sources else ""
    return f"{activity}: {len(state.sources)} of {state.sources_asked} sources{last}"


def _describe_answer(report: SourceReport) -> str:
    matches = "" if report.found is None else f" of {plural(report.found, 'match', 'matches')}"
    return f"{get_source_label(report.name)}: {plural(report.returned, 'paper')}{matches}"
