"""The models of a paper search: intents, strategies, papers, reports and collections."""

import hashlib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, computed_field, field_validator, model_validator

from paper_search.editorial_notices import EditorialNotice, Retraction, find_retraction
from paper_search.review_models import Exclusion, ReviewDecision, ReviewStatus, UserFeedback, combine_statuses
from uraniborg.kernel.logging import redact
from uraniborg.kernel.text import plural

NO_SOURCE_ANSWERED = "No source answered, so this says nothing about what has been published."

MAX_RESULTS_CAP = 1_000
"""The maximum number of papers of a search; larger values are capped, with a note in the result."""
REGISTRATION = " (date of registration)"
"""The end of the provenance of a year that is only the year of registration, which may be much later."""


class IntentType(StrEnum):
    """The kind of papers that a query asks for."""

    SURVEY = "survey"
    METHOD = "method"
    DATASET = "dataset"
    BASELINE = "baseline"


class PaperTag(StrEnum):
    """The kind of contribution of a paper."""

    METHOD = "method"
    REVIEW = "review"
    EMPIRICAL = "empirical"
    THEORETICAL = "theoretical"
    DATASET = "dataset"


class WorkType(StrEnum):
    """The kind of publication of a record, if its source states it."""

    ARTICLE = "article"
    CONFERENCE = "conference"
    PREPRINT = "preprint"
    BOOK = "book"
    CHAPTER = "chapter"
    THESIS = "thesis"
    DATASET = "dataset"
    REPORT = "report"
    OTHER = "other"


class SourceStatus(StrEnum):
    """The outcome of one source in one search."""

    OK = "ok"
    EMPTY = "empty"
    FAILED = "failed"
    RATE_LIMITED = "rate_limited"
    SKIPPED = "skipped"


class SearchConstraints(BaseModel):
    """The limits of a search."""

    year_from: int | None = None
    year_to: int | None = None
    language: str | None = None
    max_results: int = 100


class ParsedIntent(BaseModel):
    """A query as the search reads it."""

    topic: str
    concepts: list[str]
    intent_type: IntentType
    constraints: SearchConstraints = Field(default_factory=SearchConstraints)
    phrases: list[str] = Field(default_factory=list)
    """Exact phrases that the person quoted."""
    authors: list[str] = Field(default_factory=list)
    venues: list[str] = Field(default_factory=list)
    excluded: list[str] = Field(default_factory=list)
    """Terms that papers must not contain."""
    preferences: list[str] = Field(default_factory=list)
    """Preferences: papers that meet them rank higher, the others stay."""
    notes: list[str] = Field(default_factory=list)
    """How the query was read, in sentences; also whether a model failed and rules replaced it."""


class SynonymMap(BaseModel):
    """A keyword and its synonyms."""

    keyword: str
    synonyms: list[str]


class SearchQuery(BaseModel):
    """One boolean query with the keywords that it uses."""

    keywords: list[str]
    synonym_map: list[SynonymMap] = Field(default_factory=list[SynonymMap])
    boolean_query: str


class PartOrigin(BaseModel):
    """The origin of one part of a strategy: an earlier round, or this round and the reason."""

    part: str
    """`queries[0]` and so on, `removed_query`, `sources`, or the name of a filter such as `year_from`."""
    value: str
    inherited: bool
    reason: str
    by_person: bool = False
    """Whether a person set the part, in an edit or by feedback; then it stays until a person changes it."""


class SearchStrategy(BaseModel):
    """The queries, sources and limits of one round."""

    queries: list[SearchQuery]
    sources: list[str]
    filters: SearchConstraints = Field(default_factory=SearchConstraints)
    notes: list[str] = Field(default_factory=list)
    origins: list[PartOrigin] = Field(default_factory=list[PartOrigin])
    """The origin of each part. The engine writes it; an edit need not send it."""


class Author(BaseModel):
    """An author or editor."""

    name: str
    author_id: str | None = None


class SourceRecord(BaseModel):
    """One record of one source that was merged into a paper, and the reason."""

    source: str
    record_id: str
    reason: str = "first record"


