"""Page through screened papers that are not in the result: removed by automation, or excluded."""

from collections import Counter
from typing import Final

from paper_search.models import Paper, PaperCollection
from paper_search.page_replies import RemovedPage, RemovedPaper
from paper_search.review_models import Exclusion, ExclusionReason
from paper_search.sessions.addresses import build_removed_uri
from paper_search.sessions.reply_sizes import clip_text, count_json_bytes

_PAGE_BYTES: Final = 24_000
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
