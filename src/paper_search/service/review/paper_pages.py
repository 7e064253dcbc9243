"""Page through the papers, removed papers and queries of a session, shortened for replies."""

from collections import Counter
from collections.abc import Mapping
from typing import Final, NotRequired

from typing_extensions import TypedDict

from paper_search.domain.query.filters import count_unknown_years_kept, is_year_unknown_kept
from paper_search.domain.review_models import BY_REVIEWER, Exclusion, ExclusionReason, ReviewStatus
from paper_search.editorial_notices import build_notice_fields, mark_title
from paper_search.models import Paper, PaperCollection, SearchStrategy
from paper_search.recordings import find_offline_notice
from paper_search.service.checkpoint_replies import (
    PaperFields,
    PapersPage,
    PaperWithAbstract,
    RemovedCounts,
    ReviewNews,
    Status,
)
from paper_search.service.reply_parts import (
    build_papers_uri,
    build_queries_uri,
    build_removed_uri,
    clip_text,
    count_json_bytes,
)
from paper_search.service.review.reviewer_view import list_reviewed_papers
from paper_search.service.session_replies import ListedQuery, QueryPage, RemovedPage, RemovedPaper

_PAGE_BYTES: Final = 24_000


class _ShelfFields(TypedDict):
    shelf_id: NotRequired[str]
    shelf: NotRequired[str]


def build_papers_page(session_id: str, collection: PaperCollection, offset: int) -> PapersPage:
    """Return as many papers as fit into one reply, with their abstracts, and the address of the next page.

    The papers that reviewers have excluded follow those of the result, which `total_papers` counts.
    """
    listed = list_reviewed_papers(collection)
    page: list[PaperWithAbstract] = []
    length = 0
    for paper in listed[offset:]:
        entry: PaperWithAbstract = {
            **build_paper_fields(paper, collection),
            "abstract": clip_text(paper.abstract, 600),
            "url": clip_text(paper.full_text_url, 300),
        }
        length += count_json_bytes(entry)
        if page and length > _PAGE_BYTES:
            break
        page.append(entry)
    end = offset + len(page)
    more = end < len(listed)
    fields: PapersPage = {
        "session_id": session_id,
        "papers": page,
        "total_papers": len(collection.papers),
        "excluded_papers": len(listed) - len(collection.papers),
        **build_news_fields(session_id, collection),
        "offset": offset,
        "next": build_papers_uri(session_id, end) if more else None,
    }
    if notice := find_offline_notice(collection.metadata.notes):
        fields["notice"] = notice
    return fields


def build_paper_fields(paper: Paper, collection: PaperCollection) -> PaperFields:
    fields: PaperFields = {
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
    }
    if is_year_unknown_kept(paper, collection.metadata):
        fields["year_unknown_kept"] = True
    return fields


def mark_listed_title(paper: PaperFields) -> str:
    """Return the title of a listed paper, marked if the paper was retracted."""
    return mark_title(paper["title"], paper["retraction"]["status"] if "retraction" in paper else None)


def _build_shelf_fields(identifiers: Mapping[str, str]) -> _ShelfFields:
    """Return the id of the paper on the shelf that it comes from, and the name of the shelf."""
    fields: _ShelfFields = {}
    if shelf_id := identifiers.get("shelf"):
        fields["shelf_id"] = clip_text(shelf_id, 100)
    if name := identifiers.get("shelf_paper", "").rpartition("/")[0]:
        fields["shelf"] = clip_text(name, 100)
    return fields