class Work(BaseModel):
    """The bibliographic fields that a raw record and a finished paper share."""

    title: str
    authors: list[Author] = Field(default_factory=list[Author])
    editors: list[Author] = Field(default_factory=list[Author])
    """The editors of a work without authors."""
    year: int | None = None
    venue: str | None = None
    doi: str | None = None
    abstract: str | None = None
    full_text_url: str | None = None
    bibtex: str | None = None
    citation_count: int = 0
    source: str
    identifiers: dict[str, str] = Field(default_factory=dict)
    """Normalised identifiers by scheme: doi, arxiv, pmid, pmcid, openalex, s2, dblp, scholar, preprint_doi."""
    work_type: WorkType | None = None
    language: str | None = None
    volume: str | None = None
    issue: str | None = None
    pages: str | None = None
    publisher: str | None = None
    records: list[SourceRecord] = Field(default_factory=list[SourceRecord])
    """Every source record merged into this one."""
    provenance: dict[str, str] = Field(default_factory=dict)
    """The source of each merged field."""
    notices: list[EditorialNotice] = Field(default_factory=list[EditorialNotice])
    """Retractions, concerns and corrections of this work, the earliest first."""

    @computed_field
    @property
    def retraction(self) -> Retraction:
        """The most severe notice of a retraction, or None."""
        return find_retraction(self.notices)

    @property
    def has_registration_year(self) -> bool:
        """Whether the year is only the year of registration."""
        return self.provenance.get("year", "").endswith(REGISTRATION)

    @field_validator("title", "venue", "abstract", mode="before")
    @classmethod
    def _remove_nul(cls, value: Any) -> Any:
        # NUL survives JSON but breaks SQLite, C libraries and terminals downstream.
        return value.replace("\x00", "") if isinstance(value, str) else value


class RawPaper(Work):
    """A paper as one source describes it, or several after merging. The id follows from its content."""

    id: str = ""
    snippet: str | None = None
    raw_data: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _set_id(self) -> "RawPaper":
        if not self.id:
            self.id = make_paper_id(self.identifiers, self.doi, self.title, self.authors, self.year)
        return self


class ScoredPaper(BaseModel):
    """A paper with its relevance."""

    paper: RawPaper
    relevance_score: float = Field(ge=0.0, le=1.0)
    relevance_reason: str
    tags: list[PaperTag] = Field(default_factory=list[PaperTag])

    @property
    def sort_key(self) -> tuple[float, int, int, str, str]:
        """The key that sorts the most relevant papers first, always in the same order."""
        paper = self.paper
        return -self.relevance_score, -paper.citation_count, -(paper.year or 0), paper.title, paper.id


class Paper(Work):
    """A paper of a result."""

    model_config = ConfigDict(extra="ignore")

    id: str
    relevance_score: float = Field(default=0.0, ge=0.0, le=1.0)
    relevance_reason: str = ""
    tags: list[PaperTag] = Field(default_factory=list[PaperTag])
    sources: list[str] = Field(default_factory=list)
    """All sources that returned this paper."""
    decisions: list[ReviewDecision] = Field(default_factory=list[ReviewDecision])
    """The latest decision of each reviewer."""
    found_in_round: int = 0
    """The round that found the paper first, counted from 0."""
    other_ids: list[str] = Field(default_factory=list)
    """Ids that the paper had before records were merged into it."""
    citation_key: str | None = None
    """The key in every export, unique in its collection; the engine sets it."""

    @classmethod
    def from_scored(cls, scored: ScoredPaper) -> "Paper":
        """Return the paper of a result for a scored record."""
        shared = {name: getattr(scored.paper, name) for name in Work.model_fields}
        sources = {record.source for record in scored.paper.records} or {scored.paper.source}
        return cls(
            **shared,
            id=scored.paper.id,
            relevance_score=scored.relevance_score,
            relevance_reason=scored.relevance_reason,
            tags=scored.tags,
            sources=sorted(sources),
        )

    @computed_field
    @property
    def status(self) -> ReviewStatus:
        """The combined status of the reviewers' decisions."""
        return combine_statuses(decision.status for decision in self.decisions)


class Facets(BaseModel):
    """Counts of years and venues, and the most frequent authors and themes."""

    by_year: dict[int, int] = Field(default_factory=dict)
    by_venue: dict[str, int] = Field(default_factory=dict)
    top_authors: list[str] = Field(default_factory=list)
    key_themes: list[str] = Field(default_factory=list)


class SourceReport(BaseModel):
    """The report on one source in one search. A failed source never looks like an empty one."""

    name: str
    status: SourceStatus
    received: int = 0
    """Records that the source sent: the sum of `returned` and `removed`."""
    returned: int = 0
    """Records left after limits and filters."""
    removed: dict[str, int] = Field(default_factory=dict)
    """Records removed before screening, by `ExclusionReason`; `duplicate` counts the source's own repetitions."""
    found: int | None = None
    """The number of all matches, if the source states it."""
    calls: int = 0
    seconds: float = 0.0
    reason: str | None = None
    retry_at: datetime | None = None
    requests: list[str] = Field(default_factory=list)
    """The requests as addresses without keys: one for each query, in the syntax of the source."""
    partial: bool = False
    """Whether the source failed or was stopped after it had sent some papers."""

    @field_validator("reason")
    @classmethod
    def _redact_reason(cls, value: str | None) -> str | None:
        # A report goes into replies and exports, and the error text of a source may quote the request.
        return redact(value)

    @model_validator(mode="after")
    def _set_received(self) -> "SourceReport":
        # Reports of other packages and of earlier versions count only what they returned.
        self.received = self.returned + sum(self.removed.values())
        return self


