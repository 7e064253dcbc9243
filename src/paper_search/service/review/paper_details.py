"""Reply with one paper in full: its texts, authors, notices and decisions, and which source gave each value."""

import threading
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import quote

from paper_search.domain.dedup.record_merging import name_records
from paper_search.domain.query.filters import is_year_unknown_kept
from paper_search.editorial_notices import EditorialNotice, build_notice_fields
from paper_search.errors import SessionInterrupted
from paper_search.models import Paper, PaperCollection, RawPaper, SearchQuery, Work
from paper_search.service.review.matched_text import TermMatcher, build_text_tree
from paper_search.service.review.review_replies import (
    ExclusionOfPaper,
    FieldAlternative,
    FieldOrigin,
    NoticeReply,
    PaperDetails,
    Provenance,
)
from paper_search.service.review.reviewer_view import ReviewerView
from paper_search.store.session_files import SessionStore, read_step
from paper_search.workflow.skill_interfaces import SearchOutcome
from uraniborg.kernel.bibliography.names import format_short_authors
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


RecordIndex = Mapping[tuple[str, str], RawPaper]
"""The records that the sources returned, by source and record id."""

_MAX_VALUE_CHARS: Final = 500
_MAX_INDEXES: Final = 2


def _join_names(work: Work) -> str:
    return ", ".join(author.name for author in work.authors)


_FIELDS: Final[Mapping[str, Callable[[Work], Any]]] = {
    "title": lambda work: work.title,
    "authors": _join_names,
    "year": lambda work: work.year,
    "venue": lambda work: work.venue,
    "doi": lambda work: work.doi,
    "work_type": lambda work: work.work_type and work.work_type.value,
    "volume": lambda work: work.volume,
    "issue": lambda work: work.issue,
    "pages": lambda work: work.pages,
    "publisher": lambda work: work.publisher,
    "language": lambda work: work.language,
    "citation_count": lambda work: work.citation_count,
    "full_text_url": lambda work: work.full_text_url,
    "abstract": lambda work: work.abstract,
}


class MergedRecords:
    """The records of the sessions read last. Stored records never change, so they are read once."""

    def __init__(self, store: SessionStore) -> None:
        self._store = store
        self._indexes: dict[tuple[str, int], RecordIndex] = {}
        self._lock = threading.Lock()

    def build_provenance(self, session_id: str, paper: Paper) -> Provenance:
        """Return the records merged into the paper, and each field with its source and the values of other records.

        Blocks while it reads the session.
        """
        index = self._load_index(session_id)
        records = [(record, index.get((record.source, record.record_id))) for record in paper.records]
        return {
            "records": [
                {
                    "source": record.source,
                    "record_id": record.record_id,
                    "reason": record.reason,
                    "url": found.full_text_url if found else None,
                }
                for record, found in records
            ],
            "fields": [
                field
                for name in _FIELDS
                if (field := _build_field(name, paper, {(r.source, r.record_id): found for r, found in records}))
            ],
        }

    def _load_index(self, session_id: str) -> RecordIndex:
        steps = [step for step in self._store.list_steps(session_id) if step.endswith("/search")]
        key = (session_id, len(steps))
        with self._lock:
            if key not in self._indexes:
                self._indexes[key] = self._read_index(session_id, steps)
                for oldest in list(self._indexes)[:-_MAX_INDEXES]:
                    del self._indexes[oldest]
            return self._indexes[key]

    def _read_index(self, session_id: str, steps: list[str]) -> RecordIndex:
        index: dict[tuple[str, str], RawPaper] = {}
        for step in steps:
            try:
                outcome = read_step(self._store, session_id, step, SearchOutcome)
            except SessionInterrupted:  # damaged; the other rounds can be read
                continue
            for paper in outcome.papers:
                for record in name_records(paper):
                    index.setdefault((record.source, record.record_id), paper)
        return index


def _build_field(name: str, paper: Paper, records: Mapping[tuple[str, str], RawPaper | None]) -> FieldOrigin | None:
    read = _FIELDS[name]
    value = read(paper)
    values = {key: read(found) for key, found in records.items() if found is not None}
    others: list[FieldAlternative] = [
        {"source": source, "record_id": record_id, "value": _clip(given)}
        for (source, record_id), given in values.items()
        if given not in (None, "", 0) and given != value
    ]
    if value in (None, "", 0) and not others:
        return None
    source = paper.provenance.get(name) or (paper.source if len(records) <= 1 else None)
    return {
        "field": name,
        "value": _clip(value),
        "source": source,
        "agreeing": sorted({name for (name, _), given in values.items() if given == value and name != source}),
        "alternatives": others,
    }


def _clip(value: Any) -> str | None:
    text = None if value is None else str(value)
    return text if text is None or len(text) <= _MAX_VALUE_CHARS else text[: _MAX_VALUE_CHARS - 1] + "…"
