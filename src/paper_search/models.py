"""The vocabulary of a paper search: intents, strategies, papers, collections."""

import hashlib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, computed_field, field_validator, model_validator

from paper_search.notices import EditorialNotice, Retraction, find_retraction
from paper_search.review import Exclusion, ReviewDecision, ReviewStatus, UserFeedback, combine_statuses
from uraniborg.kernel.logging import redact

NO_SOURCE_ANSWERED = "No source answered, so this says nothing about what has been published."

MAX_RESULTS_CAP = 1_000
"""No search returns more papers than this; larger wishes are capped and the result says so."""
REGISTRATION = " (date of registration)"
"""Ends the provenance of a year that is only known from when the work was registered, which may be much later."""


class IntentType(StrEnum):
    SURVEY = "survey"
    METHOD = "method"
    DATASET = "dataset"
    BASELINE = "baseline"


class PaperTag(StrEnum):
    METHOD = "method"
    REVIEW = "review"
    EMPIRICAL = "empirical"
    THEORETICAL = "theoretical"
    DATASET = "dataset"


class WorkType(StrEnum):
    """What kind of publication a record is, as far as its source says."""

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
    OK = "ok"
    EMPTY = "empty"
    FAILED = "failed"
    RATE_LIMITED = "rate_limited"
    SKIPPED = "skipped"


class SearchConstraints(BaseModel):
    year_from: int | None = None
    year_to: int | None = None
    language: str | None = None
    max_results: int = 100


class ParsedIntent(BaseModel):
    topic: str
    concepts: list[str]
    intent_type: IntentType
    constraints: SearchConstraints = Field(default_factory=SearchConstraints)
    phrases: list[str] = Field(default_factory=list)
    """Exact phrases the person put in quotes."""
    authors: list[str] = Field(default_factory=list)
    venues: list[str] = Field(default_factory=list)
    excluded: list[str] = Field(default_factory=list)
    """Terms the person does not want."""
    preferences: list[str] = Field(default_factory=list)
    """What the person would like most: papers that meet it rank higher, the others stay."""
    notes: list[str] = Field(default_factory=list)
    """How the query was read, in sentences for people; also says when a model failed and rules took over."""


class SynonymMap(BaseModel):
    keyword: str
    synonyms: list[str]


class SearchQuery(BaseModel):
    keywords: list[str]
    synonym_map: list[SynonymMap] = Field(default_factory=list[SynonymMap])
    boolean_query: str


class PartOrigin(BaseModel):
    """Where one part of a strategy comes from: an earlier round, or this one and why."""

    part: str
    """`queries[0]` and so on, `removed_query`, `sources`, or the name of a filter such as `year_from`."""
    value: str
    inherited: bool
    reason: str
    by_person: bool = False
    """A person set it, in an edit or by feedback: it stays in later rounds until a person changes it."""


class SearchStrategy(BaseModel):
    queries: list[SearchQuery]
    sources: list[str]
    filters: SearchConstraints = Field(default_factory=SearchConstraints)
    notes: list[str] = Field(default_factory=list)
    origins: list[PartOrigin] = Field(default_factory=list[PartOrigin])
    """What is inherited from earlier rounds, what is new, and why. The engine writes it; an edit need not send it."""


class Author(BaseModel):
    name: str
    author_id: str | None = None


class SourceRecord(BaseModel):
    """One record of one source that went into a paper, and why it was taken to be the same paper."""

    source: str
    record_id: str
    reason: str = "first record"


class Work(BaseModel):
    """The bibliographic fields that a raw record and a finished paper share."""

    title: str
    authors: list[Author] = Field(default_factory=list[Author])
    editors: list[Author] = Field(default_factory=list[Author])
    """Who edited a work that names no authors."""
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
    """Which source each merged field came from."""
    notices: list[EditorialNotice] = Field(default_factory=list[EditorialNotice])
    """Retractions, concerns and corrections that the sources list for this work, the earliest first."""

    @computed_field
    @property
    def retraction(self) -> Retraction:
        """The gravest notice that means that the work is retracted, or None."""
        return find_retraction(self.notices)

    @property
    def has_registration_year(self) -> bool:
        return self.provenance.get("year", "").endswith(REGISTRATION)

    @field_validator("title", "venue", "abstract", mode="before")
    @classmethod
    def _no_nul(cls, value: Any) -> Any:
        # NUL survives JSON but breaks SQLite, C libraries and terminals downstream.
        return value.replace("\x00", "") if isinstance(value, str) else value


class RawPaper(Work):
    """One paper as one source (or several, once merged) described it. The id follows from its content."""

    id: str = ""
    snippet: str | None = None
    raw_data: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _identify(self) -> "RawPaper":
        if not self.id:
            self.id = paper_id(self.identifiers, self.doi, self.title, self.authors, self.year)
        return self