def any_source_answered(reports: Iterable[SourceReport]) -> bool:
    """Return True if at least one source answered, also with no papers."""
    return any(report.status in (SourceStatus.OK, SourceStatus.EMPTY) for report in reports)


class StageCount(BaseModel):
    """The numbers of papers that went into and out of one stage of one round."""

    round: int
    stage: str
    count_in: int
    count_out: int
    detail: dict[str, int] = Field(default_factory=dict)


class RoundLog(BaseModel):
    """One round in the counts of PRISMA 2020.

    `identified` is the sum of `removed_before_screening`, both kinds of duplicates and `screened`; `screened` is the
    sum of `excluded` and `included`.
    """

    round: int
    strategy: SearchStrategy
    sources: list[SourceReport] = Field(default_factory=list[SourceReport])
    identified: int = 0
    """Records the sources sent."""
    removed_before_screening: dict[str, int] = Field(default_factory=dict)
    """Records removed by filters and limits, by `ExclusionReason`."""
    duplicates_within_round: int = 0
    duplicates_of_earlier_rounds: int = 0
    merge_reasons: dict[str, int] = Field(default_factory=dict)
    """The number of merged records by reason."""
    screened: int = 0
    """Papers that no earlier round had found."""
    excluded: dict[str, int] = Field(default_factory=dict)
    """Screened papers that are not in the result, by `ExclusionReason`."""
    included: int = 0
    """Screened papers that are in the result."""


class SearchMetadata(BaseModel):
    """How a result was found."""

    query: str
    search_strategy: SearchStrategy
    total_found: int
    timestamp: str = Field(default_factory=lambda: datetime.now(UTC).isoformat())
    domain: str = "general"
    software: str = ""
    """The program and version that made the search."""
    rounds: int = 1
    sources: list[SourceReport] = Field(default_factory=list[SourceReport])
    stage_counts: list[StageCount] = Field(default_factory=list[StageCount])
    round_logs: list[RoundLog] = Field(default_factory=list[RoundLog])
    """The search log: every round that searched. Empty in results of versions that did not log rounds."""
    exclusions: list[Exclusion] = Field(default_factory=list[Exclusion])
    """Every screened paper that is not in the result."""
    partial: bool = False
    """Whether at least one source did not answer in full."""
    reason: str | None = None
    """Why the search ended without an approval: `max_rounds`."""
    notes: list[str] = Field(default_factory=list)


class PaperCollection(BaseModel):
    """The result of a search."""

    metadata: SearchMetadata
    papers: list[Paper]
    excluded_papers: list[Paper] = Field(default_factory=list[Paper])
    """The papers that people have excluded, in full. Empty in collections of versions that did not store them."""
    facets: Facets = Field(default_factory=Facets)

    def __repr__(self) -> str:
        # The default would print all papers.
        return f"<PaperCollection: {plural(len(self.papers), 'paper')} for {self.metadata.query!r}>"

    __str__ = __repr__


class QueryBuilderInput(BaseModel):
    """The input of the query builder: the intent and the feedback of earlier rounds."""

    intent: ParsedIntent
    previous_strategies: list[SearchStrategy] = Field(default_factory=list[SearchStrategy])
    """The strategies of all earlier rounds, with edits; the next strategy is built on the last one."""
    user_feedback: UserFeedback | None = None
    """The feedback on the last strategy or result."""
    earlier_texts: list[str] = Field(default_factory=list)
    """The texts of the feedback before that, the oldest first."""
    person_queries: list[SearchQuery] = Field(default_factory=list[SearchQuery])
    """Queries of the last strategy that a person set; new queries are built on these."""
    relevant_titles: list[str] = Field(default_factory=list)
    """Titles of the papers marked relevant."""
    irrelevant_titles: list[str] = Field(default_factory=list)


class RelevanceHints(BaseModel):
    """The feedback so far: relevant papers, irrelevant papers, and texts."""

    relevant: list[Work] = Field(default_factory=list[Work])
    irrelevant: list[Work] = Field(default_factory=list[Work])
    free_text: list[str] = Field(default_factory=list)


_IDENTITY_ORDER = ("doi", "arxiv", "pmid", "pmcid", "openalex", "s2", "dblp", "scholar")


def make_paper_id(
    identifiers: Mapping[str, str],
    doi: str | None,
    title: str,
    authors: list[Author],
    year: int | None,
) -> str:
    """Return the stable id of a paper: the same record has the same id in every round and on every machine."""
    known = {"doi": doi.strip().lower(), **identifiers} if doi else identifiers
    for scheme in _IDENTITY_ORDER:
        if value := known.get(scheme):
            return _hash_id(f"{scheme}:{value.lower()}")
    first = authors[0].name if authors else ""
    words = " ".join(title.casefold().split())
    return _hash_id(f"title:{words}|{first.casefold().strip()}|{year or ''}")


def _hash_id(text: str) -> str:
    return "p_" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
