"""What an agent is told of a session: enough to go on, and never more than fits into a context window."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from pydantic_core import to_json

from paper_search.models import (
    NO_SOURCE_ANSWERED,
    Paper,
    PaperCollection,
    ParsedIntent,
    SearchStrategy,
    SourceReport,
    SourceStatus,
    StageCount,
    any_source_answered,
)
from paper_search.notices import notice_fields
from paper_search.review import ExclusionReason, ReviewStatus
from paper_search.sessions.state import SessionState, SessionSummary
from paper_search.workflow.checkpoints import Checkpoint, DecisionAction, StrategyPayload
from uraniborg.kernel.inbox import Decision, Entry

REPLY_BYTES: Final = 25_000
"""No reply but an export is longer than this."""
SHOWN: Final = 20
"""A checkpoint lists at most this many papers."""
_PAYLOAD_BYTES: Final = 16_000
"""A checkpoint's payload takes at most this much of a reply."""
_SHARES: Final = (1.0, 0.6, 0.3, 0.15)
"""How much each part of a reply may take, tried until all of them fit: few are as long as they may be."""
_PAGE_BYTES: Final = 24_000
_ACTIONS: Final = [action.value for action in DecisionAction]
_DOING: Final = {
    "intent_parsing": "Reading the query",
    "query_building": "Building the strategy",
    "searching": "Searching",
    "deduplicating": "Merging duplicates",
    "scoring": "Ranking the papers",
    "organizing": "Ordering the papers",
    "iterating": "Beginning another round",
    "waiting_checkpoint": "Coming to a checkpoint",
}


def reply(
    state: SessionState, now: datetime, repeated: Entry | None = None, given: Decision | None = None
) -> dict[str, Any]:
    """The state object that search_papers, decide and get_session answer with.

    `repeated` is the checkpoint that was decided before, when it was to be decided once more, as `given`.
    """
    said: dict[str, Any] = {}
    for share in _SHARES:
        said = _reply(state, now, share)
        if repeated is not None:
            said = {"already_decided": _decided(repeated, given, share), **said}
        if size(said) <= REPLY_BYTES:
            break
    return said


def _reply(state: SessionState, now: datetime, share: float) -> dict[str, Any]:
    """The reply, with so much of the space that each part of it may usually take."""
    until = state.ended.at if state.ended else now
    said: dict[str, Any] = {
        "session_id": state.session_id,
        "query": state.query,
        "is_complete": state.ended is not None,
        "has_pending_checkpoint": state.waiting is not None,
        "iteration": state.iteration,
        "round": state.round,
        "phase": state.phase,
        "rounds_left": max(0, state.max_rounds - state.round),
        "elapsed_s": round(max(0.0, (until - state.asked_at).total_seconds()), 1),
        "summary": clipped(summary(state), int(2_000 * share)),
        "sources": [_source(report, int(160 * share)) for report in state.sources[: int(40 * share)]],
    }
    if state.waiting:
        said |= _pending(state.waiting.checkpoint, share)
    if state.ended:
        said |= _outcome(state)
    return said


def summary(state: SessionState) -> str:
    """Where the session stands, in a sentence or two."""
    if state.ended:
        return _end(state)
    if state.waiting:
        last = " This is the last round." if state.max_rounds - state.round == 1 else ""
        return question(state.waiting.checkpoint) + last
    doing = _DOING.get(state.phase, "Working")
    if state.phase == "searching" and state.sources_asked:
        doing += f": {len(state.sources)} of {state.sources_asked} sources have answered"
    return f"{doing}. Call get_session in some seconds to see how far it is."


def progress(state: SessionState) -> str:
    """What happens now, in a few words."""
    doing = _DOING.get(state.phase, "Working")
    if state.phase != "searching" or not state.sources_asked:
        return doing
    last = f" ({state.sources[-1].name}: {state.sources[-1].returned} papers)" if state.sources else ""
    return f"{doing}: {len(state.sources)} of {state.sources_asked} sources{last}"


def checkpoint_payload(checkpoint: Checkpoint, most_bytes: int = _PAYLOAD_BYTES) -> dict[str, Any]:
    """What the checkpoint shows a person: at most 20 papers with short fields, and how to get the others."""
    payload = checkpoint.payload
    if isinstance(payload, StrategyPayload):
        return _strategy(payload.intent, payload.strategy, most_bytes)
    collection = payload.collection
    shown = min(SHOWN, len(collection.papers))
    while True:
        said = _review(checkpoint, collection, len(payload.accumulated_papers), shown)
        if not shown or size(said) <= most_bytes:
            return said
        shown = shown * 3 // 4


def session_line(summary: SessionSummary) -> dict[str, Any]:
    """Return one session of a list, with long texts clipped."""
    line = summary.model_dump(mode="json", exclude_none=True)
    return {**line, **{name: clipped(line[name], 120) for name in ("query", "error") if name in line}}