class ScoredPaper(BaseModel):
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
    model_config = ConfigDict(extra="ignore")

    id: str
    relevance_score: float = Field(default=0.0, ge=0.0, le=1.0)
    relevance_reason: str = ""
    tags: list[PaperTag] = Field(default_factory=list[PaperTag])
    sources: list[str] = Field(default_factory=list)
    """Every source that returned this paper."""
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
        """What the reviewers' decisions amount to."""
        return combine_statuses(decision.status for decision in self.decisions)


class Facets(BaseModel):
    by_year: dict[int, int] = Field(default_factory=dict)
    by_venue: dict[str, int] = Field(default_factory=dict)
    top_authors: list[str] = Field(default_factory=list)
    key_themes: list[str] = Field(default_factory=list)


class SourceReport(BaseModel):
    """What one source did in one search. A failed source never looks like an empty one."""

    name: str
    status: SourceStatus
    received: int = 0
    """Records the source sent; always `returned` and all that was `removed`."""
    returned: int = 0
    """Records left of these after limits and filters."""
    removed: dict[str, int] = Field(default_factory=dict)
    """Records removed before screening, by `ExclusionReason`; `duplicate` counts the source's own repetitions."""
    found: int | None = None
    """How many matches the source says it has in all, when it says."""
    calls: int = 0
    seconds: float = 0.0
    reason: str | None = None
    retry_at: datetime | None = None
    requests: list[str] = Field(default_factory=list)
    """What the source was asked, as addresses without keys: one for each query, in the source's own syntax."""
    partial: bool = False
    """Some papers came, but the source failed or was stopped before it had sent all that was asked for."""

    @field_validator("reason")
    @classmethod
    def _no_secret(cls, value: str | None) -> str | None:
        # A report goes into replies and exports, and what a source says when it fails may quote what it was sent.
        return redact(value)

    @model_validator(mode="after")
    def _add_up(self) -> "SourceReport":
        # Reports of other packages and of earlier versions count only what they returned.
        self.received = self.returned + sum(self.removed.values())
        return self


def any_source_answered(reports: Iterable[SourceReport]) -> bool:
    """Return True if at least one source answered, also with no papers."""
    return any(report.status in (SourceStatus.OK, SourceStatus.EMPTY) for report in reports)


class StageCount(BaseModel):
    """How many papers went into and out of one stage of one round."""

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
    """Why records were recognised as one paper."""
    screened: int = 0
    """Papers that no earlier round had found."""
    excluded: dict[str, int] = Field(default_factory=dict)
    """Those of the screened papers that are not in the result, by `ExclusionReason`."""
    included: int = 0
    """Those of the screened papers that are in the result."""


class SearchMetadata(BaseModel):
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
    """At least one source could not give all that was asked of it."""
    reason: str | None = None
    """Why the search ended when nobody approved it: `max_rounds`."""
    notes: list[str] = Field(default_factory=list)


class PaperCollection(BaseModel):
    metadata: SearchMetadata
    papers: list[Paper]
    facets: Facets = Field(default_factory=Facets)

    def __repr__(self) -> str:
        # The whole content would fill a notebook, and takes a while to write.
        return f"<PaperCollection: {len(self.papers)} papers for {self.metadata.query!r}>"

    __str__ = __repr__


class QueryBuilderInput(BaseModel):
    intent: ParsedIntent
    previous_strategies: list[SearchStrategy] = Field(default_factory=list[SearchStrategy])
    """The strategies of all earlier rounds as they were searched or rejected, edits included; the last is built on."""
    user_feedback: UserFeedback | None = None
    """The feedback on the last strategy or result."""
    earlier_texts: list[str] = Field(default_factory=list)
    """The texts of the feedback before that, the oldest first."""
    person_queries: list[SearchQuery] = Field(default_factory=list[SearchQuery])
    """Queries of the last strategy that a person set; new ones are built on these."""
    relevant_titles: list[str] = Field(default_factory=list)
    """Titles of the papers marked relevant, so that a builder can learn from words, not ids."""
    irrelevant_titles: list[str] = Field(default_factory=list)


class RelevanceHints(BaseModel):
    """What a person taught the search so far: papers to look like, papers to stay away from, words to add."""

    relevant: list[Work] = Field(default_factory=list[Work])
    irrelevant: list[Work] = Field(default_factory=list[Work])
    free_text: list[str] = Field(default_factory=list)


_IDENTITY_ORDER = ("doi", "arxiv", "pmid", "pmcid", "openalex", "s2", "dblp", "scholar")


def paper_id(
    identifiers: Mapping[str, str],
    doi: str | None,
    title: str,
    authors: list[Author],
    year: int | None,
) -> str:
    """The stable id of a paper: the same record gives the same id in every round and on every machine."""
    known = {"doi": doi.strip().lower(), **identifiers} if doi else identifiers
    for scheme in _IDENTITY_ORDER:
        if value := known.get(scheme):
            return _digest(f"{scheme}:{value.lower()}")
    first = authors[0].name if authors else ""
    words = " ".join(title.casefold().split())
    return _digest(f"title:{words}|{first.casefold().strip()}|{year or ''}")


def _digest(text: str) -> str:
    return "p_" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
