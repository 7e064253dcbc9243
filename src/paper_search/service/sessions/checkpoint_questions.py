"""Put a session into words: the question of its checkpoint, and a summary of its state."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from paper_search.domain.intent.feedback import NOT_USED
from paper_search.domain.query.filters import count_unknown_years_kept
from paper_search.domain.review_models import ExclusionReason
from paper_search.domain.source_descriptions import describe_shortfall, get_source_label, has_failed
from paper_search.models import (
    NO_SOURCE_ANSWERED,
    PaperCollection,
    SearchStrategy,
    SourceReport,
    any_source_answered,
)
from paper_search.recordings import OFFLINE_NOTICE, OFFLINE_TOPICS, find_offline_notice
from paper_search.service.reply_parts import clip_text
from paper_search.store.session_state import SessionState
from paper_search.workflow.checkpoints import Checkpoint, ResultPayload, StrategyPayload
from uraniborg.kernel.language.messages import plural

_NAMED_QUERIES: Final = 3
"""The number of queries that the question about a strategy names; it counts the others."""


def format_question(checkpoint: Checkpoint) -> str:
    """Return the question of a checkpoint to the person, and the possible answers."""
    if isinstance(checkpoint.payload, StrategyPayload):
        answers = "Approve, edit the strategy, or reject it and say what is missing."
    else:
        answers = (
            "Approve to finish; or reject (or edit) and say what is missing, or which papers are relevant and which "
            "are not, for another round."
        )
    return f"{format_bare_question(checkpoint)} {answers}"


def format_bare_question(checkpoint: Checkpoint) -> str:
    """Return the question of a checkpoint without the possible answers; that of a trial starts with its notice."""
    payload = checkpoint.payload
    is_strategy = isinstance(payload, StrategyPayload)
    notice = find_offline_notice(payload.intent.notes if is_strategy else payload.collection.metadata.notes)
    question = _ask_about_payload(payload)
    if notice and not is_strategy and not payload.collection.papers:
        notice += f" {OFFLINE_TOPICS}"
    return f"{notice} {question}" if notice else question


def _ask_about_payload(payload: StrategyPayload | ResultPayload) -> str:
    if isinstance(payload, StrategyPayload):
        strategy = payload.strategy
        asked = [query.boolean_query or query.words for query in strategy.queries]
        queries = "; ".join(f"`{clip_text(text, 300)}`" for text in asked[:_NAMED_QUERIES])
        if len(asked) > _NAMED_QUERIES:
            queries += f" and {plural(len(asked) - _NAMED_QUERIES, 'more query', 'more queries')}"
        sources = ", ".join(map(get_source_label, strategy.sources[:20])) or "all sources"
        unused = next((f" {clip_text(note, 500)}" for note in strategy.notes if note.startswith(NOT_USED)), "")
        return f"Search for {queries} in {sources}{_describe_limits(strategy)}?{unused}"
    collection = payload.collection
    count, problems = len(collection.papers), describe_source_problems(collection)
    found = f"Keep these {plural(count, 'paper')}?" if count != 1 else "Keep this paper?"
    if not count:
        found = "No papers were found." if any_source_answered(collection.metadata.sources) else NO_SOURCE_ANSWERED
    return f"{found}{_describe_news(collection)} {problems}".rstrip()


def _describe_news(collection: PaperCollection) -> str:
    """Return sentences about the papers that were removed by automation, or kept without a year; "" without any."""
    counts = Counter(one.reason for one in collection.metadata.exclusions)
    below, over = counts[ExclusionReason.BELOW_THRESHOLD], counts[ExclusionReason.OVER_LIMIT]
    kept = count_unknown_years_kept(collection)
    sentences = [
        *(
            [f"{plural(below, 'paper')} below min_relevance {'was' if below == 1 else 'were'} removed."]
            if below
            else []
        ),
        *([f"{plural(over, 'paper')} over max_results {'is' if over == 1 else 'are'} listed apart."] if over else []),
        *([f"{plural(kept, 'paper')} of unknown year {'was' if kept == 1 else 'were'} kept."] if kept else []),
    ]
    return "".join(f" {sentence}" for sentence in sentences)


def describe_source_problems(collection: PaperCollection) -> str:
    """Return which sources of the last round failed or sent fewer papers than match, or "" if all sent everything."""
    reports = collection.metadata.sources
    failed = [report for report in reports if has_failed(report)]
    short = [report for report in reports if not has_failed(report) and describe_shortfall(report)]
    sentences = [f"Fewer papers were fetched than match: {_list_shortfalls(short)}."] if short else []
    if failed:
        earlier = " in this round; these are the papers of earlier rounds" if collection.papers else ""
        start = "Not all sources could answer" if any_source_answered(reports) else f"No source answered{earlier}"
        sentences.insert(0, f"{start}: {_list_shortfalls(failed)}.")
    return " ".join(sentences)


def _list_shortfalls(reports: Sequence[SourceReport]) -> str:
    return "; ".join(f"{get_source_label(report.name)} ({describe_shortfall(report)})" for report in reports[:20])


def _describe_limits(strategy: SearchStrategy) -> str:
    least = strategy.filters.min_relevance
    threshold = f", without papers that score below {least:g}" if least else ""
    return f"{_describe_years(strategy)}{threshold}"


def _describe_years(strategy: SearchStrategy) -> str:
    since, until = strategy.filters.year_from, strategy.filters.year_to
    if since and until:
        return f", {since} to {until}"
    return f", since {since}" if since else f", until {until}" if until else ""


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
