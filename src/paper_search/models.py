"""What a paper search works with: intents, strategies, papers, reports and collections."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, computed_field, field_validator, model_validator

from paper_search.domain.review_models import (
    CleanText,
    DuplicateCorrection,
    Exclusion,
    ReviewDecision,
    ReviewStatus,
    UserFeedback,
    combine_decisions,
)
from paper_search.editorial_notices import EditorialNotice, Retraction, find_retraction
from uraniborg.kernel.bibliography.identifiers import make_record_id
from uraniborg.kernel.language.messages import plural
from uraniborg.kernel.logging import redact
from uraniborg.kernel.shared_fields import StoredActor

NO_SOURCE_ANSWERED = "No source answered, so this says nothing about what has been published."

MAX_RESULTS_CAP = 20_000
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
    min_relevance: float | None = None
    """Papers that score lower are removed by automation; None removes none."""


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
    typed_query: str = ""
    """The Boolean query as the person typed it, which is searched unchanged; empty for a question in plain words."""
    notes: list[str] = Field(default_factory=list)
    """How the query was read, in sentences; also whether a model failed and rules replaced it."""


SourceKind = Literal["boolean", "ranked"]
"""How a source reads a query: as conditions that papers must meet, or as words by which it ranks papers."""


class SynonymMap(BaseModel):
    """A keyword and its synonyms."""

    keyword: str
    synonyms: list[str]


class SearchQuery(BaseModel):
    """One query of a plan. Boolean sources receive `boolean_query`, ranking sources `words`.

    If no query of a strategy has words, ranking sources receive the words of each boolean query.
    """

    keywords: list[str]
    synonym_map: list[SynonymMap] = Field(default_factory=list[SynonymMap])
    boolean_query: str
    """Empty for a query that only ranking sources receive."""
    words: str = ""
    """The words for ranking sources; empty for a query that only Boolean sources receive."""
    rung: int = 0
    """The rung of the ladder: a search runs all queries of a rung, the lowest first, before it climbs to the next."""
    blocks: list[str] = Field(default_factory=list)
    """The names of the blocks that the query requires; empty for a query that a person wrote."""


class ConceptBlock(BaseModel):
    """One concept of a question. A paper matches the block if it contains at least one of the variants."""

    name: str
    """The wording of the question, or the term that was learned."""
    variants: list[str]
    """All wordings, the name first."""
    active: bool = True
    """False if a person switched the block off: then no query uses it."""
    learned: bool = False
    """True for a term that papers taught: queries combine it with the others and never require all learned terms."""
    exact: bool = False
    """True for a phrase that a person quoted: its words always stand together."""
    share: float | None = None
    """The estimated share of all papers that match the block: the smaller, the more specific it is."""
    word_shares: dict[str, float] = Field(default_factory=dict)
    """The estimated share of all papers that contain each single word of the name that carries a topic."""
    reason: str = ""
    """The origin of the block, such as "from the question" or "in 14 of the 20 best papers"."""


class TermSuggestion(BaseModel):
    """A term that the results so far suggest, and the reason. It is used once a person accepts it."""

    term: str
    reason: str
    block: str | None = None
    """The name of the block that the term would join as a variant; None if it would be a block of its own."""


class PartOrigin(BaseModel):
    """The origin of one part of a strategy: an earlier round, or this round and the reason."""

    part: str
    """`queries[0]` and so on, `removed_query`, `blocks`, `sources`, or a filter such as `year_from`."""
    value: str
    inherited: bool
    reason: str
    by_person: bool = False
    """Whether a person set the part, or an agent in place of one, in an edit or by feedback; then it stays until one
    changes it."""


class SearchStrategy(BaseModel):
    """The queries, sources and limits of one round."""

    queries: list[SearchQuery]
    sources: list[str]
    filters: SearchConstraints = Field(default_factory=SearchConstraints)
    notes: list[str] = Field(default_factory=list)
    origins: list[PartOrigin] = Field(default_factory=list[PartOrigin])
    """The origin of each part. The engine writes it; an edit need not send it."""
    blocks: list[ConceptBlock] = Field(default_factory=list[ConceptBlock])
    """The concepts behind the queries. Empty if a person typed the queries: then these run exactly as typed."""
    suggestions: list[TermSuggestion] = Field(default_factory=list[TermSuggestion])
    """Terms that the results so far suggest for the next plan."""


class Author(BaseModel):
    """An author or editor."""

    name: CleanText
    author_id: str | None = None


class SourceRecord(BaseModel):
    """One record of one source that was merged into a paper, and the reason."""

    source: str
    record_id: str
    reason: str = "first record"


class Work(BaseModel):
    """The bibliographic fields that a raw record and a finished paper share."""

    title: CleanText
    authors: list[Author] = Field(default_factory=list[Author])
    editors: list[Author] = Field(default_factory=list[Author])
    """The editors of a work without authors."""
    year: int | None = None
    venue: CleanText | None = None
    doi: str | None = None
    abstract: CleanText | None = None
    full_text_url: str | None = None
    bibtex: str | None = None
    citation_count: int = 0
    source: str
    identifiers: dict[str, str] = Field(default_factory=dict)
    """Normalised identifiers by scheme: doi, arxiv, pmid, pmcid, openalex, s2, dblp, scholar, preprint_doi.

    Records of a shelf also have `shelf`, the id of the paper on the library server, `shelf_paper`, the name of the
    shelf, a slash and this id, `bibkey` and `shelf_url`."""
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


class RawPaper(Work):
    """A paper as one source describes it, or several after merging. The id follows from its content."""

    id: str = ""
    snippet: str | None = None
    raw_data: dict[str, object] = Field(default_factory=dict)

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
        return combine_decisions(self.decisions)


class Facets(BaseModel):
    """Counts of years and venues, and the most frequent authors and themes."""

    by_year: dict[int, int] = Field(default_factory=dict)
    by_venue: dict[str, int] = Field(default_factory=dict)
    top_authors: list[str] = Field(default_factory=list)
    key_themes: list[str] = Field(default_factory=list)


class StopReason(StrEnum):
    """Why a source stopped fetching the matches of a query."""

    COMPLETE = "complete"
    """All matches were fetched."""
    ENOUGH = "enough"
    """The search has enough papers."""
    SOURCE_LIMIT = "source_limit"
    """The source does not give out more of the matches."""
    TOO_BROAD = "too_broad"
    """The source refused the query because too many papers match."""
    DEADLINE = "deadline"
    FAILED = "failed"
    NOT_RUN = "not_run"
    """The search had enough papers before this query."""
    UNKNOWN = "unknown"
    """The source does not say how many papers match."""


class QueryReport(BaseModel):
    """What one source did with one query."""

    text: str
    """The exact text that the source received."""
    rung: int = 0
    found: int | None = None
    """The number of all matches by the source's own count; None if it does not state one."""
    fetched: int = 0
    """Records that the source sent for this query."""
    added: int = 0
    """Records among these that no earlier query of this source had returned."""
    stopped: StopReason
    reason: str | None = None
    """Why, in words, if `stopped` alone does not say it."""
    changes: list[str] = Field(default_factory=list)
    """What of a strategy the source changed or lost, in sentences."""


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
    queries: list[QueryReport] = Field(default_factory=list[QueryReport])
    """What the source did with each query, in the order of the plan."""
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

    `identified` is the sum of `removed_before_screening`, all kinds of duplicates and `screened`; `screened` is the
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
    """Removed by the software, like those of earlier rounds."""
    duplicates_of_earlier_rounds: int = 0
    duplicates_by_person: int = 0
    """Papers of this round that a person merged into others."""
    duplicates_by_agent: int = 0
    duplicates_by_program: int = 0
    merge_reasons: dict[str, int] = Field(default_factory=dict)
    """The number of records that the software merged, by reason, before reviewers split or merged papers."""
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
    actor: StoredActor = None
    """Who started the session; None without a session, and in results of versions that did not store it."""
    rounds: int = 1
    sources: list[SourceReport] = Field(default_factory=list[SourceReport])
    stage_counts: list[StageCount] = Field(default_factory=list[StageCount])
    round_logs: list[RoundLog] = Field(default_factory=list[RoundLog])
    """The search log: every round that searched. Empty in results of versions that did not log rounds."""
    exclusions: list[Exclusion] = Field(default_factory=list[Exclusion])
    """Every screened paper that is not in the result."""
    corrections: list[DuplicateCorrection] = Field(default_factory=list[DuplicateCorrection])
    """The merges and splits of reviewers, in their order."""
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
    """The papers that reviewers have excluded, in full. Empty in collections of versions that did not store them."""
    removed_papers: list[Paper] = Field(default_factory=list[Paper])
    """The papers that automation removed, in full: those below `min_relevance` and those over `max_results`."""
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
    earlier_feedback: list[UserFeedback] = Field(default_factory=list[UserFeedback])
    """The feedback before that, the oldest first."""
    person_queries: list[SearchQuery] = Field(default_factory=list[SearchQuery])
    """Queries of the last strategy that a person set; new queries are built on these."""
    relevant_titles: list[str] = Field(default_factory=list)
    """Titles of the papers marked relevant."""
    irrelevant_titles: list[str] = Field(default_factory=list)
    suggestions: list[TermSuggestion] = Field(default_factory=list[TermSuggestion])
    """Terms of the best papers so far, for a person to accept."""
    taught: list[TermSuggestion] = Field(default_factory=list[TermSuggestion])
    """Terms to use at once: of papers marked relevant or, in a search without a person, of the best papers."""
    searched: RoundLog | None = None
    """The log of the last round, if it searched: the counts of its sources tell which concepts are specific."""


class RelevanceHints(BaseModel):
    """The feedback so far: relevant papers, irrelevant papers, and texts."""

    relevant: list[Work] = Field(default_factory=list[Work])
    irrelevant: list[Work] = Field(default_factory=list[Work])
    free_text: list[str] = Field(default_factory=list)
    added_terms: list[str] = Field(default_factory=list)
    """Terms that the fields of feedback add."""
    terms: list[str] = Field(default_factory=list)
    """Terms that papers taught: they count less than the terms of the question."""


def make_paper_id(
    identifiers: Mapping[str, str],
    doi: str | None,
    title: str,
    authors: list[Author],
    year: int | None,
) -> str:
    """Return the stable id of a paper: the same record has the same id in every round and on every machine."""
    return make_record_id(identifiers, doi, title, authors[0].name if authors else "", year)
