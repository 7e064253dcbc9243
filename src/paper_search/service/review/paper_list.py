"""List papers of a session for review: filtered, sorted and paged, as one reviewer may see them."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from paper_search.domain.query.filters import can_be_within_years, count_unknown_years_kept, is_year_unknown_kept
from paper_search.domain.review_models import BY_AUTOMATION, Exclusion, ExclusionReason, PaperDecision, ReviewStatus
from paper_search.domain.source_descriptions import get_source_label
from paper_search.editorial_notices import build_notice_fields
from paper_search.models import Paper, PaperCollection
from paper_search.service.reply_parts import dump_as
from paper_search.service.review.paper_pages import index_papers
from paper_search.service.review.review_replies import (
    ExclusionFields,
    ExclusionList,
    ExclusionReply,
    PaperFilters,
    PaperPage,
    PaperRow,
    ReasonCount,
)
from paper_search.service.review.reviewer_view import ReviewerView, count_statuses, list_reviewed_papers
from uraniborg.kernel.bibliography.names import format_short_authors
from uraniborg.kernel.language.words import fold_text

Sort = Literal["rank", "score", "year", "title", "status", "source"]
_STATUS_ORDER: Final = {status: number for number, status in enumerate(ReviewStatus)}
_LISTED_AUTHORS: Final = 3
_MAX_TITLE_CHARS: Final = 1_000
DEFAULT_REASONS: Final = ("Wrong question", "Wrong object", "No full text", "Duplicate", "Not research")
"""The reasons for an exclusion that a review offers before reviewers have used others."""
_MAX_REASONS: Final = 30


@dataclass(frozen=True, slots=True)
class PaperConditions:
    """The conditions that listed papers meet. Both ends of a range are included."""

    words: str = ""
    """Words of title, abstract, authors or venue; all must be found."""
    status: ReviewStatus | None = None
    source: str | None = None
    year_from: int | None = None
    """Papers without a year meet every condition on years, as they do in searches."""
    year_to: int | None = None
    score_from: float | None = None
    score_to: float | None = None
    round: int | None = None
    """The round that found the paper, counted from 1."""

    def make_filter(self, view: ReviewerView) -> Callable[[Paper], bool]:
        """Return a function that is True for papers that meet all conditions."""
        wanted = fold_text(self.words).split()

        def is_match(paper: Paper) -> bool:
            return (
                (self.status is None or view.get_status(paper) is self.status)
                and (self.source is None or self.source in paper.sources)
                and can_be_within_years(paper.year, self.year_from, self.year_to)
                and _is_within(paper.relevance_score, self.score_from, self.score_to)
                and (self.round is None or paper.found_in_round == self.round - 1)
                and _contains_words(paper, wanted)
            )

        return is_match


def list_papers(
    collection: PaperCollection,
    view: ReviewerView,
    conditions: PaperConditions,
    *,
    sort: Sort = "rank",
    offset: int = 0,
    limit: int = 50,
) -> PaperPage:
    """Return a page of the papers that meet the conditions, and counts of all papers for filters.

    Papers that reviewers have excluded are listed too, in every round and after the end. `removed` counts the papers
    that automation removed, by reason; `list_exclusions` lists them.
    """
    is_match = conditions.make_filter(view)
    papers = list_reviewed_papers(collection)
    found = [(rank, paper) for rank, paper in enumerate(papers, 1) if is_match(paper)]
    found.sort(key=_make_sort_key(sort, view))
    page = found[offset : offset + limit]
    return {
        "papers": [_build_row(rank, paper, collection, view) for rank, paper in page],
        "total": len(found),
        "offset": offset,
        "limit": limit,
        "next_offset": offset + len(page) if offset + len(page) < len(found) else None,
        "counts": count_statuses(collection, view),
        "facets": _build_facets(papers),
        "removed": count_removed(collection),
        "min_relevance": collection.metadata.search_strategy.filters.min_relevance,
        "unknown_years_kept": count_unknown_years_kept(collection),
        "is_complete": view.is_complete,
    }


def list_reasons(collection: PaperCollection, view: ReviewerView) -> list[ReasonCount]:
    """Return the reasons for exclusions that a reviewer can choose, each with the number of papers excluded by it."""
    counts: Counter[str] = Counter()
    for paper in list_reviewed_papers(collection):
        own = view.get_own_decision(paper)
        if own and own.status is ReviewStatus.EXCLUDE and own.reason:
            counts[own.reason] += 1
    names = dict.fromkeys([*DEFAULT_REASONS, *(name for name, _ in counts.most_common())])
    return [{"reason": name, "count": counts[name]} for name in list(names)[:_MAX_REASONS]]


def count_removed(collection: PaperCollection) -> dict[str, int]:
    counts = Counter(exclusion.reason for exclusion in collection.metadata.exclusions)
    return {reason.value: counts[reason] for reason in sorted(BY_AUTOMATION)}


def list_exclusions(
    collection: PaperCollection,
    marks: Mapping[str, PaperDecision],
    *,
    reason: ExclusionReason | None = None,
    offset: int = 0,
    limit: int = 50,
) -> ExclusionList:
    """Return a page of the screened papers that are not in the result, with the reasons, or those with one reason.

    Papers with one reason are listed best first. `marks` are those of the reviewer, by paper id.
    """
    found = collection.metadata.exclusions
    if reason is not None:
        found = sorted((one for one in found if one.reason is reason), key=lambda one: -(one.score or 0.0))
    page = found[offset : offset + limit]
    known = index_papers(collection)
    return {
        "exclusions": [
            _build_exclusion_row(exclusion, known.get(exclusion.paper_id), marks.get(exclusion.paper_id))
            for exclusion in page
        ],
        "total": len(found),
        "offset": offset,
        "limit": limit,
        "next_offset": offset + len(page) if offset + len(page) < len(found) else None,
    }


def _build_exclusion_row(exclusion: Exclusion, paper: Paper | None, mark: PaperDecision | None) -> ExclusionReply:
    authors = [author.name[:100] for author in paper.authors[:_LISTED_AUTHORS]] if paper else []
    return {
        **dump_as(ExclusionFields, exclusion),
        "short_authors": format_short_authors(authors),
        "year": paper.year if paper else None,
        "venue": paper.venue and paper.venue[:200] if paper else None,
        "mark": None if mark is None else mark.status.value,
    }


def _is_within(value: float, least: float | None, most: float | None) -> bool:
    return (least is None or value >= least) and (most is None or value <= most)


def _contains_words(paper: Paper, wanted: list[str]) -> bool:
    if not wanted:
        return True
    names = " ".join(author.name for author in paper.authors)
    text = fold_text(f"{paper.title} {paper.abstract or ''} {names} {paper.venue or ''}")
    return all(word in text for word in wanted)


def _make_sort_key(sort: Sort, view: ReviewerView) -> Callable[[tuple[int, Paper]], Any]:
    keys: dict[Sort, Callable[[tuple[int, Paper]], Any]] = {
        "rank": lambda item: item[0],
        "score": lambda item: (-item[1].relevance_score, item[0]),
        "year": lambda item: (-(item[1].year or 0), item[0]),
        "title": lambda item: (fold_text(item[1].title), item[0]),
        "status": lambda item: (_STATUS_ORDER[view.get_status(item[1])], item[0]),
        "source": lambda item: (item[1].sources, item[0]),
    }
    return keys[sort]


def _build_row(rank: int, paper: Paper, collection: PaperCollection, view: ReviewerView) -> PaperRow:
    notices = build_notice_fields(paper.notices)
    authors = [author.name[:100] for author in paper.authors[:_LISTED_AUTHORS]]
    return {
        "rank": rank,
        "id": paper.id,
        "title": paper.title[:_MAX_TITLE_CHARS],
        "authors": authors,
        "short_authors": format_short_authors(authors),
        "author_count": len(paper.authors),
        "year": paper.year,
        "year_unknown_kept": is_year_unknown_kept(paper, collection.metadata),
        "venue": paper.venue and paper.venue[:200],
        "doi": paper.doi,
        "citation_key": paper.citation_key,
        "relevance_score": round(paper.relevance_score, 3),
        "sources": paper.sources,
        "retraction": notices.get("retraction"),
        "editorial_note": notices.get("editorial_note"),
        "found_in_round": paper.found_in_round,
        **view.build_decision_fields(paper),
    }


def _build_facets(papers: list[Paper]) -> PaperFilters:
    """Return what papers can be filtered by: sources, rounds, and the first and last year."""
    sources: Counter[str] = Counter(source for paper in papers for source in paper.sources)
    rounds: Counter[int] = Counter(paper.found_in_round + 1 for paper in papers)
    years = [paper.year for paper in papers if paper.year]
    return {
        "sources": dict(sources.most_common()),
        "source_labels": {name: get_source_label(name) for name in sources},
        "rounds": {str(number): count for number, count in sorted(rounds.items())},
        "year_min": min(years, default=None),
        "year_max": max(years, default=None),
    }
