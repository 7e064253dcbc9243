"""Replies about sessions: state, checkpoints and papers, short enough for the context window of an agent."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from pydantic import BaseModel
from pydantic_core import to_json

from paper_search.editorial_notices import build_notice_fields
from paper_search.intent.feedback import NOT_USED
from paper_search.models import (
    NO_SOURCE_ANSWERED,
    Paper,
    PaperCollection,
    SearchQuery,
    SearchStrategy,
    SourceReport,
    SourceStatus,
    StageCount,
    StopReason,
    any_source_answered,
)
from paper_search.recordings import OFFLINE_NOTICE, OFFLINE_TOPICS, find_offline_notice
from paper_search.review_models import BY_AUTOMATION, BY_REVIEWER, ExclusionReason, ReviewStatus
from paper_search.sessions.reviewer_view import list_reviewed_papers
from paper_search.sessions.state import SessionState, SessionSummary
from paper_search.source_labels import get_source_label
from paper_search.source_outcomes import count_fetched, describe_shortfall, get_stop_reason, has_failed
from paper_search.sources.query_translation import list_source_changes
from paper_search.unknown_years import count_unknown_years_kept, is_year_unknown_kept
from paper_search.workflow.checkpoints import Checkpoint, DecisionAction, ResultPayload, StrategyPayload
from uraniborg.kernel.inbox import Decision, Entry, describe_decision
from uraniborg.kernel.text import plural

REPLY_BYTES: Final = 25_000
"""The maximum size of a reply that is not an export."""
MAX_LISTED_PAPERS: Final = 20
"""The maximum number of papers that a checkpoint lists."""
_PAYLOAD_BYTES: Final = 18_000
_LISTED_FINDINGS: Final = 10
"""The maximum size of the payload of a checkpoint."""
_NAMED_QUERIES: Final = 3
"""The number of queries that the question about a strategy names; it counts the others."""
_LISTED_EARLIER_PAPERS: Final = 10
"""The maximum numbers of included and of excluded papers of earlier rounds that a strategy checkpoint lists."""
_REVIEWED_PLAN_BYTES: Final = 3_000
"""The maximum size of the strategy in the payload of a review."""
_ADDRESS_BYTES: Final = 200
_QUERY_CHARS: Final = (1_000, 400, 200, 120, 80, 40)
"""The maximum lengths of the queries of a strategy, tried until it fits."""
_LISTED_TERMS: Final = 20
"""The maximum number of variants, suggestions and notes that a strategy lists that is too large."""
_SHARES: Final = (1.0, 0.6, 0.3, 0.15)
"""Factors for the maximum sizes of the parts of a reply, tried until the reply fits."""
_PAGE_BYTES: Final = 24_000
_ACTIONS: Final = [action.value for action in DecisionAction]
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


def build_reply(
    state: SessionState, now: datetime, decided_entry: Entry | None = None, sent_decision: Decision | None = None
) -> dict[str, Any]:
    """Return the state object that search_papers, decide and get_session reply with.

    `decided_entry` is the inbox entry of a checkpoint that was decided before; `sent_decision` was sent for it now.
    """
    fields: dict[str, Any] = {}
    for share in _SHARES:
        fields = _build_sized_reply(state, now, share)
        if decided_entry is not None:
            fields = {"already_decided": _build_earlier_decision_fields(decided_entry, sent_decision, share), **fields}
        if count_json_bytes(fields) <= REPLY_BYTES:
            break
    return fields


def _build_sized_reply(state: SessionState, now: datetime, share: float) -> dict[str, Any]:
    """Return the reply, with the maximum size of each part multiplied by `share`."""
    until = state.ended.at if state.ended else now
    fields: dict[str, Any] = {
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
        fields |= _build_pending_fields(state.pending.checkpoint, share)
    if state.ended:
        fields |= _build_outcome_fields(state)
    return fields


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


def build_checkpoint_payload(checkpoint: Checkpoint, max_bytes: int = _PAYLOAD_BYTES) -> dict[str, Any]:
    """Return the payload that a person sees: at most 20 papers with short fields, and where to read the others."""
    payload = checkpoint.payload
    if isinstance(payload, StrategyPayload):
        return _build_strategy_payload(checkpoint, payload, max_bytes)
    collection = payload.collection
    shown = min(MAX_LISTED_PAPERS, len(collection.papers))
    while True:
        fields = _build_review_payload(checkpoint, collection, len(payload.accumulated_papers), shown)
        if not shown or count_json_bytes(fields) <= max_bytes:
            return fields
        shown = shown * 3 // 4


def build_list_entry(summary: SessionSummary) -> dict[str, Any]:
    """Return the summary as an entry of a list, with long texts shortened."""
    line = summary.model_dump(mode="json", exclude_none=True)
    return {**line, **{name: clip_text(line[name], 120) for name in ("query", "error") if name in line}}


def build_papers_uri(session_id: str, offset: int = 0) -> str:
    """Return the address of the resource with the papers of a session from `offset` on."""
    return f"paper-search://sessions/{session_id}/papers" + (f"/{offset}" if offset else "")


def build_removed_uri(session_id: str, offset: int = 0) -> str:
    """Return the address of the resource with the papers that are not in the result, from `offset` on."""
    return f"paper-search://sessions/{session_id}/removed" + (f"/{offset}" if offset else "")


def build_queries_uri(session_id: str, offset: int = 0) -> str:
    """Return the address of the resource with the complete queries of a session's strategy, from `offset` on."""
    return f"paper-search://sessions/{session_id}/queries" + (f"/{offset}" if offset else "")


