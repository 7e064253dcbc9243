"""Build the payload of a checkpoint, short enough for an agent, and put it into the inbox."""

from collections.abc import Sequence
from typing import Final

from paper_search.errors import SessionNotFound
from paper_search.models import Paper, PaperCollection, SearchQuery, SearchStrategy, StageCount
from paper_search.service.checkpoint_replies import (
    Asked,
    CheckpointPayload,
    ConceptFields,
    EarlierPaper,
    FacetFields,
    FindingFields,
    IntentFields,
    PapersSoFar,
    PapersToReview,
    PlanFields,
    ProposedPlan,
    QueryFields,
    QueryRemarks,
    SuggestionFields,
)
from paper_search.service.reply_parts import (
    build_papers_uri,
    build_queries_uri,
    clip_text,
    count_json_bytes,
    dump_as,
    shorten_to_fit,
    shorten_value,
)
from paper_search.service.review.paper_pages import (
    build_news_fields,
    build_paper_fields,
    count_statuses,
    mark_listed_title,
)
from paper_search.service.review.reviewer_view import list_reviewed_papers
from paper_search.service.sessions.checkpoint_questions import format_question
from paper_search.service.sessions.inbox_decisions import EDIT_EXAMPLE
from paper_search.sources.query_translation import describe_plan, list_source_changes
from paper_search.store.session_files import SessionStore
from paper_search.store.session_state import PART, PendingCheckpoint
from paper_search.workflow.checkpoints import Checkpoint, ResultPayload, StrategyPayload
from uraniborg.kernel.store.inbox import InboxEntry, InboxPort

MAX_LISTED_PAPERS: Final = 20
"""The maximum number of papers that a checkpoint lists."""
PAYLOAD_BYTES: Final = 18_000
"""The maximum size of the payload of a checkpoint."""
_LISTED_FINDINGS: Final = 10
_LISTED_EARLIER_PAPERS: Final = 10
"""The maximum numbers of included and of excluded papers of earlier rounds that a strategy checkpoint lists."""
_REVIEWED_PLAN_BYTES: Final = 3_000
"""The maximum size of the strategy in the payload of a review."""
_ADDRESS_BYTES: Final = 200
_QUERY_CHARS: Final = (1_000, 400, 200, 120, 80, 40)
"""The maximum lengths of the queries of a strategy, tried until it fits."""
_LISTED_TERMS: Final = 20
"""The maximum number of variants, suggestions and notes that a strategy lists that is too large."""


def build_checkpoint_payload(checkpoint: Checkpoint, max_bytes: int = PAYLOAD_BYTES) -> CheckpointPayload:
    """Return the payload that a person sees: at most 20 papers with short fields, and where to read the others."""
    payload = checkpoint.payload
    if isinstance(payload, StrategyPayload):
        return _build_strategy_payload(checkpoint, payload, max_bytes)
    return build_review_payload(checkpoint, payload, max_bytes)


def build_review_payload(
    checkpoint: Checkpoint, payload: ResultPayload, max_bytes: int = PAYLOAD_BYTES
) -> PapersToReview:
    """Return the papers of a review, as many as fit."""
    collection = payload.collection
    shown = min(MAX_LISTED_PAPERS, len(collection.papers))
    while True:
        fields = _build_sized_review(checkpoint, collection, len(payload.accumulated_papers), shown)
        if not shown or count_json_bytes(fields) <= max_bytes:
            return fields
        shown = shown * 3 // 4