def papers_address(session_id: str, offset: int = 0) -> str:
    """The resource with all papers of a session, from the one at `offset` on."""
    return f"paper-search://sessions/{session_id}/papers" + (f"/{offset}" if offset else "")


def papers_page(session_id: str, collection: PaperCollection, offset: int) -> dict[str, Any]:
    """As many papers as fit into one reply, with their abstracts, and where the next ones are."""
    page: list[dict[str, Any]] = []
    length = 0
    for paper in collection.papers[offset:]:
        entry = {**_paper(paper), "abstract": clipped(paper.abstract, 600), "url": clipped(paper.full_text_url, 300)}
        length += size(entry)
        if page and length > _PAGE_BYTES:
            break
        page.append(entry)
    end = offset + len(page)
    more = end < len(collection.papers)
    return {
        "session_id": session_id,
        "papers": page,
        "total_papers": len(collection.papers),
        "offset": offset,
        "next": papers_address(session_id, end) if more else None,
    }


def _repetition(entry: Entry, given: Decision | None) -> str:
    """Says that nothing was decided now."""
    action = entry.decision.action if entry.decision else "nothing"
    before = f"This checkpoint was decided before: {action}, through {entry.door}."
    return before if given in (None, entry.decision) else f"NOT TAKEN. {before}"


def _decided(entry: Entry, given: Decision | None, share: float) -> dict[str, Any]:
    """What was decided about a checkpoint, and through which door."""
    decision, at = entry.decision, entry.decided_at
    return {
        "message": _repetition(entry, given),
        "same_as_sent": given in (None, decision),
        "checkpoint_id": entry.id,
        "action": decision and decision.action,
        "note": decision and clipped(decision.note, int(500 * share)),
        "door": entry.door,
        "decided_at": at and at.isoformat(),
    }


def _pending(checkpoint: Checkpoint, share: float) -> dict[str, Any]:
    payload = checkpoint_payload(checkpoint, int(_PAYLOAD_BYTES * share))
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


def _outcome(state: SessionState) -> dict[str, Any]:
    ended = state.ended
    assert ended is not None
    if ended.error is not None:
        return {"error": clipped(ended.error, 2_000)}
    result = {"paper_count": ended.paper_count, "summary": _end(state)}
    return {
        "result": {**result, "reason": ended.reason} if ended.reason else result,
        "paper_count": ended.paper_count,
    }


def _end(state: SessionState) -> str:
    ended = state.ended
    assert ended is not None
    if ended.error is not None:
        return f"The search failed: {clipped(ended.error, 500)}"
    if not ended.paper_count and ended.sources and not any_source_answered(ended.sources):
        return f"{NO_SOURCE_ANSWERED} 0 papers."
    how = "the rounds were used up" if ended.reason else "approved"
    rounds = "1 round" if ended.rounds == 1 else f"{ended.rounds} rounds"
    return f"{_papers(ended.paper_count)} after {rounds}, {how}. Call export_results for them."


def question(checkpoint: Checkpoint) -> str:
    """What to ask the person."""
    payload = checkpoint.payload
    if isinstance(payload, StrategyPayload):
        strategy = payload.strategy
        queries = "; ".join(f"`{clipped(query.boolean_query, 300)}`" for query in strategy.queries[:3])
        return (
            f"Search for {queries} in {', '.join(strategy.sources[:20]) or 'all sources'}{_years(strategy)}? "
            "Approve, edit the strategy, or reject it and say what is missing."
        )
    collection = payload.collection
    count, troubled = len(collection.papers), _troubled(collection.metadata.sources)
    found = f"Keep these {_papers(count)}?" if count != 1 else "Keep this paper?"
    if not count:
        found = "No papers were found." if any_source_answered(collection.metadata.sources) else NO_SOURCE_ANSWERED
    trouble = f" {_describe_trouble(collection, troubled)}" if troubled else ""
    return (
        f"{found}{trouble} Approve to finish; or reject (or edit) and say what is missing, or which papers are "
        "relevant and which are not, for another round."
    )


def describe_sources(collection: PaperCollection) -> str:
    """Return which sources of the last round did not answer in full, or "" if all did."""
    troubled = _troubled(collection.metadata.sources)
    return _describe_trouble(collection, troubled) if troubled else ""


def _describe_trouble(collection: PaperCollection, troubled: list[str]) -> str:
    listed = "; ".join(troubled)
    if any_source_answered(collection.metadata.sources):
        return f"Not all sources could answer: {listed}."
    earlier = " in this round; these are the papers of earlier rounds" if collection.papers else ""
    return f"No source answered{earlier}: {listed}."


def _troubled(reports: Sequence[SourceReport]) -> list[str]:
    fine = (SourceStatus.OK, SourceStatus.EMPTY)
    return [f"{report.name} ({_status(report)})" for report in reports if report.status not in fine or report.partial][
        :20
    ]


def _status(report: SourceReport) -> str:
    return "partial" if report.partial else report.status.value.replace("_", " ")


