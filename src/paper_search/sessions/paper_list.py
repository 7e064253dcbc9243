"""Lists of the papers of a session, for review: filtered, sorted and paged."""

from collections.abc import Callable
from typing import Any, Final, Literal

from paper_search.editorial_notices import build_notice_fields
from paper_search.models import Paper, PaperCollection
from paper_search.review_models import PaperDecision, ReviewStatus
from uraniborg.kernel.words import fold_text

Sort = Literal["rank", "year", "title", "status"]
_STATUS_ORDER: Final = {status: number for number, status in enumerate(ReviewStatus)}


def list_papers(
    collection: PaperCollection,
    marks: dict[str, PaperDecision],
    *,
    words: str = "",
    status: ReviewStatus | None = None,
    source: str | None = None,
    sort: Sort = "rank",
    offset: int = 0,
    limit: int = 50,
) -> dict[str, Any]:
    """Return a page of the papers that match all conditions, with the statuses of all reviewers.

    `marks` are decisions that are not sent yet: they count as the status of their paper.
    """
    wanted = fold_text(words).split()
    found = [
        (rank, paper)
        for rank, paper in enumerate(collection.papers, 1)
        if (status is None or _get_status(paper, marks) is status)
        and (source is None or source in paper.sources)
        and _contains_words(paper, wanted)
    ]
    found.sort(key=_make_sort_key(sort, marks))
    page = found[offset : offset + limit]
    return {
        "papers": [_build_fields(rank, paper, marks) for rank, paper in page],
        "total": len(found),
        "offset": offset,
        "limit": limit,
        "next_offset": offset + len(page) if offset + len(page) < len(found) else None,
        "counts": _count_statuses(collection, marks),
    }


def _get_status(paper: Paper, marks: dict[str, PaperDecision]) -> ReviewStatus:
    return marks[paper.id].status if paper.id in marks else paper.status


def _contains_words(paper: Paper, wanted: list[str]) -> bool:
    if not wanted:
        return True
    names = " ".join(author.name for author in paper.authors)
    text = fold_text(f"{paper.title} {paper.abstract or ''} {names} {paper.venue or ''}")
    return all(word in text for word in wanted)


def _make_sort_key(sort: Sort, marks: dict[str, PaperDecision]) -> Callable[[tuple[int, Paper]], Any]:
    keys: dict[Sort, Callable[[tuple[int, Paper]], Any]] = {
        "rank": lambda item: item[0],
        "year": lambda item: (-(item[1].year or 0), item[0]),
        "title": lambda item: (fold_text(item[1].title), item[0]),
        "status": lambda item: (_STATUS_ORDER[_get_status(item[1], marks)], item[0]),
    }
    return keys[sort]


def _build_fields(rank: int, paper: Paper, marks: dict[str, PaperDecision]) -> dict[str, Any]:
    mark = marks.get(paper.id)
    return {
        "rank": rank,
        "id": paper.id,
        "title": paper.title,
        "authors": [author.name for author in paper.authors],
        "year": paper.year,
        "venue": paper.venue,
        "doi": paper.doi,
        "url": paper.full_text_url,
        "abstract": paper.abstract,
        "citation_key": paper.citation_key,
        "relevance_score": round(paper.relevance_score, 3),
        "relevance_reason": paper.relevance_reason,
        "sources": paper.sources,
        **build_notice_fields(paper.notices),
        "found_in_round": paper.found_in_round,
        "status": _get_status(paper, marks).value,
        "mark": mark.model_dump(mode="json") if mark else None,
        "decisions": [decision.model_dump(mode="json") for decision in paper.decisions],
    }


def _count_statuses(collection: PaperCollection, marks: dict[str, PaperDecision]) -> dict[str, int]:
    counts = {status.value: 0 for status in ReviewStatus}
    for paper in collection.papers:
        counts[_get_status(paper, marks).value] += 1
    return counts