def _build_strategy_payload(checkpoint: Checkpoint, payload: StrategyPayload, max_bytes: int) -> ProposedPlan:
    so_far: PapersSoFar | None = None
    if payload.collection is not None:
        papers = _build_papers_so_far(checkpoint.run_id, payload.collection)
        so_far = shorten_to_fit(papers, max_bytes // 4)
        max_bytes -= max_bytes // 4
    intent = dump_as(IntentFields, payload.intent, exclude_none=True)
    short_intent = shorten_to_fit(intent, max_bytes // 4)
    remarks = _build_query_remarks(payload)
    max_bytes -= count_json_bytes(remarks)
    plan = _build_plan_fields(payload.strategy, max_bytes - count_json_bytes(short_intent) - _ADDRESS_BYTES)
    fields: ProposedPlan = {"intent": short_intent, "strategy": plan}
    if plan.get("shortened") or short_intent != intent:
        fields["shortened"] = True
        fields["all_queries"] = build_queries_uri(checkpoint.run_id)
    fields = {**fields, **remarks}
    if so_far is not None:
        fields["papers_so_far"] = so_far
    return fields


def _build_query_remarks(payload: StrategyPayload) -> QueryRemarks:
    """Return the first warnings about the queries, and what each source changes of a strategy, if there are any."""
    remarks: QueryRemarks = {}
    if payload.findings:
        findings = [dump_as(FindingFields, one, exclude_none=True) for one in payload.findings[:_LISTED_FINDINGS]]
        remarks["findings"] = shorten_value(findings, 300, _LISTED_FINDINGS)
    if len(payload.findings) > _LISTED_FINDINGS:
        remarks["findings_in_all"] = len(payload.findings)
    if changes := list_source_changes(payload.strategy):
        remarks["changed_for_sources"] = changes
    return remarks


def _build_plan_fields(strategy: SearchStrategy, max_bytes: int) -> PlanFields:
    """Return the strategy, blocks first. One that is too large has short queries and no origins but a person's."""
    dumped = dump_as(PlanFields, strategy, exclude_none=True)
    full: PlanFields = {"blocks": dumped["blocks"], "suggestions": dumped["suggestions"], **dumped}
    if count_json_bytes(full) <= max_bytes:
        return full
    origins = [origin for origin in full["origins"] if origin["inherited"] or origin["by_person"]]
    blocks: list[ConceptFields] = [{**block, "word_shares": {}} for block in full["blocks"]]
    fields: PlanFields = {**full, "blocks": blocks, "origins": origins, "shortened": True}
    for max_chars in _QUERY_CHARS:
        queries = [_build_query_fields(query, max_chars) for query in strategy.queries]
        fields = {**shorten_value(fields, 400, len(blocks) + _LISTED_TERMS), "queries": queries}
        if count_json_bytes(fields) <= max_bytes:
            return fields
    return shorten_to_fit(fields, max_bytes)


def _build_query_fields(query: SearchQuery, max_chars: int) -> QueryFields:
    """Return the rung of a query and what it asks; its keywords and synonyms are those of its blocks."""
    return {
        "keywords": [],
        "synonym_map": [],
        "rung": query.rung,
        "blocks": query.blocks,
        "boolean_query": clip_text(query.boolean_query, max_chars),
        "words": clip_text(query.words, max_chars),
    }


def _build_papers_so_far(session_id: str, collection: PaperCollection) -> PapersSoFar:
    """Return the papers of the earlier rounds, with their statuses: those of the result and those excluded."""
    listed = list_reviewed_papers(collection)
    excluded = listed[len(collection.papers) :]
    return {
        "papers": [_build_earlier_paper(paper, collection) for paper in collection.papers[:_LISTED_EARLIER_PAPERS]],
        "total_papers": len(collection.papers),
        "excluded": [_build_earlier_paper(paper, collection) for paper in excluded[:_LISTED_EARLIER_PAPERS]],
        "excluded_papers": len(excluded),
        "status_counts": count_statuses(collection),
        "all": build_papers_uri(session_id),
        **build_news_fields(session_id, collection),
    }


def _build_earlier_paper(paper: Paper, collection: PaperCollection) -> EarlierPaper:
    fields = build_paper_fields(paper, collection)
    earlier: EarlierPaper = {
        "id": fields["id"],
        "title": fields["title"],
        "year": fields["year"],
        "relevance_score": fields["relevance_score"],
        "status": fields["status"],
        "found_in_round": fields["found_in_round"],
    }
    if "year_unknown_kept" in fields:
        earlier["year_unknown_kept"] = True
    return earlier


def _build_sized_review(
    checkpoint: Checkpoint, collection: PaperCollection, accumulated_count: int, listed_count: int
) -> PapersToReview:
    total = len(collection.papers)
    fields: PapersToReview = {
        "papers": [build_paper_fields(paper, collection) for paper in collection.papers[:listed_count]],
        "total_papers": total,
        "shown": listed_count,
        "facets": _build_facet_fields(collection),
        "accumulated_count": accumulated_count,
        "status_counts": count_statuses(collection),
        **build_news_fields(checkpoint.run_id, collection),
        "stage_counts": _build_stage_count_fields(collection.metadata.stage_counts, checkpoint.round),
        "suggestions": [dump_as(SuggestionFields, entry) for entry in checkpoint.suggestions[:_LISTED_TERMS]],
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


def _build_facet_fields(collection: PaperCollection) -> FacetFields:
    facets = collection.facets
    by_year = dict(sorted(facets.by_year.items(), reverse=True)[:15])
    by_venue = sorted(facets.by_venue.items(), key=lambda item: -item[1])[:5]
    return {
        "by_year": {str(year): count for year, count in by_year.items()},
        "by_venue": {clip_text(venue, 60): count for venue, count in by_venue},
        "top_authors": [clip_text(name, 40) for name in facets.top_authors[:5]],
        "key_themes": [clip_text(theme, 40) for theme in facets.key_themes[:10]],
    }


def _build_stage_count_fields(counts: Sequence[StageCount], round_number: int) -> dict[str, dict[str, int]]:
    return {
        count.stage: {"in": count.count_in, "out": count.count_out} for count in counts if count.round == round_number
    }


def add_to_inbox(inbox: InboxPort, store: SessionStore, query: str, pending: PendingCheckpoint) -> InboxEntry:
    """Add the checkpoint to the inbox and return its entry; an existing entry stays as it is.

    Raise SessionNotFound, and leave no entry, if another process has deleted the session.
    """
    checkpoint = pending.checkpoint
    asked: Asked = {"query": query, "question": format_question(checkpoint)}
    payload = {**asked, **build_checkpoint_payload(checkpoint)}
    entry = inbox.put(checkpoint.checkpoint_id, PART, checkpoint.kind.value, checkpoint.run_id, payload)
    if not store.has_session(checkpoint.run_id):
        inbox.forget(PART, checkpoint.run_id)
        raise SessionNotFound(checkpoint.run_id)
    return entry


def format_payload(payload: CheckpointPayload) -> list[str]:
    """Return the payload of a checkpoint as lines of text."""
    return _format_papers(payload) if "papers" in payload else _format_strategy(payload["strategy"])


def _format_strategy(strategy: PlanFields) -> list[str]:
    filters = ", ".join(f"{name} {value}" for name, value in strategy["filters"].items())
    return [
        *(f"{name:<8} {text}" for name, text in describe_plan(SearchStrategy.model_validate(strategy))),
        f"filters  {filters}",
        *_format_inherited_parts(strategy),
        *(f"note     {note}" for note in strategy.get("notes", [])),
        "",
        f"Edit it with --data, for example: {EDIT_EXAMPLE}",
    ]


def _format_inherited_parts(strategy: PlanFields) -> list[str]:
    origins = [origin for origin in strategy.get("origins", []) if origin["inherited"]]
    return [f"inherited  {origin['part']}: {origin['value']} ({origin['reason']})" for origin in origins]


def _format_papers(payload: PapersToReview) -> list[str]:
    lines: list[str] = []
    for paper in payload["papers"]:
        more = f" and {paper['more_authors']} more" if paper["more_authors"] else ""
        lines += [f"{mark_listed_title(paper)} ({paper['year'] or '-'})"]
        lines += [f"  {paper['id']}  {paper['relevance_score']:.2f}  {', '.join(paper['authors'])}{more}"]
        lines += [f"  {note}"] if (note := paper.get("editorial_note")) else []
        lines += [""]
    if rest := payload["total_papers"] - payload["shown"]:
        lines.append(f"and {rest} more")
    return lines
