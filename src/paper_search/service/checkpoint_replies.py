"""Replies about a pending checkpoint: the proposed plan, or the papers under review, with short texts."""

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from paper_search.editorial_notices import NoticeFields

Status = Literal["include", "exclude", "maybe", "undecided"]


class LimitFields(TypedDict):
    """The limits of a search; one that is not set is left out."""

    year_from: NotRequired[int]
    year_to: NotRequired[int]
    language: NotRequired[str]
    max_results: int
    min_relevance: NotRequired[float]


class IntentFields(TypedDict):
    """The question as the search reads it."""

    topic: str
    concepts: list[str]
    intent_type: str
    constraints: LimitFields
    phrases: list[str]
    authors: list[str]
    venues: list[str]
    excluded: list[str]
    preferences: list[str]
    typed_query: str
    notes: list[str]
    shortened: NotRequired[bool]


class SynonymFields(TypedDict):
    keyword: str
    synonyms: list[str]


class QueryFields(TypedDict):
    """A query of a plan; `all_queries` has the whole text of a shortened one."""

    keywords: list[str]
    synonym_map: list[SynonymFields]
    boolean_query: str
    words: str
    rung: int
    blocks: list[str]


class ConceptFields(TypedDict):
    name: str
    variants: list[str]
    active: bool
    learned: bool
    exact: bool
    share: NotRequired[float]
    word_shares: dict[str, float]
    reason: str


class SuggestionFields(TypedDict):
    term: str
    reason: str
    block: NotRequired[str | None]


class OriginFields(TypedDict):
    part: str
    value: str
    inherited: bool
    reason: str
    by_person: bool


class PlanFields(TypedDict):
    """The concepts, queries, sources and limits of a round."""

    blocks: list[ConceptFields]
    suggestions: list[SuggestionFields]
    queries: list[QueryFields]
    sources: Annotated[list[str], Field(description="Empty for all sources.")]
    filters: LimitFields
    notes: list[str]
    origins: list[OriginFields]
    shortened: NotRequired[bool]


class FindingFields(TypedDict):
    """A warning about a query."""

    query: Annotated[int, Field(description="The index of the query, from 0.")]
    severity: str
    start: int
    end: int
    message: str
    hint: str
    correction: NotRequired[dict[str, int | str]]


class RemovedCounts(TypedDict):
    below_threshold: NotRequired[int]
    over_limit: NotRequired[int]


class RemovedByAutomation(RemovedCounts):
    """How many papers automation removed, by reason, and where they are listed."""

    min_relevance: float | None
    list: str


class ReviewNews(TypedDict):
    """What nobody can see from the listed papers."""

    removed_by_automation: NotRequired[RemovedByAutomation]
    year_unknown_kept: NotRequired[
        Annotated[int, Field(description="Papers of unknown year that were kept although years are limited.")]
    ]


class EarlierPaper(TypedDict):
    id: str
    title: str
    year: int | None
    relevance_score: float
    status: Status
    found_in_round: int
    year_unknown_kept: NotRequired[bool]


class PapersSoFar(ReviewNews):
    """The papers of the earlier rounds: those of the result, and those excluded."""

    papers: list[EarlierPaper]
    total_papers: int
    excluded: list[EarlierPaper]
    excluded_papers: int
    status_counts: dict[Status, int]
    all: Annotated[str, Field(description="The address of the resource that lists all.")]
    shortened: NotRequired[bool]


class QueryRemarks(TypedDict):
    findings: NotRequired[list[FindingFields]]
    findings_in_all: NotRequired[int]
    changed_for_sources: NotRequired[
        Annotated[dict[str, list[str]], Field(description="What sources change or lose of the queries.")]
    ]


class ProposedPlan(QueryRemarks):
    """The payload of strategy_confirmation."""

    intent: IntentFields
    strategy: PlanFields
    shortened: NotRequired[bool]
    all_queries: NotRequired[str]
    papers_so_far: NotRequired[PapersSoFar]


class PaperFields(NoticeFields):
    """A paper in short."""

    id: str
    title: str
    authors: list[str]
    more_authors: int
    year: int | None
    venue: str | None
    doi: str | None
    shelf_id: NotRequired[str]
    shelf: NotRequired[str]
    relevance_score: float
    relevance_reason: str
    sources: list[str]
    status: Status
    found_in_round: int
    year_unknown_kept: NotRequired[bool]


class FacetFields(TypedDict):
    by_year: dict[str, int]
    by_venue: dict[str, int]
    top_authors: list[str]
    key_themes: list[str]


class PapersToReview(ReviewNews):
    """The payload of result_review."""

    papers: list[PaperFields]
    total_papers: int
    shown: int
    facets: FacetFields
    accumulated_count: int
    status_counts: dict[Status, int]
    stage_counts: Annotated[dict[str, dict[str, int]], Field(description="Papers in and out of each stage.")]
    suggestions: list[SuggestionFields]
    strategy: PlanFields
    all_queries: NotRequired[str]
    more: NotRequired[Annotated[str, Field(description="Where the other papers are.")]]


CheckpointPayload = ProposedPlan | PapersToReview


class Asked(TypedDict):
    """The search that asks, and its question."""

    query: str
    question: str


class AskedPlan(ProposedPlan, Asked):
    """The strategy that a search proposes, in the inbox."""


class AskedReview(PapersToReview, Asked):
    """The first papers that a search found, in the inbox. `GET /api/searches/{session_id}/papers` lists all of them."""


class PaperWithAbstract(PaperFields):
    abstract: str | None
    url: str | None


class PapersPage(ReviewNews):
    """A page of the papers of a session."""

    session_id: str
    papers: list[PaperWithAbstract]
    total_papers: int
    excluded_papers: int
    offset: int
    next: str | None
    notice: NotRequired[str]