def build_export_uri(session_id: str, offset: int = 0) -> str:
    """Return the address of the resource with the parts of a session's JSON export from `offset` on."""
    return f"paper-search://sessions/{session_id}/export" + (f"/{offset}" if offset else "")


def build_papers_page(session_id: str, collection: PaperCollection, offset: int) -> dict[str, Any]:
    """Return as many papers as fit into one reply, with their abstracts, and the address of the next page.

    The papers that reviewers have excluded follow those of the result, which `total_papers` counts.
    """
    listed = list_reviewed_papers(collection)
    page: list[dict[str, Any]] = []
    length = 0
    for paper in listed[offset:]:
        entry = {
            **_build_paper_fields(paper, collection),
            "abstract": clip_text(paper.abstract, 600),
            "url": clip_text(paper.full_text_url, 300),
        }
        length += count_json_bytes(entry)
        if page and length > _PAGE_BYTES:
            break
        page.append(entry)
    end = offset + len(page)
    more = end < len(listed)
    return {
        "session_id": session_id,
        "papers": page,
        "total_papers": len(collection.papers),
        "excluded_papers": len(listed) - len(collection.papers),
        **_build_news_fields(session_id, collection),
        "offset": offset,
        "next": build_papers_uri(session_id, end) if more else None,
        **({"notice": notice} if (notice := find_offline_notice(collection.metadata.notes)) else {}),
    }


def _describe_earlier_decision(entry: Entry, sent_decision: Decision | None) -> str:
    """Return the message that the decision sent now was not applied, with the earlier one."""
    before = f"This checkpoint was decided before: {describe_decision(entry)}."
    return before if _is_same(entry, sent_decision) else f"NOT APPLIED. {before}"


def _is_same(entry: Entry, sent_decision: Decision | None) -> bool:
    if sent_decision is None or entry.decision is None:
        return sent_decision is None
    return entry.decision.is_same_as(sent_decision)


def _build_earlier_decision_fields(entry: Entry, sent_decision: Decision | None, share: float) -> dict[str, Any]:
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


def _build_pending_fields(checkpoint: Checkpoint, share: float) -> dict[str, Any]:
    payload = build_checkpoint_payload(checkpoint, int(_PAYLOAD_BYTES * share))
    kind = checkpoint.kind.value
    return {
        "current_checkpoint_kind": kind,
        "checkpoint": {
            "id": checkpoint.checkpoint_id,
            "kind": kind,
            "iteration": checkpoint.iteration,
            "payload": payload,
            "actions": _ACTIONS,
        },
        "checkpoint_id": checkpoint.checkpoint_id,
        "checkpoint_kind": kind,
        "user_action_required": True,
    }