def build_news_fields(session_id: str, collection: PaperCollection) -> ReviewNews:
    """Return what a person cannot see from the listed papers: how many were removed, or kept without a year."""
    counts = Counter(one.reason for one in collection.metadata.exclusions)
    below, over = counts[ExclusionReason.BELOW_THRESHOLD], counts[ExclusionReason.OVER_LIMIT]
    fields: ReviewNews = {}
    if below or over:
        thresholds = (one.threshold for one in collection.metadata.exclusions)
        removed: RemovedCounts = {}
        if below:
            removed["below_threshold"] = below
        if over:
            removed["over_limit"] = over
        fields["removed_by_automation"] = {
            **removed,
            "min_relevance": next((threshold for threshold in thresholds if threshold is not None), None),
            "list": build_removed_uri(session_id),
        }
    if kept := count_unknown_years_kept(collection):
        fields["year_unknown_kept"] = kept
    return fields


def count_statuses(collection: PaperCollection) -> dict[Status, int]:
    """Return the number of papers of the session with each status, excluded papers included."""
    counts = Counter(paper.status for paper in collection.papers)
    counts[ReviewStatus.EXCLUDE] += sum(one.reason in BY_REVIEWER for one in collection.metadata.exclusions)
    return {status.value: counts[status] for status in ReviewStatus}


_ORDER: Final = {reason: number for number, reason in enumerate(ExclusionReason)}


def build_removed_page(session_id: str, collection: PaperCollection, offset: int) -> RemovedPage:
    """Return as many removed papers as fit into one reply, from `offset` on."""
    exclusions = sorted(collection.metadata.exclusions, key=lambda one: (_ORDER[one.reason], -(one.score or 0.0)))
    known = index_papers(collection)
    page: list[RemovedPaper] = []
    length = 0
    for exclusion in exclusions[offset:]:
        paper = _build_removed_paper(exclusion, known.get(exclusion.paper_id))
        length += count_json_bytes(paper)
        if page and length > _PAGE_BYTES:
            break
        page.append(paper)
    end = offset + len(page)
    return RemovedPage(
        session_id=session_id,
        papers=page,
        total_papers=len(exclusions),
        counts=dict(Counter(one.reason.value for one in exclusions)),
        offset=offset,
        next=build_removed_uri(session_id, end) if end < len(exclusions) else None,
    )


def index_papers(collection: PaperCollection) -> dict[str, Paper]:
    """Return the removed papers that are stored in full, by id; versions that stored none have only exclusions."""
    return {paper.id: paper for paper in [*collection.removed_papers, *collection.excluded_papers]}


def _build_removed_paper(exclusion: Exclusion, paper: Paper | None) -> RemovedPaper:
    return RemovedPaper(
        id=exclusion.paper_id,
        title=clip_text(exclusion.title, 160),
        authors=[clip_text(author.name, 40) for author in paper.authors[:3]] if paper else [],
        year=paper.year if paper else None,
        venue=clip_text(paper.venue, 60) if paper else None,
        doi=clip_text(exclusion.doi, 100),
        abstract=clip_text(paper.abstract, 600) if paper else None,
        reason=exclusion.reason,
        score=None if exclusion.score is None else round(exclusion.score, 3),
        threshold=exclusion.threshold,
        reviewer=clip_text(exclusion.reviewer, 100),
        detail=clip_text(exclusion.detail, 300),
        found_in_round=exclusion.round,
    )


_MAX_CHARS: Final = 20_000


def build_query_page(session_id: str, strategy: SearchStrategy, offset: int) -> QueryPage:
    """Return as many queries as fit into one reply, from `offset` on."""
    page: list[ListedQuery] = []
    length = 0
    for query in strategy.queries[offset:]:
        listed = ListedQuery(
            rung=query.rung,
            blocks=[clip_text(name, 100) for name in query.blocks[:20]],
            boolean_query=clip_text(query.boolean_query, _MAX_CHARS),
            words=clip_text(query.words, _MAX_CHARS),
        )
        length += count_json_bytes(listed)
        if page and length > _PAGE_BYTES:
            break
        page.append(listed)
    end = offset + len(page)
    return QueryPage(
        session_id=session_id,
        queries=page,
        total_queries=len(strategy.queries),
        offset=offset,
        next=build_queries_uri(session_id, end) if end < len(strategy.queries) else None,
    )