def _years(strategy: SearchStrategy) -> str:
    since, until = strategy.filters.year_from, strategy.filters.year_to
    if since and until:
        return f", {since} to {until}"
    return f", since {since}" if since else f", until {until}" if until else ""


def _strategy(intent: ParsedIntent, strategy: SearchStrategy, most_bytes: int) -> dict[str, Any]:
    full = {
        "intent": intent.model_dump(mode="json", exclude_none=True),
        "strategy": strategy.model_dump(mode="json", exclude_none=True),
    }
    return _fitted(full, most_bytes)


def _fitted(value: dict[str, Any], most_bytes: int) -> dict[str, Any]:
    """Return the value, with texts clipped and lists cut as far as needed to fit; `shortened` says so."""
    for texts, items in ((400, 20), (200, 10), (80, 5), (40, 3)):
        if size(value) <= most_bytes:
            return value
        value = {**_shortened(value, texts, items), "shortened": True}
    return value


def _shortened(value: Any, texts: int, items: int) -> Any:
    """The same with long texts clipped and long lists cut, for what is too long to be told in full."""
    if isinstance(value, str):
        return clipped(value, texts)
    if isinstance(value, list):
        return [_shortened(item, texts, items) for item in value[:items]]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, Mapping):
        return {key: _shortened(item, texts, items) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
    return value


def _review(checkpoint: Checkpoint, collection: PaperCollection, accumulated: int, shown: int) -> dict[str, Any]:
    total = len(collection.papers)
    said: dict[str, Any] = {
        "papers": [_paper(paper) for paper in collection.papers[:shown]],
        "total_papers": total,
        "shown": shown,
        "facets": _facets(collection),
        "accumulated_count": accumulated,
        "status_counts": _status_counts(collection),
        "stage_counts": _counts(collection.metadata.stage_counts, checkpoint.round),
        "strategy": _fitted(collection.metadata.search_strategy.model_dump(mode="json", exclude_none=True), 2_000),
    }
    if total > shown:
        said["more"] = (
            f"{total - shown} more papers: read the resource {papers_address(checkpoint.run_id, shown)}, "
            "or approve and call export_results."
        )
    return said


def _paper(paper: Paper) -> dict[str, Any]:
    return {
        "id": paper.id,
        "title": clipped(paper.title, 160),
        "authors": [clipped(author.name, 40) for author in paper.authors[:3]],
        "more_authors": max(0, len(paper.authors) - 3),
        "year": paper.year,
        "venue": clipped(paper.venue, 60),
        "doi": clipped(paper.doi, 100),
        "relevance_score": round(paper.relevance_score, 2),
        "relevance_reason": clipped(paper.relevance_reason, 120),
        "sources": paper.sources[:8],
        **notice_fields(paper.notices),
        "status": paper.status.value,
        "found_in_round": paper.found_in_round,
    }


def _status_counts(collection: PaperCollection) -> dict[str, int]:
    """Return how many papers of the session have each status; the excluded ones are not in the collection."""
    counts = Counter(paper.status for paper in collection.papers)
    excluded = [
        exclusion for exclusion in collection.metadata.exclusions if exclusion.reason is ExclusionReason.BY_PERSON
    ]
    counts[ReviewStatus.EXCLUDE] += len(excluded)
    return {status.value: counts[status] for status in ReviewStatus}


def _facets(collection: PaperCollection) -> dict[str, Any]:
    facets = collection.facets
    by_year = dict(sorted(facets.by_year.items(), reverse=True)[:15])
    by_venue = sorted(facets.by_venue.items(), key=lambda item: -item[1])[:5]
    return {
        "by_year": {str(year): count for year, count in by_year.items()},
        "by_venue": {clipped(venue, 60): count for venue, count in by_venue},
        "top_authors": [clipped(name, 40) for name in facets.top_authors[:5]],
        "key_themes": [clipped(theme, 40) for theme in facets.key_themes[:10]],
    }


def _counts(counts: Sequence[StageCount], round_number: int) -> dict[str, Any]:
    return {
        count.stage: {"in": count.count_in, "out": count.count_out} for count in counts if count.round == round_number
    }


def _source(report: SourceReport, most_chars: int) -> dict[str, Any]:
    said = {
        "name": report.name,
        "status": report.status.value,
        "returned": report.returned,
        "calls": report.calls,
        "seconds": report.seconds,
        "reason": clipped(report.reason, most_chars),
    }
    return {**said, "retry_at": report.retry_at.isoformat()} if report.retry_at else said


def _papers(count: int) -> str:
    return "1 paper" if count == 1 else f"{count:,} papers"


def clipped(text: str | None, most: int) -> Any:
    """The text, or the beginning of one that is longer."""
    return text if text is None or len(text) <= most else text[: most - 1] + "…"


def size(value: Any) -> int:
    """How many bytes the value takes on the wire."""
    return len(to_json(value))