def _build_outcome_fields(state: SessionState) -> dict[str, Any]:
    ended = state.ended
    assert ended is not None
    if ended.error is not None:
        return {"error": clip_text(ended.error, 2_000)}
    result = {"paper_count": ended.paper_count, "summary": summarize_state(state)}
    return {
        "result": {**result, "reason": ended.reason} if ended.reason else result,
        "paper_count": ended.paper_count,
    }


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


def _build_strategy_payload(checkpoint: Checkpoint, payload: StrategyPayload, max_bytes: int) -> dict[str, Any]:
    so_far: dict[str, Any] = {}
    if payload.collection is not None:
        papers = _build_papers_so_far(checkpoint.run_id, payload.collection)
        so_far = {"papers_so_far": _shorten_to_fit(papers, max_bytes // 4)}
        max_bytes -= max_bytes // 4
    intent = payload.intent.model_dump(mode="json", exclude_none=True)
    short_intent = _shorten_to_fit(intent, max_bytes // 4)
    remarks = _build_query_remarks(payload)
    max_bytes -= count_json_bytes(remarks)
    plan = _build_plan_fields(payload.strategy, max_bytes - count_json_bytes(short_intent) - _ADDRESS_BYTES)
    if not plan.get("shortened") and short_intent == intent:
        return {"intent": intent, "strategy": plan, **remarks, **so_far}
    marks = {"shortened": True, "all_queries": build_queries_uri(checkpoint.run_id)}
    return {"intent": short_intent, "strategy": plan, **marks, **remarks, **so_far}


def _build_query_remarks(payload: StrategyPayload) -> dict[str, Any]:
    """Return the first warnings about the queries, and what each source changes of a strategy, if there are any."""
    findings = [finding.model_dump(mode="json", exclude_none=True) for finding in payload.findings]
    changes = list_source_changes(payload.strategy)
    more = {"findings_in_all": len(findings)} if len(findings) > _LISTED_FINDINGS else {}
    listed = _shorten_value(findings[:_LISTED_FINDINGS], 300, _LISTED_FINDINGS)
    return {
        **({"findings": listed, **more} if findings else {}),
        **({"changed_for_sources": changes} if changes else {}),
    }


def _build_plan_fields(strategy: SearchStrategy, max_bytes: int) -> dict[str, Any]:
    """Return the strategy, blocks first. One that is too large has short queries and no origins but a person's."""
    full: dict[str, Any] = strategy.model_dump(mode="json", exclude_none=True)
    full = {"blocks": full["blocks"], "suggestions": full["suggestions"], **full}
    if count_json_bytes(full) <= max_bytes:
        return full
    origins = [origin for origin in full["origins"] if origin["inherited"] or origin["by_person"]]
    blocks: list[dict[str, Any]] = [{**block, "word_shares": {}} for block in full["blocks"]]
    fields: dict[str, Any] = {**full, "blocks": blocks, "origins": origins, "shortened": True}
    for max_chars in _QUERY_CHARS:
        queries = [_build_query_fields(query, max_chars) for query in strategy.queries]
        fields = {**_shorten_value(fields, 400, len(blocks) + _LISTED_TERMS), "queries": queries}
        if count_json_bytes(fields) <= max_bytes:
            return fields
    return _shorten_to_fit(fields, max_bytes)


def _build_query_fields(query: SearchQuery, max_chars: int) -> dict[str, Any]:
    """Return the rung of a query and what it asks; its keywords and synonyms are those of its blocks."""
    return {
        "keywords": [],
        "synonym_map": [],
        "rung": query.rung,
        "blocks": query.blocks,
        "boolean_query": clip_text(query.boolean_query, max_chars),
        "words": clip_text(query.words, max_chars),
    }


def _build_papers_so_far(session_id: str, collection: PaperCollection) -> dict[str, Any]:
    """Return the papers of the earlier rounds, with their statuses: those of the result and those excluded."""
    listed = list_reviewed_papers(collection)
    shown = {"id", "title", "year", "relevance_score", "status", "found_in_round", "year_unknown_kept"}

    def build(papers: Sequence[Paper]) -> list[dict[str, Any]]:
        fields = [_build_paper_fields(paper, collection) for paper in papers]
        return [{name: value for name, value in one.items() if name in shown} for one in fields]

    excluded = listed[len(collection.papers) :]
    return {
        "papers": build(collection.papers[:_LISTED_EARLIER_PAPERS]),
        "total_papers": len(collection.papers),
        "excluded": build(excluded[:_LISTED_EARLIER_PAPERS]),
        "excluded_papers": len(excluded),
        "status_counts": _count_statuses(collection),
        "all": build_papers_uri(session_id),
        **_build_news_fields(session_id, collection),
    }


def _build_news_fields(session_id: str, collection: PaperCollection) -> dict[str, Any]:
    """Return what a person cannot see from the listed papers: how many were removed, or kept without a year."""
    counts = Counter(one.reason for one in collection.metadata.exclusions)
    automatic = {reason.value: counts[reason] for reason in sorted(BY_AUTOMATION) if counts[reason]}
    fields: dict[str, Any] = {}
    if automatic:
        thresholds = (one.threshold for one in collection.metadata.exclusions)
        fields["removed_by_automation"] = {
            **automatic,
            "min_relevance": next((threshold for threshold in thresholds if threshold is not None), None),
            "list": build_removed_uri(session_id),
        }
    if kept := count_unknown_years_kept(collection):
        fields["year_unknown_kept"] = kept
    return fields


def _shorten_to_fit(value: dict[str, Any], max_bytes: int) -> dict[str, Any]:
    """Return the value, with texts and lists shortened until it fits; `shortened` is set then."""
    for texts, items in ((400, 20), (200, 10), (80, 5), (40, 3)):
        if count_json_bytes(value) <= max_bytes:
            return value
        value = {**_shorten_value(value, texts, items), "shortened": True}
    return value


def _shorten_value(value: Any, max_chars: int, max_items: int) -> Any:
    """Return the value with long texts and lists shortened."""
    if isinstance(value, str):
        return clip_text(value, max_chars)
    if isinstance(value, list):
        return [_shorten_value(item, max_chars, max_items) for item in value[:max_items]]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, Mapping):
        return {key: _shorten_value(item, max_chars, max_items) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
    return value


def _build_review_payload(
    checkpoint: Checkpoint, collection: PaperCollection, accumulated_count: int, listed_count: int
) -> dict[str, Any]:
    total = len(collection.papers)
    fields: dict[str, Any] = {
        "papers": [_build_paper_fields(paper, collection) for paper in collection.papers[:listed_count]],
        "total_papers": total,
        "shown": listed_count,
        "facets": _build_facet_fields(collection),
        "accumulated_count": accumulated_count,
        "status_counts": _count_statuses(collection),
        **_build_news_fields(checkpoint.run_id, collection),
        "stage_counts": _build_stage_count_fields(collection.metadata.stage_counts, checkpoint.round),
        "suggestions": [entry.model_dump(mode="json") for entry in checkpoint.suggestions[:_LISTED_TERMS]],
        "strategy": (plan := _build_plan_fields(collection.metadata.search_strategy, _REVIEWED_PLAN_BYTES)),
    }
    if plan.get("shortened"):
        fields["all_queries"] = build_queries_uri(checkpoint.run_id)
    if total > listed_count:
        fields["more"] = (
            f"{total - listed_count} more papers: read the resource "
            f"{build_papers_uri(checkpoint.run_id, listed_count)}, or approve and call export_results."
        )
    return fields


def _build_paper_fields(paper: Paper, collection: PaperCollection) -> dict[str, Any]:
    return {
        "id": paper.id,
        "title": clip_text(paper.title, 160),
        "authors": [clip_text(author.name, 40) for author in paper.authors[:3]],
        "more_authors": max(0, len(paper.authors) - 3),
        "year": paper.year,
        "venue": clip_text(paper.venue, 60),
        "doi": clip_text(paper.doi, 100),
        **_build_shelf_fields(paper.identifiers),
        "relevance_score": round(paper.relevance_score, 2),
        "relevance_reason": clip_text(paper.relevance_reason, 120),
        "sources": paper.sources[:8],
        **build_notice_fields(paper.notices),
        "status": paper.status.value,
        "found_in_round": paper.found_in_round,
        **({"year_unknown_kept": True} if is_year_unknown_kept(paper, collection.metadata) else {}),
    }


def _build_shelf_fields(identifiers: Mapping[str, str]) -> dict[str, str]:
    """Return the id of the paper on the shelf that it comes from, and the name of the shelf."""
    name, _, _ = identifiers.get("shelf_paper", "").rpartition("/")
    known = {"shelf_id": identifiers.get("shelf"), "shelf": name}
    return {field: clip_text(value, 100) for field, value in known.items() if value}


def _count_statuses(collection: PaperCollection) -> dict[str, int]:
    """Return the number of papers of the session with each status, excluded papers included."""
    counts = Counter(paper.status for paper in collection.papers)
    counts[ReviewStatus.EXCLUDE] += sum(one.reason in BY_REVIEWER for one in collection.metadata.exclusions)
    return {status.value: counts[status] for status in ReviewStatus}


def _build_facet_fields(collection: PaperCollection) -> dict[str, Any]:
    facets = collection.facets
    by_year = dict(sorted(facets.by_year.items(), reverse=True)[:15])
    by_venue = sorted(facets.by_venue.items(), key=lambda item: -item[1])[:5]
    return {
        "by_year": {str(year): count for year, count in by_year.items()},
        "by_venue": {clip_text(venue, 60): count for venue, count in by_venue},
        "top_authors": [clip_text(name, 40) for name in facets.top_authors[:5]],
        "key_themes": [clip_text(theme, 40) for theme in facets.key_themes[:10]],
    }


def _build_stage_count_fields(counts: Sequence[StageCount], round_number: int) -> dict[str, Any]:
    return {
        count.stage: {"in": count.count_in, "out": count.count_out} for count in counts if count.round == round_number
    }


class SourceSummary(BaseModel):
    """What a source did, in the reply about a session."""

    name: str
    status: SourceStatus
    returned: int
    matched: int | None
    """The number of all matches by the source's own count; None if it is unknown, as for several queries."""
    fetched: int
    stopped: StopReason | None
    """Why the source stopped; of several queries the most serious reason."""
    short: str | None
    """What is missing, in words; None if nothing is."""
    partial: bool
    """Whether fewer papers were fetched than match, or the source failed after it had sent some papers."""
    calls: int
    seconds: float
    reason: str | None
    retry_at: str | None


def _build_source_fields(report: SourceReport, max_chars: int) -> dict[str, Any]:
    summary = SourceSummary(
        name=report.name,
        status=report.status,
        returned=report.returned,
        matched=report.found,
        fetched=count_fetched(report),
        stopped=get_stop_reason(report),
        short=describe_shortfall(report),
        partial=report.partial,
        calls=report.calls,
        seconds=report.seconds,
        reason=clip_text(report.reason, max_chars),
        retry_at=report.retry_at and report.retry_at.isoformat(),
    )
    return summary.model_dump(mode="json", exclude=None if report.retry_at else {"retry_at"})


def clip_text(text: str | None, max_chars: int) -> Any:
    """Return the text, shortened to `max_chars` characters with an ellipsis."""
    return text if text is None or len(text) <= max_chars else text[: max_chars - 1] + "…"


def count_json_bytes(value: Any) -> int:
    """Return the size of the value as JSON in bytes."""
    return len(to_json(value))
