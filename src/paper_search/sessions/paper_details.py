"""Reply with one paper in full: title and abstract as trees, authors, notices, decisions and identifiers."""

from typing import Final
from urllib.parse import quote

from paper_search.editorial_notices import EditorialNotice, build_notice_fields
from paper_search.matched_terms import TermMatcher
from paper_search.models import Paper, PaperCollection, SearchQuery
from paper_search.review_replies import ExclusionOfPaper, NoticeReply, PaperDetails, Provenance
from paper_search.sessions.reviewer_view import ReviewerView
from paper_search.text_trees import build_text_tree
from paper_search.unknown_years import is_year_unknown_kept
from uraniborg.kernel.bibliography.short_citations import format_short_authors
from uraniborg.kernel.logging import make_printable

MAX_ABSTRACT_CHARS: Final = 20_000
_MAX_TITLE_CHARS: Final = 2_000
_MAX_AUTHORS: Final = 5_000
_LINKS: Final = {
    "doi": "https://doi.org/{}",
    "arxiv": "https://arxiv.org/abs/{}",
    "pmid": "https://pubmed.ncbi.nlm.nih.gov/{}/",
    "pmcid": "https://www.ncbi.nlm.nih.gov/pmc/articles/{}/",
}


def build_paper_details(
    rank: int, paper: Paper, collection: PaperCollection, view: ReviewerView, provenance: Provenance
) -> PaperDetails:
    """Return the fields of one paper, with the words that match the queries of its round marked."""
    matcher = TermMatcher(_list_queries(collection, paper))
    abstract = paper.abstract or ""
    notices = build_notice_fields(paper.notices)
    authors = [make_printable(author.name) for author in paper.authors[:_MAX_AUTHORS]]
    return {
        "rank": rank,
        "id": paper.id,
        "title": paper.title[:_MAX_TITLE_CHARS],
        "title_tree": build_text_tree(paper.title[:_MAX_TITLE_CHARS], matcher),
        "abstract_tree": build_text_tree(abstract[:MAX_ABSTRACT_CHARS], matcher),
        "abstract_chars": len(abstract),
        "authors": authors,
        "short_authors": format_short_authors(authors),
        "author_count": len(paper.authors),
        "year": paper.year,
        "year_unknown_kept": is_year_unknown_kept(paper, collection.metadata),
        "venue": paper.venue,
        "volume": paper.volume,
        "issue": paper.issue,
        "pages": paper.pages,
        "publisher": paper.publisher,
        "doi": paper.doi,
        "url": _find_link(paper),
        "identifiers": paper.identifiers,
        "work_type": None if paper.work_type is None else paper.work_type.value,
        "citation_count": paper.citation_count,
        "citation_key": paper.citation_key,
        "relevance_score": round(paper.relevance_score, 3),
        "relevance_reason": paper.relevance_reason,
        "tags": [tag.value for tag in paper.tags],
        "sources": paper.sources,
        "notices": [_build_notice(notice) for notice in paper.notices],
        "retraction": notices.get("retraction"),
        "editorial_note": notices.get("editorial_note"),
        "found_in_round": paper.found_in_round,
        "exclusion": _build_exclusion_fields(paper, collection),
        "provenance": provenance,
        **view.build_decision_fields(paper),
    }


def _build_notice(notice: EditorialNotice) -> NoticeReply:
    return {
        "status": notice.status.value,
        "source": notice.source,
        "date": notice.date,
        "notice_doi": notice.notice_doi,
        "label": notice.label,
    }


def _build_exclusion_fields(paper: Paper, collection: PaperCollection) -> ExclusionOfPaper | None:
    """Return why the paper is not in the result, or None if it is."""
    found = next((one for one in collection.metadata.exclusions if one.paper_id == paper.id), None)
    if found is None:
        return None
    return {"reason": found.reason.value, "score": found.score, "threshold": found.threshold}


def _list_queries(collection: PaperCollection, paper: Paper) -> list[SearchQuery]:
    """Return the queries of all rounds, those of the round that found the paper first."""
    logs = collection.metadata.round_logs
    if not logs:
        return collection.metadata.search_strategy.queries
    ordered = sorted(logs, key=lambda log: log.round != paper.found_in_round)
    return [query for log in ordered for query in log.strategy.queries]


def _find_link(paper: Paper) -> str | None:
    """Return the address of the paper if it is a web address, or that of one of its identifiers."""
    link = (paper.full_text_url or "").strip()
    if link.lower().startswith(("https://", "http://")):
        return link
    for scheme, pattern in _LINKS.items():
        if value := ({"doi": paper.doi} | paper.identifiers).get(scheme):
            return pattern.format(quote(value, safe="/:()"))
    return None
